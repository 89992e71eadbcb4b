/* work/function.h: run functions: the far side of errand/handler.h.
 *
 * A function is one run of one: it has its own copy of what the run function may look at, so that
 * it stays whole when the pool cannot wait for it any longer.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_FUNCTION_H
#define ERRAND_WORK_FUNCTION_H

#include "errand/handler.h"
#include "queue/service.h"
#include "work/pool.h"

#define FUNCTION_SAID_MAX                                                                          \
    256 /* reports on their way to the pool; more are dropped until it reads */

struct function {
    errand_task base; /* first: what the run function sees */
    struct slot *slot;
    errand_run *run;
    const struct service *service; /* instead of `run`; NULL: none */
    struct task_id task;
    struct arena arena;
    struct str payload; /* absent: none */
    char id[TASK_ID_TEXT];
    const char *type, *document; /* document NULL: none */
    int attempt;
    int abort_fd;
    _Atomic bool aborted;
    _Atomic size_t said; /* notes under way */
    /* Written by the run function's thread, read by the pool after NOTE_DONE: */
    int returned;
    bool failed, retry;
    struct str result, code, message;
    struct service_end end; /* of a service */
};

extern const struct errand_calls function_calls;

int function_append(errand_task *task); /* document.append (append.c) */

/* service.c: runs it, and says how it ended; `before` is what earlier attempts cost. */
int function_serve(struct function *function);
struct job_end function_served(const struct function *function, const struct task_cost *before);

#endif
