/* time/recur_elapsed.c: occurrences of HOURLY, MINUTELY and SECONDLY rules: on the wall while one
 * UTC offset holds, and over all offsets of a zone.
 *
 * Blocks of an hour, minute or second count when they lie a multiple of INTERVAL after the start in
 * elapsed time. A block holds one instant, as far into it as the start was; or, when the rule has
 * BYMINUTE or BYSECOND for it (`expanded`), those of `inner`.
 *
 * An offset that changes by part of a block (Lord Howe's half hour) moves single instants with
 * elapsed time, and leaves the minutes of an expanded block where the wall clock has them.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "time/recur_data.h"

#define OFFSETS_MAX 16 /* different ones of a zone from some moment on */
#define CYCLE_S     (CYCLE_DAYS * WALL_DAY_S)
#define NEAR_ROUNDS                                                                                \
    8 /* a time's days that are looked at first; and so many times more each time                  \
       */

/* An elapsed rule as it looks on the wall under one UTC offset. */
struct grid {
    const struct recur *r;
    int64_t anchor;     /* number of the start's block */
    struct times inner; /* what a block holds */
};

static void grid_make(const struct recur *r, int32_t offset_s, struct grid *out)
{
    int64_t start = r->start_s + offset_s, into = wall_mod(start, r->unit_s);
    out->r = r;
    if (r->expanded) {
        /* The beginning of the start's block on its own wall, seen under this offset. */
        start = r->start_s - wall_mod(r->start_wall_s, r->unit_s) + offset_s;
        out->inner = r->inner;
    } else {
        times_make(&out->inner, 1, BIT(into / 60), BIT(into % 60));
    }
    out->anchor = wall_div(start, r->unit_s);
}

/* How far it is from this block to the next that counts; 0 when it does itself. */
static int64_t blocks_to_go(const struct grid *g, int64_t block)
{
    return wall_mod(g->anchor - block, g->r->rule.interval);
}

/* The first block that counts and begins on that day at or after `tod`, at a time wanted; its time
 * of the day, or NEVER. Leaps between times that are wanted and blocks that count. */
static int64_t block_of_day(const struct grid *g, int64_t day, int64_t tod)
{
    const struct recur *r = g->r;
    while (tod < WALL_DAY_S) {
        int64_t rank = times_rank(&r->outer, tod);
        if (rank == r->outer.count) {
            return NEVER;
        }
        tod = times_nth(&r->outer, rank);
        int64_t to_go = blocks_to_go(g, (day * WALL_DAY_S + tod) / r->unit_s);
        if (to_go == 0) {
            return tod;
        }
        tod = to_go < WALL_DAY_S ? tod + to_go * r->unit_s : WALL_DAY_S;
    }
    return NEVER;
}

/* The first wall time at or after this one where a block that counts begins, wanted or not. */
static int64_t grid_up(const struct grid *g, int64_t wall_s)
{
    int64_t block = -wall_div(-wall_s, g->r->unit_s);
    return (block + blocks_to_go(g, block)) * g->r->unit_s;
}

/* The first block at or after the one that holds `wall_s`, before `end`; or NEVER. */
static int64_t next_block(const struct grid *g, int64_t wall_s, int64_t end)
{
    int64_t last_day = wall_div(end - 1, WALL_DAY_S);
    int64_t at = wall_s - wall_mod(wall_s, g->r->unit_s);
    while (at < end) {
        int64_t today = wall_div(at, WALL_DAY_S);
        int64_t day = days_next(g->r, today, last_day + 1);
        if (day > last_day) {
            return NEVER;
        }
        int64_t tod = block_of_day(g, day, day == today ? wall_mod(at, WALL_DAY_S) : 0);
        if (tod != NEVER) {
            return day * WALL_DAY_S + tod;
        }
        at = grid_up(g, (day + 1) * WALL_DAY_S);
    }
    return NEVER;
}

static int64_t elapsed_next(const struct recur *r, int32_t offset_s, int64_t wall_s, int64_t end)
{
    struct grid g;
    grid_make(r, offset_s, &g);
    wall_s = MAX(wall_s, r->start_s + offset_s);
    end = MIN(MIN(end, WALL_MAX_S + 1), wall_s + r->horizon_days * WALL_DAY_S);
    int64_t block = next_block(&g, wall_s, end);
    while (block < end) {
        int64_t rank = wall_s <= block               ? 0
                       : wall_s >= block + r->unit_s ? g.inner.count
                                                     : times_rank(&g.inner, wall_s - block);
        int64_t place = places_next(&r->rule, g.inner.count, rank);
        if (place != NEVER) {
            int64_t found = block + times_nth(&g.inner, place);
            return found < end ? found : NEVER;
        }
        if (rank == 0) {
            return NEVER; /* all blocks are alike, and BYSETPOS chooses nothing in them */
        }
        block = next_block(&g, block + r->unit_s, end);
    }
    return NEVER;
}

/* How many blocks that count begin on that day in [from, end) of the day. */
static int64_t blocks_of_day(const struct grid *g, int64_t day, int64_t from, int64_t end,
                             struct effort *effort)
{
    int64_t count = 0;
    if (g->r->rule.interval == 1) {
        return times_rank(&g->r->outer, end) - times_rank(&g->r->outer, from);
    }
    for (int64_t tod = from; (tod = block_of_day(g, day, tod)) < end; tod += g->r->unit_s) {
        count++;
        effort->steps++;
    }
    return count;
}

/* How many blocks that count begin in [from, end). Where INTERVAL divides the day, one day is like
 * the other. */
static int64_t count_blocks(const struct grid *g, int64_t from, int64_t end, struct effort *effort)
{
    const struct recur *r = g->r;
    int64_t first = wall_div(from, WALL_DAY_S), last = wall_div(end, WALL_DAY_S), count = 0;
    bool alike = WALL_DAY_S % ((int64_t)r->rule.interval * r->unit_s) == 0;
    int64_t each = alike ? blocks_of_day(g, 0, 0, WALL_DAY_S, effort) : 0;
    for (int64_t day = first; day <= last && effort->steps <= RECUR_COUNT_STEPS; effort->steps++) {
        day = days_next(r, day, last + 1);
        if (alike && day > first && day < last) {
            count += days_count(r, day, last) * each;
            day = last;
        } else if (day <= last) {
            count += blocks_of_day(g, day, day == first ? wall_mod(from, WALL_DAY_S) : 0,
                                   day == last ? wall_mod(end, WALL_DAY_S) : WALL_DAY_S, effort);
            day = alike ? day + 1 : wall_div(grid_up(g, (day + 1) * WALL_DAY_S), WALL_DAY_S);
        }
    }
    return count;
}

/* How many chosen elements of the block that holds `wall_s` come before it. */
static int64_t part_of_block(const struct grid *g, int64_t wall_s)
{
    int64_t into = wall_mod(wall_s, g->r->unit_s), block = wall_s - into;
    int64_t day = wall_div(block, WALL_DAY_S), tod = wall_mod(block, WALL_DAY_S);
    if (into == 0 || !days_has(g->r, day) || block_of_day(g, day, tod) != tod) {
        return 0;
    }
    return places_count(&g->r->rule, g->inner.count, times_rank(&g->inner, into));
}

int64_t elapsed_count(const struct recur *r, int32_t offset_s, int64_t from, int64_t end,
                      struct effort *effort)
{
    struct grid g;
    grid_make(r, offset_s, &g);
    from = MAX(from, r->start_s + offset_s);
    end = MIN(end, WALL_MAX_S + 1);
    if (from >= end) {
        return 0;
    }
    int64_t first = from - wall_mod(from, r->unit_s), last = end - wall_mod(end, r->unit_s);
    int64_t each = places_count(&r->rule, g.inner.count, g.inner.count);
    return count_blocks(&g, first, last, effort) * each + part_of_block(&g, end) -
           part_of_block(&g, from);
}

/* ---- On which days blocks begin at a given time ----
 *
 * With I for INTERVAL and U for the blocks in a day, block b of day d counts when d·U + b and the
 * start's block leave the same rest when divided by I. For one b that is one day in I/gcd(I, U), or
 * none: found by a congruence instead of by looking at every day. It tells rules that never match
 * from those that do, and finds the next day where that is years away (every 86399 seconds, at
 * five sharp: each 236 years). */

/* The number that, times `a`, leaves 1 when divided by `by`; they have no divisor in common. */
static int64_t inverse(int64_t a, int64_t by)
{
    int64_t rest = by, next_rest = a % by, factor = 0, next_factor = 1;
    while (next_rest != 0) {
        int64_t times = rest / next_rest, swap = next_rest;
        next_rest = rest - times * next_rest;
        rest = swap;
        swap = next_factor;
        next_factor = factor - times * next_factor;
        factor = swap;
    }
    return wall_mod(factor, by);
}

static int64_t grid_inverse(int64_t in_day, int64_t interval, int64_t repeat_days)
{
    return inverse(in_day / gcd(in_day, interval), repeat_days);
}

/* The days that have a block that counts at `tod`: this one and each repeat_days; or NEVER. */
static int64_t grid_day_of(const struct grid *g, int64_t tod)
{
    const struct recur *r = g->r;
    int64_t interval = r->rule.interval, common = interval / r->repeat_days;
    int64_t rest = wall_mod(g->anchor - tod / r->unit_s, interval);
    return rest % common == 0 ? rest / common * r->inverse % r->repeat_days : NEVER;
}

/* Weeks divide the days between two such days: then all of them are on one weekday. */
static bool weekday_possible(const struct grid *g, int64_t tod)
{
    const struct rrule *rule = &g->r->rule;
    return g->r->repeat_days % 7 != 0 || !(rule->has & RRULE_BYDAY) ||
           rule->weekdays >> wall_weekday(grid_day_of(g, tod)) & 1;
}

/* Times are built from seconds up, and dropped as soon as blocks that count cannot begin there. */
bool elapsed_possible(const struct recur *r, int32_t offset_s)
{
    struct grid g;
    grid_make(r, offset_s, &g);
    int64_t common = gcd((int64_t)r->rule.interval * r->unit_s, WALL_DAY_S);
    int64_t rest = wall_mod(g.anchor * r->unit_s, common);
    int64_t of_minute = gcd(common, 60), of_hour = gcd(common, 3600);
    for (uint64_t s = r->outer.seconds; s != 0; s &= s - 1) {
        int64_t second = bits_first(s);
        for (uint64_t m = r->outer.minutes; m != 0 && (second - rest) % of_minute == 0;
             m &= m - 1) {
            int64_t minute = bits_first(m) * 60 + second;
            for (uint64_t h = r->outer.hours; h != 0 && (minute - rest) % of_hour == 0;
                 h &= h - 1) {
                int64_t tod = bits_first(h) * 3600 + minute;
                if ((tod - rest) % common == 0 && weekday_possible(&g, tod)) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* ---- Over all offsets of the zone, without looking where there is none ----
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
 * begin again after horizon_days. */

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
