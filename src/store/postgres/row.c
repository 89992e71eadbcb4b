/* store/postgres/row.c: a task as parameters, a row as a task, derived from task/task.def.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/row.h"

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
