/* time/rrule_fill.c: what a rule leaves unsaid comes from its start (RFC 5545, 3.3.10).
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "time/bits.h"
#include "time/rrule.h"
#include "time/wall.h"
#include "wire/time.h"

#define BY_DATE (RRULE_BYDAY | RRULE_BYMONTHDAY | RRULE_BYYEARDAY | RRULE_BYWEEKNO)

static void add_weekday(struct rrule *rule, int64_t day)
{
    rule->weekdays = (uint32_t)1 << wall_weekday(day);
    rule->has |= RRULE_BYDAY;
}

static void add_month_day(struct rrule *rule, unsigned month_day)
{
    rule->month_days = (uint32_t)1 << month_day;
    rule->has |= RRULE_BYMONTHDAY;
}

static void fill_date(struct rrule *rule, int64_t day)
{
    int64_t year;
    unsigned month, month_day;
    time_date_of(day, &year, &month, &month_day);
    if ((rule->has & BY_DATE) == RRULE_BYWEEKNO) {
        add_weekday(rule, day); /* a week alone is its day that the start is on */
    }
    if (rule->has & BY_DATE || rule->freq < RRULE_WEEKLY) {
        return;
    }
    if (rule->freq == RRULE_WEEKLY) {
        add_weekday(rule, day);
        return;
    }
    add_month_day(rule, month_day);
    if (rule->freq == RRULE_YEARLY && !(rule->has & RRULE_BYMONTH)) {
        rule->months = (uint32_t)1 << month;
        rule->has |= RRULE_BYMONTH;
    }
}

/* A field of the clock: as given; else the start's where it is finer than the frequency, and any
 * where it is not. */
static uint64_t fill_field(const struct rrule *rule, unsigned part, uint64_t given,
                           enum rrule_freq own, int64_t of_start, unsigned all)
{
    if (rule->has & part) {
        return given;
    }
    return rule->freq > own ? BIT(of_start) : BIT(all) - 1;
}

void rrule_fill(struct rrule *rule, int64_t start_wall_s)
{
    int64_t tod = wall_mod(start_wall_s, WALL_DAY_S);
    fill_date(rule, wall_div(start_wall_s, WALL_DAY_S));
    rule->hours =
        (uint32_t)fill_field(rule, RRULE_BYHOUR, rule->hours, RRULE_HOURLY, tod / 3600, 24);
    rule->minutes =
        fill_field(rule, RRULE_BYMINUTE, rule->minutes, RRULE_MINUTELY, tod / 60 % 60, 60);
    rule->seconds = fill_field(rule, RRULE_BYSECOND, rule->seconds, RRULE_SECONDLY, tod % 60, 60);
}
