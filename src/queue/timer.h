/* queue/timer.h: commands that wait for a time: work in the server that sleeps, and clocks that
 * are wound by hand.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_TIMER_H
#define ERRAND_QUEUE_TIMER_H

#include "base/clock.h"
#include "base/heap.h"
#include "base/list.h"

struct engine;

struct timers {
    struct heap sleepers; /* command_wake.place */
};
void timers_init(struct timers *timers);
void timers_fini(struct timers *timers);
void timers_fire(struct engine *engine, struct now now, struct list *answered);
int64_t timers_in_ms(const struct engine *engine, struct now now); /* NEVER_MS: none */

/* ---- The clock that is wound by hand ---- */

struct winding {
    struct list commands;  /* COMMAND_CLOCK; the first is under way */
    int64_t moved_mono_us; /* real: when the clock was last wound to an event */
};
/* Nothing runs that may change what is next; otherwise it is waited for at most *wait_ms. */
bool wind_rests(const struct engine *engine, int64_t *wait_ms);
bool wind_begin(struct engine *engine); /* moves the clock to the next event; true: it did */
void wind_end(struct engine *engine, struct list *answered); /* answers those that have arrived */

#endif
