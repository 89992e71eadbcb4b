/* tests/fuzz/fuzz_tzif.c: whatever zone was read, its wall and its instants agree.
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "time/wall.h"
#include "time/zone.h"

/* An instant shown on the wall is one of those that the wall time stands for. */
static void check_instant(const struct zone *zone, int64_t utc_s)
{
    struct zone_answer answer;
    int64_t wall_s = zone_wall(zone, utc_s);
    zone_resolve(zone, wall_s, &answer);
    FUZZ_CLAIM(answer.kind != ZONE_GAP);
    FUZZ_CLAIM(answer.first_s <= utc_s && utc_s <= answer.second_s);
    FUZZ_CLAIM(zone_wall(zone, answer.first_s) == wall_s);
    FUZZ_CLAIM(zone_wall(zone, answer.second_s) == wall_s);
}

static void check_span(const struct zone *zone, const struct zone_span *span)
{
    struct zone_answer answer;
    FUZZ_CLAIM(span->from_s < span->to_s);
    FUZZ_CLAIM(span->offset_s >= zone_offset_min(zone) && span->offset_s <= zone_offset_max(zone));
    if (span->from_s > WALL_MIN_S && span->to_s < WALL_MAX_S) {
        check_instant(zone, span->from_s);
        check_instant(zone, span->to_s - 1);
        zone_resolve(zone, span->from_s + span->before_s, &answer);
        FUZZ_CLAIM(answer.first_s <= answer.second_s || answer.kind == ZONE_GAP);
    }
}

void fuzz_one(struct str text)
{
    const struct zone *zone;
    struct zone_span span;
    if (!zone_read(STR("Fuzz"), text, &zone, NULL)) {
        return;
    }
    int64_t at_s = WALL_MIN_S;
    for (size_t i = 0; i < 2000 && at_s < WALL_MAX_S; i++, at_s = span.to_s) {
        zone_span_at(zone, at_s, &span);
        FUZZ_CLAIM(span.from_s <= at_s && at_s < span.to_s);
        check_span(zone, &span);
    }
    check_instant(zone, WALL_MAX_S);
    zone_release(zone);
}
