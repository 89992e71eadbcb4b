/* tests/store_memory/tx.c: transactions of the memory store.
 *
 * Changes are made to copies on the transaction's own shelf; a commit puts them on the disk all at
 * once, under the lock that readers take, and a rollback throws them away.
 *
 * Thread: engine. Keeps: what store.h says, as the SQL stores do.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>

#include "base/mem.h"
#include "store/shared.h"
#include "store_memory/disk.h"

bool memory_begin(struct store *base, struct tx **out, struct err *err)
{
    struct memory_store *store = MEMORY_STORE(base);
    assert(!store->tx.open); /* one at a time */
    if (store->crashed) {
        return err_set(err, ERR_FATAL, "begin: the store has crashed");
    }
    store->tx.tx.ops = store->store.ops;
    store->tx.store = store;
    store->tx.open = true;
    store->tx.last_id = store->disk->last_id;
    *out = &store->tx.tx;
    return true;
}

/* Its records have been placed or freed. */
static void end(struct memory_tx *tx)
{
    mem_free(tx->shelf.at);
    finder_fini(&tx->finder);
    leases_fini(&tx->leases);
    pile_fini(&tx->records);
    mem_free(tx->queues);
    counts_abandon(&tx->store->counts, &tx->counts);
    tx->shelf = (struct shelf){0};
    tx->queues = NULL;
    tx->queues_count = 0;
    tx->open = false;
}

void memory_abandon(struct tx *base)
{
    struct memory_tx *tx = MEMORY_TX(base);
    shelf_fini(&tx->shelf);
    end(tx);
}

static void place_all(struct memory_tx *tx)
{
    struct memory_disk *disk = tx->store->disk;
    pthread_mutex_lock(&disk->lock);
    for (size_t i = 0; i < tx->shelf.count; i++) {
        unlink_record(&tx->finder, tx->shelf.at[i]);
    }
    /* Deletions first: a key they free may be taken again in the same transaction. */
    for (size_t gone = 2; gone-- > 0;) {
        for (size_t i = 0; i < tx->shelf.count; i++) {
            struct row *record = tx->shelf.at[i];
            if (record != NULL && record->gone == (gone == 1)) {
                disk_place(disk, record);
                tx->shelf.at[i] = NULL;
            }
        }
    }
    for (size_t i = 0; i < tx->queues_count; i++) {
        disk_save_queue(disk, &tx->queues[i]);
    }
    leases_place(&disk->leases, &tx->leases);
    pile_place(&disk->records, &tx->records);
    disk->last_id = tx->last_id;
    pthread_mutex_unlock(&disk->lock);
    counts_apply(&tx->store->counts, &tx->counts);
}

bool memory_commit(struct tx *base, struct err *err)
{
    struct memory_tx *tx = MEMORY_TX(base);
    struct memory_store *store = tx->store;
    enum memory_fault fault = store->disk->fault;
    store->disk->fault = MEMORY_FINE;
    store->crashed = fault == MEMORY_CRASH_BEFORE || fault == MEMORY_CRASH_AFTER;
    if (fault == MEMORY_FULL || fault == MEMORY_CRASH_BEFORE) {
        memory_abandon(base);
    } else {
        place_all(tx);
        end(tx);
    }
    if (fault == MEMORY_FINE) {
        store->commits++;
        return true;
    }
    return fault == MEMORY_FULL ? err_set(err, ERR_UNAVAILABLE, "commit: the disk is full")
                                : err_set(err, ERR_FATAL, "commit: the store has crashed");
}

bool memory_load(struct tx *base, struct task_load *loads, size_t n, struct err *err)
{
    (void)err;
    struct view view = tx_view(MEMORY_TX(base));
    for (size_t i = 0; i < n; i++) {
        const struct row *record = view_find(&view, loads[i].id.hi);
        loads[i].found = record != NULL && id_eq(record->task.id, loads[i].id);
        if (!loads[i].found) {
            continue;
        }
        struct task task = record->task;
        if (!loads[i].whole) {
            task.payload = task.metadata = task.result = STR_NONE;
            task.tags_count = 0;
        }
        task_keep(&loads[i].task, &task, loads[i].arena);
    }
    return true;
}

/* Who has the key, as this transaction sees it. */
static const struct row *key_owner(const struct memory_tx *tx, struct str key)
{
    const struct row *own = find_key(&tx->finder.keys, key);
    const struct row *base = find_key(&tx->store->disk->finder.keys, key);
    if (own != NULL || base == NULL) {
        return own;
    }
    return shelf_find(&tx->shelf, base->task.id.hi) == NULL ? base : NULL;
}

bool memory_find_keys(struct tx *base, const struct str *keys, size_t n, struct task_id *out,
                      struct err *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++) {
        const struct row *record = key_owner(MEMORY_TX(base), keys[i]);
        out[i] = record == NULL ? TASK_ID_NONE : record->task.id;
    }
    return true;
}

void memory_count(struct memory_tx *tx, struct str queue, enum task_state state, int64_t n)
{
    count_change_add(&tx->counts, counts_slot(&tx->store->counts, queue), state, n);
}

void memory_put(struct memory_tx *tx, struct row *record)
{
    struct row *own = shelf_put(&tx->shelf, record);
    if (own != NULL) {
        unlink_record(&tx->finder, own);
        record_free(own);
    }
    link_record(&tx->finder, record);
}

static bool insert_one(struct memory_tx *tx, const struct task *task, struct err *err)
{
    struct view view = tx_view(tx);
    if (view_find(&view, task->id.hi) != NULL) {
        return err_set(err, ERR_INTERNAL, "insert a task: its id is taken");
    }
    if (!str_absent(task->key) && key_owner(tx, task->key) != NULL) {
        return err_set(err, ERR_CONFLICT, "insert a task: the idempotency key is taken");
    }
    if (task->state == TASK_RUNNING && !str_absent(task->document) && !lease_take(tx, task)) {
        return err_set(err, ERR_CONFLICT, "insert a task: the document is held by another task");
    }
    memory_put(tx, record_new(tx->store->disk, task));
    memory_count(tx, task->queue, task->state, 1);
    tx->last_id = MAX(tx->last_id, task->id.hi);
    return true;
}

bool memory_insert(struct tx *base, const struct task *const *tasks, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!insert_one(MEMORY_TX(base), tasks[i], err)) {
            return false;
        }
    }
    return true;
}

static void keep_ended_attempt(struct row *record, const struct task_change *change)
{
    struct task_attempt ended = change_attempt(change);
    struct task_attempt *attempt = record_attempt(record, ended.number);
    if (attempt->outcome != OUTCOME_NONE) {
        return; /* cancelled between two attempts, and now revived: it is on record */
    }
    struct str log = attempt->log;
    *attempt = ended;
    attempt->worker = arena_str(&record->arena, ended.worker);
    attempt->error.code = arena_str(&record->arena, ended.error.code);
    attempt->error.message = arena_str(&record->arena, ended.error.message);
    attempt->error.detail = arena_str(&record->arena, ended.error.detail);
    attempt->log = log;
}

static void apply(struct memory_tx *tx, const struct row *old, struct task_change *change)
{
    struct row *record = record_copy(old);
    struct task task = task_with_standing(&record->task, change->now);
    record_set(tx->store->disk, record, &task);
    if (change_keeps_attempt(change)) {
        keep_ended_attempt(record, change);
    }
    if (change->log.len > 0) {
        record_log(record, change_log_number(change), change->log);
    }
    memory_count(tx, record->task.queue, change->was->state, -1);
    memory_count(tx, record->task.queue, change->now->state, 1);
    memory_put(tx, record);
}

static void save_one(struct memory_tx *tx, struct task_change *change)
{
    struct view view = tx_view(tx);
    const struct task *was = change->was;
    const struct row *record = view_find(&view, was->id.hi);
    change->applied = record != NULL && id_eq(record->task.id, was->id) &&
                      record->task.state == was->state && record->task.attempt == was->attempt &&
                      !(change_takes_document(change) && !lease_take(tx, change->now));
    if (!change->applied) {
        return;
    }
    if (change_frees_document(change)) {
        lease_end(tx, was);
    }
    apply(tx, record, change);
}

bool memory_save(struct tx *base, struct task_change *changes, size_t n, struct err *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++) {
        save_one(MEMORY_TX(base), &changes[i]);
    }
    return true;
}

bool memory_save_queue(struct tx *base, const struct store_queue *queue, struct err *err)
{
    struct memory_tx *tx = MEMORY_TX(base);
    (void)err;
    tx->queues = mem_array(tx->queues, tx->queues_count + 1, sizeof *tx->queues);
    tx->queues[tx->queues_count] = *queue;
    tx->queues[tx->queues_count++].name = disk_name(tx->store->disk, queue->name);
    count_change_settings(&tx->counts, counts_slot(&tx->store->counts, queue->name));
    return true;
}
