/* time/tzif.c: reads the bytes of a TZif file into a zone. See RFC 8536.
 *
 * The bytes may be hostile: every count is checked against what is left of the file before it is
 * believed. Abbreviations and the daylight-saving flag are not kept; nothing here asks for them.
 *
 * The footer's rule is written out for one cycle of the calendar and a bit more, so that finding a
 * moment is one search at any distance (zone.c).
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "time/posix_tz.h"
#include "time/zone_data.h"
#include "wire/time.h"

#define HEADER_LEN   44
#define TYPE_LEN     6
#define OFFSET_LIMIT (26 * 3600) /* RFC 8536 allows a little less than this either way */
#define MARGIN_YEARS 3           /* so that a turn found in the cycle has its true neighbours */

/* The six counts of a header, in their order in the file. */
struct counts {
    uint32_t is_ut, is_std, leap, time, type, text;
};

static uint32_t be32(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static int64_t be64(const char *at)
{
    return (int64_t)((uint64_t)be32(at) << 32 | be32(at + 4));
}

static bool broken(struct err *err)
{
    return err_set(err, ERR_INVALID, "is not a sound TZif file");
}

static bool take_header(struct str *rest, struct counts *out, char *version)
{
    if (rest->len < HEADER_LEN || memcmp(rest->ptr, "TZif", 4) != 0) {
        return false;
    }
    const char *at = rest->ptr + 20;
    *version = rest->ptr[4];
    *out = (struct counts){be32(at),      be32(at + 4),  be32(at + 8),
                           be32(at + 12), be32(at + 16), be32(at + 20)};
    *rest = str_from(*rest, HEADER_LEN);
    return true;
}

static uint64_t body_len(const struct counts *n, uint64_t time_len)
{
    return n->time * (time_len + 1) + n->type * (uint64_t)TYPE_LEN + n->text +
           n->leap * (time_len + 4) + n->is_std + n->is_ut;
}

/* Skips the old 32-bit part; leaves *rest at the 64-bit body, known to be there in full. */
static bool take_headers(struct str *rest, struct counts *out, struct err *err)
{
    char version;
    if (!take_header(rest, out, &version)) {
        return broken(err);
    }
    if (version < '2') {
        return err_set(err, ERR_INVALID, "is a TZif file of version 1, without 64-bit times");
    }
    if (body_len(out, 4) > rest->len) {
        return broken(err);
    }
    *rest = str_from(*rest, (size_t)body_len(out, 4));
    if (!take_header(rest, out, &version) || body_len(out, 8) > rest->len || out->type == 0 ||
        out->type > 256) {
        return broken(err);
    }
    if (out->leap > 0) {
        return err_set(err, ERR_INVALID, "counts leap seconds, which our clock does not have");
    }
    return true;
}

/* Adds a turn, unless the offset stays. One at the same moment as the last replaces it. */
static void add_turn(struct zone *zone, int64_t at_s, int32_t offset_s)
{
    if (zone->turns[zone->count - 1].at_s == at_s) {
        zone->count--;
    }
    if (zone->count == 0 || zone->turns[zone->count - 1].offset_s != offset_s) {
        zone->turns[zone->count++] = (struct zone_turn){at_s, offset_s};
    }
}

/* The table of the file. `turns` has room for all of it. */
static bool read_table(struct zone *zone, const char *at, const struct counts *n, int64_t *last_s)
{
    const char *kinds = at + (size_t)n->time * 8, *types = kinds + n->time;
    *last_s = -ZONE_FOREVER_S;
    zone->turns[zone->count++] = (struct zone_turn){-ZONE_FOREVER_S, (int32_t)be32(types)};
    for (size_t i = 0; i < n->time; i++) {
        int64_t at_s = be64(at + i * 8);
        unsigned char kind = (unsigned char)kinds[i];
        if (at_s <= *last_s || at_s >= ZONE_FOREVER_S || kind >= n->type) {
            return false;
        }
        add_turn(zone, at_s, (int32_t)be32(types + kind * (size_t)TYPE_LEN));
        *last_s = at_s;
    }
    return true;
}

static int64_t year_of(int64_t utc_s)
{
    int64_t year;
    unsigned month, day;
    time_date_of((utc_s - (utc_s < 0 ? DAY_S - 1 : 0)) / DAY_S, &year, &month, &day);
    return year;
}

/* Both turns of a year, in order. When summer time ends the moment it begins again (all year
 * round, in the words of a footer), the beginning comes last and stands. */
static void add_year(struct zone *zone, const struct posix_tz *tz, int64_t year, int64_t after_s)
{
    struct zone_turn start = {posix_turn_wall(&tz->start, year) - tz->std_s, tz->dst_s};
    struct zone_turn end = {posix_turn_wall(&tz->end, year) - tz->dst_s, tz->std_s};
    bool start_first = start.at_s < end.at_s;
    struct zone_turn turns[2] = {start_first ? start : end, start_first ? end : start};
    for (size_t i = 0; i < 2; i++) {
        if (turns[i].at_s > after_s && turns[i].at_s >= zone->turns[zone->count - 1].at_s) {
            add_turn(zone, turns[i].at_s, turns[i].offset_s);
        }
    }
}

static void add_cycle(struct zone *zone, const struct posix_tz *tz, int64_t last_s)
{
    int64_t year = last_s == -ZONE_FOREVER_S ? -MARGIN_YEARS : year_of(last_s);
    int64_t years = CYCLE_YEARS + 2 * MARGIN_YEARS;
    zone->turns = mem_array(zone->turns, zone->count + 2 * (size_t)years, sizeof *zone->turns);
    for (int64_t i = 0; i < years; i++) {
        add_year(zone, tz, year + i, last_s);
    }
    zone->cycle_from_s = time_days_of(year + MARGIN_YEARS, 1, 1) * DAY_S;
}

/* "\nRULE\n" behind the table; an empty rule says nothing about the future. */
static bool read_footer(struct zone *zone, struct str text, int64_t last_s)
{
    struct posix_tz tz;
    if (text.len < 2 || text.ptr[0] != '\n') {
        return false;
    }
    text = str_from(text, 1);
    struct str rule = str_cut(&text, '\n');
    if (str_absent(text)) {
        return false;
    }
    if (rule.len == 0) {
        return true;
    }
    if (!posix_tz_parse(rule, &tz)) {
        return false;
    }
    if (tz.has_dst && tz.dst_s != tz.std_s) {
        add_cycle(zone, &tz, last_s);
    }
    return true;
}

static bool measure(struct zone *zone)
{
    zone->offset_min = zone->offset_max = zone->turns[0].offset_s;
    for (size_t i = 0; i < zone->count; i++) {
        zone->offset_min = MIN(zone->offset_min, zone->turns[i].offset_s);
        zone->offset_max = MAX(zone->offset_max, zone->turns[i].offset_s);
    }
    return zone->offset_min > -OFFSET_LIMIT && zone->offset_max < OFFSET_LIMIT;
}

/* FNV-1a: the same on every machine, which str_hash() is not. */
static uint64_t hash_bytes(struct str bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes.len; i++) {
        hash = (hash ^ (unsigned char)bytes.ptr[i]) * 0x100000001b3u;
    }
    return hash;
}

static bool read_all(struct zone *zone, struct str bytes, struct err *err)
{
    struct counts n;
    struct str rest = bytes;
    int64_t last_s;
    if (!take_headers(&rest, &n, err)) {
        return false;
    }
    zone->turns = mem_array(NULL, (size_t)n.time + 1, sizeof *zone->turns);
    zone->version = hash_bytes(bytes);
    zone->cycle_from_s = ZONE_FOREVER_S;
    return (read_table(zone, rest.ptr, &n, &last_s) &&
            read_footer(zone, str_from(rest, (size_t)body_len(&n, 8)), last_s) && measure(zone)) ||
           broken(err);
}

bool zone_read(struct str name, struct str bytes, const struct zone **out, struct err *err)
{
    struct zone *zone = mem_new(struct zone);
    atomic_init(&zone->refs, 1);
    memcpy(zone->name, name.ptr, MIN(name.len, ZONE_NAME_MAX));
    if (!read_all(zone, bytes, err)) {
        zone_release(zone);
        return err_wrap(err, "time zone \"" STR_FMT "\"", STR_ARG(name));
    }
    *out = zone;
    return true;
}
