/* queue/create.c: takes orders in: all of a request's or none, with their relations.
 *
 * New tasks with relations (whose child, depending on what) become items of the batch, so that the
 * walk of flow.c finds their states as it finds every other: a parent begins or waits, its children
 * wait for their turn, and whoever depends on others waits until the walk has counted them.
 * Everything is checked before anything is written.
 *
 * Thread: engine. Keeps: G1; an idempotency key names one task for as long as that task lives.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/create.h"

#include <stdlib.h>

#include "base/array.h"
#include "queue/decide.h"
#include "queue/engine.h"
#include "queue/kin.h"

/* ---- Keys and names ---- */

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
        return false;
    }
    for (size_t i = 0; i < create->count; i++) {
        if (!id_none(known[i])) {
            batch_need(batch, known[i], true);
        }
    }
    return batch_load(batch);
}

/* Gives every new task its id, or finds the one that its key stands for. A known task has its
 * children already. Says whether any of them has relations. */
static bool name_all(struct batch *batch, struct command *command, const struct task_id *known)
{
    struct engine *engine = batch->engine;
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
            if (!order->named) {
                order->task.id = id_make(&engine->ids, clock_true_ms(engine->with.clock));
            }
            if (order->delay_ms >= 0) {
                order->task.scheduled_ms = batch->now.wall_ms + order->delay_ms;
            }
            remember_key(batch, order);
        }
        relations = relations || order->parent != 0 || order->needs_count > 0;
    }
    return relations;
}

/* ---- Relations: dependencies ---- */

struct plan {
    struct batch *batch;
    struct command *command;
    struct order *orders;
    size_t count;
};

static bool is_child(const struct order *order)
{
    return order->parent != 0;
}

static bool is_new(const struct order *order)
{
    return !order->known && !order->skipped;
}

/* The new task that a need names; NULL: it names one that exists. An order whose key is known
 * stands for the first task with it, which may be one that this very batch brings. */
static struct order *named_order(const struct plan *plan, const struct order_need *need)
{
    struct order *order = need->order == 0 ? NULL : &plan->orders[need->order - 1];
    order = order != NULL && order->same_as != NULL ? order->same_as : order;
    return order != NULL && is_new(order) ? order : NULL;
}

static struct task_id named_id(const struct plan *plan, const struct order_need *need)
{
    const struct order *order = named_order(plan, need);
    return order != NULL      ? order->task.id
           : need->order != 0 ? plan->orders[need->order - 1].task.id
                              : need->id;
}

static bool check_need(struct plan *plan, size_t at, const struct order_need *need, struct err *err)
{
    char text[TASK_ID_TEXT];
    if (is_child(&plan->orders[at])) {
        bool elder = need->order != 0 && need->order - 1 < at &&
                     plan->orders[need->order - 1].parent == plan->orders[at].parent;
        return elder || err_field(err, "dependsOn",
                                  "dependsOn of a child may name only earlier children of the same "
                                  "parent");
    }
    if (need->order != 0 && is_child(&plan->orders[need->order - 1])) {
        return err_field(err, "dependsOn", "dependsOn may not name the child of another task");
    }
    if (named_order(plan, need) != NULL) {
        return true;
    }
    const struct item *item = batch_item(plan->batch, named_id(plan, need));
    if (item == NULL) {
        *err = plan->batch->err;
        return false;
    }
    return (item->found && !item->removed) ||
           err_field(err, "dependsOn", "dependsOn names the unknown task %s",
                     id_text(named_id(plan, need), text).ptr);
}

static bool check_needs(struct plan *plan, struct err *err)
{
    for (size_t at = 0; at < plan->count; at++) {
        const struct order *order = &plan->orders[at];
        for (size_t i = 0; is_new(order) && i < order->needs_count; i++) {
            if (!check_need(plan, at, &order->needs[i], err)) {
                return false;
            }
        }
    }
    return true;
}

struct named {
    struct task_id id;
    size_t place; /* in the order given */
};

static int by_id(const void *left, const void *right)
{
    const struct named *x = left, *y = right;
    const struct task_id *a = &x->id, *b = &y->id;
    int hi = (a->hi > b->hi) - (a->hi < b->hi), lo = (a->lo > b->lo) - (a->lo < b->lo);
    return hi != 0 ? hi : lo != 0 ? lo : (x->place > y->place) - (x->place < y->place);
}

static int by_place(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    return (a->place > b->place) - (a->place < b->place);
}

/* Named twice, a dependency counts once; they stay in the order given. */
static size_t list_needs(struct plan *plan, const struct order *order, struct task_id *ids)
{
    size_t n = order->needs_count, count = 0;
    struct named *named = arena_array(&plan->batch->arena, struct named, n + 1);
    for (size_t i = 0; i < n; i++) {
        named[i] = (struct named){named_id(plan, &order->needs[i]), i};
    }
    qsort(named, n, sizeof *named, by_id);
    for (size_t i = 0; i < n; i++) {
        if (count == 0 || !id_eq(named[count - 1].id, named[i].id)) {
            named[count++] = named[i];
        }
    }
    qsort(named, count, sizeof *named, by_place);
    for (size_t i = 0; i < count; i++) {
        ids[i] = named[i].id;
    }
    return count;
}

static void relate(struct plan *plan, struct order *order)
{
    struct arena *arena = plan->command->arena;
    struct task_id *ids = arena_array(arena, struct task_id, order->needs_count + 1);
    for (size_t i = 0; i < order->needs_count; i++) {
        struct order *named = named_order(plan, &order->needs[i]);
        if (named != NULL) {
            kin_born(plan->batch, named, arena);
        }
    }
    order->task.depends = ids;
    order->task.depends_count = list_needs(plan, order, ids);
    order->task.unmet = (int32_t)order->task.depends_count;
    struct item *me = kin_born(plan->batch, order, arena);
    me->now.unmet = me->was.unmet = order->task.unmet;
    for (size_t i = 0; i < order->task.depends_count; i++) {
        kin_await(plan->batch, batch_peek(plan->batch, ids[i]), me);
    }
}

/* ---- Relations: circles ---- */

/* Top-level tasks may name each other in any order. Each is reached from those that depend on
 * nothing; what is never reached is a circle. Each need is walked over once. */
static bool check_circles(const struct plan *plan, struct err *err)
{
    size_t n = plan->count, reached = 0, done = 0, tops = 0;
    struct arena *arena = &plan->batch->arena;
    size_t *open = arena_array(arena, size_t, n), *line = arena_array(arena, size_t, n);
    size_t *first = arena_array(arena, size_t, n + 2), *next = NULL, *who = NULL, edges = 0;
    for (size_t i = 0; i < n; i++) {
        edges += plan->orders[i].needs_count;
    }
    next = arena_array(arena, size_t, edges + 1);
    who = arena_array(arena, size_t, edges + 1);
    edges = 0;
    for (size_t i = 0; i < n; i++) {
        const struct order *order = &plan->orders[i];
        if (is_child(order) || !is_new(order)) {
            continue;
        }
        tops++;
        for (size_t j = 0; j < order->needs_count; j++) {
            size_t on = order->needs[j].order;
            if (on != 0 && is_new(&plan->orders[on - 1])) {
                who[++edges] = i;
                next[edges] = first[on];
                first[on] = edges;
                open[i]++;
            }
        }
        if (open[i] == 0) {
            line[reached++] = i;
        }
    }
    while (done < reached) {
        for (size_t edge = first[line[done++] + 1]; edge != 0; edge = next[edge]) {
            if (--open[who[edge]] == 0) {
                line[reached++] = who[edge];
            }
        }
    }
    return reached == tops || err_field(err, "dependsOn", "dependsOn forms a cycle");
}

/* ---- Relations: families ---- */

static bool resolve_parent(struct plan *plan, size_t at, struct err *err)
{
    struct order *order = &plan->orders[at];
    if (!is_child(order) || order->skipped) {
        return true;
    }
    if (order->known) {
        return err_field(err, "idempotencyKey",
                         "the idempotencyKey of a child is that of another task already: give the "
                         "key to its parent");
    }
    struct task *parent = &plan->orders[order->parent - 1].task;
    order->task.parent = parent->id;
    parent->container = true;
    if (!str_absent(parent->document)) {
        order->task.family = id_none(parent->family) ? parent->id : parent->family;
    }
    return true;
}

static void add_child(struct plan *plan, size_t at)
{
    const struct order *order = &plan->orders[at];
    struct item *parent =
        kin_born(plan->batch, &plan->orders[order->parent - 1], plan->command->arena);
    if (parent->kin.at == NULL) {
        parent->kin.at = arena_array(&plan->batch->arena, struct kin, plan->count);
    }
    parent->kin.at[parent->kin.count++] = (struct kin){0, order->task.id, TASK_WAITING};
}

static void begin_one(struct plan *plan, struct order *order)
{
    struct task *task = &order->task;
    int64_t now_ms = plan->batch->now.wall_ms;
    /* A batch that was begun again has left its marks. */
    task->cancel_reason = STR_NONE;
    task->error = (struct task_error){0};
    task->queued_ms = task->started_ms = task->finished_ms = task->cancelled_ms = 0;
    if (is_child(order) || order->needs_count > 0) {
        task_begin_waiting(task, now_ms);
    } else {
        task_begin(task, now_ms);
    }
}

static bool begin_related(struct batch *batch, struct command *command)
{
    struct plan plan = {.batch = batch,
                        .command = command,
                        .orders = command->create.orders,
                        .count = command->create.count};
    for (size_t i = 0; i < plan.count; i++) {
        if (!resolve_parent(&plan, i, &command->err)) {
            return false;
        }
    }
    if (!check_needs(&plan, &command->err) || !check_circles(&plan, &command->err)) {
        return false;
    }
    for (size_t i = 0; i < plan.count; i++) {
        if (is_new(&plan.orders[i])) {
            begin_one(&plan, &plan.orders[i]);
        }
    }
    for (size_t i = 0; i < plan.count; i++) {
        struct order *order = &plan.orders[i];
        if (is_new(order)) {
            relate(&plan, order);
            batch_change(batch, kin_born(batch, order, command->arena), command);
        }
        if (is_new(order) && is_child(order)) {
            add_child(&plan, i);
        }
    }
    return true;
}

/* ---- Taking them in ---- */

static bool begin_all(struct batch *batch, struct command *command, bool relations)
{
    if (relations) {
        return begin_related(batch, command);
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
            *ARRAY_PUSH(batch->orders, batch->orders_count, batch->orders_room) = order;
            batch->writes = true;
        }
    }
}

enum create_answer create_orders(struct batch *batch, struct command *command)
{
    struct command_create *create = &command->create;
    struct task_id *known = arena_array(&batch->arena, struct task_id, create->count);
    if (!find_known(batch, command, known)) {
        return CREATE_REFUSED;
    }
    /* Memory of queues is bounded: a new name beyond the limit is refused before anything is
     * written. */
    for (size_t i = 0; i < create->count; i++) {
        struct str *queue = &create->orders[i].task.queue;
        if (!lanes_admit(&batch->engine->lanes, queue, 1, &command->err)) {
            return CREATE_REFUSED;
        }
    }
    /* A key whose task an earlier command of this batch removes is free in the next one. */
    for (size_t i = 0; i < create->count; i++) {
        if (!id_none(known[i]) && batch_item(batch, known[i])->removed) {
            return CREATE_LATER;
        }
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
