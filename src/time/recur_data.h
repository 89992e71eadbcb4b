/* time/recur_data.h: what a recurrence is made of. Private to the recur*.c files here.
 *
 * The calendar half of a rule is a set of days. Which days of a year match depends only on the
 * shape of the year (is it leap, on which weekday does it begin, was the year before leap), so all
 * 28 shapes are worked out at birth, one bit a day. The clock half is a set of times of the day.
 * INTERVAL chooses among periods (recur_calendar.c) or among blocks of elapsed time
 * (recur_elapsed.c), and recur_rule.c translates walls to instants.
 *
 *     calendar rule (DAILY and longer)   elements of a period: its days × `times`
 *     elapsed rule (HOURLY and shorter)  blocks that begin at `outer`; elements of a block: `inner`
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TIME_RECUR_DATA_H
#define ERRAND_TIME_RECUR_DATA_H

#include "time/bits.h"
#include "time/recur.h"

#define NEVER      INT64_MAX /* no such wall time or instant */
#define SHAPES     28
#define CYCLE_DAYS ((int64_t)146097) /* the calendar repeats after 400 years, weekdays included */
#define DAY_FIRST  (WALL_MIN_S / WALL_DAY_S)
#define DAY_END    ((WALL_MAX_S + 1) / WALL_DAY_S) /* the day after the last */

/* Times of the day, or of an hour or minute: every one of hours × minutes × seconds. */
struct times {
    uint64_t hours, minutes, seconds;
    unsigned minutes_count, seconds_count;
    int64_t count;
};

struct days { /* of a year: bit 0 is 1 January */
    uint64_t bits[RRULE_DAY_WORDS];
};

struct recur {
    const struct zone *zone;
    enum recur_gap gap;
    enum recur_fold fold;

    struct rrule rule; /* with what it leaves unsaid taken from the start */
    bool has_rule;
    bool never;   /* known to have no occurrence */
    bool elapsed; /* HOURLY or shorter */
    bool steady;  /* elapsed, and nothing but FREQ and INTERVAL: one step like another */
    bool plain;   /* no BYSETPOS and INTERVAL=1: periods do not matter */
    int64_t start_wall_s, start_s;
    int64_t end_s;        /* the last instant that UNTIL or COUNT allows */
    int64_t horizon_days; /* all that a rule ever does it does within so many */

    struct days days[SHAPES];
    struct times times;     /* calendar rule: of the day */
    enum rrule_freq period; /* calendar rule: what INTERVAL and BYSETPOS speak of */
    int64_t anchor;         /* calendar rule: the start's period */

    int64_t unit_s; /* elapsed rule: length of a block */
    bool expanded;  /* elapsed rule: blocks hold what BY parts say, not just one instant */
    struct times outer, inner;
    int64_t repeat_days; /* blocks fall on the same times of the day again after so many */
    int64_t inverse;     /* of the blocks in a day, of a congruence */
    enum recur_leap { LEAP_DAYS, LEAP_TIMES, LEAP_BLOCKS } leap; /* see recur_elapsed.c */

    int64_t *excluded, *extra; /* instants, rising, each once */
    size_t excluded_count, extra_count;
};

/* ---- recur_sets.c: the set of days, sets of times, and places in a set (BYSETPOS) ---- */

void days_make(struct recur *r);       /* from r->rule */
bool days_none(const struct recur *r); /* no day ever matches */
int64_t days_next(const struct recur *r, int64_t day,
                  int64_t end); /* first in [day, end), or end */
int64_t days_count(const struct recur *r, int64_t from, int64_t end);
int64_t days_nth(const struct recur *r, int64_t from, int64_t n); /* n-th from 0; it is there */
bool days_has(const struct recur *r, int64_t day);

void times_make(struct times *t, uint64_t hours, uint64_t minutes, uint64_t seconds);
int64_t times_rank(const struct times *t, int64_t tod); /* how many are before; tod in [0, 86400] */
int64_t times_nth(const struct times *t, int64_t n);

/* Of `total`, the first that BYSETPOS chooses at or after place `rank`, or NEVER. */
int64_t places_next(const struct rrule *rule, int64_t total, int64_t rank);
int64_t places_count(const struct rrule *rule, int64_t total, int64_t rank); /* chosen before it */

/* ---- recur_calendar.c: occurrences on the wall ---- */

struct effort { /* so that counting can give up */
    int64_t steps;
};

int64_t calendar_period(const struct recur *r, int64_t day);  /* the number of its period */
int64_t calendar_next(const struct recur *r, int64_t wall_s); /* at or after it, or NEVER */
/* How many in [from, end). */
int64_t calendar_count(const struct recur *r, int64_t from, int64_t end, struct effort *effort);

/* ---- recur_elapsed.c ---- */

/* How many in [from, end) on the wall, while one UTC offset holds. */
int64_t elapsed_count(const struct recur *r, int32_t offset_s, int64_t from, int64_t end,
                      struct effort *effort);
/* Could the blocks ever begin at one of the times wanted, under this offset? */
bool elapsed_possible(const struct recur *r, int32_t offset_s);
void leap_prepare(struct recur *r, int64_t repeat_days); /* chooses the way to search */
int64_t leap_next(const struct recur *r, int64_t at_s, int64_t end_s); /* an instant, or NEVER */

/* ---- recur_rule.c: instants of a rule alone ---- */

int64_t rule_next(const struct recur *r, int64_t after_s); /* or NEVER; knows r->end_s */
int64_t rule_count(const struct recur *r, int64_t from_s, int64_t end_s, struct effort *effort);
/* Where COUNT ends; false when that took too long to find. */
bool rule_count_out(const struct recur *r, uint32_t count, int64_t *out_s);

static inline int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
