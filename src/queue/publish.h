/* queue/publish.h: what a commit means for the engine's memory, for the broker, and for whoever
 * watches.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_PUBLISH_H
#define ERRAND_QUEUE_PUBLISH_H

#include "queue/due.h"
#include "queue/event.h"

struct batch;
struct engine;

void publish(struct batch *batch);
/* Tells workers in the server to stop. That an attempt ran too long is so whatever became of the
 * batch, and it is found only once. */
void publish_aborts(struct batch *batch, bool committed);
/* An event of the batch, to be filled; NULL: nobody watches. */
struct event *publish_event(struct batch *batch, enum event_kind kind, const struct task *task);
void publish_signal(struct batch *batch, struct str worker, enum worker_signal signal);

/* ---- Single consequences, for those who find a task rather than change it ---- */

void publish_offer(struct engine *engine, const struct task *task);
void publish_hold(struct engine *engine, const struct task *task); /* its document */
void publish_set_due(struct engine *engine, const struct task *task, enum due_from from,
                     struct now now);
void publish_clear_due(struct engine *engine, struct task_id id);

/* The value of the lock on a task's document: the attempt's lease, or the family's id. */
#define LOCK_TEXT TASK_ID_TEXT /* holds a lease's text too */
_Static_assert(TASK_LEASE_TEXT <= LOCK_TEXT, "a lock is a lease or an id");
struct str publish_lock(const struct task *task, char out[static LOCK_TEXT]);

#endif
