/* work/executor.h: what differs between the ways to do a task: four verbs.
 *
 * `wants` says what a claimer (loop.h) would take now; the loop claims it. `start` begins a job,
 * which ends with one call of job_finish(), at once or later, when the work has really stopped.
 * What the end is called (completed, timed out, cancelled, given back) is decided by job_judge(),
 * the same for all.
 *
 * Thread: the workers'.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_EXECUTOR_H
#define ERRAND_WORK_EXECUTOR_H

#include "errand/handler.h"
#include "work/job.h"

struct claimer;
struct program;
struct push_target;

struct executor {
    /* Fills types, queues, names of workers and `max`; false: nothing now, and it is asked again
     * after claimer_look() or the end of a job. NULL: another one claims for it. */
    bool (*wants)(struct claimer *claimer, struct command_claim *claim);
    void (*start)(struct job *job);
    void (*abort)(struct job *job); /* please stop; job->told says why */
    void (*kill)(struct job *job);  /* stop now, by force; NULL: it needs none */
    bool at_once;                   /* the job has ended when start() returns */
};

extern const struct executor by_slot;     /* claims for the next five */
extern const struct executor by_function; /* a run function, on the claimer's thread */
extern const struct executor by_program;  /* a command */
extern const struct executor by_noop, by_echo, by_fail, by_sleep;
extern const struct executor by_push;  /* an HTTP request */
extern const struct executor by_cloud; /* one that its task says itself: the Cloud Tasks API */
extern const struct executor by_mate;  /* a teammate: the language model does it */

/* Which executor runs a type, and with what. */
struct handler {
    struct str type;
    enum worker_kind kind;
    const struct executor *by;
    errand_run *run;               /* of by_function */
    const struct service *service; /* likewise, instead of `run` */
    struct program *program;       /* of by_program */
    bool built_in;
};

#endif
