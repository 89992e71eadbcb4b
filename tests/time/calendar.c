/* tests/time/calendar.c: the calendar of each recurrence on stdin, for calendar.py.
 *
 * A line in: start, zone, rule, exdates, rdates, gap (shift, skip), fold (first, last, both), now
 * in seconds, n; separated by tabs; see expand.h. Out: the iCalendar text, a line with "=" and the
 * first n occurrences in seconds since 1970, and an empty line.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "expand.h"
#include "time/ical.h"

#define LINE_MAX_LEN 8192
#define LIST_MAX     4096
#define DATES_MAX    64

/* What the line says, and what its texts became. */
struct asked {
    struct expand of;
    struct str gap, fold, now, n;
    struct rrule rule;
    struct when exdates[DATES_MAX], rdates[DATES_MAX];
};

static void cut(struct asked *asked, struct str line)
{
    struct expand *of = &asked->of;
    struct str *fields[] = {&of->start,  &of->zone,    &of->rule,   &of->exdates, &of->rdates,
                            &asked->gap, &asked->fold, &asked->now, &asked->n};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        *fields[i] = str_cut(&line, '\t');
    }
    of->gap = str_is(asked->gap, "skip") ? RECUR_SKIP : RECUR_SHIFT;
    of->fold = str_is(asked->fold, "last")   ? RECUR_LAST
               : str_is(asked->fold, "both") ? RECUR_BOTH
                                             : RECUR_FIRST;
}

static bool parse_dates(struct str text, struct when *out, size_t *count, struct err *err)
{
    while (text.len > 0 && *count < DATES_MAX) {
        if (!when_parse(str_cut(&text, ','), &out[(*count)++], err)) {
            return false;
        }
    }
    return true;
}

static bool order_from(struct asked *asked, struct recur_order *order, struct err *err)
{
    *order = (struct recur_order){.gap = asked->of.gap,
                                  .fold = asked->of.fold,
                                  .rule = asked->of.rule.len > 0 ? &asked->rule : NULL,
                                  .exdates = asked->exdates,
                                  .rdates = asked->rdates};
    return when_parse(asked->of.start, &order->start, err) &&
           (order->rule == NULL || rrule_parse(asked->of.rule, &asked->rule, err)) &&
           parse_dates(asked->of.exdates, asked->exdates, &order->exdates_count, err) &&
           parse_dates(asked->of.rdates, asked->rdates, &order->rdates_count, err);
}

static bool answer(struct zones *zones, struct str line, struct buf *out, struct err *err)
{
    struct asked asked = {0};
    SCOPED(zone_release_at) const struct zone *zone = NULL;
    SCOPED(recur_free_at) struct recur *recur = NULL;
    struct ical_event event = {.uid = STR("one"), .title = STR("t")};
    struct ical calendar = {.events = &event, .count = 1};
    int64_t now_s = 0, ms[LIST_MAX];
    uint64_t n = 0;
    cut(&asked, line);
    if (!str_i64(asked.now, &now_s) || !str_u64(asked.n, &n) ||
        !zones_get(zones, asked.of.zone, &zone, err) || !order_from(&asked, &event.when, err)) {
        return false;
    }
    calendar.now_ms = now_s * 1000;
    event.when.zone = zone;
    if (!recur_new(&event.when, &recur, err) || !ical_write(out, &calendar, err)) {
        return false;
    }
    size_t count = recur_list(recur, INT64_MIN, MIN(n, (uint64_t)LIST_MAX), ms);
    buf_c(out, "=");
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "%s%lld", i == 0 ? "" : ",", (long long)(ms[i] / 1000));
    }
    buf_c(out, "\n");
    return true;
}

int main(void)
{
    char line[LINE_MAX_LEN];
    struct zones *zones = zones_new(NULL);
    while (fgets(line, sizeof line, stdin) != NULL) {
        SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
        struct err err = ERR_INIT;
        if (!answer(zones, (struct str){line, strcspn(line, "\n")}, &out, &err)) {
            fprintf(stderr, "%s%s\n", line, err.text);
            return 1;
        }
        puts(buf_c_text(&out));
    }
    zones_free(zones);
    return 0;
}
