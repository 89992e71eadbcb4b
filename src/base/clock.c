/* base/clock.c: the only place that asks what time it is. See clock.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <assert.h>
#include <time.h>

static int64_t read_us(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t clock_real_wall_ms(void)
{
    return read_us(CLOCK_REALTIME) / 1000;
}

int64_t clock_real_mono_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

void clock_init_real(struct clock *clock)
{
    clock->by_hand = false;
    clock->wall_ms = clock->start_ms = 0;
    clock->ahead_ms = 0;
}

void clock_init_by_hand(struct clock *clock, int64_t wall_ms)
{
    clock->by_hand = true;
    clock->wall_ms = clock->start_ms = wall_ms;
    clock->ahead_ms = 0;
}

void clock_set(struct clock *clock, int64_t wall_ms)
{
    assert(clock->by_hand && wall_ms >= clock->wall_ms);
    clock->wall_ms = wall_ms;
}

void clock_follow(struct clock *clock, int64_t ahead_ms)
{
    assert(!clock->by_hand);
    clock->ahead_ms = ahead_ms;
}

int64_t clock_true_ms(const struct clock *clock)
{
    return clock_real_wall_ms() - clock->ahead_ms;
}

struct now clock_now(const struct clock *clock)
{
    if (clock->by_hand) {
        int64_t wall_ms = clock->wall_ms;
        return (struct now){wall_ms, wall_ms - clock->start_ms + 1};
    }
    return (struct now){clock_true_ms(clock), clock_real_mono_us() / 1000};
}
