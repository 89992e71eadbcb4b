/* time/recur_count.c: how many occurrences a rule has between two instants, and where COUNT
 * ends.
 *
 * Counting goes by days and periods, not by occurrences. Only the hour behind a gap, where a
 * shifted occurrence may meet another one, is walked.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "time/recur_span.h"

#define WALK_MAX 64 /* so few are walked, not counted */

static int64_t walk_count(const struct recur *r, int64_t from_s, int64_t end_s,
                          struct effort *effort)
{
    int64_t count = 0;
    for (int64_t at_s = rule_next(r, from_s - 1); at_s < end_s; at_s = rule_next(r, at_s)) {
        count++;
        effort->steps++;
    }
    return count;
}

static int64_t count_walls(const struct recur *r, const struct zone_span *span, int64_t from_s,
                           int64_t end_s, struct effort *effort)
{
    int64_t from, end;
    if (r->elapsed) {
        return elapsed_count(r, span->offset_s, from_s + span->offset_s, end_s + span->offset_s,
                             effort);
    }
    span_walls(r, span, &from, &end);
    return calendar_count(r, MAX(from, from_s + span->offset_s), MIN(end, end_s + span->offset_s),
                          effort);
}

/* Within one stretch. */
static int64_t count_in(const struct recur *r, const struct zone_span *span, int64_t from_s,
                        int64_t end_s, struct effort *effort)
{
    int64_t shifted_end_s = MIN(span_shifted_end(r, span), end_s), count = 0;
    if (span_shifted_next(r, span, from_s) < shifted_end_s) {
        count = walk_count(r, from_s, shifted_end_s, effort);
        from_s = shifted_end_s;
    }
    return count + count_walls(r, span, from_s, end_s, effort);
}

static int64_t steady_count(const struct recur *r, int64_t from_s, int64_t end_s)
{
    int64_t step_s = r->unit_s * r->rule.interval;
    return from_s < end_s ? wall_div(end_s - 1 - r->start_s, step_s) -
                                wall_div(from_s - 1 - r->start_s, step_s)
                          : 0;
}

int64_t rule_count(const struct recur *r, int64_t from_s, int64_t end_s, struct effort *effort)
{
    int64_t count = 0;
    from_s = MAX(from_s, r->start_s);
    end_s = MIN(end_s, r->end_s + 1);
    if (r->steady) {
        return steady_count(r, from_s, end_s);
    }
    while (from_s < end_s && !r->never && r->has_rule) {
        struct zone_span span;
        zone_span_at(r->zone, from_s, &span);
        count += count_in(r, &span, from_s, MIN(end_s, span.to_s), effort);
        from_s = span.to_s;
    }
    return count;
}

/* The instant of the `left`-th occurrence from `at_s` on. */
static int64_t walk_to(const struct recur *r, int64_t at_s, int64_t left)
{
    int64_t found_s = at_s - 1;
    while (left-- > 0 && found_s != NEVER) {
        found_s = rule_next(r, found_s);
    }
    return found_s == NEVER ? WALL_MAX_S : found_s;
}

/* Doubles a window until the last one lies in it, then halves it. */
bool rule_count_out(const struct recur *r, uint32_t count, int64_t *out_s)
{
    struct effort effort = {0};
    int64_t at_s = r->start_s, left = count, width_s = WALL_DAY_S;
    bool found = false;
    while (left > WALK_MAX && width_s > 1 && at_s <= WALL_MAX_S) {
        width_s = found ? width_s / 2 : width_s * 2;
        int64_t here = rule_count(r, at_s, at_s + width_s, &effort);
        if (effort.steps > RECUR_COUNT_STEPS) {
            return false;
        }
        if (here < left) {
            left -= here;
            at_s += width_s;
        } else {
            found = true;
        }
    }
    *out_s = walk_to(r, at_s, left);
    return true;
}
