/* store/store.h: the truth. One interface; behind it sqlite/ and postgres/.
 *
 * The engine loads what a batch of commands touches, decides with the pure functions of task/, and
 * saves the result by compare-and-set, all in one transaction. A store decides nothing itself: it
 * says which changes it could make. What is committed is on disk when tx_commit() returns (G1).
 *
 * The store keeps its own counters (tasks per queue and state), document leases and history of
 * attempts in step with the rows, in the same transaction.
 *
 * Thread: a `struct store` and its transaction belong to the engine's thread; each `struct reader`
 * to the thread that opened it. store_counts() is for any thread.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_STORE_H
#define ERRAND_STORE_STORE_H

#include "base/arena.h"
#include "base/err.h"
#include "task/task.h"

struct store;  /* one writing connection to the truth; opaque */
struct tx;     /* its transaction; at most one at a time */
struct reader; /* one reading connection; sees all that was committed before its call */

/* ---- Life ---- */

/* Opens the store behind `url` (sqlite:PATH or postgres://…), brings its schema up to date
 * unless told not to, and takes it for this process alone where it is embedded: a second opener is
 * refused. The caller owns *out and ends it with store_close(). */
struct store_options {
    struct str url;
    bool no_migrate; /* refuse an old schema instead of upgrading it */
    bool makes_new;  /* ... but make one where there is none */
    bool read_only;  /* for `errand doctor` beside a running server */
    /* For `errand migrate`: this errand's version. What others have left behind in the schema goes,
     * if no node of another version lives. Absent: it stays. */
    struct str tidies_for;
};
MUST_CHECK bool store_open(const struct store_options *options, struct store **out,
                           struct err *err);
void store_close(struct store *store); /* NULL is welcome */

uint64_t store_last_id(const struct store *store); /* the highest task_id.hi ever stored; 0: none */
uint64_t store_epoch(const struct store *store);   /* grows by one with each writing open */

/* Calls `each` for every task that is not terminal, in order of creation: how memory is rebuilt at
 * start. The task has what memory needs: id, type, queue, document, state, priority, attempt,
 * queued_ms, scheduled_ms and expires_ms, parent, family, flags and unmet; a RUNNING one also all
 * the rest of where it stands, its lease among it. Its texts live until `each` returns. A million
 * take well under half a second. */
typedef bool store_each_fn(void *arg, const struct task *task, struct err *err);
MUST_CHECK bool store_scan_live(struct store *store, store_each_fn *each, void *arg,
                                struct err *err);

/* Calls `each` for every document that is held, with its holder: the other half of the boot. Only
 * of an embedded store: what nodes share is looked up by the steward (fleet.h). */
typedef bool store_held_fn(void *arg, struct str document, struct task_id holder, struct err *err);
MUST_CHECK bool store_scan_held(struct store *store, store_held_fn *each, void *arg,
                                struct err *err);

/* ---- Transactions ---- */

/* After any call of a transaction has failed, only tx_close() makes sense. */
MUST_CHECK bool store_begin(struct store *store, struct tx **out, struct err *err);

/* On disk, or not at all: ERR_UNAVAILABLE (disk full, database away: nothing happened, try later)
 * or ERR_FATAL (the outcome cannot be trusted: the process must end). *tx is NULL afterwards. */
MUST_CHECK bool tx_commit(struct tx **tx, struct err *err);
void tx_close(struct tx **tx); /* rolls back what was not committed; NULL is welcome */

/* Fills each load's `task` from its row, texts into its `arena`; an unknown id leaves found false.
 * Sees what this transaction wrote. What was loaded cannot be changed by others until the
 * transaction ends; but for what is only to be started (`starts`): there the start alone decides,
 * and any other change of it is applied only if the row still is what was loaded. */
struct task_load {
    struct task_id id;
    struct arena *arena;
    bool whole;        /* false: without payload, metadata, tags and result */
    bool starts;       /* it is loaded to be started, if it can be */
    int64_t queued_ms; /* of one that is to be started: since when, by its hint. Of one that was
                          created here and is queued since then the store may tell from memory */
    uint64_t token; /* of the attempt that is to be ended; 0: none. Of one that began here the store
                       may tell from memory, and then the end alone decides as a start does */
    bool found;
    struct task task;
};
MUST_CHECK bool tx_load(struct tx *tx, struct task_load *loads, size_t n, struct err *err);

/* Finds tasks by idempotency key; TASK_ID_NONE where there is none. */
MUST_CHECK bool tx_find_keys(struct tx *tx, const struct str *keys, size_t n, struct task_id *out,
                             struct err *err);

/* Adds new tasks in any state; one that is RUNNING takes its document. Ids and keys must be new
 * (keys were looked up in this transaction; a key or document that another node took meanwhile is
 * ERR_CONFLICT, here or at the commit, and the caller begins again). */
MUST_CHECK bool tx_insert(struct tx *tx, const struct task *const *tasks, size_t n,
                          struct err *err);

/* One compare-and-set each, no task twice, documents in the order given: applied only if the row
 * still has was->state and was->attempt, and, where the change starts an attempt on a document,
 * nobody else holds that document. A change into a terminal state moves the task to the history, a
 * revival back. `ended`: the attempt was->attempt ended with this change; the store keeps it for
 * the detail view. What an order says (id to created_ms) is never changed; the result, finished_ms
 * and cancelled_ms are kept for terminal tasks only.
 *
 * Documents: a change into RUNNING of a task that is no container leases its document to its holder
 * (its `family`, or itself without one): granted if it is free or that holder has it already. A
 * change out of RUNNING frees it if the task itself is the holder, unless `keeps_document`. So a
 * family keeps its document from its first child's start until the container itself leaves RUNNING.
 * Leases whose holder is not RUNNING are gone after the next writing open. */
struct task_change {
    const struct task *was;
    const struct task *now;
    bool ended;
    bool keeps_document; /* the task leaves RUNNING, but its document stays leased to it */
    struct str log;      /* lines to add to the attempt's log, or absent */
    bool applied;        /* out */
};
MUST_CHECK bool tx_save(struct tx *tx, struct task_change *changes, size_t n, struct err *err);

/* Relations, as they were inserted (task.parent, task.depends). */
enum kinship {
    KIN_CHILDREN,     /* its children */
    KIN_WAITING,      /* who depends on it and is WAITING */
    KIN_DEPENDENCIES, /* what it depends on; what was removed is not among them */
    KINSHIPS
};
struct kin {
    size_t of; /* the place among `ids` of the task whose kin this is */
    struct task_id id;
    enum task_state state; /* as this transaction's rows have it */
};
struct kin_list {
    struct kin *at;
    size_t count;
};
/* Those of `ids[0]`, then of `ids[1]`, ..., each in order of creation, behind the id `after` (none:
 * from the first) and at most `most` in all (0: no limit). The ids must grow. */
struct kin_query {
    enum kinship kinship;
    const struct task_id *ids;
    size_t count;
    struct task_id after;
    size_t most;
};
MUST_CHECK bool tx_kin(struct tx *tx, const struct kin_query *query, struct arena *arena,
                       struct kin_list *out, struct err *err);

/* Ends the lease of a document that was kept. Nothing happens if `holder` does not hold it. */
MUST_CHECK bool tx_free_document(struct tx *tx, struct str document, struct task_id holder,
                                 struct err *err);

/* Removes terminal tasks and all that belongs to them, their children too; frees their keys.
 * Unknown ids are passed over, and a task with a descendant that is not terminal. */
MUST_CHECK bool tx_delete(struct tx *tx, const struct task_id *ids, size_t n, struct err *err);

/* Retention: among at most `most` finished tasks after *cursor (in creation order; 0 to begin),
 * removes those that finished before `before_ms`. Children are passed over: they go with their
 * parent. What a task that has not ended depends on is kept, with all its family. *cursor becomes 0
 * at the end; *oldest_ms the smallest finished_ms seen and kept (INT64_MAX: none). */
struct store_sweep {
    int64_t before_ms;
    size_t most;
    uint64_t cursor;   /* in and out */
    int64_t oldest_ms; /* in and out; start with INT64_MAX */
    size_t removed;    /* out: adds up */
};
MUST_CHECK bool tx_sweep(struct tx *tx, struct store_sweep *sweep, struct err *err);

/* Background upkeep when the engine is idle (late indexes, incremental vacuum): a few milliseconds
 * of work, in a transaction of its own. *more: there is more to do. */
MUST_CHECK bool store_tend(struct store *store, bool *more, struct err *err);

/* ---- Queues ---- */

struct store_queue {
    struct str name;
    bool paused;
    int64_t max_concurrent; /* 0: no limit */
    double rate_per_second; /* 0: no limit */
    int64_t burst;          /* 0: as many as the rate, at least 1 */
};
typedef bool store_queue_fn(void *arg, const struct store_queue *queue, struct err *err);
MUST_CHECK bool store_scan_queues(struct store *store, store_queue_fn *each, void *arg,
                                  struct err *err);
MUST_CHECK bool tx_save_queue(struct tx *tx, const struct store_queue *queue, struct err *err);

/* ---- Looking ---- */

/* What a list or a bulk command selects. Zero and absent mean any. */
struct task_filter {
#define WANTED_NAME(member)                    struct str member;
#define WANTED_TEXT(member)                    struct str member;
#define WANTED_ID(member)                      struct task_id member;
#define FIELD(part, kind, column, member, ...) WANTED_##kind(member)
#include "store/filter.def"
#undef WANTED_NAME
#undef WANTED_TEXT
#undef WANTED_ID
    unsigned states; /* bits 1 << enum task_state; 0: any */
    struct str tag;
    enum task_priority priority;
    struct str reach; /* only tasks of this owner's schedules, and of none; absent: any */
    int64_t created_after_ms, created_before_ms; /* exclusive both; 0: any */
    struct task_id before; /* only smaller ids (the page's cursor); none: from the newest */
    uint64_t not_before;   /* task_id.hi: only tasks at or after it; 0: any */
    struct str
        beginning;    /* of the id, as somebody asked for it: who fills it narrows the two above */
    size_t limit;     /* 0: none */
    size_t omit_over; /* lists leave out payloads, results and metadata above this many bytes, and
                         shorten errors; 0: none */
};

/* A task as a list shows it. */
struct task_row {
    struct task task;
    bool payload_omitted, result_omitted, metadata_omitted;
    bool error_omitted; /* its detail, and all but the beginning of its message */
};
struct task_rows {
    struct task_row *at;
    size_t count;
    bool more; /* older ones match too */
};

MUST_CHECK bool reader_open(struct store *store, struct reader **out, struct err *err);
void reader_close(struct reader *reader);

/* Newest first. */
MUST_CHECK bool reader_list(struct reader *reader, const struct task_filter *filter,
                            struct arena *arena, struct task_rows *out, struct err *err);

/* One task whole, with its attempts (oldest first; the running one included) and children's ids. */
struct task_detail {
    struct task task;
    struct task_attempt *attempts;
    size_t attempts_count;
    struct task_id *children;
    size_t children_count;
    struct task_dependency { /* what it depends on, with the results so far */
        struct task_id id;
        enum task_state state;
        struct str result; /* absent: none */
    } * dependencies;
    size_t dependencies_count;
};
MUST_CHECK bool reader_detail(struct reader *reader, struct task_id id, struct arena *arena,
                              bool *found, struct task_detail *out, struct err *err);

/* The same selection inside a transaction, ids only, newest first: for bulk commands. */
MUST_CHECK bool tx_select(struct tx *tx, const struct task_filter *filter, struct arena *arena,
                          struct task_id **ids, size_t *count, struct err *err);

/* Tasks per queue and state. Every queue that has tasks or settings is there, but for some that
 * have only ended ones, where there are very many such queues. Counted in memory where the store is
 * embedded, never by COUNT(*). */
struct store_count {
    struct str queue;
    int64_t tasks[TASK_STATES];
};
struct store_counts {
    struct store_count *at;
    size_t count;
    int64_t others[TASK_STATES]; /* of the queues that are not there */
};
MUST_CHECK bool store_counts(struct store *store, struct arena *arena, struct store_counts *out,
                             struct err *err);

/* ---- Doctor ---- */

/* Checks the stored invariants (I1–I7 of ARCHITECTURE.md, the schema's CHECKs, the file itself) and
 * calls `each` for every violation found, with a sentence. Reads only; safe beside a running
 * server. */
typedef void store_finding_fn(void *arg, const char *invariant, const char *sentence);
MUST_CHECK bool store_check(struct store *store, store_finding_fn *each, void *arg,
                            struct err *err);

/* For /metrics. */
struct store_health {
    int64_t wal_bytes, file_bytes;
    uint64_t commits;
    int64_t commit_us_sum; /* time spent in commits, fsync included */
    uint64_t lost_commits; /* acknowledged, and gone with a database that failed over */
};
void store_health(const struct store *store, struct store_health *out);

#endif
