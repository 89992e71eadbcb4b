/* work/push_parts.h: what the files of the pushes share.
 *
 * Thread: the pushes', but for what is atomic.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_PUSH_PARTS_H
#define ERRAND_WORK_PUSH_PARTS_H

#include <curl/curl.h>
#include <pthread.h>

#include "base/rand.h"
#include "client/webhook.h"
#include "work/job.h"
#include "work/push.h"

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

enum push_claiming {
    CLAIM_NONE,
    CLAIM_ASKED,  /* the claim is with the engine */
    CLAIM_PAUSED, /* it was refused */
};

struct push {
    struct arena arena; /* holds copies of what the options point to */
    struct push_target *targets;
    struct push_host *hosts;
    struct str *types; /* of the targets, for push_types() */
    size_t targets_count, hosts_count;
    struct str *queues;
    size_t queues_count;
    size_t concurrency, per_host;
    bool allow_private;
    int64_t grace_ms;
    void (*rested)(void *arg);
    void *rested_arg;

    pthread_t thread;
    CURLM *multi;
    int epoll_fd, wake_fd;  /* push_poll.c; -1: not open */
    int64_t curl_at_ms;     /* when curl wants to look at its own deadlines; -1: never */
    struct channel answers; /* commands that the engine gives back */
    struct channel notes;   /* what other threads tell */
    struct desk desk;
    struct rand rand;
    int64_t now_ms; /* real, since some start; as of the loop's last waking */
    _Atomic size_t under_way;

    enum push_claiming claiming;
    struct command claim, stop; /* stop.sender: not answered yet */
    struct arena claim_arena;
    uint64_t serial;
    int64_t claim_again_ms; /* PAUSED until then */
    bool is_short;          /* no descriptor was left for a request, and it was said */

    bool quiet, giving_back, stopping, done;
    int64_t give_back_ms; /* quiet: when what is still under way is given back */
};

/* push_claim.c */
void push_claim_update(struct push *push); /* asks for what there is room for */
void push_claim_stop(struct push *push);
void push_claim_pause(struct push *push, int64_t pause_ms); /* no claim for so long */
void push_claim_answered(struct push *push, struct command *claim);
int64_t push_claim_tick(struct push *push); /* when to look again; -1: no need */

/* push_poll.c */
MUST_CHECK bool push_poll_open(struct push *push, struct err *err); /* push->multi is there */
void push_poll_close(struct push *push);
void push_poll_sleep(struct push *push, int64_t next_ms); /* -1: until something happens */
void push_poll_tick(struct push *push);                   /* lets curl look if it is time */
void push_poll_wake(void *push);

/* push_request.c: one request, from its start to its end, which is told to the desk. */
struct push_request;
void push_request_start(struct push *push, const struct task *task);
void push_request_done(CURL *easy, CURLcode how);
void push_request_close(struct job *job); /* at once; what the job was told says why */

/* push_target.c */
MUST_CHECK bool push_targets_read(struct push *push, const struct push_options *options,
                                  struct err *err);
struct push_target *push_target_find(struct push *push, struct str type); /* NULL: none */

#endif
