/* tests/store_memory/memory.c: opens the store that is only memory; see memory.h.
 *
 * It behaves as the SQL stores do, rollback and restart included, and forgets everything with its
 * disk: for unit tests and the simulator.
 *
 * Thread: engine; counts any.
 *
 * SPDX-License-Identifier: MIT */
#include "store_memory/memory.h"

#include <assert.h>
#include <stdio.h>

#include "base/mem.h"
#include "store/shared.h"
#include "store_memory/disk.h"
#include "task/family.h"

static void close_store(struct store *base)
{
    struct memory_store *store = MEMORY_STORE(base);
    if (store->tx.open) {
        memory_abandon(&store->tx.tx);
    }
    count_change_fini(&store->tx.counts);
    counts_fini(&store->counts);
    store->disk->open = false;
    if (store->owns_disk) {
        memory_disk_free(store->disk);
    }
    mem_free(store);
}

static uint64_t last_id(const struct store *base)
{
    return ((const struct memory_store *)base)->disk->last_id;
}

static uint64_t epoch(const struct store *base)
{
    return ((const struct memory_store *)base)->disk->epoch;
}

/* Only what the SQL stores give too, so that nobody comes to lean on more. */
static struct task live_part(const struct task *task)
{
    struct task part = *task;
    if (task->state != TASK_RUNNING) {
        return (struct task){.id = task->id,
                             .type = task->type,
                             .queue = task->queue,
                             .document = task->document,
                             .parent = task->parent,
                             .family = task->family,
                             .container = task->container,
                             .continues = task->continues,
                             .runs_anyway = task->runs_anyway,
                             .unmet = task->unmet,
                             .state = task->state,
                             .priority = task->priority,
                             .attempt = task->attempt,
                             .queued_ms = task->queued_ms,
                             .scheduled_ms = task->scheduled_ms,
                             .expires_ms = task->expires_ms};
    }
    part.payload = part.metadata = part.external_id = part.key = STR_NONE;
    part.payload_raw = false;
    part.tags_count = 0;
    part.backoff = (struct task_backoff){0};
    part.team = part.schedule = TASK_ID_NONE;
    part.created_ms = 0;
    return part;
}

static bool scan_live(struct store *base, store_each_fn *each, void *arg, struct err *err)
{
    struct memory_disk *disk = MEMORY_STORE(base)->disk;
    for (size_t i = 0; i < disk->shelf.count; i++) {
        struct task part = live_part(&disk->shelf.at[i]->task);
        if (!task_state_terminal(part.state) && !each(arg, &part, err)) {
            return false;
        }
    }
    return true;
}

static bool tend(struct store *store, bool *more, struct err *err)
{
    (void)store;
    (void)err;
    *more = false;
    return true;
}

static bool scan_queues(struct store *base, store_queue_fn *each, void *arg, struct err *err)
{
    struct memory_disk *disk = MEMORY_STORE(base)->disk;
    for (size_t i = 0; i < disk->queues_count; i++) {
        if (!each(arg, &disk->queues[i], err)) {
            return false;
        }
    }
    return true;
}

static bool list_counts(struct store *base, struct arena *arena, struct store_counts *out,
                        struct err *err)
{
    (void)err;
    counts_list(&MEMORY_STORE(base)->counts, arena, out);
    return true;
}

static void health(const struct store *base, struct store_health *out)
{
    *out = (struct store_health){.commits = ((const struct memory_store *)base)->commits};
}

static void find_fault(const struct memory_disk *disk, const struct task *task,
                       store_finding_fn *each, void *arg)
{
    bool leased = task->state == TASK_RUNNING && !task->container;
    if (task->max_retries != TASK_RETRIES_UNLIMITED && task->retries > task->max_retries) {
        each(arg, "I3", "a task used more retries than it has");
    }
    if (leased != (task->lease_until_ms > 0)) {
        each(arg, "I4", "RUNNING and holding a lease must be one thing");
    }
    if (task->container && task->attempt > 0) {
        each(arg, "I4", "a container was claimed");
    }
    if (leased && !str_absent(task->document) &&
        !id_eq(lease_holder(&disk->leases, task->document), task_holder(task))) {
        each(arg, "I2", "a task runs without holding its document");
    }
}

static void check_relations(const struct memory_disk *disk, const struct row *record,
                            store_finding_fn *each, void *arg)
{
    for (size_t i = 0; i < record->relations_count; i++) {
        const struct relation *relation = &record->relations[i];
        bool child = relation->kind == RELATION_CHILD;
        const struct row *to = shelf_find(&disk->shelf, relation->to.hi);
        if (to == NULL || !id_eq(to->task.id, relation->to)) {
            each(arg, "relations",
                 child ? "a task is the child of none" : "a task depends on none");
        } else if (child && !to->task.container) {
            each(arg, "relations", "a task has children, but is no container");
        }
    }
}

/* I8: how a parent and its children stand, see check_i8_ends. */
static void check_family(const struct memory_disk *disk, const struct task *parent,
                         store_finding_fn *each, void *arg)
{
    const struct task *next = NULL;
    bool begun = parent->state == TASK_QUEUED || parent->state == TASK_RUNNING;
    for (size_t i = 0; i < disk->shelf.count; i++) {
        const struct task *child = &disk->shelf.at[i]->task;
        if (!id_eq(child->parent, parent->id) || task_state_terminal(child->state)) {
            continue;
        }
        next = next == NULL ? child : next;
        if (child->state != TASK_WAITING && (!begun || child != next)) {
            each(arg, "I8", "a child may run, but it is not its turn");
        }
    }
    if (next == NULL) {
        each(arg, "I8", "a parent is open, and none of its children can still run");
    } else if (begun && !parent->cancel_requested && next->state == TASK_WAITING) {
        each(arg, "I8", "a child waits for its turn, which has come");
    }
}

static void check_ends(const struct memory_disk *disk, const struct row *record,
                       store_finding_fn *each, void *arg)
{
    const struct task *task = &record->task;
    const struct row *parent = shelf_find(&disk->shelf, task->parent.hi);
    int32_t stand = 0;
    if (task_state_terminal(task->state)) {
        return;
    }
    if (task->container && !task_is_hold(task)) {
        check_family(disk, task, each, arg);
    }
    if (parent != NULL && task_state_terminal(parent->task.state)) {
        each(arg, "I8", "a task has not ended, but its parent has");
    }
    for (size_t i = 0; i < record->relations_count; i++) {
        const struct row *on = shelf_find(&disk->shelf, record->relations[i].to.hi);
        stand += record->relations[i].kind == RELATION_DEPENDENCY && on != NULL &&
                 family_stands(task, on->task.state);
    }
    if (task->state == TASK_WAITING && id_none(task->parent) &&
        (task->unmet == 0 || task->unmet != stand)) {
        each(arg, "I8", "a task does not wait for what stands in its way");
    }
}

static void check_leases(const struct memory_disk *disk, store_finding_fn *each, void *arg)
{
    struct map_walk walk = MAP_WALK;
    for (struct map_node *n; (n = map_walk(&disk->leases, &walk)) != NULL;) {
        if (!lease_is_used(disk, HOLDER(n, struct lease, node))) {
            each(arg, "I5", "a document is held by a task that does not run on it");
        }
    }
}

/* Counts again what the counters say. */
static void check_counts(struct memory_store *store, store_finding_fn *each, void *arg)
{
    struct count_change rows = {0};
    struct counts *counts = &store->counts;
    struct store_counts kept;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    const struct shelf *shelf = &store->disk->shelf;
    for (size_t i = 0; i < shelf->count; i++) {
        const struct task *task = &shelf->at[i]->task;
        count_change_add(&rows, counts_slot(counts, task->queue), task->state, 1);
    }
    counts_list(counts, &arena, &kept);
    for (size_t i = 0; i < kept.count; i++) {
        size_t slot = counts_slot(counts, kept.at[i].queue);
        for (int state = 0; state < TASK_STATES; state++) {
            int64_t n = slot < rows.room ? rows.at[slot].tasks[state] : 0;
            if (n != kept.at[i].tasks[state]) {
                each(arg, "I7", "the counters of a queue are not what its rows add up to");
            }
        }
    }
    count_change_fini(&rows);
}

static bool check(struct store *base, store_finding_fn *each, void *arg, struct err *err)
{
    struct memory_store *store = MEMORY_STORE(base);
    (void)err;
    for (size_t i = 0; i < store->disk->shelf.count; i++) {
        find_fault(store->disk, &store->disk->shelf.at[i]->task, each, arg);
        check_relations(store->disk, store->disk->shelf.at[i], each, arg);
        check_ends(store->disk, store->disk->shelf.at[i], each, arg);
    }
    check_leases(store->disk, each, arg);
    pile_check(&store->disk->records, each, arg);
    check_counts(store, each, arg);
    return true;
}

static const struct store_ops ops = {
    .close = close_store,
    .last_id = last_id,
    .epoch = epoch,
    .scan_live = scan_live,
    .scan_held = memory_scan_held,
    .begin = memory_begin,
    .commit = memory_commit,
    .abandon = memory_abandon,
    .load = memory_load,
    .find_keys = memory_find_keys,
    .insert = memory_insert,
    .save = memory_save,
    .kin = memory_kin,
    .free_document = memory_free_document,
    .remove = memory_remove,
    .sweep = memory_sweep,
    .select = memory_select,
    .tend = tend,
    .scan_queues = scan_queues,
    .save_queue = memory_save_queue,
    .reader_open = memory_reader_open,
    .reader_close = memory_reader_close,
    .list = memory_list,
    .detail = memory_detail,
    .counts = list_counts,
    .records_load = memory_records_load,
    .records_find = memory_records_find,
    .records_save = memory_records_save,
    .records_delete = memory_records_delete,
    .records_clear = memory_records_clear,
    .records_due = memory_records_due,
    .records_list = memory_records_list,
    .reader_records = memory_reader_records,
    .reader_records_count = memory_reader_records_count,
    .reader_record = memory_reader_record,
    .check = check,
    .health = health,
};

static void count_again(struct memory_store *store)
{
    const struct memory_disk *disk = store->disk;
    struct count_change *change = &store->tx.counts;
    for (size_t i = 0; i < disk->shelf.count; i++) {
        const struct task *task = &disk->shelf.at[i]->task;
        count_change_add(change, counts_slot(&store->counts, task->queue), task->state, 1);
    }
    for (size_t i = 0; i < disk->queues_count; i++) {
        count_change_settings(change, counts_slot(&store->counts, disk->queues[i].name));
    }
    counts_apply(&store->counts, change);
}

bool memory_disk_open(struct memory_disk *disk, struct store **out, struct err *err)
{
    if (disk->open) {
        return err_set(err, ERR_UNAVAILABLE, "another store is using this disk");
    }
    struct memory_store *store = mem_new(struct memory_store);
    store->store.ops = &ops;
    store->disk = disk;
    disk->open = true;
    disk->epoch++;
    leases_drop_strays(disk);
    counts_init(&store->counts);
    count_again(store);
    *out = &store->store;
    return true;
}

struct memory_disk *memory_store_disk(struct store *store)
{
    return MEMORY_STORE(store)->disk;
}

struct store *memory_store_new(void)
{
    struct store *store = NULL;
    bool open = memory_disk_open(memory_disk_new(), &store, NULL);
    assert(open); /* nobody else has it */
    (void)open;
    MEMORY_STORE(store)->owns_disk = true;
    return store;
}
