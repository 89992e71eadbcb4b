/* schedule/delivery.h: the tasks that bring one run's result to its channels. For the planner.
 *
 * A delivery's idempotency key is "deliver:EXECUTION:CHANNEL": however often a run's end is told,
 * each channel is served once.
 *
 * Thread: engine. Keeps: I6.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_SCHEDULE_DELIVERY_H
#define ERRAND_SCHEDULE_DELIVERY_H

#include "queue/guest.h"
#include "schedule/execution.h"
#include "schedule/schedule.h"

struct delivery {
    struct task_id execution;
    enum schedule_channel channel;
};

/* One task for each channel of the schedule; the execution's report is changed, not saved. That of
 * the WEB is COMPLETED when it is created: its notification is stored with it. */
void deliveries_create(struct batch *batch, const struct schedule *schedule,
                       struct execution *execution, int64_t retention_ms);

/* A short notice on each channel that a run failed for good: once for each execution and channel.
 * The execution's report is about results, and stays as it is. */
void deliveries_tell_failure(struct batch *batch, const struct schedule *schedule,
                             const struct execution *execution, int64_t retention_ms);

bool delivery_of(const struct task *task, struct delivery *out); /* false: it is none */

/* Notes in its execution how it stands; one to the WEB that is done stores its notification. */
void delivery_changed(struct batch *batch, const struct delivery *delivery, const struct task *was,
                      const struct task *now, int64_t retention_ms);

#endif
