/* time/recur.c: makes a recurrence, and answers what it is asked: its rule, EXDATEs and RDATEs
 * taken together.
 *
 * Occurrences fall on whole seconds, so a time in milliseconds is rounded down to ask.
 *
 * Thread: any. Keeps: a recurrence does not change once recur_new() returned it.
 *
 * SPDX-License-Identifier: MIT */
#include "time/recur.h"

#include <stdlib.h>

#include "base/mem.h"
#include "time/recur_data.h"
#include "wire/time.h"

#define SURVEY_S (500 * 366 * WALL_DAY_S) /* every offset of a zone is in use within */

static int64_t resolve(const struct recur *r, struct when when)
{
    struct zone_answer answer;
    if (when.is_utc) {
        return when.s;
    }
    zone_resolve(r->zone, when.s, &answer);
    return answer.kind == ZONE_FOLD && r->fold == RECUR_LAST ? answer.second_s : answer.first_s;
}

static int64_t until_instant(const struct recur *r)
{
    struct zone_answer answer;
    if (r->rule.until == RRULE_ENDLESS) {
        return WALL_MAX_S;
    }
    if (r->rule.until == RRULE_UNTIL_UTC) {
        return MIN(r->rule.until_s, WALL_MAX_S);
    }
    zone_resolve(r->zone, r->rule.until_s, &answer);
    return MIN(answer.kind == ZONE_FOLD ? answer.second_s : answer.first_s, WALL_MAX_S);
}

/* Is there, under any offset that the zone has from the start on, a block that is wanted? */
static bool any_possible(const struct recur *r)
{
    struct zone_span span;
    int64_t at_s = r->start_s, end_s = MIN(WALL_MAX_S, at_s + SURVEY_S);
    do {
        zone_span_at(r->zone, at_s, &span);
        if (elapsed_possible(r, span.offset_s)) {
            return true;
        }
        at_s = span.to_s;
    } while (at_s <= end_s);
    return false;
}

/* Does BYSETPOS choose anything even from the fullest set? */
static bool any_place(const struct rrule *rule, int64_t most)
{
    return places_next(rule, most, 0) != NEVER;
}

static void make_elapsed(struct recur *r)
{
    static const int64_t units[] = {1, 60, 3600};
    const struct rrule *rule = &r->rule;
    r->unit_s = units[rule->freq];
    r->expanded = (rule->freq == RRULE_HOURLY && rule->has & (RRULE_BYMINUTE | RRULE_BYSECOND)) ||
                  (rule->freq == RRULE_MINUTELY && rule->has & RRULE_BYSECOND);
    /* Blocks fall on the same times of the day again after this many days. */
    int64_t days = rule->interval / gcd(rule->interval, WALL_DAY_S / r->unit_s);
    r->horizon_days = MIN(CYCLE_DAYS * (days / gcd(days, CYCLE_DAYS)), DAY_END - DAY_FIRST) + 1;
    r->steady = rule->has == 0;
    leap_prepare(r, days);
    r->never = r->never || !any_place(rule, r->inner.count) || !any_possible(r);
}

/* Numbers of periods in a cycle of the calendar, by frequency. */
static void make_calendar(struct recur *r)
{
    static const int64_t in_cycle[] = {[RRULE_DAILY] = CYCLE_DAYS,
                                       [RRULE_WEEKLY] = CYCLE_DAYS / 7,
                                       [RRULE_MONTHLY] = 4800,
                                       [RRULE_YEARLY] = 400};
    const struct rrule *rule = &r->rule;
    int64_t start_day = wall_div(r->start_wall_s, WALL_DAY_S);
    int64_t most_days[] = {[RRULE_DAILY] = 1,
                           [RRULE_WEEKLY] = __builtin_popcount(rule->weekdays),
                           [RRULE_MONTHLY] = 31,
                           [RRULE_YEARLY] = 366};
    int64_t cycles = rule->interval / gcd(rule->interval, in_cycle[rule->freq]);
    r->period = rule->freq;
    r->plain = rule->interval == 1 && !(rule->has & RRULE_BYSETPOS);
    r->horizon_days = MIN(CYCLE_DAYS * cycles, DAY_END - DAY_FIRST) + 400;
    r->anchor = calendar_period(r, start_day);
    /* What can be seen at once need not be searched for 400 years. */
    r->never = r->never || !any_place(rule, most_days[rule->freq] * r->times.count) ||
               (rule->freq == RRULE_DAILY && rule->interval % 7 == 0 && rule->has & RRULE_BYDAY &&
                !(rule->weekdays >> wall_weekday(start_day) & 1));
}

static void make_times(struct recur *r)
{
    const struct rrule *rule = &r->rule;
    times_make(&r->times, rule->hours, rule->minutes, rule->seconds);
    times_make(&r->outer, rule->hours, rule->freq < RRULE_HOURLY ? rule->minutes : 1,
               rule->freq < RRULE_MINUTELY ? rule->seconds : 1);
    times_make(&r->inner, 1, rule->freq < RRULE_HOURLY ? 1 : rule->minutes,
               rule->freq < RRULE_MINUTELY ? 1 : rule->seconds);
}

static bool make_rule(struct recur *r, struct err *err)
{
    r->elapsed = r->rule.freq < RRULE_DAILY;
    rrule_fill(&r->rule, r->start_wall_s);
    make_times(r);
    days_make(r);
    r->never = days_none(r);
    (r->elapsed ? make_elapsed : make_calendar)(r);
    r->end_s = until_instant(r);
    if (r->rule.count == 0 || rule_count_out(r, r->rule.count, &r->end_s)) {
        return true;
    }
    return err_set(err, ERR_INVALID, "COUNT=%u takes too long to count for this rule; use UNTIL",
                   r->rule.count);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The instants of a list of dates, rising, each once. `gap` says what becomes of one in a gap. */
static size_t make_dates(const struct recur *r, const struct when *dates, size_t count,
                         enum recur_gap gap, int64_t **out)
{
    size_t n = 0, kept = 0;
    int64_t *s = mem_array(NULL, 2 * count + 1, sizeof *s);
    for (size_t i = 0; i < count; i++) {
        struct zone_answer answer = {.kind = ZONE_UNIQUE};
        if (!dates[i].is_utc) {
            zone_resolve(r->zone, dates[i].s, &answer);
        }
        if (answer.kind != ZONE_GAP || gap == RECUR_SHIFT) {
            s[n++] = resolve(r, dates[i]);
        }
        if (answer.kind == ZONE_FOLD && r->fold == RECUR_BOTH) {
            s[n++] = answer.second_s;
        }
    }
    qsort(s, n, sizeof *s, compare);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || s[kept - 1] != s[i]) {
            s[kept++] = s[i];
        }
    }
    *out = s;
    return kept;
}

/* Without a rule the start is an occurrence, and RDATEs may join it. */
static size_t make_once(const struct recur *r, const struct recur_order *order, int64_t **out)
{
    SCOPED(mem_free_at)
    struct when *dates = mem_array(NULL, order->rdates_count + 1, sizeof *dates);
    dates[0] = order->start;
    for (size_t i = 0; i < order->rdates_count; i++) {
        dates[i + 1] = order->rdates[i];
    }
    return make_dates(r, dates, order->rdates_count + 1, r->gap, out);
}

bool recur_new(const struct recur_order *order, struct recur **out, struct err *err)
{
    if (order->exdates_count > RECUR_DATES_MAX || order->rdates_count > RECUR_DATES_MAX) {
        return err_set(err, ERR_INVALID, "has more than %d dates", RECUR_DATES_MAX);
    }
    SCOPED(recur_free_at) struct recur *r = mem_new(struct recur);
    r->zone = zone_keep(order->zone == NULL ? zone_utc() : order->zone);
    r->gap = order->gap;
    r->fold = order->fold;
    r->start_s = resolve(r, order->start);
    r->start_wall_s = order->start.is_utc ? zone_wall(r->zone, r->start_s) : order->start.s;
    r->has_rule = order->rule != NULL;
    /* An EXDATE in a gap leaves out what was shifted from there. */
    r->excluded_count =
        make_dates(r, order->exdates, order->exdates_count, RECUR_SHIFT, &r->excluded);
    r->extra_count = r->has_rule
                         ? make_dates(r, order->rdates, order->rdates_count, r->gap, &r->extra)
                         : make_once(r, order, &r->extra);
    if (r->has_rule) {
        r->rule = *order->rule;
        if (!make_rule(r, err)) {
            return false;
        }
    }
    *out = r;
    r = NULL;
    return true;
}

void recur_free(struct recur *recur)
{
    if (recur != NULL) {
        zone_release(recur->zone);
        mem_free(recur->excluded);
        mem_free(recur->extra);
        mem_free(recur);
    }
}

void recur_free_at(struct recur **recur)
{
    recur_free(*recur);
}

/* ---- Asking ---- */

/* The index of the first that is later; `count` when none is. */
static size_t find_later(const int64_t *s, size_t count, int64_t after_s)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (s[middle] > after_s) {
            count = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static bool is_excluded(const struct recur *r, int64_t at_s)
{
    size_t later = find_later(r->excluded, r->excluded_count, at_s);
    return later > 0 && r->excluded[later - 1] == at_s;
}

static int64_t next_s(const struct recur *r, int64_t after_s)
{
    do {
        size_t later = find_later(r->extra, r->extra_count, after_s);
        int64_t extra_s = later < r->extra_count ? r->extra[later] : NEVER;
        after_s = MIN(rule_next(r, after_s), extra_s);
    } while (after_s != NEVER && is_excluded(r, after_s));
    return after_s;
}

/* Whole seconds, and no farther out than there is anything to find. */
static int64_t seconds_of(int64_t ms)
{
    return wall_div(MAX(TIME_MIN_MS - DAY_MS * 2, MIN(ms, TIME_MAX_MS)), 1000);
}

bool recur_next(const struct recur *recur, int64_t after_ms, int64_t *out_ms)
{
    int64_t found_s = next_s(recur, seconds_of(after_ms));
    if (found_s == NEVER) {
        return false;
    }
    *out_ms = found_s * 1000;
    return true;
}

bool recur_first(const struct recur *recur, int64_t *out_ms)
{
    return recur_next(recur, INT64_MIN, out_ms);
}

size_t recur_list(const struct recur *recur, int64_t after_ms, size_t n, int64_t *out_ms)
{
    size_t count = 0;
    while (count < n && recur_next(recur, after_ms, &out_ms[count])) {
        after_ms = out_ms[count++];
    }
    return count;
}

/* Halves the stretch in which the last one lies; `low_s` is always an occurrence. */
bool recur_last(const struct recur *recur, int64_t after_ms, int64_t upto_ms, int64_t *out_ms)
{
    int64_t high_s = seconds_of(upto_ms), low_s = next_s(recur, seconds_of(after_ms));
    if (low_s > high_s) {
        return false;
    }
    while (low_s < high_s) {
        int64_t middle_s = low_s + (high_s - low_s) / 2;
        int64_t found_s = next_s(recur, middle_s);
        if (found_s <= high_s) {
            low_s = found_s;
        } else {
            high_s = middle_s;
        }
    }
    *out_ms = low_s * 1000;
    return true;
}

static bool is_of_rule(const struct recur *r, int64_t at_s)
{
    return rule_next(r, at_s - 1) == at_s;
}

uint64_t recur_count(const struct recur *recur, int64_t after_ms, int64_t upto_ms)
{
    const struct recur *r = recur;
    struct effort effort = {INT64_MIN}; /* no limit */
    int64_t after_s = seconds_of(after_ms), upto_s = seconds_of(upto_ms);
    int64_t count = rule_count(r, after_s + 1, upto_s + 1, &effort);
    size_t i = find_later(r->excluded, r->excluded_count, after_s);
    for (; i < r->excluded_count && r->excluded[i] <= upto_s; i++) {
        count -= is_of_rule(r, r->excluded[i]);
    }
    i = find_later(r->extra, r->extra_count, after_s);
    for (; i < r->extra_count && r->extra[i] <= upto_s; i++) {
        count += !is_of_rule(r, r->extra[i]) && !is_excluded(r, r->extra[i]);
    }
    return (uint64_t)count;
}
