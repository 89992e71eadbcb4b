/* time/recur_next.c: the next instant of a rule in its zone.
 *
 * Time is cut into stretches of one UTC offset each. Within a stretch the occurrences are those
 * whose wall times lie in it; a calendar rule also has those of the gap before it, taken with the
 * offset before, and in a fold leaves out the wall times that the other pass has (`fold`). So
 * nothing here relies on wall times and instants having the same order.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "time/recur_span.h"

void span_walls(const struct recur *r, const struct zone_span *span, int64_t *from, int64_t *end)
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

int64_t span_shifted_end(const struct recur *r, const struct zone_span *span)
{
    return r->elapsed || r->gap == RECUR_SKIP ? span->from_s
                                              : span->from_s + span->offset_s - span->before_s;
}

int64_t span_shifted_next(const struct recur *r, const struct zone_span *span, int64_t at_s)
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

/* Every 15 minutes is every 15 minutes, whatever the clocks show. */
static int64_t steady_next(const struct recur *r, int64_t at_s)
{
    int64_t step_s = r->unit_s * r->rule.interval;
    int64_t found_s = at_s + wall_mod(r->start_s - at_s, step_s);
    return found_s <= r->end_s ? found_s : NEVER;
}

int64_t rule_next(const struct recur *r, int64_t after_s)
{
    int64_t at_s = MAX(after_s + 1, r->start_s), resume_s = 0;
    if (r->never || !r->has_rule) {
        return NEVER;
    }
    if (r->steady) {
        return steady_next(r, at_s);
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
