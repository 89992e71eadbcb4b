/* store/postgres/row.c: a task as parameters, a row as a task, derived from task/task.def.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/row.h"

#include <assert.h>

#include "store/columns.h"
#include "store/shared.h"

/* ---- In ---- */

#define ARG_ID(member)       arg_id(args, task->member)
#define ARG_NAME(member)     arg_text(args, task->member)
#define ARG_TEXT(member)     arg_bytes(args, task->member)
#define ARG_JSON(member)     arg_bytes(args, task->member)
#define ARG_BYTES(member)    arg_bytes(args, task->member)
#define ARG_TAGS(member)     arg_bytes(args, tags_pack(task, scratch))
#define ARG_TIME(member)     arg_int(args, task->member)
#define ARG_I64(member)      arg_int(args, task->member)
#define ARG_U64(member)      arg_int(args, (int64_t)task->member)
#define ARG_I32(member)      arg_small(args, task->member)
#define ARG_STATE(member)    arg_small(args, (int32_t)task->member)
#define ARG_PRIORITY(member) arg_small(args, (int32_t)task->member)
#define ARG_OUTCOME(member)  arg_small(args, (int32_t)task->member)
#define ARG_F64(member)      arg_real(args, task->member)
#define ARG_AMOUNT(member)   arg_optional(args, task->member)
#define ARG_BOOL(member)     arg_bool(args, task->member)

ALWAYS_INLINE void args_parts(struct args *args, const struct task *task, struct buf *scratch,
                              unsigned parts)
{
#define FIELD(part, kind, column, member, ...)                                                     \
    if ((PART_##part & parts) != 0) {                                                              \
        ARG_##kind(member);                                                                        \
    }
#include "task/task.def"
}

void args_order(struct args *args, const struct task *task, struct buf *scratch)
{
    args_parts(args, task, scratch, PARTS_ORDER | PART_BODY);
}

void args_fresh(struct args *args, const struct task *task)
{
    args_parts(args, task, NULL, PART_FRESH);
}

void args_standing(struct args *args, const struct task *task)
{
    args_parts(args, task, NULL, PARTS_STANDING);
}

void args_end(struct args *args, const struct task *task)
{
    args_parts(args, task, NULL, PART_END);
}

void args_error(struct args *args, const struct task_error *error)
{
    arg_bytes(args, error->code);
    arg_bytes(args, error->message);
    arg_bytes(args, error->detail);
}

/* An expiry is for tasks that were never started, and not for one that was queued after it: that
 * one was revived by hand. */
void args_due(struct args *args, const struct task *task)
{
    int64_t due_ms = INT64_MAX;
    if (task->state == TASK_RUNNING && !task->container) {
        due_ms = MIN(task->lease_until_ms,
                     task->timeout_ms > 0 ? task->started_ms + task->timeout_ms : INT64_MAX);
    } else if (task->state == TASK_RETRYING || task->state == TASK_SCHEDULED) {
        due_ms = task->scheduled_ms;
    }
    bool may_expire = task->state != TASK_RUNNING && task->state != TASK_RETRYING &&
                      task->expires_ms != 0 && task->attempt == 0 &&
                      task->queued_ms < task->expires_ms;
    due_ms = may_expire ? MIN(due_ms, task->expires_ms) : due_ms;
    arg_optional_int(args, due_ms, due_ms != INT64_MAX);
}

/* ---- What changes ---- */

/* A bit for each field of a task. */
enum {
#define FIELD(part, kind, column, member, ...) FIELD_##column,
#include "task/task.def"
    FIELDS
};
static_assert(FIELDS <= 64, "a set of fields is a number");
#define BIT(column) (UINT64_C(1) << FIELD_##column)

#define SAME_ID(member)       id_eq(a->member, b->member)
#define SAME_NAME(member)     str_same(a->member, b->member)
#define SAME_TEXT(member)     str_same(a->member, b->member)
#define SAME_JSON(member)     str_same(a->member, b->member)
#define SAME_BYTES(member)    str_same(a->member, b->member)
#define SAME_TAGS(member)     true
#define SAME_TIME(member)     (a->member == b->member)
#define SAME_I64(member)      (a->member == b->member)
#define SAME_U64(member)      (a->member == b->member)
#define SAME_I32(member)      (a->member == b->member)
#define SAME_STATE(member)    (a->member == b->member)
#define SAME_PRIORITY(member) (a->member == b->member)
#define SAME_OUTCOME(member)  (a->member == b->member)
#define SAME_F64(member)      (a->member == b->member)
#define SAME_AMOUNT(member)   (a->member == b->member || (a->member < 0 && b->member < 0))
#define SAME_BOOL(member)     (a->member == b->member)

static bool str_same(struct str a, struct str b)
{
    return str_absent(a) == str_absent(b) && str_eq(a, b);
}

/* The fields in which two tasks stand or ended in different ways. */
static uint64_t fields_that_differ(const struct task *a, const struct task *b)
{
    uint64_t set = 0;
#define FIELD(part, kind, column, member, ...)                                                     \
    if ((PART_##part & (PARTS_STANDING | PART_END)) != 0 && !SAME_##kind(member)) {                \
        set |= BIT(column);                                                                        \
    }
#include "task/task.def"
    return set;
}

bool row_same_standing(const struct task *a, const struct task *b)
{
    return fields_that_differ(a, b) == 0;
}

/* The second set is what start_tasks empties. */
bool row_only_starts(const struct task *was, const struct task *now)
{
    static const uint64_t given = BIT(state) | BIT(attempt) | BIT(started_ms) | BIT(updated_ms) |
                                  BIT(token) | BIT(worker) | BIT(lease_ms) | BIT(lease_until_ms);
    static const uint64_t emptied = BIT(outcome) | BIT(attempt_ended_ms) | BIT(log_bytes) |
                                    BIT(progress) | BIT(progress_message) | BIT(error_code) |
                                    BIT(error_message) | BIT(error_detail);
    return was->state == TASK_QUEUED && now->state == TASK_RUNNING && !was->container &&
           now->attempt == was->attempt + 1 && now->updated_ms == now->started_ms &&
           now->outcome == OUTCOME_NONE && now->attempt_ended_ms == 0 && now->log_bytes == 0 &&
           now->progress < 0 && str_absent(now->progress_message) && str_absent(now->error.code) &&
           str_absent(now->error.message) && str_absent(now->error.detail) &&
           (fields_that_differ(was, now) & ~(given | emptied)) == 0;
}

bool row_only_completes(const struct task *was, const struct task *now)
{
    static const uint64_t given = BIT(state) | BIT(updated_ms) | BIT(cancel_requested) |
                                  BIT(outcome) | BIT(lease_until_ms) | BIT(attempt_ended_ms) |
                                  BIT(cancel_reason) | BIT(finished_ms) | BIT(result);
    return was->state == TASK_RUNNING && now->state == TASK_COMPLETED && !was->container &&
           now->outcome == OUTCOME_COMPLETED && now->lease_until_ms == 0 &&
           !now->cancel_requested && str_absent(now->cancel_reason) && now->cancelled_ms == 0 &&
           now->updated_ms == now->finished_ms && now->attempt_ended_ms == now->finished_ms &&
           (fields_that_differ(was, now) & ~given) == 0;
}

/* ---- Out ---- */

#define GET_ID(member)       task->member = get_id(rows, row, at++)
#define GET_NAME(member)     task->member = get_str(rows, row, at++)
#define GET_TEXT(member)     task->member = get_str(rows, row, at++)
#define GET_JSON(member)     task->member = get_str(rows, row, at++)
#define GET_BYTES(member)    task->member = get_str(rows, row, at++)
#define GET_TAGS(member)     tags_unpack(get_str(rows, row, at++), task)
#define GET_TIME(member)     task->member = get_int(rows, row, at++)
#define GET_I64(member)      task->member = get_int(rows, row, at++)
#define GET_U64(member)      task->member = (uint64_t)get_int(rows, row, at++)
#define GET_I32(member)      task->member = (int32_t)get_int(rows, row, at++)
#define GET_STATE(member)    task->member = (enum task_state)get_int(rows, row, at++)
#define GET_PRIORITY(member) task->member = (enum task_priority)get_int(rows, row, at++)
#define GET_OUTCOME(member)  task->member = (enum task_outcome)get_int(rows, row, at++)
#define GET_F64(member)      task->member = get_real(rows, row, at++)
#define GET_AMOUNT(member)   task->member = get_optional(rows, row, at++)
#define GET_BOOL(member)     task->member = get_bool(rows, row, at++)

/* Reads the columns from `at` on; returns the one behind them. */
ALWAYS_INLINE int get_parts(const PGresult *rows, size_t row, int at, struct task *task,
                            unsigned parts)
{
#define FIELD(part, kind, column, member, ...)                                                     \
    if ((PART_##part & parts) != 0) {                                                              \
        GET_##kind(member);                                                                        \
    }
#include "task/task.def"
    return at;
}

void get_standing(const PGresult *rows, size_t row, int at, struct task *task)
{
    get_parts(rows, row, at, task, PARTS_STANDING);
}

void get_error(const PGresult *rows, size_t row, int at, struct task_error *error)
{
    error->code = get_str(rows, row, at);
    error->message = get_str(rows, row, at + 1);
    error->detail = get_str(rows, row, at + 2);
}

void get_row(const PGresult *rows, size_t row, struct task_row *out)
{
    struct task *task = &out->task;
    *out = (struct task_row){0};
    int at = get_parts(rows, row, 1, task, PARTS_ORDER); /* behind the place in the list of ids */
    task->payload = get_str(rows, row, at++);
    out->payload_omitted = str_absent(task->payload) && get_bool(rows, row, at);
    at = get_parts(rows, row, at + 1, task, PARTS_STANDING);
    if (task_state_terminal(task->state)) {
        at = get_parts(rows, row, at, task, PART_END);
        out->result_omitted = str_absent(task->result) && get_bool(rows, row, at);
    }
}

struct str lock_text(const struct task *task, char out[static TASK_ID_TEXT])
{
    if (!id_none(task->family) || task->container) {
        return id_text(id_none(task->family) ? task->id : task->family, out);
    }
    return task_lease_text((struct task_lease){task->attempt, task->token}, out);
}
