/* store/sqlite/sqlite.h: the embedded store, seen from inside its folder.
 *
 * One file, one writing connection that also checkpoints, any number of reading ones. The lock file
 * beside it keeps a second process out.
 *
 * Thread: as store.h says: the store and its transaction the engine's, each reader its own.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_SQLITE_SQLITE_H
#define ERRAND_STORE_SQLITE_SQLITE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "store/counts.h"
#include "store/ops.h"
#include "store/sqlite/db.h"
#include "store/sqlite/feed.h"
#include "store/sqlite/row.h"

/* The late index (facet.c): beyond this many tasks a commit brings it forward itself, because lists
 * must scan what it does not reach; below the smaller number it is not worth a commit. */
#define INDEX_LAG_MAX    50000
#define INDEX_LAG_TEND   4096
#define INDEX_SLICE      10000
#define CHECKPOINT_PAGES 1000 /* of the log, as measured: inline, at the end of a commit */

struct sqlite_tx {
    struct tx tx;
    struct sqlite_store *store;
    bool open;
    struct count_change counts;
    uint64_t last_id;           /* with what this transaction inserted */
    int64_t indexed_k;          /* with what this transaction indexed */
    size_t inserted;            /* tasks */
    size_t indexed;             /* of those that lagged, how many it indexed */
    bool labels;                /* some of the inserted have labels to index */
    bool adopts;                /* rows of another store: documents that are held come as such */
    int64_t names_last;         /* before it began */
    struct buf scratch;         /* the packed column of the row at hand */
    struct fed_rows live, done; /* on their way into `task` and `done` */
};

/* Upkeep on its way through the names: see names.c. */
struct names_walk {
    int64_t count;         /* names in the file, about */
    int64_t removed_tasks; /* since the last walk */
    int64_t cursor;        /* of tasks, then of names */
    bool marked;           /* all tasks were seen */
};

struct sqlite_store {
    struct store store;
    struct db db;
    char *path;
    int lock; /* the lock file, held; -1 when reading only */
    uint64_t last_id, epoch;
    struct counts counts;
    bool live_counted; /* `counts` has live tasks too, not only ended ones */

    int64_t indexed_k;   /* the late index holds everything up to here */
    size_t index_lag;    /* tasks above it, about */
    bool lag_has_labels; /* else it can move forward without looking */

    bool dependencies; /* there may be some: else nobody is asked for them */
    struct names_walk names;

    bool broken;   /* an outcome is unknown: nothing more is written */
    int wal_pages; /* as of the last commit */
    _Atomic uint64_t commits;
    _Atomic int64_t commit_us_sum;
    struct sqlite_tx tx;
};

struct sqlite_reader {
    struct reader reader;
    struct db db;
};

#define SQLITE_STORE(base) ((struct sqlite_store *)(base))
#define SQLITE_TX(base)    ((struct sqlite_tx *)(base))

/* ---- tx.c ---- */
bool sqlite_begin(struct store *store, struct tx **out, struct err *err);
bool sqlite_commit(struct tx *tx, struct err *err);
void sqlite_abandon(struct tx *tx);
void sqlite_health(const struct store *store, struct store_health *out);

/* ---- load.c ---- */
bool sqlite_scan_live(struct store *store, store_each_fn *each, void *arg, struct err *err);
bool sqlite_scan_held(struct store *store, store_held_fn *each, void *arg, struct err *err);
bool sqlite_load(struct tx *tx, struct task_load *loads, size_t n, struct err *err);
bool sqlite_find_keys(struct tx *tx, const struct str *keys, size_t n, struct task_id *out,
                      struct err *err);

/* Reads the task with key `k`, its texts borrowed until *used is let go with db_done(). What is
 * longer than `omit_over` is left out; -1: every payload and result. */
struct loaded {
    struct task_row row;
    bool found;
    enum sql_id used;
};
bool load_row(struct db *db, int64_t k, int64_t omit_over, struct loaded *out, struct err *err);

/* ---- insert.c, save.c, remove.c ---- */
bool sqlite_insert(struct tx *tx, const struct task *const *tasks, size_t n, struct err *err);
bool sqlite_save(struct tx *tx, struct task_change *changes, size_t n, struct err *err);
bool sqlite_remove(struct tx *tx, const struct task_id *ids, size_t n, struct err *err);
bool sqlite_sweep(struct tx *tx, struct store_sweep *sweep, struct err *err);

/* The numbers of a task's type and queue; new names are added. */
bool intern_names(struct sqlite_tx *tx, const struct task *task, struct task_names *names,
                  struct err *err);
bool insert_attempt(struct sqlite_tx *tx, struct task_id id, const struct task_attempt *attempt,
                    struct err *err);
bool count_task(struct sqlite_tx *tx, struct str queue, enum task_state state, int64_t n,
                struct err *err);

enum lease_answer { LEASE_REFUSED, LEASE_TAKEN, LEASE_HELD /* by the same holder, before */ };
bool lease_document(struct sqlite_tx *tx, const struct task *task, enum lease_answer *answer,
                    struct err *err);
bool sqlite_free_document(struct tx *tx, struct str document, struct task_id holder,
                          struct err *err);

/* ---- relation.c ---- */

/* The rows of a task's parent and of what it depends on. */
bool family_insert(struct sqlite_tx *tx, const struct task *task, struct err *err);
bool child_delete(struct sqlite_tx *tx, const struct task *task, struct err *err);
bool sqlite_kin(struct tx *tx, const struct kin_query *query, struct arena *arena,
                struct kin_list *out, struct err *err);
/* What a statement of relation.sql says of a task, over any connection. */
bool related_ids(struct db *db, enum sql_id query, struct task_id id, struct arena *arena,
                 struct task_id **ids, size_t *count, struct err *err);

/* ---- move.c, open.c ---- */
extern const struct move_ops sqlite_move;
bool take_lock(struct sqlite_store *store, struct err *err); /* of the folder */

/* ---- facet.c, list.c, detail.c ---- */
bool sqlite_tend(struct store *store, bool *more, struct err *err);
bool sqlite_select(struct tx *tx, const struct task_filter *filter, struct arena *arena,
                   struct task_id **ids, size_t *count, struct err *err);
bool sqlite_reader_open(struct store *store, struct reader **out, struct err *err);
void sqlite_reader_close(struct reader *reader);
bool sqlite_list(struct reader *reader, const struct task_filter *filter, struct arena *arena,
                 struct task_rows *out, struct err *err);
bool sqlite_detail(struct reader *reader, struct task_id id, struct arena *arena, bool *found,
                   struct task_detail *out, struct err *err);
/* The ids alone, newest first, over any connection. */
bool select_ids(struct db *db, const struct task_filter *filter, struct arena *arena,
                struct task_id **ids, size_t *count, struct err *err);

/* ---- queue.c, check.c, migrate.c ---- */
bool sqlite_scan_queues(struct store *store, store_queue_fn *each, void *arg, struct err *err);
bool sqlite_save_queue(struct tx *tx, const struct store_queue *queue, struct err *err);
bool sqlite_counts(struct store *store, struct arena *arena, struct store_counts *out,
                   struct err *err);
bool counts_load(struct sqlite_store *store, struct err *err);
bool counts_save(struct sqlite_tx *tx, struct err *err);
/* Counts live tasks, unless that was done before. Whoever walks through all of them anyway counts
 * them one by one and says at the end whether it saw them all. */
bool counts_live(struct sqlite_store *store, struct err *err);
bool count_live(struct sqlite_store *store, struct str queue, enum task_state state,
                struct err *err);
/* The queue's slot in the counts; what is not in memory is read. */
bool counts_place(struct sqlite_store *store, struct str queue, size_t *slot, struct err *err);
void counts_live_done(struct sqlite_store *store, bool all);
bool sqlite_check(struct store *store, store_finding_fn *each, void *arg, struct err *err);
/* Brings the schema up to date, or says why it cannot be used. */
bool migrate(struct db *db, const struct store_options *options, struct err *err);

#endif
