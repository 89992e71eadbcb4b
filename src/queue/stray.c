/* queue/stray.c: run functions that were told to stop and still run. See stray.h.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/stray.h"

#include "base/mem.h"
#include "queue/decide.h"
#include "queue/engine.h"
#include "queue/kin.h"

struct stray *stray_find(const struct strays *strays, struct task_id id)
{
    struct map_node *node = map_find(&strays->by_id, id_hash(id));
    while (node != NULL && !id_eq(HOLDER(node, struct stray, node)->id, id)) {
        node = map_again(node);
    }
    return node == NULL ? NULL : HOLDER(node, struct stray, node);
}

void stray_add(struct strays *strays, const struct task *task, struct str lock)
{
    struct stray *stray = mem_new(struct stray);
    stray->id = task->id;
    stray->holder = id_none(task->family) ? task->id : task->family;
    memcpy(stray->lock, lock.ptr, MIN(lock.len, sizeof stray->lock - 1));
    if (!str_absent(task->document)) {
        stray->document =
            (struct str){mem_text(task->document.ptr, task->document.len), task->document.len};
    }
    map_add(&strays->by_id, &stray->node, id_hash(task->id));
}

bool stray_holds(const struct strays *strays, struct task_id holder)
{
    struct map_walk at = MAP_WALK;
    for (struct map_node *node; (node = map_walk(&strays->by_id, &at)) != NULL;) {
        const struct stray *stray = HOLDER(node, struct stray, node);
        if (id_eq(stray->holder, holder) && stray->returned_in != strays->batch) {
            return true;
        }
    }
    return false;
}

/* Does its return free the document? Not while another stray works on it, nor while its family goes
 * on: that gives it on in the end. */
static bool stray_is_last(struct batch *batch, const struct stray *stray)
{
    if (id_eq(stray->holder, stray->id)) {
        return true;
    }
    const struct item *holder = batch_item(batch, stray->holder);
    bool goes_on = holder != NULL && holder->found && holder->now.state == TASK_RUNNING;
    return !goes_on && !stray_holds(&batch->engine->strays, stray->holder);
}

void stray_remove(struct strays *strays, struct stray *stray)
{
    map_remove(&strays->by_id, &stray->node);
    mem_free((char *)stray->document.ptr);
    mem_free(stray);
}

void strays_fini(struct strays *strays)
{
    struct map_walk at = MAP_WALK;
    for (struct map_node *node; (node = map_walk(&strays->by_id, &at)) != NULL;) {
        stray_remove(strays, HOLDER(node, struct stray, node));
    }
    map_fini(&strays->by_id);
}

/* Frees the document in the store first: only what is committed may be given on. The commit is a
 * batch of its own kind, so the rest follows in publish_strays() at once. */
void on_returned(struct batch *batch, struct command *command)
{
    struct engine *engine = batch->engine;
    struct stray *stray = stray_find(&engine->strays, command->returned.id);
    struct err err = ERR_INIT;
    struct item *next = NULL;
    if (stray != NULL) {
        stray->returned_in = engine->strays.batch;
        stray->frees = !str_absent(stray->document) && stray_is_last(batch, stray);
        struct item *holder = batch_item(batch, stray->holder);
        next = holder != NULL && holder->found ? kin_next(batch, holder) : NULL;
    }
    batch->returned_next[batch->returned_count] = next == NULL ? TASK_ID_NONE : next->id;
    if (stray == NULL || !stray->frees) {
        batch->returned[batch->returned_count++] = command->returned.id;
    } else if (batch_begin(batch)) {
        if (tx_free_document(batch->tx, stray->document, stray->holder, &err)) {
            batch->returned[batch->returned_count++] = command->returned.id;
            batch->writes = true;
        } else {
            batch_fail_store(batch, &err);
        }
    }
    batch_need(batch, command->returned.id, false);
    batch_load(batch);
    batch_answer(batch, command);
}
