/* wire/time.h: points in time and durations as text.
 *
 * A point in time is milliseconds since 1970 UTC, from year 1 to year 9999. Nothing here asks what
 * time it is. Leap seconds (":60") are refused: our clock does not have them, and folding one
 * would make two texts name one moment.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_TIME_H
#define ERRAND_WIRE_TIME_H

#include "base/buf.h"
#include "base/err.h"

#define TIME_MIN_MS   ((int64_t)-62135596800000) /* 0001-01-01T00:00:00.000Z */
#define TIME_MAX_MS   ((int64_t)253402300799999) /* 9999-12-31T23:59:59.999Z */
#define TIME_TEXT_LEN 24                         /* 2027-03-01T09:00:00.000Z */

/* RFC 3339: a full date and time with Z or an offset. Digits past the millisecond are cut off. */
MUST_CHECK bool time_parse(struct str text, int64_t *out_ms, struct err *err);

/* Always milliseconds, always Z. Beyond the range above the nearest end is written. */
void time_write(struct buf *buf, int64_t ms);
void time_text(int64_t ms, char out[TIME_TEXT_LEN + 1]); /* NUL-terminated */

/* HTTP dates, "Mon, 01 Mar 2027 09:00:00 GMT". The two forms of the last century are refused. */
MUST_CHECK bool time_parse_http(struct str text, int64_t *out_ms, struct err *err);
void time_write_http(struct buf *buf, int64_t ms);

/* The calendar: days since 1970-01-01, proleptic Gregorian. */
int64_t time_days_of(int64_t year, unsigned month, unsigned day);
void time_date_of(int64_t days, int64_t *year, unsigned *month, unsigned *day);
unsigned time_month_days(int64_t year, unsigned month);

/* Durations as people write them: "500ms", "30s", "10m", "1h30m", "2d", "1w"; a plain number is
 * seconds. Larger units come first, each once; a blank may stand between two. */
MUST_CHECK bool duration_parse(struct str text, int64_t *out_ms, struct err *err);
void duration_write(struct buf *buf, int64_t ms); /* "1h 30m", exact, readable by the above */

#endif
