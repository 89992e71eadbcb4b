/* queue/steer.c: what people do to a task and to all that belongs to it: cancel, retry, change,
 * remove; and the same to all that a filter selects.
 *
 * Here only what was asked for is done; what it means for others is found by the walk of flow.c.
 * The races are settled by the order of commands in the engine and by compare-and-set in the store.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/steer.h"

#include "queue/decide.h"
#include "queue/engine.h"
#include "queue/guests.h"
#include "queue/kin.h"
#include "task/family.h"

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

static bool cancel(struct batch *batch, struct item *item, struct command *command)
{
    if (item->now.state == TASK_CANCELLED || item->now.cancel_requested) {
        return true; /* said again */
    }
    if (!task_cancel(&item->now, command->one.reason, batch->now.wall_ms, &command->err)) {
        return false;
    }
    batch_change(batch, item, command);
    batch_abort_cancelled(batch, item);
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

/* ---- Retry ---- */

/* What did not end well waits for its turn again, all the way down; what did keeps its result. */
static bool shelve_below(struct batch *batch, struct item *container, const void *owner,
                         struct err *err)
{
    if (!container->now.container) {
        return true;
    }
    if (!kin_children(batch, container)) {
        *err = batch->err;
        return false;
    }
    for (size_t i = 0; i < container->kin.count; i++) {
        struct item *child = batch_peek(batch, container->kin.at[i].id);
        struct kin_list on;
        if (child->removed || !task_state_terminal(child->now.state) ||
            child->now.state == TASK_COMPLETED) {
            continue;
        }
        if (!kin_dependencies(batch, child, &on)) {
            *err = batch->err;
            return false;
        }
        if (!task_shelve(&child->now, batch->now.wall_ms, err) ||
            !shelve_below(batch, child, owner, err)) {
            return false;
        }
        child->now.unmet = (int32_t)on.count; /* looked at when its turn comes: give_turn() */
        batch_change(batch, child, owner);
    }
    return true;
}

/* How many of its dependencies stand in its way. They are loaded, which locks their rows: none of
 * them ends unseen while this task begins to wait for it. */
static bool count_unmet(struct batch *batch, struct item *item, int32_t *unmet)
{
    struct kin_list on;
    *unmet = 0;
    if (!kin_dependencies(batch, item, &on) || !kin_load(batch, on.at, on.count, false)) {
        return false;
    }
    for (size_t i = 0; i < on.count; i++) {
        struct item *dependency = batch_peek(batch, on.at[i].id);
        bool gone = !dependency->found || dependency->removed;
        *unmet += !gone && family_stands(&item->now, dependency->now.state);
        kin_await(batch, dependency, item);
    }
    return true;
}

/* Those that an earlier command of this batch removes are still among the rows. */
static bool has_children(struct batch *batch, const struct item *container)
{
    for (size_t i = 0; i < container->kin.count; i++) {
        const struct item *child = batch_peek(batch, container->kin.at[i].id);
        if (child == NULL || !child->removed) {
            return true;
        }
    }
    return false;
}

static bool revive_tree(struct batch *batch, struct item *item, const void *owner, struct err *err)
{
    int32_t unmet;
    if (!id_none(item->now.parent) && task_state_terminal(item->now.state)) {
        struct item *parent = batch_item(batch, item->now.parent);
        if (parent != NULL && parent->found) {
            return err_set(err, ERR_CONFLICT, "a child is not retried by itself: retry its parent");
        }
    }
    if (!count_unmet(batch, item, &unmet) || !kin_families(batch, &item, 1)) {
        *err = batch->err;
        return false;
    }
    if (item->now.container && !has_children(batch, item)) {
        return err_set(err, ERR_CONFLICT, "its children were removed: nothing is left to retry");
    }
    int64_t now_ms = batch->now.wall_ms;
    bool revived = unmet > 0             ? task_shelve(&item->now, now_ms, err)
                   : item->now.container ? task_reopen(&item->now, now_ms, err)
                                         : task_revive(&item->now, now_ms, err);
    if (!revived || !shelve_below(batch, item, owner, err)) {
        return false;
    }
    item->now.unmet = unmet;
    batch_change(batch, item, owner);
    return true;
}

static bool revive(struct batch *batch, struct item *item, struct command *command)
{
    int32_t used = item->now.retries;
    if (!may_steer(&item->now, &command->err) ||
        !guests_may_revive(batch, &item->now, &command->err) ||
        !revive_tree(batch, item, command, &command->err)) {
        return false;
    }
    item->now.retries = command->one.keeps_retries ? used : item->now.retries;
    return true;
}

void on_revive(struct batch *batch, struct command *command)
{
    with_task(batch, command, revive);
}

/* ---- Change ---- */

static bool change_below(struct batch *batch, struct item *container,
                         const struct task_patch *patch, const void *owner, struct err *err)
{
    struct task_patch shared = {.given = patch->given & TASK_BIT(priority), .to = patch->to};
    if (shared.given == 0 || !container->now.container) {
        return true;
    }
    if (!kin_children(batch, container)) {
        *err = batch->err;
        return false;
    }
    for (size_t i = 0; i < container->kin.count; i++) {
        struct item *child = batch_peek(batch, container->kin.at[i].id);
        struct err refused;
        if (task_change(&child->now, &shared, batch->now.wall_ms, &refused)) {
            batch_change(batch, child, owner);
            if (!change_below(batch, child, patch, owner, err)) {
                return false;
            }
        }
    }
    return true;
}

static bool change(struct batch *batch, struct item *item, struct command *command)
{
    if (!may_steer(&item->now, &command->err) ||
        !task_change(&item->now, &command->one.patch, batch->now.wall_ms, &command->err)) {
        return false;
    }
    item->renewed = command->one.patch.given & TASK_BIT(scheduled_ms);
    batch_change(batch, item, command);
    return change_below(batch, item, &command->one.patch, command, &command->err);
}

void on_change(struct batch *batch, struct command *command)
{
    with_task(batch, command, change);
}

/* ---- Kill ---- */

static bool kill_item(struct batch *batch, struct item *item, struct command *command)
{
    if (item->now.container) {
        return err_set(&command->err, ERR_CONFLICT,
                       "a task with children is cancelled, not killed");
    }
    if (!task_kill(&item->now, batch->now.wall_ms, &command->err)) {
        return false;
    }
    batch_change(batch, item, command);
    return true;
}

void on_kill(struct batch *batch, struct command *command)
{
    with_task(batch, command, kill_item);
}

/* ---- Remove ---- */

/* All of a family that is over: the root, and whatever is below it. */
static bool gather_below(struct batch *batch, struct items *family)
{
    for (size_t i = 0; i < family->count; i++) {
        struct item *item = family->at[i];
        if (!item->now.container) {
            continue;
        }
        if (!kin_children(batch, item)) {
            return false;
        }
        for (size_t j = 0; j < item->kin.count; j++) {
            items_add(family, batch_peek(batch, item->kin.at[j].id));
        }
    }
    return true;
}

static bool remove_tree(struct batch *batch, struct item *item, const void *owner, struct err *err)
{
    SCOPED(items_fini) struct items family = {0};
    struct kin_list waits;
    items_add(&family, item);
    if (!gather_below(batch, &family) || !kin_ask(batch, KIN_WAITING, family.at, family.count,
                                                  TASK_ID_NONE, FOLLOW_MAX + 1, &waits)) {
        *err = batch->err;
        return false;
    }
    if (waits.count > batch->walk.left) {
        return err_set(err, ERR_CONFLICT, "more than %d tasks wait for it: cancel them first",
                       FOLLOW_MAX);
    }
    for (size_t i = 0; i < family.count; i++) {
        family.at[i]->removed = true;
        batch_change(batch, family.at[i], owner);
    }
    return true;
}

static bool remove_item(struct batch *batch, struct item *item, struct command *command)
{
    if (!task_state_terminal(item->now.state)) {
        return err_set(&command->err, ERR_CONFLICT,
                       "a task that is %s cannot be removed: cancel it first",
                       task_state_name(item->now.state));
    }
    /* Its result is still to become part of its parent's. */
    struct task_id up = item->now.parent;
    const struct item *parent = id_none(up) ? NULL : batch_item(batch, up);
    if (parent != NULL && parent->found && !task_state_terminal(parent->now.state)) {
        return err_set(&command->err, ERR_CONFLICT,
                       "a child cannot be removed before its parent has ended");
    }
    return remove_tree(batch, item, command, &command->err);
}

void on_remove(struct batch *batch, struct command *command)
{
    with_task(batch, command, remove_item);
}

/* ---- Many at once ----
 *
 * A bulk command acts on what existed when it began, newest first, in atomic chunks, one per batch,
 * while other commands go on in between. It is answered after its last chunk. */

#define BULK_CHUNK 1000
#define BIT(state) (1u << (state))

static const unsigned live = BIT(TASK_SCHEDULED) | BIT(TASK_WAITING) | BIT(TASK_QUEUED) |
                             BIT(TASK_RUNNING) | BIT(TASK_RETRYING);

/* Which states the verb can act on at all. */
static unsigned states_of(enum bulk_verb verb)
{
    switch (verb) {
    case BULK_REVIVE:
        return BIT(TASK_FAILED) | BIT(TASK_TIMEOUT) | BIT(TASK_CANCELLED);
    case BULK_PURGE:
        return live & ~BIT(TASK_RUNNING);
    default:
        return live;
    }
}

/* True when there is anything to select. */
static bool begin_chunk(struct batch *batch, struct command_bulk *bulk)
{
    if (!bulk->begun) {
        unsigned asked = bulk->filter.states == 0 ? ~0u : bulk->filter.states;
        /* Behind every id that was made so far; those of other nodes by their clocks. */
        const struct engine *engine = batch->engine;
        uint64_t own = engine->ids.last_hi + 1;
        int64_t theirs_ms = clock_true_ms(engine->with.clock) + QUEUE_CLOCKS_APART_MS;
        uint64_t hi = engine->shared ? MAX(own, id_first_hi(theirs_ms)) : own;
        bulk->begun = true;
        bulk->filter.before = (struct task_id){hi, 0};
        bulk->filter.limit = BULK_CHUNK;
        bulk->filter.states = asked & states_of(bulk->verb);
        bulk->count = 0;
    }
    bulk->chunk_before = bulk->filter.before;
    bulk->chunk_count = bulk->count;
    return bulk->filter.states != 0;
}

void bulk_undo_chunks(struct list *commands)
{
    LIST_EACH(commands, it)
    {
        struct command *command = HOLDER(it, struct command, link);
        if (command->kind == COMMAND_BULK) {
            command->bulk.filter.before = command->bulk.chunk_before;
            command->bulk.count = command->bulk.chunk_count;
        }
    }
}

static bool act(struct batch *batch, struct item *item, const struct command *command)
{
    const struct command_bulk *bulk = &command->bulk;
    struct err refused;
    int64_t now_ms = batch->now.wall_ms;
    switch (bulk->verb) {
    case BULK_REVIVE:
        return !task_is_hold(&item->now) && guests_may_revive(batch, &item->now, &refused) &&
               revive_tree(batch, item, command, &refused);
    case BULK_PURGE:
        return item->now.state != TASK_RUNNING &&
               task_cancel(&item->now, STR("purged"), now_ms, &refused);
    default:
        return !item->now.cancel_requested &&
               task_cancel(&item->now, bulk->reason, now_ms, &refused);
    }
}

/* Acts on the tasks of a chunk. *busy: the newest that another command of this batch changed first;
 * it is looked at again in the next. */
static bool act_on_all(struct batch *batch, struct command *command, const struct task_id *ids,
                       size_t n, uint64_t *busy)
{
    for (size_t i = 0; i < n; i++) {
        batch_need(batch, ids[i], false);
    }
    if (!batch_load(batch)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        struct item *item = batch_item(batch, ids[i]);
        if (item_busy(item, command)) {
            *busy = MAX(*busy, item->id.hi);
        } else if (item->found && act(batch, item, command)) {
            batch_change(batch, item, command);
            batch_abort_cancelled(batch, item);
            command->bulk.count++;
        }
    }
    flow_follow(batch);
    return batch_ok(batch);
}

void on_bulk(struct batch *batch, struct command *command)
{
    struct command_bulk *bulk = &command->bulk;
    struct err err = ERR_INIT;
    struct task_id *ids;
    size_t n = 0;
    uint64_t busy = 0;
    flow_follow(batch); /* a child that an earlier command started has opened its parent */
    if (begin_chunk(batch, bulk) && batch_begin(batch)) {
        if (!tx_select(batch->tx, &bulk->filter, &batch->arena, &ids, &n, &err)) {
            batch_fail_store(batch, &err);
        } else if (act_on_all(batch, command, ids, n, &busy) && (busy != 0 || n == BULK_CHUNK)) {
            /* What it acted on does not match again, or is not counted again. */
            bulk->filter.before = busy != 0 ? (struct task_id){busy + 1, 0} : ids[n - 1];
            list_remove(&command->link);
            list_append(&batch->engine->jobs, &command->link);
            return;
        }
    }
    batch_answer(batch, command);
}
