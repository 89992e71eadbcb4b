/* queue/release.c: an operator takes a document from whoever holds it.
 *
 * The attempt that holds it is over: its lease is void, and its task is QUEUED again without using
 * a retry, at its old place. An attempt outside loses the document at once; it is told at its next
 * call. One inside a server is told to stop, and keeps the document until it has (G3), like one
 * that did not stop in time (stray.h); only the node it runs on can do that, so another one asks
 * it.
 *
 * A batch keeps its document while it has unfinished children: the child that runs is taken back,
 * and is the next to have it again. What has no attempt (a team's hold, a batch between two
 * attempts, a run function that was given up) cannot be taken back.
 *
 * Thread: engine. Keeps: G2, G3, I5.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/decide.h"
#include "queue/document.h"
#include "queue/engine.h"
#include "queue/kin.h"
#include "queue/publish.h"

/* The attempt that has the document; refused where there is none. */
static struct item *find_attempt(struct batch *batch, struct command *command)
{
    struct document_view view;
    struct err *err = &command->err;
    char text[TASK_ID_TEXT], team[TASK_ID_TEXT];
    if (!document_look(batch, command->release.document, 0, &batch->arena, &view)) {
        *err = batch->err;
        return NULL;
    }
    if (!view.locked) {
        err_set(err, ERR_CONFLICT, "nobody holds this document");
        return NULL;
    }
    struct item *holder = batch_item(batch, view.task);
    struct item *item = holder == NULL || !holder->found || task_is_hold(&holder->now)
                            ? holder
                            : kin_next(batch, holder);
    if (!batch_ok(batch)) {
        *err = batch->err;
        return NULL;
    }
    if (item != NULL && item->found && task_is_hold(&item->now)) {
        err_set(err, ERR_CONFLICT,
                "team %s holds this document until it has ended: cancel the team",
                id_text(item->now.team, team).ptr);
        return NULL;
    }
    if (item != NULL && item->found && item->now.state == TASK_RUNNING) {
        return item;
    }
    if (holder != NULL && holder->found && holder->now.state == TASK_RUNNING) {
        err_set(err, ERR_CONFLICT,
                "batch %s holds this document between two attempts: cancel it to have it given on",
                id_text(holder->id, text).ptr);
    } else {
        err_set(err, ERR_CONFLICT,
                "what ran for task %s was told to stop and still works on this document",
                id_text(view.task, text).ptr);
    }
    return NULL;
}

static void take_back(struct batch *batch, struct command *command, struct item *item)
{
    /* By the row alone it might be an attempt of the last process, which nobody has ended yet. */
    const struct due_entry *entry = due_find(&batch->engine->due, item->id);
    bool inside = entry != NULL && entry->kind != WORKER_REMOTE;
    int32_t attempt = item->now.attempt;
    if (!task_take_back(&item->now, batch->now.wall_ms, &command->err)) {
        return;
    }
    item->ended = true;
    item->strays = inside;
    batch_change(batch, item, command);
    if (inside) {
        batch_abort_attempt(batch, item->id, attempt, ABORT_LOST);
    }
    flow_follow(batch);
}

void on_release(struct batch *batch, struct command *command)
{
    struct command_release *release = &command->release;
    struct item *item;
    release->is_asked = false;
    flow_follow(batch); /* a child that an earlier command started has opened its parent */
    item = find_attempt(batch, command);
    if (item != NULL && item_busy(item, command)) {
        batch_defer(batch, command);
        return;
    }
    if (item != NULL) {
        bool remote = task_worker_kind(item->now.worker) == WORKER_REMOTE;
        bool own = remote || shared_is_own(batch->engine, item->now.worker);
        bool meant = !release->is_heard || release->attempt == item->now.attempt;
        if (own && meant) {
            take_back(batch, command, item);
        } else if (!own && !release->is_heard) {
            publish_event(batch, EVENT_RELEASE, &item->now);
            release->is_asked = true;
        }
    }
    batch_answer(batch, command);
}
