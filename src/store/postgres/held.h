/* store/postgres/held.h: attempts that this store began, kept so that their end needs no load.
 *
 * Whoever ends an attempt names its token. If that is the one that was written here when it began,
 * the row is most likely as it was then, and the end itself is a compare-and-set: should another
 * node have changed the row, nothing happens, and the task is loaded the next time. So this is
 * never the truth, only a way not to ask twice. Bounded: the oldest go.
 *
 * Only what has neither ties, family nor document is kept: whatever else an end must look at has to
 * be locked.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_POSTGRES_HELD_H
#define ERRAND_STORE_POSTGRES_HELD_H

#include "base/list.h"
#include "base/map.h"
#include "task/task.h"

struct held {
    struct map by_id;
    struct list oldest; /* of struct held_task, the one that began first at the head */
    struct list begun;  /* those of the transaction that is open: held when it is committed */
    size_t count;
};

void held_init(struct held *held);
void held_fini(struct held *held);

void held_begin(struct held *held, const struct task *running); /* a copy is taken */
void held_commit(struct held *held);
void held_abandon(struct held *held); /* what was begun came to nothing */

/* NULL: it is not held, or by another token. Borrowed until it is dropped. */
const struct task *held_find(const struct held *held, struct task_id id, uint64_t token);
void held_drop(struct held *held, struct task_id id);

#endif
