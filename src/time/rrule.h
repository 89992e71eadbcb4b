/* time/rrule.h: a recurrence rule, as RFC 5545 writes it: FREQ=WEEKLY;BYDAY=MO;BYHOUR=9.
 *
 * The rule alone: when it begins, in which zone and what it leaves out is a recurrence (recur.h).
 * Lists are bit sets: what a rule says twice it says once, and order does not matter.
 *
 * Thread: any. A rule is plain data, copied at will.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TIME_RRULE_H
#define ERRAND_TIME_RRULE_H

#include "base/buf.h"
#include "base/err.h"

#define RRULE_TEXT_MAX     4096
#define RRULE_INTERVAL_MAX 2147483647
#define RRULE_COUNT_MAX    2147483647
#define RRULE_DAY_WORDS    6 /* of 64 bits: enough for 366 days */

enum rrule_freq {
    RRULE_SECONDLY,
    RRULE_MINUTELY,
    RRULE_HOURLY,
    RRULE_DAILY,
    RRULE_WEEKLY,
    RRULE_MONTHLY,
    RRULE_YEARLY,
};

/* The BY parts, for `has`: absent is not the same as full. */
enum rrule_part {
    RRULE_BYSECOND = 1 << 0,
    RRULE_BYMINUTE = 1 << 1,
    RRULE_BYHOUR = 1 << 2,
    RRULE_BYDAY = 1 << 3,
    RRULE_BYMONTHDAY = 1 << 4,
    RRULE_BYYEARDAY = 1 << 5,
    RRULE_BYWEEKNO = 1 << 6,
    RRULE_BYMONTH = 1 << 7,
    RRULE_BYSETPOS = 1 << 8,
};

enum rrule_until {
    RRULE_ENDLESS,
    RRULE_UNTIL_UTC,   /* 20271231T225959Z */
    RRULE_UNTIL_LOCAL, /* 20271231T235959 on the wall */
    RRULE_UNTIL_DATE,  /* 20271231: until_s is its last second on the wall */
};

/* Positive numbers of a BY part: bit n stands for n. Those counted from the end: `_last`. */
struct rrule {
    enum rrule_freq freq;
    uint32_t interval; /* at least 1 */
    uint32_t count;    /* 0: none */
    enum rrule_until until;
    int64_t until_s;
    unsigned wkst; /* 0 is Monday */
    unsigned has;  /* of enum rrule_part */
    uint64_t seconds, minutes;
    uint32_t hours, months;
    uint32_t month_days, month_days_last;
    uint64_t weeks, weeks_last;
    uint32_t weekdays; /* bit 0 is Monday: every one of them */
    uint64_t nth[7];   /* for each weekday: bit 2 is the second of the month or year */
    uint64_t nth_last[7];
    uint64_t year_days[RRULE_DAY_WORDS], year_days_last[RRULE_DAY_WORDS];
    uint64_t positions[RRULE_DAY_WORDS], positions_last[RRULE_DAY_WORDS];
};

/* Strict: what the RFC does not allow is refused, and the error names the part and what would be
 * right. A second of 60 is read as 59, for clocks without leap seconds (RFC 5545, 3.3.12). */
MUST_CHECK bool rrule_parse(struct str text, struct rrule *out, struct err *err);

/* Canonical: FREQ, INTERVAL unless 1, COUNT or UNTIL, the BY parts by name, WKST unless MO; numbers
 * rising, those from the end last; weekdays from Monday to Sunday. */
void rrule_write(struct buf *buf, const struct rrule *rule);

/* Says what the rule leaves unsaid, with a start on the wall: FREQ=MONTHLY alone is on the start's
 * day of the month at its time of the day. Afterwards hours, minutes and seconds are never empty;
 * `has` still tells which of them were given. */
void rrule_fill(struct rrule *rule, int64_t start_wall_s);

extern const char *const rrule_freq_names[7];    /* "SECONDLY" … */
extern const char *const rrule_weekday_names[7]; /* "MO" … */

#endif
