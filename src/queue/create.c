/* queue/create.c: takes orders in: all of a request's or none.
 *
 * Thread: engine. Keeps: G1; an idempotency key names one task for as long as that task lives.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "queue/engine.h"

struct key_use { /* a key that an order of this very batch brought */
    struct map_node node;
    struct order *order;
};

static struct order *find_key(const struct batch *batch, struct str key)
{
    for (struct map_node *node = map_find(&batch->keys, str_hash(key)); node != NULL;
         node = map_again(node)) {
        struct key_use *use = HOLDER(node, struct key_use, node);
        if (str_eq(use->order->task.key, key)) {
            return use->order;
        }
    }
    return NULL;
}

static void remember_key(struct batch *batch, struct order *order)
{
    struct key_use *use = arena_new(&batch->arena, struct key_use);
    use->order = order;
    map_add(&batch->keys, &use->node, str_hash(order->task.key));
}

static void insert(struct batch *batch, struct order *order)
{
    struct task *task = &order->task;
    task->id = id_make(&batch->engine->ids, clock_real_wall_ms());
    if (order->delay_ms >= 0) {
        task->scheduled_ms = batch->now.wall_ms + order->delay_ms;
    }
    task_begin(task, batch->now.wall_ms);
    if (batch->orders_count == batch->orders_room) {
        batch->orders_room = MAX(batch->orders_room * 2, (size_t)64);
        batch->orders = mem_array(batch->orders, batch->orders_room, sizeof *batch->orders);
    }
    batch->orders[batch->orders_count++] = order;
    batch->writes = true;
    if (!str_absent(task->key)) {
        remember_key(batch, order);
    }
}

/* The task that a known key stands for, from this batch or from the store. */
static bool use_known(struct batch *batch, struct command *command, struct order *order,
                      struct task_id known)
{
    struct order *fresh = find_key(batch, order->task.key);
    if (fresh == NULL && id_none(known)) {
        return false;
    }
    order->task =
        task_copy(command->arena, fresh != NULL ? &fresh->task : &batch_item(batch, known)->now);
    order->known = true;
    return true;
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
    struct lanes *lanes = &batch->engine->lanes;
    for (size_t i = 0; lanes->count >= LANES_MAX && i < create->count; i++) {
        if (lane_find(lanes, create->orders[i].task.queue) == NULL) {
            return err_set(err, ERR_BUSY, "there are %d queues already: use one of them",
                           LANES_MAX);
        }
    }
    return true;
}

static void take_orders(struct batch *batch, struct command *command, const struct task_id *known)
{
    for (size_t i = 0; i < command->create.count; i++) {
        struct order *order = &command->create.orders[i];
        order->known = false;
        if (str_absent(order->task.key) || !use_known(batch, command, order, known[i])) {
            insert(batch, order);
        }
    }
}

void on_create(struct batch *batch, struct command *command)
{
    struct command_create *create = &command->create;
    struct task_id *known = arena_array(&batch->arena, struct task_id, create->count);
    if (find_known(batch, command, known) && queues_fit(batch, create, &command->err)) {
        if (any_removed(batch, known, create->count)) {
            batch_defer(batch, command);
            return;
        }
        take_orders(batch, command, known);
    }
    batch_answer(batch, command);
}
