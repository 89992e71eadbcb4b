/* store/postgres/steward.c: what a fleet keeps in its store: the register of nodes, the leader's
 * row, messages, who may speak to it, and walks over what is due, queued, held or to be cancelled.
 * See store/fleet.h.
 *
 * A connection of its own. All times are the database's.
 *
 * Thread: the fleet's.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "store/fleet.h"
#include "store/postgres/postgres.h"

#define STEWARD_CALLS_MAX 8

struct steward {
    struct pg_store *store; /* only its number and address: it is another thread's */
    struct pg pg;
    int64_t server; /* who answered last; 0: nobody yet */
};

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

/* One question. */
static bool steward_read(struct steward *steward, struct pg_call *call, struct err *err)
{
    return pg_read_run(&steward->pg, call, 1, err);
}

/* Calls that write, in one transaction and one trip. */
static bool steward_write(struct steward *steward, struct pg_call *calls, size_t n, struct err *err)
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

/* ---- Walks ---- */

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

/* ---- Tokens: rows that hold hashes ---- */

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
