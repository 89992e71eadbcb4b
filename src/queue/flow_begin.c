/* queue/flow_begin.c: new tasks with relations: whose child, depending on what.
 *
 * Each of them becomes an item of the batch, so that the walk of flow.c finds its state as it finds
 * every other: a parent begins or waits, its children wait for their turn, and whoever depends on
 * others waits until the walk has counted them.
 *
 * Thread: engine. Everything is checked before anything is written.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "queue/flow.h"
#include "queue/kin.h"

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

/* ---- Dependencies ---- */

static bool check_child_need(const struct plan *plan, size_t at, const struct order_need *need,
                             struct err *err)
{
    bool elder = need->order != 0 && need->order - 1 < at &&
                 plan->orders[need->order - 1].parent == plan->orders[at].parent;
    return elder || err_field(err, "dependsOn",
                              "dependsOn of a child may name only earlier children of the same "
                              "parent");
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
        return check_child_need(plan, at, need, err);
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

/* ---- Circles ---- */

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

/* ---- Families ---- */

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

/* ---- States ---- */

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

bool flow_begin(struct batch *batch, struct command *command)
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
