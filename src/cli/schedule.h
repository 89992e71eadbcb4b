/* cli/schedule.h: what the commands about schedules share.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_SCHEDULE_H
#define ERRAND_CLI_SCHEDULE_H

#include "cli/human.h"
#include "cli/remote.h"
#include "cli/verb.h"

#define SCHEDULE_NEXT_COUNT 5 /* dates shown of what was understood or made */

/* `errand schedule` */
struct schedule_options {
    struct remote_options remote;
    bool explain;
    struct str zone, now;
    struct str user, category, delivery, rrule, cron, at, title, type, payload, queue, priority;
    struct option_many to;
};

/* The words of a sentence that came unquoted. */
struct str schedule_text(const struct words *words, struct arena *arena);

/* Creates a schedule, and tells when it will run. */
enum exit_status schedule_create(const struct schedule_options *options, const struct words *words);

/* ---- Schedules as the server shows them ---- */

/* When it runs, as a sentence; nothing where this machine does not know its rule or zone. */
void schedule_summary(struct remote *remote, struct str schedule, struct buf *out);

/* The next times of a schedule: an array of {"utc","local"}. */
MUST_CHECK bool schedule_times(struct remote *remote, struct str id, int64_t n, struct str *out,
                               struct err *err);
void schedule_print_times(struct remote *remote, struct str times);

/* A line "name      value", for people. Absent and empty values are left out. */
void schedule_print_line(const char *name, struct str value);

#endif
