/* schedule/recur_span.h: how a calendar rule uses a stretch of one UTC offset. See recur_next.c.
 *
 * Private to the recur*.c files here.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_SCHEDULE_RECUR_SPAN_H
#define ERRAND_SCHEDULE_RECUR_SPAN_H

#include "schedule/recur_data.h"

void span_walls(const struct recur *r, const struct zone_span *span, int64_t *from, int64_t *end);
int64_t span_shifted_end(const struct recur *r, const struct zone_span *span);
int64_t span_shifted_next(const struct recur *r, const struct zone_span *span, int64_t at_s);

#endif
