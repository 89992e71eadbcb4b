/* time/recur_span.h: instants of a rule alone, and how it uses a stretch of one UTC offset.
 *
 * Private to the recur*.c files here.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TIME_RECUR_SPAN_H
#define ERRAND_TIME_RECUR_SPAN_H

#include "time/recur_data.h"

/* ---- recur_next.c ---- */

int64_t rule_next(const struct recur *r, int64_t after_s); /* or NEVER; knows r->end_s */

/* The part of a stretch's wall times that a calendar rule may use. */
void span_walls(const struct recur *r, const struct zone_span *span, int64_t *from, int64_t *end);

/* Where the instants end that a gap before this stretch may have shifted into it; the next. */
int64_t span_shifted_end(const struct recur *r, const struct zone_span *span);
int64_t span_shifted_next(const struct recur *r, const struct zone_span *span, int64_t at_s);

/* ---- recur_count.c ---- */

int64_t rule_count(const struct recur *r, int64_t from_s, int64_t end_s, struct effort *effort);

/* Where COUNT ends; false when that took too long to find. */
bool rule_count_out(const struct recur *r, uint32_t count, int64_t *out_s);

#endif
