/* work/pool.h: what the files of the worker pool share.
 *
 * Thread: the pool's, but for what is atomic and for pool_note().
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_POOL_H
#define ERRAND_WORK_POOL_H

#include <semaphore.h>
#include <uv.h>

#include "work/exec.h"
#include "work/executor.h"
#include "work/handlers.h"

#define CLAIM_PAUSE_MS  200  /* before a claim that was refused is tried again */
#define GIVE_BACK_MS    1000 /* between asking the rest of a drain to stop and making it */
#define WORKER_NAME_MAX 32
#define CLAIM_QUICK_MAX 64 /* tasks of one claim, all but the last done at once */

enum slot_state {
    SLOT_IDLE,     /* quiet: nothing claimed */
    SLOT_CLAIMING, /* its claim is with the engine */
    SLOT_PAUSED,   /* its claim was refused */
    SLOT_BUSY
};

struct slot {
    struct pool *pool;
    size_t number; /* 1 … */
    enum slot_state state;
    char names[WORKER_KINDS][WORKER_NAME_MAX]; /* errand:KIND:NUMBER */
    struct str *workers;                       /* the name for each of the pool's types */
    struct command claim, stop;
    struct arena arena; /* the claim's */
    bool starting;      /* start_all() is at work: it goes on by itself */
    bool lacks;         /* this server had no room for its attempt: a pause follows */
    int64_t again_ms;   /* PAUSED until then */
    struct attempt attempt;
    int64_t told_ms; /* when its job was told to stop; 0: it was not */
    bool lost;       /* its run function had its grace period and still runs */
    /* function.c: the slot's thread, from its first run function on */
    struct {
        pthread_t id;
        bool started;
        sem_t go;
        struct function *next; /* given with `go`; NULL: end */
        int abort_fd;
    } thread;
};

enum note_kind { NOTE_ABORT, NOTE_QUIET, NOTE_STOP, NOTE_SAID, NOTE_DONE };

/* What other threads tell the pool. */
struct note {
    struct link link;
    enum note_kind kind;
    struct task_id id; /* ABORT */
    int32_t attempt;
    enum abort_why why;
    struct function *function; /* SAID, DONE */
    double percent;            /* SAID: negative: a log line */
    struct str text;           /* owned by the note */
};

struct pool {
    struct engine *engine;
    struct arena arena; /* holds copies of what the options point to */
    struct str *queues;
    size_t queues_count;
    int64_t grace_ms;
    struct str documents; /* the folder of document.append */
    void (*rested)(void *arg);
    void *rested_arg;
    struct handlers handlers;

    pthread_t thread;
    uv_loop_t loop;
    uv_async_t wake;
    uv_prepare_t before_sleep;
    uv_timer_t alarm;
    struct channel answers; /* commands that the engine gives back */
    struct channel notes;

    struct desk desk;
    struct slot *slots;
    size_t slots_count;
    uint64_t serial;
    struct starter *starter; /* of commands; borrowed */
    bool is_short;           /* something lacked to start an attempt, and it was said */

    bool quiet, giving_back, stopping, done;
    bool stuck;           /* a run function holds a thread: nothing may be freed */
    int64_t give_back_ms; /* quiet: when what still runs is asked to stop */
    int64_t force_ms;     /* giving back: when it is made to */
    _Atomic size_t busy, lost;
};

int64_t pool_now_ms(const struct pool *pool);        /* real, since some start */
void pool_note(struct pool *pool, struct note note); /* any thread */

/* slot.c */
void slot_init(struct slot *slot, struct pool *pool, size_t number);
void slot_fini(struct slot *slot);
void slot_claim(struct slot *slot);
void slot_unclaim(struct slot *slot);
void slot_answered(struct slot *slot, struct command *claim);
void slot_abort(struct slot *slot, enum job_told why);
void slot_force(struct slot *slot); /* gives back without waiting for what cannot be stopped */
int64_t slot_tick(struct slot *slot, int64_t now_ms); /* when to look again; -1: no need */

/* function.c */
void function_said(struct function *function, const struct note *note);
void function_done(struct function *function);
void function_thread_end(struct slot *slot); /* of a slot that runs nothing */

/* builtin.c: the wake-up of a sleep was answered. */
void sleep_woken(struct command *wake);

#endif
