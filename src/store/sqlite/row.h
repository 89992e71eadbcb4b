/* store/sqlite/row.h: a task as parameters, a row as a task.
 *
 * Thread: the connection's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_SQLITE_ROW_H
#define ERRAND_STORE_SQLITE_ROW_H

#include "base/buf.h"
#include "store/sqlite/db.h"
#include "store/store.h"

#define ROW_REST_MAX MIB /* of what is packed: texts with limits that add up to far less */

struct task_names {
    int64_t type_id, queue_id;
};

/* Each binds all parameters of the statement that puts such a row, and runs it; `scratch` is for
 * what is packed. */
MUST_CHECK bool put_body(struct db *db, const struct task *task, const struct task_names *names,
                         struct buf *scratch, struct err *err);
MUST_CHECK bool put_live(struct db *db, const struct task *order, const struct task *now,
                         const struct task_names *names, struct buf *scratch, struct err *err);
MUST_CHECK bool put_done(struct db *db, const struct task *task, struct buf *scratch,
                         struct err *err);
int bind_error(sqlite3_stmt *s, int at, const struct task_error *error);

/* A task of which nothing is known but a packed column. Texts are borrowed from the row. */
MUST_CHECK bool read_rest(sqlite3_stmt *s, int at, struct task *task, struct err *err);
MUST_CHECK bool add_rest(sqlite3_stmt *s, int at, struct task *task, struct err *err); /* more */
struct task_id column_id(sqlite3_stmt *s, int at);
void read_error(sqlite3_stmt *s, int at, struct task_error *error);

#endif
