/* task/retry.c: how long to wait before the next attempt. Policy only; who waits lives in queue/.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "task/life.h"

#define FAKTORY_SPREAD 30 /* seconds, for each failure so far */

int64_t task_backoff_ms(const struct task_backoff *backoff, int32_t failures, double chance)
{
    /* In floating point the curve saturates at infinity instead of wrapping. */
    double base = (double)backoff->base_ms, most = (double)backoff->max_ms, n = failures - 1;
    double wait = base * pow(backoff->factor, n);
    if (backoff->factor == TASK_FACTOR_FAKTORY) { /* as that protocol says: 25 last three weeks */
        wait = base + (pow(n, 4) + floor(chance * FAKTORY_SPREAD) * (n + 1)) * SECOND_MS;
    }
    wait = wait < most ? wait : most; /* also catches infinity */
    wait -= wait * backoff->jitter * chance;
    return (int64_t)wait;
}
