/* queue/command.h: what can be asked of the engine: a struct for each kind of command, and one
 * table that says of each what it is.
 *
 * Texts in a command are borrowed from its arena, which must outlive the answer; the engine puts
 * the answer's texts into the same arena. From giving to answering the command is the engine's
 * alone.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_COMMAND_H
#define ERRAND_QUEUE_COMMAND_H

#include "base/channel.h"
#include "base/heap.h"
#include "base/list.h"
#include "broker/health.h"
#include "queue/series.h"
#include "store/store.h"
#include "task/life.h"

#define CLAIM_MAX      1000
#define CLAIM_WAIT_MAX (60 * SECOND_MS)
#define CREATE_MAX     1000
#define FINISH_MAX     1000

struct batch;
struct command;

enum command_kind {
    COMMAND_CREATE,
    COMMAND_CLAIM,
    COMMAND_CLAIM_STOP,
    COMMAND_HEARTBEAT,
    COMMAND_FINISH,
    COMMAND_CANCEL,
    COMMAND_REVIVE,
    COMMAND_CHANGE,
    COMMAND_KILL,
    COMMAND_REMOVE,
    COMMAND_BULK,
    COMMAND_RETURNED,
    COMMAND_GUEST,
    COMMAND_REVIEW,
    COMMAND_HEARD,
    COMMAND_LEAD,
    COMMAND_DOUBT,
    COMMAND_ELSEWHERE,
    COMMAND_RESUME,
    COMMAND_QUEUE,
    COMMAND_QUEUES,
    COMMAND_WHY,
    COMMAND_DOCUMENT,
    COMMAND_DOCUMENTS,
    COMMAND_RELEASE,
    COMMAND_WORKERS,
    COMMAND_WORKER,
    COMMAND_BEAT,
    COMMAND_STATS,
    COMMAND_SERIES,
    COMMAND_CLOCK,
    COMMAND_WAKE,
    COMMAND_WAKE_STOP,
    COMMAND_DRAIN,
    COMMAND_KINDS
};

/* ---- Creating ---- */

struct order {
    struct task
        task; /* in: the order, checked with task_check_order(). out: the task as it is now */
    int64_t delay_ms; /* in: negative: none; otherwise scheduled_ms is now + delay */
    bool named;       /* in: task.id is given; otherwise it is made */
    bool known;       /* out: its idempotencyKey was there already; `task` is the first one */
    size_t parent; /* in: 1 + the place of its parent among the orders; 0: none. After its parent */
    const struct order_need {
        struct task_id id; /* a task that exists, or */
        size_t order;      /* 1 + the place of another order of the same request */
    } * needs;             /* in: dependsOn */
    size_t needs_count;
    bool skipped;          /* out: the child of a known task: it was not created again */
    struct order *same_as; /* the engine's own: an earlier order with the same key */
};

struct command_create {
    struct order *orders; /* all or nothing */
    size_t count;
};

/* ---- Working ---- */

struct finish {
    struct task_id id;
    struct task_lease lease;
    enum task_outcome
        outcome; /* COMPLETED, FAILED, RELEASED; in the server TIMEOUT, CANCELLED too */
    struct str result;
    struct task_error error;
    bool retry;             /* of FAILED */
    int64_t retry_after_ms; /* of FAILED: its retry waits at least this long */
    int64_t delay_ms;       /* of RELEASED */
    struct task_cost cost;
    struct err err;   /* out: each item has its own */
    struct task task; /* out: whole */
};

struct command_finish {
    struct finish *items;
    size_t count;
};

/* How far the finishes are that a claim brings along. */
enum claim_ending {
    ENDING_OPEN,    /* to be decided, or decided in a batch that came to nothing */
    ENDING_DECIDED, /* in the batch that is under way, or whose commit answered the claim */
    ENDING_SAVED,   /* on disk, whatever becomes of the claim */
};

struct command_claim {
    struct str worker;
    const struct str
        *workers;            /* who runs a task of types[i], where that differs by type; or NULL */
    const struct str *types; /* none: any */
    size_t types_count;
    const bool *quick; /* beside types: tasks that end as soon as they start. Behind one of them the
                          claim goes on, up to `max`; any other is its last. NULL: all alike */
    const struct str *queues; /* none: "default" */
    size_t queues_count;
    bool any_queue; /* every queue there is: workers inside the server */
    size_t max;
    bool in_order;    /* the queues one after the other as they are named, not as one line */
    int64_t lease_ms; /* of a worker outside; that of work in the server is the engine's to say */
    int64_t (*lease_of)(const struct task *task); /* the task's own lease instead; or NULL */
    bool wait; /* hold the answer until there is a task, wait_ms have passed, or COMMAND_CLAIM_STOP
                  names the serial */
    int64_t wait_ms; /* of real time, also where the clock is wound by hand; 0: no limit */
    uint64_t serial; /* the sender's own number for this claim, unique per engine */
    struct command_finish finish; /* attempts that are ended first; each has its own answer */
    enum claim_ending ending;     /* out: ENDING_SAVED: they hold even if the claim failed */
    struct task *tasks;           /* out: whole tasks, RUNNING, their token in `token` */
    struct claim_facts {
        struct task_dependency *dependencies;
        size_t dependencies_count;
    } * facts;                 /* out: beside each task, what it depended on */
    size_t count;              /* out */
    enum worker_signal signal; /* out: what is asked of the worker; with QUIET it gets nothing */
    struct claim_place
        *places; /* the engine's own while the claim waits: one in each queue's line */
    struct link waiting;
    struct heap_node deadline; /* the engine's own: among claims.deadlines ... */
    int64_t deadline_real_ms;  /* ... with this time; 0: not set yet */
    size_t proposal; /* the engine's own: 1 + its place among the batch's proposals; 0: none */
};

struct command_claim_stop {
    uint64_t serial; /* that claim, if it still waits, is answered with no task */
};

struct command_heartbeat {
    struct task_id id;
    struct task_lease lease;
    int64_t extend_ms;         /* negative: as the claim asked */
    double progress;           /* negative: none */
    struct str message;        /* of the progress */
    struct str log;            /* lines, each ended by \n; or absent */
    bool cancel_requested;     /* out */
    int64_t lease_until_ms;    /* out */
    enum worker_signal signal; /* out: what is asked of the worker */
};

/* ---- Working inside the server ---- */

/* Why a running attempt should stop. */
enum abort_why {
    ABORT_CANCEL,
    ABORT_TIMEOUT,
    ABORT_LOST /* its lease is over or will be: the task belongs to another node */
};

/* A run function that was given up (its task is finished, its document still held) has returned. */
struct command_returned {
    struct task_id id;
};

/* Answered after that time on the engine's clock, or when COMMAND_WAKE_STOP names its serial. What
 * waits for it counts as at rest while the clock is wound by hand. */
struct command_wake {
    int64_t after_ms;
    uint64_t serial;
    bool stopped; /* out: woken before its time */
    /* The engine's own: */
    struct heap_node place;
    int64_t at_mono_ms;
};

/* ---- From the fleet: only where the store is shared ---- */

/* Looks at these tasks again: another node may have changed them, or may have died. What is QUEUED
 * is offered, deadlines are remembered, an attempt of ours whose cancel was requested is told. */
struct command_review {
    const struct task_id *ids;
    size_t count;
};

/* Tasks of these queues have become ready elsewhere; none named: perhaps any. */
struct command_heard {
    const struct str *queues;
    size_t count;
    bool all;      /* more than could be named */
    bool settings; /* queues were changed: read their settings again */
};

/* A node of the fleet cannot reach the broker, so what it says may not be all there is: claims ask
 * the store until the doubt is over. */
struct command_doubt {
    bool doubts;
};

struct command_lead {
    uint64_t epoch; /* 0: this node no longer leads */
};

/* ---- Steering ---- */

struct command_one { /* CANCEL, REVIVE, CHANGE, KILL, REMOVE */
    struct task_id id;
    struct str reason;       /* CANCEL */
    bool keeps_retries;      /* REVIVE: those it has used stay used */
    struct task_patch patch; /* CHANGE */
    struct task task;        /* out: whole */
};

enum bulk_verb { BULK_CANCEL, BULK_REVIVE, BULK_PURGE };

struct command_bulk {
    enum bulk_verb verb;
    struct task_filter filter; /* never empty but for its paging fields, which are the engine's */
    struct str reason;         /* BULK_CANCEL */
    size_t count;              /* out */
    /* The engine's own: */
    bool begun;                  /* only tasks that existed then */
    struct task_id chunk_before; /* where this chunk began, and the count then: a chunk may ... */
    size_t chunk_count;          /* ... have to be done again */
};

struct command_queue { /* PUT, pause, resume: only what is set changes */
    struct str name;
    bool has_paused, has_max_concurrent, has_rate, has_burst;
    struct store_queue set;
    struct queue_view view; /* out */
};

struct command_queues {
    struct queue_view *views; /* out, by name */
    size_t count;
};

/* ---- Asking ---- */

enum why_code {
    WHY_DOCUMENT_LOCKED,
    WHY_DEPENDENCIES,
    WHY_PARENT,
    WHY_NOT_DUE,
    WHY_RETRY_BACKOFF,
    WHY_QUEUE_PAUSED,
    WHY_QUEUE_LIMIT,
    WHY_WORKERS_BUSY,
    WHY_NO_WORKER,
    WHY_CODES
};
const char *why_code_name(enum why_code code);

struct why_reason {
    enum why_code code;
    struct str message;
    struct task_id task;   /* the holder of the document; or none */
    struct str worker;     /* its worker; or absent */
    int64_t since_ms;      /* 0: does not apply */
    int64_t until_ms;      /* 0: does not apply */
    int64_t ahead;         /* negative: does not apply */
    struct task_id *tasks; /* dependencies */
    size_t tasks_count;
};

struct command_why {
    struct task_id id;
    enum task_state state;      /* out */
    struct why_reason *reasons; /* out */
    size_t count;
};

#define DOCUMENTS_MAX ((size_t)1000) /* of one list */
struct document_view {
    struct str document;
    bool locked;
    struct task_id task;
    struct str worker;
    int64_t since_ms;
    struct task_id *waiting;
    size_t waiting_count;
    int64_t line; /* so many wait, however many are told */
};

struct command_document {
    struct str document;       /* DOCUMENT */
    size_t most;               /* DOCUMENTS */
    struct document_view view; /* out of DOCUMENT */
    struct document_view *all; /* out of DOCUMENTS: the locked ones, and who waits there first */
    size_t count;
};

struct command_release {
    struct str document;
    bool is_heard; /* another node asks: only for this attempt, and only if it runs here */
    int32_t attempt;
    bool is_asked; /* out: it runs on another node, which is told */
};

struct worker_view {
    struct str id;
    enum worker_kind kind;
    struct task_id *tasks;
    size_t tasks_count; /* none: idle */
    int64_t seen_ms;
    enum worker_signal signal;
};

/* What a worker asks for: no types are any, no queues are "default". */
struct wanted {
    struct str *types, *queues;
    size_t types_count, queues_count;
    bool any_queue;
};

/* How busy a node is, and what its workers would take. */
struct queue_load {
    double created_per_second, started_per_second, finished_per_second; /* over the last minute */
    int64_t waiting_claims;
    int64_t hints_layout;      /* BROKER_LAYOUT of the node; 0: an older one */
    struct series_sums series; /* since its start */
    int64_t line; /* store_ground.line for which all that runs there was compared with its row;
                     0: not known, LINE_OPEN: not yet */
    struct wanted *wanted;
    size_t wanted_count;
};
#define LINE_OPEN       ((int64_t)-1)
#define LOAD_WANTED_MAX 64 /* different ones of a node */

struct command_workers {
    struct worker_view *workers; /* out */
    size_t count;
    enum broker_health broker; /* out: of the engine's broker */
    bool holds;                /* out: it starts nothing until it is told to resume */
    struct queue_load load;    /* out */
};

struct command_resume { /* every node has compared what it runs with the rows of this line */
    int64_t line;
};

struct command_elsewhere { /* what the workers of other nodes would take */
    const struct wanted *wanted;
    size_t count;
};

struct command_worker { /* of an operator, to a worker outside */
    struct str id;
    enum worker_signal signal;
    bool heard;              /* another node was told: it is not told on */
    struct worker_view view; /* out */
};

/* A worker outside says that it is there, or whoever knows says that it has left. */
struct command_beat {
    struct str worker;
    enum worker_signal signal; /* in: what it does by itself. out: what it should do; never less */
    bool left;                 /* who comes by that name is another one */
};

struct command_stats {
    struct queue_stats stats; /* out */
};

struct command_series {
    int64_t minutes;
    const struct series_news *news; /* NULL: it is asked for */
    struct series_view view;        /* out */
};

struct command_clock { /* --test-clock only */
    bool relative;
    int64_t ms;     /* how far, or to when */
    int64_t now_ms; /* out */
};

struct guest; /* guest.h */

struct command_guest {
    struct guest *guest;
    void (*decide)(struct guest *guest, struct batch *batch, struct command *command);
    void *what; /* the guest's own: what is asked, and the answer */
    bool later; /* set by `decide`: not in this batch, ask again in the next */
};

struct command {
    struct link link;
    enum command_kind kind;
    struct arena *arena;
    struct err err;           /* out: ERR_NONE when done */
    void *sender;             /* the sender's own */
    struct channel *reply_to; /* where the answer is given, once per commit */
    union {
        struct command_create create;
        struct command_claim claim;
        struct command_claim_stop claim_stop;
        struct command_heartbeat heartbeat;
        struct command_finish finish;
        struct command_one one;
        struct command_returned returned;
        struct command_wake wake;
        struct command_bulk bulk;
        struct command_queue queue;
        struct command_queues queues;
        struct command_why why;
        struct command_document document;
        struct command_release release;
        struct command_workers workers;
        struct command_worker worker;
        struct command_beat beat;
        struct command_stats stats;
        struct command_series series;
        struct command_clock clock;
        struct command_guest guest;
        struct command_review review;
        struct command_heard heard;
        struct command_lead lead;
        struct command_doubt doubt;
        struct command_elsewhere elsewhere;
        struct command_resume resume;
    };
};

/* ---- The table of commands ---- */

enum command_sender {
    BY_CLIENT = 1 << 0,   /* over the API */
    BY_OPERATOR = 1 << 1, /* over the API too, with the role for it */
    BY_SERVER = 1 << 2,   /* itself: for a client that left, at its end, for the room of a guest */
    BY_WORKER = 1 << 3,   /* work inside the server */
    BY_FLEET = 1 << 4,    /* on behalf of other nodes */
    BY_GUEST = 1 << 5,    /* inside a batch: see guest.h */
};

enum command_answer {
    ANSWER_DECIDED,   /* what it says holds whatever becomes of the batch */
    ANSWER_COMMITTED, /* it fails with its batch */
};

struct command_row {
    const char *name;
    unsigned senders;           /* bits of enum command_sender */
    bool writes;                /* a success says that something was written */
    enum command_answer answer; /* when it was decided in a batch */
    void (*decide)(struct batch *, struct command *);
    void (*prepare)(struct batch *, struct command *); /* NULL: needs nothing known in advance */
    const char *held; /* its answer may wait beyond its batch, until ...; NULL: it does not */
};
const struct command_row *command_row(enum command_kind kind);
/* The attempts that it is still to end, of a finish or of a claim; NULL: none. */
const struct command_finish *command_ends(const struct command *command);
bool command_is_from(const struct command *command,
                     unsigned senders); /* may one of them send it? */

#endif
