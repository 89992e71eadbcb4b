/* queue/flow_later.c: a task with very many dependents is followed in slices.
 *
 * One commit looks at FOLLOW_MAX of them at most; the others are told in commits of their own, and
 * commands are served in between. That some are left is on record, in the commit that leaves them,
 * until the last one was told. A slice reads how the task stands by then, and to tell somebody
 * twice changes nothing, so only the name of the task is kept: after a crash its dependents are
 * gone through from the first.
 *
 * Thread: engine. Keeps: I6.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "queue/flow.h"
#include "queue/kin.h"
#include "store/record.h"

static void leave(struct batch *batch, struct task_id id, struct task_id after)
{
    struct unfollowed_list *list = &batch->unfollowed;
    if (list->count == list->room) {
        list->room = MAX(list->room * 2, (size_t)16);
        list->at = mem_array(list->at, list->room, sizeof *list->at);
    }
    list->at[list->count++] = (struct unfollowed){id, after};
    batch->writes = true;
}

/* Cuts the list where the batch has looked at enough; what is behind the cut is left for later. */
void flow_cut(struct batch *batch, struct item **ended, size_t count, struct kin_list *kin)
{
    if (kin->count <= batch->follow_left) {
        batch->follow_left -= kin->count;
        return;
    }
    size_t kept = batch->follow_left, from = kin->at[kept].of;
    bool begun = kept > 0 && kin->at[kept - 1].of == from;
    leave(batch, ended[from]->id, begun ? kin->at[kept - 1].id : TASK_ID_NONE);
    for (size_t i = from + 1; i < count; i++) {
        leave(batch, ended[i]->id, TASK_ID_NONE);
    }
    kin->count = kept;
    batch->follow_left = 0;
}

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
        if (!has(&batch->unfollowed, left.at[i].id)) {
            leave(batch, left.at[i].id, TASK_ID_NONE);
        }
    }
}

void flow_resume(struct batch *batch)
{
    const struct unfollowed_list *before = &batch->engine->unfollowed;
    for (size_t i = 0; batch_ok(batch) && i < before->count; i++) {
        const struct unfollowed *left = &before->at[i];
        struct item *item = batch->follow_left > 0 ? batch_item(batch, left->id) : NULL;
        if (item == NULL) {
            leave(batch, left->id, left->after);
        } else if (item->found && !item->removed) {
            flow_dependents(batch, &item, 1, left->after);
            batch->writes = true;
        }
    }
    take_on(batch);
}

bool flow_save(struct batch *batch, struct err *err)
{
    const struct unfollowed_list *before = &batch->engine->unfollowed, *after = &batch->unfollowed;
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
    batch->engine->unfollowed = batch->unfollowed;
    batch->unfollowed = old; /* freed with the batch */
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
