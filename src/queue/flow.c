/* queue/flow.c: what one task's change means for others: children, parents, dependents.
 *
 * Every changed task goes on the walk. A round of the walk looks at all that are on it: a container
 * is brought into line with its children, and they with it (task/family.h); the parent of a task
 * that changed is looked at next; whoever waits for a task that ended counts its dependencies anew.
 * Whoever changed by that goes on the walk in turn, until it is empty, all in the transaction of
 * the first change (I6): no task waits for something that has already happened.
 *
 * Nothing here asks which command caused what. To look at a task that is in line with all around it
 * changes nothing, so it does no harm to look once too often, and a new kind of change needs no new
 * code.
 *
 * A task with very many dependents is followed in slices: one commit looks at FOLLOW_MAX of them at
 * most; the others are told in commits of their own, and commands are served in between. That some
 * are left is on record, in the commit that leaves them, until the last one was told. A slice reads
 * how the task stands by then, and to tell somebody twice changes nothing, so only the name of the
 * task is kept: after a crash its dependents are gone through from the first.
 *
 * Thread: engine. Keeps: I6, I8.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/flow.h"

#include "base/array.h"
#include "base/buf.h"
#include "queue/engine.h"
#include "queue/kin.h"
#include "store/record.h"
#include "task/family.h"

static struct str say_end(struct batch *batch, const char *what, const struct item *item)
{
    char text[TASK_ID_TEXT];
    return arena_printf(&batch->arena, "%s %s %s%s", what, id_text(item->id, text).ptr,
                        item->removed ? "was removed, it had ended " : "ended ",
                        task_state_name(item->now.state));
}

/* Whoever caused a change owns what it changes, unless that has an owner already. */
static void change(struct batch *batch, struct item *item, const struct item *cause)
{
    const void *owner = item->owner != NULL    ? item->owner
                        : cause->owner != NULL ? cause->owner
                        : cause->cause != NULL ? cause->cause
                                               : batch;
    batch_change(batch, item, owner);
}

/* ---- The walk ---- */

void flow_note(struct batch *batch, struct item *item)
{
    if (!item->walks) {
        item->walks = true;
        items_add(&batch->walk.next, item);
    }
    batch->walk.born_changed = batch->walk.born_changed || item->order != NULL;
}

/* ---- Families ---- */

static void cancel_one(struct batch *batch, struct item *item, struct str reason,
                       const struct item *cause)
{
    struct err refused;
    bool asked = item->now.cancel_requested;
    if (task_cancel(&item->now, reason, batch->now.wall_ms, &refused) && !asked) {
        change(batch, item, cause);
        batch_abort_cancelled(batch, item);
    }
}

static void cancel_unwanted(struct batch *batch, struct item *parent, const struct family *family)
{
    struct kin *kin = parent->kin.at;
    bool whole = family->unwanted == 0;
    if (family->unwanted == parent->kin.count ||
        !kin_load(batch, kin + family->unwanted, parent->kin.count - family->unwanted, false)) {
        return;
    }
    const struct item *bad = whole ? NULL : kin_child(batch, parent, family->bad);
    struct str reason = whole         ? parent->now.cancel_reason
                        : bad == NULL ? STR_NONE
                                      : say_end(batch, "child", bad);
    for (size_t i = family->unwanted; batch_ok(batch) && i < parent->kin.count; i++) {
        struct item *child = batch_peek(batch, kin[i].id);
        if (!task_state_terminal(child->now.state)) {
            cancel_one(batch, child, reason, parent);
        }
    }
}

static void release(struct batch *batch, struct item *item, const struct item *cause)
{
    struct err refused;
    item->now.unmet = 0;
    if (task_unblock(&item->now, batch->now.wall_ms, &refused)) {
        item->renewed = true;
        change(batch, item, cause);
    }
}

/* Its turn has come: queued, unless a dependency among its elder siblings ended badly. */
static void give_turn(struct batch *batch, struct item *child, const struct item *parent)
{
    struct kin_list on = {0};
    if (child->now.unmet > 0 && !kin_dependencies(batch, child, &on)) {
        return;
    }
    for (size_t i = 0; i < on.count; i++) {
        if (family_stands(&child->now, kin_state(batch, &on.at[i]))) {
            struct item *bad = batch_item(batch, on.at[i].id);
            cancel_one(batch, child, say_end(batch, "dependency", bad), parent);
            return;
        }
    }
    release(batch, child, parent);
}

/* Whoever has not its turn waits: also one that had it before its parent was put off. */
static void settle_turns(struct batch *batch, struct item *parent, const struct family *family,
                         const enum task_state *states)
{
    struct err refused;
    for (size_t i = 0; i < MIN(parent->kin.count, family->unwanted); i++) {
        bool ready = states[i] == TASK_QUEUED || states[i] == TASK_SCHEDULED;
        if (i == family->turn ? states[i] != TASK_WAITING : !ready) {
            continue;
        }
        struct item *child = kin_child(batch, parent, i);
        if (child == NULL) {
            return;
        }
        if (i == family->turn) {
            give_turn(batch, child, parent);
        } else if (task_hold_back(&child->now, batch->now.wall_ms, &refused)) {
            change(batch, child, parent);
        }
    }
}

/* All children's results in order. A sum over the limit is left out; the children keep theirs. */
static struct str join_results(struct batch *batch, const struct kin_list *children)
{
    SCOPED(buf_fini) struct buf joined = BUF_INIT(TASK_RESULT_MAX);
    for (size_t i = 0; i < children->count; i++) {
        struct str result = batch_peek(batch, children->at[i].id)->now.result;
        buf_char(&joined, i == 0 ? '[' : ',');
        buf_str(&joined, str_absent(result) ? STR("null") : result);
    }
    buf_char(&joined, ']');
    return joined.full ? STR_NONE : arena_str(&batch->arena, buf_view(&joined));
}

/* The progress of a container is the share of its children that have ended. */
static void note_progress(struct batch *batch, struct item *parent, size_t ended)
{
    struct task *task = &parent->now;
    double progress = (double)(ended * 1000 / MAX(parent->kin.count, (size_t)1)) / 10;
    if (ended > 0 && task->progress != progress) {
        task->progress = progress;
        task->progress_message =
            arena_printf(&batch->arena, "%zu of %zu", ended, parent->kin.count);
        task->updated_ms = batch->now.wall_ms;
        change(batch, parent, parent);
    }
}

static void close_parent(struct batch *batch, struct item *parent, const struct family *family)
{
    struct err refused;
    struct task *task = &parent->now;
    int64_t now_ms = batch->now.wall_ms;
    bool well = family->end == FAMILY_ENDS_WELL, closed = false;
    if (!(well ? kin_load(batch, parent->kin.at, parent->kin.count, true)
               : kin_child(batch, parent, family->bad) != NULL) ||
        (task->state != TASK_RUNNING && !task_open(task, now_ms, &refused))) {
        return; /* one that ends before any child started was open for no time */
    }
    /* A run function that was given up still works on the family's document: then it is not given
     * on. */
    parent->strays = stray_holds(&batch->engine->strays, parent->id);
    for (size_t i = 0; i < parent->kin.count; i++) {
        const struct item *child = batch_peek(batch, parent->kin.at[i].id);
        parent->strays = parent->strays || (child != NULL && child->strays);
    }
    if (well) {
        note_progress(batch, parent, parent->kin.count);
        closed = task_close(task, join_results(batch, &parent->kin), now_ms, &refused);
    } else {
        const struct item *bad = kin_child(batch, parent, family->bad);
        struct task_error error = {.code = STR("child_failed"),
                                   .message = say_end(batch, "child", bad),
                                   .detail = bad->now.error.detail};
        closed = task_close_badly(task, &error, now_ms, &refused);
    }
    if (closed) {
        change(batch, parent, parent);
    }
}

static void settle_family(struct batch *batch, struct item *parent)
{
    struct err refused;
    size_t count = parent->kin.count, ended = 0;
    enum task_state *states = arena_array(&batch->arena, enum task_state, count + 1);
    if (parent->removed || task_is_hold(&parent->now)) {
        return; /* its children go with it; a hold has none, whoever made it ends it */
    }
    for (size_t i = 0; i < count; i++) { /* none at all: they were removed, and it is retried */
        states[i] = kin_state(batch, &parent->kin.at[i]);
        ended += task_state_terminal(states[i]);
    }
    struct family family = family_judge(&parent->now, states, count);
    bool over = task_state_terminal(parent->now.state);
    if (family.end != FAMILY_GOES_ON && !over) {
        close_parent(batch, parent, &family);
        return;
    }
    if (family.opens && task_open(&parent->now, batch->now.wall_ms, &refused)) {
        change(batch, parent, parent);
    }
    if (family.end == FAMILY_GOES_ON) {
        cancel_unwanted(batch, parent, &family);
        settle_turns(batch, parent, &family, states);
    }
    if (!over) {
        note_progress(batch, parent, ended);
    }
}

/* ---- Dependencies ---- */

/* A bad end cancels whoever waits for a good one. What ended badly before the task was retried is
 * no such end: it waits for somebody to retry that, too. */
static bool cancel_by(struct batch *batch, struct item *waits, const struct item *on)
{
    bool bad = task_state_terminal(on->now.state) && on->now.state != TASK_COMPLETED;
    if (waits->now.state == TASK_WAITING && bad && !waits->now.runs_anyway) {
        cancel_one(batch, waits, say_end(batch, "dependency", on), on);
        return true;
    }
    return false;
}

static void count_anew(struct batch *batch, struct item *waits, const struct kin *on, size_t count,
                       const struct item *cause)
{
    int32_t unmet = 0;
    for (size_t i = 0; i < count; i++) {
        const struct item *item = batch_peek(batch, on[i].id);
        bool gone = item != NULL && (item->removed || !item->found);
        unmet += !gone && family_stands(&waits->now, kin_state(batch, &on[i]));
    }
    if (unmet == 0) {
        release(batch, waits, cause);
    } else if (unmet != waits->now.unmet) {
        waits->now.unmet = unmet;
        change(batch, waits, cause);
    }
}

/* Those among `waits` that still wait count what they wait for. A child looks at its dependencies
 * when its turn comes. */
static void settle_waiting(struct batch *batch, struct item **waits, size_t count,
                           const struct item *cause)
{
    struct item **ask = arena_array(&batch->arena, struct item *, count + 1);
    struct kin_list on;
    size_t n = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        struct item *item = waits[i];
        if (item->now.state != TASK_WAITING || !id_none(item->now.parent)) {
            continue;
        }
        if (item->order == NULL) {
            ask[n++] = item;
        } else if (kin_dependencies(batch, item, &on)) {
            count_anew(batch, item, on.at, on.count, cause);
        }
    }
    if (!kin_ask(batch, KIN_DEPENDENCIES, ask, n, TASK_ID_NONE, 0, &on)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        size_t from = at;
        while (at < on.count && on.at[at].of == i) {
            at++;
        }
        count_anew(batch, ask[i], on.at + from, at - from, cause);
    }
}

static void leave(struct batch *batch, struct task_id id, struct task_id after)
{
    struct unfollowed_list *list = &batch->walk.unfollowed;
    *ARRAY_PUSH(list->at, list->count, list->room) = (struct unfollowed){id, after};
    batch->writes = true;
}

/* Cuts the list where the batch has looked at enough; what is behind the cut is left for later. */
static void cut(struct batch *batch, struct item **ended, size_t count, struct kin_list *kin)
{
    if (kin->count <= batch->walk.left) {
        batch->walk.left -= kin->count;
        return;
    }
    size_t kept = batch->walk.left, from = kin->at[kept].of;
    bool begun = kept > 0 && kin->at[kept - 1].of == from;
    leave(batch, ended[from]->id, begun ? kin->at[kept - 1].id : TASK_ID_NONE);
    for (size_t i = from + 1; i < count; i++) {
        leave(batch, ended[i]->id, TASK_ID_NONE);
    }
    kin->count = kept;
    batch->walk.left = 0;
}

/* Whoever waits for one of these, which have ended, live again, or are gone. */
static void follow_dependents(struct batch *batch, struct item **ended, size_t count,
                              struct task_id after)
{
    struct kin_list kin;
    struct items waits = {0};
    if (count == 0 ||
        !kin_ask(batch, KIN_WAITING, ended, count, after, batch->walk.left + 1, &kin)) {
        return;
    }
    cut(batch, ended, count, &kin);
    if (!kin_load(batch, kin.at, kin.count, false)) {
        return;
    }
    for (size_t i = 0; i < kin.count; i++) {
        struct item *item = batch_peek(batch, kin.at[i].id);
        if (id_none(item->now.parent) && !cancel_by(batch, item, ended[kin.at[i].of])) {
            items_add(&waits, item);
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (struct awaiting *at = ended[i]->awaiting; at != NULL; at = at->next) {
            if (id_none(at->item->now.parent) && !cancel_by(batch, at->item, ended[i])) {
                items_add(&waits, at->item);
            }
        }
    }
    if (waits.count > 0) {
        settle_waiting(batch, waits.at, waits.count, ended[0]);
    }
    mem_free(waits.at);
}

/* ---- Rounds ---- */

static bool is_changed(const struct item *item)
{
    int before = item->looked != 0     ? item->looked
                 : item->order != NULL ? 0
                                       : 1 + (int)item->was.state;
    return before != 1 + (int)item->now.state || item->removed;
}

/* A new task waits for what is open of its dependencies; one that ended badly cancels it at once.
 */
static void begin_waiting(struct batch *batch, struct item *item)
{
    struct kin_list on;
    if (item->now.state != TASK_WAITING || !id_none(item->now.parent) ||
        !kin_dependencies(batch, item, &on)) {
        return;
    }
    for (size_t i = 0; i < on.count; i++) {
        if (cancel_by(batch, item, batch_peek(batch, on.at[i].id))) {
            return;
        }
    }
    count_anew(batch, item, on.at, on.count, item);
}

/* Parents of all that changed, loaded together. */
static void note_parents(struct batch *batch, const struct items *round)
{
    for (size_t i = 0; i < round->count; i++) {
        const struct item *item = round->at[i];
        if (!id_none(item->now.parent) && is_changed(item)) {
            batch_need(batch, item->now.parent, false);
        }
    }
    for (size_t i = 0; batch_load(batch) && i < round->count; i++) {
        const struct item *item = round->at[i];
        struct item *parent = id_none(item->now.parent) || !is_changed(item)
                                  ? NULL
                                  : batch_peek(batch, item->now.parent);
        if (parent != NULL && parent->found) {
            parent->cause = item->owner;
            flow_note(batch, parent);
        }
    }
}

static void run_round(struct batch *batch, struct items *round)
{
    struct item **ended = arena_array(&batch->arena, struct item *, round->count + 1);
    int *states = arena_array(&batch->arena, int, round->count + 1);
    size_t n = 0;
    for (size_t i = 0; i < round->count; i++) {
        states[i] = 1 + (int)round->at[i]->now.state;
    }
    note_parents(batch, round);
    if (!batch_ok(batch) || !kin_families(batch, round->at, round->count)) {
        return;
    }
    for (size_t i = 0; batch_ok(batch) && i < round->count; i++) {
        struct item *item = round->at[i];
        if (item->order != NULL && item->looked == 0) {
            begin_waiting(batch, item);
        }
        /* Did it end, live again, or go since it was last looked at? */
        bool was_over = item->looked != 0     ? task_state_terminal(item->looked - 1)
                        : item->order != NULL ? false
                                              : task_state_terminal(item->was.state);
        if (was_over != task_state_terminal(item->now.state) || item->removed) {
            ended[n++] = item;
        }
        item->looked = states[i]; /* what others of this round do to it is seen in the next */
        if (item->now.container) {
            settle_family(batch, item);
        }
    }
    if (batch_ok(batch)) {
        follow_dependents(batch, ended, n, TASK_ID_NONE);
    }
}

/* New tasks are answered as they stand now. What says why one has ended already must outlive this
 * batch. */
static void settle_orders(struct batch *batch)
{
    for (size_t i = 0; batch->walk.born_changed && i < batch->walk.born.count; i++) {
        struct item *item = batch->walk.born.at[i];
        if (item->order == NULL) {
            continue; /* a hold that began at once, see guest_open() */
        }
        const struct task_id *depends = item->order->task.depends;
        size_t depends_count = item->order->task.depends_count;
        item->order->task =
            task_state_terminal(item->now.state) ? task_copy(item->arena, &item->now) : item->now;
        item->order->task.depends = depends;
        item->order->task.depends_count = depends_count;
    }
    batch->walk.born_changed = false;
}

void flow_follow(struct batch *batch)
{
    while (batch->walk.next.count > 0 && batch_ok(batch)) {
        struct items round = batch->walk.next;
        batch->walk.next = (struct items){0};
        for (size_t i = 0; i < round.count; i++) {
            round.at[i]->walks = false;
        }
        run_round(batch, &round);
        mem_free(round.at);
    }
    settle_orders(batch);
}

/* ---- What is left for later ---- */

static bool has(const struct unfollowed_list *list, struct task_id id)
{
    for (size_t i = 0; i < list->count; i++) {
        if (id_eq(list->at[i].id, id)) {
            return true;
        }
    }
    return false;
}

/* Another node may have left something behind and died: the leader takes it on. */
static void take_on(struct batch *batch)
{
    struct engine *engine = batch->engine;
    struct err err = ERR_INIT;
    struct records left;
    int64_t next_ms;
    if (!engine->shared || engine->epoch == 0 || batch->now.mono_ms < engine->unfollowed_look_ms ||
        !batch_begin(batch)) {
        return;
    }
    engine->unfollowed_look_ms = batch->now.mono_ms + FOLLOW_TAKEN_ON_MS;
    if (!tx_records_due(batch->tx, RECORD_FOLLOW, batch->now.wall_ms, FOLLOW_MAX, &batch->arena,
                        &left, &next_ms, &err)) {
        batch_fail_store(batch, &err);
        return;
    }
    for (size_t i = 0; i < left.count; i++) {
        if (!has(&batch->walk.unfollowed, left.at[i].id)) {
            leave(batch, left.at[i].id, TASK_ID_NONE);
        }
    }
}

void flow_resume(struct batch *batch)
{
    const struct unfollowed_list *before = &batch->engine->unfollowed;
    for (size_t i = 0; batch_ok(batch) && i < before->count; i++) {
        const struct unfollowed *left = &before->at[i];
        struct item *item = batch->walk.left > 0 ? batch_item(batch, left->id) : NULL;
        if (item == NULL) {
            leave(batch, left->id, left->after);
        } else if (item->found && !item->removed) {
            follow_dependents(batch, &item, 1, left->after);
            batch->writes = true;
        }
    }
    take_on(batch);
}

bool flow_save(struct batch *batch, struct err *err)
{
    const struct unfollowed_list *before = &batch->engine->unfollowed,
                                 *after = &batch->walk.unfollowed;
    for (size_t i = 0; i < after->count; i++) {
        struct record record = {.kind = RECORD_FOLLOW,
                                .id = after->at[i].id,
                                .due_ms = batch->now.wall_ms + FOLLOW_TAKEN_ON_MS,
                                .body = STR("{}")};
        struct record_save save = {.record = &record};
        /* Not applied: it is on record already, by another node. */
        if (!has(before, after->at[i].id) && !tx_records_save(batch->tx, &save, 1, err)) {
            return false;
        }
    }
    for (size_t i = 0; i < before->count; i++) {
        if (!has(after, before->at[i].id) &&
            !tx_records_delete(batch->tx, RECORD_FOLLOW, &before->at[i].id, 1, err)) {
            return false;
        }
    }
    return true;
}

void flow_publish(struct batch *batch)
{
    struct unfollowed_list old = batch->engine->unfollowed;
    batch->engine->unfollowed = batch->walk.unfollowed;
    batch->walk.unfollowed = old; /* freed with the batch */
}

bool flow_unfinished(const struct engine *engine)
{
    return engine->unfollowed.count > 0;
}

bool flow_boot(struct engine *engine, struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(tx_close) struct tx *tx = NULL;
    struct records left;
    struct record_filter all = {.kind = RECORD_FOLLOW, .oldest_first = true};
    if (engine->shared) {
        return true; /* the leader takes it on */
    }
    if (!store_begin(engine->store, &tx, err) || !tx_records_list(tx, &all, &arena, &left, err)) {
        return false;
    }
    engine->unfollowed.at = mem_array(NULL, left.count + 1, sizeof *engine->unfollowed.at);
    engine->unfollowed.room = left.count + 1;
    for (size_t i = 0; i < left.count; i++) {
        engine->unfollowed.at[engine->unfollowed.count++] =
            (struct unfollowed){left.at[i].id, TASK_ID_NONE};
    }
    return true;
}
