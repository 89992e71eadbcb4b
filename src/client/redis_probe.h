/* client/redis_probe.h: a thread that connects to Redis, for those who cannot wait. For redis.c.
 *
 * It runs while there is no connection, and ends when it has made one.
 *
 * Thread: the owner's; the probe's own touches only what is set before it starts, and `found`.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_REDIS_PROBE_H
#define ERRAND_CLIENT_REDIS_PROBE_H

#include <pthread.h>
#include <stdatomic.h>

#include "client/redis_cluster.h"

struct redis_probe {
    struct redis_place place;
    struct str probe_key; /* its text is the owner's and outlives the probe */
    pthread_t thread;
    bool running;
    unsigned failures; /* in a row, also of connections that came to nothing */
    int stop_fd, done_fd;
    struct redis_seeds seeds; /* the probe's own */
    _Atomic(struct redis_cluster *) found;
};

MUST_CHECK bool redis_probe_init(struct redis_probe *probe, struct err *err);
void redis_probe_fini(struct redis_probe *probe); /* waits for the thread */

/* Starts to connect, after a pause if there were failures. */
void redis_probe_start(struct redis_probe *probe);
/* The new connection, or NULL: none yet. Ownership passes to the caller. */
struct redis_cluster *redis_probe_take(struct redis_probe *probe);
/* Waits until there is one. */
void redis_probe_wait(struct redis_probe *probe, int64_t limit_ms);

#endif
