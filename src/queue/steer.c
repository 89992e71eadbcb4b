/* queue/steer.c: what people do to one task: cancel, retry, change, remove.
 *
 * Thread: engine. The races are settled by the order of commands in the engine and by
 * compare-and-set in the store.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/engine.h"
#include "queue/flow.h"

void prepare_one(struct batch *batch, struct command *command)
{
    batch_need(batch, command->one.id, true);
}

typedef bool verb_fn(struct batch *batch, struct item *item, struct command *command);

static void with_task(struct batch *batch, struct command *command, verb_fn *verb)
{
    struct item *item;
    flow_follow(batch); /* a child that an earlier command started has opened its parent */
    if (batch_find(batch, command->one.id, &item, &command->err)) {
        if (item_busy(item, command)) {
            batch_defer(batch, command);
            return;
        }
        if (verb(batch, item, command)) {
            flow_follow(batch); /* what it means for others may come back to this task */
            command->one.task = task_copy(command->arena, &item->now);
        }
    }
    batch_answer(batch, command);
}

void tell_cancel(struct batch *batch, const struct item *item)
{
    if (item->now.state == TASK_RUNNING && task_worker_kind(item->now.worker) != WORKER_REMOTE) {
        batch_abort(batch, item, ABORT_CANCEL);
    }
}

static bool cancel(struct batch *batch, struct item *item, struct command *command)
{
    if (item->now.state == TASK_CANCELLED || item->now.cancel_requested) {
        return true; /* said again */
    }
    if (!task_cancel(&item->now, command->one.reason, batch->now.wall_ms, &command->err)) {
        return false;
    }
    batch_change(batch, item, command);
    tell_cancel(batch, item);
    return true;
}

void on_cancel(struct batch *batch, struct command *command)
{
    with_task(batch, command, cancel);
}

/* What its team alone may change. */
static bool may_steer(const struct task *task, struct err *err)
{
    return !task_is_hold(task) ||
           err_set(err, ERR_CONFLICT, "it holds a document for its team and ends with it");
}

static bool revive(struct batch *batch, struct item *item, struct command *command)
{
    return may_steer(&item->now, &command->err) &&
           guests_may_revive(batch, &item->now, &command->err) &&
           flow_revive(batch, item, command, &command->err);
}

void on_revive(struct batch *batch, struct command *command)
{
    with_task(batch, command, revive);
}

static bool change(struct batch *batch, struct item *item, struct command *command)
{
    if (!may_steer(&item->now, &command->err) ||
        !task_change(&item->now, &command->one.patch, batch->now.wall_ms, &command->err)) {
        return false;
    }
    item->renewed = command->one.patch.has_scheduled;
    batch_change(batch, item, command);
    return flow_change(batch, item, &command->one.patch, command, &command->err);
}

void on_change(struct batch *batch, struct command *command)
{
    with_task(batch, command, change);
}

/* Its result is still to become part of its parent's. */
static bool parent_needs(struct batch *batch, const struct task *child)
{
    const struct item *parent = id_none(child->parent) ? NULL : batch_item(batch, child->parent);
    return parent != NULL && parent->found && !task_state_terminal(parent->now.state);
}

static bool remove_item(struct batch *batch, struct item *item, struct command *command)
{
    if (!task_state_terminal(item->now.state)) {
        return err_set(&command->err, ERR_CONFLICT,
                       "a task that is %s cannot be removed: cancel it first",
                       task_state_name(item->now.state));
    }
    if (parent_needs(batch, &item->now)) {
        return err_set(&command->err, ERR_CONFLICT,
                       "a child cannot be removed before its parent has ended");
    }
    return flow_remove(batch, item, command, &command->err);
}

void on_remove(struct batch *batch, struct command *command)
{
    with_task(batch, command, remove_item);
}
