/* net/events.c: tells whoever watches what happened. See events.h.
 *
 * Nothing is pushed: each subscriber has a place in the backlog and reads from there as far as its
 * socket allows. Resuming, following live and catching up after a stall are the same walk.
 *
 * Thread: net loop; batches come in through a channel.
 *
 * SPDX-License-Identifier: MIT */
#include "net/events.h"

#include "base/channel.h"
#include "base/mem.h"
#include "net/backlog.h"
#include "net/owners.h"
#include "net/pace.h"
#include "net/wake.h"
#include "wire/uri.h"

#define SEND_PIECE  (32 * KIB) /* events are sent together up to this size */
#define NUMBER_BITS 20         /* numbers of one millisecond: none is given twice after a restart */

struct events {
    uv_loop_t *loop;
    struct channel given;
    struct wake wake;
    uv_timer_t ping, pace_timer, step_timer;
    struct backlog backlog;
    struct pace pace;
    struct list subscribers;
    size_t subscribers_count;
    struct map watches;
    struct owners owners;
    struct buf piece; /* what is sent to a subscriber next */
    bool stopping;
};

struct subscriber { /* in its exchange's arena */
    struct link link;
    struct events *events;
    struct exchange *exchange;
    struct events_filter filter;
    uint64_t next;   /* the number it reads next */
    bool is_stalled; /* its socket is full; it goes on when that has drained */
    int64_t step_ms; /* paced: when it reads on */
    bool is_over;    /* the end it waited for was told; what came with it still follows */
    int64_t may_ms;  /* until then nobody asks whether it may go on */
};

/* ---- Subscribers ---- */

static void leave(struct subscriber *subscriber)
{
    struct events *events = subscriber->events;
    list_remove(&subscriber->link);
    if (--events->subscribers_count == 0 && !events->stopping) {
        uv_timer_stop(&events->ping);
    }
}

static void end(struct subscriber *subscriber)
{
    leave(subscriber);
    exchange_end(subscriber->exchange);
}

static void on_gone(struct exchange *exchange)
{
    leave(exchange->user);
}

/* False: who asked for it may not see it any more, and it is over. A token is revoked, or expires,
 * while its streams are open: from then on nothing is told to them. */
static bool goes_on(struct subscriber *subscriber)
{
    const struct events_filter *filter = &subscriber->filter;
    int64_t now_ms = (int64_t)uv_now(subscriber->events->loop);
    if (filter->may_stay == NULL || now_ms < subscriber->may_ms) {
        return true;
    }
    subscriber->may_ms = now_ms + EVENTS_MAY_MS;
    if (!filter->may_stay(filter->may_stay_arg)) {
        end(subscriber);
        return false;
    }
    return true;
}

/* Sends what has been collected; the subscriber's place is then behind `read`. */
static bool send_piece(struct subscriber *subscriber, uint64_t read)
{
    struct buf *piece = &subscriber->events->piece;
    subscriber->is_stalled = !stream_send(subscriber->exchange, buf_view(piece));
    buf_clear(piece);
    if (!subscriber->is_stalled) {
        subscriber->next = read;
    }
    return !subscriber->is_stalled;
}

static void add_to_piece(struct subscriber *subscriber, const struct event *event, struct str text)
{
    SCOPED(buf_fini) struct buf named = BUF_INIT(SIZE_MAX);
    if (event->kind == EVENT_TOPIC && str_absent(subscriber->filter.topic)) {
        event_name_topic(&named, event, text);
        text = buf_view(&named);
    }
    if (subscriber->filter.redact == NULL) {
        buf_str(&subscriber->events->piece, text);
    } else {
        event_redact(&subscriber->events->piece, subscriber->filter.redact, text);
    }
}

/* Whether this is the last event that the subscriber waits for. */
static bool is_last(const struct events_filter *filter, const struct event *event)
{
    if (filter->ends != NULL) {
        return events_match(filter, event) && filter->ends(event->name);
    }
    return filter->until_ended && event->kind == EVENT_STATE && id_eq(filter->task, event->task) &&
           (task_state_terminal(event->state) || event->removed);
}

/* Whose the event is, where the subscriber is sent only what is a certain user's. */
static enum owner_is whose(struct subscriber *subscriber, const struct event *event)
{
    struct events *events = subscriber->events;
    const struct events_filter *filter = &subscriber->filter;
    if (str_absent(filter->user) || id_none(event->schedule) || !events_match(filter, event)) {
        return OWNER_USER;
    }
    return owners_look(&events->owners, event->schedule, filter->user,
                       (int64_t)uv_now(events->loop));
}

/* Reads on from the subscriber's place to the end, or until its socket is full, or up to an event
 * whose owner is not known yet. */
static void read_on(struct subscriber *subscriber)
{
    struct backlog *backlog = &subscriber->events->backlog;
    struct buf *piece = &subscriber->events->piece;
    if (subscriber->next < backlog->first) { /* it fell off the end: let it come back and resume */
        end(subscriber);
        return;
    }
    for (uint64_t number = subscriber->next; number < backlog->next; number++) {
        const struct event *event = backlog_event(backlog, number);
        enum owner_is owner = whose(subscriber, event);
        if (owner == OWNER_UNKNOWN) {
            (void)send_piece(subscriber, number);
            return;
        }
        subscriber->is_over = subscriber->is_over || is_last(&subscriber->filter, event);
        if (owner == OWNER_USER && events_match(&subscriber->filter, event)) {
            add_to_piece(subscriber, event, backlog_text(backlog, number));
        }
        if (piece->len >= SEND_PIECE && !send_piece(subscriber, number + 1)) {
            return;
        }
    }
    if (send_piece(subscriber, backlog->next) && subscriber->is_over) {
        end(subscriber);
    }
}

static void on_drained(struct exchange *exchange)
{
    struct subscriber *subscriber = exchange->user;
    if (subscriber->is_stalled && goes_on(subscriber)) {
        read_on(subscriber);
    }
}

static void on_step(uv_timer_t *timer);

/* A page does not need to see each of a hundred thousand events in a second, and reading them for
 * ten pages would cost more than making them. It reads in steps, and where there were too many it
 * is told so, and looks for itself. */
static void read_step(struct subscriber *subscriber)
{
    struct events *events = subscriber->events;
    uint64_t count = events->backlog.next - subscriber->next;
    int64_t now_ms = (int64_t)uv_now(events->loop);
    if (count == 0) {
        return;
    }
    if (now_ms < subscriber->step_ms) {
        if (!uv_is_active((uv_handle_t *)&events->step_timer) && !events->stopping) {
            uint64_t in_ms = (uint64_t)(subscriber->step_ms - now_ms);
            uv_timer_start(&events->step_timer, on_step, in_ms, 0);
        }
        return;
    }
    subscriber->step_ms = now_ms + subscriber->filter.pace_ms;
    if (count > EVENTS_STEP_MAX || subscriber->next < events->backlog.first) {
        buf_printf(&events->piece, "id: %llu\nevent: skipped\ndata: {\"count\":%llu}\n\n",
                   (unsigned long long)events->backlog.next - 1, (unsigned long long)count);
        (void)send_piece(subscriber, events->backlog.next);
    } else {
        read_on(subscriber);
    }
}

static void all_read_on(struct events *events)
{
    LIST_EACH(&events->subscribers, link)
    {
        struct subscriber *subscriber = HOLDER(link, struct subscriber, link);
        if (!goes_on(subscriber)) {
            continue;
        }
        if (subscriber->filter.pace_ms > 0) {
            read_step(subscriber);
        } else if (!subscriber->is_stalled || subscriber->next < events->backlog.first) {
            read_on(subscriber);
        }
    }
}

static void on_step(uv_timer_t *timer)
{
    all_read_on(timer->data);
}

void events_set_ask(struct events *events, void (*ask)(void *arg, struct task_id schedule),
                    void *arg)
{
    events->owners.ask = ask;
    events->owners.arg = arg;
}

void events_owner(struct events *events, struct task_id schedule, const struct str *owner)
{
    if (owner != NULL) {
        owners_learn(&events->owners, schedule, *owner, (int64_t)uv_now(events->loop));
        all_read_on(events);
        return;
    }
    owners_forget(&events->owners, schedule);
    LIST_EACH(&events->subscribers, link) /* they come back and resume */
    {
        struct subscriber *subscriber = HOLDER(link, struct subscriber, link);
        if (!str_absent(subscriber->filter.user)) {
            end(subscriber);
        }
    }
}

/* Keeps proxies from closing a silent stream, and finds out who has silently left, or may stay no
 * longer. */
static void on_ping(uv_timer_t *timer)
{
    struct events *events = timer->data;
    LIST_EACH(&events->subscribers, link)
    {
        struct subscriber *subscriber = HOLDER(link, struct subscriber, link);
        if (goes_on(subscriber) && stream_pending(subscriber->exchange) == 0) {
            stream_send(subscriber->exchange, STR(": ping\n\n"));
        }
    }
}

/* Where the client's last event was. False: it is not known here, or no longer. */
static bool find_place(const struct events *events, const struct events_filter *filter,
                       uint64_t *next)
{
    const struct backlog *backlog = &events->backlog;
    uint64_t last = 0;
    *next = backlog->next;
    if (filter->last_event_id.len > 0) {
        if (!str_u64(filter->last_event_id, &last) || last + 1 < backlog->first ||
            last >= backlog->next || last == 0) {
            return false;
        }
    } else if (filter->after != 0) {
        last = filter->after;
    }
    *next = last != 0 ? last + 1 : *next;
    return *next >= backlog->first;
}

static bool was_told(const struct events_filter *filter, const struct event *event)
{
    for (size_t i = 0; i < filter->first_count; i++) {
        const struct event *first = &filter->first[i];
        if (str_eq(first->name, event->name) && str_eq(first->text, event->text)) {
            return true;
        }
    }
    return false;
}

/* What happened on the topic while somebody looked how things stand may be among what was told
 * first: it is not told again. */
static void catch_up(struct subscriber *subscriber)
{
    struct backlog *backlog = &subscriber->events->backlog;
    const struct events_filter *filter = &subscriber->filter;
    for (; subscriber->next < backlog->next; subscriber->next++) {
        const struct event *event = backlog_event(backlog, subscriber->next);
        if (events_match(filter, event) && !was_told(filter, event)) {
            add_to_piece(subscriber, event, backlog_text(backlog, subscriber->next));
            subscriber->is_over = subscriber->is_over || is_last(filter, event);
        }
    }
}

static void greet(struct subscriber *subscriber)
{
    struct events *events = subscriber->events;
    struct buf *piece = &events->piece;
    const struct event *first = subscriber->filter.first;
    size_t count = subscriber->filter.first_count;
    bool over = false;
    buf_c(piece, "retry: 3000\n\n");
    if (!find_place(events, &subscriber->filter, &subscriber->next)) {
        subscriber->next = events->backlog.next;
        buf_c(piece, "event: reset\ndata: {}\n\n");
    }
    for (size_t i = 0; i < count; i++) {
        if (events_match(&subscriber->filter, &first[i])) {
            SCOPED(buf_fini) struct buf text = BUF_INIT(SIZE_MAX);
            event_write(&text, 0, &first[i]);
            add_to_piece(subscriber, &first[i], buf_view(&text));
        }
        over = over || is_last(&subscriber->filter, &first[i]);
    }
    if (!over && count > 0 && !str_absent(subscriber->filter.topic)) {
        catch_up(subscriber);
        over = subscriber->is_over;
    }
    subscriber->filter.first = NULL;
    bool sent = send_piece(subscriber, subscriber->next);
    if (over || (!sent && count > 0)) {
        end(subscriber);
    } else if (sent) {
        read_on(subscriber);
    }
}

static struct subscriber *subscriber_new(struct events *events, struct exchange *exchange,
                                         const struct events_filter *filter)
{
    struct subscriber *subscriber = arena_new(&exchange->arena, struct subscriber);
    subscriber->events = events;
    subscriber->exchange = exchange;
    subscriber->filter = *filter;
    subscriber->filter.type = arena_str(&exchange->arena, filter->type);
    subscriber->filter.document = arena_str(&exchange->arena, filter->document);
    subscriber->filter.topic = arena_str(&exchange->arena, filter->topic);
    subscriber->filter.user = arena_str(&exchange->arena, filter->user);
    events_filter_keep(&subscriber->filter, &exchange->arena);
    exchange->user = subscriber;
    exchange->gone = on_gone;
    list_append(&events->subscribers, &subscriber->link);
    if (events->subscribers_count++ == 0) {
        uv_timer_start(&events->ping, on_ping, EVENTS_PING_MS, EVENTS_PING_MS);
    }
    return subscriber;
}

bool events_subscribe(struct events *events, struct exchange *exchange,
                      const struct events_filter *filter, struct err *err)
{
    if (events->stopping || events->subscribers_count >= EVENTS_SUBSCRIBERS_MAX) {
        return err_set(err, ERR_UNAVAILABLE, "too many event streams are open");
    }
    if (exchange->is_gone || exchange->request.method == HTTP_HEAD) {
        exchange_answer(exchange, 200, "text/event-stream", STR(""), STR(""));
        return true;
    }
    struct subscriber *subscriber = subscriber_new(events, exchange, filter);
    exchange_stream(exchange);
    stream_on_drain(exchange, on_drained);
    greet(subscriber);
    return true;
}

uint64_t events_last(const struct events *events)
{
    return events->backlog.next - 1;
}

size_t events_subscribers(const struct events *events)
{
    return events->subscribers_count;
}

/* ---- Waiting for one task, or for a word on a topic ---- */

static uint64_t watch_hash(struct task_id task, struct str topic)
{
    return str_absent(topic) ? id_hash(task) : str_hash(topic);
}

void events_watch(struct events *events, struct events_watch *watch)
{
    map_add(&events->watches, &watch->node, watch_hash(watch->task, watch->topic));
    watch->active = true;
}

void events_unwatch(struct events *events, struct events_watch *watch)
{
    if (watch->active) {
        map_remove(&events->watches, &watch->node);
        watch->active = false;
    }
}

static bool is_watched(const struct events_watch *watch, const struct event *event)
{
    bool topic = event->kind == EVENT_TOPIC;
    return str_absent(watch->topic) != topic &&
           (topic ? str_eq(watch->topic, event->topic) : id_eq(watch->task, event->task));
}

static struct events_watch *find_watch(const struct events *events, const struct event *event)
{
    struct map_node *node = map_find(&events->watches, watch_hash(event->task, event->topic));
    while (node != NULL && !is_watched(HOLDER(node, struct events_watch, node), event)) {
        node = map_again(node);
    }
    return node == NULL ? NULL : HOLDER(node, struct events_watch, node);
}

/* ---- What comes in ---- */

static void publish(struct events *events, const struct event *event, int64_t now_ms)
{
    struct backlog_entry *entry = backlog_entry_new(event);
    if (event->kind == EVENT_PROGRESS) {
        entry = pace_progress(&events->pace, entry, now_ms);
    }
    if (event->kind == EVENT_STATE && (event->state != TASK_RUNNING || event->removed)) {
        pace_forget(&events->pace, event->task);
    }
    if (entry != NULL) {
        backlog_add(&events->backlog, entry);
    }
    bool ends = event->kind == EVENT_STATE && (task_state_terminal(event->state) || event->removed);
    struct events_watch *watch;
    /* One at a time from the start: a callback may end other watches. */
    while ((ends || event->kind == EVENT_TOPIC) && (watch = find_watch(events, event)) != NULL) {
        events_unwatch(events, watch);
        watch->fire(watch, event);
    }
}

static void on_pace(uv_timer_t *timer);

static void arm_pace(struct events *events)
{
    int64_t due_ms = pace_next_ms(&events->pace), now_ms = (int64_t)uv_now(events->loop);
    if (due_ms != 0 && !uv_is_active((uv_handle_t *)&events->pace_timer) && !events->stopping) {
        uv_timer_start(&events->pace_timer, on_pace, (uint64_t)MAX(due_ms - now_ms, 0), 0);
    }
}

static void on_pace(uv_timer_t *timer)
{
    struct events *events = timer->data;
    struct backlog_entry *entry;
    while ((entry = pace_due(&events->pace, (int64_t)uv_now(events->loop))) != NULL) {
        backlog_add(&events->backlog, entry);
    }
    all_read_on(events);
    arm_pace(events);
}

static void on_given(void *arg)
{
    struct events *events = arg;
    int64_t now_ms = (int64_t)uv_now(events->loop);
    struct list batches;
    list_init(&batches);
    channel_take(&events->given, &batches);
    LIST_EACH(&batches, link)
    {
        struct event_batch *batch = HOLDER(link, struct event_batch, link);
        for (size_t i = 0; i < batch->count; i++) {
            publish(events, &batch->events[i], now_ms);
        }
        event_batch_free(batch);
    }
    all_read_on(events);
    arm_pace(events);
}

static void wake_loop(void *arg)
{
    wake_send(&((struct events *)arg)->wake);
}

void events_give(struct events *events, struct event_batch *batch)
{
    channel_give(&events->given, &batch->link);
}

/* ---- Life ---- */

bool events_start(uv_loop_t *loop, int64_t real_wall_ms, struct events **out, struct err *err)
{
    struct events *events = mem_new(struct events);
    if (!wake_open(&events->wake, loop, on_given, events, err)) {
        mem_free(events);
        return err_wrap(err, "start events");
    }
    events->loop = loop;
    channel_init(&events->given, wake_loop, events);
    uv_timer_init(loop, &events->ping);
    uv_timer_init(loop, &events->pace_timer);
    uv_timer_init(loop, &events->step_timer);
    events->ping.data = events->pace_timer.data = events;
    events->step_timer.data = events;
    backlog_init(&events->backlog, (uint64_t)real_wall_ms << NUMBER_BITS, EVENTS_BACKLOG_MAX,
                 EVENTS_BACKLOG_BYTES);
    owners_init(&events->owners);
    pace_init(&events->pace, EVENTS_PROGRESS_MS, EVENTS_PROGRESS_MAX);
    list_init(&events->subscribers);
    events->piece = BUF_INIT(4 * MIB);
    *out = events;
    return true;
}

void events_stop(struct events *events)
{
    if (events->stopping) {
        return;
    }
    events->stopping = true;
    LIST_EACH(&events->subscribers, link)
    {
        end(HOLDER(link, struct subscriber, link));
    }
    wake_stop(&events->wake);
    uv_close((uv_handle_t *)&events->ping, NULL);
    uv_close((uv_handle_t *)&events->pace_timer, NULL);
    uv_close((uv_handle_t *)&events->step_timer, NULL);
}

void events_free(struct events *events)
{
    if (events == NULL) {
        return;
    }
    struct list batches;
    list_init(&batches);
    channel_take(&events->given, &batches);
    LIST_EACH(&batches, link)
    {
        event_batch_free(HOLDER(link, struct event_batch, link));
    }
    wake_fini(&events->wake);
    channel_fini(&events->given);
    pace_fini(&events->pace);
    owners_fini(&events->owners);
    backlog_fini(&events->backlog);
    map_fini(&events->watches);
    buf_fini(&events->piece);
    mem_free(events);
}
