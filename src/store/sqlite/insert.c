/* store/sqlite/insert.c: new tasks.
 *
 * A task with nothing special is two rows, its order and where it stands; an idempotency key, a
 * document that it holds from the start and each relation are one more.
 *
 * Thread: engine. Keeps: G3 (doc_lease), I7 (counts).
 *
 * SPDX-License-Identifier: MIT */
#include "store/shared.h"
#include "store/sqlite/facet.h"
#include "store/sqlite/names.h"
#include "store/sqlite/sqlite.h"

bool count_task(struct sqlite_tx *tx, struct str queue, enum task_state state, int64_t n,
                struct err *err)
{
    size_t slot;
    if (!counts_place(tx->store, queue, &slot, err)) {
        return false;
    }
    count_change_add(&tx->counts, slot, state, n);
    return true;
}

bool intern_names(struct sqlite_tx *tx, const struct task *task, struct task_names *names,
                  struct err *err)
{
    struct db *db = &tx->store->db;
    return name_intern(db, task->type, &names->type_id, err) &&
           name_intern(db, task->queue, &names->queue_id, err);
}

static bool take_key(struct sqlite_tx *tx, const struct task *task, struct err *err)
{
    struct db *db = &tx->store->db;
    sqlite3_stmt *s = db_use(db, SQL_INSERT_KEY);
    bool changed = false;
    bind_text(s, 1, task->key);
    bind_int(s, 2, (int64_t)task->id.hi);
    if (!db_change(db, SQL_INSERT_KEY, &changed, err)) {
        return false;
    }
    return changed || err_set(err, ERR_CONFLICT, "the idempotency key is taken");
}

/* The rare extras of a new task. */
static bool insert_extras(struct sqlite_tx *tx, const struct task *task, struct err *err)
{
    if (!str_absent(task->key) && !take_key(tx, task, err)) {
        return false;
    }
    if (task->state == TASK_RUNNING && !str_absent(task->document) && !tx->adopts) {
        enum lease_answer answer = LEASE_REFUSED;
        if (!lease_document(tx, task, &answer, err)) {
            return false;
        }
        if (answer == LEASE_REFUSED) {
            return err_set(err, ERR_CONFLICT, "the document is held by another task");
        }
    }
    uint64_t labels[FACET_LABELS_MAX];
    tx->labels |= facet_labels(task, labels) > 0;
    /* Ids grow, but one made early may come late: below the watermark the index cannot wait. */
    return family_insert(tx, task, err) && facet_insert_relations(tx, task, err) &&
           ((int64_t)task->id.hi > tx->indexed_k || facet_insert_labels(tx, task, err));
}

/* What of a new task is not a row in `body`, `task` or `done`. */
static bool follow(struct sqlite_tx *tx, const struct task *task, struct err *err)
{
    if (!insert_extras(tx, task, err) || !count_task(tx, task->queue, task->state, 1, err)) {
        return false;
    }
    tx->last_id = MAX(tx->last_id, task->id.hi);
    tx->inserted++;
    return true;
}

/* The rows of all of them, table by table. */
static bool insert_rows(struct sqlite_tx *tx, const struct task *const *tasks, size_t n,
                        struct err *err)
{
    struct db *db = &tx->store->db;
    struct fed_rows *live = &tx->live, *done = &tx->done;
    live->count = done->count = 0;
    for (size_t i = 0; i < n; i++) {
        struct fed_rows *rows = task_state_terminal(tasks[i]->state) ? done : live;
        struct fed *row = ARRAY_PUSH(rows->at, rows->count, rows->room);
        *row = (struct fed){.order = tasks[i], .now = tasks[i]};
        if (!intern_names(tx, tasks[i], &row->names, err)) {
            return false;
        }
    }
    return feed_run(db, SQL_INSERT_BODY, live->at, live->count, err) &&
           feed_run(db, SQL_INSERT_BODY, done->at, done->count, err) &&
           feed_run(db, SQL_INSERT_TASK, live->at, live->count, err) &&
           feed_run(db, SQL_INSERT_DONE, done->at, done->count, err);
}

bool sqlite_insert(struct tx *base, const struct task *const *tasks, size_t n, struct err *err)
{
    struct sqlite_tx *tx = SQLITE_TX(base);
    bool ok = insert_rows(tx, tasks, n, err);
    for (size_t i = 0; ok && i < n; i++) {
        ok = follow(tx, tasks[i], err);
    }
    return ok || err_wrap(err, "insert a task");
}
