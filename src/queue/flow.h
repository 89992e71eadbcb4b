/* queue/flow.h: what one task's change means for others: children, parents, dependents.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_FLOW_H
#define ERRAND_QUEUE_FLOW_H

#include "queue/engine.h"

/* Draws all consequences of what the batch has changed so far, in the same transaction. Idempotent.
 */
void flow_follow(struct batch *batch);

/* The same for new tasks that wait for what has ended (flow_orders.c). */
void flow_orders(struct batch *batch);

/* Cancels a container and whatever of it is unfinished. */
MUST_CHECK bool flow_cancel(struct batch *batch, struct item *container, struct str reason,
                            const void *owner, struct err *err);

/* A manual retry: of a container it goes on from the first child that did not end well; a task
 * whose dependencies are unmet waits for them; a child is refused. */
MUST_CHECK bool flow_revive(struct batch *batch, struct item *item, const void *owner,
                            struct err *err);

/* A change of a container's priority or time is one of its children too. */
MUST_CHECK bool flow_change(struct batch *batch, struct item *container,
                            const struct task_patch *patch, const void *owner, struct err *err);

/* The dependencies of a task with their states and results, in `arena`. */
MUST_CHECK bool flow_dependencies(struct batch *batch, struct task_id id, struct arena *arena,
                                  struct task_dependency **out, size_t *count);

/* create.c: states and relations of new tasks that have any. */
MUST_CHECK bool flow_begin(struct batch *batch, struct command *command);

#endif
