/* time/recur_grid.h: an elapsed rule as it looks on the wall under one UTC offset.
 *
 * Private to recur_elapsed.c, recur_leap.c and recur_sparse.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TIME_RECUR_GRID_H
#define ERRAND_TIME_RECUR_GRID_H

#include "time/recur_data.h"

struct grid {
    const struct recur *r;
    int64_t anchor;     /* number of the start's block */
    struct times inner; /* what a block holds */
};

void grid_make(const struct recur *r, int32_t offset_s, struct grid *out);

/* The days that have a block that counts at `tod`: this one and each repeat_days; or NEVER. */
int64_t grid_day_of(const struct grid *g, int64_t tod);
int64_t grid_inverse(int64_t in_day, int64_t interval, int64_t repeat_days); /* r->inverse */

#endif
