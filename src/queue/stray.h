/* queue/stray.h: run functions that were told to stop, did not, and still run.
 *
 * Their tasks are finished (or wait for a retry); their documents stay held, and the task does not
 * start again, until the function returns. Nothing of this outlives the process, because the
 * functions do not either.
 *
 * Thread: engine. Keeps: G3 (I5: the lease belongs to a run function that has not returned).
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_STRAY_H
#define ERRAND_QUEUE_STRAY_H

#include "base/map.h"
#include "task/task.h"

struct stray {
    struct map_node node;
    struct task_id id;
    struct task_id holder;   /* of the document: the task itself or its family */
    struct str document;     /* owned; absent: none */
    char lock[TASK_ID_TEXT]; /* the value of the document's lock */
    bool frees;              /* ... its document, by coming back */
    uint64_t returned_in;    /* the number of the batch that says so; it may come to nothing */
};

struct strays {
    struct map by_id;
    uint64_t batch; /* the number of the present one */
};

void strays_fini(struct strays *strays);
struct stray *stray_find(const struct strays *strays, struct task_id id); /* NULL: none */
void stray_add(struct strays *strays, const struct task *task, struct str lock);
bool stray_holds(const struct strays *strays, struct task_id holder); /* a document for it */
void stray_remove(struct strays *strays, struct stray *stray);

#endif
