/* store/sqlite/row.c: a row as a task. See row.h; a task as rows is feed.h.
 *
 * What statements ask about has a column; the rest of a task is packed into one (store/pack.h).
 *
 * SPDX-License-Identifier: MIT */
#include "store/sqlite/row.h"

#include "store/pack.h"

struct task_id column_id(sqlite3_stmt *s, int at)
{
    return (struct task_id){(uint64_t)column_int(s, at), (uint64_t)column_int(s, at + 1)};
}

/* ---- In ---- */

int bind_error(sqlite3_stmt *s, int at, const struct task_error *error)
{
    bind_text(s, at, error->code);
    bind_text(s, at + 1, error->message);
    bind_bytes(s, at + 2, error->detail);
    return at + 3;
}

/* ---- Out ---- */

bool add_rest(sqlite3_stmt *s, int at, struct task *task, struct err *err)
{
    return unpack(column_str(s, at), task) ||
           err_set(err, ERR_FATAL, "the packed column of a task's row is damaged");
}

bool read_rest(sqlite3_stmt *s, int at, struct task *task, struct err *err)
{
    unpack_begin(task);
    return add_rest(s, at, task, err);
}

void read_error(sqlite3_stmt *s, int at, struct task_error *error)
{
    error->code = column_str(s, at);
    error->message = column_str(s, at + 1);
    error->detail = column_str(s, at + 2);
}
