/* queue/flow_orders.c: new tasks whose dependencies end in the very batch that brings them.
 *
 * The store does not know such a task yet, so the end of what it waits for does not find it there.
 * Its dependencies are counted anew; what it has below it follows.
 *
 * Thread: engine. Keeps: I6.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/flow.h"

static struct task *order_of(const struct batch *batch, struct task_id id)
{
    for (size_t i = 0; i < batch->orders_count; i++) {
        if (id_eq(batch->orders[i]->task.id, id)) {
            return &batch->orders[i]->task;
        }
    }
    return NULL;
}

/* A dependency as this batch leaves it; NULL: it is gone, and stands in nobody's way. */
static const struct task *dependency_of(struct batch *batch, struct task_id id)
{
    const struct task *order = order_of(batch, id);
    if (order != NULL) {
        return order;
    }
    const struct item *item = batch_item(batch, id);
    return item == NULL || !item->found ? NULL : &item->now;
}

static bool is_below(const struct batch *batch, const struct task *task, struct task_id top)
{
    while (task != NULL && !id_none(task->parent)) {
        if (id_eq(task->parent, top)) {
            return true;
        }
        task = order_of(batch, task->parent);
    }
    return false;
}

static void cancel_tree(struct batch *batch, struct task *top, const struct task *on)
{
    char text[TASK_ID_TEXT];
    struct err refused;
    struct str reason = arena_printf(&batch->arena, "dependency %s ended %s",
                                     id_text(on->id, text).ptr, task_state_name(on->state));
    for (size_t i = 0; i < batch->orders_count; i++) {
        struct task *task = &batch->orders[i]->task;
        if (task == top || is_below(batch, task, top->id)) {
            (void)!task_cancel(task, reason, batch->now.wall_ms, &refused);
        }
    }
}

/* It begins, and with it the first of its children, and of theirs. */
static void begin_tree(struct batch *batch, struct task *task)
{
    struct err refused;
    if (!task_unblock(task, batch->now.wall_ms, &refused) || task->state != TASK_QUEUED ||
        !task->container) {
        return;
    }
    for (size_t i = 0; i < batch->orders_count; i++) {
        if (id_eq(batch->orders[i]->task.parent, task->id)) {
            begin_tree(batch, &batch->orders[i]->task);
            return;
        }
    }
}

/* True: its state has changed. */
static bool settle(struct batch *batch, struct task *task)
{
    int32_t unmet = 0;
    if (task->state != TASK_WAITING || task->depends_count == 0 || !id_none(task->parent)) {
        return false;
    }
    for (size_t i = 0; i < task->depends_count; i++) {
        const struct task *on = dependency_of(batch, task->depends[i]);
        bool over = on == NULL || task_state_terminal(on->state);
        if (over && on != NULL && on->state != TASK_COMPLETED && !task->runs_anyway) {
            cancel_tree(batch, task, on);
            return true;
        }
        unmet += !over;
    }
    task->unmet = unmet;
    if (unmet > 0) {
        return false;
    }
    begin_tree(batch, task);
    return true;
}

void flow_orders(struct batch *batch)
{
    for (bool again = true; again && batch_ok(batch);) {
        again = false;
        for (size_t i = 0; i < batch->orders_count; i++) {
            again = settle(batch, &batch->orders[i]->task) || again;
        }
    }
}
