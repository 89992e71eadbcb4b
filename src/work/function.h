/* work/function.h: run functions: the far side of errand/handler.h.
 *
 * A function is one run of one: it has its own copy of what the run function may look at, so that
 * it stays whole when the server cannot wait for it any longer.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_FUNCTION_H
#define ERRAND_WORK_FUNCTION_H

#include "errand/handler.h"
#include "queue/service.h"
#include "work/loop.h"

/* Reports on their way to the workers' thread; more are dropped until it reads. */
#define FUNCTION_SAID_MAX 256

struct function {
    errand_task base; /* first: what the run function sees */
    struct claimer *claimer;
    struct job *job; /* NULL: given back without waiting for this. The workers' thread's */
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
    /* Written by the run function's thread, read by the workers' after NOTE_DONE: */
    int returned;
    bool failed, retry;
    struct str result, code, message;
    struct service_end end; /* of a service */
};

extern const struct errand_calls function_calls;

/* Two of by_function's verbs, for executors that differ in what they claim. */
void function_start(struct job *job); /* job->handler says what runs */
void function_abort(struct job *job);

int function_append(errand_task *task); /* document.append (append.c) */

#endif
