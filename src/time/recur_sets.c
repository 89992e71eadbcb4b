/* time/recur_sets.c: which days of a year match a rule, for each shape of year; times of the day;
 * and places in a set (BYSETPOS).
 *
 * Every BY part that speaks of days is a set of days; a day matches when all of them have it.
 *
 * Thread: any. Keeps: r->days does not change after days_make().
 *
 * SPDX-License-Identifier: MIT */
#include "time/recur_data.h"

#define PLACES 366

/* A kind of year. */
struct shape {
    unsigned len, prev_len; /* days of this year, of the one before */
    unsigned weekday;       /* of 1 January, 0 is Monday */
};

static unsigned month_start(const struct shape *shape, unsigned month) /* 13: the year's end */
{
    static const unsigned short starts[] = {0,   31,  59,  90,  120, 151, 181,
                                            212, 243, 273, 304, 334, 365};
    return starts[month - 1] + (month > 2 && shape->len == 366);
}

static void add_range(struct days *days, int from, int end, const struct shape *shape)
{
    end = MIN(end, (int)shape->len);
    for (int at = MAX(from, 0); at < end; at = (at | 63) + 1) {
        int width = MIN(64 - at % 64, end - at);
        days->bits[at / 64] |= (width == 64 ? ~(uint64_t)0 : BIT(width) - 1) << at % 64;
    }
}

static void keep_only(struct days *days, const struct days *of)
{
    for (size_t i = 0; i < RRULE_DAY_WORDS; i++) {
        days->bits[i] &= of->bits[i];
    }
}

static void by_month(const struct rrule *rule, const struct shape *shape, struct days *out)
{
    for (uint32_t set = rule->months; set != 0; set &= set - 1) {
        unsigned month = bits_first(set);
        add_range(out, (int)month_start(shape, month), (int)month_start(shape, month + 1), shape);
    }
}

static void by_month_day(const struct rrule *rule, const struct shape *shape, struct days *out)
{
    for (unsigned month = 1; month <= 12; month++) {
        unsigned start = month_start(shape, month), end = month_start(shape, month + 1);
        for (uint32_t set = rule->month_days; set != 0; set &= set - 1) {
            if (start + bits_first(set) <= end) {
                bits_add(out->bits, start + bits_first(set) - 1);
            }
        }
        for (uint32_t set = rule->month_days_last; set != 0; set &= set - 1) {
            if (start + bits_first(set) <= end) {
                bits_add(out->bits, end - bits_first(set));
            }
        }
    }
}

static void by_year_day(const struct rrule *rule, const struct shape *shape, struct days *out)
{
    for (unsigned n = 1; n <= shape->len; n++) {
        if (bits_has(rule->year_days, n)) {
            bits_add(out->bits, n - 1);
        }
        if (bits_has(rule->year_days_last, n)) {
            bits_add(out->bits, shape->len - n);
        }
    }
}

/* The numbered ones of a weekday among the days [from, end). */
static void add_nth(const struct rrule *rule, const struct shape *shape, unsigned weekday,
                    unsigned from, unsigned end, struct days *out)
{
    unsigned first = from + (weekday + 371 - shape->weekday - from) % 7;
    unsigned last = end - 1 - (shape->weekday + end - 1 + 7 - weekday) % 7;
    for (uint64_t set = rule->nth[weekday]; set != 0; set &= set - 1) {
        unsigned day = first + (bits_first(set) - 1) * 7;
        if (day < end) {
            bits_add(out->bits, day);
        }
    }
    for (uint64_t set = rule->nth_last[weekday]; set != 0; set &= set - 1) {
        unsigned back = (bits_first(set) - 1) * 7;
        if (last >= from + back) {
            bits_add(out->bits, last - back);
        }
    }
}

/* Numbers count within the months of a MONTHLY rule or of BYMONTH, else within the year. */
static void by_weekday(const struct rrule *rule, const struct shape *shape, struct days *out)
{
    bool of_month = rule->freq == RRULE_MONTHLY || rule->has & RRULE_BYMONTH;
    for (unsigned weekday = 0; weekday < 7; weekday++) {
        unsigned first = (weekday + 7 - shape->weekday) % 7;
        for (unsigned day = first; rule->weekdays >> weekday & 1 && day < shape->len; day += 7) {
            bits_add(out->bits, day);
        }
        if ((rule->nth[weekday] | rule->nth_last[weekday]) == 0) {
            continue;
        }
        for (unsigned month = 1; of_month && month <= 12; month++) {
            add_nth(rule, shape, weekday, month_start(shape, month), month_start(shape, month + 1),
                    out);
        }
        if (!of_month) {
            add_nth(rule, shape, weekday, 0, shape->len, out);
        }
    }
}

/* Week 1 is the first with four days of its year. The day it begins on, when 1 January is `into`
 * days into its week. */
static int week_one(int into)
{
    return into <= 3 ? -into : 7 - into;
}

/* The first days of a year may belong to the last week of the one before, the last ones to the
 * first of the next. (Counted from the end, that one is -52 or -53; nobody writes that, and the
 * shape does not say which, so it is not taken for either.) */
static void by_week(const struct rrule *rule, const struct shape *shape, struct days *out)
{
    int into = (int)((shape->weekday + 7 - rule->wkst) % 7), len = (int)shape->len;
    int prev_len = (int)shape->prev_len;
    int first = week_one(into), next_first = len + week_one((into + len) % 7);
    int prev_first = week_one((into + 371 - prev_len) % 7) - prev_len;
    int weeks = (next_first - first) / 7, prev_weeks = (first - prev_first) / 7;
    for (int week = 1; week <= weeks; week++) {
        if (rule->weeks >> week & 1 || rule->weeks_last >> (weeks + 1 - week) & 1) {
            add_range(out, first + (week - 1) * 7, first + week * 7, shape);
        }
    }
    if (rule->weeks >> prev_weeks & 1 || rule->weeks_last >> 1 & 1) {
        add_range(out, 0, first, shape);
    }
    if (rule->weeks >> 1 & 1) {
        add_range(out, next_first, len, shape);
    }
}

static void make_shape(const struct rrule *rule, const struct shape *shape, struct days *out)
{
    static const struct {
        unsigned part;
        void (*make)(const struct rrule *, const struct shape *, struct days *);
    } filters[] = {
        {RRULE_BYMONTH, by_month}, {RRULE_BYMONTHDAY, by_month_day}, {RRULE_BYYEARDAY, by_year_day},
        {RRULE_BYDAY, by_weekday}, {RRULE_BYWEEKNO, by_week},
    };
    *out = (struct days){0};
    add_range(out, 0, (int)shape->len, shape);
    for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
        if (rule->has & filters[i].part) {
            struct days of = {0};
            filters[i].make(rule, shape, &of);
            keep_only(out, &of);
        }
    }
}

/* The year before matters to week numbers alone; without them half of the shapes are copies. */
void days_make(struct recur *r)
{
    for (unsigned i = 0; i < SHAPES; i++) {
        struct shape shape = {365 + (i / 7 & 1), 365 + (i / 14), i % 7};
        if (i >= SHAPES / 2 && !(r->rule.has & RRULE_BYWEEKNO)) {
            r->days[i] = r->days[i - SHAPES / 2];
        } else {
            make_shape(&r->rule, &shape, &r->days[i]);
        }
    }
}

bool days_none(const struct recur *r)
{
    uint64_t any = 0;
    for (size_t i = 0; i < SHAPES; i++) {
        for (size_t w = 0; w < RRULE_DAY_WORDS; w++) {
            any |= r->days[i].bits[w];
        }
    }
    return any == 0;
}

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* The year a day is in: where it begins, how long it is, which days of it match. */
struct year {
    int64_t first;
    unsigned len;
    const uint64_t *bits;
};

static void year_set(const struct recur *r, int64_t year, int64_t first, struct year *out)
{
    bool leap = is_leap(year);
    unsigned shape = (is_leap(year - 1) * 2u + leap) * 7 + wall_weekday(first);
    *out = (struct year){first, 365u + leap, r->days[shape].bits};
}

static int64_t year_start(int64_t year) /* the day it begins, for years from 1 on */
{
    int64_t past = year - 1;
    return past * 365 + past / 4 - past / 100 + past / 400 + DAY_FIRST;
}

/* The mean length of a year tells the year but for one. */
static int64_t year_find(const struct recur *r, int64_t day, struct year *out)
{
    int64_t year = (day - DAY_FIRST) * 400 / CYCLE_DAYS + 1, first = year_start(year);
    if (day < first) {
        first = year_start(--year);
    } else if (day >= year_start(year + 1)) {
        first = year_start(++year);
    }
    year_set(r, year, first, out);
    return year;
}

int64_t days_next(const struct recur *r, int64_t day, int64_t end)
{
    struct year y;
    if (day >= end) {
        return end;
    }
    int64_t year = year_find(r, day, &y);
    while (day < end) {
        unsigned found = bits_next(y.bits, (unsigned)(day - y.first), y.len);
        if (found < y.len) {
            return MIN(y.first + found, end);
        }
        day = y.first + y.len;
        year_set(r, ++year, day, &y);
    }
    return end;
}

int64_t days_count(const struct recur *r, int64_t from, int64_t end)
{
    struct year y;
    int64_t count = 0;
    if (from >= end) {
        return 0;
    }
    int64_t year = year_find(r, from, &y);
    while (from < end) {
        count += bits_count(y.bits, (unsigned)(from - y.first),
                            (unsigned)MIN(end - y.first, (int64_t)y.len));
        from = y.first + y.len;
        year_set(r, ++year, from, &y);
    }
    return count;
}

int64_t days_nth(const struct recur *r, int64_t from, int64_t n)
{
    struct year y;
    int64_t year = year_find(r, from, &y);
    for (;;) {
        unsigned at = (unsigned)(from - y.first);
        unsigned here = bits_count(y.bits, at, y.len);
        if (n < here) {
            for (at = bits_next(y.bits, at, y.len); n > 0; n--) {
                at = bits_next(y.bits, at + 1, y.len);
            }
            return y.first + at;
        }
        n -= here;
        from = y.first + y.len;
        year_set(r, ++year, from, &y);
    }
}

bool days_has(const struct recur *r, int64_t day)
{
    struct year y;
    year_find(r, day, &y);
    return bits_has(y.bits, (unsigned)(day - y.first));
}

/* ---- Times and places ---- */

void times_make(struct times *t, uint64_t hours, uint64_t minutes, uint64_t seconds)
{
    *t = (struct times){.hours = hours, .minutes = minutes, .seconds = seconds};
    t->minutes_count = (unsigned)__builtin_popcountll(minutes);
    t->seconds_count = (unsigned)__builtin_popcountll(seconds);
    t->count = (int64_t)__builtin_popcountll(hours) * t->minutes_count * t->seconds_count;
}

int64_t times_rank(const struct times *t, int64_t tod)
{
    unsigned hour = (unsigned)tod / 3600, minute = (unsigned)tod / 60 % 60;
    unsigned per_hour = t->minutes_count * t->seconds_count;
    unsigned rank = bits_below(t->hours, hour) * per_hour;
    if (t->hours >> hour & 1) {
        rank += bits_below(t->minutes, minute) * t->seconds_count;
        if (t->minutes >> minute & 1) {
            rank += bits_below(t->seconds, (unsigned)tod % 60);
        }
    }
    return rank;
}

int64_t times_nth(const struct times *t, int64_t n)
{
    unsigned per_hour = t->minutes_count * t->seconds_count;
    unsigned in_hour = (unsigned)n % per_hour;
    return (int64_t)bits_nth(t->hours, (unsigned)n / per_hour) * 3600 +
           bits_nth(t->minutes, in_hour / t->seconds_count) * 60 +
           bits_nth(t->seconds, in_hour % t->seconds_count);
}

/* Place p of BYSETPOS is element p - 1, or total - p counted from the end. */
int64_t places_next(const struct rrule *rule, int64_t total, int64_t rank)
{
    int64_t found = NEVER;
    if (!(rule->has & RRULE_BYSETPOS)) {
        return rank < total ? rank : NEVER;
    }
    if (rank < PLACES) {
        unsigned place = bits_next(rule->positions, (unsigned)rank + 1, PLACES + 1);
        found = place <= PLACES && place <= total ? (int64_t)place - 1 : NEVER;
    }
    unsigned back = bits_back(rule->positions_last, (unsigned)MIN(total - rank, (int64_t)PLACES));
    return back > 0 ? MIN(found, total - (int64_t)back) : found;
}

int64_t places_count(const struct rrule *rule, int64_t total, int64_t rank)
{
    if (!(rule->has & RRULE_BYSETPOS)) {
        return rank;
    }
    rank = MIN(rank, total);
    /* Those of [1, rank], and those from the end that lie there too; some may be the same. */
    unsigned front = (unsigned)MIN(rank, (int64_t)PLACES) + 1;
    unsigned back = (unsigned)MIN(total - rank, (int64_t)PLACES) + 1;
    unsigned most = (unsigned)MIN(total, (int64_t)PLACES) + 1;
    int64_t count = (int64_t)bits_count(rule->positions, 1, front) +
                    bits_count(rule->positions_last, back, most);
    for (; (back = bits_next(rule->positions_last, back, most)) < most; back++) {
        int64_t place = total - back + 1;
        count -= place < front && bits_has(rule->positions, (unsigned)place) ? 1 : 0;
    }
    return count;
}
