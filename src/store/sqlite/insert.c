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

bool insert_live(struct sqlite_tx *tx, const struct task *task, const struct task_names *names,
                 bool related, struct err *err)
{
    struct db *db = &tx->store->db;
    sqlite3_stmt *s = db_use(db, SQL_INSERT_TASK);
    bind_int(s, 1, (int64_t)task->id.hi);
    bind_int(s, 2, (int64_t)task->id.lo);
    bind_again(db, SQL_INSERT_TASK, 3, names->type_id);
    bind_again(db, SQL_INSERT_TASK, 4, names->queue_id);
    bind_text(s, 5, task->document);
    bind_again(db, SQL_INSERT_TASK, 6, task->expires_ms);
    bind_again(db, SQL_INSERT_TASK, 7, task->created_ms);
    bind_again(db, SQL_INSERT_TASK, 8, related);
    bind_again(db, SQL_INSERT_TASK, 9, (int64_t)task->parent.hi);
    bind_again(db, SQL_INSERT_TASK, 10, (int64_t)task->parent.lo);
    bind_again(db, SQL_INSERT_TASK, 11, (int64_t)task->family.hi);
    bind_again(db, SQL_INSERT_TASK, 12, (int64_t)task->family.lo);
    bind_again(db, SQL_INSERT_TASK, 13, task->container);
    bind_again(db, SQL_INSERT_TASK, 14, task->continues);
    bind_again(db, SQL_INSERT_TASK, 15, task->runs_anyway);
    bind_standing(db, SQL_INSERT_TASK, 16, task);
    return db_run(db, SQL_INSERT_TASK, err);
}

bool insert_done(struct sqlite_tx *tx, const struct task *task, struct err *err)
{
    struct db *db = &tx->store->db;
    bind_int(db_use(db, SQL_INSERT_DONE), 1, (int64_t)task->id.hi);
    bind_end(db, SQL_INSERT_DONE, bind_standing(db, SQL_INSERT_DONE, 2, task), task);
    return db_run(db, SQL_INSERT_DONE, err);
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
    if (task->state == TASK_RUNNING && !str_absent(task->document)) {
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

static bool is_related(const struct task *task)
{
    return task->container || !id_none(task->parent) || !id_none(task->family) ||
           task->depends_count > 0 || task->continues || task->runs_anyway || task->unmet > 0;
}

static bool insert_one(struct sqlite_tx *tx, const struct task *task, struct err *err)
{
    struct db *db = &tx->store->db;
    struct task_names names = {0};
    bool related = is_related(task);
    if (!intern_names(tx, task, &names, err)) {
        return false;
    }
    int at = bind_order(db, SQL_INSERT_BODY, 1, task, &names, &tx->scratch);
    bind_bytes(db_use(db, SQL_INSERT_BODY), at, task->payload);
    if (!db_run(db, SQL_INSERT_BODY, err) ||
        !(task_state_terminal(task->state) ? insert_done(tx, task, err)
                                           : insert_live(tx, task, &names, related, err)) ||
        !insert_extras(tx, task, err) || !count_task(tx, task->queue, task->state, 1, err)) {
        return false;
    }
    if (task->state == TASK_RUNNING && !related) {
        /* One that starts as it is created will soon end: its worker's answer needs all of it. */
        cache_keep(&tx->store->cache, task);
    }
    tx->last_id = MAX(tx->last_id, task->id.hi);
    tx->inserted++;
    return true;
}

bool sqlite_insert(struct tx *base, const struct task *const *tasks, size_t n, struct err *err)
{
    SQLITE_TX(base)->wrote = true;
    for (size_t i = 0; i < n; i++) {
        if (!insert_one(SQLITE_TX(base), tasks[i], err)) {
            return err_wrap(err, "insert a task");
        }
    }
    return true;
}
