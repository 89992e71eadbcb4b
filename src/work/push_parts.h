/* work/push_parts.h: what the files of the pushes share.
 *
 * Thread: the workers'.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_PUSH_PARTS_H
#define ERRAND_WORK_PUSH_PARTS_H

#include <curl/curl.h>

#include "base/rand.h"
#include "client/webhook.h"
#include "work/loop.h"

/* A host and port that targets share. */
struct push_host {
    struct str name; /* "https://example.org:443" */
    size_t under_way;
    bool asked_for; /* by the claim that is with the engine */
};

/* Where a type is pushed. */
struct push_target {
    struct str type;
    const char *url;
    struct webhook_keys keys;
    struct str authorization;
    struct str cloudevents;
    struct push_host *host;
};

struct push {
    struct workforce *work;
    struct claimer *claimer; /* NULL: there are no targets */
    struct claimer *cloud;   /* of tasks of the Cloud Tasks API; NULL: none are sent */
    bool cloud_awake;        /* there are queues of that API */
    struct push_target *targets;
    struct push_host *hosts;
    size_t targets_count, hosts_count;
    _Atomic size_t concurrency, per_host; /* these three may change while it runs */
    _Atomic bool allow_private;
    CURLM *multi;
    uv_timer_t timer; /* when curl wants to look at its own deadlines */
};

/* push_request.c: one request, from its start to its end, which is told to its job. */
void push_request_start(struct job *job);
void push_cloud_start(struct job *job); /* of a task of the Cloud Tasks API */
void push_request_done(CURL *easy, CURLcode how);
void push_request_close(struct job *job); /* at once; what the job was told says why */

/* push_target.c */
MUST_CHECK bool push_targets_read(struct push *push, const struct push_settings *settings,
                                  struct err *err);
struct push_target *push_target_find(struct push *push, struct str type); /* NULL: none */

#endif
