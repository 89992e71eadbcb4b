/* english/said.c: puts together what several phrases say. See said.h.
 *
 * SPDX-License-Identifier: MIT */
#include "english/said.h"

static bool has_nth(const struct said *said)
{
    uint32_t any = said->set_nth | said->set_nth_last;
    for (size_t day = 0; day < 7; day++) {
        any |= said->nth[day] | said->nth_last[day];
    }
    return any != 0;
}

bool said_has_days(const struct said *said)
{
    return said->weekdays != 0 || said->month_days != 0 || said->month_days_last != 0 ||
           said->months != 0 || has_nth(said) || said->of_quarter != OF_NONE;
}

bool said_has_day(const struct said *said)
{
    return said_has_days(said) || said->has_offset || said->has_in || said->is_weekend ||
           said->holiday != 0 || said->ahead != 0 || said->anchor != NULL ||
           said->of_week != OF_NONE || said->of_month != OF_NONE || said->of_year != OF_NONE ||
           said->year != 0;
}

bool said_has_time(const struct said *said)
{
    return said->clocks_count > 0 || said->parts != 0 || said->has_window || said->hours != 0 ||
           said->time_now;
}

bool said_recurs(const struct said *said)
{
    unsigned days = (unsigned)__builtin_popcount(said->month_days) +
                    (unsigned)__builtin_popcount(said->month_days_last);
    return said->every || said->plural || said->listed || said->of_month == OF_EVERY ||
           said->of_quarter == OF_EVERY || said->of_year == OF_EVERY || days > 1 ||
           (days == 1 && (said->months & (said->months - 1)) != 0);
}

/* Takes a value that only one of two may have, or both the same. */
#define ONE(member)                                                                                \
    do {                                                                                           \
        agree = agree && (said->member == 0 || more->member == 0 || said->member == more->member); \
        said->member = said->member == 0 ? more->member : said->member;                            \
    } while (0)

static bool add_often(struct said *said, const struct said *more)
{
    bool agree = said->unit == UNIT_NONE || more->unit == UNIT_NONE || said->unit == more->unit;
    said->every |= more->every;
    said->unit = said->unit == UNIT_NONE ? more->unit : said->unit;
    agree =
        agree && (said->interval == 1 || more->interval == 1 || said->interval == more->interval);
    said->interval = MAX(said->interval, more->interval);
    ONE(per);
    ONE(minutes);
    ONE(hours);
    return agree;
}

static bool add_days(struct said *said, const struct said *more)
{
    bool agree = true;
    ONE(weekdays);
    said->plural |= more->plural;
    said->listed |= more->listed;
    said->bare_last |= more->bare_last;
    said->is_weekend |= more->is_weekend;
    said->dated |= more->dated;
    ONE(which);
    ONE(holiday);
    ONE(ahead);
    for (size_t day = 0; day < 7; day++) {
        said->nth[day] |= more->nth[day];
        said->nth_last[day] |= more->nth_last[day];
    }
    ONE(set_days);
    said->set_nth |= more->set_nth;
    said->set_nth_last |= more->set_nth_last;
    ONE(month_days);
    ONE(month_days_last);
    ONE(months);
    ONE(year);
    ONE(of_month);
    ONE(of_week);
    ONE(of_year);
    ONE(of_quarter);
    return agree;
}

static bool add_relative(struct said *said, const struct said *more)
{
    bool agree = (!said->has_offset || !more->has_offset || said->offset == more->offset) &&
                 (!said->has_in || !more->has_in) && !(said->anchor && more->anchor);
    if (more->anchor != NULL) {
        said->anchor = more->anchor;
        said->near_weekdays = more->near_weekdays;
        said->in_before = more->in_before;
    }
    if (more->has_offset) {
        said->has_offset = true;
        said->offset = more->offset;
    }
    if (more->has_in) {
        said->has_in = true;
        said->in = more->in;
    }
    return agree;
}

static bool same_clocks(const struct said *a, const struct said *b)
{
    bool same = a->clocks_count == b->clocks_count;
    for (unsigned i = 0; same && i < a->clocks_count; i++) {
        same = a->clocks[i].hour == b->clocks[i].hour && a->clocks[i].minute == b->clocks[i].minute;
    }
    return same;
}

static bool add_time(struct said *said, const struct said *more)
{
    bool agree = said->clocks_count == 0 || more->clocks_count == 0 || same_clocks(said, more);
    if (said->clocks_count == 0) {
        memcpy(said->clocks, more->clocks, sizeof more->clocks);
        said->clocks_count = more->clocks_count;
    }
    said->parts |= more->parts;
    said->tonight |= more->tonight;
    said->time_now |= more->time_now;
    if (more->has_only) {
        memcpy(said->only, more->only, sizeof more->only);
        said->has_only = true;
        said->only_last = more->only_last;
    }
    if (more->has_window) {
        agree = agree && !said->has_window;
        said->has_window = true;
        said->from = more->from;
        said->to = more->to;
    }
    return agree;
}

static bool add_span(struct said *said, const struct said *more)
{
    bool agree = true;
    ONE(start);
    ONE(until);
    ONE(count);
    said->through |= more->through;
    if (more->has_lasting) {
        agree = agree && !said->has_lasting;
        said->has_lasting = true;
        said->lasting = more->lasting;
        said->lasting_ahead = more->lasting_ahead;
    }
    said->except_weekdays |= more->except_weekdays;
    said->except_months |= more->except_months;
    said->except_month_days |= more->except_month_days;
    said->except_month_days_last |= more->except_month_days_last;
    said->except_nth |= more->except_nth;
    said->except_nth_last |= more->except_nth_last;
    said->except_nth_days |= more->except_nth_days;
    for (unsigned i = 0; i < more->except_days_count; i++) {
        agree = agree && said->except_days_count < SAID_EXCEPT_MAX;
        if (agree) {
            said->except_days[said->except_days_count++] = more->except_days[i];
        }
    }
    return agree;
}

static bool add_zone(struct said *said, const struct said *more)
{
    bool agree =
        said->zone == NULL || more->zone == NULL || str_eq(str_of(said->zone), str_of(more->zone));
    said->zone = said->zone == NULL ? more->zone : said->zone;
    said->unsure_zone = said->unsure_zone.len == 0 ? more->unsure_zone : said->unsure_zone;
    return agree;
}

bool said_add(struct said *said, const struct said *more)
{
    said->fault = said->fault == FAULT_NONE ? more->fault : said->fault;
    bool often = add_often(said, more), days = add_days(said, more);
    bool relative = add_relative(said, more), time = add_time(said, more);
    bool zone = add_zone(said, more);
    return add_span(said, more) && often && days && relative && time && zone;
}
