/* store/sqlite/row.c: a task as columns, a row as a task. See row.h.
 *
 * The lists below are flat on purpose: one line a column, in the order of the SQL.
 *
 * SPDX-License-Identifier: MIT */
#include "store/sqlite/row.h"

#include "store/shared.h"

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

struct task_id column_id(sqlite3_stmt *s, int at)
{
    return (struct task_id){(uint64_t)column_int(s, at), (uint64_t)column_int(s, at + 1)};
}

/* What few tasks have is bound only when this task has it, or the last one had: most inserts bind
 * half of their parameters. */
static bool order_is_plain(const struct task *task)
{
    return str_absent(task->key) && str_absent(task->external_id) && task->tags_count == 0 &&
           id_none(task->parent) && id_none(task->team) && id_none(task->schedule) &&
           id_none(task->family) && str_absent(task->metadata);
}

static void bind_rare_order(sqlite3_stmt *s, int at, const struct task *task, struct buf *scratch)
{
    bind_text(s, at++, task->key);
    bind_text(s, at++, task->external_id);
    bind_bytes(s, at++, tags_pack(task, scratch));
    at = bind_id(s, at, task->parent);
    at = bind_id(s, at, task->team);
    at = bind_id(s, at, task->schedule);
    at = bind_id(s, at, task->family);
    bind_bytes(s, at, task->metadata);
}

int bind_body(struct db *db, enum sql_id id, int at, const struct task *task,
              const struct task_names *names, struct buf *scratch)
{
    sqlite3_stmt *s = db_use(db, id);
    bool plain = order_is_plain(task);
    bind_int(s, at++, (int64_t)task->id.lo);
    bind_again(db, id, at++, names->type_id);
    bind_again(db, id, at++, names->queue_id);
    bind_again(db, id, at++, task->created_ms);
    bind_again(db, id, at++, task->expires_ms);
    bind_again(db, id, at++, task->backoff.base_ms);
    bind_again(db, id, at++, task->backoff.max_ms);
    sqlite3_bind_double(s, at++, task->backoff.factor);
    sqlite3_bind_double(s, at++, task->backoff.jitter);
    bind_again(db, id, at++, task->payload_raw);
    bind_again(db, id, at++, task->container);
    bind_again(db, id, at++, task->continues);
    bind_again(db, id, at++, task->runs_anyway);
    bind_text(s, at++, task->document);
    if (!plain || db->rare_bound[id]) {
        bind_rare_order(s, at, task, scratch);
        db->rare_bound[id] = !plain;
    }
    return at + RARE_ORDER_COLUMNS;
}

void read_facets(sqlite3_stmt *s, int at, struct task *task)
{
    task->document = column_str(s, at);
    task->external_id = column_str(s, at + 1);
    tags_unpack(column_str(s, at + 2), task);
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
    task->backoff.base_ms = column_int(s, at + 5);
    task->backoff.max_ms = column_int(s, at + 6);
    task->backoff.factor = sqlite3_column_double(s, at + 7);
    task->backoff.jitter = sqlite3_column_double(s, at + 8);
    task->payload_raw = column_int(s, at + 9) != 0;
    task->container = column_int(s, at + 10) != 0;
    task->continues = column_int(s, at + 11) != 0;
    task->runs_anyway = column_int(s, at + 12) != 0;
    task->document = column_str(s, at + 13);
    task->key = column_str(s, at + 14);
    task->external_id = column_str(s, at + 15);
    tags_unpack(column_str(s, at + 16), task);
    task->parent = column_id(s, at + 17);
    task->team = column_id(s, at + 19);
    task->schedule = column_id(s, at + 21);
    task->family = column_id(s, at + 23);
    task->metadata = column_str(s, at + 25);
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

static bool standing_is_plain(const struct task *task)
{
    return str_absent(task->cancel_reason) && task->progress < 0 &&
           str_absent(task->progress_message) && task->cost.estimated < 0 &&
           task->cost.actual < 0 && task->cost.tokens < 0 && str_absent(task->error.code) &&
           str_absent(task->error.message) && str_absent(task->error.detail);
}

static void bind_rare_standing(sqlite3_stmt *s, int at, const struct task *task)
{
    bind_text(s, at++, task->cancel_reason);
    bind_optional(s, at++, task->progress);
    bind_text(s, at++, task->progress_message);
    bind_optional(s, at++, task->cost.estimated);
    bind_optional(s, at++, task->cost.actual);
    bind_optional(s, at++, task->cost.tokens);
    bind_error(s, at, &task->error);
}

int bind_standing(struct db *db, enum sql_id id, int at, const struct task *task)
{
    sqlite3_stmt *s = db_use(db, id);
    bool plain = standing_is_plain(task);
    bind_again(db, id, at++, task->state);
    bind_again(db, id, at++, task->priority);
    bind_again(db, id, at++, task->attempt);
    bind_again(db, id, at++, task->retries);
    bind_again(db, id, at++, task->max_retries);
    bind_again(db, id, at++, task->timeout_ms);
    bind_again(db, id, at++, task->scheduled_ms);
    bind_again(db, id, at++, task->queued_ms);
    bind_again(db, id, at++, task->started_ms);
    bind_again(db, id, at++, task->updated_ms);
    bind_again(db, id, at++, task->cancel_requested);
    bind_int(s, at++, (int64_t)task->token);
    bind_again(db, id, at++, task->outcome);
    bind_text(s, at++, task->worker);
    bind_again(db, id, at++, task->lease_ms);
    bind_again(db, id, at++, task->lease_until_ms);
    bind_again(db, id, at++, task->attempt_ended_ms);
    bind_again(db, id, at++, task->log_bytes);
    bind_again(db, id, at++, task->unmet);
    if (!plain || db->rare_bound[id]) {
        bind_rare_standing(s, at, task);
        db->rare_bound[id] = !plain;
    }
    return at + RARE_STANDING_COLUMNS;
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
    task->token = (uint64_t)column_int(s, at++);
    task->outcome = (enum task_outcome)column_int(s, at++);
    task->worker = column_str(s, at++);
    task->lease_ms = column_int(s, at++);
    task->lease_until_ms = column_int(s, at++);
    task->attempt_ended_ms = column_int(s, at++);
    task->log_bytes = (int32_t)column_int(s, at++);
    task->unmet = (int32_t)column_int(s, at++);
    task->cancel_reason = column_str(s, at++);
    task->progress = column_optional(s, at++);
    task->progress_message = column_str(s, at++);
    task->cost.estimated = column_optional(s, at++);
    task->cost.actual = column_optional(s, at++);
    task->cost.tokens = column_optional(s, at++);
    read_error(s, at, &task->error);
}
