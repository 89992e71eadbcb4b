/* store/postgres/steward_walk.c: walks over what is due, queued, held or to be cancelled.
 *
 * Thread: the fleet's.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/steward.h"

bool steward_due(struct steward *steward, int64_t until_ms, int64_t after_ms, struct task_id after,
                 size_t most, struct steward_due *out, size_t *count, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_int(&args, until_ms);
    arg_int(&args, after_ms);
    arg_id(&args, after);
    arg_int(&args, (int64_t)most);
    struct pg_call call = {.sql = PG_LIST_DUE_TASKS, .args = &args};
    if (!steward_read(steward, &call, err)) {
        return err_wrap(err, "look for due tasks");
    }
    *count = get_count(call.result);
    for (size_t i = 0; i < *count; i++) {
        out[i] = (struct steward_due){get_id(call.result, i, 0), get_int(call.result, i, 1)};
    }
    pg_calls_fini(&call, 1);
    return true;
}

bool steward_queued(struct steward *steward, struct task_id after, size_t most, struct arena *arena,
                    struct hint *out, size_t *count, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_id(&args, after);
    arg_int(&args, (int64_t)most);
    struct pg_call call = {.sql = PG_LIST_QUEUED, .args = &args};
    if (!steward_read(steward, &call, err)) {
        return err_wrap(err, "look for queued tasks");
    }
    const PGresult *rows = call.result;
    *count = get_count(rows);
    for (size_t i = 0; i < *count; i++) {
        out[i] = (struct hint){.id = get_id(rows, i, 0),
                               .type = arena_str(arena, get_str(rows, i, 1)),
                               .queue = arena_str(arena, get_str(rows, i, 2)),
                               .document = arena_str(arena, get_str(rows, i, 3)),
                               .priority = (enum task_priority)get_int(rows, i, 4),
                               .queued_ms = get_int(rows, i, 5)};
    }
    pg_calls_fini(&call, 1);
    return true;
}

bool steward_held(struct steward *steward, struct str after, size_t most, struct arena *arena,
                  struct steward_held *out, size_t *count, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_bytes(&args, after);
    arg_int(&args, (int64_t)most);
    struct pg_call call = {.sql = PG_LIST_HELD, .args = &args};
    if (!steward_read(steward, &call, err)) {
        return err_wrap(err, "look for held documents");
    }
    *count = get_count(call.result);
    for (size_t i = 0; i < *count; i++) {
        out[i] = (struct steward_held){arena_str(arena, get_str(call.result, i, 0)),
                                       get_id(call.result, i, 1),
                                       arena_str(arena, get_str(call.result, i, 2))};
    }
    pg_calls_fini(&call, 1);
    return true;
}

bool steward_cancelled(struct steward *steward, struct str node, struct arena *arena,
                       struct task_id **out, size_t *count, struct err *err)
{
    SCOPED(args_fini) struct args args;
    struct str ending = arena_printf(arena, "@" STR_FMT, STR_ARG(node));
    args_init(&args, false);
    arg_bytes(&args, ending);
    struct pg_call call = {.sql = PG_LIST_CANCELLED, .args = &args};
    if (!steward_read(steward, &call, err)) {
        return err_wrap(err, "look for cancelled attempts");
    }
    get_ids(call.result, arena, out, count);
    pg_calls_fini(&call, 1);
    return true;
}
