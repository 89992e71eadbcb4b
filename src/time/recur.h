/* time/recur.h: a recurrence: a start, a rule in a time zone, what it leaves out and adds.
 *
 * How it is read (docs/design/rules.md says it in full): the start is an occurrence
 * only when it matches the rule. DAILY and longer rules step on the wall calendar, HOURLY and
 * shorter ones in elapsed time, their BY parts tested on the wall clock. UNTIL is included, COUNT
 * counts before anything is left out, and two occurrences at one instant are one.
 *
 * Finding the next occurrence jumps to where it may be; it never walks there from the start.
 *
 * Thread: any. A recurrence does not change once made, and asks no clock.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TIME_RECUR_H
#define ERRAND_TIME_RECUR_H

#include "time/rrule.h"
#include "time/wall.h"
#include "time/zone.h"

#define RECUR_DATES_MAX   10000   /* EXDATEs, and RDATEs, of one recurrence */
#define RECUR_COUNT_STEPS 1000000 /* spent on finding where a COUNT ends, before giving up */

enum recur_gap {
    RECUR_SHIFT, /* a wall time that does not exist is taken with the offset before the gap */
    RECUR_SKIP,  /* it is left out */
};

enum recur_fold {
    RECUR_FIRST, /* a wall time that exists twice occurs the first time */
    RECUR_LAST,
    RECUR_BOTH,
};

/* What to make a recurrence from; all of it is copied. */
struct recur_order {
    struct when start;
    const struct rrule *rule; /* NULL: once, at the start */
    const struct zone *zone;  /* NULL: none, which is the same as UTC */
    enum recur_gap gap;
    enum recur_fold fold;
    const struct when *exdates, *rdates;
    size_t exdates_count, rdates_count;
};

struct recur;

/* Fails when there are too many dates, or COUNT cannot be counted out. The caller owns *out. */
MUST_CHECK bool recur_new(const struct recur_order *order, struct recur **out, struct err *err);
void recur_free(struct recur *recur);     /* NULL is welcome */
void recur_free_at(struct recur **recur); /* for SCOPED */

/* The first occurrence later than `after_ms`; false when there is none up to the year 9999. */
bool recur_next(const struct recur *recur, int64_t after_ms, int64_t *out_ms);

bool recur_first(const struct recur *recur, int64_t *out_ms);

/* The next `n` after a time; the answer is how many there are. */
size_t recur_list(const struct recur *recur, int64_t after_ms, size_t n, int64_t *out_ms);

/* The latest later than `after_ms` and not later than `upto_ms`; how many there are. */
bool recur_last(const struct recur *recur, int64_t after_ms, int64_t upto_ms, int64_t *out_ms);
uint64_t recur_count(const struct recur *recur, int64_t after_ms, int64_t upto_ms);

#endif
