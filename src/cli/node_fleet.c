/* cli/node_fleet.c: one running server among others: what it tells them, and what it hears. See
 * node.h.
 *
 * SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdatomic.h>

#include "cli/node.h"
#include "net/token_store.h"

#define SHARED_WAIT_MS  (10 * SECOND_MS) /* for a second connection to the store, at the start */
#define SHARED_PAUSE_MS 50

/* ---- What the engine says: to streams, and to other nodes ---- */

static void on_happened(void *arg, struct event_batch *events)
{
    struct node *node = arg;
    struct fleet *fleet = atomic_load(&node->fleet);
    if (fleet != NULL) {
        fleet_tell(fleet, events);
    }
    events_give(node->events, events);
}

static void on_engine_failed(void *arg, const struct err *err)
{
    api_engine_failed(((struct node *)arg)->api, err);
}

struct engine_host node_engine_host(struct node *node)
{
    return (struct engine_host){.arg = node, .happened = on_happened, .failed = on_engine_failed};
}

/* ---- What others say ---- */

static void on_heard(void *arg, struct event_batch *events)
{
    struct node *node = arg;
    struct session session;
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->events[i];
        if (event->kind == EVENT_SIGN_OUT && !str_absent(event->text) &&
            session_read_end(event->text, &session)) {
            session_end(node->sessions, &session);
        }
    }
    events_give(node->events, events);
}

void node_signed_out(void *arg, const struct session *session)
{
    struct node *node = arg;
    struct fleet *fleet = atomic_load(&node->fleet);
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    session_write_end(&text, session);
    struct event event = {.kind = EVENT_SIGN_OUT,
                          .at_ms = clock_now(&node->clock).wall_ms,
                          .percent = -1,
                          .text = buf_view(&text)};
    const struct event_batch batch = {.events = &event, .count = 1};
    if (fleet != NULL) {
        fleet_tell(fleet, &batch);
    }
}

/* ---- Who may speak to us ---- */

static void on_tokens(void *arg, const struct steward_token *tokens, size_t count)
{
    token_store_share(tokens, count, ((struct node *)arg)->book);
}

static void steward_close_at(struct steward **steward)
{
    steward_close(*steward);
}

static bool read_shared(struct node *node, struct steward *steward, struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct fleet_clock measured = {0};
    struct steward_token *tokens;
    size_t count;
    int64_t now_ms;
    if (!steward_tokens(steward, &arena, &tokens, &count, err) ||
        !fleet_clock_ask(steward, &measured, &now_ms, err)) {
        return false;
    }
    token_store_share(tokens, count, node->book);
    (void)!fleet_clock_follow(&measured, &node->clock);
    return true;
}

/* Who may speak to us, and what time it is. The store was just opened, with as much patience: a
 * server under load is slow to connect. */
bool node_read_shared(struct node *node, struct err *err)
{
    SCOPED(steward_close_at) struct steward *steward = NULL;
    int64_t until_us = clock_real_mono_us() + SHARED_WAIT_MS * 1000;
    if (!store_shared(node->store)) {
        return true;
    }
    if (!steward_open(node->store, &steward, err)) {
        return false;
    }
    while (!read_shared(node, steward, err)) {
        if (err->kind != ERR_UNAVAILABLE || clock_real_mono_us() > until_us) {
            return false;
        }
        *err = ERR_INIT;
        poll(NULL, 0, SHARED_PAUSE_MS);
    }
    return true;
}

/* ---- Joining and leaving ---- */

static bool start_fleet(struct node *node, struct err *err)
{
    struct fleet *fleet = NULL;
    const struct fleet_options options = {
        .store = node->store,
        .broker = node->broker_options,
        .engine = node->engine,
        .clock = &node->clock,
        .node = str_of(node->id),
        .address = node->auth.listen,
        .version = STR(ERRAND_VERSION),
        .started_ms = clock_now(&node->clock).wall_ms,
        .heard = on_heard,
        .heard_arg = node,
        .tokens = on_tokens,
        .tokens_arg = node,
    };
    if (!store_shared(node->store)) {
        return true;
    }
    bool started = fleet_start(&options, &fleet, err);
    atomic_store(&node->fleet, fleet);
    return started;
}

/* Last, when everything that others may ask of this node is there. */
bool node_join_fleet(struct node *node, struct err *err)
{
    if (!start_fleet(node, err)) {
        return false;
    }
    api_join(node->api, node->fleet);
    return true;
}
