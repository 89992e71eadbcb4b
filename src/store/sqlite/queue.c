/* store/sqlite/queue.c: the settings of queues, and how many tasks they have.
 *
 * Ended tasks are counted in the file, in the transaction of their end; live ones are counted once,
 * at the start, and in memory from then on.
 *
 * Thread: engine; sqlite_counts() any, once live tasks were counted: with the first transaction or
 * the walk through them. Keeps: I7 (counters = rows).
 *
 * SPDX-License-Identifier: MIT */
#include "store/sqlite/names.h"
#include "store/sqlite/sqlite.h"

bool sqlite_scan_queues(struct store *base, store_queue_fn *each, void *arg, struct err *err)
{
    struct db *db = &SQLITE_STORE(base)->db;
    sqlite3_stmt *s = db_use(db, SQL_LIST_QUEUES);
    bool row = true;
    while (db_row(db, SQL_LIST_QUEUES, &row, err) && row) {
        struct store_queue queue = {.name = column_str(s, 0),
                                    .paused = column_int(s, 1) != 0,
                                    .max_concurrent = column_int(s, 2),
                                    .rate_per_second = sqlite3_column_double(s, 3),
                                    .burst = column_int(s, 4)};
        if (!each(arg, &queue, err)) {
            db_done(db, SQL_LIST_QUEUES);
            return false;
        }
    }
    return !row;
}

bool sqlite_save_queue(struct tx *base, const struct store_queue *queue, struct err *err)
{
    struct sqlite_tx *tx = SQLITE_TX(base);
    struct db *db = &tx->store->db;
    sqlite3_stmt *s = db_use(db, SQL_SAVE_QUEUE);
    bind_text(s, 1, queue->name);
    bind_int(s, 2, queue->paused);
    bind_int(s, 3, queue->max_concurrent);
    sqlite3_bind_double(s, 4, queue->rate_per_second);
    bind_int(s, 5, queue->burst);
    size_t slot;
    if (!counts_place(tx->store, queue->name, &slot, err) || !db_run(db, SQL_SAVE_QUEUE, err)) {
        return err_wrap(err, "save a queue");
    }
    count_change_settings(&tx->counts, slot);
    return true;
}

bool sqlite_counts(struct store *base, struct arena *arena, struct store_counts *out,
                   struct err *err)
{
    if (!counts_live(SQLITE_STORE(base), err)) {
        return false;
    }
    counts_list(&SQLITE_STORE(base)->counts, arena, out);
    return true;
}

/* ---- Live tasks ---- */

bool count_live(struct sqlite_store *store, struct str queue, enum task_state state,
                struct err *err)
{
    size_t slot;
    if (store->live_counted) {
        return true;
    }
    if (!counts_place(store, queue, &slot, err)) {
        return false;
    }
    count_change_add(&store->tx.counts, slot, state, 1);
    return true;
}

void counts_live_done(struct sqlite_store *store, bool all)
{
    if (store->live_counted) {
        return;
    }
    if (all) {
        counts_apply(&store->counts, &store->tx.counts);
    } else {
        counts_abandon(&store->counts, &store->tx.counts);
    }
    store->live_counted = all;
}

bool counts_live(struct sqlite_store *store, struct err *err)
{
    struct db *db = &store->db;
    sqlite3_stmt *s = db_use(db, SQL_COUNT_LIVE);
    struct str queue;
    bool row = !store->live_counted;
    while (row && db_row(db, SQL_COUNT_LIVE, &row, err) && row) {
        names_trim(db);
        if (!name_text(db, column_int(s, 0), &queue, err) ||
            !count_live(store, queue, (enum task_state)column_int(s, 1), err)) {
            db_done(db, SQL_COUNT_LIVE);
            break;
        }
    }
    counts_live_done(store, !row);
    return !row;
}

/* ---- Ended tasks ---- */

enum { ENDED_FIRST = TASK_COMPLETED }; /* the states from here on are ends */

/* The columns of list_counts and find_count. */
static void read_ended(sqlite3_stmt *s, int64_t tasks[TASK_STATES])
{
    for (int state = ENDED_FIRST; state < TASK_STATES; state++) {
        tasks[state] = column_int(s, 1 + state - ENDED_FIRST);
    }
}

bool counts_place(struct sqlite_store *store, struct str queue, size_t *slot, struct err *err)
{
    struct db *db = &store->db;
    int64_t tasks[TASK_STATES] = {0};
    bool row = false;
    if (counts_find(&store->counts, queue, slot)) {
        return true;
    }
    if (store->counts.others_count > 0) {
        sqlite3_stmt *s = db_use(db, SQL_FIND_COUNT);
        bind_text(s, 1, queue);
        if (!db_row(db, SQL_FIND_COUNT, &row, err)) {
            return false;
        }
        if (row) {
            read_ended(s, tasks);
            db_done(db, SQL_FIND_COUNT);
        }
    }
    *slot = counts_recall(&store->counts, queue, tasks);
    return true;
}

/* Queue by queue, so that only as many are in memory as may be. */
static bool load_rows(struct sqlite_store *store, struct err *err)
{
    struct db *db = &store->db;
    sqlite3_stmt *s = db_use(db, SQL_LIST_COUNTS);
    struct count_change *change = &store->tx.counts;
    bool row = true;
    while (db_row(db, SQL_LIST_COUNTS, &row, err) && row) {
        struct str name;
        int64_t tasks[TASK_STATES] = {0};
        names_trim(db);
        if (!name_text(db, column_int(s, 0), &name, err)) {
            db_done(db, SQL_LIST_COUNTS);
            return false;
        }
        read_ended(s, tasks);
        size_t slot = counts_slot(&store->counts, name);
        for (int state = ENDED_FIRST; state < TASK_STATES; state++) {
            count_change_add(change, slot, (enum task_state)state, tasks[state]);
        }
        counts_apply(&store->counts, change);
    }
    return !row;
}

static bool note_settings(void *arg, const struct store_queue *queue, struct err *err)
{
    struct sqlite_store *store = arg;
    (void)err;
    count_change_settings(&store->tx.counts, counts_slot(&store->counts, queue->name));
    return true;
}

bool counts_load(struct sqlite_store *store, struct err *err)
{
    if (!sqlite_scan_queues(&store->store, note_settings, store, err)) {
        return false;
    }
    counts_apply(&store->counts, &store->tx.counts);
    return load_rows(store, err);
}

/* The row of a queue, if any of its tasks ended or went; without ended tasks it has none. */
static bool save_count(struct sqlite_tx *tx, size_t slot, struct err *err)
{
    struct db *db = &tx->store->db;
    sqlite3_stmt *s = db_use(db, SQL_COUNT_TASKS);
    const int64_t *changes = tx->counts.at[slot].tasks;
    int64_t queue_id = 0, ended = 0;
    bool changed = false;
    for (int state = ENDED_FIRST; state < TASK_STATES; state++) {
        ended += counts_tasks(&tx->store->counts, slot, (enum task_state)state) + changes[state];
        changed |= changes[state] != 0;
        bind_int(s, 2 + state - ENDED_FIRST, changes[state]);
    }
    if (!changed) {
        return true;
    }
    if (!name_intern(db, counts_name(&tx->store->counts, slot), &queue_id, err)) {
        return false;
    }
    bind_int(s, 1, queue_id);
    bind_int(db_use(db, SQL_DELETE_COUNT), 1, queue_id);
    return db_run(db, ended == 0 ? SQL_DELETE_COUNT : SQL_COUNT_TASKS, err);
}

bool counts_save(struct sqlite_tx *tx, struct err *err)
{
    for (size_t i = 0; i < tx->counts.touched_count; i++) {
        if (!save_count(tx, tx->counts.touched[i], err)) {
            return false;
        }
    }
    return true;
}
