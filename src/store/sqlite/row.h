/* store/sqlite/row.h: a task as columns, a row as a task.
 *
 * The order of columns is that of insert_body.sql, insert_task.sql and load_*.sql.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_SQLITE_ROW_H
#define ERRAND_STORE_SQLITE_ROW_H

#include "base/buf.h"
#include "store/sqlite/db.h"
#include "store/store.h"

#define BODY_COLUMNS          26 /* lo … metadata */
#define RARE_ORDER_COLUMNS    12 /* the last of those, which few tasks have */
#define STANDING_COLUMNS      28 /* state … error_detail */
#define RARE_STANDING_COLUMNS 9

struct task_names {
    int64_t type_id, queue_id;
};

/* Each binds its columns from `at` on and returns the index behind them. `scratch` holds the packed
 * tags until the statement has run. */
int bind_body(struct db *db, enum sql_id id, int at, const struct task *task,
              const struct task_names *names, struct buf *scratch);
int bind_standing(struct db *db, enum sql_id id, int at, const struct task *task);
int bind_error(sqlite3_stmt *s, int at, const struct task_error *error);

/* Each fills its part of the task from the columns at `at`; texts are borrowed from the row. */
MUST_CHECK bool read_body(struct db *db, sqlite3_stmt *s, int at, struct task *task,
                          struct err *err);
void read_standing(sqlite3_stmt *s, int at, struct task *task);
struct task_id column_id(sqlite3_stmt *s, int at);
void read_error(sqlite3_stmt *s, int at, struct task_error *error);
/* document, external_id, tags and relations: 9 columns, for the late index. */
void read_facets(sqlite3_stmt *s, int at, struct task *task);

#endif
