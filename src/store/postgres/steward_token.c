/* store/postgres/steward_token.c: who may speak to a fleet: rows that hold hashes. See
 * store/fleet.h.
 *
 * Thread: whoever has the steward.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/steward.h"

bool steward_tokens(struct steward *steward, struct arena *arena, struct steward_token **out,
                    size_t *count, struct err *err)
{
    struct pg_call call = {.sql = PG_LIST_TOKENS};
    if (!steward_read(steward, &call, err)) {
        return err_wrap(err, "list tokens");
    }
    *count = get_count(call.result);
    *out = arena_array(arena, struct steward_token, *count);
    for (size_t i = 0; i < *count; i++) {
        (*out)[i] = (struct steward_token){.id = arena_str(arena, get_str(call.result, i, 0)),
                                           .line = arena_str(arena, get_str(call.result, i, 1))};
    }
    pg_calls_fini(&call, 1);
    return true;
}

bool steward_tokens_stamp(struct steward *steward, struct steward_stamp *out, struct err *err)
{
    struct pg_call call = {.sql = PG_STAMP_TOKENS};
    if (!steward_read(steward, &call, err)) {
        return err_wrap(err, "look for new tokens");
    }
    *out = (struct steward_stamp){.newest = get_int(call.result, 0, 0),
                                  .count = get_int(call.result, 0, 1)};
    pg_calls_fini(&call, 1);
    return true;
}

/* One call that may change one row; *done: it did. */
static bool change(struct steward *steward, enum pg_id sql, struct args *args, bool *done,
                   struct err *err)
{
    struct pg_call call = {.sql = sql, .args = args};
    if (!steward_write(steward, &call, 1, err)) {
        return false;
    }
    *done = get_count(call.result) == 1;
    pg_calls_fini(&call, 1);
    return true;
}

bool steward_token_add(struct steward *steward, const struct steward_token *token, size_t most,
                       bool *added, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_bytes(&args, token->id);
    arg_bytes(&args, token->line);
    arg_int(&args, (int64_t)most);
    return change(steward, PG_INSERT_TOKEN, &args, added, err) || err_wrap(err, "add a token");
}

bool steward_token_drop(struct steward *steward, struct str id, bool *dropped, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_bytes(&args, id);
    return change(steward, PG_DELETE_TOKEN, &args, dropped, err) ||
           err_wrap(err, "take back a token");
}
