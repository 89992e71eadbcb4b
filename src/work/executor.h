/* work/executor.h: what every way to run a task has in common.
 *
 * An executor starts an attempt and calls attempt_end() once, at once or later, when the work has
 * really stopped. How the end is told (completed, timed out, cancelled, given back) is decided in
 * job.c, the same for all.
 *
 * Thread: the pool's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_EXECUTOR_H
#define ERRAND_WORK_EXECUTOR_H

#include "errand/handler.h"
#include "work/job.h"

struct attempt;
struct pool;
struct program;

struct slot;

struct executor {
    void (*start)(struct attempt *attempt);
    void (*abort)(struct attempt *attempt); /* please stop; job->told says why */
    void (*kill)(struct attempt *attempt);  /* stop now, by force; NULL: that cannot be done */
    bool at_once;                           /* the attempt has ended when start() returns */
};

extern const struct executor exec_function; /* a run function, on the slot's thread */
extern const struct executor exec_program;  /* a command */
extern const struct executor exec_noop, exec_echo, exec_fail, exec_sleep;

/* Which executor runs a type, and with what. */
struct handler {
    struct str type;
    enum worker_kind kind;
    const struct executor *by;
    errand_run *run;               /* of exec_function */
    const struct service *service; /* likewise, instead of `run` */
    struct program *program;       /* of exec_program */
    bool built_in;
};

/* One job in a slot. */
struct attempt {
    struct pool *pool;
    struct slot *slot;
    struct job *job; /* NULL: none, or given back without waiting for its run function */
    const struct handler *handler;
    void *state; /* the executor's own, from start() to attempt_end() */
};

void attempt_end(struct attempt *attempt, const struct job_end *end);
/* This server lacks something (`what`) to run it: nobody's fault, so it is given back without using
 * a retry, and the slot pauses. */
void attempt_put_off(struct attempt *attempt, const char *what);

#endif
