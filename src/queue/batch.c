/* queue/batch.c: the working set of one batch: load, decide elsewhere, save. See batch.h.
 *
 * Everything a batch reads is loaded at once and everything it changed is saved at once, so that a
 * store that is a network away costs a round trip per batch and not per command. A task goes
 * through one transition per batch: whoever comes second is deferred to the next.
 *
 * Thread: engine. Keeps: rule 1 of docs/design/README.md (compare-and-set), G1 (answers follow the
 * commit).
 *
 * SPDX-License-Identifier: MIT */
#include "queue/batch.h"

#include <assert.h>

#include "base/array.h"
#include "queue/engine.h"
#include "store/pack.h"

void batch_init(struct batch *batch, struct engine *engine)
{
    memset(batch, 0, offsetof(struct batch, fired));
    batch->engine = engine;
    batch->now = clock_now(engine->with.clock);
    batch->walk.left = FOLLOW_MAX;
    engine->strays.batch++;
    list_init(&batch->commands);
    list_init(&batch->deferred);
    list_init(&batch->answered);
}

void batch_fini(struct batch *batch)
{
    tx_close(&batch->tx);
    map_fini(&batch->items);
    map_fini(&batch->keys);
    mem_free(batch->all);
    mem_free(batch->orders);
    mem_free(batch->walk.next.at);
    mem_free(batch->walk.born.at);
    mem_free(batch->walk.unfollowed.at);
    mem_free(batch->proposals);
    mem_free(batch->returns);
    mem_free(batch->aborts);
    event_batch_free(batch->events);
    arena_fini(&batch->arena);
}

bool batch_ok(const struct batch *batch)
{
    return batch->err.kind == ERR_NONE;
}

void batch_fail_store(struct batch *batch, const struct err *err)
{
    if (batch_ok(batch)) {
        batch->err = *err;
        batch->lost = batch->lost || err->kind == ERR_CONFLICT; /* begun again, see store.h */
    }
}

bool batch_begin(struct batch *batch)
{
    struct err err = ERR_INIT;
    if (batch->tx == NULL && batch_ok(batch) &&
        !store_begin(batch->engine->store, &batch->tx, &err)) {
        batch_fail_store(batch, &err);
    }
    return batch_ok(batch);
}

/* ---- Items ---- */

static struct item *find(const struct batch *batch, struct task_id id)
{
    struct map_node *node = map_find(&batch->items, id_hash(id));
    while (node != NULL && !id_eq(HOLDER(node, struct item, node)->id, id)) {
        node = map_again(node);
    }
    return node == NULL ? NULL : HOLDER(node, struct item, node);
}

static struct item *add(struct batch *batch, struct task_id id)
{
    struct item *item = arena_alloc(&batch->arena, sizeof *item);
    memset(item, 0, offsetof(struct item, was));
    item->id = id;
    map_add(&batch->items, &item->node, id_hash(id));
    *ARRAY_PUSH(batch->all, batch->all_count, batch->all_room) = item;
    return item;
}

static bool is_missing(const struct item *item)
{
    return !item->loaded || (item->whole && !item->has_whole);
}

/* `first`: nobody has asked for it so far. */
static struct item *need(struct batch *batch, struct task_id id, bool whole, bool *first)
{
    struct item *item = find(batch, id);
    bool counted = item != NULL && is_missing(item);
    *first = item == NULL;
    if (item == NULL) {
        item = add(batch, id);
    }
    item->whole = item->whole || whole;
    item->starts = false;
    item->token = 0;
    batch->missing += !counted && is_missing(item);
    return item;
}

void batch_need(struct batch *batch, struct task_id id, bool whole)
{
    bool first;
    need(batch, id, whole, &first);
}

void batch_need_start(struct batch *batch, const struct hint *hint)
{
    bool first;
    struct item *item = need(batch, hint->id, true, &first);
    item->starts = first;
    item->queued_ms = hint->queued_ms;
}

void batch_need_end(struct batch *batch, struct task_id id, uint64_t token)
{
    bool first;
    struct item *item = need(batch, id, true, &first);
    item->token = first ? token : 0;
}

static size_t list_missing(struct batch *batch, struct task_load *loads, struct item **items)
{
    size_t n = 0;
    for (size_t i = 0; i < batch->all_count; i++) {
        struct item *item = batch->all[i];
        if (is_missing(item)) {
            loads[n] = (struct task_load){.id = item->id,
                                          .arena = &batch->arena,
                                          .whole = item->whole,
                                          .starts = item->starts,
                                          .queued_ms = item->queued_ms,
                                          .token = item->token};
            items[n++] = item;
        }
    }
    return n;
}

static void take_load(struct item *item, const struct task_load *load)
{
    if (item->owner !=
        NULL) { /* a part was loaded, and perhaps changed, before: this is the rest */
        item->now.payload = load->task.payload;
        item->now.payload_raw = load->task.payload_raw;
        item->now.metadata = load->task.metadata;
        item->now.tags_count = load->task.tags_count;
        memcpy(item->now.tags, load->task.tags, sizeof item->now.tags);
    } else {
        item->now = load->task;
    }
    item->was = load->task;
    item->found = load->found;
    item->has_whole = load->whole;
    item->loaded = true;
}

/* For tests: a row says what memory says. */
static void doubt(struct batch *batch, const struct item *item)
{
    struct err err = ERR_INIT;
    struct task_load load = {.id = item->id, .arena = &batch->arena, .whole = true};
    SCOPED(buf_fini) struct buf kept = BUF_INIT(4 * MIB);
    SCOPED(buf_fini) struct buf stored = BUF_INIT(4 * MIB);
    if (batch_begin(batch) && tx_load(batch->tx, &load, 1, &err)) {
        bool same = load.found && pack_whole(&kept, &item->was) &&
                    pack_whole(&stored, &load.task) && str_eq(buf_view(&kept), buf_view(&stored));
        assert(same);
    } else if (err.kind != ERR_NONE) {
        batch_fail_store(batch, &err);
    }
}

/* What is at hand need not be read. Other nodes would change it behind our back. */
static void take_hot(struct batch *batch)
{
    const struct engine *engine = batch->engine;
    for (size_t i = 0; !engine->shared && i < batch->all_count; i++) {
        struct item *item = batch->all[i];
        if (!item->loaded && hot_read(&engine->hot, item->id, &item->was)) {
            item->now = item->was;
            item->loaded = item->found = item->has_whole = true;
            batch->missing--;
            if (engine->with.doubts_memory) {
                doubt(batch, item);
            }
        }
    }
}

bool batch_load(struct batch *batch)
{
    struct err err = ERR_INIT;
    if (batch->missing > 0) {
        take_hot(batch);
    }
    if (batch->missing == 0 || !batch_begin(batch)) {
        return batch_ok(batch);
    }
    size_t n = batch->missing;
    SCOPED(mem_free_at) struct task_load *loads = mem_array(NULL, n, sizeof *loads);
    SCOPED(mem_free_at) struct item **items = mem_array(NULL, n, sizeof *items);
    list_missing(batch, loads, items);
    if (!tx_load(batch->tx, loads, n, &err)) {
        batch_fail_store(batch, &err);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        take_load(items[i], &loads[i]);
    }
    batch->missing = 0;
    return true;
}

bool batch_knows(const struct batch *batch, struct task_id id)
{
    return find(batch, id) != NULL;
}

struct item *batch_new_item(struct batch *batch, const struct task *task)
{
    struct item *item = add(batch, task->id);
    item->was = item->now = *task;
    item->loaded = item->found = item->whole = item->has_whole = true;
    return item;
}

const struct item *batch_met(const struct batch *batch, const struct order *order)
{
    const struct item *item = batch->met == 0 ? NULL : find(batch, order->task.id);
    return item != NULL && item->fresh ? item : NULL;
}

struct item *batch_peek(const struct batch *batch, struct task_id id)
{
    struct item *item = find(batch, id);
    return item == NULL || !item->loaded ? NULL : item;
}

struct item *batch_item(struct batch *batch, struct task_id id)
{
    struct item *item = find(batch, id);
    if (item == NULL || !item->loaded) {
        batch_need(batch, id, true);
        if (!batch_load(batch)) {
            return NULL;
        }
        item = find(batch, id);
    }
    return item;
}

bool batch_find(struct batch *batch, struct task_id id, struct item **out, struct err *err)
{
    char text[TASK_ID_TEXT];
    struct item *item = batch_item(batch, id);
    if (item == NULL) {
        *err = batch->err;
        return false;
    }
    if (!item->found || item->removed) {
        return err_set(err, ERR_NOT_FOUND, "there is no task %s", id_text(id, text).ptr);
    }
    *out = item;
    return true;
}

struct item *batch_change(struct batch *batch, struct item *item, const void *owner)
{
    assert(item->loaded && item->found && owner != NULL);
    item->owner = owner;
    batch->writes = true;
    flow_note(batch, item);
    return item;
}

void batch_abort(struct batch *batch, const struct item *item, enum abort_why why)
{
    batch_abort_attempt(batch, item->id, item->now.attempt, why);
}

void batch_abort_attempt(struct batch *batch, struct task_id id, int32_t attempt,
                         enum abort_why why)
{
    *ARRAY_PUSH(batch->aborts, batch->aborts_count, batch->aborts_room) =
        (struct abort){id, attempt, why};
}

void batch_abort_cancelled(struct batch *batch, const struct item *item)
{
    if (item->now.state == TASK_RUNNING && task_worker_kind(item->now.worker) != WORKER_REMOTE) {
        batch_abort(batch, item, ABORT_CANCEL);
    }
}

/* ---- Answers ---- */

void batch_answer(struct batch *batch, struct command *command)
{
    list_remove(&command->link);
    list_append(&batch->answered, &command->link);
}

void batch_defer(struct batch *batch, struct command *command)
{
    list_remove(&command->link);
    list_append(&batch->deferred, &command->link);
}

/* ---- Saving ---- */

static bool save_orders(struct batch *batch, struct err *err)
{
    if (batch->orders_count == 0) {
        return true;
    }
    const struct task **tasks =
        arena_array(&batch->arena, const struct task *, batch->orders_count);
    for (size_t i = 0; i < batch->orders_count; i++) {
        const struct item *met = batch_met(batch, batch->orders[i]);
        tasks[i] = met == NULL ? &batch->orders[i]->task : &met->now;
    }
    return tx_insert(batch->tx, tasks, batch->orders_count, err);
}

static bool is_changed(const struct item *item)
{
    return item->owner != NULL && !item->fresh && item->order == NULL;
}

static size_t list_changes(struct batch *batch, struct task_change *changes,
                           struct task_id *removed, size_t *removed_count)
{
    size_t n = 0;
    for (size_t i = 0; i < batch->all_count; i++) {
        struct item *item = batch->all[i];
        if (item->removed) {
            removed[(*removed_count)++] = item->id;
        } else if (is_changed(item)) {
            changes[n++] = (struct task_change){.was = &item->was,
                                                .now = &item->now,
                                                .ended = item->ended,
                                                .keeps_document = item->strays,
                                                .log = item->log};
        }
    }
    return n;
}

/* The order in which list_changes() lists them. */
static void settle_refused(struct batch *batch, const struct task_change *changes)
{
    size_t n = 0;
    for (size_t i = 0; i < batch->all_count; i++) {
        struct item *item = batch->all[i];
        if (!item->removed && is_changed(item) && !changes[n++].applied) {
            hot_forget(&batch->engine->hot, item->id); /* its row is not what we thought */
            turns_refused(batch, item);
            batch->lost = !claim_unstart(batch, item) || batch->lost;
        }
    }
}

static bool save_items(struct batch *batch, struct err *err)
{
    struct task_change *changes = arena_array(&batch->arena, struct task_change, batch->all_count);
    struct task_id *removed = arena_array(&batch->arena, struct task_id, batch->all_count);
    size_t removed_count = 0, n = list_changes(batch, changes, removed, &removed_count);
    if ((n > 0 && !tx_save(batch->tx, changes, n, err)) ||
        (removed_count > 0 && !tx_delete(batch->tx, removed, removed_count, err))) {
        return false;
    }
    settle_refused(batch, changes);
    return true;
}

bool batch_save(struct batch *batch)
{
    struct err err = ERR_INIT;
    if (!batch_ok(batch) || batch->lost || !(batch->writes || janitor_sweeps(batch))) {
        return batch_ok(batch);
    }
    if (!batch_begin(batch)) {
        return false;
    }
    bool saved = save_orders(batch, &err) && save_items(batch, &err);
    for (size_t i = 0; saved && i < batch->queue_changes_count; i++) {
        saved = tx_save_queue(batch->tx, &batch->queue_changes[i]->view.settings, &err);
    }
    saved = saved && flow_save(batch, &err) && (batch->lost || janitor_sweep(batch, &err));
    if (saved && !batch->lost && batch->writes) {
        int64_t began_us = clock_real_mono_us();
        saved = tx_commit(&batch->tx, &err);
        journal_commit(&batch->engine->journal, (clock_real_mono_us() - began_us) / 1000,
                       batch->all_count);
    }
    batch->lost = batch->lost || (!saved && err.kind == ERR_CONFLICT);
    if (!saved && !batch->lost) {
        batch_fail_store(batch, &err);
    }
    return batch_ok(batch);
}
