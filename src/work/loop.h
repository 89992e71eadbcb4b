/* work/loop.h: what the files of the workforce share.
 *
 * Thread: the workers', but for what is atomic and for workforce_note().
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_LOOP_H
#define ERRAND_WORK_LOOP_H

#include <semaphore.h>
#include <uv.h>

#include "work/executor.h"
#include "work/handlers.h"
#include "work/workforce.h"

#define CLAIM_PAUSE_MS  200       /* before a claim that was refused is tried again */
#define CLAIM_SHORT_MS  SECOND_MS /* pause after this server lacked what an attempt needs */
#define CLAIM_SERIALS   (UINT64_C(1) << 62) /* claims and wake-ups count from here */
#define GIVE_BACK_MS    1000 /* between asking the rest of a drain to stop and making it */
#define WORKER_NAME_MAX 32

/* Somebody who takes tasks: has one claim with the engine at a time, and the jobs that came of it.
 */
struct claimer {
    struct workforce *work;
    const struct executor *by;
    size_t number;              /* 1 …, of those with the same executor */
    struct arena arena;         /* the claim's */
    struct command claim, stop; /* stop.sender: not answered yet */
    bool asked;                 /* the claim is with the engine */
    bool stale;                 /* … and no longer what it should ask for */
    bool look;                  /* by->wants() may have something to say */
    int64_t again_ms;           /* no claim before this */
    size_t held;                /* jobs that have not let go of it */
    /* slot.c */
    char names[WORKER_KINDS][WORKER_NAME_MAX]; /* errand:KIND:NUMBER */
    struct str *workers;                       /* the name for each of the slots' types */
    /* function.c: a thread, from the first run function on */
    struct {
        pthread_t id;
        bool started;
        sem_t go;
        struct function *next; /* given with `go`; NULL: end */
        int abort_fd;
    } thread;
    struct function *function; /* what runs there; NULL: nothing */
    bool lost;                 /* it had its grace period and still runs */
};

enum note_kind { NOTE_ABORT, NOTE_QUIET, NOTE_STOP, NOTE_SAID, NOTE_DONE, NOTE_RUN, NOTE_CLOUD };

/* What other threads tell the workers'. */
struct note {
    struct link link;
    enum note_kind kind;
    struct task_id id; /* ABORT */
    int32_t attempt;
    enum abort_why why;
    struct function *function; /* SAID, DONE */
    double percent;            /* SAID: negative: a log line */
    struct str text;           /* owned by the note */
    struct started *started;   /* RUN: owned too */
};

struct workforce {
    struct arena arena; /* holds copies of what the options point to */
    struct str *queues;
    size_t queues_count;
    int64_t grace_ms;
    bool traced;          /* spans of attempts are sent somewhere */
    struct str documents; /* the folder of document.append */
    void (*rested)(void *arg);
    void *rested_arg;
    struct handlers handlers;
    struct push *push;       /* NULL: nothing is pushed */
    struct crew *crew;       /* NULL: nobody works for teams */
    struct starter *starter; /* of commands; borrowed */

    pthread_t thread;
    bool started;
    uv_loop_t loop;
    uv_async_t wake;
    uv_prepare_t before_sleep;
    uv_timer_t alarm;
    struct channel answers;     /* commands that the engine gives back */
    struct channel notes, news; /* team_news.link */

    struct desk desk;
    struct claimer *claimers;
    size_t claimers_count;
    uint64_t serial;
    bool is_short; /* something lacked to start a job, and it was said */

    bool quiet, giving_back, stopping, done;
    bool stuck;           /* a run function holds a thread: nothing may be freed */
    int64_t give_back_ms; /* quiet: when what still runs is asked to stop */
    int64_t force_ms;     /* giving back: when it is made to */
    _Atomic size_t lost, pushing;
};

int64_t workforce_now_ms(const struct workforce *work);        /* real, since some start */
void workforce_note(struct workforce *work, struct note note); /* any thread */

/* claimer.c */
void claimer_look(struct claimer *claimer); /* what it wants may have changed */
void claimer_pause(struct claimer *claimer, int64_t pause_ms);
void claimer_withdraw(struct claimer *claimer); /* the claim, should one be with the engine */
void claimer_let_go(struct claimer *claimer);   /* one of its jobs is over */
void claimer_answered(struct claimer *claimer, struct command *answered);
int64_t claimer_tick(struct claimer *claimer, int64_t now_ms); /* when to look again; -1: no need */

/* slot.c */
void slot_init(struct claimer *claimer);

/* function.c */
void function_said(struct function *function, const struct note *note);
void function_done(struct function *function);
int64_t function_tick(struct claimer *claimer, int64_t now_ms);
void function_thread_end(struct claimer *claimer); /* of one that runs nothing */

/* builtin.c: the wake-up of a sleep was answered. */
void sleep_woken(struct command *wake);

/* push.c */
MUST_CHECK bool push_open(struct workforce *work, const struct push_settings *settings,
                          struct claimer *claimer, struct claimer *cloud, struct err *err);
struct claimer *push_cloud_claimer(const struct push *push);
void push_cloud_wake(struct push *push);
void push_close(struct push *push); /* nothing is under way. NULL is welcome */

/* crew.c */
MUST_CHECK bool crew_open(struct workforce *work, const struct workforce_options *options,
                          struct claimer *claimers, struct err *err);
void crew_close(struct crew *crew); /* nobody works. NULL is welcome */

#endif
