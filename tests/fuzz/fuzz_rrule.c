/* tests/fuzz/fuzz_rrule.c: a rule written and read again is the same rule; its occurrences rise,
 * end, and agree with how they are counted; it can be said in English.
 *
 * The first bytes choose start, zone and policies; the rest is the rule.
 *
 * SPDX-License-Identifier: MIT */
#include "english/summary.h"
#include "fuzz.h"
#include "time/recur.h"
#include "wire/time.h"
#include "zones.h"

#define HEAD   6
#define STEPS  40
#define PERIOD (400 * 366 * DAY_MS)

static void check_text(const struct rrule *rule)
{
    SCOPED(buf_fini) struct buf a = BUF_INIT(64 * KIB), b = BUF_INIT(64 * KIB);
    struct rrule back;
    rrule_write(&a, rule);
    if (a.len <= RRULE_TEXT_MAX) {
        FUZZ_CLAIM(rrule_parse(buf_view(&a), &back, NULL));
        FUZZ_CLAIM(memcmp(rule, &back, sizeof back) == 0);
        rrule_write(&b, &back);
        FUZZ_CLAIM(str_eq(buf_view(&a), buf_view(&b)));
    }
}

static void check_summary(const struct recur_order *order)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(64 * KIB);
    summary_write(&out, order);
    FUZZ_CLAIM(!out.full && str_starts(buf_view(&out), STR("Every ")));
    FUZZ_CLAIM(str_is_utf8(buf_view(&out)));
}

static void check_next(const struct recur *r, int64_t from_ms)
{
    int64_t at = from_ms, next, last;
    uint64_t count = 0;
    while (count < STEPS && recur_next(r, at, &next)) {
        FUZZ_CLAIM(next > at && next <= TIME_MAX_MS);
        at = next;
        count++;
    }
    if (count > 0 && at - from_ms < PERIOD) {
        FUZZ_CLAIM(recur_count(r, from_ms, at) == count);
        FUZZ_CLAIM(recur_last(r, from_ms, at, &last) && last == at);
    }
}

void fuzz_one(struct str text)
{
    static const char *const names[] = {"Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"};
    SCOPED(recur_free_at) struct recur *recur = NULL;
    struct rrule rule;
    if (text.len < HEAD || !rrule_parse(str_from(text, HEAD), &rule, NULL)) {
        return;
    }
    check_text(&rule);
    const unsigned char *head = (const unsigned char *)text.ptr;
    SCOPED(zone_release_at)
    const struct zone *zone = fuzz_zone(names, ARRAY_LEN(names), head[0] % 4);
    /* Between 1970 and 2061, half of them in the night of a change of clocks. */
    int64_t day = head[1] & 1 ? 15062 + head[2] / 8 * 364 : head[2] * 130 + head[3];
    struct when start = {.s = day * 86400 + head[4] * 337};
    struct recur_order order = {.start = start, .rule = &rule, .zone = zone};
    order.gap = head[5] % 2 ? RECUR_SKIP : RECUR_SHIFT;
    order.fold = (enum recur_fold)(head[5] / 2 % 3);
    check_summary(&order);
    if (recur_new(&order, &recur, NULL)) {
        check_next(recur, TIME_MIN_MS);
        check_next(recur, start.s * 1000 + head[3] * 40 * DAY_MS);
    }
}
