/* work/slot.c: the workers that `[workers] count` asks for. Each does one task at a time, of any
 * type that has a handler in here.
 *
 * Thread: the workers'.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdio.h>

#include "work/loop.h"

#define QUICK_MAX 64 /* tasks of one claim, all but the last done at once */

void slot_init(struct claimer *claimer)
{
    const struct handlers *handlers = &claimer->work->handlers;
    claimer->workers = arena_array(&claimer->work->arena, struct str, handlers->count);
    for (int kind = 0; kind < WORKER_KINDS; kind++) {
        snprintf(claimer->names[kind], WORKER_NAME_MAX, "errand:%s:%zu",
                 task_worker_kind_name((enum worker_kind)kind), claimer->number);
    }
    for (size_t i = 0; i < handlers->count; i++) {
        claimer->workers[i] = str_of(claimer->names[handlers->at[i].kind]);
    }
}

static bool wants(struct claimer *claimer, struct command_claim *claim)
{
    const struct handlers *handlers = &claimer->work->handlers;
    claim->worker = str_of(claimer->names[WORKER_RUN]);
    claim->workers = claimer->workers;
    claim->types = handlers->types;
    claim->types_count = handlers->count;
    claim->quick = handlers->quick;
    claim->max = QUICK_MAX;
    return claimer->held == 0;
}

/* All but the last of a claim are done when start() returns: still one at a time. */
static void start(struct job *job)
{
    assert(job->claimer->held == 1);
    job->handler = handlers_find(&job->claimer->work->handlers, job->task.type);
    if (job->handler == NULL) {
        job_finish(job, &(struct job_end){.released = true});
        return;
    }
    job->by = job->handler->by;
    job->by->start(job);
}

const struct executor by_slot = {.wants = wants, .start = start};
