/* queue/turn.h: turns: tasks that stand in the line of a document for others, who share it.
 *
 * A hold (task_is_hold) is a container that has its document from its opening to its end. Until it
 * has it, a turn stands for it in the document's line, like any task and with the same order.
 * Nobody claims a turn, nobody can even name its queue: when it comes, the engine completes it and
 * opens the hold in one transaction, before other claims of that batch are proposed anything.
 *
 * A claim passes over what it did not ask for (G3); a turn has nobody who asks for it. So it lets
 * go first whatever stands before it, unless that has waited for TURN_PASSES_MS without anybody
 * who would take it, or its queue is paused or full.
 *
 * Thread: engine. Memory only: follows from the turns that are QUEUED.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_TURN_H
#define ERRAND_QUEUE_TURN_H

#include "base/clock.h"
#include "base/list.h"
#include "task/task.h"

#define TURN_PASSES_MS    (60 * SECOND_MS) /* as long as `why` knows workers */
#define TURN_QUEUE_SUFFIX "~turn"          /* no client can name such a queue */
#define TURNS_AT_ONCE     32               /* looked at in one batch */
#define TURN_AHEAD_MAX    100 /* tasks before it that are looked at; behind more it waits */

struct batch;
struct engine;
struct item;

struct turns {
    struct list all;                 /* struct turn */
    struct str heard[TURNS_AT_ONCE]; /* queues of turns that went through other hands; owned */
    size_t heard_count;
};

void turns_init(struct turns *turns);
void turns_fini(struct turns *turns);

/* It is QUEUED and offered; it no longer is. */
void turn_add(struct engine *engine, const struct task *turn);
void turn_forget(struct engine *engine, struct task_id id);

/* Something of that queue can be taken now; absent: perhaps of any. */
void turns_ready(struct engine *engine, struct str queue);
/* Somebody left the line of the document without having started, or let go of it. */
void turns_left(struct engine *engine, struct str document);
int64_t turns_in_ms(const struct engine *engine, struct now now); /* until a look is due */

/* First of all proposals; then those whose document is theirs begin. */
void turns_propose(struct batch *batch);
void turns_decide(struct batch *batch);
/* The store did not let this hold begin: its turn is put off. */
void turns_refused(struct batch *batch, const struct item *hold);

/* Could a task of this priority that arrives now have the document at once? */
bool turn_is_now(struct batch *batch, struct str document, enum task_priority priority);

#endif
