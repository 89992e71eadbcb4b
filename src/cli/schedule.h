/* cli/schedule.h: what the commands about schedules share.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_SCHEDULE_H
#define ERRAND_CLI_SCHEDULE_H

#include "cli/verb.h"

#define SCHEDULE_NEXT_COUNT 5 /* dates shown of what was understood or made */

/* ---- Schedules as the server shows them ---- */

/* When it runs, as a sentence; nothing where this machine does not know its rule or zone. */
void schedule_summary(struct remote *remote, struct str schedule, struct buf *out);

/* The next times of a schedule: an array of {"utc","local"}. */
MUST_CHECK bool schedule_times(struct remote *remote, struct str id, int64_t n, struct str *out,
                               struct err *err);

/* Lines "name      value", for people. Absent and empty values are left out. */
void schedule_print_line(const char *name, struct str value);
void schedule_print_times(struct remote *remote, struct str times);

/* ---- A month on the terminal: the days on which schedules run are marked, and listed below ----
 *
 * Days and times are those of each schedule's own time zone. */

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
