/* store/postgres/row.c: a task as columns, a row as a task.
 *
 * The order of columns is that of insert_tasks.sql, save_tasks.sql and load_*.sql.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/postgres.h"
#include "store/shared.h"

void args_order(struct args *args, const struct task *task, struct buf *scratch)
{
    arg_id(args, task->id);
    arg_text(args, task->type);
    arg_text(args, task->queue);
    arg_int(args, task->created_ms);
    arg_int(args, task->expires_ms);
    arg_int(args, task->backoff.base_ms);
    arg_int(args, task->backoff.max_ms);
    arg_real(args, task->backoff.factor);
    arg_real(args, task->backoff.jitter);
    arg_bool(args, task->payload_raw);
    arg_bool(args, task->container);
    arg_bool(args, task->continues);
    arg_bool(args, task->runs_anyway);
    arg_bytes(args, task->document);
    arg_bytes(args, task->key);
    arg_bytes(args, task->external_id);
    arg_bytes(args, tags_pack(task, scratch));
    arg_id(args, task->parent);
    arg_id(args, task->team);
    arg_id(args, task->schedule);
    arg_id(args, task->family);
    arg_bytes(args, task->metadata);
    arg_bytes(args, task->payload);
}

void args_error(struct args *args, const struct task_error *error)
{
    arg_bytes(args, error->code);
    arg_bytes(args, error->message);
    arg_bytes(args, error->detail);
}

void args_standing(struct args *args, const struct task *task)
{
    arg_small(args, task->state);
    arg_small(args, task->priority);
    arg_small(args, task->attempt);
    arg_small(args, task->retries);
    arg_small(args, task->max_retries);
    arg_int(args, task->timeout_ms);
    arg_int(args, task->scheduled_ms);
    arg_int(args, task->queued_ms);
    arg_int(args, task->started_ms);
    arg_int(args, task->updated_ms);
    arg_bool(args, task->cancel_requested);
    arg_int(args, (int64_t)task->token);
    arg_small(args, task->outcome);
    arg_bytes(args, task->worker);
    arg_int(args, task->lease_ms);
    arg_int(args, task->lease_until_ms);
    arg_int(args, task->attempt_ended_ms);
    arg_small(args, task->log_bytes);
    arg_small(args, task->unmet);
    arg_bytes(args, task->cancel_reason);
    arg_optional(args, task->progress);
    arg_bytes(args, task->progress_message);
    arg_optional(args, task->cost.estimated);
    arg_optional(args, task->cost.actual);
    arg_optional(args, task->cost.tokens);
    args_error(args, &task->error);
}

void args_end(struct args *args, const struct task *task)
{
    arg_int(args, task->finished_ms);
    arg_int(args, task->cancelled_ms);
    arg_bytes(args, task->result);
}

/* Columns of load_*.sql; the order's begin behind the place in the list of ids. */
enum {
    ORDER = 1,
    PAYLOAD = 23,
    HAS_PAYLOAD,
    STANDING,
    FINISHED_MS = 53,
    CANCELLED_MS,
    RESULT,
    HAS_RESULT
};

static void read_order(const PGresult *rows, size_t row, struct task *task)
{
    int at = ORDER;
    task->id = get_id(rows, row, at++);
    task->type = get_str(rows, row, at++);
    task->queue = get_str(rows, row, at++);
    task->created_ms = get_int(rows, row, at++);
    task->expires_ms = get_int(rows, row, at++);
    task->backoff.base_ms = get_int(rows, row, at++);
    task->backoff.max_ms = get_int(rows, row, at++);
    task->backoff.factor = get_real(rows, row, at++);
    task->backoff.jitter = get_real(rows, row, at++);
    task->payload_raw = get_bool(rows, row, at++);
    task->container = get_bool(rows, row, at++);
    task->continues = get_bool(rows, row, at++);
    task->runs_anyway = get_bool(rows, row, at++);
    task->document = get_str(rows, row, at++);
    task->key = get_str(rows, row, at++);
    task->external_id = get_str(rows, row, at++);
    tags_unpack(get_str(rows, row, at++), task);
    task->parent = get_id(rows, row, at++);
    task->team = get_id(rows, row, at++);
    task->schedule = get_id(rows, row, at++);
    task->family = get_id(rows, row, at++);
    task->metadata = get_str(rows, row, at);
}

void get_error(const PGresult *rows, size_t row, int at, struct task_error *error)
{
    error->code = get_str(rows, row, at);
    error->message = get_str(rows, row, at + 1);
    error->detail = get_str(rows, row, at + 2);
}

void get_standing(const PGresult *rows, size_t row, int at, struct task *task)
{
    task->state = (enum task_state)get_int(rows, row, at++);
    task->priority = (enum task_priority)get_int(rows, row, at++);
    task->attempt = (int32_t)get_int(rows, row, at++);
    task->retries = (int32_t)get_int(rows, row, at++);
    task->max_retries = (int32_t)get_int(rows, row, at++);
    task->timeout_ms = get_int(rows, row, at++);
    task->scheduled_ms = get_int(rows, row, at++);
    task->queued_ms = get_int(rows, row, at++);
    task->started_ms = get_int(rows, row, at++);
    task->updated_ms = get_int(rows, row, at++);
    task->cancel_requested = get_bool(rows, row, at++);
    task->token = (uint64_t)get_int(rows, row, at++);
    task->outcome = (enum task_outcome)get_int(rows, row, at++);
    task->worker = get_str(rows, row, at++);
    task->lease_ms = get_int(rows, row, at++);
    task->lease_until_ms = get_int(rows, row, at++);
    task->attempt_ended_ms = get_int(rows, row, at++);
    task->log_bytes = (int32_t)get_int(rows, row, at++);
    task->unmet = (int32_t)get_int(rows, row, at++);
    task->cancel_reason = get_str(rows, row, at++);
    task->progress = get_optional(rows, row, at++);
    task->progress_message = get_str(rows, row, at++);
    task->cost.estimated = get_optional(rows, row, at++);
    task->cost.actual = get_optional(rows, row, at++);
    task->cost.tokens = get_optional(rows, row, at++);
    get_error(rows, row, at, &task->error);
}

void get_row(const PGresult *rows, size_t row, struct task_row *out)
{
    struct task *task = &out->task;
    *out = (struct task_row){0};
    read_order(rows, row, task);
    task->payload = get_str(rows, row, PAYLOAD);
    out->payload_omitted = str_absent(task->payload) && get_bool(rows, row, HAS_PAYLOAD);
    get_standing(rows, row, STANDING, task);
    task->finished_ms = get_int(rows, row, FINISHED_MS);
    task->cancelled_ms = get_int(rows, row, CANCELLED_MS);
    task->result = get_str(rows, row, RESULT);
    out->result_omitted = str_absent(task->result) && get_bool(rows, row, HAS_RESULT);
}

struct str lock_text(const struct task *task, char out[static TASK_ID_TEXT])
{
    if (!id_none(task->family) || task->container) {
        return id_text(id_none(task->family) ? task->id : task->family, out);
    }
    return task_lease_text((struct task_lease){task->attempt, task->token}, out);
}
