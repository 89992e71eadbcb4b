/* net/on_work.c: remote workers: claims that may wait, heartbeats, and how attempts end.
 *
 * A task must not be leased to nobody: a waiting claim whose client left is stopped at once, and
 * tasks that were claimed for a client that is gone are released, which costs no retry. What a
 * claim finishes first stays finished, whoever is gone.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/call.h"
#include "net/fault.h"
#include "net/on.h"
#include "net/task_out.h"
#include "net/work_in.h"

/* ---- Claims ---- */

void claims_release(struct api *api, const struct task *tasks, size_t count)
{
    if (count == 0) {
        return;
    }
    struct command *command = api_command(api, COMMAND_FINISH);
    struct finish *items = arena_array(command->arena, struct finish, count);
    for (size_t i = 0; i < count; i++) {
        items[i].id = tasks[i].id;
        items[i].lease = (struct task_lease){tasks[i].attempt, tasks[i].token};
        items[i].outcome = OUTCOME_RELEASED;
        items[i].cost = TASK_COST_NONE;
    }
    command->finish = (struct command_finish){items, count};
}

/* A claim and whether its request brought finishes along, if only an empty array of them. */
struct claiming {
    struct command *command;
    bool finishes;
};

static void write_finish(struct json_writer *w, const struct finish *finish)
{
    bool ok = finish->err.kind == ERR_NONE;
    json_open_object(w);
    json_key(w, "id");
    id_write(w, finish->id);
    json_put_i64(w, "status", ok ? 200 : fault_status(finish->err.kind));
    json_key(w, ok ? "task" : "error");
    if (ok) {
        task_write(w, &finish->task);
    } else {
        fault_write(w, &finish->err);
    }
    json_close_object(w);
}

static void write_finishes(struct json_writer *w, const struct command_finish *finish)
{
    json_open_array(w);
    for (size_t i = 0; i < finish->count; i++) {
        write_finish(w, &finish->items[i]);
    }
    json_close_array(w);
}

/* Writes as many as may be in one answer; at least one. To a client that has left none: it may
 * still read what became of its finishes. */
static size_t write_claimed(struct json_writer *w, const struct call *call)
{
    const struct claiming *own = call->own;
    const struct command_claim *claim = &own->command->claim;
    bool traced = call->api->options.spans != NULL;
    size_t n = 0, most = call->exchange->is_gone ? 0 : claim->count;
    json_open_object(w);
    json_put_array(w, "tasks");
    while (n < most && w->buf->len <= ANSWER_WHOLE_MAX) {
        task_write_claimed(w, &claim->tasks[n], &claim->facts[n], traced);
        n++;
    }
    json_close_array(w);
    if (own->finishes) {
        json_key(w, "finished");
        write_finishes(w, &claim->finish);
    }
    signal_put(w, claim->signal);
    json_close_object(w);
    return n;
}

static void answer_claim(struct call *call)
{
    const struct claiming *own = call->own;
    const struct command_claim *claim = &own->command->claim;
    struct err err = ERR_INIT;
    bool waited = claim->wait_ms > 0 && claim->count > 0;
    if (waited && !call_may_still(call, &err)) { /* whoever asked may not have them any more */
        claims_release(call->api, claim->tasks, claim->count);
        call_fail(call, &err);
        return;
    }
    struct json_writer w = call_writer(call);
    size_t written = write_claimed(&w, call);
    claims_release(call->api, claim->tasks + written, claim->count - written);
    call_answer(call, 200);
}

/* What was finished is on disk even where the claim then found no room to wait, or no server: the
 * worker is told of it, and hears of the rest when it claims again. */
static void claim_failed(struct call *call)
{
    struct command_claim *claim = &((struct claiming *)call->own)->command->claim;
    if (claim->ending == ENDING_SAVED) {
        claim->count = 0;
        answer_claim(call);
    } else {
        call_fail(call, &call->failure);
    }
}

/* The client left: the engine answers the claim, with no task if it has found none yet. */
static void claim_stop(struct exchange *exchange)
{
    struct call *call = exchange->user;
    uint64_t serial = ((struct claiming *)call->own)->command->claim.serial;
    api_command(call->api, COMMAND_CLAIM_STOP)->claim_stop.serial = serial;
}

bool on_task_claim(struct call *call, struct err *err)
{
    struct json json;
    struct claim_in in;
    if (!call_asked(call, NULL, NULL, err) || !call_json(call, &json, err) ||
        !claim_read(&json, &in, err) || !json_end(&json, err)) {
        return false;
    }
    struct claiming *own = arena_new(call->arena, struct claiming);
    own->finishes = in.finishes;
    own->command = call_command(call, COMMAND_CLAIM);
    own->command->claim = in.claim;
    own->command->claim.serial = ++call->api->claims;
    call->own = own;
    call->done = answer_claim;
    call->failed = claim_failed;
    if (in.claim.wait) {
        call->exchange->gone = claim_stop;
    }
    return true;
}

/* ---- Heartbeats ---- */

static void answer_heartbeat(struct call *call)
{
    const struct command_heartbeat *beat = &((struct command *)call->own)->heartbeat;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_bool(&w, "cancelRequested", beat->cancel_requested);
    json_put_time(&w, "leaseExpiresAt", beat->lease_until_ms);
    signal_put(&w, beat->signal);
    json_close_object(&w);
    call_answer(call, 200);
}

bool on_task_heartbeat(struct call *call, struct err *err)
{
    struct json json;
    struct command_heartbeat beat = {0};
    if (!call_id(call, &beat.id, err) || !call_asked(call, NULL, NULL, err) ||
        !call_json(call, &json, err) || !heartbeat_read(&json, &beat, err) ||
        !json_end(&json, err)) {
        return false;
    }
    struct command *command = call_command(call, COMMAND_HEARTBEAT);
    command->heartbeat = beat;
    call->own = command;
    call->done = answer_heartbeat;
    return true;
}

/* ---- Endings ---- */

static void answer_finish(struct call *call)
{
    const struct finish *finish = ((struct command *)call->own)->finish.items;
    if (finish->err.kind != ERR_NONE) {
        call_fail(call, &finish->err);
        return;
    }
    struct json_writer w = call_writer(call);
    task_write(&w, &finish->task);
    call_answer(call, 200);
}

static bool on_end(struct call *call, enum task_outcome outcome, struct err *err)
{
    struct json json;
    struct task_id id;
    if (!call_id(call, &id, err) || !call_asked(call, NULL, NULL, err) ||
        !call_json(call, &json, err)) {
        return false;
    }
    struct finish *finish = arena_new(call->arena, struct finish);
    finish->id = id;
    finish->outcome = outcome;
    if (!finish_read(&json, finish, err) || !json_end(&json, err)) {
        return false;
    }
    struct command *command = call_command(call, COMMAND_FINISH);
    command->finish = (struct command_finish){finish, 1};
    call->own = command;
    call->done = answer_finish;
    return true;
}

bool on_task_complete(struct call *call, struct err *err)
{
    return on_end(call, OUTCOME_COMPLETED, err);
}

bool on_task_fail(struct call *call, struct err *err)
{
    return on_end(call, OUTCOME_FAILED, err);
}

bool on_task_release(struct call *call, struct err *err)
{
    return on_end(call, OUTCOME_RELEASED, err);
}

/* ---- Many endings ---- */

static void answer_finishes(struct call *call, const struct command_finish *finish)
{
    struct json_writer w = call_writer(call);
    write_finishes(&w, finish);
    call_answer(call, 200);
}

static void finished_all(struct call *call)
{
    answer_finishes(call, &((struct command *)call->own)->finish);
}

bool on_tasks_finish(struct call *call, struct err *err)
{
    struct json json;
    struct command_finish finish;
    if (!call_asked(call, NULL, NULL, err) || !call_json(call, &json, err) ||
        !finishes_read(&json, &finish, err) || !json_end(&json, err)) {
        return false;
    }
    if (finish.count == 0) {
        answer_finishes(call, &finish);
        return true;
    }
    struct command *command = call_command(call, COMMAND_FINISH);
    command->finish = finish;
    call->own = command;
    call->done = finished_all;
    return true;
}
