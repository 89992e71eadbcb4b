/* schedule/planner.h: fires schedules when they are due, keeps their history and delivers results.
 *
 * A guest of the engine (queue/guest.h): every occurrence is written in one transaction as an
 * execution, the task that runs it and the schedule's next time, so that a crash in between loses
 * and doubles none. No schedule lives in memory: the planner knows when the next one is due and
 * reads it then. Only the leader fires; the end of a run is noted by whatever node ends its task:
 * with that end go what it cost (usage.h) and one task for each channel of its schedule
 * (delivery.h), or none of them.
 *
 * Clients' wishes come as commands (COMMAND_GUEST): planner_ask() makes one of a `struct
 * planner_order`. Lists and details are read by the reader threads (store/record.h).
 *
 * Thread: engine, but for planner_new(), planner_free() and planner_ask().
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_SCHEDULE_PLANNER_H
#define ERRAND_SCHEDULE_PLANNER_H

#include "queue/guest.h"
#include "schedule/execution.h"
#include "schedule/notification.h"
#include "schedule/schedule_plan.h"

/* Schedules that one batch takes on: at first, and while they are small. Whoever asks for something
 * meanwhile waits for one such batch, some 10 ms. */
#define PLANNER_DUE_MIN      25
#define PLANNER_DUE_MAX      100
#define PLANNER_DUE_BYTES    (16 * MIB)
#define PLANNER_CATCH_UP     100  /* missed runs of one schedule in one batch */
#define PLANNER_MISFIRES_MAX 1000 /* missed times that `all` makes up; older ones are left out */
#define PLANNER_BACKFILL_MAX 1000 /* runs of one backfill */
#define PLANNER_POLL_MS      SECOND_MS /* a shared store: another node may have saved one */

struct planner;

struct planner_options {
    struct zones *zones; /* borrowed */
    struct plan_limits limits;
    int64_t misfire_after_ms; /* [schedule] misfire_after */
    int64_t retention_ms;     /* how long executions and notifications are kept; 0: for ever */
    int64_t zones_every_ms;   /* how often to look for new time zone data; 0: only at the start */
    struct str default_type;  /* of tasks: prompt, or remind where there is no LLM; borrowed */
    bool shared;              /* other nodes write to the same store */
    bool is_told;             /* ... and the engine says when to look at it: no polling */
    int64_t queries_max;      /* of one user in one day, UTC; 0: any number */
};

struct planner *planner_new(const struct planner_options *options);
void planner_free(struct planner *planner);
void planner_set_queries_max(struct planner *planner,
                             int64_t queries);        /* while it runs; any thread */
struct guest *planner_guest(struct planner *planner); /* for engine_options.guests */

/* What this node has done for schedules since its start; for /metrics. */
struct planner_figures {
    uint64_t runs;             /* begun: on time, late, by hand, by a backfill */
    uint64_t failed;           /* ended in FAILURE */
    uint64_t overlapped;       /* times left out because the last run had not ended */
    uint64_t missed;           /* ... because nobody could run them when they were due */
    struct histogram lateness; /* of runs that their rule asked for, beside their time */
};
/* Answered like any command, with *out filled. */
void planner_ask_figures(struct planner *planner, struct command *command,
                         struct planner_figures *out);

/* ---- Wishes ---- */

enum planner_verb {
    PLANNER_CREATE, /* `schedule`, settled; out: as it was saved */
    PLANNER_CHANGE, /* as `change` says; out: as it was saved */
    PLANNER_REMOVE,
    PLANNER_PAUSE, /* with `reason`, until `until_ms` */
    PLANNER_RESUME,
    PLANNER_RUN,      /* now, beside its rhythm; out: `execution` */
    PLANNER_BACKFILL, /* the occurrences of [from_ms, to_ms] that never ran; out: `count` */
    PLANNER_REPLAN,   /* an outside wake-up */
    PLANNER_VERBS
};

struct planner_order {
    enum planner_verb verb;
    struct task_id id;                    /* of the schedule; not of CREATE */
    struct str owner;                     /* only if it is this user's; absent: anybody's */
    struct schedule schedule;             /* CREATE: in. All: out */
    const struct schedule_change *change; /* CHANGE */
    struct str reason;                    /* PAUSE; absent: none */
    int64_t until_ms;                     /* PAUSE: it resumes by itself then; 0: never */
    struct str key;           /* RUN: a repeat with the same key answers the first one */
    struct str chat, purpose; /* RUN: instead of the schedule's; absent: the same */
    int64_t from_ms, to_ms;   /* BACKFILL */
    bool again;               /* BACKFILL: those that ran too */
    struct task_id execution; /* out of RUN */
    size_t count;             /* out of BACKFILL */
};

/* Turns a command of the caller's into that wish. Answered like any command; a schedule that is
 * not there, or not the owner's, is ERR_NOT_FOUND; times that cannot be are ERR_REFUSED; runs that
 * may not begin today are ERR_BUSY. */
void planner_ask(struct planner *planner, struct command *command, struct planner_order *order);

/* A notification was read. Said twice, the first time counts. */
struct notification_order {
    struct task_id id;
    struct str owner;                 /* only if it is this user's; absent: anybody's */
    struct notification notification; /* out; texts in the command's arena */
};
void planner_ask_read(struct planner *planner, struct command *command,
                      struct notification_order *order);

struct zones *planner_zones(const struct planner *planner);
const struct plan_limits *planner_limits(const struct planner *planner);

#endif
