/* store/sqlite/row.h: a row as a task, and its errors as parameters. See feed.h for the way in.
 *
 * Thread: the connection's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_SQLITE_ROW_H
#define ERRAND_STORE_SQLITE_ROW_H

#include "store/sqlite/db.h"
#include "store/store.h"

int bind_error(sqlite3_stmt *s, int at, const struct task_error *error);

/* A task of which nothing is known but a packed column. Texts are borrowed from the row. */
MUST_CHECK bool read_rest(sqlite3_stmt *s, int at, struct task *task, struct err *err);
MUST_CHECK bool add_rest(sqlite3_stmt *s, int at, struct task *task, struct err *err); /* more */
struct task_id column_id(sqlite3_stmt *s, int at);
void read_error(sqlite3_stmt *s, int at, struct task_error *error);

#endif
