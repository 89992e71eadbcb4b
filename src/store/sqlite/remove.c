/* store/sqlite/remove.c: finished tasks go for good, by name or by age.
 *
 * Thread: engine. Keeps: I7; a key lives as long as its task.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

/* What find_remains.sql says of a finished task. */
static bool read_remains(struct db *db, sqlite3_stmt *s, struct task *task, struct err *err)
{
    task->state = (enum task_state)column_int(s, 1);
    task->key = column_str(s, 2);
    read_facets(s, 3, task);
    return name_text(db, column_int(s, 0), &task->queue, err);
}

static bool free_key(struct db *db, const struct task *task, struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_DELETE_KEY);
    bind_text(s, 1, task->key);
    bind_int(s, 2, (int64_t)task->id.hi);
    return db_run(db, SQL_DELETE_KEY, err);
}

/* Ids are never used twice, so the highest is remembered when its task goes. */
static bool keep_last_id(struct sqlite_tx *tx, const struct task *task, struct err *err)
{
    struct db *db = &tx->store->db;
    if (task->id.hi != tx->last_id) {
        return true;
    }
    bind_int(db_use(db, SQL_KEEP_LAST_K), 1, (int64_t)task->id.hi);
    return db_run(db, SQL_KEEP_LAST_K, err);
}

static bool remove_rows(struct sqlite_tx *tx, const struct task *task, struct err *err)
{
    static const enum sql_id rows[] = {SQL_FORGET_DONE, SQL_FORGET_BODY, SQL_DELETE_ATTEMPTS,
                                       SQL_DELETE_LOG};
    struct db *db = &tx->store->db;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bind_int(db_use(db, rows[i]), 1, (int64_t)task->id.hi);
        if (!db_run(db, rows[i], err)) {
            return false;
        }
    }
    return (str_absent(task->key) || free_key(db, task, err)) && facets_delete(tx, task, err) &&
           keep_last_id(tx, task, err);
}

static bool remove_one(struct sqlite_tx *tx, struct task_id id, struct err *err)
{
    struct db *db = &tx->store->db;
    sqlite3_stmt *s = db_use(db, SQL_FIND_REMAINS);
    struct task task = {.id = id};
    bool row = false;
    bind_int(s, 1, (int64_t)id.hi);
    bind_int(s, 2, (int64_t)id.lo);
    if (!db_row(db, SQL_FIND_REMAINS, &row, err)) {
        return false;
    }
    bool ok = !row || (read_remains(db, s, &task, err) && remove_rows(tx, &task, err));
    if (ok && row) {
        count_task(tx, task.queue, task.state, -1);
    }
    db_done(db, SQL_FIND_REMAINS);
    return ok;
}

bool sqlite_remove(struct tx *base, const struct task_id *ids, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!remove_one(SQLITE_TX(base), ids[i], err)) {
            return err_wrap(err, "delete a task");
        }
    }
    return true;
}

struct swept {
    struct task_id *old; /* owned */
    size_t count, seen;
};

static void swept_fini(struct swept *swept)
{
    mem_free(swept->old);
}

static bool sweep_look(struct db *db, struct store_sweep *sweep, struct swept *swept,
                       struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_SWEEP);
    bool row = true;
    bind_int(s, 1, (int64_t)sweep->cursor);
    bind_int(s, 2, (int64_t)sweep->most);
    while (db_row(db, SQL_SWEEP, &row, err) && row) {
        int64_t finished_ms = column_int(s, 2);
        swept->seen++;
        sweep->cursor = (uint64_t)column_int(s, 0);
        if (finished_ms < sweep->before_ms) {
            swept->old[swept->count++] =
                (struct task_id){sweep->cursor, (uint64_t)column_int(s, 1)};
        } else {
            sweep->oldest_ms = MIN(sweep->oldest_ms, finished_ms);
        }
    }
    return !row;
}

bool sqlite_sweep(struct tx *base, struct store_sweep *sweep, struct err *err)
{
    struct sqlite_tx *tx = SQLITE_TX(base);
    SCOPED(swept_fini)
    struct swept swept = {.old = mem_array(NULL, MAX(1, sweep->most), sizeof *swept.old)};
    if (!sweep_look(&tx->store->db, sweep, &swept, err) ||
        !sqlite_remove(base, swept.old, swept.count, err)) {
        return err_wrap(err, "sweep");
    }
    sweep->removed += swept.count;
    sweep->cursor = swept.seen < sweep->most ? 0 : sweep->cursor;
    return true;
}
