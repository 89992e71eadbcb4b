/* store/memory/tx.c: transactions of the memory store.
 *
 * Changes are made to copies on the transaction's own shelf; a commit puts them on the disk all at
 * once, under the lock that readers take, and a rollback throws them away.
 *
 * Thread: engine. Keeps: what store.h says, as the SQL stores do.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>

#include "base/mem.h"
#include "store/memory/disk.h"
#include "store/shared.h"

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
    map_fini(&tx->keys);
    map_fini(&tx->documents);
    mem_free(tx->queues);
    count_change_clear(&tx->counts);
    tx->shelf = (struct shelf){0};
    tx->keys = tx->documents = MAP_INIT;
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
        unlink_record(&tx->keys, &tx->documents, tx->shelf.at[i]);
    }
    /* Deletions first: a key they free may be taken again in the same transaction. */
    for (size_t gone = 2; gone-- > 0;) {
        for (size_t i = 0; i < tx->shelf.count; i++) {
            struct record *record = tx->shelf.at[i];
            if (record != NULL && record->gone == (gone == 1)) {
                disk_place(disk, record);
                tx->shelf.at[i] = NULL;
            }
        }
    }
    for (size_t i = 0; i < tx->queues_count; i++) {
        disk_save_queue(disk, &tx->queues[i]);
    }
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
        const struct record *record = view_find(&view, loads[i].id.hi);
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
static const struct record *key_owner(const struct memory_tx *tx, struct str key)
{
    const struct record *own = find_key(&tx->keys, key);
    const struct record *base = find_key(&tx->store->disk->keys, key);
    if (own != NULL || base == NULL) {
        return own;
    }
    return shelf_find(&tx->shelf, base->task.id.hi) == NULL ? base : NULL;
}

static const struct record *document_holder(const struct memory_tx *tx, struct str document)
{
    const struct record *own = find_document(&tx->documents, document);
    const struct record *base = find_document(&tx->store->disk->documents, document);
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
        const struct record *record = key_owner(MEMORY_TX(base), keys[i]);
        out[i] = record == NULL ? TASK_ID_NONE : record->task.id;
    }
    return true;
}

static void count_task(struct memory_tx *tx, struct str queue, enum task_state state, int64_t n)
{
    count_change_add(&tx->counts, counts_slot(&tx->store->counts, queue), state, n);
}

static void put(struct memory_tx *tx, struct record *record)
{
    record_free(shelf_put(&tx->shelf, record));
    link_record(&tx->keys, &tx->documents, record);
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
    if (task->state == TASK_RUNNING && !str_absent(task->document) &&
        document_holder(tx, task->document) != NULL) {
        return err_set(err, ERR_CONFLICT, "insert a task: the document is held by another task");
    }
    put(tx, record_new(tx->store->disk, task));
    count_task(tx, task->queue, task->state, 1);
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

static void keep_ended_attempt(struct record *record, const struct task_change *change)
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

static void apply(struct memory_tx *tx, const struct record *old, struct task_change *change)
{
    struct record *record = record_copy(old);
    struct task task = task_with_standing(&record->task, change->now);
    record_set(tx->store->disk, record, &task);
    if (change_keeps_attempt(change)) {
        keep_ended_attempt(record, change);
    }
    if (change->log.len > 0) {
        record_log(record, change_log_number(change), change->log);
    }
    count_task(tx, record->task.queue, change->was->state, -1);
    count_task(tx, record->task.queue, change->now->state, 1);
    struct record *own = shelf_find(&tx->shelf, record->task.id.hi);
    if (own != NULL) {
        unlink_record(&tx->keys, &tx->documents, own);
    }
    put(tx, record);
}

static void save_one(struct memory_tx *tx, struct task_change *change)
{
    struct view view = tx_view(tx);
    const struct task *was = change->was;
    const struct record *record = view_find(&view, was->id.hi);
    change->applied =
        record != NULL && id_eq(record->task.id, was->id) && record->task.state == was->state &&
        record->task.attempt == was->attempt &&
        !(change_takes_document(change) && document_holder(tx, change->now->document) != NULL);
    if (change->applied) {
        apply(tx, record, change);
    }
}

bool memory_save(struct tx *base, struct task_change *changes, size_t n, struct err *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++) {
        save_one(MEMORY_TX(base), &changes[i]);
    }
    return true;
}

static bool remove_one(struct memory_tx *tx, struct task_id id)
{
    struct view view = tx_view(tx);
    const struct record *old = view_find(&view, id.hi);
    if (old == NULL || !id_eq(old->task.id, id) || !task_state_terminal(old->task.state)) {
        return false;
    }
    struct record *record = mem_new(struct record);
    record->task.id = id;
    record->gone = true;
    count_task(tx, old->task.queue, old->task.state, -1);
    struct record *own = shelf_find(&tx->shelf, id.hi);
    if (own != NULL) {
        unlink_record(&tx->keys, &tx->documents, own);
    }
    put(tx, record);
    return true;
}

bool memory_remove(struct tx *base, const struct task_id *ids, size_t n, struct err *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++) {
        remove_one(MEMORY_TX(base), ids[i]);
    }
    return true;
}

bool memory_sweep(struct tx *base, struct store_sweep *sweep, struct err *err)
{
    (void)err;
    struct memory_tx *tx = MEMORY_TX(base);
    struct view view = tx_view(tx);
    size_t seen = 0;
    for (const struct record *r; seen < sweep->most && (r = view_after(&view, sweep->cursor));) {
        sweep->cursor = r->task.id.hi;
        if (!task_state_terminal(r->task.state)) {
            continue;
        }
        seen++;
        if (r->task.finished_ms < sweep->before_ms) {
            sweep->removed += remove_one(tx, r->task.id);
        } else {
            sweep->oldest_ms = MIN(sweep->oldest_ms, r->task.finished_ms);
        }
    }
    sweep->cursor = seen < sweep->most ? 0 : sweep->cursor;
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
