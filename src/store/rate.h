/* store/rate.h: the arithmetic of a queue's rate: a bucket that fills, and from which starts are
 * paid. Whoever keeps the bucket, the engine or a row, counts in the same way.
 *
 * Old files may hold any rate that is not negative; what is too slow to be said in milliseconds
 * is waited for a year at a time.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_RATE_H
#define ERRAND_STORE_RATE_H

#include <math.h>

#include "base/def.h"
#include "store/store.h"

#define RATE_MIN         0.00001 /* starts a second; one a day is a little more */
#define RATE_WAIT_MAX_MS (366 * DAY_MS)

static inline double rate_burst(const struct store_queue *settings)
{
    return settings->burst > 0 ? (double)settings->burst : fmax(1, ceil(settings->rate_per_second));
}

/* The bucket fills in fractions: what is a hair below a whole token is one. */
static inline double rate_whole(double tokens)
{
    return floor(tokens + 1e-9);
}

/* Until there is a whole token; at least a millisecond. */
static inline int64_t rate_wait_ms(double tokens, double per_second)
{
    double wait = ceil((1 - tokens) / per_second * 1000);
    return wait < (double)RATE_WAIT_MAX_MS ? (int64_t)fmax(wait, 1) : RATE_WAIT_MAX_MS;
}

#endif
