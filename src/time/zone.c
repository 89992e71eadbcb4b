/* time/zone.c: from instant to wall and back. See zone.h; zones are read in tzif.c and kept in
 * zones.c.
 *
 * Thread: any. Keeps: a zone does not change.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "time/zone_data.h"

const struct zone *zone_utc(void)
{
    static const struct zone_turn turns[] = {{-ZONE_FOREVER_S, 0}};
    static const struct zone utc = {.name = "UTC",
                                    .cycle_from_s = ZONE_FOREVER_S,
                                    .count = 1,
                                    .turns = (struct zone_turn *)turns};
    return &utc;
}

/* The zone is constant to everybody but its count. */
const struct zone *zone_keep(const struct zone *zone)
{
    if (zone != zone_utc()) {
        atomic_fetch_add_explicit(&((struct zone *)zone)->refs, 1, memory_order_relaxed);
    }
    return zone;
}

void zone_release(const struct zone *zone)
{
    struct zone *mine = (struct zone *)zone;
    if (zone == NULL || zone == zone_utc() ||
        atomic_fetch_sub_explicit(&mine->refs, 1, memory_order_acq_rel) > 1) {
        return;
    }
    mem_free(mine->turns);
    mem_free(mine);
}

void zone_release_at(const struct zone **zone)
{
    zone_release(*zone);
}

const char *zone_name(const struct zone *zone)
{
    return zone->name;
}

uint64_t zone_version(const struct zone *zone)
{
    return zone->version;
}

int32_t zone_offset_min(const struct zone *zone)
{
    return zone->offset_min;
}

int32_t zone_offset_max(const struct zone *zone)
{
    return zone->offset_max;
}

int64_t zone_regular_from(const struct zone *zone)
{
    return zone->cycle_from_s < ZONE_FOREVER_S ? zone->cycle_from_s
                                               : zone->turns[zone->count - 1].at_s;
}

/* The last turn at or before that moment; the first turn is before all of them. */
static size_t find_turn(const struct zone *zone, int64_t utc_s)
{
    size_t low = 0, n = zone->count;
    while (n > 1) {
        size_t half = n / 2;
        low += zone->turns[low + half].at_s <= utc_s ? half : 0;
        n -= half;
    }
    return low;
}

void zone_span_at(const struct zone *zone, int64_t utc_s, struct zone_span *out)
{
    /* A moment past the cycle is looked up where it falls within it. */
    int64_t beyond = utc_s - zone->cycle_from_s;
    int64_t shift = beyond > CYCLE_S ? beyond / CYCLE_S * CYCLE_S : 0;
    size_t i = find_turn(zone, utc_s - shift);
    const struct zone_turn *turn = &zone->turns[i];
    bool last = i + 1 == zone->count;
    out->from_s = i == 0 ? -ZONE_FOREVER_S : turn->at_s + shift;
    out->to_s = last ? ZONE_FOREVER_S : turn[1].at_s + shift;
    out->offset_s = turn->offset_s;
    out->before_s = turn[i == 0 ? 0 : -1].offset_s;
    out->after_s = turn[last ? 0 : 1].offset_s;
}

int64_t zone_wall(const struct zone *zone, int64_t utc_s)
{
    struct zone_span span;
    zone_span_at(zone, utc_s, &span);
    return utc_s + span.offset_s;
}

static void note_gap(const struct zone_span *span, int64_t wall_s, struct zone_answer *out)
{
    if (wall_s >= span->from_s + span->before_s && wall_s < span->from_s + span->offset_s) {
        *out = (struct zone_answer){ZONE_GAP, wall_s - span->before_s, wall_s - span->offset_s,
                                    span->before_s};
    }
}

static void note_instant(const struct zone_span *span, int64_t wall_s, bool again,
                         struct zone_answer *out)
{
    int64_t utc_s = wall_s - span->offset_s;
    if (again) {
        out->kind = ZONE_FOLD;
        out->second_s = utc_s;
    } else {
        *out = (struct zone_answer){ZONE_UNIQUE, utc_s, utc_s, span->offset_s};
    }
}

/* Every stretch that could show this wall time is asked whether it does: mostly one or two. */
void zone_resolve(const struct zone *zone, int64_t wall_s, struct zone_answer *out)
{
    struct zone_span span;
    bool found = false;
    int64_t at_s = wall_s - zone->offset_max;
    *out = (struct zone_answer){ZONE_UNIQUE, wall_s, wall_s, 0};
    do {
        zone_span_at(zone, at_s, &span);
        int64_t utc_s = wall_s - span.offset_s;
        if (utc_s >= span.from_s && utc_s < span.to_s) {
            note_instant(&span, wall_s, found, out);
            found = true;
        } else if (!found) {
            note_gap(&span, wall_s, out);
        }
        at_s = span.to_s;
    } while (at_s <= wall_s - zone->offset_min);
}
