/* time/ical.h: schedules as iCalendar (RFC 5545), for calendar software to read.
 *
 * Each event carries its rule, and the calendar carries the time zones that its events need, so
 * that a reader shows the same times as ours on both sides of a change of the clocks:
 *
 *   - DTSTART is the first occurrence: readers take it for one whether it matches the rule or not.
 *   - HOURLY and shorter rules without BY parts are written in UTC: they step in elapsed time.
 *     With BY parts they stay on the wall clock, and a reader may step there as it likes.
 *   - Choices for gaps and folds other than the RFC's own are written out as EXDATEs and RDATEs.
 *
 * Zones, and those choices, are exact from a year before the first occurrence until ten years from
 * then or from now; where a zone's rule is a yearly one, for ever.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TIME_ICAL_H
#define ERRAND_TIME_ICAL_H

#include "time/recur.h"

enum ical_status {
    ICAL_CONFIRMED, /* ACTIVE or COMPLETED */
    ICAL_TENTATIVE, /* PAUSED */
    ICAL_CANCELLED, /* FAILED */
};

struct ical_event {
    struct str uid; /* the same in every export: the schedule's id */
    struct str title, description;
    enum ical_status status;
    int64_t created_ms, updated_ms; /* UTC; 0: not told */
    struct recur_order when;
};

struct ical {
    struct str name; /* absent: none */
    const struct ical_event *events;
    size_t count;
    int64_t now_ms; /* DTSTAMP: when this text was made */
};

/* Adds the whole calendar to `out`. An event that never occurs is left out. Fails when `out` is
 * full, or a COUNT cannot be counted out. */
MUST_CHECK bool ical_write(struct buf *out, const struct ical *calendar, struct err *err);

#endif
