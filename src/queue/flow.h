/* queue/flow.h: what one task's change means for others: children, parents, dependents.
 *
 * Whoever changes a task says so with batch_change(), and that is all: flow_follow() finds whom the
 * change concerns, and changes them as task/family.h and the dependencies ask for, until nobody is
 * left who has to change. It looks at how tasks stand, not at what happened to them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_FLOW_H
#define ERRAND_QUEUE_FLOW_H

#include "queue/engine.h"

#define FOLLOW_MAX         500 /* waiting tasks that one commit looks at; see flow_resume() */
#define FOLLOW_TAKEN_ON_MS (10 * SECOND_MS) /* then another node may take it on */

/* Draws all consequences of what the batch has changed so far, in the same transaction. Idempotent.
 */
void flow_follow(struct batch *batch);

/* The task has changed, or may have: its consequences are to be drawn. */
void flow_note(struct batch *batch, struct item *item);

/* A task with very many dependents is followed in slices, each a commit of its own, so that others
 * are served in between. That it is not done is on record until it is. */
void flow_resume(struct batch *batch);
MUST_CHECK bool flow_save(struct batch *batch, struct err *err); /* what is left, with the batch */
void flow_publish(struct batch *batch);                          /* the batch was committed */
MUST_CHECK bool flow_boot(struct engine *engine, struct err *err);
bool flow_unfinished(const struct engine *engine);

/* A manual retry: of a container it goes on from the first child that did not end well; a task
 * whose dependencies are unmet waits for them; a child is refused. */
MUST_CHECK bool flow_revive(struct batch *batch, struct item *item, const void *owner,
                            struct err *err);

/* A container's new priority is its family's. */
MUST_CHECK bool flow_change(struct batch *batch, struct item *container,
                            const struct task_patch *patch, const void *owner, struct err *err);

/* A finished task is removed, and all that is below it; nobody may wait for it in vain. */
MUST_CHECK bool flow_remove(struct batch *batch, struct item *item, const void *owner,
                            struct err *err);

/* create.c: states and relations of new tasks that have any. */
MUST_CHECK bool flow_begin(struct batch *batch, struct command *command);

/* ---- Among the files of the flow ---- */

/* Whoever waits for one of these, which have ended, live again, or are gone; behind `after`. */
void flow_dependents(struct batch *batch, struct item **ended, size_t count, struct task_id after);
/* Keeps of the list what this batch may still look at, and leaves the rest for later. */
void flow_cut(struct batch *batch, struct item **ended, size_t count, struct kin_list *kin);

#endif
