/* queue/create.c: takes orders in: all of a request's or none.
 *
 * Thread: engine. Keeps: G1; an idempotency key names one task for as long as that task lives.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "queue/engine.h"
#include "queue/flow.h"

struct key_use { /* a key that an order of this very batch brought */
    struct map_node node;
    struct order *order;
};

static struct key_use *find_use(const struct batch *batch, struct str key)
{
    for (struct map_node *node = map_find(&batch->keys, str_hash(key)); node != NULL;
         node = map_again(node)) {
        struct key_use *use = HOLDER(node, struct key_use, node);
        if (str_eq(use->order->task.key, key)) {
            return use;
        }
    }
    return NULL;
}

static void remember_key(struct batch *batch, struct order *order)
{
    if (!str_absent(order->task.key)) {
        struct key_use *use = arena_new(&batch->arena, struct key_use);
        use->order = order;
        map_add(&batch->keys, &use->node, str_hash(order->task.key));
    }
}

/* The request was refused: its keys are free again. */
static void forget_keys(struct batch *batch, const struct command_create *create)
{
    for (size_t i = 0; i < create->count; i++) {
        struct str key = create->orders[i].task.key;
        struct key_use *use = str_absent(key) ? NULL : find_use(batch, key);
        if (use != NULL && use->order == &create->orders[i]) {
            map_remove(&batch->keys, &use->node);
        }
    }
}

static void insert(struct batch *batch, struct order *order)
{
    if (batch->orders_count == batch->orders_room) {
        batch->orders_room = MAX(batch->orders_room * 2, (size_t)64);
        batch->orders = mem_array(batch->orders, batch->orders_room, sizeof *batch->orders);
    }
    batch->orders[batch->orders_count++] = order;
    batch->writes = true;
}

/* The task that a known key stands for, from this batch or from the store. One of this very request
 * has no state yet: it is copied when it has (copy_twins). */
static bool use_known(struct batch *batch, struct command *command, struct order *order,
                      struct task_id known)
{
    struct key_use *use = find_use(batch, order->task.key);
    if (use != NULL) {
        order->same_as = use->order;
        return true;
    }
    if (id_none(known)) {
        return false;
    }
    order->task = task_copy(command->arena, &batch_item(batch, known)->now);
    return true;
}

static void copy_twins(struct command *command)
{
    for (size_t i = 0; i < command->create.count; i++) {
        struct order *order = &command->create.orders[i];
        if (order->same_as != NULL) {
            order->task = task_copy(command->arena, &order->same_as->task);
        }
    }
}

static bool load_known(struct batch *batch, const struct task_id *known, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!id_none(known[i])) {
            batch_need(batch, known[i], true);
        }
    }
    return batch_load(batch);
}

static bool find_known(struct batch *batch, struct command *command, struct task_id *known)
{
    struct command_create *create = &command->create;
    struct str *keys = arena_array(&batch->arena, struct str, create->count);
    size_t n = 0;
    struct err err = ERR_INIT;
    for (size_t i = 0; i < create->count; i++) {
        keys[i] = create->orders[i].task.key;
        n += !str_absent(keys[i]);
    }
    if (n == 0) {
        return true;
    }
    if (!batch_begin(batch)) {
        return false;
    }
    if (!tx_find_keys(batch->tx, keys, create->count, known, &err)) {
        batch_fail_store(batch, &err);
    }
    return batch_ok(batch) && load_known(batch, known, create->count);
}

/* A key whose task an earlier command of this batch removes is free in the next one. */
static bool any_removed(struct batch *batch, const struct task_id *known, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!id_none(known[i]) && batch_item(batch, known[i])->removed) {
            return true;
        }
    }
    return false;
}

/* Memory of queues is bounded: a new name beyond the limit is refused before anything is written.
 */
static bool queues_fit(struct batch *batch, const struct command_create *create, struct err *err)
{
    for (size_t i = 0; i < create->count; i++) {
        if (!lanes_admit(&batch->engine->lanes, &create->orders[i].task.queue, 1, err)) {
            return false;
        }
    }
    return true;
}

static void name_it(struct batch *batch, struct order *order)
{
    if (!order->named) {
        order->task.id = id_make(&batch->engine->ids, clock_true_ms(batch->engine->with.clock));
    }
    if (order->delay_ms >= 0) {
        order->task.scheduled_ms = batch->now.wall_ms + order->delay_ms;
    }
}

/* Gives every new task its id, or finds the one that its key stands for. A known task has its
 * children already. Says whether any of them has relations. */
static bool name_all(struct batch *batch, struct command *command, const struct task_id *known)
{
    struct order *orders = command->create.orders;
    bool relations = false;
    for (size_t i = 0; i < command->create.count; i++) {
        struct order *order = &orders[i];
        const struct order *parent = order->parent == 0 ? NULL : &orders[order->parent - 1];
        order->skipped = parent != NULL && (parent->known || parent->skipped);
        order->same_as = NULL;
        order->known = !order->skipped && !str_absent(order->task.key) &&
                       use_known(batch, command, order, known[i]);
        if (!order->known && !order->skipped) {
            name_it(batch, order);
            remember_key(batch, order);
        }
        relations = relations || order->parent != 0 || order->needs_count > 0;
    }
    return relations;
}

static bool begin_all(struct batch *batch, struct command *command, bool relations)
{
    if (relations) {
        return flow_begin(batch, command);
    }
    for (size_t i = 0; i < command->create.count; i++) {
        if (!command->create.orders[i].known) {
            task_begin(&command->create.orders[i].task, batch->now.wall_ms);
        }
    }
    return true;
}

static void insert_all(struct batch *batch, struct command *command)
{
    for (size_t i = 0; i < command->create.count; i++) {
        struct order *order = &command->create.orders[i];
        if (!order->known && !order->skipped) {
            insert(batch, order);
        }
    }
}

enum create_answer create_orders(struct batch *batch, struct command *command)
{
    struct command_create *create = &command->create;
    struct task_id *known = arena_array(&batch->arena, struct task_id, create->count);
    if (!find_known(batch, command, known) || !queues_fit(batch, create, &command->err)) {
        return CREATE_REFUSED;
    }
    if (any_removed(batch, known, create->count)) {
        return CREATE_LATER;
    }
    bool relations = name_all(batch, command, known);
    if (!begin_all(batch, command, relations)) {
        forget_keys(batch, create);
        return CREATE_REFUSED;
    }
    insert_all(batch, command);
    if (relations) {
        flow_follow(batch); /* they are answered as they stand */
    }
    copy_twins(command);
    return CREATE_DONE;
}

void on_create(struct batch *batch, struct command *command)
{
    if (create_orders(batch, command) == CREATE_LATER) {
        batch_defer(batch, command);
    } else {
        batch_answer(batch, command);
    }
}
