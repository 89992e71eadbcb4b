/* queue/flow_steer.c: what people do to a task that others belong to: retry, change, remove.
 *
 * Here only what was asked for is done; what it means for others is found by the walk of flow.c.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "queue/flow.h"
#include "queue/kin.h"
#include "task/family.h"

static bool ended_badly(enum task_state state)
{
    return task_state_terminal(state) && state != TASK_COMPLETED;
}

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
        if (!ended_badly(child->now.state)) {
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

static bool revive_one(struct batch *batch, struct item *item, int32_t unmet, struct err *err)
{
    int64_t now_ms = batch->now.wall_ms;
    return unmet > 0             ? task_shelve(&item->now, now_ms, err)
           : item->now.container ? task_reopen(&item->now, now_ms, err)
                                 : task_revive(&item->now, now_ms, err);
}

bool flow_revive(struct batch *batch, struct item *item, const void *owner, struct err *err)
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
    if (item->now.container && item->kin.count == 0) {
        return err_set(err, ERR_CONFLICT, "its children were removed: nothing is left to retry");
    }
    if (!revive_one(batch, item, unmet, err) || !shelve_below(batch, item, owner, err)) {
        return false;
    }
    item->now.unmet = unmet;
    batch_change(batch, item, owner);
    return true;
}

bool flow_change(struct batch *batch, struct item *container, const struct task_patch *patch,
                 const void *owner, struct err *err)
{
    struct task_patch shared = {.has_priority = patch->has_priority, .priority = patch->priority};
    if (!patch->has_priority || !container->now.container) {
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
            if (!flow_change(batch, child, patch, owner, err)) {
                return false;
            }
        }
    }
    return true;
}

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

bool flow_remove(struct batch *batch, struct item *item, const void *owner, struct err *err)
{
    SCOPED(items_fini) struct items family = {0};
    struct kin_list waits;
    items_add(&family, item);
    if (!gather_below(batch, &family) || !kin_ask(batch, KIN_WAITING, family.at, family.count,
                                                  TASK_ID_NONE, FOLLOW_MAX + 1, &waits)) {
        *err = batch->err;
        return false;
    }
    if (waits.count > batch->follow_left) {
        return err_set(err, ERR_CONFLICT, "more than %d tasks wait for it: cancel them first",
                       FOLLOW_MAX);
    }
    for (size_t i = 0; i < family.count; i++) {
        family.at[i]->removed = true;
        batch_change(batch, family.at[i], owner);
    }
    return true;
}
