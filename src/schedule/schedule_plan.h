/* schedule/schedule_plan.h: what a schedule means in time. Pure: the time is an argument.
 *
 * Thread: any. A plan belongs to its caller.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_SCHEDULE_SCHEDULE_PLAN_H
#define ERRAND_SCHEDULE_SCHEDULE_PLAN_H

#include "schedule/schedule.h"
#include "time/recur.h"

/* A schedule's recurrence in its zone, as the zone data has it now. */
struct plan {
    struct recur *recur;
    const struct zone *zone;
    struct rrule rule;
    struct recur_order order; /* what the recurrence was made from; its texts are borrowed */
};

/* Makes texts canonical and fills what was left out: a cron expression becomes the rule, the start
 * defaults to now. Malformed or contradicting fields are ERR_INVALID and named. */
MUST_CHECK bool schedule_settle(struct schedule *schedule, struct str cron, struct zones *zones,
                                int64_t now_ms, struct arena *arena, struct err *err);

/* What is to become of a schedule that is there. */
struct schedule_change {
    struct schedule schedule; /* the values of the rows in `given` */
    uint64_t given;           /* rows of schedule_form, as form_read() says them */
    struct str cron;          /* absent: none; instead of its rule */
    int64_t skip_ms;          /* an occurrence more that is left out; 0: none */
    const int64_t *skips_ms;  /* or several */
    size_t skips_count;
};

/* Makes the change and settles what it leads to. *retimed: its times must be planned anew. On
 * failure the schedule is as it was. */
MUST_CHECK bool schedule_change(struct schedule *schedule, const struct schedule_change *change,
                                struct zones *zones, int64_t now_ms, struct arena *arena,
                                bool *retimed, struct err *err);

MUST_CHECK bool plan_open(const struct schedule *schedule, struct zones *zones, struct arena *arena,
                          struct plan *out, struct err *err);
/* The same in a zone that was found already. */
MUST_CHECK bool plan_open_in(const struct schedule *schedule, const struct zone *zone,
                             struct arena *arena, struct plan *out, struct err *err);
void plan_close(struct plan *plan); /* for SCOPED; an empty one is welcome */

struct plan_limits {
    int64_t horizon_ms;  /* [schedule] max_horizon: no timer is set further out */
    int64_t min_lead_ms; /* [schedule] min_lead: nearer is refused */
};

/* The occurrence after `cursor_ms`, and a wake-up when it is beyond the horizon. Both 0: none. */
void plan_next(const struct plan *plan, struct schedule *schedule, int64_t horizon_ms,
               int64_t now_ms);

/* Plans from now on. ERR_REFUSED with the field at fault: past, too near, or never. */
MUST_CHECK bool plan_begin(const struct plan *plan, struct schedule *schedule,
                           const struct plan_limits *limits, int64_t now_ms, struct err *err);

#endif
