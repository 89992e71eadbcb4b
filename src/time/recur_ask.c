/* time/recur_ask.c: what a recurrence answers: its rule, EXDATEs and RDATEs taken together.
 *
 * Occurrences fall on whole seconds, so a time in milliseconds is rounded down to ask.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "time/recur.h"
#include "time/recur_span.h"
#include "wire/time.h"

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

static bool is_in(const int64_t *s, size_t count, int64_t at_s)
{
    size_t later = find_later(s, count, at_s);
    return later > 0 && s[later - 1] == at_s;
}

static bool is_excluded(const struct recur *r, int64_t at_s)
{
    return r->excluded_count > 0 && is_in(r->excluded, r->excluded_count, at_s);
}

static int64_t extra_next(const struct recur *r, int64_t after_s)
{
    size_t later = find_later(r->extra, r->extra_count, after_s);
    return later < r->extra_count ? r->extra[later] : NEVER;
}

static int64_t next_s(const struct recur *r, int64_t after_s)
{
    do {
        int64_t rule_s = rule_next(r, after_s);
        after_s = r->extra_count > 0 ? MIN(rule_s, extra_next(r, after_s)) : rule_s;
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
