/* store/sqlite/row.c: a task as parameters, a row as a task. See row.h.
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

static bool too_long(struct err *err)
{
    return err_set(err, ERR_INTERNAL, "the texts of a task are too long for its row");
}

bool put_body(struct db *db, const struct task *task, const struct task_names *names,
              struct buf *scratch, struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_INSERT_BODY);
    buf_clear(scratch);
    if (!pack_order(scratch, task)) {
        return too_long(err);
    }
    bind_int(s, 1, (int64_t)task->id.hi);
    bind_int(s, 2, (int64_t)task->id.lo);
    bind_again(db, SQL_INSERT_BODY, 3, names->type_id);
    bind_again(db, SQL_INSERT_BODY, 4, names->queue_id);
    bind_again(db, SQL_INSERT_BODY, 5, task->created_ms);
    bind_bytes(s, 6, buf_view(scratch));
    bind_bytes(s, 7, task->payload);
    return db_run(db, SQL_INSERT_BODY, err);
}

bool put_live(struct db *db, const struct task *order, const struct task *now,
              const struct task_names *names, struct buf *scratch, struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_INSERT_TASK);
    buf_clear(scratch);
    if (!pack_standing(scratch, order, now)) {
        return too_long(err);
    }
    bind_int(s, 1, (int64_t)now->id.hi);
    bind_int(s, 2, (int64_t)now->id.lo);
    bind_again(db, SQL_INSERT_TASK, 3, names->type_id);
    bind_again(db, SQL_INSERT_TASK, 4, names->queue_id);
    bind_again(db, SQL_INSERT_TASK, 5, now->state);
    bind_again(db, SQL_INSERT_TASK, 6, now->priority);
    bind_again(db, SQL_INSERT_TASK, 7, now->attempt);
    bind_bytes(s, 8, buf_view(scratch));
    return db_run(db, SQL_INSERT_TASK, err);
}

bool put_done(struct db *db, const struct task *task, struct buf *scratch, struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_INSERT_DONE);
    buf_clear(scratch);
    if (!pack_end(scratch, task)) {
        return too_long(err);
    }
    bind_int(s, 1, (int64_t)task->id.hi);
    bind_again(db, SQL_INSERT_DONE, 2, task->state);
    bind_again(db, SQL_INSERT_DONE, 3, task->priority);
    bind_again(db, SQL_INSERT_DONE, 4, task->attempt);
    bind_again(db, SQL_INSERT_DONE, 5, task->finished_ms);
    bind_bytes(s, 6, buf_view(scratch));
    bind_bytes(s, 7, task->result);
    return db_run(db, SQL_INSERT_DONE, err);
}

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
