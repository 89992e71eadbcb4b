/* task/hint.h: which task could start next: what a broker proposes and a claim asks for.
 *
 * Order everywhere (G3, G4): priority, then queued_ms, then creation (id).
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TASK_HINT_H
#define ERRAND_TASK_HINT_H

#include "task/task.h"

struct hint {
    struct task_id id;
    struct str type, queue;
    struct str document; /* absent: none */
    enum task_priority priority;
    int64_t queued_ms;
};

/* Which tasks a claim may take. */
struct want_queue {
    struct str name;
    size_t room; /* how many of this queue's tasks may start now (pause, limits); SIZE_MAX: any */
};
struct want {
    const struct str *types; /* none: any type */
    size_t types_count;
    const struct want_queue *queues;
    size_t queues_count;
    bool any_queue; /* every queue that is not named in `queues`, without limit (in-server workers)
                     */
};

#endif
