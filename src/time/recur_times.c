/* time/recur_times.c: sets of times of the day, and places in a set. See recur_data.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "time/recur_data.h"

#define PLACES 366

void times_make(struct times *t, uint64_t hours, uint64_t minutes, uint64_t seconds)
{
    *t = (struct times){.hours = hours, .minutes = minutes, .seconds = seconds};
    t->minutes_count = (unsigned)__builtin_popcountll(minutes);
    t->seconds_count = (unsigned)__builtin_popcountll(seconds);
    t->count = (int64_t)__builtin_popcountll(hours) * t->minutes_count * t->seconds_count;
}

int64_t times_rank(const struct times *t, int64_t tod)
{
    unsigned hour = (unsigned)tod / 3600, minute = (unsigned)tod / 60 % 60;
    unsigned per_hour = t->minutes_count * t->seconds_count;
    unsigned rank = bits_below(t->hours, hour) * per_hour;
    if (t->hours >> hour & 1) {
        rank += bits_below(t->minutes, minute) * t->seconds_count;
        if (t->minutes >> minute & 1) {
            rank += bits_below(t->seconds, (unsigned)tod % 60);
        }
    }
    return rank;
}

int64_t times_nth(const struct times *t, int64_t n)
{
    unsigned per_hour = t->minutes_count * t->seconds_count;
    unsigned in_hour = (unsigned)n % per_hour;
    return (int64_t)bits_nth(t->hours, (unsigned)n / per_hour) * 3600 +
           bits_nth(t->minutes, in_hour / t->seconds_count) * 60 +
           bits_nth(t->seconds, in_hour % t->seconds_count);
}

/* Place p of BYSETPOS is element p - 1, or total - p counted from the end. */
int64_t places_next(const struct rrule *rule, int64_t total, int64_t rank)
{
    int64_t found = NEVER;
    if (!(rule->has & RRULE_BYSETPOS)) {
        return rank < total ? rank : NEVER;
    }
    if (rank < PLACES) {
        unsigned place = bits_next(rule->positions, (unsigned)rank + 1, PLACES + 1);
        found = place <= PLACES && place <= total ? (int64_t)place - 1 : NEVER;
    }
    unsigned back = bits_back(rule->positions_last, (unsigned)MIN(total - rank, (int64_t)PLACES));
    return back > 0 ? MIN(found, total - (int64_t)back) : found;
}

int64_t places_count(const struct rrule *rule, int64_t total, int64_t rank)
{
    if (!(rule->has & RRULE_BYSETPOS)) {
        return rank;
    }
    rank = MIN(rank, total);
    /* Those of [1, rank], and those from the end that lie there too; some may be the same. */
    unsigned front = (unsigned)MIN(rank, (int64_t)PLACES) + 1;
    unsigned back = (unsigned)MIN(total - rank, (int64_t)PLACES) + 1;
    unsigned most = (unsigned)MIN(total, (int64_t)PLACES) + 1;
    int64_t count = (int64_t)bits_count(rule->positions, 1, front) +
                    bits_count(rule->positions_last, back, most);
    for (; (back = bits_next(rule->positions_last, back, most)) < most; back++) {
        int64_t place = total - back + 1;
        count -= place < front && bits_has(rule->positions, (unsigned)place) ? 1 : 0;
    }
    return count;
}
