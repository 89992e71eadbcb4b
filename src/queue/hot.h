/* queue/hot.h: live tasks that will be needed again soon, as they were last committed.
 *
 * A start needs the task it is about, and so does its end: both would read the rows that this
 * engine wrote itself a moment ago. It keeps them packed (store/pack.h): those that are about to be
 * claimed, and those whose attempt runs. Where the engine alone writes into its store they are the
 * truth, since every change goes through publish.c; the compare-and-set of a save stays what it
 * was.
 *
 * Both lines are bounded in bytes. Of queued tasks the first ones are kept, since they will be
 * claimed first; whoever has stood in line for long makes way for a new one. Of attempts the
 * latest.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_HOT_H
#define ERRAND_QUEUE_HOT_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/map.h"
#include "task/task.h"

#define HOT_ROW_MAX    KIB        /* a task of more bytes than this is read when it is needed */
#define HOT_QUEUED_MAX (32 * MIB) /* of all tasks that are about to be claimed */
#define HOT_HELD_MAX   (8 * MIB)  /* of all attempts that run */
#define HOT_STALE_MS   (10 * SECOND_MS)

struct hot_line {
    struct list rows; /* the oldest first */
    size_t bytes, most;
};

struct hot {
    struct map rows;
    struct hot_line queued, held;
    struct list dropped; /* the batch under way may still read them */
    struct buf scratch;
};

void hot_init(struct hot *hot);
void hot_fini(struct hot *hot);

/* The task whole, its texts borrowed until hot_settle(). False: it is not kept. */
bool hot_read(const struct hot *hot, struct task_id id, struct task *out);

/* The task was committed like this: it is kept so, or no longer. */
void hot_keep(struct hot *hot, const struct task *task, struct now now);
void hot_forget(struct hot *hot, struct task_id id);
void hot_settle(struct hot *hot); /* the batch is over */

#endif
