/* work/job.h: one attempt inside this server: what is to be done, and how it is reported.
 *
 * The desk holds the jobs of the workforce and is its way to the engine: what is put on it is given
 * to the engine at once by desk_send(), so that the end of one attempt and the claim for the next
 * travel together and a hand-wound clock sees no gap between them. Progress and log lines are
 * collected and sent as heartbeats; the lease is the engine's own to renew.
 *
 * Answers come back through the desk's channel. The loop takes them out and offers each to
 * desk_take(); what the desk did not send itself (claims, wake-ups) is the loop's own.
 *
 * Thread: the workers'. Times are real, in milliseconds, from any origin.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_JOB_H
#define ERRAND_WORK_JOB_H

#include "base/arena.h"
#include "base/buf.h"
#include "queue/queue.h"

#define JOB_REPORT_MS  250 /* between two reports of one job: at most 4 a second */
#define JOB_AGAIN_MS   500 /* before an end that the store could not take is said again */
#define JOB_DETAIL_MAX (8 * KIB)

struct claimer;
struct executor;
struct handler;

struct desk {
    struct engine *engine;
    struct channel *answers; /* reply_to of all that is put on the desk */
    /* The desk's own: */
    struct list running, ending; /* job.link */
    struct list out;             /* command.link: for the next desk_send() */
    bool closing;                /* an end that cannot be told is dropped instead of said again */
};

void desk_init(struct desk *desk, struct engine *engine, struct channel *answers);
void desk_put(struct desk *desk, struct command *command); /* fills reply_to */
void desk_send(struct desk *desk);
bool desk_take(struct desk *desk, struct command *answered, int64_t now_ms); /* false: not mine */
/* Sends the heartbeats that are due; answers in how many milliseconds to call again, -1: when
 * something else has happened. */
int64_t desk_tick(struct desk *desk, int64_t now_ms);
bool desk_idle(const struct desk *desk); /* nothing runs and every end has been answered */
void desk_close(struct desk *desk);      /* from now on nothing is said twice */

/* ---- A job ---- */

/* Why a job was told to stop. The first telling stays, but for a time-out. */
enum job_told { TOLD_NOTHING, TOLD_RELEASE, TOLD_CANCEL, TOLD_TIMEOUT };
enum job_told told_of(enum abort_why why);

struct job {
    struct link link;
    struct claimer *claimer;
    const struct executor *by;
    const struct handler *handler; /* what it is done with, if there is a choice */
    void *state;                   /* the executor's own */
    struct task task;              /* its texts live as long as the job */
    struct task_lease lease;
    const struct task *claimed; /* as the claim was given it; only while start() runs */
    enum job_told told;
    int64_t told_ms; /* when for the first time */
    bool lost;       /* the engine no longer waits for it */

    struct arena arena;
    /* Reports that wait for the next heartbeat: */
    double percent; /* negative: none */
    struct buf message, log;
    int64_t reported_ms;
    /* Commands on their way, and how many: */
    struct command beat, last_beat, end, returned;
    struct arena beat_arena;
    struct finish finish;
    int under_way;
    bool beating, ended;
    int64_t again_ms; /* when to say the end again; 0: it was not refused */
};

/* Has its claimer's executor start it. What `task` points to is copied. */
void job_start(struct claimer *claimer, const struct task *task);
struct job *job_find(const struct desk *desk, struct task_id id, int32_t attempt); /* NULL: none */

void job_progress(struct job *job, double percent, struct str message); /* message may be absent */
void job_log(struct job *job, struct str text);     /* one line or several; the newest are kept */
void job_abort(struct job *job, enum job_told why); /* asks it to stop; it may have then */
void job_kill(struct job *job);                     /* makes it stop, if need be */

/* How the work ended. */
struct job_end {
    bool completed;
    struct str result;       /* JSON; or absent */
    struct task_error error; /* when not completed; its detail is JSON */
    bool retry;
    int64_t retry_after_ms; /* the retry waits at least this long */
    bool released;    /* not completed, not failed either: given back without using a retry … */
    int64_t delay_ms; /* … for as long as this */
    bool costs;
    struct task_cost cost; /* if it `costs`: what the task has cost so far */
};
/* What it is called. What was told to the job decides with it: after a time-out it is a TIMEOUT
 * whatever came of it, work that completed wins over a cancel and a release, other ends do not. */
enum task_outcome job_judge(enum job_told told, const struct job_end *end);

/* The work has stopped: its claimer is free, and the job is the desk's from now on. */
void job_finish(struct job *job, const struct job_end *end);
/* This server lacks something (`what`) to do it: nobody's fault, so it is given back without using
 * a retry, and its claimer pauses. */
void job_put_off(struct job *job, const char *what);
/* The work does not stop and ends with the process: its claimer stays taken. The job is given back;
 * or nothing is said, if the engine has given it up already: then it keeps its document. */
void job_leave_behind(struct job *job, bool given_up);

/* The sooner of two waits; -1: never. */
static inline int64_t job_sooner(int64_t a_ms, int64_t b_ms)
{
    return a_ms < 0 ? b_ms : b_ms < 0 ? a_ms : MIN(a_ms, b_ms);
}

#define JOB_FAIL(code_text, message_text)                                                          \
    ((struct job_end){.retry = true, .error = {.code = STR(code_text), .message = (message_text)}})

#endif
