/* task/retry.c: how long to wait before the next attempt. Policy only; who waits lives in queue/.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "task/life.h"

int64_t task_backoff_ms(const struct task_backoff *backoff, int32_t failures, double chance)
{
    /* In floating point the curve saturates at infinity instead of wrapping. */
    double wait = (double)backoff->base_ms * pow(backoff->factor, failures - 1);
    double most = (double)backoff->max_ms;
    wait = wait < most ? wait : most; /* also catches infinity */
    wait -= wait * backoff->jitter * chance;
    return (int64_t)wait;
}
