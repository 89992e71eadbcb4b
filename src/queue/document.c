/* queue/document.c: who holds a document and who waits for it.
 *
 * One node's memory knows: the broker has the lines, the deadlines have the workers; of a batch,
 * and of a run function that did not stop, the row says since when. Among several nodes only the
 * rows know.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/engine.h"
#include "queue/kin.h"
#include "store/fleet.h"

/* The attempt under which a document is held: the holder's own, or that of its family's next. */
static struct due_entry *attempt_of(struct batch *batch, struct item *holder)
{
    const struct item *next = kin_next(batch, holder);
    return next == NULL ? NULL : due_find(&batch->engine->due, next->id);
}

static void view_holder(struct batch *batch, struct arena *arena, struct document_view *view)
{
    struct due_entry *entry = due_find(&batch->engine->due, view->task);
    if (entry == NULL || entry->worker == NULL) { /* a batch, or an attempt that is over */
        struct item *item = batch_item(batch, view->task);
        if (item == NULL || !item->found) {
            return;
        }
        view->since_ms = item->now.started_ms;
        entry = attempt_of(batch, item);
    } else {
        view->since_ms = entry->started_ms;
    }
    if (entry != NULL && entry->worker != NULL) {
        view->worker = arena_str(arena, entry->worker->id);
    }
}

static struct document_view view_memory(struct batch *batch, const struct broker_document *from,
                                        struct arena *arena)
{
    struct document_view view = {.document = arena_str(arena, from->document),
                                 .locked = from->held,
                                 .worker = STR_NONE,
                                 .waiting = from->waiting,
                                 .waiting_count = from->waiting_count};
    if (from->held) {
        view.task = from->holder;
        view_holder(batch, arena, &view);
    }
    return view;
}

static struct document_view view_row(const struct store_document *from)
{
    return (struct document_view){.document = from->document,
                                  .locked = from->held,
                                  .task = from->holder,
                                  .worker = from->worker,
                                  .since_ms = from->since_ms,
                                  .waiting = from->waiting,
                                  .waiting_count = from->waiting_count};
}

bool document_look(struct batch *batch, struct str document, size_t most, struct arena *arena,
                   struct document_view *out)
{
    struct err err = ERR_INIT;
    struct store_document row;
    struct broker_document found;
    if (!batch->engine->shared) {
        broker_document(batch->engine->broker, document, most, arena, &found);
        found.document = document;
        *out = view_memory(batch, &found, arena);
        return true;
    }
    if (!batch_begin(batch)) {
        return false;
    }
    if (!tx_document(batch->tx, document, most, arena, &row, &err)) {
        batch_fail_store(batch, &err);
        return false;
    }
    *out = view_row(&row);
    return true;
}

size_t document_ahead(struct batch *batch, const struct document_view *view, struct task_id id)
{
    if (!batch->engine->shared) {
        return broker_ahead(batch->engine->broker, id);
    }
    size_t ahead = 0;
    while (ahead < view->waiting_count && !id_eq(view->waiting[ahead], id)) {
        ahead++;
    }
    return ahead;
}

void on_document(struct batch *batch, struct command *command)
{
    if (!document_look(batch, command->document.document, WAITING_MAX, command->arena,
                       &command->document.view)) {
        command->err = batch->err;
    }
    batch_answer(batch, command);
}

static void list_rows(struct batch *batch, struct command *command)
{
    struct err err = ERR_INIT;
    struct store_document *rows = NULL;
    size_t n = 0;
    if (!batch_begin(batch)) {
        return;
    }
    if (!tx_documents(batch->tx, DOCUMENTS_MAX, command->arena, &rows, &n, &err)) {
        batch_fail_store(batch, &err);
        return;
    }
    command->document.all = arena_array(command->arena, struct document_view, n);
    command->document.count = n;
    for (size_t i = 0; i < n; i++) {
        command->document.all[i] = view_row(&rows[i]);
    }
}

static void list_memory(struct batch *batch, struct command *command)
{
    struct broker_document *found;
    size_t n = broker_documents(batch->engine->broker, DOCUMENTS_MAX, &batch->arena, &found);
    command->document.all = arena_array(command->arena, struct document_view, n);
    command->document.count = n;
    for (size_t i = 0; i < n; i++) {
        command->document.all[i] = view_memory(batch, &found[i], command->arena);
    }
}

void on_documents(struct batch *batch, struct command *command)
{
    command->document.count = 0;
    (batch->engine->shared ? list_rows : list_memory)(batch, command);
    batch_answer(batch, command);
}
