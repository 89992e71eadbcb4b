/* queue/stats.c: histograms and rates. See stats.h.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/stats.h"

#include "queue/engine.h"

const int64_t histogram_bounds_ms[HISTOGRAM_BUCKETS - 1] = HISTOGRAM_BOUNDS;

void histogram_add(struct histogram *histogram, int64_t ms)
{
    size_t bucket = 0;
    ms = MAX(ms, 0);
    while (bucket < HISTOGRAM_BUCKETS - 1 && ms > histogram_bounds_ms[bucket]) {
        bucket++;
    }
    histogram->buckets[bucket]++;
    histogram->count++;
    histogram->sum_ms += ms;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        into->buckets[i] += from->buckets[i];
    }
    into->count += from->count;
    into->sum_ms += from->sum_ms;
}

/* Straight lines between the bounds; the last bucket answers with its lower bound. */
double histogram_quantile_ms(const struct histogram *histogram, double q)
{
    double rank = q * (double)histogram->count, below = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        double here = (double)histogram->buckets[i];
        double low = i == 0 ? 0 : (double)histogram_bounds_ms[i - 1];
        if (here > 0 && below + here >= rank) {
            double high = i == HISTOGRAM_BUCKETS - 1 ? low : (double)histogram_bounds_ms[i];
            return low + (high - low) * (rank - below) / here;
        }
        below += here;
    }
    return 0;
}

/* ---- Rates over the last minute ---- */

void rates_add(uint32_t *slots, struct rates *rates, struct now now, uint32_t n)
{
    int64_t second = now.mono_ms / 1000;
    size_t slot = (size_t)(second % RATE_SECONDS);
    if (n > 0) {
        if (rates->second[slot] != second) {
            rates->second[slot] = second;
            rates->created[slot] = rates->started[slot] = rates->finished[slot] = 0;
        }
        slots[slot] += n;
    }
}

double rates_per_second(const uint32_t *slots, const struct rates *rates, struct now now)
{
    int64_t second = now.mono_ms / 1000, sum = 0;
    for (size_t i = 0; i < RATE_SECONDS; i++) {
        sum += rates->second[i] > second - RATE_SECONDS ? slots[i] : 0;
    }
    return (double)sum / RATE_SECONDS;
}
