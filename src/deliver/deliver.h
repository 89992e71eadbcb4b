/* deliver/deliver.h: what becomes of a run's result: one task for each channel of its schedule,
 * notifications, and what it cost.
 *
 * A guest of the engine (queue/guest.h) beside the planner, which calls its hooks inside the batch
 * in which a run ends: the deliveries are created with that end, or not at all. One to the WEB is
 * over with it: its notification is stored in the same transaction, so that there is exactly one.
 * The end of any other is noted in its execution.
 *
 * Thread: engine, but for deliver_new(), deliver_free() and notification_ask().
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_DELIVER_DELIVER_H
#define ERRAND_DELIVER_DELIVER_H

#include "deliver/notification.h"
#include "schedule/planner.h"
#include "task/reserved.h"

#define DELIVER_QUEUE       STR(RESERVED_DELIVERY_QUEUE)
#define DELIVER_RETRIES_MIN 3 /* even if the schedule's own tasks have none */
#define DELIVER_TIMEOUT_MS  (2 * MINUTE_MS)
#define DELIVER_EXPIRE_MAX  1000      /* old records that one batch removes */
#define DELIVER_EXPIRE_MS   MINUTE_MS /* between two such batches, at least */

struct deliver;

struct deliver_options {
    int64_t retention_ms; /* how long notifications are kept; 0: for ever */
    int64_t queries_max;  /* of one user in one day, UTC; 0: any number */
};

struct deliver *deliver_new(const struct deliver_options *options);
void deliver_free(struct deliver *deliver); /* NULL is welcome */

struct guest *deliver_guest(struct deliver *deliver);
struct planner_hooks deliver_hooks(struct deliver *deliver); /* for planner_set_hooks() */

/* ---- Wishes ---- */

/* A notification was read. Said twice, the first time counts. */
struct notification_order {
    struct task_id id;
    struct str owner;                 /* only if it is this user's; absent: anybody's */
    struct notification notification; /* out; texts in the command's arena */
};

/* Turns a command of the caller's into that wish; one that is not there is ERR_NOT_FOUND. */
void notification_ask(struct deliver *deliver, struct command *command,
                      struct notification_order *order);

#endif
