/* queue/kin.h: who is related to whom, as a batch sees it: by the rows, and by what the batch
 * itself has changed or brings.
 *
 * Thread: engine. False, or NULL: the store failed, and the batch with it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_KIN_H
#define ERRAND_QUEUE_KIN_H

#include "queue/batch.h"

/* The rows' answer for these items, which are put in order; `of` is their place in it. */
MUST_CHECK bool kin_ask(struct batch *batch, enum kinship kinship, struct item **items,
                        size_t count, struct task_id after, size_t most, struct kin_list *out);

/* How a relative stands in this batch, which may have changed it. */
enum task_state kin_state(const struct batch *batch, const struct kin *kin);

MUST_CHECK bool kin_load(struct batch *batch, const struct kin *kin, size_t count, bool whole);

/* Fills item->kin of the containers among these; kin_children() also loads them. */
MUST_CHECK bool kin_families(struct batch *batch, struct item **items, size_t count);
MUST_CHECK bool kin_children(struct batch *batch, struct item *container);
struct item *kin_child(struct batch *batch, const struct item *parent, size_t place); /* loaded */

/* What a task depends on, and how that stands in this batch. What is gone is not among it. */
MUST_CHECK bool kin_dependencies(struct batch *batch, struct item *item, struct kin_list *out);

/* A task that this batch brings: nothing of it is in the store yet. `arena` outlives the answer. */
struct item *kin_born(struct batch *batch, struct order *order, struct arena *arena);

/* Those of this batch that wait for another without the rows' telling so: item->awaiting. */
struct awaiting {
    struct awaiting *next;
    struct item *item;
};
void kin_await(struct batch *batch, struct item *on, struct item *waits);

/* The dependencies of a task with their states and results, in `arena`. */
MUST_CHECK bool kin_results(struct batch *batch, struct task_id id, struct arena *arena,
                            struct task_dependency **out, size_t *count);

/* What a container's run depends on now: the first below it that has not ended, and is no
 * container. NULL: there is none. Of a task that is no container: itself. */
struct item *kin_next(struct batch *batch, struct item *item);

#endif
