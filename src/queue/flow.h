/* queue/flow.h: what one task's change means for others: children, parents, dependents.
 *
 * Whoever changes a task says so with batch_change(), and that is all: flow_follow() finds whom the
 * change concerns, and changes them as task/family.h and the dependencies ask for, until nobody is
 * left who has to change. It looks at how tasks stand, not at what happened to them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_FLOW_H
#define ERRAND_QUEUE_FLOW_H

#include "queue/item.h"

#define FOLLOW_MAX         500 /* waiting tasks that one commit looks at; see flow_resume() */
#define FOLLOW_TAKEN_ON_MS (10 * SECOND_MS) /* then another node may take it on */

struct engine;

/* A task that ended, of which some dependents have not been told. */
struct unfollowed {
    struct task_id id;
    struct task_id after; /* those up to here have */
};
struct unfollowed_list {
    struct unfollowed *at; /* owned */
    size_t count, room;
};

struct walk {                          /* of one batch */
    struct items next;                 /* to be looked at */
    struct items born;                 /* items with an order */
    bool born_changed;                 /* the orders do not say yet how they stand */
    size_t left;                       /* waiting tasks that may still be looked at */
    struct unfollowed_list unfollowed; /* what will be left if this batch commits */
};

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

#endif
