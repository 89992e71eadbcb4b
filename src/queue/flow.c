/* queue/flow.c: what one task's change means for others: children, parents, dependents.
 *
 * A child's start opens its parent, its end gives the next child its turn or closes the parent; the
 * end of a task unblocks those that depend on it, or cancels them. Consequences have consequences,
 * so the walk goes on until nothing changes any more, all in the transaction of the first change
 * (I6): no task waits for something that has already happened.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/flow.h"

#include "base/buf.h"

/* Items as rows of a relation, loaded. False: the store failed. */
struct items {
    struct item **at;
    size_t count;
};

typedef bool relation_fn(struct tx *tx, struct task_id id, struct arena *arena,
                         struct task_id **ids, size_t *count, struct err *err);

struct ids {
    struct task_id *at;
    size_t count;
};

static bool related_ids(struct batch *batch, struct task_id id, relation_fn *relation,
                        struct ids *out)
{
    struct err err = ERR_INIT;
    *out = (struct ids){0};
    if (!batch_begin(batch)) {
        return false;
    }
    if (!relation(batch->tx, id, &batch->arena, &out->at, &out->count, &err)) {
        batch_fail_store(batch, &err);
        return false;
    }
    return true;
}

static bool load_ids(struct batch *batch, const struct ids *ids, bool whole, struct items *out)
{
    *out = (struct items){arena_array(&batch->arena, struct item *, ids->count), ids->count};
    for (size_t i = 0; i < ids->count; i++) {
        batch_need(batch, ids->at[i], whole);
    }
    for (size_t i = 0; batch_load(batch) && i < ids->count; i++) {
        out->at[i] = batch_item(batch, ids->at[i]);
    }
    return batch_ok(batch);
}

static bool related(struct batch *batch, struct task_id id, relation_fn *relation, bool whole,
                    struct items *out)
{
    struct ids ids;
    *out = (struct items){0};
    return related_ids(batch, id, relation, &ids) && load_ids(batch, &ids, whole, out);
}

static bool live(const struct item *item)
{
    return item->found && !item->removed && !task_state_terminal(item->now.state);
}

static bool ended_badly(const struct item *item)
{
    return task_state_terminal(item->now.state) && item->now.state != TASK_COMPLETED;
}

static struct str say(struct batch *batch, const char *what, const struct item *item)
{
    char text[TASK_ID_TEXT];
    return arena_printf(&batch->arena, "%s %s ended %s", what, id_text(item->id, text).ptr,
                        task_state_name(item->now.state));
}

/* ---- Dependencies ---- */

/* Does this dependency still stand in the way of `task`? */
static bool stands_in_the_way(const struct task *task, const struct item *on)
{
    if (!on->found) {
        return false; /* it ended long ago and was removed */
    }
    return task->runs_anyway ? !task_state_terminal(on->now.state)
                             : on->now.state != TASK_COMPLETED;
}

static void release(struct batch *batch, struct item *item, const void *owner)
{
    struct err refused;
    if (task_unblock(&item->now, batch->now.wall_ms, &refused)) {
        item->renewed = true;
    }
    batch_change(batch, item, owner);
}

static void meet(struct batch *batch, struct item *dependent, const struct item *ended)
{
    struct err refused;
    if (dependent->now.state != TASK_WAITING || !id_none(dependent->now.parent)) {
        return; /* a child looks at its dependencies when its turn comes */
    }
    if (ended_badly(ended) && !dependent->now.runs_anyway) {
        if (task_cancel(&dependent->now, say(batch, "dependency", ended), batch->now.wall_ms,
                        &refused)) {
            batch_change(batch, dependent, ended->owner);
        }
        return;
    }
    dependent->now.unmet = MAX(dependent->now.unmet - 1, 0);
    batch_change(batch, dependent, ended->owner);
    if (dependent->now.unmet == 0) {
        release(batch, dependent, ended->owner);
    }
}

static void follow_dependents(struct batch *batch, struct item *ended)
{
    struct items dependents;
    if (!related(batch, ended->id, tx_dependents, false, &dependents)) {
        return;
    }
    for (size_t i = 0; i < dependents.count; i++) {
        if (live(dependents.at[i])) {
            meet(batch, dependents.at[i], ended);
        }
    }
}

bool flow_dependencies(struct batch *batch, struct task_id id, struct arena *arena,
                       struct task_dependency **out, size_t *count)
{
    struct items on;
    if (!related(batch, id, tx_dependencies, true, &on)) {
        return false;
    }
    *out = arena_array(arena, struct task_dependency, on.count);
    *count = on.count;
    for (size_t i = 0; i < on.count; i++) {
        (*out)[i] = (struct task_dependency){.id = on.at[i]->id,
                                             .state = on.at[i]->now.state,
                                             .result = arena_str(arena, on.at[i]->now.result)};
    }
    return true;
}

/* ---- Children ---- */

/* Its turn has come: queued, unless a dependency among its elder siblings ended badly. */
static void give_turn(struct batch *batch, struct item *child, const void *owner)
{
    struct err refused;
    struct items on = {0};
    if (child->now.state != TASK_WAITING ||
        (child->now.unmet > 0 && !related(batch, child->id, tx_dependencies, false, &on))) {
        return;
    }
    for (size_t i = 0; i < on.count; i++) {
        if (stands_in_the_way(&child->now, on.at[i])) {
            if (task_cancel(&child->now, say(batch, "dependency", on.at[i]), batch->now.wall_ms,
                            &refused)) {
                batch_change(batch, child, owner);
            }
            return;
        }
    }
    child->now.unmet = 0;
    release(batch, child, owner);
}

static void open_parents(struct batch *batch, const struct item *child)
{
    struct err refused;
    struct item *parent;
    for (struct task_id id = child->now.parent; !id_none(id); id = parent->now.parent) {
        parent = batch_item(batch, id);
        if (parent == NULL || !parent->found || parent->now.state != TASK_QUEUED ||
            !task_open(&parent->now, batch->now.wall_ms, &refused)) {
            return;
        }
        batch_change(batch, parent, child->owner);
    }
}

static void cancel_child(struct batch *batch, struct item *child, struct str reason,
                         const void *owner)
{
    struct err refused;
    if (child->now.container ? flow_cancel(batch, child, reason, owner, &refused)
                             : task_cancel(&child->now, reason, batch->now.wall_ms, &refused)) {
        batch_change(batch, child, owner);
        tell_cancel(batch, child);
    }
}

/* What their ends mean for the parent is asked once: the first of them speaks for all. */
static void cancel_children(struct batch *batch, const struct items *children, struct str reason,
                            const void *owner)
{
    bool one_speaks = false;
    for (size_t i = 0; i < children->count; i++) {
        struct item *child = children->at[i];
        if (live(child)) {
            cancel_child(batch, child, reason, owner);
            child->spoken_for = one_speaks && !live(child);
            one_speaks = one_speaks || !live(child);
        }
    }
}

/* All children's results in order. A sum over the limit is left out; the children keep theirs. */
static struct str join_results(struct batch *batch, const struct items *children)
{
    SCOPED(buf_fini) struct buf joined = BUF_INIT(TASK_RESULT_MAX);
    for (size_t i = 0; i < children->count; i++) {
        struct str result = children->at[i]->now.result;
        buf_char(&joined, i == 0 ? '[' : ',');
        buf_str(&joined, str_absent(result) ? STR("null") : result);
    }
    buf_char(&joined, ']');
    return joined.full ? STR_NONE : arena_str(&batch->arena, buf_view(&joined));
}

static const struct item *first_bad(const struct items *children)
{
    for (size_t i = 0; i < children->count; i++) {
        if (ended_badly(children->at[i])) {
            return children->at[i];
        }
    }
    return NULL;
}

static bool any_live(const struct items *children)
{
    for (size_t i = 0; i < children->count; i++) {
        if (live(children->at[i])) {
            return true;
        }
    }
    return false;
}

/* A run function that was given up still works on the batch's document: then it is not given on. */
static void keep_document(struct batch *batch, struct item *parent, const struct items *children)
{
    parent->strays = stray_holds(&batch->engine->strays, parent->id);
    for (size_t i = 0; i < children->count; i++) {
        parent->strays = parent->strays || children->at[i]->strays;
    }
}

static void close_parent(struct batch *batch, struct item *parent, const struct items *children,
                         const struct item *last, const struct item *bad)
{
    struct err refused;
    int64_t now_ms = batch->now.wall_ms;
    struct task *task = &parent->now;
    if (task->state == TASK_QUEUED && !task_open(task, now_ms, &refused)) {
        return; /* ended before its first child ever started: it was open for no time */
    }
    keep_document(batch, parent, children);
    struct task_error error = {.code = STR("child_failed")};
    if (bad != NULL) {
        error.message = say(batch, "child", bad);
        error.detail = bad->now.error.detail;
    }
    bool closed = bad == NULL && !task->cancel_requested
                      ? task_close(task, join_results(batch, children), now_ms, &refused)
                      : task_close_badly(task, &error, now_ms, &refused);
    if (closed) {
        batch_change(batch, parent, last->owner);
    }
}

static struct item *next_waiting(const struct items *children)
{
    for (size_t i = 0; i < children->count; i++) {
        if (children->at[i]->found && children->at[i]->now.state == TASK_WAITING) {
            return children->at[i];
        }
    }
    return NULL;
}

/* The first of them, from `from` on, that has not ended; NULL: all have, or the store failed. */
static struct item *first_live(struct batch *batch, const struct ids *ids, size_t from)
{
    for (size_t i = from; i < ids->count; i++) {
        batch_need(batch, ids->at[i], false);
        struct item *item = batch_item(batch, ids->at[i]);
        if (item == NULL || live(item)) {
            return item;
        }
    }
    return NULL;
}

static size_t place_of(const struct ids *ids, struct task_id id)
{
    size_t at = 0;
    while (at < ids->count && !id_eq(ids->at[at], id)) {
        at++;
    }
    return at;
}

/* The progress of a container is the share of its children that have ended. */
static void note_progress(struct batch *batch, struct item *parent, size_t ended, size_t count,
                          const void *owner)
{
    struct task *task = &parent->now;
    if (ended == 0) {
        return;
    }
    task->progress = (double)(ended * 1000 / count) / 10;
    task->progress_message = arena_printf(&batch->arena, "%zu of %zu", ended, count);
    task->updated_ms = batch->now.wall_ms;
    batch_change(batch, parent, owner);
}

/* The next child has its turn, or the parent is over. A batch of a thousand asks this a thousand
 * times: all children are loaded only for the last answer. Who had its turn comes after all that
 * ended before it; one that was cancelled out of turn may leave others before it. */
static void turn_to_next(struct batch *batch, struct item *parent, const struct item *child)
{
    struct ids ids;
    struct items children;
    if (!related_ids(batch, parent->id, tx_children, &ids)) {
        return;
    }
    bool had_turn = child->was.state != TASK_WAITING;
    struct item *next = first_live(batch, &ids, had_turn ? place_of(&ids, child->id) + 1 : 0);
    if (next != NULL) {
        note_progress(batch, parent, place_of(&ids, next->id), ids.count, child->owner);
        give_turn(batch, next, child->owner);
    } else if (batch_ok(batch) && load_ids(batch, &ids, true, &children)) {
        const struct item *bad = first_bad(&children);
        if (bad == NULL) {
            note_progress(batch, parent, ids.count, ids.count, child->owner);
        }
        close_parent(batch, parent, &children, child, bad);
    }
}

/* The rest of the batch is not wanted any more. */
static void stop_rest(struct batch *batch, struct item *parent, const struct item *child)
{
    struct items children;
    bool cancelled = parent->now.cancel_requested;
    if (!related(batch, parent->id, tx_children, false, &children)) {
        return;
    }
    cancel_children(batch, &children,
                    cancelled ? parent->now.cancel_reason : say(batch, "child", child),
                    child->owner);
    if (!any_live(&children)) {
        close_parent(batch, parent, &children, child,
                     ended_badly(child) ? child : first_bad(&children));
    }
}

static void follow_child(struct batch *batch, const struct item *child)
{
    struct item *parent = batch_item(batch, child->now.parent);
    if (parent == NULL || !live(parent) || parent->now.state == TASK_SCHEDULED ||
        parent->now.state == TASK_WAITING) {
        return;
    }
    if (parent->now.cancel_requested || (ended_badly(child) && !parent->now.continues)) {
        stop_rest(batch, parent, child);
    } else {
        turn_to_next(batch, parent, child);
    }
}

/* The container may begin: its first child has its turn. */
static void follow_container(struct batch *batch, struct item *container)
{
    struct items children;
    if (!related(batch, container->id, tx_children, false, &children)) {
        return;
    }
    if (task_state_terminal(container->now.state)) {
        cancel_children(batch, &children, container->now.cancel_reason, container->owner);
        return;
    }
    struct item *first = next_waiting(&children);
    if (first != NULL) {
        give_turn(batch, first, container->owner);
    }
}

/* ---- The walk ---- */

static void follow(struct batch *batch, struct item *item)
{
    enum task_state now = item->now.state;
    if (now == TASK_RUNNING && !id_none(item->now.parent)) {
        open_parents(batch, item);
    }
    if (item->now.container && (now == TASK_QUEUED || task_state_terminal(now))) {
        follow_container(batch, item);
    }
    if (task_state_terminal(now)) {
        if (!id_none(item->now.parent) && !item->spoken_for) {
            follow_child(batch, item);
        }
        follow_dependents(batch, item);
    }
}

void flow_follow(struct batch *batch)
{
    bool again = true, ended = false;
    while (again && batch_ok(batch)) {
        again = false;
        for (size_t i = 0; i < batch->all_count; i++) { /* grows on the way */
            struct item *item = batch->all[i];
            bool changed = item->found && item->owner != NULL && !item->removed &&
                           item->now.state != item->was.state;
            if (changed && item->followed != 1 + (int)item->now.state) {
                item->followed = 1 + (int)item->now.state;
                follow(batch, item);
                ended = ended || task_state_terminal(item->now.state);
                again = true;
            }
        }
    }
    if (ended) {
        flow_orders(batch);
    }
}

/* ---- Steering ---- */

bool flow_cancel(struct batch *batch, struct item *container, struct str reason, const void *owner,
                 struct err *err)
{
    struct items children;
    if (!task_cancel(&container->now, reason, batch->now.wall_ms, err)) {
        return false;
    }
    batch_change(batch, container, owner);
    if (!related(batch, container->id, tx_children, true, &children)) {
        *err = batch->err;
        return false;
    }
    cancel_children(batch, &children, reason, owner);
    return true;
}

static bool revive_container(struct batch *batch, struct item *container, const void *owner,
                             struct err *err);

static bool revive_child(struct batch *batch, struct item *child, bool first, const void *owner,
                         struct err *err)
{
    int64_t now_ms = batch->now.wall_ms;
    batch_change(batch, child, owner);
    if (child->now.container && first) {
        return revive_container(batch, child, owner, err);
    }
    return first ? task_revive(&child->now, now_ms, err) : task_shelve(&child->now, now_ms, err);
}

/* Completed children keep their results; the first of the others goes on, the rest wait again. */
static bool revive_container(struct batch *batch, struct item *container, const void *owner,
                             struct err *err)
{
    struct items children;
    bool first = true;
    if (!task_reopen(&container->now, batch->now.wall_ms, err)) {
        return false;
    }
    batch_change(batch, container, owner);
    if (!related(batch, container->id, tx_children, false, &children)) {
        *err = batch->err;
        return false;
    }
    for (size_t i = 0; i < children.count; i++) {
        if (!ended_badly(children.at[i])) {
            continue;
        }
        if (!revive_child(batch, children.at[i], first, owner, err)) {
            return false;
        }
        first = false;
    }
    return true;
}

/* Whoever runs anyway counted the bad end of this task as met: it is open again. */
static bool unmeet(struct batch *batch, struct item *revived, const void *owner)
{
    struct items dependents;
    if (!related(batch, revived->id, tx_dependents, false, &dependents)) {
        return false;
    }
    for (size_t i = 0; i < dependents.count; i++) {
        struct item *dependent = dependents.at[i];
        if (dependent->found && dependent->now.state == TASK_WAITING &&
            dependent->now.runs_anyway) {
            dependent->now.unmet++;
            batch_change(batch, dependent, owner);
        }
    }
    return true;
}

static bool count_unmet(struct batch *batch, const struct item *item, int32_t *unmet)
{
    struct items on;
    *unmet = 0;
    if (!related(batch, item->id, tx_dependencies, false, &on)) {
        return false;
    }
    for (size_t i = 0; i < on.count; i++) {
        *unmet += stands_in_the_way(&item->now, on.at[i]);
    }
    return true;
}

static bool revive_task(struct batch *batch, struct item *item, const void *owner, struct err *err)
{
    int32_t unmet;
    if (!count_unmet(batch, item, &unmet)) {
        *err = batch->err;
        return false;
    }
    if (!(unmet > 0 ? task_shelve(&item->now, batch->now.wall_ms, err)
                    : task_revive(&item->now, batch->now.wall_ms, err))) {
        return false;
    }
    item->now.unmet = unmet;
    batch_change(batch, item, owner);
    return true;
}

bool flow_revive(struct batch *batch, struct item *item, const void *owner, struct err *err)
{
    if (!id_none(item->now.parent) && task_state_terminal(item->now.state)) {
        struct item *parent = batch_item(batch, item->now.parent);
        if (parent != NULL && parent->found) {
            return err_set(err, ERR_CONFLICT, "a child is not retried by itself: retry its parent");
        }
    }
    bool revived = item->now.container ? revive_container(batch, item, owner, err)
                                       : revive_task(batch, item, owner, err);
    if (revived && !unmeet(batch, item, owner)) {
        *err = batch->err;
        return false;
    }
    return revived;
}

bool flow_change(struct batch *batch, struct item *container, const struct task_patch *patch,
                 const void *owner, struct err *err)
{
    struct items children;
    struct task_patch shared = *patch;
    shared.has_max_retries = shared.has_timeout = false;
    if (!related(batch, container->id, tx_children, false, &children)) {
        *err = batch->err;
        return false;
    }
    for (size_t i = 0; i < children.count; i++) {
        struct item *child = children.at[i];
        struct task_patch own = shared;
        own.has_scheduled = own.has_scheduled && child->now.state != TASK_WAITING;
        if (live(child) && child->now.state != TASK_RUNNING &&
            task_change(&child->now, &own, batch->now.wall_ms, err)) {
            child->renewed = own.has_scheduled;
            batch_change(batch, child, owner);
        }
    }
    return true;
}
