/* queue/publish.c: what a commit means for memory, for the broker, and for whoever watches.
 *
 * Everything follows from comparing each task as it was with what it has become, and it happens
 * after the commit: a batch that failed leaves no trace. Two kinds of hints are changed earlier,
 * and put back if the batch comes to nothing: what a claim was proposed is taken from the broker
 * (propose.c), and documents are locked for others to see (claim.c). Where nothing was changed, but
 * found to be so, shared.c and boot.c use the single consequences of publish.h.
 *
 * Thread: engine. Keeps: I4, I5 in memory; every change of state is told once.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/publish.h"

#include <assert.h>

#include "base/array.h"
#include "queue/engine.h"
#include "queue/guests.h"

#define ALONE_MAX 16 /* tasks of a batch that others hear of before it is answered */

/* ---- What always holds ----
 *
 * Whatever is about to be published was decided by us: where one of these is broken the mistake is
 * ours, and it is on disk. I2, I5 and I7 are the store's to keep (documents, counters); here is
 * what this batch can know of them. */

static bool is_sound(const struct task *task)
{
    bool runs = task->state == TASK_RUNNING && !task->container;
    bool limited = task->max_retries != TASK_RETRIES_UNLIMITED;
    return (!limited || task->retries <= task->max_retries)                               /* I3 */
           && (!runs || (task->token != 0 && task->attempt > 0 && task->worker.len > 0)); /* I4 */
}

static bool changed_soundly(const struct item *item)
{
    const struct task *was = &item->was, *now = &item->now;
    bool ran = was->state == TASK_RUNNING && !was->container;
    return is_sound(now) && (was->state != TASK_COMPLETED || now->state == TASK_COMPLETED) /* I1 */
           && (!ran || now->state == TASK_RUNNING || item->ended)  /* I4: so does its lease */
           && (!item->strays || item->ended || now->container)     /* I5 */
           && (!item->removed || task_state_terminal(now->state)); /* I1 */
}

/* I6: all consequences were drawn. What claims met was new, and has none. */
static bool is_followed(const struct batch *batch)
{
    bool followed =
        batch->engine->with.guests_count == 0 || batch->orders_told == batch->orders_count;
    for (size_t i = 0; i < batch->walk.next.count; i++) {
        followed = followed && batch->walk.next.at[i]->fresh;
    }
    return followed;
}

/* ---- Telling ---- */

static void tell_item(struct batch *batch, const struct item *item)
{
    const struct task *now = &item->now;
    struct event *event;
    if (item->removed && (event = publish_event(batch, EVENT_STATE, now)) != NULL) {
        event->removed = true;
    }
    if (!str_absent(item->log) && (event = publish_event(batch, EVENT_LOG, now)) != NULL) {
        event->text = arena_str(&batch->events->arena, item->log);
    }
    bool progressed = item->was.state == TASK_RUNNING && now->state == TASK_RUNNING &&
                      (now->progress != item->was.progress ||
                       !str_eq(now->progress_message, item->was.progress_message));
    if (progressed && (event = publish_event(batch, EVENT_PROGRESS, now)) != NULL) {
        event->percent = now->progress;
        event->text = arena_str(&batch->events->arena, now->progress_message);
    }
    if (now->state != item->was.state) {
        publish_event(batch, EVENT_STATE, now);
    }
    if (now->cancel_requested && !item->was.cancel_requested && batch->engine->shared) {
        publish_event(batch, EVENT_CANCEL, now);
    }
}

static void tell_queue(struct batch *batch, const struct command_queue *change)
{
    struct task none = {.queue = change->name};
    struct event *event = publish_event(batch, EVENT_QUEUE, &none);
    if (event != NULL) {
        event->text = !change->has_paused            ? STR("changed")
                      : change->view.settings.paused ? STR("paused")
                                                     : STR("resumed");
    }
}

/* ---- Remembering ---- */

static struct task_id holder_of(const struct task *task)
{
    return id_none(task->family) ? task->id : task->family;
}

/* The value of its document's lock, for others to see: the attempt's lease, or the family's id. */
struct str publish_lock(const struct task *task, char out[static LOCK_TEXT])
{
    return id_none(task->family) && !task->container
               ? task_lease_text((struct task_lease){task->attempt, task->token}, out)
               : id_text(holder_of(task), out);
}

void publish_hold(struct engine *engine, const struct task *task)
{
    char lock[LOCK_TEXT];
    if (!str_absent(task->document)) {
        broker_hold(engine->broker, task->document, holder_of(task), publish_lock(task, lock));
    }
}

/* A family that holds its document already hands it from child to child: they need not stand in
 * line. */
static bool family_holds(struct engine *engine, const struct task *task)
{
    struct broker_document found;
    if (id_none(task->family) || str_absent(task->document)) {
        return false;
    }
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    broker_document(engine->broker, task->document, 0, &arena, &found);
    return found.held && id_eq(found.holder, task->family);
}

void publish_offer(struct engine *engine, const struct task *task)
{
    /* A container is never claimed itself; a task whose last run function still works, or that of
     * an elder sibling on their document, is offered when that has returned. */
    bool sibling_strays = !id_none(task->parent) && !id_none(task->family) &&
                          stray_holds(&engine->strays, task->family);
    if (task->container || sibling_strays || stray_find(&engine->strays, task->id) != NULL) {
        return;
    }
    if (task_is_turn(task)) {
        turn_add(engine, task);
    }
    broker_offer(engine->broker,
                 &(struct hint){.id = task->id,
                                .type = task->type,
                                .queue = task->queue,
                                .document = family_holds(engine, task) ? STR_NONE : task->document,
                                .priority = task->priority,
                                .queued_ms = task->queued_ms});
}

void publish_clear_due(struct engine *engine, struct task_id id)
{
    struct due_entry *entry = due_find(&engine->due, id);
    if (entry != NULL && entry->worker != NULL) {
        list_remove(&entry->of_worker);
    }
    if (entry != NULL) {
        due_remove(&engine->due, entry);
    }
}

/* Sets or removes what the task waits for, and links a running one to its worker. */
void publish_set_due(struct engine *engine, const struct task *task, enum due_from from,
                     struct now now)
{
    struct due_entry *entry = due_find(&engine->due, task->id);
    if (entry != NULL && entry->worker != NULL) {
        list_remove(&entry->of_worker);
        entry->worker = NULL;
    }
    bool held_back = task->state == TASK_RETRYING && stray_find(&engine->strays, task->id) != NULL;
    struct due_entry *set =
        held_back ? NULL : due_set(&engine->due, task, from, engine->with.grace_ms, now);
    if (set == NULL && entry != NULL) {
        due_remove(&engine->due, entry);
    }
    if (set != NULL && task->state == TASK_RUNNING) {
        set->worker = worker_get(&engine->workers, task->worker);
        list_append(&set->worker->attempts, &set->of_worker);
    }
}

static void enter_running(struct batch *batch, struct lane *lane, const struct task *now)
{
    struct engine *engine = batch->engine;
    struct now at = batch->now;
    if (now->container) { /* it has no attempt; of others the first child takes the document */
        if (task_is_hold(now)) {
            publish_hold(engine, now);
        }
        return;
    }
    lane_started(lane, at);
    engine->in_server += shared_is_own(engine, now->worker);
    type_book_started(&engine->types, now);
    histogram_add(&lane->wait, now->started_ms - now->queued_ms);
    histogram_add(&engine->series.own.wait, now->started_ms - now->queued_ms);
    engine->series.own.started++;
    rates_add(engine->rates.started, &engine->rates, at, 1);
    /* A broker that proposed it holds its document already; a lock that others see lives only
     * seconds until it is confirmed. */
    if (!id_none(now->family) || engine->shared || batch->asked_rows) {
        publish_hold(engine, now);
    }
}

static void tell_ended(const struct engine *engine, const struct task *was, const struct task *now)
{
    const struct engine_host *host = &engine->with.host;
    if (host->ended != NULL) {
        host->ended(host->ended_arg, was, now);
    }
}

static void count_end(struct engine *engine, struct lane *lane, const struct item *item)
{
    const struct task *was = &item->was, *now = &item->now;
    assert(engine->shared || lane->running > 0); /* I7 */
    lane->running = MAX(lane->running - 1, 0);   /* in a fleet another node may have started it */
    engine->in_server -= shared_is_own(engine, was->worker);
    lane->outcomes[now->outcome]++;
    lane->completed += now->state == TASK_COMPLETED;
    type_book_ended(&engine->types, now, now->attempt_ended_ms - was->started_ms);
    histogram_add(&lane->run, now->attempt_ended_ms - was->started_ms);
    histogram_add(&engine->series.own.run, now->attempt_ended_ms - was->started_ms);
    tell_ended(engine, was, now);
}

static void leave_running(struct engine *engine, struct lane *lane, const struct item *item)
{
    const struct task *was = &item->was;
    char lock[LOCK_TEXT];
    if (!was->container) {
        count_end(engine, lane, item);
        lane_wake(&engine->lanes, lane); /* a place below maxConcurrent has become free */
        if (item->strays) {
            stray_add(&engine->strays, was, publish_lock(was, lock));
        }
    }
    /* Only the holder itself gives its document on: a family keeps it until it is over. */
    if (!item->strays && id_none(was->family) && !str_absent(was->document)) {
        broker_let_go(engine->broker, was->document, holder_of(was), publish_lock(was, lock));
        turns_left(engine, was->document); /* also where the broker cannot say so */
    }
}

/* The row that this batch changed did not know the attempt that runs here: see failover.c. */
static void stop_unknown(struct engine *engine, const struct item *item, struct now at)
{
    const struct due_entry *entry = due_find(&engine->due, item->id);
    struct engine_host *host = &engine->with.host;
    if (host->abort != NULL && failover_runs_unknown(engine, entry, &item->was)) {
        failover_stops(engine, at);
        host->abort(host->abort_arg, entry->id, entry->attempt, ABORT_LOST);
    }
}

static void note_change(struct batch *batch, const struct item *item)
{
    struct engine *engine = batch->engine;
    struct now at = batch->now;
    const struct task *was = &item->was, *now = &item->now;
    bool taken = item->taken && !batch->asked_rows; /* the rows know nothing of hints */
    stop_unknown(engine, item, at);
    series_moved(&engine->series, was->state, now->state);
    struct lane *lane = lane_get(&engine->lanes, now->queue);
    bool moved = now->state == TASK_QUEUED && now->priority != was->priority;
    if (was->state == TASK_QUEUED && (now->state != TASK_QUEUED || moved) && !taken &&
        !item->fresh) {
        broker_withdraw(engine->broker, &(struct hint){.id = item->id,
                                                       .queue = was->queue,
                                                       .type = was->type,
                                                       .document = was->document,
                                                       .priority = was->priority});
        turns_left(engine, now->document);
    }
    if (now->state != TASK_QUEUED && task_is_turn(now)) {
        turn_forget(engine, now->id);
    }
    if (was->state == TASK_RUNNING && now->state != TASK_RUNNING) {
        leave_running(engine, lane, item);
    }
    if (now->state == TASK_RUNNING && was->state != TASK_RUNNING) {
        enter_running(batch, lane, now);
    }
    if (now->state == TASK_QUEUED) {
        publish_offer(engine, now);
    }
    if (engine->shared && item->renewed && was->state == now->state && id_none(now->family)) {
        publish_hold(engine, now); /* renews the lock that others see */
    }
    if (task_state_terminal(now->state) && !task_state_terminal(was->state)) {
        rates_add(engine->rates.finished, &engine->rates, at, 1);
        janitor_note_end(engine, now);
        if ((now->state == TASK_FAILED || now->state == TASK_TIMEOUT) && !now->container) {
            lane->failed++;
            type_book_of(&engine->types, now->type)->failed++;
            journal_failed(&engine->journal, now, at.mono_ms);
        }
    }
    lane->live += !task_state_terminal(now->state) - !task_state_terminal(was->state);
    assert(engine->shared || lane->live >= 0); /* I7 */
    lane_settle(&engine->lanes, lane);
    bool renewed = item->renewed || was->state != now->state;
    publish_set_due(engine, now, renewed ? DUE_WRITTEN : DUE_SAME, at);
}

static void keep_at_hand(struct batch *batch, bool partly, const struct task *now)
{
    struct engine *engine = batch->engine;
    if (partly) {
        hot_forget(&engine->hot, now->id);
    } else if (!engine->shared) {
        hot_keep(&engine->hot, now, batch->now);
    }
}

static void publish_items(struct batch *batch)
{
    for (size_t i = 0; i < batch->all_count; i++) {
        struct item *item = batch->all[i];
        if (item->owner == NULL || item->fresh || item->order != NULL) {
            continue;
        }
        assert(changed_soundly(item));
        keep_at_hand(batch, item->removed || !item->has_whole, &item->now);
        if (!item->removed) {
            note_change(batch, item);
        }
        tell_item(batch, item);
    }
}

/* A guest may have done its work before it was even written down. */
static void note_born_done(struct engine *engine, const struct task *task, struct now at)
{
    struct lane *lane = lane_get(&engine->lanes, task->queue);
    janitor_note_end(engine, task);
    if (task->attempt > 0) {
        lane->outcomes[task->outcome]++;
        lane->completed += task->state == TASK_COMPLETED;
        type_book_ended(&engine->types, task, task->attempt_ended_ms - task->started_ms);
        tell_ended(engine, task, task);
        rates_add(engine->rates.finished, &engine->rates, at, 1);
    }
}

static void publish_new(struct batch *batch, const struct task *task)
{
    struct engine *engine = batch->engine;
    assert(is_sound(task));
    if (task->state == TASK_QUEUED) {
        publish_offer(engine, task);
    } else if (task_state_terminal(task->state)) {
        note_born_done(engine, task, batch->now);
    }
    publish_set_due(engine, task, DUE_WRITTEN, batch->now);
    publish_event(batch, EVENT_STATE, task);
}

static void publish_orders(struct batch *batch)
{
    struct engine *engine = batch->engine;
    for (size_t i = 0; i < batch->orders_count; i++) {
        const struct task *task = &batch->orders[i]->task;
        const struct item *met = batch_met(batch, batch->orders[i]);
        struct lane *lane = lane_get(&engine->lanes, task->queue);
        lane->enqueued++;
        type_book_created(&engine->types, task);
        series_born(&engine->series, task->state);
        lane->live += !task_state_terminal(task->state);
        lane_settle(&engine->lanes, lane);
        if (met == NULL) {
            publish_new(batch, task);
            keep_at_hand(batch, false, task);
        } else { /* queued and started in one step; whoever watches is told of both */
            assert(changed_soundly(met));
            publish_event(batch, EVENT_STATE, task);
            note_change(batch, met);
            keep_at_hand(batch, false, &met->now);
            tell_item(batch, met);
        }
    }
    rates_add(engine->rates.created, &engine->rates, batch->now, (uint32_t)batch->orders_count);
}

/* A proposal is settled: what started is counted as running, what nobody touched is ready again, a
 * stale hint lets its document go. */
static void settle_hint(struct batch *batch, const struct hint *hint)
{
    const struct item *item = batch_item(batch, hint->id);
    struct broker *broker = batch->engine->broker;
    claim_reserve(batch, hint, -1);
    if (item == NULL || item->parked || item->refused) {
        if (item != NULL && item->refused) {
            shared_offer_later(batch->engine, hint);
        }
        return;
    }
    if (item->was.state == TASK_RUNNING || item->now.state != TASK_RUNNING) {
        lanes_wake(&batch->engine->lanes, hint->queue); /* the place it did not take is another's */
    }
    /* A turn has come, and its hold may have ended in the same batch: then it has nothing to hold.
     */
    bool came = item->claim != NULL && item->now.state == TASK_COMPLETED;
    const struct item *hold = came ? batch_item(batch, item->now.family) : NULL;
    bool unchanged = item->found && item->owner == NULL && item->now.state == TASK_QUEUED &&
                     !item->now.container;
    if (unchanged && batch->asked_rows) {
        publish_offer(batch->engine, &item->now); /* its row cannot say who holds its document */
    } else if (unchanged) {
        broker_give_back(broker, hint);
    } else if (hold != NULL && hold->now.state == TASK_RUNNING) {
        publish_hold(batch->engine, &item->now); /* the document is its family's now */
    } else if ((item->now.state != TASK_RUNNING || item->now.container) &&
               !str_absent(hint->document)) {
        broker_let_go(broker, hint->document, hint->id, STR_NONE);
    }
}

static void publish_queues(struct batch *batch)
{
    struct lanes *lanes = &batch->engine->lanes;
    for (size_t i = 0; i < batch->queue_changes_count; i++) {
        struct command_queue *change = batch->queue_changes[i];
        lane_configure(lanes, lane_get(lanes, change->name), &change->view.settings, false,
                       batch->now);
        tell_queue(batch, change);
    }
}

/* Run functions that were given up have returned: their tasks go on as they stand. */
static void publish_strays(struct batch *batch)
{
    struct engine *engine = batch->engine;
    for (size_t i = 0; i < batch->returned_count; i++) {
        struct stray *stray = stray_find(&engine->strays, batch->returned[i]);
        struct item *item = batch_item(batch, batch->returned[i]);
        if (stray == NULL) {
            continue;
        }
        if (stray->frees) {
            broker_let_go(engine->broker, stray->document, stray->holder, str_of(stray->lock));
        }
        stray_remove(&engine->strays, stray);
        bool there = item->found && !item->removed;
        if (there && item->now.state == TASK_QUEUED) {
            publish_offer(engine, &item->now);
        }
        if (there) {
            publish_set_due(engine, &item->now, DUE_WRITTEN, batch->now);
        }
        const struct item *next = batch_peek(batch, batch->returned_next[i]);
        if (next != NULL && next->found && next->now.state == TASK_QUEUED) {
            publish_offer(engine, &next->now);
        }
    }
}

void publish_aborts(struct batch *batch, bool committed)
{
    struct engine_host *host = &batch->engine->with.host;
    for (size_t i = 0; host->abort != NULL && i < batch->aborts_count; i++) {
        const struct abort *abort = &batch->aborts[i];
        if (committed || abort->why == ABORT_TIMEOUT) {
            host->abort(host->abort_arg, abort->id, abort->attempt, abort->why);
        }
    }
}

void publish(struct batch *batch)
{
    struct engine *engine = batch->engine;
    assert(batch_ok(batch) && !batch->lost && is_followed(batch));
    janitor_swept(batch); /* before the ends of this batch, which it has not seen */
    claims_met(batch, true);
    for (size_t i = 0; i < batch->proposals_count; i++) {
        for (size_t j = 0; j < batch->proposals[i].count; j++) {
            settle_hint(batch, &batch->proposals[i].hints[j]);
        }
    }
    publish_items(batch);
    publish_orders(batch);
    publish_queues(batch);
    publish_strays(batch);
    flow_publish(batch);
    publish_aborts(batch, true);
    /* Who is told of a new task can claim it on any node at once. Where many come together their
     * answers go first, and clients and the broker work at the same time (engine_step). */
    if (batch->all_count + batch->orders_count <= ALONE_MAX) {
        broker_flush(engine->broker);
    }
    lanes_trim(&engine->lanes);
    guests_settle(batch, true);
    engine->events = batch->events;
    batch->events = NULL;
}
