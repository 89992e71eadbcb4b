/* queue/engine.h: what the files of queue/ share and nobody else sees.
 *
 * The engine remembers little: which tasks have a deadline (due.h), each queue's limits (lane.h),
 * who works (worker.h), which claims wait. All of it follows from what was committed, and is
 * changed only in publish.c, after the commit: a batch that fails leaves no trace.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_ENGINE_H
#define ERRAND_QUEUE_ENGINE_H

#include "base/channel.h"
#include "base/heap.h"
#include "base/map.h"
#include "queue/due.h"
#include "queue/lane.h"
#include "queue/queue.h"
#include "queue/stray.h"
#include "queue/turn.h"
#include "queue/worker.h"

#define BATCH_COMMANDS_MAX 1024 /* what one transaction takes on; the rest forms the next */
#define BATCH_DUE_MAX      1000
#define BATCH_TRIES_MAX    5  /* begins again when another node was faster */
#define BATCH_BEHIND_MAX   16 /* so many batches do leases wait for commands that came before */
#define BULK_CHUNK         1000
#define SWEEP_CHUNK        500
#define SWEEP_PAUSE_MS     HOUR_MS /* between two walks through the history */
#define TEND_AFTER_MS      SECOND_MS
#define STORE_PAUSE_MS     200  /* before trying due work again while the store is full or away */
#define SETTLE_MAX_MS      2000 /* real: how long a hand-wound clock waits for work in the server */
#define RATE_SECONDS       60
#define POLL_MS            SECOND_MS /* between two looks of a waiting claim while no broker can tell */
#define OWN_LEASE_MS       (30 * SECOND_MS) /* of an attempt inside the server ... */
#define OWN_RENEW_MS       (10 * SECOND_MS) /* ... renewed this often */
#define NOTHING_MAX        64 /* claims that want the same as one that got nothing are not asked */

struct rates { /* one slot a second, over the last minute */
    int64_t second[RATE_SECONDS];
    uint32_t created[RATE_SECONDS], started[RATE_SECONDS], finished[RATE_SECONDS];
};

struct put_off {
    struct link link;
    struct hint hint;
    struct arena arena;
};

/* A task that ended, of which some dependents have not been told: see flow.c. */
struct unfollowed {
    struct task_id id;
    struct task_id after; /* those up to here have */
};
struct unfollowed_list {
    struct unfollowed *at; /* owned */
    size_t count, room;
};

struct engine {
    struct engine_options with;
    struct store *store;
    struct broker *broker;
    struct id_maker ids;

    struct due due;
    struct lanes lanes;
    struct workers workers;
    struct strays strays;
    struct turns turns;
    struct heap sleepers; /* commands that wait to be woken: command_wake.place */
    struct rates rates;

    struct list pending; /* commands for the next batch, in order */
    struct list waiting; /* claims that wait, oldest first: command_claim.waiting */
    size_t waiting_count;
    struct list jobs;     /* bulk commands that need more batches */
    struct list windings; /* clock commands; the first is under way */

    struct unfollowed_list unfollowed;
    int64_t unfollowed_look_ms; /* shared, by the monotonic clock: when to look for others' */

    struct store_sweep sweep;
    bool sweeping;
    int64_t sweep_at_ms;         /* wall; INT64_MAX: nothing finished yet */
    int64_t tend_at_mono_ms;     /* INT64_MAX: nothing to tend */
    int64_t pause_until_mono_ms; /* the store was away: what nobody asks for waits until then */

    size_t in_server;      /* attempts that run inside this server */
    int behind;            /* batches in a row that could not take all commands there were */
    int64_t wound_mono_us; /* real: when the clock was last wound to an event */

    bool shared;       /* other nodes use the store too */
    uint64_t epoch;    /* of our leadership; 0: another leads. Embedded: always 1 */
    bool asked_broker; /* whom the claims that wait asked last: the broker, or the rows */
    struct arena elsewhere_arena;
    const struct wanted *elsewhere; /* what workers of other nodes would take */
    size_t elsewhere_count;
    int64_t poll_at_mono_ms; /* shared: when waiting claims ask the store again; see
                                looks_in_real_time */
    struct list put_off;     /* hints that the store refused: struct put_off */
    struct {                 /* failover.c */
        uint64_t history;    /* of the store, as memory knows it */
        int64_t line;        /* as queue_load.line */
        bool holds;          /* nothing starts */
        int64_t holds_until_mono_ms, stopped_at_mono_ms;
    } ground;

    bool draining, dead;
    unsigned losses; /* batches in a row that lost a race */
    uint64_t batches, commands;

    struct { /* thread.c */
        pthread_t id;
        bool started;
        _Atomic bool stop;
        struct channel inbox;
        int wake_fd, wall_fd;
    } thread;
};

/* engine.c */
bool engine_paused(const struct engine *engine, struct now now);
/* Until something happens by itself, the store's upkeep aside; NEVER_MS: nothing will. */
int64_t engine_event_in_ms(struct engine *engine, struct now now);

/* ---- A batch and its working set ---- */

/* One task that the batch touches. The first command to change it owns it; others wait for the next
 * batch, so that each commit takes a task through one transition. */
struct item {
    struct map_node node;
    struct task_id id;
    bool loaded, found;
    bool whole, has_whole; /* asked for, and loaded */
    struct task was, now;
    const void *owner;     /* who changed it; NULL: nobody yet */
    bool ended;            /* this change ends an attempt */
    bool removed;          /* terminal and deleted */
    bool renewed;          /* its lease was set anew */
    bool beats, finishes;  /* janitor.c: whoever holds its lease says so in this batch */
    bool fresh;            /* created in this very batch, see meet.c: written once, as it is now */
    bool taken;            /* proposed by the broker in this batch */
    bool parked;           /* ... but its document is locked: it stands in line again */
    bool refused;          /* ... but the store did not let it start */
    struct command *claim; /* that started it */
    bool strays;         /* the attempt ends, but its run function goes on: its document is kept */
    bool walks;          /* flow.c: it is to be looked at */
    int looked;          /* flow.c: 1 + the state it had when it was last looked at; 0: not yet */
    const void *cause;   /* flow.c: who changed what made it be looked at */
    bool kin_known;      /* flow.c: its children were asked for */
    struct kin_list kin; /* flow.c: a container's children */
    struct awaiting *awaiting; /* flow.c: whoever waits for it without the rows' telling so */
    struct order *order;       /* this batch brings it: it has no row yet, see flow_begin.c */
    struct arena *arena;       /* that outlives the order's answer */
    int told;                  /* guest.c: 1 + the state that guests were told of */
    bool told_progress;
    struct str log; /* lines to add */
};

struct items {
    struct item **at; /* owned */
    size_t count, room;
};

struct proposal {
    struct command *claim;
    struct hint *hints;
    size_t count;
    struct broker_lock *locks; /* on the documents of those that start */
    size_t locks_count;
};

struct batch {
    struct engine *engine;
    struct now now;
    struct tx *tx;
    struct arena arena;
    struct err err; /* of the store: the whole batch fails with it */
    bool writes;

    struct list commands; /* being decided, in order */
    struct list deferred; /* their task was changed by another: next batch */
    struct list answered;

    struct map items;
    struct item **all;
    size_t all_count, all_room;
    size_t missing; /* of them: needed and not loaded yet */

    struct order **orders; /* to insert */
    size_t orders_count, orders_room;
    struct map keys; /* of those orders */
    size_t met;      /* so many of them were started at once */

    struct items walk;                 /* flow.c: to be looked at */
    struct items born;                 /* flow.c: items with an order */
    bool born_changed;                 /* flow.c: the orders do not say yet how they stand */
    size_t follow_left;                /* flow.c: waiting tasks that may still be looked at */
    struct unfollowed_list unfollowed; /* flow.c: what will be left if this batch commits */

    struct proposal *proposals;
    size_t proposals_count, proposals_room;

    struct command *turns[TURNS_AT_ONCE]; /* turn.c: claims of the engine's own */
    size_t turns_count;

    struct due_entry *fired[BATCH_DUE_MAX];
    size_t fired_count;

    struct command_queue *queue_changes[BATCH_COMMANDS_MAX];
    size_t queue_changes_count;

    struct task_id returned[BATCH_COMMANDS_MAX];      /* run functions that came back after all */
    struct task_id returned_next[BATCH_COMMANDS_MAX]; /* who of its family may run now; or none */
    size_t returned_count;

    struct store_sweep sweep; /* where the walk stands if this batch commits */
    bool swept;

    struct abort { /* in-server attempts to be told to stop */
        struct task_id id;
        int32_t attempt;
        enum abort_why why;
    } * aborts;
    size_t aborts_count, aborts_room;

    struct event_batch *events;
    size_t events_room;

    bool rooms_known;              /* shared.c: every limited queue was asked */
    uint64_t nothing[NOTHING_MAX]; /* hashes of wants that found nothing */
    size_t nothing_count;
    struct pool *pools; /* propose.c: taken for several claims that want the same */

    bool lost;          /* a guest says that another node was faster */
    size_t orders_told; /* guest.c: so many of the orders were told to guests */
};

/* work.c */
void batch_init(struct batch *batch, struct engine *engine);
void batch_fini(struct batch *batch);
bool batch_ok(const struct batch *batch); /* no store error so far */
bool batch_begin(struct batch *batch);    /* opens the transaction unless it is open */
void batch_need(struct batch *batch, struct task_id id, bool whole);
bool batch_load(struct batch *batch); /* everything that was needed and is not there yet */
struct item *batch_item(struct batch *batch, struct task_id id); /* loaded; NULL: store error */
struct item *batch_peek(const struct batch *batch, struct task_id id);     /* NULL: not loaded */
bool batch_knows(const struct batch *batch, struct task_id id);            /* loaded or not */
struct item *batch_new_item(struct batch *batch, const struct task *task); /* a new one's */
/* What became of an order that was started at once; NULL: it was not. */
const struct item *batch_met(const struct batch *batch, const struct order *order);
struct item *batch_change(struct batch *batch, struct item *item, const void *owner);
bool batch_save(struct batch *batch, bool *lost);
void batch_answer(struct batch *batch, struct command *command); /* it is decided */
void batch_defer(struct batch *batch, struct command *command);
void batch_abort(struct batch *batch, const struct item *item, enum abort_why why);
void batch_abort_attempt(struct batch *batch, struct task_id id, int32_t attempt,
                         enum abort_why why);
void batch_fail_store(struct batch *batch, const struct err *err);
struct task task_copy(struct arena *arena, const struct task *task); /* all texts in `arena` */

/* The task of a command, found or refused: on false the command's err says why. */
MUST_CHECK bool batch_find(struct batch *batch, struct task_id id, struct item **out,
                           struct err *err);
/* True when another command of this batch already changed it. */
bool item_busy(const struct item *item, const void *owner);

/* command.c */
void decide_prepare(struct batch *batch, struct command *command); /* says what it will need */
void decide(struct batch *batch, struct command *command);

/* create.c, claim.c, finish.c, steer.c, bulk.c, ask.c: one on_*() each. */
void on_create(struct batch *batch, struct command *command);
void prepare_claim(struct batch *batch, struct command *command);
void on_claim(struct batch *batch, struct command *command);
void on_claim_stop(struct batch *batch, struct command *command);
void prepare_heartbeat(struct batch *batch, struct command *command);
void on_heartbeat(struct batch *batch, struct command *command);
void prepare_finish(struct batch *batch, struct command *command);
void on_finish(struct batch *batch, struct command *command);
void prepare_one(struct batch *batch, struct command *command);
void on_cancel(struct batch *batch, struct command *command);
void tell_cancel(struct batch *batch, const struct item *item); /* to a worker in the server */
void on_revive(struct batch *batch, struct command *command);
void on_change(struct batch *batch, struct command *command);
void on_remove(struct batch *batch, struct command *command);
void on_bulk(struct batch *batch, struct command *command);
void on_queue(struct batch *batch, struct command *command);
void on_queues(struct batch *batch, struct command *command);
void on_why(struct batch *batch, struct command *command);
void on_document(struct batch *batch, struct command *command);
void on_documents(struct batch *batch, struct command *command);
void on_workers(struct batch *batch, struct command *command);
void on_worker(struct batch *batch, struct command *command);
void on_stats(struct batch *batch, struct command *command);
void on_clock(struct batch *batch, struct command *command);
void on_drain(struct batch *batch, struct command *command);
void on_returned(struct batch *batch, struct command *command);
void on_wake(struct batch *batch, struct command *command);
void on_wake_stop(struct batch *batch, struct command *command);

void bulk_undo_chunk(struct command *command); /* its batch came to nothing */

/* propose.c */
const struct str *claim_queues(const struct command_claim *claim, size_t *count);
size_t claim_propose(struct batch *batch, struct command *command); /* how many it may start */
bool claim_may_find(struct batch *batch, const struct command_claim *claim); /* something now? */
void pools_return(struct batch *batch); /* what nobody wanted after all */
void note_pending(struct batch *batch, const struct hint *hint, int64_t by);

/* claim.c: waiting claims. */
void claims_propose(struct batch *batch); /* those whose queues have become ready */
void claims_decide(struct batch *batch);  /* after the load */
bool claim_decide(struct batch *batch, struct command *command); /* what it was proposed */
void claims_give_back(struct batch *batch);                      /* the batch came to nothing */
MUST_CHECK bool claim_start(struct batch *batch, struct item *item, struct command *command);
bool claim_unstart(struct batch *batch, struct item *item); /* the store did not let it start */
void claim_park(struct engine *engine, struct command *command);
void claim_unpark(struct engine *engine, struct command *command);
void claims_signal(struct batch *batch, const struct worker *worker);  /* those of it that wait */
void claim_stop_waiting(struct batch *batch, struct command *waiting); /* it gets no task */

/* meet.c: claims that wait take what this batch creates. */
void claims_meet(struct batch *batch);
void claims_met(struct batch *batch, bool committed); /* they are answered, or wait on */

/* create.c: all of them or none. LATER: an earlier command of this batch is in the way. */
enum create_answer { CREATE_DONE, CREATE_REFUSED, CREATE_LATER };
enum create_answer create_orders(struct batch *batch, struct command *command);

/* shared.c: what is different when other nodes use the store too. */
bool is_own(const struct engine *engine, struct str worker); /* runs inside this very server */
bool rooms_load(struct batch *batch, const struct command_claim *claim);
void prepare_review(struct batch *batch, struct command *command);
void review_item(struct batch *batch, struct item *item);
void on_review(struct batch *batch, struct command *command);
void on_heard(struct batch *batch, struct command *command);
void guests_look_again(struct engine *engine); /* who leads, and that they must look again */
void on_lead(struct batch *batch, struct command *command);
void on_doubt(struct batch *batch, struct command *command);
void on_elsewhere(struct batch *batch, struct command *command);
bool relies_on_broker(const struct engine *engine);
void shared_poll(struct engine *engine, struct now now); /* waiting claims ask again */
int64_t shared_poll_in_ms(const struct engine *engine, struct now now);
int64_t shared_look_in_ms(const struct engine *engine);       /* of real time; NEVER_MS: no need */
void shared_look(struct engine *engine);                      /* guests forget what they knew */
void put_off(struct engine *engine, const struct hint *hint); /* offered again a little later */
void shared_fini(struct engine *engine);
bool is_stale(struct batch *batch, struct item *item, const struct due_entry *entry);
bool renew_own(struct batch *batch, struct item *item, struct due_entry *entry, struct err *err);
void guard_leases(struct batch *batch); /* stops work whose lease could not be renewed */

/* ask.c */
bool somebody_takes(struct batch *batch, const struct task *task); /* a worker seen lately */

/* failover.c: the store has lost what it had acknowledged. */
void failover_begin(struct engine *engine); /* what is known when the engine starts */
void failover_look(struct engine *engine, struct now now); /* after each batch */
/* An attempt inside this server that its row (NULL: there is none) does not know: it must stop. */
bool runs_unknown(const struct engine *engine, const struct due_entry *entry,
                  const struct task *row);
void failover_stops(struct engine *engine, struct now now); /* work that the rows do not know */
void on_resume(struct batch *batch, struct command *command);

/* document.c */
#define WAITING_MAX   ((size_t)1000)
#define DOCUMENTS_MAX ((size_t)1000)
bool document_look(struct batch *batch, struct str document, size_t most, struct arena *arena,
                   struct document_view *out);
size_t document_ahead(struct batch *batch, const struct document_view *view, struct task_id id);

/* guest.c */
void on_guest(struct batch *batch, struct command *command);
void guests_act(struct batch *batch);
bool guests_follow(struct batch *batch); /* true: they changed something, draw its consequences */
/* Whether an ended task may be retried by hand, as far as they are concerned. */
bool guests_may_revive(struct batch *batch, const struct task *task, struct err *err);
void guests_settle(struct batch *batch, bool committed);
int64_t guests_in_ms(const struct engine *engine, struct now now);

/* janitor.c: what falls due. */
void janitor_collect(struct batch *batch);
void janitor_decide(struct batch *batch);
bool janitor_sweeps(const struct batch *batch); /* is it time for a piece of the walk? */
MUST_CHECK bool janitor_sweep(struct batch *batch, struct err *err);
int64_t janitor_sweep_in_ms(const struct engine *engine, struct now now); /* INT64_MAX: never */

/* publish.c: what a commit means for memory, and for whoever watches. */
#define LOCK_TEXT TASK_ID_TEXT /* holds a lease's text too */
_Static_assert(TASK_LEASE_TEXT <= LOCK_TEXT, "a lock is a lease or an id");
struct str lock_of(const struct task *task, char out[static LOCK_TEXT]);
void publish(struct batch *batch);
/* Tells workers in the server to stop. That an attempt ran too long is so whatever became of the
 * batch, and it is found only once. */
void publish_aborts(struct batch *batch, bool committed);
void forget_due(struct engine *engine, struct task_id id);
void remember_due(struct engine *engine, const struct task *task, enum due_from from,
                  struct now now);
void publish_offer(struct engine *engine, const struct task *task);
struct event *publish_tell(struct batch *batch, enum event_kind kind, const struct task *task);
void publish_hold(struct engine *engine, const struct task *task); /* its document */

/* boot.c */
bool boot_engine(struct engine *engine, struct err *err);

/* wake.c: commands that wait for a time. */
bool sleeper_before(const struct heap_node *a, const struct heap_node *b);
void wake_due(struct engine *engine, struct now now, struct list *answered);
void wake_all(struct engine *engine, struct list *answered);
int64_t wake_in_ms(const struct engine *engine, struct now now);

/* wind.c: the clock that is wound by hand. */
bool wind_rests(const struct engine *engine,
                int64_t *wait_ms);      /* nothing runs that may change what is next */
bool wind_begin(struct engine *engine); /* moves the clock to the next event; true: it did */
void wind_end(struct engine *engine, struct list *answered); /* answers those that have arrived */

/* stats.c */
void rates_add(uint32_t *slots, struct rates *rates, struct now now, uint32_t n);
double rates_per_second(const uint32_t *slots, const struct rates *rates, struct now now);

#endif
