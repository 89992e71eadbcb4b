/* task/retry.c: how long to wait before the next attempt. Policy only; who waits lives in queue/.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "task/life.h"

#define FAKTORY_SPREAD 30 /* seconds, for each failure so far */

/* The exponent is the protocol's: 25 retries last three weeks. */
static double faktory_wait_ms(int64_t base_ms, double earlier, double chance)
{
    double spread = floor(chance * FAKTORY_SPREAD) * (earlier + 1);
    return (double)base_ms + (earlier * earlier * earlier * earlier + spread) * SECOND_MS;
}

int64_t task_backoff_ms(const struct task_backoff *backoff, int32_t failures, double chance)
{
    /* In floating point the curve saturates at infinity instead of wrapping. */
    double wait = backoff->factor == TASK_FACTOR_FAKTORY
                      ? faktory_wait_ms(backoff->base_ms, failures - 1, chance)
                      : (double)backoff->base_ms * pow(backoff->factor, failures - 1);
    double most = (double)backoff->max_ms;
    wait = wait < most ? wait : most; /* also catches infinity */
    wait -= wait * backoff->jitter * chance;
    return (int64_t)wait;
}
