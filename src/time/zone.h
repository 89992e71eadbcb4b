/* time/zone.h: time zones: what the wall clock of a place shows, and when it shows it.
 *
 * A zone comes from the system's zoneinfo (TZif, version 2 and later). It never changes once read,
 * so threads share it without asking. Past the end of its table the rule in the file's footer goes
 * on for ever. An instant is seconds since 1970 UTC; a wall time (wall.h) is the same count read
 * off the wall clock.
 *
 * Thread: any. A `struct zones` has one mutex inside, held over no system call.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TIME_ZONE_H
#define ERRAND_TIME_ZONE_H

#include "base/err.h"
#include "base/str.h"

#define ZONE_FOLDER   "/usr/share/zoneinfo"
#define ZONE_NAME_MAX 63
#define ZONE_FILE_MAX (64 * KIB)

struct zone;  /* one place's clock; shared, counted */
struct zones; /* those read so far from one folder */

/* ---- Finding a zone ---- */

struct zones *zones_new(const char *folder); /* NULL: ZONE_FOLDER */
void zones_free(struct zones *zones);        /* NULL is welcome; zones still kept live on */

/* The zone of that IANA name as the folder has it now: a file that changed is read again, and those
 * who keep the former zone keep it. The caller ends *out with zone_release(). UTC is always there.
 */
MUST_CHECK bool zones_get(struct zones *zones, struct str name, const struct zone **out,
                          struct err *err);

/* A number that changes when the folder's time zone data was updated: then it is time to get zones
 * anew and to plan again. */
uint64_t zones_stamp(const struct zones *zones);

const struct zone *zone_utc(void);
const struct zone *zone_keep(const struct zone *zone);
void zone_release(const struct zone *zone);     /* NULL is welcome */
void zone_release_at(const struct zone **zone); /* for SCOPED */

const char *zone_name(const struct zone *zone);

/* Of the file's bytes: the same on every machine with the same rules for this place. */
uint64_t zone_version(const struct zone *zone);

/* Reads the bytes of a TZif file; hostile ones are refused. The caller releases *out. */
MUST_CHECK bool zone_read(struct str name, struct str bytes, const struct zone **out,
                          struct err *err);

/* ---- From instant to wall ---- */

#define ZONE_FOREVER_S (INT64_MAX / 4) /* beyond any time we handle, with room to add to it */

/* A stretch of time with one offset: [from_s, to_s). */
struct zone_span {
    int64_t from_s, to_s; /* ∓ZONE_FOREVER_S at the ends */
    int32_t offset_s;     /* wall = instant + offset */
    int32_t before_s;     /* offset of the stretch before; the same as offset_s when none */
    int32_t after_s;      /* and after */
};

void zone_span_at(const struct zone *zone, int64_t utc_s, struct zone_span *out);
int64_t zone_wall(const struct zone *zone, int64_t utc_s);
int32_t zone_offset_min(const struct zone *zone);
int32_t zone_offset_max(const struct zone *zone);
int64_t zone_regular_from(const struct zone *zone); /* from then on all repeats in 400 years */

/* ---- From wall to instant ---- */

enum zone_kind {
    ZONE_UNIQUE, /* the clock shows it once */
    ZONE_GAP,    /* never: it was turned forward over it */
    ZONE_FOLD,   /* twice: it was turned back */
};

struct zone_answer {
    enum zone_kind kind;
    int64_t first_s;  /* UNIQUE: the instant. FOLD: the earlier. GAP: with the offset before it */
    int64_t second_s; /* FOLD: the later. GAP: with the offset after it. UNIQUE: as first_s */
    int32_t offset_s; /* the one that gave first_s: of a gap, the offset before it */
};

void zone_resolve(const struct zone *zone, int64_t wall_s, struct zone_answer *out);

#endif
