/* cli/schedule_calendar.h: a month on the terminal: the days on which schedules run are marked, and
 * listed below.
 *
 * Days and times are those of each schedule's own time zone.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_SCHEDULE_CALENDAR_H
#define ERRAND_CLI_SCHEDULE_CALENDAR_H

#include "cli/schedule.h"

/* The runs of one schedule on one day. */
struct calendar_runs {
    struct str date; /* "2027-03-08" */
    struct str time; /* of the first: "09:00" */
    int64_t count;
    struct str id, title;
};

struct calendar {
    struct remote *remote;
    struct str month; /* "2027-03"; absent: that of the nearest run */
    struct calendar_runs *runs;
    size_t count, room;
    struct str known; /* the date up to which all runs are known; absent: for ever */
};

/* Fails when the month is none. */
MUST_CHECK bool calendar_init(struct calendar *calendar, struct remote *remote, struct str month,
                              struct err *err);
void calendar_fini(struct calendar *calendar);

/* Asks the server when this schedule will run. One that is not ACTIVE will not. */
MUST_CHECK bool calendar_add(struct calendar *calendar, struct str schedule, struct err *err);

/* All have been added: the month, or as JSON the runs in it. */
void calendar_print(struct calendar *calendar);

#endif
