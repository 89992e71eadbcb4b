/* schedule/recur_grid.h: an elapsed rule as it looks on the wall under one UTC offset.
 *
 * Private to recur_elapsed.c and recur_sparse.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_SCHEDULE_RECUR_GRID_H
#define ERRAND_SCHEDULE_RECUR_GRID_H

#include "schedule/recur_data.h"

struct grid {
    const struct recur *r;
    int64_t anchor;     /* number of the start's block */
    struct times inner; /* what a block holds */
};

void grid_make(const struct recur *r, int32_t offset_s, struct grid *out);

/* The first block at or after `at` and before `end` on a day and at a time wanted, or NEVER. */
int64_t sparse_next(const struct grid *g, int64_t at, int64_t end);

#endif
