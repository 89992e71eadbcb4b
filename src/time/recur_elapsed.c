/* time/recur_elapsed.c: occurrences of HOURLY, MINUTELY and SECONDLY rules on the wall, while
 * one UTC offset holds.
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
#include "time/recur_grid.h"

void grid_make(const struct recur *r, int32_t offset_s, struct grid *out)
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

int64_t elapsed_next(const struct recur *r, int32_t offset_s, int64_t wall_s, int64_t end)
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
