/* remote/backoff.c: how long to leave a server alone that did not answer. See backoff.h.
 *
 * SPDX-License-Identifier: MIT */
#include "remote/backoff.h"

int64_t backoff_next(struct backoff *backoff, struct rand *rand, int64_t retry_after_ms)
{
    backoff->failures += backoff->failures < UINT32_MAX ? 1 : 0;
    int64_t most = MAX(backoff->min_ms, 1);
    for (unsigned i = 1; i < backoff->failures && most < backoff->max_ms; i++) {
        most = most <= backoff->max_ms / 2 ? most * 2 : backoff->max_ms;
    }
    most = MAX(MIN(most, backoff->max_ms), 1);
    int64_t half = most / 2;
    int64_t chance = (int64_t)rand_below(rand, (uint64_t)(most - half) + 1);
    return retry_after_ms > 0 ? retry_after_ms + chance : half + chance;
}

void backoff_reset(struct backoff *backoff)
{
    backoff->failures = 0;
}
