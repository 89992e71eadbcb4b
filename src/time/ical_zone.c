/* time/ical_zone.c: a time zone as a VTIMEZONE, exact for a period.
 *
 * Turns from one offset to another of the same make form an observance. Those that come year after
 * year on the same weekday of the same week are told by a yearly rule, which goes on for ever (it
 * is held against the zone for RULE_YEARS more than asked for); all others one by one.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/mem.h"
#include "time/ical_line.h"
#include "time/rrule.h"
#include "time/wall.h"
#include "wire/time.h"

#define YEAR_S      ((int64_t)31556952)
#define RULE_YEARS  40           /* more than the 28 in which every weekday meets every date */
#define LEAD_S      (2 * YEAR_S) /* the first turn may be so much older than the period */
#define DAYLIGHT_S  (300 * WALL_DAY_S) /* what lasts longer is no summer */
#define REPEATS_MIN 3

struct turn {
    int64_t at_s, wall_s; /* on the clock as it was before */
    int32_t before_s, after_s;
    int64_t to_s;
    bool told;
};

struct turns {
    struct turn *at; /* owned */
    size_t count;
};

static void turns_fini(struct turns *turns)
{
    mem_free(turns->at);
}

static void add_turn(struct turns *turns, int64_t at_s, int32_t before_s,
                     const struct zone_span *span)
{
    turns->at = mem_array(turns->at, turns->count + 1, sizeof *turns->at);
    turns->at[turns->count++] =
        (struct turn){at_s, at_s + before_s, before_s, span->offset_s, span->to_s, false};
}

/* From the one in force at from_s on. If that is an old one it is told from the period's beginning.
 */
static void gather(struct turns *turns, const struct zone *zone, int64_t from_s, int64_t to_s)
{
    struct zone_span span;
    zone_span_at(zone, from_s, &span);
    bool old = span.from_s < from_s - LEAD_S;
    int64_t day_s = wall_div(from_s, WALL_DAY_S) * WALL_DAY_S;
    add_turn(turns, old ? day_s - span.offset_s : span.from_s, old ? span.offset_s : span.before_s,
             &span);
    while (span.to_s <= to_s) {
        zone_span_at(zone, span.to_s, &span);
        add_turn(turns, span.from_s, span.before_s, &span);
    }
}

/* ---- Yearly rules ---- */

struct date {
    int64_t year, time_s;
    unsigned month, day, weekday;
    bool last; /* of that weekday in the month */
};

static struct date date_of(const struct turn *turn)
{
    struct date date;
    int64_t day = wall_div(turn->wall_s, WALL_DAY_S);
    time_date_of(day, &date.year, &date.month, &date.day);
    date.time_s = wall_mod(turn->wall_s, WALL_DAY_S);
    date.weekday = wall_weekday(day);
    date.last = date.day + 7 > time_month_days(date.year, date.month);
    return date;
}

static bool same_make(const struct turn *a, const struct turn *b)
{
    return a->before_s == b->before_s && a->after_s == b->after_s;
}

/* The turns of one make that repeat up to the end: the first of them, and which day it is. */
struct yearly {
    size_t first, repeats;
    struct date date;
    unsigned min_day, max_day;
    bool last;
};

/* Does an earlier turn fit too? */
static bool join(struct yearly *y, const struct turn *turn, size_t i)
{
    struct date date = date_of(turn);
    unsigned min_day = MIN(y->min_day, date.day), max_day = MAX(y->max_day, date.day);
    bool same =
        y->repeats == 0 || (date.year + 1 == y->date.year && date.month == y->date.month &&
                            date.weekday == y->date.weekday && date.time_s == y->date.time_s);
    if (!same || !((y->last && date.last) || max_day - min_day < 7)) {
        return false;
    }
    *y = (struct yearly){i, y->repeats + 1, date, min_day, max_day, y->last && date.last};
    return true;
}

/* The last of its make must be there in the last year, else it came to an end. */
static struct yearly find_yearly(const struct turns *turns, const struct turn *like, int64_t end_s)
{
    struct yearly y = {.min_day = 31, .max_day = 0, .last = true};
    for (size_t i = turns->count; i-- > 0;) {
        if (!same_make(&turns->at[i], like)) {
            continue;
        }
        if (y.repeats == 0 && turns->at[i].at_s < end_s - YEAR_S - 7 * WALL_DAY_S) {
            break;
        }
        if (!join(&y, &turns->at[i], i)) {
            break;
        }
    }
    return y;
}

static void write_rule(struct ical_out *o, const struct yearly *y)
{
    const char *weekday = rrule_weekday_names[y->date.weekday];
    buf_printf(&o->line, "RRULE:FREQ=YEARLY;BYMONTH=%u;BYDAY=", y->date.month);
    if (y->last) {
        buf_printf(&o->line, "-1%s", weekday);
    } else if (y->min_day % 7 == 1) {
        buf_printf(&o->line, "%u%s", y->min_day / 7 + 1, weekday);
    } else { /* the first one on or after a day */
        buf_printf(&o->line, "%s;BYMONTHDAY=%u", weekday, y->min_day);
        for (unsigned day = y->min_day + 1; day <= y->max_day; day++) {
            buf_printf(&o->line, ",%u", day);
        }
    }
    ical_end_line(o);
}

/* ---- Observances ---- */

/* "+0100", with seconds in the days before standard time; "+01" for people. */
static void write_offset(struct ical_out *o, const char *name, int32_t offset_s, bool brief)
{
    int32_t s = abs(offset_s);
    buf_printf(&o->line, "%s:%c%02d", name, offset_s < 0 ? '-' : '+', s / 3600);
    if (!brief || s % 3600 != 0) {
        buf_printf(&o->line, "%02d", s / 60 % 60);
    }
    if (s % 60 != 0) {
        buf_printf(&o->line, "%02d", s % 60);
    }
    ical_end_line(o);
}

/* Summer time is later than what was before, and passes. */
static const char *kind_of(const struct turn *turn)
{
    bool daylight = turn->after_s > turn->before_s && turn->to_s - turn->at_s < DAYLIGHT_S;
    return daylight ? "DAYLIGHT" : "STANDARD";
}

static void begin_observance(struct ical_out *o, const struct turn *turn)
{
    ical_line(o, "BEGIN:%s", kind_of(turn));
    buf_c(&o->line, "DTSTART:");
    ical_time(&o->line, turn->wall_s);
    ical_end_line(o);
    write_offset(o, "TZOFFSETFROM", turn->before_s, false);
    write_offset(o, "TZOFFSETTO", turn->after_s, false);
    write_offset(o, "TZNAME", turn->after_s, true);
}

/* The turns like turns->at[from], up to to_s, as dates. */
static void tell_dates(struct ical_out *o, struct turns *turns, size_t from, size_t end,
                       int64_t to_s)
{
    bool begun = false;
    begin_observance(o, &turns->at[from]);
    for (size_t i = from + 1; i < end && turns->at[i].at_s <= to_s; i++) {
        if (same_make(&turns->at[i], &turns->at[from])) {
            buf_c(&o->line, begun ? "," : "RDATE:");
            ical_time(&o->line, turns->at[i].wall_s);
            begun = true;
        }
    }
    if (begun) {
        ical_end_line(o);
    }
    ical_line(o, "END:%s", kind_of(&turns->at[from]));
}

static void tell_make(struct ical_out *o, struct turns *turns, size_t from, int64_t to_s,
                      int64_t end_s)
{
    struct yearly y = find_yearly(turns, &turns->at[from], end_s);
    bool ruled = y.repeats >= REPEATS_MIN;
    if (!ruled || y.first > from) {
        tell_dates(o, turns, from, ruled ? y.first : turns->count, to_s);
    }
    if (ruled) {
        begin_observance(o, &turns->at[y.first]);
        write_rule(o, &y);
        ical_line(o, "END:%s", kind_of(&turns->at[y.first]));
    }
}

void ical_zone(struct ical_out *o, const struct zone *zone, int64_t from_s, int64_t to_s)
{
    SCOPED(turns_fini) struct turns turns = {0};
    int64_t end_s = to_s + RULE_YEARS * YEAR_S;
    gather(&turns, zone, from_s, end_s);
    ical_line(o, "BEGIN:VTIMEZONE");
    ical_line(o, "TZID:%s", zone_name(zone));
    for (size_t i = 0; i < turns.count && (i == 0 || turns.at[i].at_s <= to_s); i++) {
        if (turns.at[i].told) {
            continue;
        }
        for (size_t j = i; j < turns.count; j++) {
            turns.at[j].told |= same_make(&turns.at[j], &turns.at[i]);
        }
        tell_make(o, &turns, i, to_s, end_s);
    }
    ical_line(o, "END:VTIMEZONE");
}
