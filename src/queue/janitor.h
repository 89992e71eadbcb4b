/* queue/janitor.h: what happens by itself: deadlines that pass, and ended tasks that grow old.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_JANITOR_H
#define ERRAND_QUEUE_JANITOR_H

#include "base/clock.h"
#include "queue/command.h"

struct engine;

struct retention { /* the walk through the history that removes what is old */
    struct store_sweep at;
    bool under_way;
    int64_t begins_at_ms; /* wall; NEVER_MS: nothing finished yet */
};
void retention_init(struct retention *retention, int64_t keep_ms);

void janitor_collect(struct batch *batch); /* what has fallen due */
void janitor_decide(struct batch *batch);

bool janitor_sweeps(const struct batch *batch); /* is it time for a piece of the walk? */
MUST_CHECK bool janitor_sweep(struct batch *batch, struct err *err);
void janitor_swept(struct batch *batch); /* ... which is committed */
void janitor_note_end(struct engine *engine, const struct task *ended);
int64_t janitor_sweep_in_ms(const struct engine *engine, struct now now); /* NEVER_MS: never */

#endif
