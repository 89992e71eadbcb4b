/* net/on_queue.c: queues: looking at them, their limits, pausing and purging.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/call.h"
#include "net/on.h"
#include "net/task_out.h"
#include "store/rate.h"
#include "task/reserved.h"

#define QUEUE_LIMIT_MAX 1000000 /* of each setting */

static void write_queue(struct json_writer *w, const struct queue_view *view)
{
    const struct store_queue *settings = &view->settings;
    json_open_object(w);
    json_put_str(w, "name", settings->name);
    json_put_bool(w, "paused", settings->paused);
    json_put_i64(w, "maxConcurrent", settings->max_concurrent);
    json_put_f64(w, "ratePerSecond", settings->rate_per_second);
    json_put_i64(w, "burst", settings->burst);
    counts_put(w, "counts", view->counts);
    json_close_object(w);
}

/* ---- Looking ---- */

static void answer_queues(struct call *call)
{
    const struct command_queues *queues = &((struct command *)call->own)->queues;
    struct json_writer w = call_writer(call);
    json_open_array(&w);
    for (size_t i = 0; i < queues->count; i++) {
        write_queue(&w, &queues->views[i]);
    }
    json_close_array(&w);
    call_answer(call, 200);
}

bool on_queue_list(struct call *call, struct err *err)
{
    if (!call_params(call, no_params, NULL, err)) {
        return false;
    }
    call->own = call_command(call, COMMAND_QUEUES);
    call->done = answer_queues;
    return true;
}

static void answer_found(struct call *call)
{
    const struct command_queues *queues = &((struct command *)call->own)->queues;
    for (size_t i = 0; i < queues->count; i++) {
        if (str_eq(queues->views[i].settings.name, call->name)) {
            struct json_writer w = call_writer(call);
            write_queue(&w, &queues->views[i]);
            call_answer(call, 200);
            return;
        }
    }
    struct err err = ERR_INIT;
    err_set(&err, ERR_NOT_FOUND, "there is no such queue");
    call_fail(call, &err);
}

bool on_queue_show(struct call *call, struct err *err)
{
    if (!call_params(call, no_params, NULL, err)) {
        return false;
    }
    call->own = call_command(call, COMMAND_QUEUES);
    call->done = answer_found;
    return true;
}

/* ---- Setting ---- */

/* Null lifts a limit, as 0 does. */
static bool set_limit(struct json *json, int64_t *out, struct err *err)
{
    *out = 0;
    return json_take_null(json) || field_i64(json, 0, QUEUE_LIMIT_MAX, out, err);
}

static bool set_max_concurrent(struct json *json, void *into, struct err *err)
{
    struct command_queue *queue = into;
    queue->has_max_concurrent = true;
    return set_limit(json, &queue->set.max_concurrent, err);
}

static bool set_rate(struct json *json, void *into, struct err *err)
{
    struct command_queue *queue = into;
    double *rate = &queue->set.rate_per_second;
    queue->has_rate = true;
    if (json_take_null(json)) {
        return true;
    }
    return field_f64(json, 0, QUEUE_LIMIT_MAX, rate, err) &&
           (*rate == 0 || *rate >= RATE_MIN ||
            json_refuse(json, err, "must be 0 (no limit) or at least %.5f", RATE_MIN));
}

static bool set_burst(struct json *json, void *into, struct err *err)
{
    struct command_queue *queue = into;
    queue->has_burst = true;
    return set_limit(json, &queue->set.burst, err);
}

static const struct field settings_table[] = {
    FIELD("maxConcurrent", set_max_concurrent),
    FIELD("ratePerSecond", set_rate),
    FIELD("burst", set_burst),
};

static void answer_queue(struct call *call)
{
    struct json_writer w = call_writer(call);
    write_queue(&w, &((struct command *)call->own)->queue.view);
    call_answer(call, 200);
}

static bool check_name(struct call *call, struct err *err)
{
    return task_queue_name_ok(call->name) ||
           err_field(err, "queue", "queue must be 1 to %d characters of [A-Za-z0-9_.:/-]",
                     TASK_QUEUE_MAX);
}

/* Its number is another team's later: what is set would hold that one up. */
static bool check_settable(struct call *call, struct err *err)
{
    return check_name(call, err) &&
           (!reserved_for_teams(call->name) ||
            err_field(
                err, "queue",
                "queue must not be a team's: its number is given to others; cancel the team"));
}

static void give_queue(struct call *call, const struct command_queue *queue)
{
    struct command *command = call_command(call, COMMAND_QUEUE);
    command->queue = *queue;
    command->queue.name = command->queue.set.name = call->name;
    call->own = command;
    call->done = answer_queue;
}

bool on_queue_set(struct call *call, struct err *err)
{
    struct command_queue queue = {0};
    if (!check_settable(call, err) || !call_params(call, no_params, NULL, err) ||
        !call_fields(call, FIELDS(settings_table), false, &queue, err)) {
        return false;
    }
    give_queue(call, &queue);
    return true;
}

static bool pause_queue(struct call *call, bool paused, struct err *err)
{
    if (!(paused ? check_settable : check_name)(call, err) ||
        !call_params(call, no_params, NULL, err) ||
        !call_fields(call, FIELDS_NONE, true, NULL, err)) {
        return false;
    }
    give_queue(call, &(struct command_queue){.has_paused = true, .set.paused = paused});
    return true;
}

bool on_queue_pause(struct call *call, struct err *err)
{
    return pause_queue(call, true, err);
}

bool on_queue_resume(struct call *call, struct err *err)
{
    return pause_queue(call, false, err);
}

bool on_queue_purge(struct call *call, struct err *err)
{
    if (!check_name(call, err) || !call_params(call, no_params, NULL, err) ||
        !call_fields(call, FIELDS_NONE, true, NULL, err)) {
        return false;
    }
    struct task_filter filter = {
        .queue = call->name,
        .states =
            1u << TASK_SCHEDULED | 1u << TASK_WAITING | 1u << TASK_QUEUED | 1u << TASK_RETRYING,
    };
    call_bulk(call, BULK_PURGE, &filter, STR_NONE);
    return true;
}
