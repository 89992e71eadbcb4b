/* net/events.h: tells whoever watches what happened.
 *
 * The engine gives batches of events from its thread; the hub numbers them, keeps the newest in a
 * bounded backlog, and each subscriber (an event stream) reads along at its own pace. One that
 * falls off the backlog's end is dropped; it reconnects and resumes by Last-Event-ID, or is told
 * to start over by a `reset` event. Every `state` is sent; of `progress` at most four a second for
 * each task, the latest always among them while the attempt runs.
 *
 * Costs nothing while nobody subscribes and nothing happens: no timer runs.
 *
 * Thread: events_give() any; the rest net loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_EVENTS_H
#define ERRAND_NET_EVENTS_H

#include <uv.h>

#include "base/list.h"
#include "base/map.h"
#include "net/server.h"
#include "queue/event.h"
#include "wire/redact.h"

#define EVENTS_BACKLOG_MAX     ((size_t)16384) /* events kept for those who resume */
#define EVENTS_BACKLOG_BYTES   (16 * MIB)
#define EVENTS_SUBSCRIBERS_MAX 4096 /* beyond it: 503 */
#define EVENTS_PING_MS         (15 * SECOND_MS)
#define EVENTS_PROGRESS_MS     ((int64_t)250) /* between two progress events of one task */
#define EVENTS_PACE_MIN_MS     100
#define EVENTS_PACE_MAX_MS     (10 * SECOND_MS)
#define EVENTS_MAY_MS          250 /* a token is looked at again after this long, or with a ping */
#define EVENTS_STEP_MAX        500 /* events of one step; of more only the number is sent */
#define EVENTS_PROGRESS_MAX    65536 /* tasks whose progress is spaced out at once */

struct events; /* the hub */

/* `real_wall_ms`: numbers begin at real_wall_ms << 20, so they grow from one run to the next. */
MUST_CHECK bool events_start(uv_loop_t *loop, int64_t real_wall_ms, struct events **out,
                             struct err *err);
/* Ends the streams, so it comes before server_stop(); the loop then runs out of work. Batches may
 * still be given until the loop has ended. */
void events_stop(struct events *events);
void events_free(struct events *events); /* after the loop has ended; NULL is welcome */

void events_give(struct events *events, struct event_batch *batch); /* takes the batch */

/* ---- Streams ---- */

struct events_filter {
    struct task_id task;          /* none: all */
    const struct task_id *family; /* its descendants, whose events are sent too; any order */
    size_t family_count;
    unsigned kinds;                   /* bits 1 << enum event_kind; 0: all */
    unsigned topics;                  /* bits: messages of teams, notifications, schedules */
    int64_t pace_ms;                  /* it is sent in steps of this length; 0: at once */
    struct str type, document;        /* absent: all */
    struct str user;                  /* only of this user's schedules, and of none; absent: all */
    const struct redact_keys *redact; /* what is hidden from whoever reads; NULL: nothing */
    struct str topic;          /* a guest's events on this topic alone; absent: all but those */
    struct str last_event_id;  /* resume behind it; absent or empty: from now on, or from `after` */
    uint64_t after;            /* an earlier events_last(): begin behind it; 0: from now on */
    const struct event *first; /* sent before all others, without numbers: how things stand now */
    size_t first_count;
    bool until_ended; /* the stream is over after the event that says `task` has ended */
    bool (*ends)(struct str name); /* of a topic: whether that event is its last; NULL: none is */
    bool (*may_stay)(void *arg);   /* whether who asked may still see it; NULL: always */
    void *may_stay_arg;            /* lives as long as the exchange */
};

/* Reads the query of GET /api/events: types, taskType, documentId, lastEventId (access_token is
 * passed over), and the Last-Event-ID header. The texts live in the exchange's arena. */
MUST_CHECK bool events_filter_parse(struct exchange *exchange, struct events_filter *out,
                                    struct err *err);

bool events_match(const struct events_filter *filter, const struct event *event);
void events_filter_keep(struct events_filter *filter, struct arena *arena); /* its family */

/* Turns the exchange into a stream of the hub's: from here on it answers, ends and frees it.
 * False (ERR_UNAVAILABLE: too many) leaves the exchange to the caller. Uses exchange->user. */
MUST_CHECK bool events_subscribe(struct events *events, struct exchange *exchange,
                                 const struct events_filter *filter, struct err *err);

/* How the owner of a schedule is asked for; answered by events_owner(), at once or later. */
void events_set_ask(struct events *events, void (*ask)(void *arg, struct task_id schedule),
                    void *arg);
/* `owner` is absent where it is nobody's or gone; NULL: nobody could say. */
void events_owner(struct events *events, struct task_id schedule, const struct str *owner);

/* The number of the newest event. Whoever looks at a task first and subscribes later notes it
 * before looking and passes it as `after`: nothing is missed in between. */
uint64_t events_last(const struct events *events);

size_t events_subscribers(const struct events *events);

/* ---- Waiting for one task, or for a word on a topic ---- */

/* Lives with its owner. `fire` is called once, on the first event that says the task is terminal
 * or removed, or on the first on the topic; the watch is over then. Watch first, look afterwards:
 * an event between the two is not missed. */
struct events_watch {
    struct map_node node;
    struct task_id task;
    struct str topic; /* absent: the task is watched */
    void (*fire)(struct events_watch *watch, const struct event *event);
    bool active;
};

void events_watch(struct events *events, struct events_watch *watch);   /* what and fire are set */
void events_unwatch(struct events *events, struct events_watch *watch); /* over already: welcome */

#endif
