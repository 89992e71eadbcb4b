/* time/recur_leap.c: the next instant of an HOURLY, MINUTELY or SECONDLY rule, over all offsets
 * of its zone, without looking where there is none.
 *
 * There are three ways from one place that may have an occurrence to the next, and each rule takes
 * the one that is expected to need the fewest steps (leap_prepare):
 *
 *     LEAP_DAYS    the days that the rule has, looking for a block on each
 *     LEAP_TIMES   the times of the day that it has, each met on one day in `repeat_days`
 *     LEAP_BLOCKS  the blocks that count, which lie years apart
 *
 * They only say where to look: a window of time. What is there is said by elapsed_next(), under
 * each offset by itself. The caller's end bounds all of them: blocks, calendar and zone together
 * begin again after horizon_days.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "time/recur_grid.h"

#define OFFSETS_MAX 16 /* different ones of a zone from some moment on */
#define CYCLE_S     (CYCLE_DAYS * WALL_DAY_S)
#define NEAR_ROUNDS                                                                                \
    8 /* a time's days that are looked at first; and so many times more each time                  \
       */

struct window {
    int64_t from_s, end_s;
};

struct offset {
    int32_t s;
    bool possible; /* blocks may begin at a time wanted */
};

struct leap {
    const struct recur *r;
    int64_t end_s;     /* of the search */
    int64_t idle_s;    /* since then no day of the rule had an offset that could be */
    int64_t regular_s; /* the zone repeats itself from here on */
    struct offset offsets[OFFSETS_MAX];
    size_t count;
};

/* ---- Which way ---- */

/* Days of a year that the rule has, on the average of the shapes of years. */
static double days_of_year(const struct recur *r)
{
    int count = 0;
    for (size_t i = 0; i < SHAPES; i++) {
        for (size_t w = 0; w < RRULE_DAY_WORDS; w++) {
            count += __builtin_popcountll(r->days[i].bits[w]);
        }
    }
    return (double)count / SHAPES;
}

/* The weights are nanoseconds of one step, roughly. `met` is how many times of the day blocks can
 * begin at, at most, of those that the rule has. */
void leap_prepare(struct recur *r, int64_t repeat_days)
{
    int64_t in_day = WALL_DAY_S / r->unit_s, common = gcd(in_day, r->rule.interval);
    double days = (double)r->horizon_days, of_year = days_of_year(r);
    double step_days = (double)r->rule.interval / (double)in_day;
    double times = (double)r->outer.count, met = MAX(times / (double)common, 1.0);
    double repeat = (double)repeat_days, density = MAX(of_year / 366, 1e-6);
    double a_day = MIN(times, 1 / step_days + 1);
    double by_days = 70 * a_day * MIN(days * density, repeat / met);
    double by_times = 40 * times + 120 * met * MIN(days / repeat, 1 / density);
    double by_blocks = 120 * days / step_days;
    r->repeat_days = repeat_days;
    r->inverse = grid_inverse(in_day, r->rule.interval, repeat_days);
    r->leap = by_times < by_days ? LEAP_TIMES : LEAP_DAYS;
    r->leap = by_blocks < MIN(by_days, by_times) ? LEAP_BLOCKS : r->leap;
}

/* ---- Days ---- */

static bool has_day(const struct recur *r, int64_t from_wall_s, int64_t end_wall_s)
{
    int64_t end = wall_div(end_wall_s - 1, WALL_DAY_S) + 1;
    return days_next(r, wall_div(from_wall_s, WALL_DAY_S), end) < end;
}

/* Behind a stretch: where the next day that the rule has may begin. */
static int64_t resume_by_days(const struct recur *r, int64_t at_s)
{
    int64_t behind_s = MIN(at_s, WALL_MAX_S) + zone_offset_min(r->zone);
    int64_t day = days_next(r, wall_div(behind_s, WALL_DAY_S), DAY_END);
    return day < DAY_END && at_s < WALL_MAX_S
               ? MAX(at_s, day * WALL_DAY_S - zone_offset_max(r->zone))
               : NEVER;
}

/* ---- Offsets ---- */

static const struct offset *offset_find(struct leap *leap, int32_t offset_s)
{
    for (size_t i = 0; i < leap->count; i++) {
        if (leap->offsets[i].s == offset_s) {
            return &leap->offsets[i];
        }
    }
    if (leap->count == OFFSETS_MAX) {
        leap->count = 0; /* of those that are asked for one by one, the last ones are enough */
    }
    leap->offsets[leap->count] = (struct offset){offset_s, elapsed_possible(leap->r, offset_s)};
    return &leap->offsets[leap->count++];
}

/* Is that offset ever in use on a day that the rule has? Where calendar and zone begin again, so
 * does the answer. */
static bool offset_has_day(const struct leap *leap, int64_t at_s, int32_t offset_s)
{
    const struct recur *r = leap->r;
    int64_t all_s = MIN(MAX(at_s, leap->regular_s) + CYCLE_S, leap->end_s);
    while (at_s <= all_s) {
        struct zone_span span;
        zone_span_at(r->zone, at_s, &span);
        int64_t wall_s = at_s + offset_s - r->unit_s; /* a block may have begun before */
        if (span.offset_s == offset_s && has_day(r, wall_s, MIN(span.to_s, all_s) + offset_s + 1)) {
            return true;
        }
        at_s = resume_by_days(r, span.to_s);
    }
    return false;
}

/* All that there are from `at_s` on: when the zone is regular, a year has them all. */
static bool offsets_collect(struct leap *leap, int64_t at_s)
{
    struct zone_span span;
    int64_t from_s = at_s;
    int64_t all_s = MIN(MAX(at_s, leap->regular_s) + 366 * WALL_DAY_S, leap->end_s);
    while (at_s <= all_s && leap->count < OFFSETS_MAX) {
        zone_span_at(leap->r->zone, at_s, &span);
        offset_find(leap, span.offset_s);
        at_s = span.to_s;
    }
    for (size_t i = 0; i < leap->count; i++) {
        struct offset *offset = &leap->offsets[i];
        offset->possible = offset->possible && offset_has_day(leap, from_s, offset->s);
    }
    return at_s > all_s;
}

/* ---- By blocks ---- */

/* Under another offset the blocks of an expanded rule begin up to a unit earlier or later. */
static void next_by_blocks(const struct leap *leap, int64_t at_s, struct window *out)
{
    const struct recur *r = leap->r;
    int64_t slack_s = 2 * r->unit_s, from_s = at_s - slack_s + 1;
    int64_t block_s = from_s + wall_mod(r->start_s - from_s, r->unit_s * r->rule.interval);
    *out = (struct window){MAX(at_s, block_s - slack_s), block_s + slack_s};
}

/* ---- By times ---- */

/* Does any part of the block fall under that offset? */
static bool has_offset(const struct recur *r, int64_t block_s, int32_t offset_s)
{
    struct zone_span span;
    zone_span_at(r->zone, block_s, &span);
    if (span.offset_s == offset_s) {
        return true;
    }
    return span.to_s < block_s + r->unit_s && span.after_s == offset_s;
}

/* The first block at `tod` in [from_s, end_s) on a day that the rule has, or NEVER. */
static int64_t block_at(const struct grid *g, int64_t tod, int32_t offset_s, int64_t from_s,
                        int64_t end_s)
{
    int64_t any = grid_day_of(g, tod), shift_s = tod - offset_s;
    if (any == NEVER) {
        return NEVER;
    }
    int64_t first = -wall_div(shift_s - from_s, WALL_DAY_S);
    int64_t day = first + wall_mod(any - first, g->r->repeat_days);
    for (; day * WALL_DAY_S + shift_s < end_s; day += g->r->repeat_days) {
        if (day >= DAY_FIRST && day < DAY_END && days_has(g->r, day) &&
            has_offset(g->r, day * WALL_DAY_S + shift_s, offset_s)) {
            return day * WALL_DAY_S + shift_s;
        }
    }
    return NEVER;
}

/* The first block that begins in [from_s, end_s), or NEVER. */
static int64_t first_block(const struct leap *leap, int64_t from_s, int64_t end_s)
{
    const struct recur *r = leap->r;
    int64_t best_s = NEVER;
    for (size_t i = 0; i < leap->count; i++) {
        struct grid g;
        grid_make(r, leap->offsets[i].s, &g);
        for (int64_t n = 0; n < r->outer.count && leap->offsets[i].possible; n++) {
            int64_t found_s = block_at(&g, times_nth(&r->outer, n), leap->offsets[i].s, from_s,
                                       MIN(best_s, end_s));
            best_s = MIN(best_s, found_s);
        }
    }
    return best_s;
}

/* Near ones first: one time of the day may be met next year, and another only in a thousand. */
static bool next_by_times(const struct leap *leap, int64_t at_s, struct window *out)
{
    const struct recur *r = leap->r;
    int64_t from_s = at_s - r->unit_s + 1, width_s = NEAR_ROUNDS * r->repeat_days * WALL_DAY_S;
    int64_t best_s = NEVER;
    while (best_s == NEVER && from_s <= leap->end_s) {
        int64_t end_s = width_s < leap->end_s - from_s ? from_s + width_s : leap->end_s + 1;
        best_s = first_block(leap, from_s, end_s);
        from_s = end_s;
        width_s = MIN(width_s, ZONE_FOREVER_S / NEAR_ROUNDS) * NEAR_ROUNDS;
    }
    *out = (struct window){MAX(at_s, best_s), best_s == NEVER ? NEVER : best_s + r->unit_s};
    return best_s != NEVER;
}

/* ---- By days ---- */

/* Whole stretches are looked at. When no day of the rule has had an offset under which blocks can
 * begin at its times for as long as calendar and zone take to begin again, none ever will. */
static bool next_by_days(const struct leap *leap, int64_t at_s, struct window *out)
{
    int64_t from_s = resume_by_days(leap->r, at_s);
    *out = (struct window){from_s, NEVER};
    return from_s != NEVER && from_s - MAX(leap->idle_s, leap->regular_s) <= CYCLE_S;
}

/* ---- All ---- */

static bool next_window(const struct leap *leap, int64_t at_s, struct window *out)
{
    switch (leap->r->leap) {
    case LEAP_TIMES:
        return next_by_times(leap, at_s, out);
    case LEAP_BLOCKS:
        next_by_blocks(leap, at_s, out);
        return true;
    default:
        return next_by_days(leap, at_s, out);
    }
}

int64_t leap_next(const struct recur *r, int64_t at_s, int64_t end_s)
{
    struct leap leap = {
        .r = r, .end_s = end_s, .idle_s = at_s, .regular_s = zone_regular_from(r->zone)};
    struct window window;
    if (r->leap == LEAP_TIMES && !offsets_collect(&leap, at_s)) {
        return NEVER;
    }
    while (at_s <= end_s && next_window(&leap, at_s, &window) && window.from_s <= end_s) {
        struct zone_span span;
        zone_span_at(r->zone, window.from_s, &span);
        int32_t offset_s = span.offset_s;
        int64_t to_s = MIN(MIN(window.end_s, span.to_s), WALL_MAX_S + 1);
        if (offset_find(&leap, offset_s)->possible &&
            has_day(r, window.from_s + offset_s, to_s + offset_s)) {
            int64_t wall_s = elapsed_next(r, offset_s, window.from_s + offset_s, to_s + offset_s);
            if (wall_s != NEVER) {
                return wall_s - offset_s <= end_s ? wall_s - offset_s : NEVER;
            }
            leap.idle_s = window.from_s;
        }
        at_s = to_s;
    }
    return NEVER;
}
