/* base/clock.h: the only place that asks what time it is.
 *
 * Two clocks: `wall_ms` (UTC, may jump) for what people said, `mono_ms` (never jumps) for waiting.
 * Everything else takes a `struct now`. A hand-wound clock stands still until told; its two hands
 * move together, so tests and --test-clock run a year in a second. Among several machines the wall
 * clock may follow another one that all of them go by.
 *
 * Thread: any; the hand-wound clock is wound by one thread and read by all.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_CLOCK_H
#define ERRAND_BASE_CLOCK_H

#include "base/def.h"

struct now {
    int64_t wall_ms; /* since 1970, UTC */
    int64_t mono_ms;
};

struct clock {
    bool by_hand;
    _Atomic int64_t wall_ms;  /* of the hand-wound clock */
    int64_t start_ms;         /* its mono_ms is wall_ms - start_ms + 1 */
    _Atomic int64_t ahead_ms; /* of the real one: so far this machine's is ahead of all others' */
};

void clock_init_real(struct clock *clock);
void clock_init_by_hand(struct clock *clock, int64_t wall_ms);
void clock_set(struct clock *clock, int64_t wall_ms);     /* by hand only; never back */
void clock_follow(struct clock *clock, int64_t ahead_ms); /* real only; any thread */
struct now clock_now(const struct clock *clock);
int64_t
clock_true_ms(const struct clock *clock); /* for ids: never the test clock, but it follows */

int64_t clock_real_wall_ms(void); /* for ids, logs and what must never see the test clock */
int64_t clock_real_mono_us(void); /* for measuring */

#endif
