/* fleet/bus.c: what nodes tell each other, through Redis and, while it is away, through the store.
 *
 * A node that sees Redis while another does not uses both ways, so that nobody is left out; whoever
 * hears a note twice passes over the second.
 *
 * Thread: the fleet's; on_message() and on_state() run on the subscriber's.
 *
 * SPDX-License-Identifier: MIT */
#include "base/log.h"
#include "base/mem.h"
#include "fleet/note.h"
#include "fleet/parts.h"

#define HEARD_MAX ((size_t)256) /* queues named in one wake-up; beyond it: all */

/* ---- Hearing ---- */

static void add_queue(struct sent *sent, struct str *queues, struct str name)
{
    struct command_heard *heard = &sent->command.heard;
    for (size_t i = 0; i < heard->count; i++) {
        if (str_eq(queues[i], name)) {
            return;
        }
    }
    heard->all = heard->all || heard->count == HEARD_MAX;
    if (!heard->all) {
        queues[heard->count++] = arena_str(&sent->arena, name);
    }
}

void bus_wake_later(struct fleet *fleet, struct str queue)
{
    if (fleet->waking == NULL) {
        fleet->waking = fleet_order(fleet, COMMAND_HEARD);
        fleet->waking_queues = arena_array(&fleet->waking->arena, struct str, HEARD_MAX);
        fleet->waking->command.heard.queues = fleet->waking_queues;
    }
    add_queue(fleet->waking, fleet->waking_queues, queue);
}

void bus_wake(struct fleet *fleet)
{
    if (fleet->waking != NULL) {
        fleet_send(fleet, fleet->waking);
        fleet->waking = NULL;
    }
}

/* "NODE QUEUE…" or "NODE *": tasks of these queues can be taken. */
static void hear_wake(struct fleet *fleet, struct str message)
{
    struct str from = str_cut(&message, ' ');
    if (str_eq(from, fleet->with.node)) {
        return;
    }
    fleet->others_heard_ms = fleet_now_ms();
    struct sent *sent = fleet_order(fleet, COMMAND_HEARD);
    struct str *queues = arena_array(&sent->arena, struct str, HEARD_MAX);
    bool all = str_is(message, "*"); /* too many to name: none named means all */
    while (!all && !str_absent(message)) {
        add_queue(sent, queues, str_cut(&message, ' '));
    }
    sent->command.heard.queues = queues;
    fleet_send(fleet, sent);
}

/* An attempt that ended elsewhere may leave room below a limit that holds for the whole fleet. */
static void wake_queues(struct fleet *fleet, const struct event_batch *events)
{
    struct sent *sent = fleet_order(fleet, COMMAND_HEARD);
    struct str *queues = arena_array(&sent->arena, struct str, HEARD_MAX);
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->events[i];
        bool frees = event->kind == EVENT_STATE && event->state != TASK_RUNNING;
        if (frees || event->kind == EVENT_QUEUE) {
            add_queue(sent, queues, event->queue);
        }
        sent->command.heard.settings = sent->command.heard.settings || event->kind == EVENT_QUEUE;
    }
    sent->command.heard.queues = queues;
    if (sent->command.heard.count == 0) { /* none named would mean all */
        arena_fini(&sent->arena);
        mem_free(sent);
        return;
    }
    fleet_send(fleet, sent);
}

static void review_cancels(struct fleet *fleet, const struct event_batch *events)
{
    struct sent *sent = fleet_order(fleet, COMMAND_REVIEW);
    struct task_id *ids = arena_array(&sent->arena, struct task_id, events->count);
    for (size_t i = 0; i < events->count; i++) {
        if (events->events[i].kind == EVENT_CANCEL) {
            ids[sent->command.review.count++] = events->events[i].task;
        }
    }
    sent->command.review.ids = ids;
    if (sent->command.review.count == 0) {
        arena_fini(&sent->arena);
        mem_free(sent);
        return;
    }
    fleet_send(fleet, sent);
}

/* A worker outside may have connections to several nodes. */
static void signal_workers(struct fleet *fleet, const struct event_batch *events)
{
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->events[i];
        if (event->kind != EVENT_WORKER || str_absent(event->name) ||
            event->attempt >= WORKER_SIGNALS) {
            continue;
        }
        struct sent *sent = fleet_order(fleet, COMMAND_WORKER);
        sent->command.worker = (struct command_worker){.id = arena_str(&sent->arena, event->name),
                                                       .signal = (enum worker_signal)event->attempt,
                                                       .heard = true};
        fleet_send(fleet, sent);
    }
}

/* An operator elsewhere wants the document of an attempt that may run here. */
static void release_documents(struct fleet *fleet, const struct event_batch *events)
{
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->events[i];
        if (event->kind == EVENT_RELEASE && !str_absent(event->document)) {
            struct sent *sent = fleet_order(fleet, COMMAND_RELEASE);
            sent->command.release =
                (struct command_release){.document = arena_str(&sent->arena, event->document),
                                         .is_heard = true,
                                         .attempt = event->attempt};
            fleet_send(fleet, sent);
        }
    }
}

static void hear_note(struct fleet *fleet, struct str message)
{
    struct err err = ERR_INIT;
    struct str from;
    struct event_batch *events;
    if (note_from(message, &from) && str_eq(from, fleet->with.node)) {
        return;
    }
    fleet->others_heard_ms = fleet_now_ms();
    pthread_mutex_lock(&fleet->lock);
    bool is_new = note_is_new(&fleet->heard_notes, message);
    pthread_mutex_unlock(&fleet->lock);
    if (!is_new) {
        return;
    }
    if (!note_read(message, &events, &err)) {
        log_warn("%s", err.text);
        return;
    }
    wake_queues(fleet, events);
    review_cancels(fleet, events);
    signal_workers(fleet, events);
    release_documents(fleet, events);
    fleet->with.heard(fleet->with.heard_arg, events);
}

static void on_message(void *arg, struct str channel, struct str message)
{
    struct fleet *fleet = arg;
    if (str_eq(channel, fleet->wake_channel)) {
        hear_wake(fleet, message);
    } else {
        hear_note(fleet, message);
    }
}

/* Whatever was missed meanwhile: everybody who waits asks again. */
static void on_state(void *arg, bool up)
{
    struct fleet *fleet = arg;
    log_info(up ? "other nodes are heard through Redis" : "Redis is away: looking in the store");
    fleet_send(fleet, fleet_order(fleet, COMMAND_HEARD)); /* none named: all */
    if (up) {
        fleet->greets = true;
        fleet_poke(fleet);
    }
}

static void hear_store(struct fleet *fleet)
{
    struct err err = ERR_INIT;
    size_t count = FLEET_PAGE;
    while (count == FLEET_PAGE) {
        SCOPED(arena_fini) struct arena arena = ARENA_INIT;
        struct steward_message *messages = arena_array(&arena, struct steward_message, FLEET_PAGE);
        if (!steward_hear(fleet->steward, fleet->heard_number, FLEET_PAGE, &arena, messages, &count,
                          &err)) {
            return;
        }
        for (size_t i = 0; i < count; i++) {
            fleet->heard_number = messages[i].number;
            if (fleet->heard_begun) {
                hear_note(fleet, messages[i].body);
            }
        }
    }
    fleet->heard_begun = true;
}

/* ---- Telling ---- */

static void tell_redis(struct fleet *fleet, struct list *notes)
{
    struct err err = ERR_INIT;
    struct redis_reply *replies;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    LIST_EACH(notes, it)
    {
        struct outgoing *note = HOLDER(it, struct outgoing, link);
        REDIS_ADD(fleet->redis, STR("PUBLISH"), fleet->events_channel, buf_view(&note->text));
    }
    if (!redis_run(fleet->redis, &arena, &replies, &err)) {
        log_warn("tell the others: %s", err.text);
    }
}

static void tell_store(struct fleet *fleet, struct list *notes)
{
    struct err err = ERR_INIT;
    size_t n = 0;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct steward_message *messages =
        arena_array(&arena, struct steward_message, fleet->outbox_count + 1);
    LIST_EACH(notes, it)
    {
        struct outgoing *note = HOLDER(it, struct outgoing, link);
        messages[n++] =
            (struct steward_message){.from = fleet->with.node, .body = buf_view(&note->text)};
    }
    if (!steward_tell(fleet->steward, messages, n, &err)) {
        log_warn("tell the others: %s", err.text);
    }
}

static bool store_is_needed(struct fleet *fleet)
{
    pthread_mutex_lock(&fleet->lock);
    bool others = fleet->status.nodes > 1, blind = fleet->other_blind;
    pthread_mutex_unlock(&fleet->lock);
    return fleet->steward != NULL && others &&
           (blind || !fleet_redis_up(fleet) || health_rule(fleet_broker_health(fleet))->degraded);
}

/* A node that believes itself alone tells nothing. Whoever begins to listen says so, by a message
 * that means no more than "look again" to those who know that they are not alone. */
static void greet(struct fleet *fleet)
{
    struct err err = ERR_INIT;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct str greeting = arena_printf(&arena, STR_FMT " *", STR_ARG(fleet->with.node));
    if (fleet_redis_up(fleet) && fleet->greets) {
        fleet->greets = !redis_publish(fleet->redis, fleet->wake_channel, greeting, &err);
    }
}

void bus_send(struct fleet *fleet)
{
    struct list notes;
    greet(fleet);
    list_init(&notes);
    if (!channel_take(&fleet->outbox, &notes)) {
        return;
    }
    if (fleet_redis_up(fleet)) {
        tell_redis(fleet, &notes);
    }
    if (store_is_needed(fleet)) {
        tell_store(fleet, &notes);
    }
    LIST_EACH(&notes, it)
    {
        struct outgoing *note = HOLDER(it, struct outgoing, link);
        list_remove(it);
        buf_fini(&note->text);
        mem_free(note);
        fleet->outbox_count--;
    }
}

void bus_tick(struct fleet *fleet, int64_t now_ms)
{
    bus_send(fleet);
    bool first = !fleet->heard_begun && fleet->steward != NULL;
    if (now_ms >= fleet->hear_next_ms && (first || store_is_needed(fleet))) {
        fleet->hear_next_ms = now_ms + FLEET_HEAR_MS;
        hear_store(fleet);
        struct err err = ERR_INIT;
        if (fleet->epoch != 0 && !steward_forget(fleet->steward, FLEET_KEEP_MS, &err)) {
            log_warn("old messages: %s", err.text);
        }
    }
}

/* ---- Life ---- */

bool bus_start(struct fleet *fleet, struct err *err)
{
    const struct str channels[] = {fleet->events_channel, fleet->wake_channel};
    const struct redis_subscription subscription = {.url = fleet->with.broker.url,
                                                    .tls = fleet->with.broker.tls,
                                                    .home_key = fleet->probe_key,
                                                    .channels = channels,
                                                    .channels_count = ARRAY_LEN(channels),
                                                    .message = on_message,
                                                    .state = on_state,
                                                    .arg = fleet};
    return fleet->redis == NULL || redis_subscribe(&subscription, &fleet->subscriber, err);
}

void bus_stop(struct fleet *fleet)
{
    redis_unsubscribe(fleet->subscriber);
    fleet->subscriber = NULL;
}
