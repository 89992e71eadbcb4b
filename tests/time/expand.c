/* tests/time/expand.c: see expand.h.
 *
 * SPDX-License-Identifier: MIT */
#include "expand.h"

#include <stdlib.h>

#define DATES_MAX 64
#define LIST_MAX  4096

static bool parse_dates(struct str text, struct when *out, size_t *count, struct err *err)
{
    *count = 0;
    while (text.len > 0 && *count < DATES_MAX) {
        if (!when_parse(str_cut(&text, ','), &out[(*count)++], err)) {
            return false;
        }
    }
    return true;
}

static bool get_zone(struct zones *zones, struct str name, const struct zone **out, struct err *err)
{
    *out = zone_utc();
    return name.len == 0 || zones_get(zones, name, out, err);
}

bool expand_new(struct zones *zones, const struct expand *of, struct recur **out, struct err *err)
{
    struct when exdates[DATES_MAX], rdates[DATES_MAX];
    struct rrule rule;
    const struct zone *zone;
    struct recur_order order = {.rule = of->rule.len > 0 ? &rule : NULL,
                                .gap = of->gap,
                                .fold = of->fold,
                                .exdates = exdates,
                                .rdates = rdates};
    if (!when_parse(of->start, &order.start, err) ||
        !parse_dates(of->exdates, exdates, &order.exdates_count, err) ||
        !parse_dates(of->rdates, rdates, &order.rdates_count, err) ||
        (order.rule != NULL && !rrule_parse(of->rule, &rule, err)) ||
        !get_zone(zones, of->zone, &zone, err)) {
        return false;
    }
    order.zone = zone;
    bool ok = recur_new(&order, out, err);
    zone_release(zone);
    return ok;
}

static void write_one(struct buf *out, const struct zone *zone, bool has_zone, int64_t utc_s)
{
    int64_t wall_s = zone_wall(zone, utc_s), offset = wall_s - utc_s;
    wall_write(out, wall_s);
    if (has_zone) {
        int minutes = (int)llabs(offset) / 60;
        buf_printf(out, "%c%02d:%02d", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
    }
}

static int64_t after_ms(const struct zone *zone, struct str after)
{
    struct zone_answer answer;
    int64_t wall_s;
    if (after.len == 0 || !wall_parse(after, &wall_s, NULL)) {
        return INT64_MIN;
    }
    zone_resolve(zone, wall_s, &answer);
    return answer.first_s * 1000;
}

void expand_list(struct zones *zones, const struct expand *of, struct buf *out)
{
    SCOPED(recur_free_at) struct recur *recur = NULL;
    SCOPED(zone_release_at) const struct zone *zone = NULL;
    struct err err = ERR_INIT;
    int64_t ms[LIST_MAX];
    if (!expand_new(zones, of, &recur, &err) || !get_zone(zones, of->zone, &zone, &err)) {
        buf_c(out, "INVALID");
        return;
    }
    size_t count = recur_list(recur, after_ms(zone, of->after), MIN(of->n, (size_t)LIST_MAX), ms);
    for (size_t i = 0; i < count; i++) {
        buf_c(out, i > 0 ? "," : "");
        write_one(out, zone, of->zone.len > 0, ms[i] / 1000);
    }
}
