/* tests/sim/sim.h: one process, one seed: the real engine, clients and workers made of dice, a disk
 * that fails, hints that get lost, crashes. After each batch the promises are checked.
 *
 * The *world* is the engine with its memory store, memory broker and a clock wound by hand; hooks
 * in the tables of store and broker make bad days, and the seeded bugs that prove the checks can
 * see. What the sim *knows* of each task is what it was told or has seen on the disk after the last
 * batch; a batch may change it only for a reason: a command answered with success, or time.
 *
 * Everything follows from the seed: a failing one is printed and replays exactly.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_SIM_SIM_H
#define ERRAND_TESTS_SIM_SIM_H

#include "base/buf.h"
#include "broker/ops.h"
#include "queue/queue.h"
#include "store/ops.h"
#include "store_memory/memory.h"

#define TASKS_MAX   800 /* of one seed */
#define ORDERS_MAX  160 /* ... that clients order; the others are made by guests */
#define REQUEST_MAX 12  /* tasks of one create */
#define LEASES_MAX  8   /* remembered of one task, old ones too */
#define CALLS_MAX   64  /* commands in flight */
#define STEPS_MAX   512 /* of one seed */

#define QUEUES    4 /* the last for deliveries only */
#define TYPES     8 /* but for two for deliveries and teams only */
#define DOCUMENTS 3
#define KEYS      5
#define WORKERS   5 /* the last two inside the server */

#define PLAIN_QUEUES 3 /* what clients order */
#define PLAIN_TYPES  2

/* What lives on the engine besides tasks. Each world has seeds of its own. */
enum world { WORLD_TASKS, WORLD_SCHEDULES, WORLD_TEAMS, WORLDS };
const char *world_name(enum world world);

/* Mistakes that the checks must find. They live in the hooks, not in the engine. */
enum bug {
    BUG_NONE,
    BUG_LOST_HINT,        /* an offer is swallowed, and no restart mends it */
    BUG_DOUBLE_CLAIM,     /* the store starts an attempt without compare-and-set */
    BUG_EARLY_ANSWER,     /* a commit that failed is answered as done */
    BUG_STALE_FINISH,     /* a finish with an old lease is applied */
    BUG_FORGOTTEN_UNLOCK, /* a document is not let go */
    BUG_UNTOLD_LOSS,      /* a broker that missed changes is not told so when it is back */
    BUG_TRUSTED_EMPTY,    /* a broker that lost its hints says that it has them */
    BUG_LOST_END,         /* schedules: the end of a run is not written */
    BUG_LOST_SUM,         /* schedules: nor is what it adds to its day */
    BUG_LOST_TIME,        /* schedules: one is looked at too late */
    BUG_LOST_MESSAGE,     /* teams: a message is not written */
    BUG_ENDLESS_TEAM,     /* teams: nor is the end of a team */
    BUGS
};
const char *bug_name(enum bug bug);
enum world bug_world(enum bug bug); /* in which it can happen */

static inline bool sim_is_one(enum command_kind kind) /* a command whose struct is command_one */
{
    return kind == COMMAND_CANCEL || kind == COMMAND_REVIVE || kind == COMMAND_CHANGE ||
           kind == COMMAND_KILL || kind == COMMAND_REMOVE;
}

/* What the sim compares of a task. Names are places in the sim's small vocabulary; -1: none. */
struct seen {
    enum task_state state;
    enum task_priority priority;
    enum task_outcome outcome;
    int32_t attempt, retries, max_retries;
    int64_t timeout_ms, scheduled_ms, queued_ms, started_ms, finished_ms, lease_until_ms;
    int64_t expires_ms;
    uint64_t token;
    bool cancel_requested;
    int queue, type, document, key;
    struct task_id parent, family; /* whose child it is; who holds its document for it */
    bool container, continues, runs_anyway;
    enum worker_kind kind; /* who runs it, while it does */
    struct task_cost cost;
};

struct known {
    struct task_id id;
    struct seen seen; /* on the disk, after the last batch */
    struct seen next; /* after this one */
    bool gone, next_gone;
    bool dirty; /* this batch may have changed it */
    int told;   /* events of a change of state in this batch */
    enum task_state told_state;
    bool told_removed;
    int64_t cancel_at_ms; /* when a requested cancel takes the lease away; 0: none */
    bool hint_lost;       /* the broker was made to forget it; a restart mends that */
    bool hint_stale;      /* ... or to know it at a place of long ago; likewise */
    struct task_lease leases[LEASES_MAX];
    size_t leases_count;
    int32_t claimed_attempt; /* the highest that a worker was told */
    bool depends;            /* on others, or did when it was made */
    int64_t stop_at_ms;      /* in the server: told to stop, and given up then; 0: not told */
    bool orphaned;           /* in the server: the machine stopped under it */
    bool gives_up;           /* ... in this batch, for that reason */
    bool taken_back;         /* ... or because an operator wanted its document */
    bool strays;             /* its run function was given up and has not returned */
    struct task_id schedule; /* whose run it is, or the run of which it delivers; none: neither */
    struct task_id delivers; /* the run whose result it brings to a channel; none: no delivery */
    int channel;             /* ... to which */
    struct task_id regrets;  /* the run of whose failure it tells; none: no such notice */
    bool is_run;
    struct task_id team; /* whose task it is; none: no team's */
    bool is_turn;        /* it stands in line for the team's document */
    char queue[24];      /* the name of a team's */
};

/* A guest's own, which that may cancel without a word. */
static inline bool sim_is_led(const struct known *known)
{
    return known->is_run || !id_none(known->team);
}

struct call {
    struct command command;
    bool answered;
    bool waits;             /* a claim that may wait, or was stopped while it did */
    bool ended;             /* a claim whose finishes were checked */
    bool in_line;           /* a claim of a team's tasks that waited while the team ran */
    struct task_lease said; /* of a finish; a seeded bug gives the engine another */
};

/* A claim of which the sim may be sure that its finishes are on the disk. */
static inline bool sim_has_ended(const struct call *call)
{
    return call->command.claim.ending == ENDING_SAVED ||
           (call->answered && call->command.err.kind == ERR_NONE);
}

/* What the sim believes about a queue's limits. */
struct queue_rule {
    bool paused;
    int64_t max_concurrent;
    double rate, tokens;
    int64_t burst, tokens_ms;
};

struct sim;
struct store_hook {
    struct store_ops ops;
    const struct store_ops *inner;
    struct sim *sim;
};
struct broker_hook {
    struct broker_ops ops;
    const struct broker_ops *inner;
    struct sim *sim;
};

/* How often each cell of a broker's health was walked, in all seeds together. */
struct walked {
    size_t times[BROKER_HEALTHS][BROKER_EVENTS];
};

/* The connection to the broker, see outage.c. */
struct outage {
    enum broker_health health; /* as the engine's side sees it */
    bool cut;                  /* the server does not answer */
    bool cut_next;             /* ... from the next change on, in the midst of a batch */
    bool empty;                /* it lacks hints */
};

/* Rows that claims of this batch were proposed: a transaction proposes none of them twice. */
struct proposed {
    bool tasks[TASKS_MAX], documents[DOCUMENTS];
};

struct sim {
    uint64_t seed;
    size_t step;
    enum bug bug;
    enum world world;
    size_t queues;         /* how many of them clients and workers know */
    struct guests *guests; /* NULL: none */
    size_t made;           /* tasks that they made */
    bool whole;            /* the broker is the engine's own memory, and loses nothing */
    bool trace;

    struct rand dice, engine_rand;
    struct clock clock;
    struct memory_disk *disk;
    struct store *store;
    struct broker *broker;
    struct engine *engine;
    struct store_hook store_hook;
    struct broker_hook broker_hook;
    struct outage outage;
    struct proposed proposed;
    struct walked *walked; /* NULL: nobody counts */
    int64_t passed_ms;     /* in this step */

    /* Bad days, armed for the next occasion. */
    bool lose_offer, double_offer;
    bool lose_save;                 /* of a schedule or a team: another node was faster */
    struct task_id lost[TASKS_MAX]; /* hints that the broker was kept from, until a restart */
    size_t lost_count;
    struct task_id age;      /* the next load of this task is one change behind */
    enum memory_fault fault; /* of the next commit */
    bool in_batch;           /* its checks are under way */
    bool commit_failed;      /* in this batch */
    bool cut_off;            /* this batch ended in a crash, but reached the disk */
    bool stale_hints;        /* somewhere in the broker, until a restart */
    unsigned stale_documents;
    int64_t paused_until_ms; /* the engine rests after a failure */
    bool dead;

    struct arena arena; /* of all calls */
    struct list given;
    struct channel answers;
    struct event_batch *events;    /* of this batch */
    struct call *calls[CALLS_MAX]; /* in flight, and those answered by this batch */
    size_t calls_count;
    uint64_t serial;

    struct known known[TASKS_MAX];
    size_t known_count;
    struct queue_rule rules[QUEUES];

    bool failed;
    char complaint[512];
};

/* The vocabulary. */
extern const struct str sim_queues[QUEUES], sim_types[TYPES], sim_documents[DOCUMENTS],
    sim_keys[KEYS], sim_workers[WORKERS];

/* sim.c: a whole seed. False: the complaint says what promise was broken. */
struct sim_options {
    enum bug bug;
    enum world world;
    size_t steps;
    bool trace;
    struct walked *walked;
    const bool *skip; /* steps that are left out; NULL: none. The others are what they were */
};
MUST_CHECK bool sim_run(struct sim *sim, uint64_t seed, const struct sim_options *options);

bool sim_fail(struct sim *sim, const char *format, ...) PRINTF_LIKE(2, 3); /* false; first wins */
void sim_trace(struct sim *sim, const char *format, ...) PRINTF_LIKE(2, 3);
bool sim_chance(struct sim *sim, unsigned percent);
size_t sim_pick(struct sim *sim, size_t n);
int64_t sim_now_ms(const struct sim *sim);

/* world.c: building, crashing, batches. */
void world_open(struct sim *sim);
void world_close(struct sim *sim);
void world_crash(struct sim *sim); /* memory is lost; the disk is not */
struct call *world_call(struct sim *sim, enum command_kind kind);
void world_give(struct sim *sim, struct call *call);
bool world_batch(struct sim *sim);  /* one batch and its checks; true: more to do */
void world_settle(struct sim *sim); /* until nothing is left to do, then the quiet checks */

/* hook.c: bad days and seeded bugs. */
void hook_store(struct sim *sim);
void hook_broker(struct sim *sim);
void hook_lose_save(struct sim *sim); /* another node is faster with the next schedule or team */
void hook_lose(struct sim *sim, struct task_id id); /* the broker does not know it any more */

/* outage.c: a broker that is lost, flushed, doubted and comes back. */
extern const struct fleet_ops outage_rows; /* what claims ask meanwhile */
void outage_hook(struct sim *sim);
void outage_offer(struct broker *broker, const struct hint *hint);
void outage_let_go(struct broker *broker, struct str document, struct task_id holder,
                   struct str lock);
void outage_step(struct sim *sim);
bool outage_relied_on(const struct sim *sim);
bool outage_complete(const struct sim *sim);

/* step.c: what clients, workers and fate do. */
void step_any(struct sim *sim);
bool step_request(struct sim *sim, struct call *call); /* request.c: a create with relations */
void step_last(struct sim *sim); /* a restart, then everything is worked off */

/* know.c: what is known of the tasks. */
struct known *know_find(struct sim *sim, struct task_id id); /* NULL: never heard of */
struct known *know_add(struct sim *sim, struct task_id id);
struct known *know_made(struct sim *sim, struct task_id id); /* by a guest; NULL: by nobody */
void know_name(struct sim *sim, struct task_id id);          /* this batch may have changed it */
void know_look(struct sim *sim); /* fills `next` of all that are dirty */
bool know_load(struct sim *sim, struct task_load *loads, size_t n); /* the disk as it is */
void know_settle(struct sim *sim); /* what was found is what is known */
void know_look_after_crash(struct sim *sim, bool kept);
int know_number(const struct sim *sim, const struct known *known);
struct seen seen_of(const struct task *task);
struct str know_queue(const struct known *known);
struct hint know_hint(const struct known *known); /* as somebody would offer it */
bool seen_same(const struct seen *a, const struct seen *b);

/* explain.c: may this command, or time, have done that? */
bool explained(struct sim *sim, struct known *known);

/* check.c: the promises, after each batch. quiet.c: and when nothing is left to do. */
void check_batch(struct sim *sim);
bool check_removal(struct sim *sim, const struct known *known); /* had it a reason? */
void check_quiet(struct sim *sim);

/* relate.c: parents, children, dependencies and the documents they hold together. */
bool relate_explains(const struct sim *sim,
                     const struct known *known); /* may others have done it? */
void relate_refresh(struct sim *sim); /* what a family does to its members without an event */
void relate_check(struct sim *sim);   /* all of it, when nothing is left to do */
struct task_id relate_holder(const struct seen *seen, struct task_id id);

bool relate_strays(const struct sim *sim, int document); /* somebody given up works on it */

/* order.c: who may start next, and whether it did. */
bool order_better(const struct known *a, const struct known *b);
bool order_offered(const struct sim *sim, const struct known *known); /* by its row */
void order_check(struct sim *sim, const struct call *call);           /* an answered claim */
/* A task that the claim could start now, or NULL. */
const struct known *order_ready(struct sim *sim, const struct command_claim *claim);

/* rule.c: the limits of queues. */
void rule_changed(struct sim *sim, const struct call *call);
void rule_check(struct sim *sim); /* of what this batch started */
void rule_restart(struct sim *sim);
bool rule_open(struct sim *sim, int queue); /* could one more start? unsure counts as no */

#endif
