/* remote/backoff.h: how long to leave a server alone that did not answer. Pure but for the dice.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_REMOTE_BACKOFF_H
#define ERRAND_REMOTE_BACKOFF_H

#include "base/rand.h"

struct backoff {
    int64_t min_ms, max_ms;
    unsigned failures; /* in a row */
};

/* Counts a failure and says how long to pause: the second half of min * 2^n is left to chance, so
 * that a thousand workers do not come back at once. A server that named a time gets at least that
 * much. */
int64_t backoff_next(struct backoff *backoff, struct rand *rand, int64_t retry_after_ms);
void backoff_reset(struct backoff *backoff);

#endif
