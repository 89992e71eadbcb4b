/* store/sqlite/save.c: transitions, each by one compare-and-set.
 *
 * Live to live is an update; an end moves the row from `task` to `done`, a revival moves it back.
 * Whether the row was still as the caller saw it is known after the first statement, and only then
 * does the rest follow.
 *
 * Thread: engine. Keeps: G2 and rule 1 (state and attempt in WHERE), G3 (doc_lease), I5, I7.
 *
 * SPDX-License-Identifier: MIT */
#include "store/shared.h"
#include "store/sqlite/sqlite.h"

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
    bind_was(s, bind_standing(db, SQL_UPDATE_TASK, 1, change->now), change->was);
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
    if (task_state_terminal(change->now->state)) {
        return insert_done(tx, change->now, err);
    }
    struct task_names names = {0};
    /* A revived task may depend on others; finding out is not worth a look. */
    return intern_names(tx, change->was, &names, err) &&
           insert_live(tx, change->now, &names, true, err);
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
    tx->wrote = true;
    cache_follow(&tx->store->cache, change->now);
    if (change->was->state != change->now->state &&
        !(count_task(tx, change->was->queue, change->was->state, -1, err) &&
          count_task(tx, change->was->queue, change->now->state, 1, err))) {
        return false;
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

static bool apply(struct sqlite_tx *tx, struct task_change *change, struct err *err)
{
    bool live =
        !task_state_terminal(change->was->state) && !task_state_terminal(change->now->state);
    return (live ? update(tx, change, err) : move(tx, change, err)) &&
           (!change->applied || follow(tx, change, err));
}

static bool save_one(struct sqlite_tx *tx, struct task_change *change, struct err *err)
{
    change->applied = false;
    if (!change_takes_document(change)) {
        return apply(tx, change, err);
    }
    enum lease_answer answer = LEASE_REFUSED;
    if (!lease_document(tx, change->now, &answer, err)) {
        return false;
    }
    if (answer == LEASE_REFUSED) {
        return true; /* somebody else holds it: nothing else changes */
    }
    struct task_id holder = task_holder(change->now);
    return apply(tx, change, err) &&
           (change->applied || answer == LEASE_HELD ||
            sqlite_free_document(&tx->tx, change->now->document, holder, err));
}

bool sqlite_save(struct tx *base, struct task_change *changes, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!save_one(SQLITE_TX(base), &changes[i], err)) {
            return err_wrap(err, "save a task");
        }
    }
    return true;
}
