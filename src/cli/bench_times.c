/* cli/bench_times.c: a histogram of latencies. See bench.h.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "cli/bench.h"

static size_t index_of(uint64_t us)
{
    int top = us == 0 ? 0 : 63 - __builtin_clzll(us);
    if (top < 6) {
        return (size_t)us; /* below 64 every value has its own step */
    }
    size_t index = (size_t)(top - 5) * TIMES_STEPS + ((us >> (top - 6)) & (TIMES_STEPS - 1));
    return MIN(index, (size_t)TIMES_STEPS * TIMES_DOUBLING - 1);
}

/* The middle of a step. */
static double value_of(size_t index)
{
    if (index < TIMES_STEPS) {
        return (double)index;
    }
    int top = (int)(index / TIMES_STEPS) + 5;
    double low = ldexp(1.0 + (double)(index % TIMES_STEPS) / TIMES_STEPS, top);
    return low + ldexp(0.5, top - 6);
}

void bench_times_add(struct bench_times *times, int64_t us)
{
    uint64_t positive = us < 0 ? 0 : (uint64_t)us;
    times->at[index_of(positive)]++;
    times->count++;
    times->max_us = MAX(times->max_us, us);
}

double bench_times_ms(const struct bench_times *times, double quantile)
{
    uint64_t rank = (uint64_t)ceil(quantile * (double)times->count), seen = 0;
    for (size_t i = 0; i < ARRAY_LEN(times->at); i++) {
        seen += times->at[i];
        if (seen >= rank && seen > 0) {
            return MIN(value_of(i), (double)times->max_us) / 1000;
        }
    }
    return 0;
}
