/* time/recur_rule.c: the instants of a rule alone in its zone: the next, and how many there are.
 *
 * Time is cut into stretches of one UTC offset each. Within a stretch the occurrences are those
 * whose wall times lie in it; a calendar rule also has those of the gap before it, taken with the
 * offset before, and in a fold leaves out the wall times that the other pass has (`fold`). So
 * nothing here relies on wall times and instants having the same order.
 *
 * Counting goes by days and periods, not by occurrences. Only the hour behind a gap, where a
 * shifted occurrence may meet another one, is walked.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "time/recur_data.h"

#define WALK_MAX 64 /* so few are walked, not counted */

/* The part of a stretch's wall times that a calendar rule may use. */
static void span_walls(const struct recur *r, const struct zone_span *span, int64_t *from,
                       int64_t *end)
{
    *from = span->from_s + span->offset_s;
    *end = span->to_s + span->offset_s;
    if (r->fold == RECUR_FIRST && span->before_s > span->offset_s) {
        *from = span->from_s + span->before_s;
    }
    if (r->fold == RECUR_LAST && span->after_s < span->offset_s) {
        *end = span->to_s + span->after_s;
    }
}

/* Where the instants end that a gap before this stretch may have shifted into it; the next. */
static int64_t span_shifted_end(const struct recur *r, const struct zone_span *span)
{
    return r->elapsed || r->gap == RECUR_SKIP ? span->from_s
                                              : span->from_s + span->offset_s - span->before_s;
}

static int64_t span_shifted_next(const struct recur *r, const struct zone_span *span, int64_t at_s)
{
    if (at_s >= span_shifted_end(r, span)) {
        return NEVER;
    }
    int64_t wall_s = calendar_next(r, at_s + span->before_s);
    return wall_s < span->from_s + span->offset_s ? wall_s - span->before_s : NEVER;
}

/* The first instant in the stretch at or after `at_s`. When there is none, *resume_s is before the
 * first one behind it, or NEVER. */
static int64_t calendar_in(const struct recur *r, const struct zone_span *span, int64_t at_s,
                           int64_t *resume_s)
{
    int64_t from, end;
    span_walls(r, span, &from, &end);
    int64_t wall_s = calendar_next(r, MAX(at_s + span->offset_s, from));
    int64_t shifted_s = span_shifted_next(r, span, at_s);
    *resume_s = wall_s == NEVER ? NEVER : wall_s - zone_offset_max(r->zone);
    if (r->fold != RECUR_FIRST && span->after_s < span->offset_s) {
        *resume_s = span->to_s; /* the clock is turned back to wall times before `at_s` */
    }
    return MIN(shifted_s, wall_s < end ? wall_s - span->offset_s : NEVER);
}

int64_t rule_next(const struct recur *r, int64_t after_s)
{
    int64_t at_s = MAX(after_s + 1, r->start_s), resume_s = 0;
    if (r->never || !r->has_rule) {
        return NEVER;
    }
    if (r->steady) { /* every 15 minutes is every 15 minutes, whatever the clocks show */
        int64_t found_s = at_s + wall_mod(r->start_s - at_s, r->unit_s * r->rule.interval);
        return found_s <= r->end_s ? found_s : NEVER;
    }
    /* Once the zone repeats itself too, what did not happen in a cycle never will. */
    int64_t end_s = MAX(at_s, zone_regular_from(r->zone)) + r->horizon_days * WALL_DAY_S;
    end_s = MIN(end_s, r->end_s);
    if (r->elapsed) {
        return leap_next(r, at_s, end_s);
    }
    while (resume_s != NEVER && at_s <= end_s) {
        struct zone_span span;
        zone_span_at(r->zone, at_s, &span);
        int64_t found_s = calendar_in(r, &span, at_s, &resume_s);
        if (found_s != NEVER) {
            return found_s <= r->end_s ? found_s : NEVER;
        }
        at_s = MAX(span.to_s, resume_s);
    }
    return NEVER;
}

/* ---- Counting ---- */

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
        int64_t at_s = rule_next(r, from_s - 1);
        for (; at_s < shifted_end_s; at_s = rule_next(r, at_s)) {
            count++;
            effort->steps++;
        }
        from_s = shifted_end_s;
    }
    return count + count_walls(r, span, from_s, end_s, effort);
}

int64_t rule_count(const struct recur *r, int64_t from_s, int64_t end_s, struct effort *effort)
{
    int64_t count = 0;
    from_s = MAX(from_s, r->start_s);
    end_s = MIN(end_s, r->end_s + 1);
    if (r->steady) {
        int64_t step_s = r->unit_s * r->rule.interval;
        return from_s < end_s ? wall_div(end_s - 1 - r->start_s, step_s) -
                                    wall_div(from_s - 1 - r->start_s, step_s)
                              : 0;
    }
    while (from_s < end_s && !r->never && r->has_rule) {
        struct zone_span span;
        zone_span_at(r->zone, from_s, &span);
        count += count_in(r, &span, from_s, MIN(end_s, span.to_s), effort);
        from_s = span.to_s;
    }
    return count;
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
    int64_t found_s = at_s - 1;
    while (left-- > 0 && found_s != NEVER) {
        found_s = rule_next(r, found_s);
    }
    *out_s = found_s == NEVER ? WALL_MAX_S : found_s;
    return true;
}
