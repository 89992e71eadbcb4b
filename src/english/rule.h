/* english/rule.h: a rule while it is made of what was said. Private to english*.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_ENGLISH_RULE_H
#define ERRAND_ENGLISH_RULE_H

#include "english/said.h"

#define LASTING_DAYS_MAX 36600 /* "for 100 years" */

struct draft {
    const struct resolver *to;
    const struct said *said;
    struct resolved *out;
    struct rrule rule;
    int64_t base_day;     /* gives the weekday or the date that was not said */
    int64_t after_ms;     /* the first occurrence is later than this */
    int64_t first_wall_s; /* once it is known */
};

bool draft_rule(struct draft *d);    /* rule.c: its frequency and BY parts */
bool draft_elapsed(struct draft *d); /* recurring.c: the first of one that steps by the clock */

#endif
