/* store/sqlite/save.c: transitions, each by one compare-and-set.
 *
 * Live to live is an update; an end moves the row from `task` to `done`, a revival moves it back.
 * Whether the row was still as the caller saw it is known after the first statement, and only then
 * does the rest follow. The holder of a document is the task that runs on it, or the outermost
 * container around it; that there is one at most is the primary key of doc_lease.
 *
 * Thread: engine. Keeps: G2 and rule 1 (state and attempt in WHERE), G3 (doc_lease), I5, I7.
 *
 * SPDX-License-Identifier: MIT */
#include "store/pack.h"
#include "store/shared.h"
#include "store/sqlite/sqlite.h"

/* ---- Who holds which document ---- */

/* Somebody holds the document: is it the task's own holder? */
static bool find_held(struct db *db, const struct task *task, enum lease_answer *answer,
                      struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_FIND_HOLDER);
    bool row = false;
    bind_text(s, 1, task->document);
    if (!db_row(db, SQL_FIND_HOLDER, &row, err)) {
        return false;
    }
    bool own = row && column_int(s, 0) == (int64_t)task_holder(task).hi;
    *answer = own ? LEASE_HELD : LEASE_REFUSED;
    db_done(db, SQL_FIND_HOLDER);
    return true;
}

bool lease_document(struct sqlite_tx *tx, const struct task *task, enum lease_answer *answer,
                    struct err *err)
{
    struct db *db = &tx->store->db;
    sqlite3_stmt *s = db_use(db, SQL_LEASE_DOCUMENT);
    bool taken = false;
    bind_text(s, 1, task->document);
    bind_int(s, 2, (int64_t)task_holder(task).hi);
    bind_int(s, 3, task->container || !id_none(task->family));
    if (!db_change(db, SQL_LEASE_DOCUMENT, &taken, err)) {
        return false;
    }
    *answer = LEASE_TAKEN;
    return taken || find_held(db, task, answer, err);
}

bool sqlite_free_document(struct tx *base, struct str document, struct task_id holder,
                          struct err *err)
{
    struct db *db = &SQLITE_TX(base)->store->db;
    sqlite3_stmt *s = db_use(db, SQL_FREE_DOCUMENT);
    bind_text(s, 1, document);
    bind_int(s, 2, (int64_t)holder.hi);
    return db_run(db, SQL_FREE_DOCUMENT, err) || err_wrap(err, "free a document");
}

bool sqlite_scan_held(struct store *base, store_held_fn *each, void *arg, struct err *err)
{
    struct db *db = &SQLITE_STORE(base)->db;
    sqlite3_stmt *s = db_use(db, SQL_LIST_HELD);
    bool row = true;
    while (db_row(db, SQL_LIST_HELD, &row, err) && row) {
        if (!each(arg, column_str(s, 0), column_id(s, 1), err)) {
            db_done(db, SQL_LIST_HELD);
            return false;
        }
    }
    return !row || err_wrap(err, "read held documents");
}

/* The holder stops running; a container lets go of everything. */
static bool end_lease(struct sqlite_tx *tx, const struct task *task, struct err *err)
{
    struct db *db = &tx->store->db;
    if (!task->container) {
        return sqlite_free_document(&tx->tx, task->document, task->id, err);
    }
    bind_int(db_use(db, SQL_FREE_DOCUMENTS), 1, (int64_t)task->id.hi);
    return db_run(db, SQL_FREE_DOCUMENTS, err);
}

/* ---- Changes ---- */

static void bind_was(sqlite3_stmt *s, int at, const struct task *was)
{
    bind_int(s, at, (int64_t)was->id.hi);
    bind_int(s, at + 1, (int64_t)was->id.lo);
    bind_int(s, at + 2, was->state);
    bind_int(s, at + 3, was->attempt);
}

static bool update(struct sqlite_tx *tx, struct task_change *change, struct err *err)
{
    struct db *db = &tx->store->db;
    sqlite3_stmt *s = db_use(db, SQL_UPDATE_TASK);
    const struct task *now = change->now;
    buf_clear(&tx->scratch);
    if (!pack_standing(&tx->scratch, change->was, now)) {
        return err_set(err, ERR_INTERNAL, "the texts of a task are too long for its row");
    }
    bind_again(db, SQL_UPDATE_TASK, 1, now->state);
    bind_again(db, SQL_UPDATE_TASK, 2, now->priority);
    bind_again(db, SQL_UPDATE_TASK, 3, now->attempt);
    bind_bytes(s, 4, buf_view(&tx->scratch));
    bind_was(s, 5, change->was);
    return db_change(db, SQL_UPDATE_TASK, &change->applied, err);
}

/* Out of one table and into the other, or back into the same if it only changed there. */
static bool move(struct sqlite_tx *tx, struct task_change *change, struct err *err)
{
    struct db *db = &tx->store->db;
    enum sql_id leave = task_state_terminal(change->was->state) ? SQL_DELETE_DONE : SQL_DELETE_TASK;
    bind_was(db_use(db, leave), 1, change->was);
    if (!db_change(db, leave, &change->applied, err)) {
        return false;
    }
    if (!change->applied) {
        return true;
    }
    struct fed row = {.order = change->was, .now = change->now};
    if (task_state_terminal(change->now->state)) {
        *ARRAY_PUSH(tx->done.at, tx->done.count, tx->done.room) = row;
        return true;
    }
    return intern_names(tx, change->was, &row.names, err) &&
           feed_run(db, SQL_INSERT_TASK, &row, 1, err);
}

bool insert_attempt(struct sqlite_tx *tx, struct task_id id, const struct task_attempt *attempt,
                    struct err *err)
{
    struct db *db = &tx->store->db;
    sqlite3_stmt *s = db_use(db, SQL_INSERT_ATTEMPT);
    bind_int(s, 1, (int64_t)id.hi);
    bind_int(s, 2, attempt->number);
    bind_int(s, 3, attempt->outcome);
    bind_text(s, 4, attempt->worker);
    bind_int(s, 5, attempt->started_ms);
    bind_int(s, 6, attempt->finished_ms);
    bind_error(s, 7, &attempt->error);
    return db_run(db, SQL_INSERT_ATTEMPT, err);
}

static bool append_log(struct sqlite_tx *tx, const struct task_change *change, struct err *err)
{
    struct db *db = &tx->store->db;
    sqlite3_stmt *append = db_use(db, SQL_APPEND_LOG), *trim = db_use(db, SQL_TRIM_LOG);
    bind_int(append, 1, (int64_t)change->now->id.hi);
    bind_int(append, 2, change_log_number(change));
    bind_bytes(append, 3, change->log);
    bind_int(trim, 1, (int64_t)change->now->id.hi);
    bind_int(trim, 2, change_log_number(change));
    bind_int(trim, 3, (int64_t)TASK_LOG_MAX);
    return db_run(db, SQL_APPEND_LOG, err) && db_run(db, SQL_TRIM_LOG, err);
}

/* What goes with a change that was applied. */
static bool follow(struct sqlite_tx *tx, const struct task_change *change, struct err *err)
{
    if (change->was->state != change->now->state) {
        size_t slot;
        if (!counts_place(tx->store, change->was->queue, &slot, err)) {
            return false;
        }
        count_change_add(&tx->counts, slot, change->was->state, -1);
        count_change_add(&tx->counts, slot, change->now->state, 1);
    }
    if (change_frees_document(change) && !end_lease(tx, change->was, err)) {
        return false;
    }
    if (change_keeps_attempt(change)) {
        struct task_attempt attempt = change_attempt(change);
        if (!insert_attempt(tx, change->was->id, &attempt, err)) {
            return false;
        }
    }
    return change->log.len == 0 || append_log(tx, change, err);
}

static bool is_update(const struct task_change *change)
{
    return !task_state_terminal(change->was->state) && !task_state_terminal(change->now->state);
}

/* It is known whether the change was applied. One that was not lets its document go again. */
static bool settle(struct sqlite_tx *tx, const struct fed *row, struct err *err)
{
    if (row->change->applied) {
        return follow(tx, row->change, err);
    }
    return !row->took ||
           sqlite_free_document(&tx->tx, row->now->document, task_holder(row->now), err);
}

/* Documents are taken and let go in the order of the changes: an update that lets one go, for the
 * next to take, is not put off. */
static bool save_one(struct sqlite_tx *tx, struct task_change *change, bool many, struct err *err)
{
    struct fed row = {.order = change->was, .now = change->now, .change = change};
    change->applied = false;
    if (change_takes_document(change)) {
        enum lease_answer answer = LEASE_REFUSED;
        if (!lease_document(tx, change->now, &answer, err)) {
            return false;
        }
        if (answer == LEASE_REFUSED) {
            return true; /* somebody else holds it: nothing else changes */
        }
        row.took = answer == LEASE_TAKEN;
    }
    if (many && is_update(change) && !change_frees_document(change)) {
        *ARRAY_PUSH(tx->live.at, tx->live.count, tx->live.room) = row;
        return true;
    }
    return (is_update(change) ? update(tx, change, err) : move(tx, change, err)) &&
           settle(tx, &row, err);
}

/* The updates that were put off, all by one statement. */
static bool update_rows(struct sqlite_tx *tx, struct err *err)
{
    struct db *db = &tx->store->db;
    struct fed_rows *live = &tx->live;
    bool ok = feed_run(db, SQL_UPDATE_TASKS, live->at, live->count, err);
    for (size_t i = 0; ok && i < live->count; i++) {
        const struct fed *row = &live->at[i];
        if (!row->met) { /* there was no row: nor may there be one now */
            bind_was(db_use(db, SQL_DELETE_TASK), 1, row->now);
            ok = db_run(db, SQL_DELETE_TASK, err);
        }
        ok = ok && settle(tx, row, err);
    }
    return ok;
}

bool sqlite_save(struct tx *base, struct task_change *changes, size_t n, struct err *err)
{
    struct sqlite_tx *tx = SQLITE_TX(base);
    bool ok = true;
    tx->live.count = tx->done.count = 0;
    for (size_t i = 0; ok && i < n; i++) {
        ok = save_one(tx, &changes[i], n > 1, err);
    }
    ok = ok && update_rows(tx, err) &&
         feed_run(&tx->store->db, SQL_INSERT_DONE, tx->done.at, tx->done.count, err);
    return ok || err_wrap(err, "save a task");
}
