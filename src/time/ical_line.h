/* time/ical_line.h: content lines of iCalendar. Private to the ical*.c files here.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TIME_ICAL_LINE_H
#define ERRAND_TIME_ICAL_LINE_H

#include "base/buf.h"
#include "time/zone.h"

/* A line is built in `line` and then folded into `out`. */
struct ical_out {
    struct buf *out;
    struct buf line;
};

void ical_end_line(struct ical_out *o);
void ical_line(struct ical_out *o, const char *format, ...) PRINTF_LIKE(2, 3); /* a whole one */
void ical_text_line(struct ical_out *o, const char *name, struct str text);    /* escaped */

/* "20270301T090000". */
void ical_time(struct buf *buf, int64_t s);
/* A line with a point in time: name;TZID=zone:… on the wall, or name:…Z. */
void ical_wall_line(struct ical_out *o, const char *name, const struct zone *zone, int64_t wall_s);
void ical_utc_line(struct ical_out *o, const char *name, int64_t utc_s);

/* ---- ical_zone.c ---- */

/* The VTIMEZONE of a zone, true in [from_s, to_s]. */
void ical_zone(struct ical_out *o, const struct zone *zone, int64_t from_s, int64_t to_s);

#endif
