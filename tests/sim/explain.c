/* tests/sim/explain.c: may this command, or time, have changed a task so?
 *
 * This is the reference: the life of a task once more, in the words of the contract and without
 * the engine's code. A change without a reason is a broken promise.
 *
 * SPDX-License-Identifier: MIT */
#include "guests.h"

static bool is_live(enum task_state state)
{
    return state < TASK_COMPLETED;
}

static bool waits(enum task_state state)
{
    return is_live(state) && state != TASK_RUNNING;
}

/* An attempt ended badly: what may follow. */
static bool follows_failure(const struct seen *was, const struct seen *now, enum task_state end)
{
    if (was->cancel_requested || (!id_none(was->parent) && now->state == TASK_CANCELLED)) {
        return now->state == TASK_CANCELLED; /* its parent may have ended in the same batch */
    }
    if (now->state == TASK_RETRYING) {
        return now->retries == was->retries + 1 && now->retries <= now->max_retries;
    }
    return now->state == end && now->retries == was->retries;
}

/* ---- Commands ---- */

static bool by_claim(const struct command_claim *claim, const struct known *known)
{
    const struct seen *was = &known->seen, *now = &known->next;
    for (size_t i = 0; i < claim->count; i++) {
        const struct task *task = &claim->tasks[i];
        if (id_eq(task->id, known->id)) {
            return was->state == TASK_QUEUED && now->state == TASK_RUNNING &&
                   now->attempt == was->attempt + 1 && now->token == task->token &&
                   now->attempt == task->attempt;
        }
    }
    return false;
}

static bool by_heartbeat(const struct command_heartbeat *beat, const struct known *known)
{
    const struct seen *was = &known->seen, *now = &known->next;
    struct seen same = *now;
    same.lease_until_ms = was->lease_until_ms;
    return id_eq(beat->id, known->id) && was->state == TASK_RUNNING &&
           was->attempt == beat->lease.attempt && was->token == beat->lease.token &&
           seen_same(was, &same);
}

static bool ends_so(const struct finish *finish, const struct seen *was, const struct seen *now)
{
    switch (finish->outcome) {
    case OUTCOME_COMPLETED:
        return now->state == TASK_COMPLETED;
    case OUTCOME_RELEASED:
        return was->cancel_requested || (!id_none(was->parent) && now->state == TASK_CANCELLED)
                   ? now->state == TASK_CANCELLED
                   : now->state == (finish->delay_ms > 0 ? TASK_SCHEDULED : TASK_QUEUED) &&
                         now->retries == was->retries && now->queued_ms == was->queued_ms;
    default:
        return follows_failure(was, now, TASK_FAILED) &&
               (finish->retry || now->state != TASK_RETRYING);
    }
}

/* Only the current token finishes (G2). */
static bool by_finish(const struct command_finish *command, const struct known *known)
{
    const struct seen *was = &known->seen;
    for (size_t i = 0; i < command->count; i++) {
        const struct finish *finish = &command->items[i];
        if (id_eq(finish->id, known->id) && finish->err.kind == ERR_NONE &&
            was->state == TASK_RUNNING && was->attempt == finish->lease.attempt &&
            was->token == finish->lease.token && known->next.attempt == was->attempt) {
            return ends_so(finish, was, &known->next);
        }
    }
    return false;
}

static bool cancelled(const struct seen *was, const struct seen *now)
{
    return (waits(was->state) && now->state == TASK_CANCELLED) ||
           (was->state == TASK_RUNNING && now->state == TASK_RUNNING && now->cancel_requested &&
            now->token == was->token);
}

static bool revived(const struct seen *was, const struct seen *now)
{
    return !is_live(was->state) && was->state != TASK_COMPLETED && now->state == TASK_QUEUED &&
           now->retries == 0 && now->attempt == was->attempt;
}

static bool patched(const struct seen *was, const struct seen *now)
{
    return waits(was->state) && waits(now->state) && now->attempt == was->attempt &&
           now->retries == was->retries;
}

/* Before its time came. */
static bool killed(const struct seen *was, const struct seen *now)
{
    return (was->state == TASK_SCHEDULED || was->state == TASK_RETRYING) && !was->container &&
           now->state == TASK_FAILED && now->attempt == was->attempt &&
           now->retries == was->retries;
}

static bool by_bulk(const struct command_bulk *bulk, const struct known *known)
{
    const struct seen *was = &known->seen, *now = &known->next;
    if (!str_eq(bulk->filter.queue, know_queue(known))) {
        return false;
    }
    switch (bulk->verb) {
    case BULK_REVIVE:
        return revived(was, now);
    case BULK_PURGE:
        return was->state != TASK_RUNNING && cancelled(was, now);
    default:
        return cancelled(was, now);
    }
}

static bool by_one(const struct command *command, const struct known *known)
{
    const struct seen *was = &known->seen, *now = &known->next;
    if (!id_eq(command->one.id, known->id)) {
        return false;
    }
    switch (command->kind) {
    case COMMAND_CANCEL:
        return cancelled(was, now);
    case COMMAND_REVIVE:
        return revived(was, now);
    case COMMAND_CHANGE:
        return patched(was, now);
    case COMMAND_KILL:
        return killed(was, now);
    default:
        return false;
    }
}

/* An operator took the document away: what runs inside the server keeps it until it has stopped. */
static bool by_release(const struct command_release *release, struct known *known)
{
    const struct seen *was = &known->seen, *now = &known->next;
    bool others = !id_none(was->parent) || sim_is_led(known); /* may cancel it in the same batch */
    bool ends = was->cancel_requested || (others && now->state == TASK_CANCELLED);
    known->taken_back =
        was->document >= 0 && str_eq(release->document, sim_documents[was->document]) &&
        was->state == TASK_RUNNING && !was->container && now->attempt == was->attempt &&
        now->token == 0 && now->retries == was->retries && now->queued_ms == was->queued_ms &&
        now->state == (ends ? TASK_CANCELLED : TASK_QUEUED);
    return known->taken_back;
}

static bool by_call(const struct call *call, struct known *known)
{
    const struct command *command = &call->command;
    if (command->kind == COMMAND_BULK) {
        return by_bulk(&command->bulk, known); /* it acts before it is answered */
    }
    if (command->kind == COMMAND_CLAIM && sim_has_ended(call) &&
        by_finish(&command->claim.finish, known)) {
        return true; /* it ends attempts before it is answered, and whatever it is answered */
    }
    if (!call->answered || command->err.kind != ERR_NONE) {
        return false;
    }
    switch (command->kind) {
    case COMMAND_CLAIM:
        return by_claim(&command->claim, known);
    case COMMAND_HEARTBEAT:
        return by_heartbeat(&command->heartbeat, known);
    case COMMAND_FINISH:
        return by_finish(&command->finish, known);
    case COMMAND_RELEASE:
        return by_release(&command->release, known);
    default:
        return sim_is_one(command->kind) && by_one(command, known);
    }
}

/* ---- Time ---- */

static bool expired(const struct seen *was, const struct seen *now, int64_t now_ms)
{
    return was->expires_ms != 0 && was->expires_ms <= now_ms && was->attempt == 0 &&
           now->state == TASK_CANCELLED;
}

/* Inside the server: the machine stopped under it, or it did not stop when it was told to. */
static bool gave_up(struct known *known, int64_t now_ms)
{
    const struct seen *was = &known->seen, *now = &known->next;
    if (known->orphaned) {
        return follows_failure(was, now, TASK_FAILED);
    }
    known->gives_up = was->kind == WORKER_RUN && known->stop_at_ms != 0 &&
                      known->stop_at_ms <= now_ms && follows_failure(was, now, TASK_TIMEOUT);
    return known->gives_up;
}

static bool ran_out(struct known *known, int64_t now_ms)
{
    const struct seen *was = &known->seen, *now = &known->next;
    if (was->kind != WORKER_REMOTE) {
        return gave_up(known, now_ms);
    }
    bool too_long = was->timeout_ms != 0 && was->started_ms + was->timeout_ms <= now_ms;
    bool lost = was->lease_until_ms <= now_ms;
    bool cancel = known->cancel_at_ms != 0 && known->cancel_at_ms <= now_ms;
    if (cancel && now->state == TASK_CANCELLED) {
        return true;
    }
    return (too_long || lost) && follows_failure(was, now, too_long ? TASK_TIMEOUT : TASK_FAILED);
}

static bool by_time(const struct sim *sim, struct known *known)
{
    const struct seen *was = &known->seen, *now = &known->next;
    int64_t now_ms = sim_now_ms(sim);
    switch (was->state) {
    case TASK_RUNNING:
        return ran_out(known, now_ms);
    case TASK_SCHEDULED:
        return expired(was, now, now_ms) ||
               (was->scheduled_ms <= now_ms && now->state == TASK_QUEUED);
    case TASK_RETRYING:
        return was->scheduled_ms <= now_ms && now->state == TASK_QUEUED;
    case TASK_QUEUED:
    case TASK_WAITING:
        return expired(was, now, now_ms);
    default:
        return false;
    }
}

/* Commands first: an attempt whose end was heard is not one that was given up, though its time is
 * over as well. */
bool explained(struct sim *sim, struct known *known)
{
    for (size_t i = 0; i < sim->calls_count; i++) {
        if (by_call(sim->calls[i], known)) {
            return true;
        }
    }
    return by_time(sim, known) || relate_explains(sim, known) ||
           (sim->guests != NULL && sim->guests->explain(sim, known));
}
