/* time/wall.h: what a clock and a calendar on the wall show, without a zone.
 *
 * A wall time is the number of seconds since 1970-01-01T00:00:00 that the wall clock would count;
 * a day is its number since 1970-01-01. Nothing here knows UTC.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TIME_WALL_H
#define ERRAND_TIME_WALL_H

#include "base/buf.h"
#include "base/err.h"

#define WALL_MIN_S ((int64_t)-62135596800) /* 0001-01-01T00:00:00 */
#define WALL_MAX_S ((int64_t)253402300799) /* 9999-12-31T23:59:59 */
#define WALL_DAY_S ((int64_t)86400)

/* "2027-03-01T09:00:00". A fraction of a second is cut off; Z or an offset is refused. */
MUST_CHECK bool wall_parse(struct str text, int64_t *out_s, struct err *err);
void wall_write(struct buf *buf, int64_t wall_s);

/* A point in time as a client gives it: on the wall, or with Z or an offset an instant. */
struct when {
    bool is_utc;
    int64_t s; /* wall or UTC */
};
MUST_CHECK bool when_parse(struct str text, struct when *out, struct err *err);

/* Division that rounds down, and what it leaves, for times before 1970. `by` is positive. */
static inline int64_t wall_div(int64_t a, int64_t by)
{
    return a / by - (a % by < 0);
}

static inline int64_t wall_mod(int64_t a, int64_t by)
{
    int64_t rest = a % by;
    return rest < 0 ? rest + by : rest;
}

static inline unsigned wall_weekday(int64_t day) /* 0 is Monday */
{
    return (unsigned)wall_mod(day + 3, 7);
}

#endif
