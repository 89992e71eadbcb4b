/* queue/why.c: why a task does not run; who holds a document, and who waits for it.
 *
 * One node's memory knows: the broker has the lines, the deadlines have the workers; of a family,
 * and of a run function that did not stop, the row says since when. Among several nodes only the
 * rows know. Nothing here writes.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/decide.h"
#include "queue/document.h"
#include "queue/engine.h"
#include "queue/kin.h"
#include "store/fleet.h"

/* ---- Documents ---- */

static void view_holder(struct batch *batch, struct arena *arena, struct document_view *view)
{
    struct due_entry *entry = due_find(&batch->engine->due, view->task);
    if (entry == NULL || entry->worker == NULL) { /* a family, or an attempt that is over */
        struct item *item = batch_item(batch, view->task);
        if (item == NULL || !item->found) {
            return;
        }
        view->since_ms = item->now.started_ms;
        /* A family's document is held under the attempt of its next. */
        const struct item *next = kin_next(batch, item);
        entry = next == NULL ? NULL : due_find(&batch->engine->due, next->id);
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
                                 .waiting_count = from->waiting_count,
                                 .line = (int64_t)from->line};
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
                                  .waiting_count = from->waiting_count,
                                  .line = from->line};
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
    if (!tx_documents(batch->tx, command->document.most, command->arena, &rows, &n, &err)) {
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
    size_t n =
        broker_documents(batch->engine->broker, command->document.most, &batch->arena, &found);
    command->document.all = arena_array(command->arena, struct document_view, n);
    command->document.count = n;
    for (size_t i = 0; i < n; i++) {
        struct broker_document whole;
        broker_document(batch->engine->broker, found[i].document, DOCUMENT_FIRST, command->arena,
                        &whole);
        command->document.all[i] = view_memory(batch, &whole, command->arena);
    }
}

void on_documents(struct batch *batch, struct command *command)
{
    command->document.count = 0;
    (batch->engine->shared ? list_rows : list_memory)(batch, command);
    batch_answer(batch, command);
}

/* ---- Why ---- */

static const char *const why_names[WHY_CODES] = {
    [WHY_DOCUMENT_LOCKED] = "document_locked",
    [WHY_DEPENDENCIES] = "dependencies",
    [WHY_PARENT] = "parent",
    [WHY_NOT_DUE] = "not_due",
    [WHY_RETRY_BACKOFF] = "retry_backoff",
    [WHY_QUEUE_PAUSED] = "queue_paused",
    [WHY_QUEUE_LIMIT] = "queue_limit",
    [WHY_WORKERS_BUSY] = "workers_busy",
    [WHY_NO_WORKER] = "no_worker",
};

const char *why_code_name(enum why_code code)
{
    return why_names[code];
}

static struct why_reason *add_reason(struct command *command, enum why_code code,
                                     struct str message)
{
    struct why_reason *reason = &command->why.reasons[command->why.count++];
    *reason = (struct why_reason){.code = code, .message = message, .ahead = -1};
    return reason;
}

static void why_later(struct command *command, const struct task *task)
{
    bool retry = task->state == TASK_RETRYING;
    struct str message = retry
                             ? arena_printf(command->arena, "retry %d of %d waits for its backoff",
                                            task->retries, task->max_retries)
                             : STR("it is not due yet");
    add_reason(command, retry ? WHY_RETRY_BACKOFF : WHY_NOT_DUE, message)->until_ms =
        task->scheduled_ms;
}

/* A turn has nobody who asks for it: it lets go first what stands before it (turn.h). */
static void why_line(struct command *command, const struct document_view *free,
                     const struct task *turn)
{
    char text[TASK_ID_TEXT];
    size_t ahead = 0;
    while (ahead < free->waiting_count && !id_eq(free->waiting[ahead], turn->id)) {
        ahead++;
    }
    if (ahead > 0) {
        struct why_reason *reason = add_reason(
            command, WHY_DOCUMENT_LOCKED,
            arena_printf(command->arena,
                         "its document " STR_FMT " goes to task %s first, %zu stand before it",
                         STR_ARG(turn->document), id_text(free->waiting[0], text).ptr, ahead));
        reason->task = free->waiting[0];
        reason->ahead = (int64_t)ahead;
    }
}

static void why_document(struct batch *batch, struct command *command, const struct task *task)
{
    struct document_view held;
    char text[TASK_ID_TEXT];
    if (str_absent(task->document) ||
        !document_look(batch, task->document, WAITING_MAX, &batch->arena, &held)) {
        return;
    }
    if (!held.locked && task_is_turn(task)) {
        why_line(command, &held, task);
    }
    if (!held.locked || (!id_none(task->family) && id_eq(held.task, task->family))) {
        return; /* nobody has it, or those do to whom the task belongs */
    }
    size_t ahead = document_ahead(batch, &held, task->id);
    struct why_reason *reason = add_reason(
        command, WHY_DOCUMENT_LOCKED,
        arena_printf(command->arena,
                     "its document " STR_FMT " is held by task %s%s" STR_FMT
                     ", %zu more ahead of it",
                     STR_ARG(task->document), id_text(held.task, text).ptr,
                     str_absent(held.worker) ? "" : " on worker ", STR_ARG(held.worker), ahead));
    reason->task = held.task;
    reason->worker = arena_str(command->arena, held.worker);
    reason->since_ms = held.since_ms;
    reason->ahead = (int64_t)ahead;
}

static void why_queue(struct batch *batch, struct command *command, const struct task *task)
{
    const struct command_claim asks = {.queues = &task->queue, .queues_count = 1};
    struct lane *lane =
        shared_load_rooms(batch, &asks) ? lane_find(&batch->engine->lanes, task->queue) : NULL;
    if (lane == NULL) {
        return;
    }
    if (lane->settings.paused) {
        add_reason(
            command, WHY_QUEUE_PAUSED,
            arena_printf(command->arena, "queue " STR_FMT " is paused", STR_ARG(task->queue)));
    } else if (lane_limited(lane, batch->now)) {
        add_reason(command, WHY_QUEUE_LIMIT,
                   arena_printf(command->arena, "queue " STR_FMT " is at its limit",
                                STR_ARG(task->queue)));
    }
}

/* Who asked this node for such tasks last and was told to claim no more; NULL: nobody. */
static const struct worker *quieted_last(const struct batch *batch, const struct task *task)
{
    const struct worker *last = NULL;
    LIST_EACH(&batch->engine->workers.recent, it)
    {
        const struct worker *worker = HOLDER(it, struct worker, recent);
        if (worker->asked_hash != 0 && worker->signal != SIGNAL_NONE &&
            wanted_takes(&worker->wanted, task->type, task->queue)) {
            last = worker; /* the one seen last is at the end */
        }
    }
    return last;
}

static void why_workers(struct batch *batch, struct command *command, const struct task *task)
{
    if (shared_somebody_takes(batch, task)) {
        if (command->why.count == 0) {
            add_reason(command, WHY_WORKERS_BUSY, STR("every worker that takes it is busy"));
        }
        return;
    }
    const struct worker *quieted = quieted_last(batch, task);
    if (quieted != NULL) {
        add_reason(command, WHY_NO_WORKER,
                   arena_printf(command->arena,
                                "worker " STR_FMT " asked %lld s ago and was told to %s",
                                STR_ARG(quieted->id),
                                (long long)(batch->now.mono_ms - quieted->seen_mono_ms) / SECOND_MS,
                                quieted->signal == SIGNAL_STOP ? "stop" : "be quiet"))
            ->worker = arena_str(command->arena, quieted->id);
        return;
    }
    add_reason(command, WHY_NO_WORKER,
               arena_printf(command->arena,
                            "no worker asked for type " STR_FMT " in queue " STR_FMT
                            " in the last 60 s",
                            STR_ARG(task->type), STR_ARG(task->queue)));
}

static void why_parent(struct command *command, const struct task *task)
{
    char text[TASK_ID_TEXT];
    struct why_reason *reason =
        add_reason(command, WHY_PARENT,
                   arena_printf(command->arena, "it waits for its turn among the children of %s",
                                id_text(task->parent, text).ptr));
    reason->task = task->parent;
}

static void why_dependencies(struct batch *batch, struct command *command, const struct task *task)
{
    struct task_dependency *on;
    size_t count;
    if (!kin_results(batch, task->id, &batch->arena, &on, &count)) {
        return;
    }
    struct why_reason *reason = add_reason(
        command, WHY_DEPENDENCIES,
        arena_printf(command->arena, "it waits for %d of %zu dependencies", task->unmet, count));
    reason->tasks = arena_array(command->arena, struct task_id, count);
    for (size_t i = 0; i < count; i++) {
        if (task->runs_anyway ? !task_state_terminal(on[i].state) : on[i].state != TASK_COMPLETED) {
            reason->tasks[reason->tasks_count++] = on[i].id;
        }
    }
}

/* What a task of a team waits for before the team has its document; NULL: it does not. */
static const struct task *turn_before(struct batch *batch, const struct task *task)
{
    struct task_dependency *on;
    size_t count;
    if (id_none(task->team) || !kin_results(batch, task->id, &batch->arena, &on, &count) ||
        count != 1) {
        return NULL;
    }
    const struct item *item = batch_peek(batch, on[0].id);
    return item != NULL && item->found && task_is_turn(&item->now) ? &item->now : NULL;
}

/* The turn that stands in line for this hold; the hold itself: there is none. */
static const struct task *turn_of(struct batch *batch, const struct task *hold)
{
    struct task_id *ids;
    size_t count;
    struct err err = ERR_INIT;
    struct task_filter filter = {.team = hold->team, .type = STR(TASK_TURN_TYPE), .limit = 1};
    if (!batch_begin(batch) || !tx_select(batch->tx, &filter, &batch->arena, &ids, &count, &err) ||
        count == 0) {
        return hold;
    }
    const struct item *item = batch_item(batch, ids[0]);
    return item == NULL || !item->found ? hold : &item->now;
}

/* A container that has begun waits for what the next below it waits for, a hold for its turn. */
static const struct task *who_waits(struct batch *batch, struct item *item)
{
    if (task_is_hold(&item->now)) {
        return turn_of(batch, &item->now);
    }
    const struct item *next = kin_next(batch, item);
    return next == NULL ? &item->now : &next->now;
}

static void why(struct batch *batch, struct command *command, const struct task *task)
{
    const struct task *turn = task->state == TASK_WAITING ? turn_before(batch, task) : NULL;
    if (task->state == TASK_SCHEDULED || task->state == TASK_RETRYING) {
        why_later(command, task);
    } else if (task->state == TASK_QUEUED) {
        why_queue(batch, command, task);
        why_document(batch, command, task);
        if (!task_is_turn(task)) {
            why_workers(batch, command, task);
        }
    } else if (turn != NULL) {
        why(batch, command, turn);
    } else if (task->state == TASK_WAITING && !id_none(task->parent)) {
        why_parent(command, task);
    } else if (task->state == TASK_WAITING) {
        why_dependencies(batch, command, task);
    }
}

void on_why(struct batch *batch, struct command *command)
{
    struct item *item;
    command->why.count = 0;
    command->why.reasons = arena_array(command->arena, struct why_reason, WHY_CODES);
    if (batch_find(batch, command->why.id, &item, &command->err)) {
        command->why.state = item->now.state;
        why(batch, command, item->now.state == TASK_QUEUED ? who_waits(batch, item) : &item->now);
    }
    batch_answer(batch, command);
}
