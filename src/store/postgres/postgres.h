/* store/postgres/postgres.h: the store that several nodes share, seen from inside its folder.
 *
 * One writing connection with one transaction at a time; a connection for each reader; and a spare
 * one that any thread may borrow for a moment. Every writing store has a random number of its
 * own (`node`), under which it counts.
 *
 * Thread: as store.h says: the store and its transaction the engine's, each reader its own.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_POSTGRES_POSTGRES_H
#define ERRAND_STORE_POSTGRES_POSTGRES_H

#include <stdatomic.h>

#include "store/counts.h"
#include "store/ops.h"
#include "store/postgres/fresh.h"
#include "store/postgres/held.h"
#include "store/postgres/pg.h"

struct pg_store;

#define TX_PENDING_MAX 16

struct pg_tx {
    struct tx tx;
    struct pg_store *store;
    bool open;
    bool begun;    /* BEGIN was sent: it goes along with the first statement */
    bool adopts;   /* rows of another store: documents that are held come as such */
    uint64_t mark; /* its number in this store; 0: nothing was written yet */
    uint32_t xid;  /* its number in PostgreSQL, once that has told it; 0: not yet */
    struct count_change counts;
    struct args attempts, logs;             /* written with the commit */
    struct pg_call pending[TX_PENDING_MAX]; /* statements that wait for it; they own their args */
    size_t pending_count, pending_bytes;
    struct map ties;     /* of struct tie: what was loaded, and so cannot get new ones */
    struct arena arena;  /* for the length of the transaction */
    struct map starts;   /* of struct starts: attempts that began, for the rate limits */
    bool no_rates;       /* the queues were looked at, and none has a rate limit */
    struct map proposed; /* of struct proposed: what propose.c has given to somebody */
    struct {             /* where the last walk stopped: the same question goes on there */
        uint64_t want;
        enum task_priority priority;
        int64_t queued_ms;
        struct task_id id;
    } walked;
};

struct pg_store {
    struct store store;
    struct pg_address address;
    struct pg pg;
    int64_t node; /* 0: reading only */
    uint64_t epoch;
    struct held held;
    struct fresh fresh;
    struct counts counts;       /* slots for queues; the figures themselves are in the rows */
    bool removed_tasks;         /* some since counters were last dropped */
    int64_t drop_counters_us;   /* real, monotonic: not before */
    _Atomic(struct pg *) spare; /* whoever takes it puts it back */
    _Atomic uint64_t commits;
    uint64_t mark;          /* of the last transaction that was committed for certain */
    uint64_t doubtful;      /* transactions since then of which nobody knows */
    bool careful;           /* the last one failed: this one takes nothing for certain */
    _Atomic int64_t server; /* ground.c: who answered last; 0: nobody yet */
    _Atomic uint32_t line;  /* ... and its timeline; 0: it does not tell */
    _Atomic uint64_t history, lost_commits;
    bool mute; /* its server does not tell its timeline */
    _Atomic int64_t commit_us_sum;
    struct pg *seized; /* move.c: holds others off while this store is read; NULL: nobody */
    struct pg_tx tx;
};

struct pg_reader {
    struct reader reader;
    struct pg pg;
};

#define PG_STORE(base) ((struct pg_store *)(base))
#define PG_TX(base)    ((struct pg_tx *)(base))

/* ---- tx.c ---- */
bool pg_begin(struct store *store, struct tx **out, struct err *err);
bool pg_commit(struct tx *tx, struct err *err);
void pg_abandon(struct tx *tx);
void pg_health(const struct store *store, struct store_health *out);

/* Runs calls inside the transaction, which begins with the first of them. A write also learns the
 * transaction's number, by which a lost commit is found again. */
enum tx_use { TX_READS, TX_WRITES };
bool pg_tx_run(struct pg_tx *tx, struct pg_call *calls, size_t n, enum tx_use use, struct err *err);
bool pg_tx_flush(struct pg_tx *tx, struct err *err); /* writes what waits for the commit */
/* Lets a statement whose answer nobody needs wait for the next trip, most often the commit's. Takes
 * the args over. */
bool pg_tx_defer(struct pg_tx *tx, enum pg_id sql, struct args *args, size_t bytes,
                 struct err *err);

/* ---- ground.c ---- */
int64_t pg_ground_server(const PGresult *limits);
bool pg_ground_admits(const PGresult *limits, struct err *err); /* us, by its schema */
/* Whether the transaction that began with `limits` stands on what this store knew. */
bool pg_ground_check(struct pg_store *store, const PGresult *limits, struct err *err);
struct store_ground pg_ground(const struct store *store);

/* ---- spare.c: a connection for a moment, from any thread ---- */
struct pg *pg_spare_take(struct pg_store *store);
void pg_spare_put(struct pg_store *store, struct pg *pg);
/* Calls in one transaction that reads one snapshot; connects if need be, and again if the
 * connection turns out to be an old one. */
bool pg_read_run(struct pg *pg, struct pg_call *calls, size_t n, struct err *err);
void pg_read_undo(struct pg *pg); /* ends what a failed statement left open */

/* ---- load.c ---- */
bool pg_scan_live(struct store *store, store_each_fn *each, void *arg, struct err *err);
bool pg_load(struct tx *tx, struct task_load *loads, size_t n, struct err *err);
bool pg_find_keys(struct tx *tx, const struct str *keys, size_t n, struct task_id *out,
                  struct err *err);
bool pg_kin(struct tx *tx, const struct kin_query *query, struct arena *arena, struct kin_list *out,
            struct err *err);
/* A task that was loaded has a dependent from now on, or depends on another. */
void ties_add(struct pg_tx *tx, struct task_id id, bool dependents);
/* Whether a task that was loaded in this transaction is locked, or not. */
bool ties_locked(const struct pg_tx *tx, struct task_id id);
bool ties_unlocked(const struct pg_tx *tx, struct task_id id);
/* The transaction that created what memory told of it (fresh.h); 0: its row told. */
uint32_t ties_made(const struct pg_tx *tx, struct task_id id);
/* Those that others are going to depend on are locked, and are what was loaded, or it is a
 * conflict. */
bool ties_lock(struct pg_tx *tx, const struct task_id *ids, size_t n, struct err *err);
/* Remembers an attempt that begins, so that its end needs no load (held.h). */
void ties_hold(struct pg_tx *tx, const struct task *running);

/* ---- insert.c, save.c, remove.c ---- */

/* How a change ends the hold on its document; read by task_save.sql. */
enum document_end { END_NONE, END_FREES, END_FREES_ALL, END_KEEPS };

bool pg_insert(struct tx *tx, const struct task *const *tasks, size_t n, struct err *err);
bool pg_save(struct tx *tx, struct task_change *changes, size_t n, struct err *err);
bool pg_free_document(struct tx *tx, struct str document, struct task_id holder, struct err *err);
bool pg_remove(struct tx *tx, const struct task_id *ids, size_t n, struct err *err);
bool pg_sweep(struct tx *tx, struct store_sweep *sweep, struct err *err);
void pg_count(struct pg_tx *tx, struct str queue, enum task_state state, int64_t n);

/* ---- move.c ---- */
extern const struct move_ops pg_move;

/* ---- list.c, detail.c ---- */
bool pg_select(struct tx *tx, const struct task_filter *filter, struct arena *arena,
               struct task_id **ids, size_t *count, struct err *err);
bool pg_list(struct reader *reader, const struct task_filter *filter, struct arena *arena,
             struct task_rows *out, struct err *err);
bool pg_reader_open(struct store *store, struct reader **out, struct err *err);
void pg_reader_close(struct reader *reader);
bool pg_detail(struct reader *reader, struct task_id id, struct arena *arena, bool *found,
               struct task_detail *out, struct err *err);

/* ---- queue.c, check.c, migrate.c ---- */
bool pg_scan_queues(struct store *store, store_queue_fn *each, void *arg, struct err *err);
bool pg_save_queue(struct tx *tx, const struct store_queue *queue, struct err *err);
bool pg_counts(struct store *store, struct arena *arena, struct store_counts *out, struct err *err);
bool pg_counts_args(struct pg_tx *tx, struct args *args); /* false: nothing to count */
void pg_note_start(struct pg_tx *tx, const struct task *task);
bool pg_starts_args(const struct pg_tx *tx, struct args *args); /* false: nothing to pay */
bool pg_check(struct store *store, store_finding_fn *each, void *arg, struct err *err);
/* Brings the schema up to date, or says why it cannot be used. */
bool pg_migrate(struct pg *pg, const struct store_options *options, struct err *err);

#endif
