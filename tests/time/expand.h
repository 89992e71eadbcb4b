/* tests/time/expand.h: a recurrence given as texts, and its occurrences as one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_SCHEDULE_EXPAND_H
#define ERRAND_TESTS_SCHEDULE_EXPAND_H

#include "base/buf.h"
#include "time/recur.h"

struct expand {
    struct str start, zone, rule; /* zone may be empty: none. rule may be empty: once */
    struct str after;             /* a wall time, or empty: from the first on */
    struct str exdates, rdates;   /* wall times, comma-separated */
    enum recur_gap gap;
    enum recur_fold fold;
    size_t n;
};

/* Makes it; the caller frees *out. */
bool expand_new(struct zones *zones, const struct expand *of, struct recur **out, struct err *err);

/* "2026-12-25T20:30:00+11:00,…", without the offset when there is no zone; "INVALID" when the rule
 * is refused. */
void expand_list(struct zones *zones, const struct expand *of, struct buf *out);

#endif
