/* time/recur_calendar.c: occurrences of DAILY, WEEKLY, MONTHLY and YEARLY rules on the wall.
 *
 * Periods are numbered from some beginning; a period counts when its number and that of the start
 * differ by a multiple of INTERVAL. Its elements are its matching days times `times`, in order, and
 * BYSETPOS chooses among them by place, so no list is ever made.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "time/recur_data.h"
#include "wire/time.h"

int64_t calendar_period(const struct recur *r, int64_t day)
{
    int64_t year;
    unsigned month, of_month;
    switch (r->period) {
    case RRULE_DAILY:
        return day;
    case RRULE_WEEKLY:
        return wall_div(day + 3 - (int64_t)r->rule.wkst, 7);
    default:
        time_date_of(day, &year, &month, &of_month);
        return r->period == RRULE_MONTHLY ? year * 12 + month - 1 : year;
    }
}

static int64_t period_start(const struct recur *r, int64_t period)
{
    switch (r->period) {
    case RRULE_DAILY:
        return period;
    case RRULE_WEEKLY:
        return period * 7 - 3 + (int64_t)r->rule.wkst;
    case RRULE_MONTHLY:
        return time_days_of(wall_div(period, 12), (unsigned)wall_mod(period, 12) + 1, 1);
    default:
        return time_days_of(period, 1, 1);
    }
}

/* How far it is from this period to the next that counts; 0 when it does itself. */
static int64_t periods_to_go(const struct recur *r, int64_t period)
{
    return wall_mod(r->anchor - period, r->rule.interval);
}

/* How many elements of the period that begins on day `from` are before a wall time. */
static int64_t rank_in(const struct recur *r, int64_t from, int64_t end, int64_t wall_s)
{
    int64_t day = wall_div(wall_s, WALL_DAY_S);
    if (day >= end) {
        return days_count(r, from, end) * r->times.count;
    }
    if (day < from) {
        return 0;
    }
    return days_count(r, from, day) * r->times.count +
           (days_has(r, day) ? times_rank(&r->times, wall_mod(wall_s, WALL_DAY_S)) : 0);
}

/* The first element of a period at or after a wall time, or NEVER, when BYSETPOS chooses. */
static int64_t pick_by_place(const struct recur *r, int64_t from, int64_t end, int64_t wall_s)
{
    int64_t total = days_count(r, from, end) * r->times.count;
    int64_t at = places_next(&r->rule, total, rank_in(r, from, end, wall_s));
    if (at == NEVER) {
        return NEVER;
    }
    return days_nth(r, from, at / r->times.count) * WALL_DAY_S +
           times_nth(&r->times, at % r->times.count);
}

/* The same without BYSETPOS. */
static int64_t pick(const struct recur *r, int64_t from, int64_t end, int64_t wall_s)
{
    int64_t today = wall_div(wall_s, WALL_DAY_S);
    int64_t day = days_next(r, MAX(from, today), end), rank = 0;
    if (day == today && day < end) {
        rank = times_rank(&r->times, wall_mod(wall_s, WALL_DAY_S));
        if (rank == r->times.count) {
            day = days_next(r, day + 1, end);
            rank = 0;
        }
    }
    return day < end ? day * WALL_DAY_S + times_nth(&r->times, rank) : NEVER;
}

/* Leaps between days that match and periods that count, until one is both. */
static int64_t search(const struct recur *r, int64_t wall_s)
{
    int64_t day = wall_div(wall_s, WALL_DAY_S);
    int64_t end = MIN(DAY_END, day + r->horizon_days);
    while ((day = days_next(r, day, end)) < end) {
        int64_t period = calendar_period(r, day), to_go = periods_to_go(r, period);
        if (to_go == 0) {
            int64_t from = period_start(r, period), to = period_start(r, period + 1);
            int64_t found = r->rule.has & RRULE_BYSETPOS ? pick_by_place(r, from, to, wall_s)
                                                         : pick(r, from, to, wall_s);
            if (found != NEVER) {
                return found;
            }
            to_go = r->rule.interval;
        }
        day = to_go < DAY_END ? period_start(r, period + to_go) : end;
    }
    return NEVER;
}

int64_t calendar_next(const struct recur *r, int64_t wall_s)
{
    wall_s = MAX(wall_s, r->start_wall_s);
    if (wall_s > WALL_MAX_S) {
        return NEVER;
    }
    int64_t found = r->plain ? pick(r, DAY_FIRST, DAY_END, wall_s) : search(r, wall_s);
    return found > WALL_MAX_S ? NEVER : found;
}

static int64_t count_in(const struct recur *r, int64_t period, int64_t from, int64_t end)
{
    int64_t first = period_start(r, period), after = period_start(r, period + 1);
    int64_t total = days_count(r, first, after) * r->times.count;
    if (from <= first * WALL_DAY_S && end >= after * WALL_DAY_S) {
        return places_count(&r->rule, total, total);
    }
    return places_count(&r->rule, total, rank_in(r, first, after, end)) -
           places_count(&r->rule, total, rank_in(r, first, after, from));
}

int64_t calendar_count(const struct recur *r, int64_t from, int64_t end, struct effort *effort)
{
    int64_t count = 0, last = wall_div(end - 1, WALL_DAY_S);
    from = MAX(from, r->start_wall_s);
    end = MIN(end, WALL_MAX_S + 1);
    if (from >= end) {
        return 0;
    }
    int64_t day = wall_div(from, WALL_DAY_S);
    if (r->plain) {
        return rank_in(r, day, DAY_END, end) - rank_in(r, day, DAY_END, from);
    }
    for (; day <= last && effort->steps <= RECUR_COUNT_STEPS; effort->steps++) {
        int64_t period = calendar_period(r, day), to_go = periods_to_go(r, period);
        if (to_go == 0) {
            count += count_in(r, period, from, end);
            to_go = r->rule.interval;
        }
        day = to_go < DAY_END ? period_start(r, period + to_go) : DAY_END;
    }
    return count;
}
