/* tests/fleet/stand.c: a store and an engine for the fleet's work. See stand.h.
 *
 * The functions below have the names of the real ones (store/fleet.h, queue/queue.h), so that the
 * linker takes these.
 *
 * SPDX-License-Identifier: MIT */
#include "stand.h"

#include <stdio.h>

#include "base/mem.h"
#include "test.h"

struct steward {
    struct rows *rows;
};

static bool reach(struct steward *steward, struct err *err)
{
    return !steward->rows->away || err_set(err, ERR_UNAVAILABLE, "the store is away");
}

/* ---- The store ---- */

bool steward_open(struct store *store, struct steward **out, struct err *err)
{
    struct rows *rows = HOLDER(store, struct rows, store);
    if (rows->away) {
        return err_set(err, ERR_UNAVAILABLE, "the store is away");
    }
    *out = mem_new(struct steward);
    (*out)->rows = rows;
    return true;
}

void steward_close(struct steward *steward)
{
    mem_free(steward);
}

int64_t steward_server(const struct steward *steward)
{
    (void)steward;
    return 1;
}

static struct store_ground ground(const struct store *store)
{
    (void)store;
    return (struct store_ground){.server = 1};
}

static const struct fleet_ops fleet_ops = {.ground = ground};
static const struct store_ops store_ops = {.fleet = &fleet_ops};

bool steward_now(struct steward *steward, int64_t *out, struct err *err)
{
    *out = steward->rows->now_ms;
    return reach(steward, err);
}

static size_t find_node(const struct rows *rows, struct str id)
{
    size_t i = 0;
    while (i < rows->nodes_count && !str_is(id, rows->nodes[i].id)) {
        i++;
    }
    return i;
}

static void drop_node(struct rows *rows, size_t at)
{
    rows->nodes[at] = rows->nodes[--rows->nodes_count];
}

bool steward_beat(struct steward *steward, const struct steward_node *node, int64_t dead_before_ms,
                  struct err *err)
{
    struct rows *rows = steward->rows;
    size_t at = find_node(rows, node->id);
    if (!reach(steward, err)) {
        return false;
    }
    rows->nodes_count += at == rows->nodes_count;
    snprintf(rows->nodes[at].id, sizeof rows->nodes[at].id, STR_FMT, STR_ARG(node->id));
    snprintf(rows->nodes[at].body, sizeof rows->nodes[at].body, STR_FMT, STR_ARG(node->body));
    rows->nodes[at].seen_ms = node->seen_ms;
    for (size_t i = rows->nodes_count; i-- > 0;) {
        if (rows->nodes[i].seen_ms < dead_before_ms) {
            drop_node(rows, i);
        }
    }
    return true;
}

bool steward_leave(struct steward *steward, struct str id, struct err *err)
{
    size_t at = find_node(steward->rows, id);
    if (at < steward->rows->nodes_count) {
        drop_node(steward->rows, at);
    }
    return reach(steward, err);
}

bool steward_nodes(struct steward *steward, struct arena *arena, struct steward_node **out,
                   size_t *count, struct err *err)
{
    struct rows *rows = steward->rows;
    *out = arena_array(arena, struct steward_node, ROWS_MAX);
    *count = rows->nodes_count;
    for (size_t i = 0; i < rows->nodes_count; i++) {
        (*out)[i] = (struct steward_node){.id = arena_str(arena, str_of(rows->nodes[i].id)),
                                          .body = arena_str(arena, str_of(rows->nodes[i].body)),
                                          .seen_ms = rows->nodes[i].seen_ms};
    }
    return reach(steward, err);
}

bool steward_lead(struct steward *steward, struct str id, int64_t ttl_ms, bool by_force,
                  uint64_t *epoch, struct err *err)
{
    struct rows *rows = steward->rows;
    bool ours = str_is(id, rows->leader), over = rows->leader_until_ms <= rows->now_ms;
    *epoch = 0;
    if (!reach(steward, err)) {
        return false;
    }
    if (ours || over || by_force) {
        rows->epoch += !ours;
        rows->leader_until_ms = rows->now_ms + ttl_ms;
        snprintf(rows->leader, sizeof rows->leader, STR_FMT, STR_ARG(id));
        *epoch = rows->epoch;
    }
    return true;
}

bool steward_resign(struct steward *steward, struct str id, uint64_t epoch, struct err *err)
{
    if (str_is(id, steward->rows->leader) && epoch == steward->rows->epoch) {
        steward->rows->leader_until_ms = 0;
    }
    return reach(steward, err);
}

bool steward_due(struct steward *steward, int64_t until_ms, int64_t after_ms, struct task_id after,
                 size_t most, struct steward_due *out, size_t *count, struct err *err)
{
    (void)after;
    *count = 0;
    for (size_t i = 0; i < steward->rows->due_count && *count < most; i++) {
        const struct steward_due *due = &steward->rows->due[i];
        if (due->due_ms <= until_ms && due->due_ms > after_ms) {
            out[(*count)++] = *due;
        }
    }
    return reach(steward, err);
}

bool steward_queued(struct steward *steward, struct task_id after, size_t most, struct arena *arena,
                    struct hint *out, size_t *count, struct err *err)
{
    (void)arena;
    *count = 0;
    for (size_t i = 0; i < steward->rows->queued_count && *count < most; i++) {
        if (steward->rows->queued[i].id.hi > after.hi) {
            out[(*count)++] = steward->rows->queued[i];
        }
    }
    return reach(steward, err);
}

bool steward_held(struct steward *steward, struct str after, size_t most, struct arena *arena,
                  struct steward_held *out, size_t *count, struct err *err)
{
    (void)after;
    (void)arena;
    *count = MIN(most, steward->rows->held_count);
    memcpy(out, steward->rows->held, *count * sizeof *out);
    return reach(steward, err);
}

bool steward_cancelled(struct steward *steward, struct str node, struct arena *arena,
                       struct task_id **out, size_t *count, struct err *err)
{
    (void)node;
    *out = arena_array(arena, struct task_id, 1);
    *count = 0;
    return reach(steward, err);
}

bool steward_tell(struct steward *steward, const struct steward_message *messages, size_t n,
                  struct err *err)
{
    struct rows *rows = steward->rows;
    for (size_t i = 0; i < n; i++) {
        size_t at = rows->messages_count++;
        snprintf(rows->messages[at].from, sizeof rows->messages[at].from, STR_FMT,
                 STR_ARG(messages[i].from));
        snprintf(rows->messages[at].body, sizeof rows->messages[at].body, STR_FMT,
                 STR_ARG(messages[i].body));
    }
    return reach(steward, err);
}

bool steward_hear(struct steward *steward, uint64_t after, size_t most, struct arena *arena,
                  struct steward_message *out, size_t *count, struct err *err)
{
    struct rows *rows = steward->rows;
    *count = 0;
    for (uint64_t i = after; i < rows->messages_count && *count < most; i++) {
        out[(*count)++] =
            (struct steward_message){i + 1, arena_str(arena, str_of(rows->messages[i].from)),
                                     arena_str(arena, str_of(rows->messages[i].body))};
    }
    return reach(steward, err);
}

bool steward_forget(struct steward *steward, int64_t older_than_ms, struct err *err)
{
    (void)older_than_ms;
    return reach(steward, err);
}

bool steward_tokens_stamp(struct steward *steward, struct steward_stamp *out, struct err *err)
{
    *out = (struct steward_stamp){0};
    return reach(steward, err);
}

bool steward_tokens(struct steward *steward, struct arena *arena, struct steward_token **out,
                    size_t *count, struct err *err)
{
    *out = arena_array(arena, struct steward_token, 1);
    *count = 0;
    return reach(steward, err);
}

/* ---- The engine ---- */

void engine_give(struct engine *engine, struct list *commands)
{
    struct stand *stand = (struct stand *)engine;
    LIST_EACH(commands, it)
    {
        list_remove(it);
        list_append(&stand->given, it);
    }
}

const struct command *stand_given(struct stand *stand, enum command_kind kind)
{
    const struct command *last = NULL;
    LIST_EACH(&stand->given, it)
    {
        const struct command *command = HOLDER(it, struct command, link);
        last = command->kind == kind ? command : last;
    }
    return last;
}

void stand_answer(struct stand *stand, enum broker_health health)
{
    LIST_EACH(&stand->given, it)
    {
        struct command *command = HOLDER(it, struct command, link);
        list_remove(it);
        command->workers.broker =
            command->kind == COMMAND_WORKERS ? health : command->workers.broker;
        channel_give(command->reply_to, &command->link);
    }
}

/* ---- Life ---- */

static void on_heard(void *arg, struct event_batch *events)
{
    ++((struct stand *)arg)->heard;
    event_batch_free(events);
}

static void on_tokens(void *arg, const struct steward_token *tokens, size_t count)
{
    (void)arg;
    (void)tokens;
    (void)count;
}

void stand_init(struct stand *stand, struct rows *rows, const char *node, const char *url)
{
    struct err err = ERR_INIT;
    *stand = (struct stand){0};
    list_init(&stand->given);
    rows->store.ops = &store_ops;
    clock_init_by_hand(&stand->clock, 1800000000000);
    rows->now_ms = rows->now_ms == 0 ? 1800000000000 : rows->now_ms;
    const struct fleet_options options = {.store = &rows->store,
                                          .broker = {.url = str_of(url), .node = str_of(node)},
                                          .engine = (struct engine *)stand,
                                          .clock = &stand->clock,
                                          .node = str_of(node),
                                          .address = STR("127.0.0.1:1"),
                                          .version = STR("1"),
                                          .started_ms = 1800000000000,
                                          .heard = on_heard,
                                          .heard_arg = stand,
                                          .tokens = on_tokens};
    CHECK_OK(fleet_open(&options, &stand->fleet, &err));
}

void stand_fini(struct stand *stand)
{
    stand_answer(stand, BROKER_WHOLE);
    fleet_free(stand->fleet);
}

void stand_tick(struct stand *stand, int64_t now_ms)
{
    struct rows *rows = HOLDER(stand->fleet->with.store, struct rows, store);
    rows->now_ms = MAX(rows->now_ms, 1800000000000 + now_ms);
    clock_set(&stand->clock, rows->now_ms);
    fleet_tick(stand->fleet, now_ms);
}
