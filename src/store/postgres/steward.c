/* store/postgres/steward.c: the register of nodes, the leader's row, and messages. See
 * store/fleet.h.
 *
 * A connection of its own. All times are the database's.
 *
 * Thread: the fleet's.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/steward.h"

#include "base/mem.h"

#define STEWARD_CALLS_MAX 8

bool steward_open(struct store *store, struct steward **out, struct err *err)
{
    struct steward *steward = mem_new(struct steward);
    (void)err; /* it connects when it is first used */
    steward->store = PG_STORE(store);
    pg_init(&steward->pg, &steward->store->address);
    *out = steward;
    return true;
}

void steward_close(struct steward *steward)
{
    if (steward != NULL) {
        pg_fini(&steward->pg);
        mem_free(steward);
    }
}

bool steward_read(struct steward *steward, struct pg_call *call, struct err *err)
{
    return pg_read_run(&steward->pg, call, 1, err);
}

bool steward_write(struct steward *steward, struct pg_call *calls, size_t n, struct err *err)
{
    struct pg_call all[STEWARD_CALLS_MAX + 3] = {{.sql = PG_BEGIN}, {.sql = PG_LIMITS}};
    memcpy(all + 2, calls, n * sizeof *calls);
    all[n + 2] = (struct pg_call){.sql = PG_COMMIT};
    if (!pg_ready(&steward->pg, PG_READY_MS, err)) {
        return false;
    }
    if (!pg_run(&steward->pg, all, n + 3, err)) {
        pg_read_undo(&steward->pg);
        return false;
    }
    steward->server = pg_ground_server(all[1].result);
    if (!pg_ground_admits(all[1].result, err)) {
        pg_calls_fini(all, n + 3);
        return false;
    }
    memcpy(calls, all + 2, n * sizeof *calls);
    pg_calls_fini(all, 2);
    pg_calls_fini(all + n + 2, 1);
    return true;
}

int64_t steward_server(const struct steward *steward)
{
    return steward->server;
}

/* One such call whose answer does not matter. */
static bool steward_do(struct steward *steward, enum pg_id sql, struct args *args, struct err *err)
{
    struct pg_call call = {.sql = sql, .args = args};
    if (!steward_write(steward, &call, 1, err)) {
        return false;
    }
    pg_calls_fini(&call, 1);
    return true;
}

bool steward_now(struct steward *steward, int64_t *out, struct err *err)
{
    struct pg_call call = {.sql = PG_READ_CLOCK};
    if (!steward_read(steward, &call, err)) {
        return err_wrap(err, "ask for the time");
    }
    *out = get_int(call.result, 0, 0);
    pg_calls_fini(&call, 1);
    return true;
}

/* ---- Nodes ---- */

/* Whoever says that it lives also clears up behind those that do not. */
bool steward_beat(struct steward *steward, const struct steward_node *node, int64_t dead_before_ms,
                  struct err *err)
{
    SCOPED(args_fini) struct args self;
    SCOPED(args_fini) struct args writer;
    SCOPED(args_fini) struct args dead;
    args_init(&self, false);
    args_init(&writer, false);
    args_init(&dead, false);
    arg_bytes(&self, node->id);
    arg_bytes(&self, str_absent(node->body) ? STR("") : node->body);
    arg_int(&self, steward->store->node);
    arg_int(&writer, steward->store->node);
    arg_int(&dead, dead_before_ms);
    struct pg_call calls[] = {
        {.sql = PG_BEAT_NODE, .args = &self},
        {.sql = PG_ADD_WRITER, .args = &writer},
        {.sql = PG_FORGET_NODES, .args = &dead},
        {.sql = PG_FORGET_WRITERS},
        {.sql = PG_DROP_STRAYS},
        {.sql = PG_FOLD_COUNTERS},
    };
    if (!steward_write(steward, calls, ARRAY_LEN(calls), err)) {
        return err_wrap(err, "beat");
    }
    pg_calls_fini(calls, ARRAY_LEN(calls));
    return true;
}

bool steward_leave(struct steward *steward, struct str id, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_bytes(&args, id);
    return steward_do(steward, PG_LEAVE_NODE, &args, err) || err_wrap(err, "leave");
}

bool steward_nodes(struct steward *steward, struct arena *arena, struct steward_node **out,
                   size_t *count, struct err *err)
{
    struct pg_call call = {.sql = PG_LIST_NODES};
    if (!steward_read(steward, &call, err)) {
        return err_wrap(err, "list nodes");
    }
    *count = get_count(call.result);
    *out = arena_array(arena, struct steward_node, *count);
    for (size_t i = 0; i < *count; i++) {
        (*out)[i] = (struct steward_node){.id = arena_str(arena, get_str(call.result, i, 0)),
                                          .body = arena_str(arena, get_str(call.result, i, 1)),
                                          .seen_ms = get_int(call.result, i, 2)};
    }
    pg_calls_fini(&call, 1);
    return true;
}

/* ---- The leader ---- */

bool steward_lead(struct steward *steward, struct str id, int64_t ttl_ms, bool by_force,
                  uint64_t *epoch, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_bytes(&args, id);
    arg_int(&args, ttl_ms);
    arg_bool(&args, by_force);
    struct pg_call call = {.sql = PG_TAKE_LEAD, .args = &args};
    if (!steward_write(steward, &call, 1, err)) {
        return err_wrap(err, "lead");
    }
    *epoch = get_count(call.result) == 0 ? 0 : (uint64_t)get_int(call.result, 0, 0);
    pg_calls_fini(&call, 1);
    return true;
}

bool steward_resign(struct steward *steward, struct str id, uint64_t epoch, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_bytes(&args, id);
    arg_int(&args, (int64_t)epoch);
    return steward_do(steward, PG_LEAVE_LEAD, &args, err) || err_wrap(err, "resign");
}

bool steward_leader(struct steward *steward, struct arena *arena, struct str *owner,
                    uint64_t *epoch, struct err *err)
{
    struct pg_call call = {.sql = PG_READ_LEADER};
    if (!steward_read(steward, &call, err)) {
        return err_wrap(err, "ask for the leader");
    }
    bool any = get_count(call.result) > 0;
    *owner = any ? arena_str(arena, get_str(call.result, 0, 0)) : STR_NONE;
    *epoch = any ? (uint64_t)get_int(call.result, 0, 1) : 0;
    pg_calls_fini(&call, 1);
    return true;
}

/* ---- Messages ---- */

bool steward_tell(struct steward *steward, const struct steward_message *messages, size_t n,
                  struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, true);
    for (size_t i = 0; i < n; i++) {
        arg_bytes(&args, str_absent(messages[i].from) ? STR("") : messages[i].from);
        arg_bytes(&args, str_absent(messages[i].body) ? STR("") : messages[i].body);
        args_row_end(&args);
    }
    struct pg_call calls[] = {{.sql = PG_LOCK_MESSAGES},
                              {.sql = PG_INSERT_MESSAGES, .args = &args}};
    if (n == 0 || !steward_write(steward, calls, ARRAY_LEN(calls), err)) {
        return n == 0 || err_wrap(err, "tell the others");
    }
    pg_calls_fini(calls, ARRAY_LEN(calls));
    return true;
}

bool steward_hear(struct steward *steward, uint64_t after, size_t most, struct arena *arena,
                  struct steward_message *out, size_t *count, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_int(&args, (int64_t)after);
    arg_int(&args, (int64_t)most);
    struct pg_call call = {.sql = PG_LIST_MESSAGES, .args = &args};
    if (!steward_read(steward, &call, err)) {
        return err_wrap(err, "hear the others");
    }
    *count = get_count(call.result);
    for (size_t i = 0; i < *count; i++) {
        out[i] = (struct steward_message){.number = (uint64_t)get_int(call.result, i, 0),
                                          .from = arena_str(arena, get_str(call.result, i, 1)),
                                          .body = arena_str(arena, get_str(call.result, i, 2))};
    }
    pg_calls_fini(&call, 1);
    return true;
}

bool steward_forget(struct steward *steward, int64_t older_than_ms, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_int(&args, older_than_ms);
    return steward_do(steward, PG_FORGET_MESSAGES, &args, err) || err_wrap(err, "forget messages");
}
