/* queue/flow_begin.c: new tasks with relations: whose child, depending on what, and so in which
 * state.
 *
 * A request's tasks may depend on each other in any order, so their states are found by walking
 * from those that depend on nothing; what is never reached is a cycle. Children come after their
 * parent.
 *
 * Thread: engine. Everything is checked before anything is written.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/flow.h"

struct plan {
    struct batch *batch;
    struct command *command;
    struct order *orders;
    size_t count;
    size_t *open; /* dependencies inside the request that have no state yet */
};

static bool is_child(const struct order *order)
{
    return order->parent != 0;
}

/* ---- Dependencies ---- */

static bool child_may_need(const struct plan *plan, size_t at, const struct order_need *need)
{
    const struct order *order = &plan->orders[at];
    bool sibling = need->order != 0 && plan->orders[need->order - 1].parent == order->parent;
    return sibling && need->order - 1 < at;
}

static bool check_need(struct plan *plan, size_t at, const struct order_need *need, struct err *err)
{
    char text[TASK_ID_TEXT];
    if (is_child(&plan->orders[at])) {
        return child_may_need(plan, at, need) ||
               err_field(err, "dependsOn",
                         "dependsOn of a child may name only earlier children of the same parent");
    }
    if (need->order != 0) {
        return !is_child(&plan->orders[need->order - 1]) ||
               err_field(err, "dependsOn", "dependsOn may not name the child of another task");
    }
    struct item *item = batch_item(plan->batch, need->id);
    if (item == NULL) {
        *err = plan->batch->err;
        return false;
    }
    return item->found || err_field(err, "dependsOn", "dependsOn names the unknown task %s",
                                    id_text(need->id, text).ptr);
}

static bool resolve_needs(struct plan *plan, size_t at, struct err *err)
{
    struct order *order = &plan->orders[at];
    struct task_id *ids = arena_array(plan->command->arena, struct task_id, order->needs_count);
    for (size_t i = 0; i < order->needs_count; i++) {
        const struct order_need *need = &order->needs[i];
        if (!check_need(plan, at, need, err)) {
            return false;
        }
        ids[i] = need->order != 0 ? plan->orders[need->order - 1].task.id : need->id;
        plan->open[at] += need->order != 0;
    }
    order->task.depends = ids;
    order->task.depends_count = order->needs_count;
    return true;
}

/* ---- Parents ---- */

static void resolve_parent(struct plan *plan, size_t at)
{
    struct order *order = &plan->orders[at];
    if (!is_child(order)) {
        return;
    }
    struct task *parent = &plan->orders[order->parent - 1].task;
    order->task.parent = parent->id;
    parent->container = true;
    if (!str_absent(parent->document)) {
        order->task.batch = id_none(parent->batch) ? parent->id : parent->batch;
    }
}

/* ---- States ---- */

static const struct task *needed(const struct plan *plan, const struct order_need *need)
{
    return need->order != 0 ? &plan->orders[need->order - 1].task
                            : &batch_item(plan->batch, need->id)->now;
}

static struct str bad_need(const struct plan *plan, const struct task *on)
{
    char text[TASK_ID_TEXT];
    return arena_printf(plan->command->arena, "dependency %s ended %s", id_text(on->id, text).ptr,
                        task_state_name(on->state));
}

/* How many of its dependencies are open; one that ended badly cancels it at once. */
static bool count_open(const struct plan *plan, struct order *order, struct str *bad)
{
    struct task *task = &order->task;
    task->unmet = 0;
    for (size_t i = 0; i < order->needs_count; i++) {
        const struct task *on = needed(plan, &order->needs[i]);
        bool over = task_state_terminal(on->state);
        if (over && on->state != TASK_COMPLETED && !task->runs_anyway) {
            *bad = bad_need(plan, on);
            return false;
        }
        task->unmet += !over;
    }
    return true;
}

static void cancel_at_once(struct task *task, struct str reason, int64_t now_ms)
{
    struct err refused;
    task_begin_waiting(task, now_ms);
    (void)!task_cancel(task, reason, now_ms, &refused);
}

static void begin_top(const struct plan *plan, struct order *order)
{
    int64_t now_ms = plan->batch->now.wall_ms;
    struct str bad;
    if (!count_open(plan, order, &bad)) {
        cancel_at_once(&order->task, bad, now_ms);
    } else if (order->task.unmet > 0) {
        task_begin_waiting(&order->task, now_ms);
    } else {
        task_begin(&order->task, now_ms);
    }
}

static bool is_first_child(const struct plan *plan, size_t at)
{
    for (size_t i = plan->orders[at].parent; i < at; i++) {
        if (plan->orders[i].parent == plan->orders[at].parent) {
            return false;
        }
    }
    return true;
}

static void begin_child(const struct plan *plan, size_t at)
{
    struct order *order = &plan->orders[at];
    const struct task *parent = &plan->orders[order->parent - 1].task;
    int64_t now_ms = plan->batch->now.wall_ms;
    order->task.unmet = (int32_t)order->needs_count;
    if (task_state_terminal(parent->state)) {
        cancel_at_once(&order->task, parent->cancel_reason, now_ms);
    } else if (parent->state == TASK_QUEUED && is_first_child(plan, at)) {
        task_begin(&order->task, now_ms);
    } else {
        task_begin_waiting(&order->task, now_ms);
    }
}

static void settle_need(struct plan *plan, size_t settled)
{
    for (size_t i = 0; i < plan->count; i++) {
        for (size_t j = 0; j < plan->orders[i].needs_count; j++) {
            plan->open[i] -= plan->orders[i].needs[j].order == settled + 1;
        }
    }
}

/* Top-level tasks, each after what it depends on. False: some depend on each other in a circle. */
static bool begin_tops(struct plan *plan, struct err *err)
{
    bool *begun = arena_array(&plan->batch->arena, bool, plan->count);
    size_t left = 0;
    for (size_t i = 0; i < plan->count; i++) {
        begun[i] = is_child(&plan->orders[i]) || plan->orders[i].known;
        left += !begun[i];
    }
    for (bool moved = true; moved && left > 0;) {
        moved = false;
        for (size_t i = 0; i < plan->count; i++) {
            if (!begun[i] && plan->open[i] == 0) {
                begin_top(plan, &plan->orders[i]);
                settle_need(plan, i);
                begun[i] = moved = true;
                left--;
            }
        }
    }
    return left == 0 || err_field(err, "dependsOn", "dependsOn forms a cycle");
}

static void settle_known(struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->orders[i].known) {
            settle_need(plan, i);
        }
    }
}

bool flow_begin(struct batch *batch, struct command *command)
{
    struct plan plan = {.batch = batch,
                        .command = command,
                        .orders = command->create.orders,
                        .count = command->create.count};
    plan.open = arena_array(&batch->arena, size_t, plan.count);
    for (size_t i = 0; i < plan.count; i++) {
        resolve_parent(&plan, i);
        if (!plan.orders[i].known && !resolve_needs(&plan, i, &command->err)) {
            return false;
        }
    }
    settle_known(&plan);
    if (!begin_tops(&plan, &command->err)) {
        return false;
    }
    for (size_t i = 0; i < plan.count; i++) {
        if (is_child(&plan.orders[i])) {
            begin_child(&plan, i);
        }
    }
    return true;
}
