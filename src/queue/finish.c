/* queue/finish.c: what a worker says about the attempt it holds: alive, done, failed, given back.
 *
 * Thread: engine. Keeps: G2: only the current lease changes anything; whoever repeats itself is
 * told again what became of the task, whoever comes too late is refused.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/decide.h"
#include "queue/engine.h"
#include "queue/guests.h"

/* ---- Heartbeats ---- */

void prepare_heartbeat(struct batch *batch, struct command *command)
{
    batch_need(batch, command->heartbeat.id, false);
}

static bool heartbeat(struct batch *batch, struct item *item, struct command *command)
{
    struct command_heartbeat *beat = &command->heartbeat;
    /* What is left of the attempt's time-out, by the clock that does not jump (G9). */
    const struct due_entry *entry = due_find(&batch->engine->due, item->id);
    bool limited = entry != NULL && entry->timeout_at_ms != NEVER_MS;
    int64_t left_ms = limited ? MAX(entry->timeout_at_ms - batch->now.mono_ms, 0) : NEVER_MS;
    if (!task_renew(&item->now, beat->lease, beat->extend_ms, left_ms, batch->now.wall_ms,
                    &command->err)) {
        return false;
    }
    const struct worker *worker =
        worker_seen(&batch->engine->workers, item->now.worker, batch->now);
    beat->signal = MAX(worker->signal, batch->engine->draining ? SIGNAL_QUIET : SIGNAL_NONE);
    if (beat->progress >= 0 ||
        !str_absent(beat->message)) { /* a message alone leaves the percent */
        item->now.progress = beat->progress >= 0 ? beat->progress : item->now.progress;
        item->now.progress_message = beat->message;
    }
    if (!str_absent(beat->log)) { /* the store keeps its newest lines, up to a limit */
        item->log = beat->log;
        item->now.log_bytes =
            (int32_t)MIN((size_t)item->now.log_bytes + beat->log.len, TASK_LOG_MAX);
    }
    item->renewed = true;
    batch_change(batch, item, command);
    beat->cancel_requested = item->now.cancel_requested;
    beat->lease_until_ms = item->now.lease_until_ms;
    return true;
}

void on_heartbeat(struct batch *batch, struct command *command)
{
    struct item *item;
    if (batch_find(batch, command->heartbeat.id, &item, &command->err)) {
        if (item_busy(item, command)) {
            batch_defer(batch, command);
            return;
        }
        heartbeat(batch, item, command);
    }
    batch_answer(batch, command);
}

/* ---- The end of an attempt ---- */

void prepare_finish(struct batch *batch, struct command *command)
{
    const struct command_finish *ends = command_ends(command);
    for (size_t i = 0; i < ends->count; i++) {
        batch_need_end(batch, ends->items[i].id, ends->items[i].lease.token);
    }
}

static bool fail(struct batch *batch, struct task *task, const struct finish *finish,
                 struct err *err)
{
    int64_t now_ms = batch->now.wall_ms;
    if (!task_fail(task, &finish->error, finish->retry, rand_unit(batch->engine->with.rand), now_ms,
                   err)) {
        return false;
    }
    task_retry_not_before(task, now_ms + finish->retry_after_ms);
    return true;
}

static bool end_attempt(struct batch *batch, struct task *task, const struct finish *finish,
                        struct err *err)
{
    int64_t now_ms = batch->now.wall_ms;
    switch (finish->outcome) {
    case OUTCOME_COMPLETED:
        return task_complete(task, finish->result, now_ms, err);
    case OUTCOME_RELEASED:
        return task_release(task, finish->delay_ms, now_ms, err);
    case OUTCOME_TIMEOUT:
        return task_time_out(task, rand_unit(batch->engine->with.rand), now_ms, err);
    case OUTCOME_CANCELLED:
        return task_cancel_now(task, now_ms, err);
    default:
        return fail(batch, task, finish, err);
    }
}

static bool finish_one(struct batch *batch, struct finish *finish, struct item *item,
                       const struct command *command)
{
    struct task *task = &item->now;
    const struct task_cost *cost = &finish->cost;
    if (task_repeats(task, finish->lease, finish->outcome)) {
        return true; /* said again: the answer is the task as it now is */
    }
    if (!task_holds(task, finish->lease, &finish->err)) {
        return false;
    }
    struct task before = *task;
    task->cost.estimated = cost->estimated >= 0 ? cost->estimated : task->cost.estimated;
    task->cost.actual = cost->actual >= 0 ? cost->actual : task->cost.actual;
    task->cost.tokens = cost->tokens >= 0 ? cost->tokens : task->cost.tokens;
    if (finish->outcome == OUTCOME_FAILED || finish->outcome == OUTCOME_TIMEOUT) {
        guests_ending(batch, task, finish->outcome == OUTCOME_FAILED ? &finish->error : NULL);
    }
    if (!end_attempt(batch, task, finish, &finish->err)) {
        *task = before;
        return false;
    }
    worker_seen(&batch->engine->workers, task->worker, batch->now);
    item->ended = true;
    batch_change(batch, item, command);
    return true;
}

static bool any_busy(struct batch *batch, const struct command *command,
                     const struct command_finish *ends)
{
    for (size_t i = 0; i < ends->count; i++) {
        struct item *item = batch_item(batch, ends->items[i].id);
        if (item == NULL) {
            return false;
        }
        if (item_busy(item, command)) {
            return true;
        }
    }
    return false;
}

bool finish_all(struct batch *batch, struct command *command)
{
    const struct command_finish *ends = command_ends(command);
    if (any_busy(batch, command, ends)) {
        return false;
    }
    for (size_t i = 0; i < ends->count; i++) {
        struct finish *finish = &ends->items[i];
        struct item *item;
        if (finish->err.kind != ERR_NONE) { /* of a batch that was begun again */
            finish->err = ERR_INIT;
        }
        if (batch_find(batch, finish->id, &item, &finish->err) &&
            finish_one(batch, finish, item, command)) {
            finish->task = task_copy(command->arena, &item->now);
        }
    }
    return true;
}

void on_finish(struct batch *batch, struct command *command)
{
    if (finish_all(batch, command)) {
        batch_answer(batch, command);
    } else {
        batch_defer(batch, command);
    }
}
