/* work/push.h: tasks that are done by others: each attempt is an HTTP POST of the payload.
 *
 * Hundreds of requests are under way at once. As many tasks are claimed as there is room for, and
 * none whose host has its share under way already: one slow host does not hold up the rest.
 *
 * A request is signed (Standard Webhooks), carries a trace context, goes only where client/guard.h
 * lets it, and follows no redirects. 2xx completes, and the answer is the result; 408, 409, 429 and
 * all that is not 4xx is tried again, after Retry-After if there is one with 429 or 503; other 4xx
 * fail for good. An attempt's time-out is the engine's; a request that is aborted is closed at
 * once.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_PUSH_H
#define ERRAND_WORK_PUSH_H

#include "base/str.h"

#define PUSH_CONCURRENCY_DEFAULT 500
#define PUSH_CONCURRENCY_MAX     10000
#define PUSH_PER_HOST_DEFAULT    50
#define PUSH_CONNECT_MS          (10 * SECOND_MS)
#define PUSH_RETRY_AFTER_MAX_MS  (31 * DAY_MS) /* an endpoint cannot put a task off for longer */

/* One section [handler.TYPE] that has `url = …`. */
struct push_handler {
    struct str type;
    struct str url;           /* http or https, without a user name */
    struct str secrets;       /* whsec_…, or several with blanks between; absent: not signed */
    struct str authorization; /* sent as it is; absent: none */
    struct str cloudevents;   /* this instance's name in the source of events; absent: no events */
};

struct push_settings {
    const struct push_handler *handlers;
    size_t handlers_count;
    bool cloud;         /* tasks of the Cloud Tasks API are sent, too */
    size_t concurrency; /* requests under way at once */
    size_t per_host;    /* of them to one host and port */
    bool allow_private; /* loopback and private networks too; never link-local */
};

#endif
