/* time/recur_sparse.c: on which days the blocks of an elapsed rule begin at a given time.
 *
 * With I for INTERVAL and U for the blocks in a day, block b of day d counts when d·U + b and the
 * start's block leave the same rest when divided by I. For one b that is one day in I/gcd(I, U), or
 * none: found by a congruence instead of by looking at every day. It tells rules that never match
 * from those that do, and recur_leap.c finds by it the next day where that is years away (every
 * 86399 seconds, at five sharp: each 236 years).
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "time/recur_grid.h"

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

int64_t grid_inverse(int64_t in_day, int64_t interval, int64_t repeat_days)
{
    return inverse(in_day / gcd(in_day, interval), repeat_days);
}

int64_t grid_day_of(const struct grid *g, int64_t tod)
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
