/* task/life.c: what may happen to a task. See life.h.
 *
 * Keeps: G2, I1 (COMPLETED never changes; other ends only by a manual retry), I3.
 *
 * SPDX-License-Identifier: MIT */
#include "task/life.h"

#include <assert.h>

#include "wire/form.h"

/* Life of a task. Rows: where it is. Columns: what happens. An absent cell is refused.
 * Cells hold the next state plus one, so that an absent cell is 0. */
#define TO(state) ((state) + 1)

static const unsigned char life[TASK_STATES][TASK_EVENTS] = {
    [TASK_SCHEDULED] = {[EV_DUE] = TO(TASK_QUEUED),
                        [EV_OPEN] = TO(TASK_RUNNING),
                        [EV_HOLD] = TO(TASK_WAITING),
                        [EV_KILL] = TO(TASK_FAILED),
                        [EV_DELAY] = TO(TASK_SCHEDULED),
                        [EV_CANCEL] = TO(TASK_CANCELLED)},
    [TASK_WAITING] = {[EV_UNBLOCK] = TO(TASK_QUEUED),
                      [EV_OPEN] = TO(TASK_RUNNING),
                      [EV_DELAY] = TO(TASK_SCHEDULED),
                      [EV_CANCEL] = TO(TASK_CANCELLED)},
    [TASK_QUEUED] = {[EV_CLAIM] = TO(TASK_RUNNING),
                     [EV_OPEN] = TO(TASK_RUNNING),
                     [EV_HOLD] = TO(TASK_WAITING),
                     [EV_DELAY] = TO(TASK_SCHEDULED),
                     [EV_CANCEL] = TO(TASK_CANCELLED)},
    [TASK_RUNNING] = {[EV_COMPLETE] = TO(TASK_COMPLETED),
                      [EV_RETRY] = TO(TASK_RETRYING),
                      [EV_GIVE_UP] = TO(TASK_FAILED),
                      [EV_TIME_OUT] = TO(TASK_TIMEOUT),
                      [EV_RELEASE] = TO(TASK_QUEUED),
                      [EV_DELAY] = TO(TASK_SCHEDULED),
                      [EV_CANCEL] = TO(TASK_CANCELLED)},
    [TASK_RETRYING] = {[EV_DUE] = TO(TASK_QUEUED),
                       [EV_KILL] = TO(TASK_FAILED),
                       [EV_DELAY] = TO(TASK_RETRYING),
                       [EV_CANCEL] = TO(TASK_CANCELLED)},
    [TASK_FAILED] = {[EV_REVIVE] = TO(TASK_QUEUED),
                     [EV_SHELVE] = TO(TASK_WAITING),
                     [EV_REOPEN] = TO(TASK_RUNNING)},
    [TASK_TIMEOUT] = {[EV_REVIVE] = TO(TASK_QUEUED),
                      [EV_SHELVE] = TO(TASK_WAITING),
                      [EV_REOPEN] = TO(TASK_RUNNING)},
    [TASK_CANCELLED] = {[EV_REVIVE] = TO(TASK_QUEUED),
                        [EV_SHELVE] = TO(TASK_WAITING),
                        [EV_REOPEN] = TO(TASK_RUNNING)},
};

static const char *const event_names[TASK_EVENTS] = {
    [EV_DUE] = "become due",    [EV_UNBLOCK] = "be unblocked", [EV_CLAIM] = "be claimed",
    [EV_COMPLETE] = "complete", [EV_RETRY] = "be retried",     [EV_GIVE_UP] = "fail",
    [EV_TIME_OUT] = "time out", [EV_RELEASE] = "be released",  [EV_CANCEL] = "be cancelled",
    [EV_REVIVE] = "be retried", [EV_DELAY] = "be put off",     [EV_OPEN] = "be opened",
    [EV_SHELVE] = "be retried", [EV_REOPEN] = "be retried",    [EV_HOLD] = "be held back",
    [EV_KILL] = "be killed",
};

const char *task_event_name(enum task_event event)
{
    return event_names[event];
}

bool task_life_allows(enum task_state state, enum task_event event, enum task_state *next)
{
    unsigned char cell = life[state][event];
    if (cell != 0 && next != NULL) {
        *next = (enum task_state)(cell - 1);
    }
    return cell != 0;
}

/* The one function that changes a state. */
static bool move(struct task *task, enum task_event event, int64_t now_ms, struct err *err)
{
    if (!task_life_allows(task->state, event, &task->state)) {
        return err_set(err, ERR_CONFLICT, "a task that is %s cannot %s",
                       task_state_name(task->state), event_names[event]);
    }
    task->updated_ms = now_ms;
    return true;
}

static bool begin_expired(struct task *task, int64_t now_ms)
{
    task->created_ms = task->updated_ms = now_ms;
    task->progress = -1;
    if (task->expires_ms == 0 || task->expires_ms > now_ms) {
        return false;
    }
    task->state = TASK_CANCELLED;
    task->cancel_reason = STR("expired");
    task->cancelled_ms = task->finished_ms = now_ms;
    return true;
}

void task_begin_waiting(struct task *task, int64_t now_ms)
{
    if (!begin_expired(task, now_ms)) {
        task->state = TASK_WAITING;
    }
}

bool task_unblock(struct task *task, int64_t now_ms, struct err *err)
{
    if (task->scheduled_ms > now_ms) {
        return move(task, EV_DELAY, now_ms, err);
    }
    if (!move(task, EV_UNBLOCK, now_ms, err)) {
        return false;
    }
    task->queued_ms = now_ms;
    return true;
}

void task_begin(struct task *task, int64_t now_ms)
{
    if (begin_expired(task, now_ms)) {
        return;
    }
    if (task->scheduled_ms > now_ms) {
        task->state = TASK_SCHEDULED;
    } else {
        task->state = TASK_QUEUED;
        task->queued_ms = now_ms;
    }
}

bool task_due(struct task *task, int64_t now_ms, struct err *err)
{
    /* A released task keeps its old place in the line; a retry starts at the end of it. */
    bool keeps_place = task->state == TASK_SCHEDULED && task->queued_ms != 0;
    if (!move(task, EV_DUE, now_ms, err)) {
        return false;
    }
    task->queued_ms = keeps_place ? task->queued_ms : now_ms;
    return true;
}

bool task_start(struct task *task, const struct task_claim *claim, int64_t now_ms, struct err *err)
{
    if (!move(task, EV_CLAIM, now_ms, err)) {
        return false;
    }
    task->attempt++;
    task->started_ms = now_ms;
    task->worker = claim->worker;
    task->token = claim->token;
    task->lease_ms = claim->lease_ms;
    task->lease_until_ms =
        now_ms + (task->timeout_ms > 0 ? MIN(claim->lease_ms, task->timeout_ms) : claim->lease_ms);
    task->outcome = OUTCOME_NONE;
    task->attempt_ended_ms = 0;
    task->progress = -1;
    task->progress_message = STR_NONE;
    task->log_bytes = 0;
    task->error = (struct task_error){0};
    return true;
}

bool task_holds(const struct task *task, struct task_lease lease, struct err *err)
{
    bool holds =
        task->state == TASK_RUNNING && task->attempt == lease.attempt && task->token == lease.token;
    return holds ||
           err_set(err, ERR_LEASE_LOST, "this lease is not the current one: the task is %s",
                   task_state_name(task->state));
}

bool task_renew(struct task *task, struct task_lease lease, int64_t extend_ms, int64_t left_ms,
                int64_t now_ms, struct err *err)
{
    if (!task_holds(task, lease, err)) {
        return false;
    }
    task->lease_until_ms = now_ms + MIN(extend_ms < 0 ? task->lease_ms : extend_ms, left_ms);
    task->updated_ms = now_ms;
    return true;
}

static void end_attempt(struct task *task, enum task_outcome outcome, int64_t now_ms)
{
    task->outcome = outcome;
    task->attempt_ended_ms = now_ms;
    task->lease_until_ms = 0;
}

static bool end_cancelled(struct task *task, int64_t now_ms, struct err *err)
{
    if (!move(task, EV_CANCEL, now_ms, err)) {
        return false;
    }
    task->cancel_requested = false;
    task->cancelled_ms = task->finished_ms = now_ms;
    return true;
}

bool task_complete(struct task *task, struct str result, int64_t now_ms, struct err *err)
{
    if (!move(task, EV_COMPLETE, now_ms, err)) {
        return false;
    }
    end_attempt(task, OUTCOME_COMPLETED, now_ms);
    task->result = result;
    task->finished_ms = now_ms;
    task->cancel_requested = false;
    task->cancel_reason = STR_NONE;
    return true;
}

static bool has_retry_left(const struct task *task)
{
    return task->max_retries == TASK_RETRIES_UNLIMITED || task->retries < task->max_retries;
}

static bool retry_later(struct task *task, double chance, int64_t now_ms, struct err *err)
{
    if (!move(task, EV_RETRY, now_ms, err)) {
        return false;
    }
    task->retries += task->retries < INT32_MAX;
    task->scheduled_ms = now_ms + task_backoff_ms(&task->backoff, task->retries, chance);
    return true;
}

static bool give_up(struct task *task, enum task_event how, int64_t now_ms, struct err *err)
{
    if (!move(task, how, now_ms, err)) {
        return false;
    }
    task->finished_ms = now_ms;
    return true;
}

/* What follows an attempt that ended badly: the cancel that was asked for, a retry, or the end. */
static bool after_failure(struct task *task, bool retry, enum task_event end, double chance,
                          int64_t now_ms, struct err *err)
{
    if (task->cancel_requested) {
        task->outcome = OUTCOME_CANCELLED;
        return end_cancelled(task, now_ms, err);
    }
    return retry && has_retry_left(task) ? retry_later(task, chance, now_ms, err)
                                         : give_up(task, end, now_ms, err);
}

bool task_fail(struct task *task, const struct task_error *error, bool retry, double chance,
               int64_t now_ms, struct err *err)
{
    if (!task_life_allows(task->state, EV_GIVE_UP, NULL)) {
        return move(task, EV_GIVE_UP, now_ms, err);
    }
    end_attempt(task, OUTCOME_FAILED, now_ms);
    task->error = *error;
    return after_failure(task, retry, EV_GIVE_UP, chance, now_ms, err);
}

void task_retry_not_before(struct task *task, int64_t at_ms)
{
    if (task->state == TASK_RETRYING) {
        task->scheduled_ms = MAX(task->scheduled_ms, at_ms);
    }
}

bool task_release(struct task *task, int64_t delay_ms, int64_t now_ms, struct err *err)
{
    if (!task_life_allows(task->state, EV_RELEASE, NULL)) {
        return move(task, EV_RELEASE, now_ms, err);
    }
    end_attempt(task, OUTCOME_RELEASED, now_ms);
    if (task->cancel_requested) {
        task->outcome = OUTCOME_CANCELLED;
        return end_cancelled(task, now_ms, err);
    }
    if (delay_ms > 0) {
        task->scheduled_ms = now_ms + delay_ms;
        return move(task, EV_DELAY, now_ms, err);
    }
    return move(task, EV_RELEASE, now_ms, err);
}

bool task_repeats(const struct task *task, struct task_lease lease, enum task_outcome outcome)
{
    bool same = task->state != TASK_RUNNING && task->attempt == lease.attempt && lease.token != 0 &&
                task->token == lease.token;
    /* A cancel that was requested turned a failure or a release into CANCELLED. */
    return same && (task->outcome == outcome ||
                    (outcome != OUTCOME_COMPLETED && task->outcome == OUTCOME_CANCELLED));
}

/* The worker had no part in this end: its token is void, so it cannot claim to have said it. */
static void void_lease(struct task *task, enum task_outcome outcome, int64_t now_ms)
{
    end_attempt(task, outcome, now_ms);
    task->token = 0;
}

bool task_take_back(struct task *task, int64_t now_ms, struct err *err)
{
    if (!task_life_allows(task->state, EV_RELEASE, NULL)) {
        return move(task, EV_RELEASE, now_ms, err);
    }
    void_lease(task, OUTCOME_RELEASED, now_ms);
    if (task->cancel_requested) {
        task->outcome = OUTCOME_CANCELLED;
        return end_cancelled(task, now_ms, err);
    }
    return move(task, EV_RELEASE, now_ms, err);
}

bool task_time_out(struct task *task, double chance, int64_t now_ms, struct err *err)
{
    if (!task_life_allows(task->state, EV_TIME_OUT, NULL)) {
        return move(task, EV_TIME_OUT, now_ms, err);
    }
    void_lease(task, OUTCOME_TIMEOUT, now_ms);
    task->error = (struct task_error){.code = STR("timeout"),
                                      .message = STR("the attempt ran longer than timeoutMs")};
    return after_failure(task, true, EV_TIME_OUT, chance, now_ms, err);
}

bool task_lose(struct task *task, double chance, int64_t now_ms, struct err *err)
{
    if (!task_life_allows(task->state, EV_GIVE_UP, NULL)) {
        return move(task, EV_GIVE_UP, now_ms, err);
    }
    void_lease(task, OUTCOME_LOST, now_ms);
    task->error = (struct task_error){.code = STR("lost"),
                                      .message = STR("the worker vanished: its lease ended")};
    return after_failure(task, true, EV_GIVE_UP, chance, now_ms, err);
}

bool task_cancel(struct task *task, struct str reason, int64_t now_ms, struct err *err)
{
    if (task->state == TASK_CANCELLED || (task->state == TASK_RUNNING && task->cancel_requested)) {
        return true;
    }
    if (task->state == TASK_RUNNING) {
        task->cancel_requested = true;
        task->cancel_reason = reason;
        task->updated_ms = now_ms;
        return true;
    }
    if (!end_cancelled(task, now_ms, err)) {
        return false;
    }
    task->cancel_reason = reason;
    return true;
}

bool task_cancel_now(struct task *task, int64_t now_ms, struct err *err)
{
    assert(task->state == TASK_RUNNING);
    void_lease(task, OUTCOME_CANCELLED, now_ms);
    return end_cancelled(task, now_ms, err);
}

bool task_kill(struct task *task, int64_t now_ms, struct err *err)
{
    if (!give_up(task, EV_KILL, now_ms, err)) {
        return false;
    }
    task->error = (struct task_error){.code = STR("killed"),
                                      .message = STR("given up by hand before its time came")};
    return true;
}

static void forget_end(struct task *task)
{
    task->retries = 0;
    task->scheduled_ms = task->finished_ms = task->cancelled_ms = 0;
    task->cancel_reason = STR_NONE;
    task->error = (struct task_error){0};
    task->result = STR_NONE;
}

bool task_revive(struct task *task, int64_t now_ms, struct err *err)
{
    if (!move(task, EV_REVIVE, now_ms, err)) {
        return false;
    }
    forget_end(task);
    task->queued_ms = now_ms;
    return true;
}

bool task_shelve(struct task *task, int64_t now_ms, struct err *err)
{
    if (!move(task, EV_SHELVE, now_ms, err)) {
        return false;
    }
    forget_end(task);
    /* An expiry that has passed does not count for what was queued after it (due_expiry_ms). */
    task->queued_ms = task->expires_ms != 0 && task->expires_ms <= now_ms ? now_ms : 0;
    return true;
}

bool task_hold_back(struct task *task, int64_t now_ms, struct err *err)
{
    if (!move(task, EV_HOLD, now_ms, err)) {
        return false;
    }
    bool revived = task->expires_ms != 0 && task->expires_ms <= task->queued_ms;
    task->queued_ms = revived ? task->queued_ms : 0;
    return true;
}

/* ---- Containers ---- */

bool task_open(struct task *container, int64_t now_ms, struct err *err)
{
    if (!move(container, EV_OPEN, now_ms, err)) {
        return false;
    }
    container->started_ms = now_ms;
    return true;
}

bool task_reopen(struct task *container, int64_t now_ms, struct err *err)
{
    if (!move(container, EV_REOPEN, now_ms, err)) {
        return false;
    }
    forget_end(container);
    container->started_ms = container->started_ms == 0 ? now_ms : container->started_ms;
    return true;
}

bool task_close(struct task *container, struct str result, int64_t now_ms, struct err *err)
{
    if (!move(container, EV_COMPLETE, now_ms, err)) {
        return false;
    }
    container->result = result;
    container->finished_ms = now_ms;
    container->cancel_requested = false;
    container->cancel_reason = STR_NONE;
    return true;
}

bool task_close_badly(struct task *container, const struct task_error *error, int64_t now_ms,
                      struct err *err)
{
    if (container->cancel_requested) {
        return end_cancelled(container, now_ms, err);
    }
    container->error = *error;
    return give_up(container, EV_GIVE_UP, now_ms, err);
}

static bool put_off(struct task *task, int64_t until_ms, int64_t now_ms, struct err *err)
{
    task->scheduled_ms = until_ms;
    if (task->state == TASK_WAITING) {
        return true; /* its dependencies come first; then the time counts */
    }
    if (until_ms > now_ms) {
        task->queued_ms = task->state == TASK_QUEUED ? 0 : task->queued_ms;
        return move(task, EV_DELAY, now_ms, err);
    }
    return task->state == TASK_QUEUED || task_due(task, now_ms, err);
}

bool task_change(struct task *task, const struct task_patch *patch, int64_t now_ms, struct err *err)
{
    if (task->state == TASK_RUNNING || task_state_terminal(task->state)) {
        return err_set(err, ERR_CONFLICT, "a task that is %s cannot be changed",
                       task_state_name(task->state));
    }
    if (patch->given & TASK_BIT(max_retries) && patch->to->max_retries < task->retries) {
        return err_field(err, "maxRetries",
                         "maxRetries must be at least the %d retries already used", task->retries);
    }
    if (patch->given & TASK_BIT(scheduled_ms) &&
        !put_off(task, patch->to->scheduled_ms, now_ms, err)) {
        return false;
    }
    form_apply(&task_form, patch->given & ~TASK_BIT(scheduled_ms), patch->to, task);
    task->updated_ms = now_ms;
    return true;
}
