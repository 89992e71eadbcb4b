/* store/sqlite/remove.c: finished tasks go for good, by name or by age, and their children with
 * them.
 *
 * Thread: engine. Keeps: I7; a key lives as long as its task.
 *
 * SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "store/sqlite/facet.h"
#include "store/sqlite/names.h"
#include "store/sqlite/sqlite.h"

static bool remove_rows(struct sqlite_tx *tx, const struct task *task, struct err *err)
{
    static const enum sql_id rows[] = {SQL_FORGET_DONE,         SQL_FORGET_BODY,
                                       SQL_DELETE_ATTEMPTS,     SQL_DELETE_LOG,
                                       SQL_DELETE_DEPENDENCIES, SQL_DELETE_DEPENDENTS};
    struct db *db = &tx->store->db;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bind_int(db_use(db, rows[i]), 1, (int64_t)task->id.hi);
        if (!db_run(db, rows[i], err)) {
            return false;
        }
    }
    if (!str_absent(task->key)) {
        bind_text(db_use(db, SQL_DELETE_KEY), 1, task->key);
        bind_int(db_use(db, SQL_DELETE_KEY), 2, (int64_t)task->id.hi);
        if (!db_run(db, SQL_DELETE_KEY, err)) {
            return false;
        }
    }
    if (!facet_delete(tx, task, err) || !child_delete(tx, task, err)) {
        return false;
    }
    /* Ids are never used twice, so the highest is remembered when its task goes. */
    bind_int(db_use(db, SQL_KEEP_LAST_K), 1, (int64_t)task->id.hi);
    return task->id.hi != tx->last_id || db_run(db, SQL_KEEP_LAST_K, err);
}

/* *gone stays false if it is unknown or has not ended. */
static bool remove_one(struct sqlite_tx *tx, struct task_id id, bool *gone, struct err *err)
{
    struct db *db = &tx->store->db;
    sqlite3_stmt *s = db_use(db, SQL_FIND_REMAINS);
    struct task task;
    bool row = false, ok = true;
    bind_int(s, 1, (int64_t)id.hi);
    bind_int(s, 2, (int64_t)id.lo);
    if (!db_row(db, SQL_FIND_REMAINS, &row, err)) {
        return false;
    }
    if (row) {
        ok = read_rest(s, 2, &task, err);
        task.id = id;
        task.state = (enum task_state)column_int(s, 1);
        ok = ok && name_text(db, column_int(s, 0), &task.queue, err) &&
             remove_rows(tx, &task, err) && count_task(tx, task.queue, task.state, -1, err);
    }
    tx->store->names.removed_tasks += row;
    db_done(db, SQL_FIND_REMAINS);
    *gone = row;
    return ok;
}

/* A task and all its descendants, parents before their children. */
struct family {
    struct arena arena;
    struct task_id *ids;
    size_t count;
    bool live;   /* some of the descendants have not ended */
    bool needed; /* a task that has not ended depends on one of them */
};

static void family_fini(struct family *family)
{
    arena_fini(&family->arena);
}

static bool family_gather(struct db *db, struct task_id id, struct family *family, struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_LIST_BRANCH);
    bool row = true;
    *ARENA_PUSH(&family->arena, family->ids, family->count) = id;
    for (size_t i = 0; i < family->count; i++, row = true) {
        bind_int(s, 1, (int64_t)family->ids[i].hi);
        while (db_row(db, SQL_LIST_BRANCH, &row, err) && row) {
            *ARENA_PUSH(&family->arena, family->ids, family->count) = column_id(s, 0);
            family->live |= column_int(s, 2) != 0;
        }
        if (row) {
            return false;
        }
    }
    return true;
}

static bool family_needed(struct sqlite_store *store, struct family *family, struct err *err)
{
    struct db *db = &store->db;
    for (size_t i = 0; store->dependencies && i < family->count && !family->needed; i++) {
        bind_int(db_use(db, SQL_IS_NEEDED), 1, (int64_t)family->ids[i].hi);
        if (!db_row(db, SQL_IS_NEEDED, &family->needed, err)) {
            return false;
        }
        db_done(db, SQL_IS_NEEDED);
    }
    return true;
}

/* Adds to *removed how many went: all or none. By age only what nobody needs any more goes. */
static bool remove_family(struct sqlite_tx *tx, struct task_id id, bool by_age, size_t *removed,
                          struct err *err)
{
    SCOPED(family_fini) struct family family = {0};
    bool gone = true;
    if (!family_gather(&tx->store->db, id, &family, err) ||
        (by_age && !family_needed(tx->store, &family, err))) {
        return false;
    }
    bool stays = family.live || family.needed;
    for (size_t i = 0; i < family.count && gone && !stays; i++) {
        if (!remove_one(tx, family.ids[i], &gone, err)) {
            return false;
        }
        *removed += gone;
    }
    return true;
}

bool sqlite_remove(struct tx *base, const struct task_id *ids, size_t n, struct err *err)
{
    size_t removed = 0;
    for (size_t i = 0; i < n; i++) {
        if (!remove_family(SQLITE_TX(base), ids[i], false, &removed, err)) {
            return err_wrap(err, "delete a task");
        }
    }
    return true;
}

/* Finished long enough ago. */
struct old_task {
    struct task_id id;
    int64_t finished_ms;
};

struct swept {
    struct old_task *old; /* owned */
    size_t count, seen;
    bool over; /* what follows was created too late to be old */
};

static void swept_fini(struct swept *swept)
{
    mem_free(swept->old);
}

static void sweep_note(sqlite3_stmt *s, struct store_sweep *sweep, struct swept *swept)
{
    int64_t finished_ms = column_int(s, 2);
    bool waits_for_parent = column_int(s, 3) != 0;
    swept->seen++;
    sweep->cursor = (uint64_t)column_int(s, 0);
    if (waits_for_parent) {
        return;
    }
    if (finished_ms < sweep->before_ms) {
        swept->old[swept->count++] = (struct old_task){column_id(s, 0), finished_ms};
    } else {
        sweep->oldest_ms = MIN(sweep->oldest_ms, finished_ms);
    }
}

/* Nothing ends before it was created, and those behind were created later: where the clock was set
 * back meanwhile, a later walk finds them. */
static bool sweep_look(struct db *db, struct store_sweep *sweep, struct swept *swept,
                       struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_SWEEP);
    bool row = true;
    bind_int(s, 1, (int64_t)sweep->cursor);
    bind_int(s, 2, (int64_t)sweep->most);
    while (db_row(db, SQL_SWEEP, &row, err) && row) {
        int64_t created_ms = column_int(s, 4);
        if (created_ms >= sweep->before_ms) {
            sweep->oldest_ms = MIN(sweep->oldest_ms, created_ms);
            swept->over = true;
            db_done(db, SQL_SWEEP);
            return true;
        }
        sweep_note(s, sweep, swept);
    }
    return !row;
}

static bool sweep_away(struct sqlite_tx *tx, struct store_sweep *sweep, const struct swept *swept,
                       struct err *err)
{
    for (size_t i = 0; i < swept->count; i++) {
        size_t before = sweep->removed;
        if (!remove_family(tx, swept->old[i].id, true, &sweep->removed, err)) {
            return false;
        }
        if (sweep->removed == before) {
            sweep->oldest_ms = MIN(sweep->oldest_ms, swept->old[i].finished_ms);
        }
    }
    return true;
}

bool sqlite_sweep(struct tx *base, struct store_sweep *sweep, struct err *err)
{
    struct sqlite_tx *tx = SQLITE_TX(base);
    SCOPED(swept_fini)
    struct swept swept = {.old = mem_array(NULL, MAX(1, sweep->most), sizeof *swept.old)};
    if (!sweep_look(&tx->store->db, sweep, &swept, err) || !sweep_away(tx, sweep, &swept, err)) {
        return err_wrap(err, "sweep");
    }
    sweep->cursor = swept.over || swept.seen < sweep->most ? 0 : sweep->cursor;
    return true;
}
