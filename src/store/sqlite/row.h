/* store/sqlite/row.h: a task as parameters, a row as a task, derived from task/task.def.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_SQLITE_ROW_H
#define ERRAND_STORE_SQLITE_ROW_H

#include "base/buf.h"
#include "store/sqlite/db.h"
#include "store/store.h"

struct task_names {
    int64_t type_id, queue_id;
};

/* Each binds its columns from `at` on (@order, @standing, @end) and returns the index behind them.
 * `scratch` holds the packed tags until the statement has run. */
int bind_order(struct db *db, enum sql_id id, int at, const struct task *task,
               const struct task_names *names, struct buf *scratch);
int bind_standing(struct db *db, enum sql_id id, int at, const struct task *task);
int bind_end(struct db *db, enum sql_id id, int at, const struct task *task);
int bind_error(sqlite3_stmt *s, int at, const struct task_error *error);

/* The same columns out of a row: each fills its part of the task, whose texts are borrowed from the
 * row, and moves *at behind them. */
MUST_CHECK bool read_order(struct db *db, sqlite3_stmt *s, int *at, struct task *task,
                           struct err *err);
void read_standing(sqlite3_stmt *s, int *at, struct task *task);
void read_end(sqlite3_stmt *s, int *at, struct task *task);
struct task_id column_id(sqlite3_stmt *s, int at);
void read_error(sqlite3_stmt *s, int at, struct task_error *error);
/* document, external_id, tags and relations: 9 columns, for the late index. */
void read_facets(sqlite3_stmt *s, int at, struct task *task);

#endif
