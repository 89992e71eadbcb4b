/* queue/kin.c: who is related to whom, as a batch sees it. See kin.h.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/kin.h"

#include <stdlib.h>

#include "base/array.h"

void items_add(struct items *items, struct item *item)
{
    *ARRAY_PUSH(items->at, items->count, items->room) = item;
}

void items_fini(struct items *items)
{
    mem_free(items->at);
}

static int by_id(const void *left, const void *right)
{
    const struct item *a = *(struct item *const *)left, *b = *(struct item *const *)right;
    return a->id.hi != b->id.hi ? (a->id.hi > b->id.hi) - (a->id.hi < b->id.hi)
                                : (a->id.lo > b->id.lo) - (a->id.lo < b->id.lo);
}

/* The rows' answer for these items, which are put in order. */
bool kin_ask(struct batch *batch, enum kinship kinship, struct item **items, size_t count,
             struct task_id after, size_t most, struct kin_list *out)
{
    struct err err = ERR_INIT;
    struct task_id *ids = arena_array(&batch->arena, struct task_id, count + 1);
    *out = (struct kin_list){0};
    if (count > 1) {
        qsort(items, count, sizeof(struct item *), by_id);
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = items[i]->id;
    }
    if (count == 0 || !batch_begin(batch)) {
        return batch_ok(batch);
    }
    struct kin_query query = {kinship, ids, count, after, most};
    if (!tx_kin(batch->tx, &query, &batch->arena, out, &err)) {
        batch_fail_store(batch, &err);
    }
    return batch_ok(batch);
}

/* How a relative stands in this batch, which may have changed it. */
enum task_state kin_state(const struct batch *batch, const struct kin *kin)
{
    const struct item *item = batch_peek(batch, kin->id);
    return item != NULL && item->found ? item->now.state : kin->state;
}

/* Loads them all at once. */
bool kin_load(struct batch *batch, const struct kin *kin, size_t count, bool whole)
{
    for (size_t i = 0; i < count; i++) {
        batch_need(batch, kin[i].id, whole);
    }
    return batch_load(batch);
}

/* The children of containers, each asked for once a batch: a family does not grow. */
bool kin_families(struct batch *batch, struct item **items, size_t count)
{
    struct item **ask = arena_array(&batch->arena, struct item *, count + 1);
    struct kin_list kin;
    size_t n = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        if (items[i]->now.container && !items[i]->kin_known && items[i]->order == NULL) {
            items[i]->kin_known = true;
            ask[n++] = items[i];
        }
    }
    if (!kin_ask(batch, KIN_CHILDREN, ask, n, TASK_ID_NONE, 0, &kin)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        size_t from = at;
        while (at < kin.count && kin.at[at].of == i) {
            at++;
        }
        ask[i]->kin = (struct kin_list){kin.at + from, at - from};
    }
    return true;
}

struct item *kin_child(struct batch *batch, const struct item *parent, size_t place)
{
    batch_need(batch, parent->kin.at[place].id, false);
    return batch_load(batch) ? batch_peek(batch, parent->kin.at[place].id) : NULL;
}

/* The children of a container, loaded. */
bool kin_children(struct batch *batch, struct item *container)
{
    return kin_families(batch, &container, 1) &&
           kin_load(batch, container->kin.at, container->kin.count, false);
}

/* What a task depends on, and how that stands in this batch. */
bool kin_dependencies(struct batch *batch, struct item *item, struct kin_list *out)
{
    if (item->order == NULL) {
        return kin_ask(batch, KIN_DEPENDENCIES, &item, 1, TASK_ID_NONE, 0, out);
    }
    const struct task *task = &item->order->task;
    *out = (struct kin_list){arena_array(&batch->arena, struct kin, task->depends_count + 1), 0};
    for (size_t i = 0; i < task->depends_count; i++) {
        const struct item *on = batch_item(batch, task->depends[i]);
        if (on != NULL && on->found && !on->removed) {
            out->at[out->count++] = (struct kin){0, on->id, on->now.state};
        }
    }
    return batch_ok(batch);
}

bool kin_results(struct batch *batch, struct task_id id, struct arena *arena,
                 struct task_dependency **out, size_t *count)
{
    struct item *item = batch_item(batch, id);
    struct kin_list on = {0};
    if (item == NULL || !kin_dependencies(batch, item, &on) ||
        !kin_load(batch, on.at, on.count, true)) {
        return false;
    }
    *out = arena_array(arena, struct task_dependency, on.count + 1);
    *count = on.count;
    for (size_t i = 0; i < on.count; i++) {
        const struct task *task = &batch_peek(batch, on.at[i].id)->now;
        (*out)[i] = (struct task_dependency){
            .id = task->id, .state = task->state, .result = arena_str(arena, task->result)};
    }
    return true;
}

struct item *kin_next(struct batch *batch, struct item *item)
{
    while (item != NULL && item->now.container) {
        size_t at = 0;
        if (!kin_families(batch, &item, 1)) {
            return NULL;
        }
        while (at < item->kin.count && task_state_terminal(kin_state(batch, &item->kin.at[at]))) {
            at++;
        }
        item = at == item->kin.count ? NULL : kin_child(batch, item, at);
    }
    return item;
}

struct item *kin_born(struct batch *batch, struct order *order, struct arena *arena)
{
    struct item *item = batch_peek(batch, order->task.id);
    if (item == NULL) {
        item = batch_new_item(batch, &order->task);
        item->order = order;
        item->arena = arena;
        items_add(&batch->walk.born, item);
    }
    return item;
}

void kin_await(struct batch *batch, struct item *on, struct item *waits)
{
    struct awaiting *awaiting = arena_new(&batch->arena, struct awaiting);
    *awaiting = (struct awaiting){on->awaiting, waits};
    on->awaiting = awaiting;
}
