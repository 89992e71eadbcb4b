/* queue/failover.h: the store has failed over, and may have lost what it had acknowledged.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_FAILOVER_H
#define ERRAND_QUEUE_FAILOVER_H

#include "queue/due.h"

struct engine;

struct ground {       /* what the engine's memory stands on */
    uint64_t history; /* of the store, as memory knows it */
    int64_t line;     /* as queue_load.line */
    bool holds;       /* nothing starts */
    int64_t holds_until_mono_ms, stopped_at_mono_ms;
};

void failover_begin(struct engine *engine);                /* what is known at the start */
void failover_look(struct engine *engine, struct now now); /* after each batch */
/* An attempt inside this server that its row (NULL: there is none) does not know: it must stop. */
bool failover_runs_unknown(const struct engine *engine, const struct due_entry *entry,
                           const struct task *row);
void failover_stops(struct engine *engine, struct now now); /* work that the rows do not know */

#endif
