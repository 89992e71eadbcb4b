/* cli/work.h: what the files of `errand work` share.
 *
 * One thread claims and hands jobs over; the main thread starts commands, listens to them and
 * finishes their jobs. Leases are liberrand's business.
 *
 * Thread: the main one, but for what is atomic.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_WORK_H
#define ERRAND_CLI_WORK_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <uv.h>

#include "base/arena.h"
#include "base/channel.h"
#include "cli/remote.h"
#include "errand/client.h"
#include "work/run.h"
#include "work/starter.h"

#define WORK_JOBS_MAX 256
#define WORK_GRACE_MS (10 * SECOND_MS)
#define WORK_LEASE_MS (60 * SECOND_MS)
#define WORK_SHORT_MS SECOND_MS /* until a task that there was no room for is offered again */

struct work_options {
    struct remote_options remote;
    struct option_many types, queues, env;
    int64_t jobs, lease_ms, grace_ms;
    struct str worker;
};

struct work {
    const struct work_options *options;
    struct arena arena;
    char **argv, **env; /* of every command; what is each task's own is put before env */
    size_t env_count;
    errand_client *client;
    struct starter *starter; /* of commands: they end with us, however we do */
    uv_loop_t loop;
    uv_async_t wake; /* something was claimed, or a job should stop, or the claimer has ended */
    uv_signal_t term, interrupt;
    uv_timer_t grace; /* the server asked to stop: how long what runs may still run */
    struct list runs; /* work_run.link */
    bool stopping;    /* told twice: nothing runs on */
    /* The claimer's: */
    pthread_t claimer;
    struct channel claimed; /* handed.link */
    sem_t free;             /* as many as commands may be started */
    _Atomic bool quiet;     /* told once: nothing more is claimed */
    _Atomic bool claimer_ended;
    bool refused; /* written before it ends: why it ended by itself */
    struct errand_error error;
};

/* ---- One task under way (work_run.c) ---- */

struct work_run {
    struct link link;
    struct work *work;
    errand_job *job;
    struct run *run;    /* of the command */
    bool asked;         /* to stop: it was cancelled or its lease was lost */
    enum job_told told; /* TOLD_RELEASE: it is to be given back */
    int64_t began_us;
};

void work_run_start(struct work *work, errand_job *job); /* the job is the run's */
void work_run_stop(struct work_run *run);      /* SIGTERM; SIGKILL after the grace period */
void work_run_give_back(struct work_run *run); /* SIGKILL, and the task goes back */

/* Whether the command is there and can be started, before anything is claimed: each task would fail
 * and use up its retries. A name without a slash is looked for in PATH, as at its start. */
MUST_CHECK bool work_check(const char *command, struct err *err);

void work_rested(struct work *work); /* work.c: a run has ended */

#endif
