/* work/push.h: tasks that are done by others: each attempt is an HTTP POST of the payload.
 *
 * One thread with libcurl, hundreds of requests under way at once. It claims as many tasks as it
 * has room for, and none whose host has its share under way already: one slow host does not hold
 * up the rest.
 *
 * A request is signed (Standard Webhooks), carries a trace context, goes only where client/guard.h
 * lets it, and follows no redirects. 2xx completes, and the answer is the result; 408, 409, 429 and
 * all that is not 4xx is tried again, after Retry-After if there is one with 429 or 503; other 4xx
 * fail for good. An attempt's time-out is the engine's: it tells push_abort(), which closes the
 * request at once.
 *
 * Thread: any may call.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_PUSH_H
#define ERRAND_WORK_PUSH_H

#include "queue/queue.h"

#define PUSH_CONCURRENCY_DEFAULT 500
#define PUSH_CONCURRENCY_MAX     10000
#define PUSH_PER_HOST_DEFAULT    50
#define PUSH_CONNECT_MS          (10 * SECOND_MS)
#define PUSH_RETRY_AFTER_MAX_MS  (31 * DAY_MS) /* an endpoint cannot put a task off for longer */

struct push; /* opaque */

/* One section [handler.TYPE] that has `url = …`. */
struct push_handler {
    struct str type;
    struct str url;           /* http or https, without a user name */
    struct str secrets;       /* whsec_…, or several with blanks between; absent: not signed */
    struct str authorization; /* sent as it is; absent: none */
    struct str cloudevents;   /* this instance's name in the source of events; absent: no events */
};

struct push_options {
    struct engine *engine; /* borrowed; started before and stopped after this */
    const struct push_handler *handlers;
    size_t handlers_count; /* none: nothing is pushed */
    const struct str *queues;
    size_t queues_count; /* none: every queue */
    size_t concurrency;  /* requests under way at once */
    size_t per_host;     /* of them to one host and port */
    bool allow_private;  /* loopback and private networks too; never link-local */
    int64_t grace_ms;
    void (*rested)(
        void *arg); /* on the thread here: quiet, and nothing is under way. May be NULL */
    void *rested_arg;
};

/* What the options point to is copied. An error names the handler. */
MUST_CHECK bool push_start(const struct push_options *options, struct push **out, struct err *err);

/* For engine_host.abort: an attempt should stop. Attempts of others are passed over. */
void push_abort(struct push *push, struct task_id id, int32_t attempt, enum abort_why why);

/* No more claims. What is under way may end within the grace period and is then given back;
 * `rested` is called at the end. */
void push_quiet(struct push *push);

/* Gives back what is still under way, at once, and waits for it. The engine may go on calling
 * push_abort(), which then does nothing, until it is stopped itself and push_free() may follow.
 * NULL is welcome to both. */
void push_stop(struct push *push);
void push_free(struct push *push);

size_t push_in_flight(const struct push *push);

/* The types that are pushed, for as long as this lives. */
const struct str *push_types(const struct push *push, size_t *count);

#endif
