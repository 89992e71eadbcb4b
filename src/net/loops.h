/* net/loops.h: further net loops beside the first, so that HTTP is not held to one processor.
 *
 * Each has a thread, a libuv loop, an api, a server and a book of tokens of its own; what they
 * share is the engine, the readers and what the first, their *home*, keeps for all: it listens,
 * streams events, is asked for figures (api.h, server.h). Commands of each go to the engine by its
 * own channel, answers come back by its own.
 *
 * Start: loops_open() behind the home's server_start(), loops_run() when the home's api is open.
 * Stop: loops_stop() before the home's server is stopped, loops_close() behind its api_stop(),
 * loops_free() when the home's loop has ended. NULL is welcome everywhere: there are none.
 *
 * Thread: the home's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_LOOPS_H
#define ERRAND_NET_LOOPS_H

#include "net/api.h"

#define LOOPS_DRAIN_TICK 10 /* milliseconds between two looks while draining */

struct loops;

struct loops_options {
    size_t count;                        /* further ones; not 0 */
    const struct api_options *api;       /* the home's, as its api was started */
    const struct server_options *server; /* likewise; .loops is one more than `count` */
    struct api *home_api;
    struct server *home_server;
};
MUST_CHECK bool loops_open(const struct loops_options *options, struct loops **out,
                           struct err *err);
MUST_CHECK bool loops_run(struct loops *loops, const struct api_parts *parts, struct err *err);

/* What has changed at home: server_change() was called there. */
void loops_change(struct loops *loops, size_t payload_max, bool push_private);

/* Whether each has turned since the last time this was asked; and asks again. */
bool loops_turn(struct loops *loops);

void loops_quiet(struct loops *loops);      /* as server_quiet(), and server_hurry() from then on */
bool loops_busy(const struct loops *loops); /* as server_busy(), some milliseconds ago */

/* The threads end, but first answer what is under way if that takes no longer than `ms`; the
 * connections are closed. */
void loops_stop(struct loops *loops, int64_t ms);
void loops_close(struct loops *loops); /* the engine and the readers have ended */
void loops_free(struct loops *loops);

#endif
