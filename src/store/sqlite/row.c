/* store/sqlite/row.c: a task as columns, a row as a task. See row.h.
 *
 * The lists below are flat on purpose: one line a column, in the order of the SQL.
 *
 * SPDX-License-Identifier: MIT */
#include "store/sqlite/row.h"

/* Absent numbers are negative in memory and NULL in the file. */
static void bind_optional(sqlite3_stmt *s, int at, double value)
{
    if (value < 0) {
        sqlite3_bind_null(s, at);
    } else {
        sqlite3_bind_double(s, at, value);
    }
}

static double column_optional(sqlite3_stmt *s, int at)
{
    return sqlite3_column_type(s, at) == SQLITE_NULL ? -1 : sqlite3_column_double(s, at);
}

static int bind_id(sqlite3_stmt *s, int at, struct task_id id)
{
    if (id_none(id)) {
        sqlite3_bind_null(s, at);
        sqlite3_bind_null(s, at + 1);
    } else {
        bind_int(s, at, (int64_t)id.hi);
        bind_int(s, at + 1, (int64_t)id.lo);
    }
    return at + 2;
}

static struct task_id column_id(sqlite3_stmt *s, int at)
{
    return (struct task_id){(uint64_t)column_int(s, at), (uint64_t)column_int(s, at + 1)};
}

static struct str pack_tags(const struct task *task, struct buf *scratch)
{
    if (task->tags_count == 0) {
        return STR_NONE;
    }
    buf_clear(scratch);
    for (size_t i = 0; i < task->tags_count; i++) {
        buf_char(scratch, (char)(task->tags[i].len & 0xff));
        buf_char(scratch, (char)(task->tags[i].len >> 8));
        buf_str(scratch, task->tags[i]);
    }
    return buf_view(scratch);
}

static void unpack_tags(struct str packed, struct task *task)
{
    task->tags_count = 0;
    while (packed.len >= 2 && task->tags_count < TASK_TAGS_MAX) {
        const unsigned char *byte = (const unsigned char *)packed.ptr;
        size_t len = MIN((size_t)byte[0] + ((size_t)byte[1] << 8), packed.len - 2);
        task->tags[task->tags_count++] = (struct str){packed.ptr + 2, len};
        packed = str_from(packed, 2 + len);
    }
}

int bind_body(sqlite3_stmt *s, int at, const struct task *task, int64_t type_id, int64_t queue_id,
              struct buf *scratch)
{
    bind_int(s, at++, (int64_t)task->id.lo);
    bind_int(s, at++, type_id);
    bind_int(s, at++, queue_id);
    bind_int(s, at++, task->created_ms);
    bind_int(s, at++, task->expires_ms);
    bind_text(s, at++, task->document);
    bind_text(s, at++, task->key);
    bind_text(s, at++, task->external_id);
    bind_bytes(s, at++, pack_tags(task, scratch));
    at = bind_id(s, at, task->parent);
    at = bind_id(s, at, task->team);
    at = bind_id(s, at, task->schedule);
    bind_int(s, at++, task->backoff.base_ms);
    bind_int(s, at++, task->backoff.max_ms);
    sqlite3_bind_double(s, at++, task->backoff.factor);
    sqlite3_bind_double(s, at++, task->backoff.jitter);
    bind_int(s, at++, task->payload_raw);
    bind_bytes(s, at++, task->metadata);
    return at;
}

void read_facets(sqlite3_stmt *s, int at, struct task *task)
{
    task->document = column_str(s, at);
    task->external_id = column_str(s, at + 1);
    unpack_tags(column_str(s, at + 2), task);
    task->parent = column_id(s, at + 3);
    task->team = column_id(s, at + 5);
    task->schedule = column_id(s, at + 7);
}

bool read_body(struct db *db, sqlite3_stmt *s, int at, struct task *task, struct err *err)
{
    task->id.lo = (uint64_t)column_int(s, at);
    if (!name_text(db, column_int(s, at + 1), &task->type, err) ||
        !name_text(db, column_int(s, at + 2), &task->queue, err)) {
        return false;
    }
    task->created_ms = column_int(s, at + 3);
    task->expires_ms = column_int(s, at + 4);
    task->document = column_str(s, at + 5);
    task->key = column_str(s, at + 6);
    task->external_id = column_str(s, at + 7);
    unpack_tags(column_str(s, at + 8), task);
    task->parent = column_id(s, at + 9);
    task->team = column_id(s, at + 11);
    task->schedule = column_id(s, at + 13);
    task->backoff.base_ms = column_int(s, at + 15);
    task->backoff.max_ms = column_int(s, at + 16);
    task->backoff.factor = sqlite3_column_double(s, at + 17);
    task->backoff.jitter = sqlite3_column_double(s, at + 18);
    task->payload_raw = column_int(s, at + 19) != 0;
    task->metadata = column_str(s, at + 20);
    return true;
}

int bind_error(sqlite3_stmt *s, int at, const struct task_error *error)
{
    bind_text(s, at, error->code);
    bind_text(s, at + 1, error->message);
    bind_bytes(s, at + 2, error->detail);
    return at + 3;
}

void read_error(sqlite3_stmt *s, int at, struct task_error *error)
{
    error->code = column_str(s, at);
    error->message = column_str(s, at + 1);
    error->detail = column_str(s, at + 2);
}

int bind_standing(sqlite3_stmt *s, int at, const struct task *task)
{
    bind_int(s, at++, task->state);
    bind_int(s, at++, task->priority);
    bind_int(s, at++, task->attempt);
    bind_int(s, at++, task->retries);
    bind_int(s, at++, task->max_retries);
    bind_int(s, at++, task->timeout_ms);
    bind_int(s, at++, task->scheduled_ms);
    bind_int(s, at++, task->queued_ms);
    bind_int(s, at++, task->started_ms);
    bind_int(s, at++, task->updated_ms);
    bind_int(s, at++, task->cancel_requested);
    bind_text(s, at++, task->cancel_reason);
    bind_int(s, at++, (int64_t)task->token);
    bind_int(s, at++, task->outcome);
    bind_text(s, at++, task->worker);
    bind_int(s, at++, task->lease_ms);
    bind_int(s, at++, task->lease_until_ms);
    bind_int(s, at++, task->attempt_ended_ms);
    bind_optional(s, at++, task->progress);
    bind_text(s, at++, task->progress_message);
    bind_int(s, at++, task->log_bytes);
    bind_optional(s, at++, task->cost.estimated);
    bind_optional(s, at++, task->cost.actual);
    bind_optional(s, at++, task->cost.tokens);
    return bind_error(s, at, &task->error);
}

void read_standing(sqlite3_stmt *s, int at, struct task *task)
{
    task->state = (enum task_state)column_int(s, at++);
    task->priority = (enum task_priority)column_int(s, at++);
    task->attempt = (int32_t)column_int(s, at++);
    task->retries = (int32_t)column_int(s, at++);
    task->max_retries = (int32_t)column_int(s, at++);
    task->timeout_ms = column_int(s, at++);
    task->scheduled_ms = column_int(s, at++);
    task->queued_ms = column_int(s, at++);
    task->started_ms = column_int(s, at++);
    task->updated_ms = column_int(s, at++);
    task->cancel_requested = column_int(s, at++) != 0;
    task->cancel_reason = column_str(s, at++);
    task->token = (uint64_t)column_int(s, at++);
    task->outcome = (enum task_outcome)column_int(s, at++);
    task->worker = column_str(s, at++);
    task->lease_ms = column_int(s, at++);
    task->lease_until_ms = column_int(s, at++);
    task->attempt_ended_ms = column_int(s, at++);
    task->progress = column_optional(s, at++);
    task->progress_message = column_str(s, at++);
    task->log_bytes = (int32_t)column_int(s, at++);
    task->cost.estimated = column_optional(s, at++);
    task->cost.actual = column_optional(s, at++);
    task->cost.tokens = column_optional(s, at++);
    read_error(s, at, &task->error);
}
