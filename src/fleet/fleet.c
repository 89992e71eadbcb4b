/* fleet/fleet.c: the fleet's thread and what it does when. See fleet.h.
 *
 * Everything here has an upper bound in time, and nothing waits for the engine: questions to it go
 * out and come back as messages.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "fleet/note.h"
#include "fleet/parts.h"

void fleet_poke(void *arg)
{
    struct fleet *fleet = arg;
    uint64_t one = 1;
    if (write(fleet->wake_fd, &one, sizeof one) < 0) {
        return; /* full: it is awake already */
    }
}

/* ---- Commands to the engine ---- */

struct sent *fleet_order(struct fleet *fleet, enum command_kind kind)
{
    struct sent *sent = mem_new(struct sent);
    sent->command = (struct command){
        .kind = kind, .arena = &sent->arena, .sender = sent, .reply_to = &fleet->returned};
    return sent;
}

void fleet_send(struct fleet *fleet, struct sent *sent)
{
    struct list list;
    assert(command_is_from(&sent->command, BY_FLEET));
    list_init(&list);
    list_append(&list, &sent->command.link);
    engine_give(fleet->with.engine, &list);
}

static void take_returned(struct fleet *fleet)
{
    struct list returned;
    list_init(&returned);
    channel_take(&fleet->returned, &returned);
    LIST_EACH(&returned, it)
    {
        struct sent *sent = HOLDER(HOLDER(it, struct command, link), struct sent, command);
        list_remove(it);
        if (sent->command.kind == COMMAND_WORKERS) {
            roster_answered(fleet, sent);
        }
        arena_fini(&sent->arena);
        mem_free(sent);
    }
}

/* ---- The thread ---- */

bool fleet_redis_up(const struct fleet *fleet)
{
    return fleet->redis != NULL && !redis_away(fleet->redis);
}

/* Three clients of this node use Redis, and each may be the first to see that it is away. Nodes
 * that keep hints elsewhere in it are as good as away; older ones are told so by this too. */
enum broker_health fleet_broker_health(const struct fleet *fleet)
{
    enum broker_health health = health_worse(fleet->engine_sees, broker_health(fleet->broker));
    bool away = fleet->redis != NULL && (redis_away(fleet->redis) || fleet->layouts_differ);
    return away ? health_worse(health, BROKER_AWAY) : health;
}

/* What a node queues that cannot reach Redis is known to the store alone. The engine relies on its
 * broker when this thread has seen that all nodes reach it, and not before. */
static void tell_doubt(struct fleet *fleet)
{
    bool degraded = health_rule(fleet_broker_health(fleet))->degraded;
    pthread_mutex_lock(&fleet->lock);
    bool doubts = fleet->other_blind || degraded;
    pthread_mutex_unlock(&fleet->lock);
    enum broker_health next = health_next(fleet->engine_sees, doubts ? BROKER_DOUBT : BROKER_TRUST);
    if (next != fleet->engine_sees) {
        struct sent *sent = fleet_order(fleet, COMMAND_DOUBT);
        sent->command.doubt.doubts = doubts;
        fleet->engine_sees = next;
        fleet_send(fleet, sent);
    }
}

static void note_status(struct fleet *fleet)
{
    enum broker_health health = fleet_broker_health(fleet);
    pthread_mutex_lock(&fleet->lock);
    fleet->status.leads = fleet->epoch != 0;
    fleet->status.store_away = fleet->store_away;
    fleet->status.clock = fleet->clock;
    fleet->status.health = health;
    fleet->status.broker = broker_shown(fleet->broker, health);
    pthread_mutex_unlock(&fleet->lock);
}

static void look_around(struct fleet *fleet, int64_t now_ms)
{
    struct err err = ERR_INIT;
    if (fleet->steward == NULL && !steward_open(fleet->with.store, &fleet->steward, &err)) {
        fleet->steward = NULL; /* the next tick tries again */
    }
    if (fleet->steward != NULL) {
        lead_tick(fleet, now_ms);
        roster_tick(fleet, now_ms);
    }
    if (fleet->steward != NULL) { /* the roster may just have lost it */
        walk_tick(fleet, now_ms);
    }
    bus_tick(fleet, now_ms);
    tell_doubt(fleet);
    note_status(fleet);
    if (!fleet->joined) { /* whoever starts the node waits for this */
        uint64_t one = 1;
        fleet->joined = write(fleet->joined_fd, &one, sizeof one) == sizeof one;
    }
}

/* Every batch of the engine calls us to tell what happened in it, hundreds of times a second:
 * asking the broker and the store each time would cost them more than the batch. */
void fleet_tick(struct fleet *fleet, int64_t now_ms)
{
    take_returned(fleet);
    bool hands_over = fleet->quiet && fleet->epoch != 0;
    if (now_ms < fleet->look_next_ms && !hands_over) {
        bus_send(fleet);
        return;
    }
    fleet->look_next_ms = now_ms + FLEET_TICK_MS;
    look_around(fleet, now_ms);
}

static void *run(void *arg)
{
    struct fleet *fleet = arg;
    pthread_setname_np(pthread_self(), "fleet");
    if (fleet->redis != NULL) { /* who leads is first asked there: see lead.c */
        (void)!redis_wait(fleet->redis, REDIS_CONNECT_MS);
    }
    while (!fleet->stop) {
        struct pollfd fd = {.fd = fleet->wake_fd, .events = POLLIN};
        uint64_t count;
        fleet_tick(fleet, fleet_now_ms());
        int64_t wait_ms = MAX(0, MIN(fleet->look_next_ms - fleet_now_ms(), FLEET_TICK_MS));
        if (poll(&fd, 1, (int)wait_ms) > 0 && read(fleet->wake_fd, &count, sizeof count) < 0) {
            continue;
        }
    }
    lead_resign(fleet);
    note_status(fleet);
    return NULL;
}

/* ---- Life ---- */

/* What we offer wakes the claims of other nodes through Redis. Ours pass over messages of their own
 * node, so they are told here. */
static void on_ready(void *arg, struct str queue, struct str type)
{
    (void)type;
    bus_wake_later(arg, queue);
}

static void init(struct fleet *fleet, const struct fleet_options *options)
{
    struct str prefix =
        str_absent(options->broker.prefix) ? STR("errand:") : options->broker.prefix;
    fleet->with = *options;
    fleet->status = (struct fleet_status){.broker = "poll", .nodes = 1};
    fleet->nodes = fleet->workers = BUF_INIT(16 * MIB);
    fleet->census = BUF_INIT(4 * MIB);
    fleet->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    fleet->joined_fd = eventfd(0, EFD_CLOEXEC);
    fleet->tokens = (struct steward_stamp){.newest = -1}; /* never told */
    fleet->walk.under_way = true; /* every node offers once what it finds: it is the boot path */
    pthread_mutex_init(&fleet->lock, NULL);
    channel_init(&fleet->returned, fleet_poke, fleet);
    channel_init(&fleet->outbox, fleet_poke, fleet);
    fleet->events_channel = arena_printf(&fleet->arena, STR_FMT "events", STR_ARG(prefix));
    fleet->wake_channel = arena_printf(&fleet->arena, STR_FMT "wake", STR_ARG(prefix));
    fleet->leader_key = arena_printf(&fleet->arena, STR_FMT "leader", STR_ARG(prefix));
    fleet->probe_key = broker_home_key(prefix, &fleet->arena);
}

bool fleet_open(const struct fleet_options *options, struct fleet **out, struct err *err)
{
    struct fleet *fleet = mem_new(struct fleet);
    init(fleet, options);
    *out = fleet;
    struct broker_options broker = options->broker;
    broker.ready = on_ready;
    broker.arg = fleet;
    const struct redis_options redis = {
        .url = broker.url, .tls = broker.tls, .probe_key = fleet->probe_key};
    return broker_open(&broker, &fleet->broker, err) &&
           (!str_starts(broker.url, STR("redis")) || redis_open(&redis, &fleet->redis, err));
}

bool fleet_start(const struct fleet_options *options, struct fleet **out, struct err *err)
{
    if (!fleet_open(options, out, err) || !bus_start(*out, err)) {
        return err_wrap(err, "join the fleet");
    }
    struct fleet *fleet = *out;
    int failed = pthread_create(&fleet->thread, NULL, run, fleet);
    if (failed != 0) {
        return err_set(err, ERR_INTERNAL, "start the fleet's thread: %s", strerror(failed));
    }
    fleet->started = true;
    poll(&(struct pollfd){.fd = fleet->joined_fd, .events = POLLIN}, 1, (int)FLEET_JOIN_MS);
    return true;
}

static void drop_outbox(struct fleet *fleet)
{
    struct list left;
    list_init(&left);
    channel_take(&fleet->outbox, &left);
    LIST_EACH(&left, it)
    {
        struct outgoing *note = HOLDER(it, struct outgoing, link);
        list_remove(it);
        buf_fini(&note->text);
        mem_free(note);
    }
}

void fleet_quiet(struct fleet *fleet)
{
    if (fleet != NULL) {
        fleet->quiet = true;
        fleet_poke(fleet);
    }
}

void fleet_stop(struct fleet *fleet)
{
    if (fleet != NULL && fleet->started) {
        fleet->stop = true;
        fleet_poke(fleet);
        pthread_join(fleet->thread, NULL);
        fleet->started = false;
    }
    if (fleet != NULL) {
        bus_stop(fleet);
    }
}

void fleet_free(struct fleet *fleet)
{
    if (fleet == NULL) {
        return;
    }
    take_returned(fleet);
    drop_outbox(fleet);
    if (fleet->waking != NULL) {
        arena_fini(&fleet->waking->arena);
        mem_free(fleet->waking);
    }
    steward_close(fleet->steward);
    redis_close(fleet->redis);
    broker_close(fleet->broker);
    channel_fini(&fleet->returned);
    channel_fini(&fleet->outbox);
    buf_fini(&fleet->nodes);
    buf_fini(&fleet->workers);
    mem_free(fleet->tally.nodes);
    buf_fini(&fleet->census);
    mem_free(fleet->held.at);
    mem_free(fleet->suspects.at);
    arena_fini(&fleet->arena);
    pthread_mutex_destroy(&fleet->lock);
    close(fleet->wake_fd);
    close(fleet->joined_fd);
    mem_free(fleet);
}

/* ---- For others ---- */

/* A node that joins is heard at once through Redis (bus.c), and found in the register within
 * a heartbeat. */
bool fleet_is_alone(struct fleet *fleet)
{
    int64_t heard_ms = fleet->others_heard_ms;
    bool heard = heard_ms != 0 && fleet_now_ms() - heard_ms < FLEET_DEAD_MS;
    return !heard && fleet_status(fleet).nodes < 2;
}

void fleet_tell(struct fleet *fleet, const struct event_batch *events)
{
    if (fleet_is_alone(fleet) || fleet->outbox_count >= FLEET_BACKLOG_MAX) {
        return; /* nobody listens, or nobody can keep up: watchers are told to start over */
    }
    struct outgoing *note = mem_new(struct outgoing);
    note->text = BUF_INIT(NOTE_MAX);
    note_write(&note->text, fleet->with.node, events);
    fleet->outbox_count++;
    channel_give(&fleet->outbox, &note->link);
}

struct fleet_status fleet_status(struct fleet *fleet)
{
    pthread_mutex_lock(&fleet->lock);
    struct fleet_status status = fleet->status;
    pthread_mutex_unlock(&fleet->lock);
    return status;
}

void fleet_look(struct fleet *fleet, struct arena *arena, struct fleet_view *out)
{
    pthread_mutex_lock(&fleet->lock);
    out->nodes = arena_str(arena, buf_view(&fleet->nodes));
    out->workers = arena_str(arena, buf_view(&fleet->workers));
    pthread_mutex_unlock(&fleet->lock);
}
