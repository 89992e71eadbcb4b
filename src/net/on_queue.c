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

static void show_counts(struct json_writer *w, const struct form_row *row, const void *from)
{
    counts_put(w, row->name.ptr, ((const struct queue_view *)from)->counts);
}

static const struct form_hook counts_hook = {.show = show_counts};

static void show_oldest(struct json_writer *w, const struct form_row *row, const void *from)
{
    int64_t oldest_ms = ((const struct queue_view *)from)->oldest_ms;
    if (oldest_ms != INT64_MAX) {
        json_put_time(w, row->name.ptr, oldest_ms);
    }
}

static const struct form_hook oldest_hook = {.show = show_oldest};

#define ROW(label, member, kind, use, ...)                                                         \
    FORM_ROW(label, struct queue_view, member, kind, FORM_SHOWN | (use), __VA_ARGS__)
#define LIMIT (FORM_SET | FORM_NULL) /* null lifts it, as 0 does */

/* clang-format off */
static const struct form_row rows[] = {
    ROW("name", settings.name, FORM_TEXT, FORM_ALWAYS, 0),
    ROW("paused", settings.paused, FORM_BOOL, 0, 0),
    ROW("maxConcurrent", settings.max_concurrent, FORM_I64, LIMIT, .max = QUEUE_LIMIT_MAX,
        .about = "0: no limit."),
    ROW("ratePerSecond", settings.rate_per_second, FORM_F64, LIMIT | FORM_ALWAYS,
        .max = QUEUE_LIMIT_MAX, .about = "0: no limit; else at least 0.00001."),
    ROW("burst", settings.burst, FORM_I64, LIMIT, .max = QUEUE_LIMIT_MAX,
        .about = "0: as many as the rate, at least 1."),
    ROW("counts", counts, FORM_HOOK, FORM_ALWAYS, .hook = &counts_hook,
        .schema = "{\"$ref\":\"#/components/schemas/Counts\"}"),
    ROW("oldestQueuedAt", oldest_ms, FORM_HOOK, 0, .hook = &oldest_hook,
        .schema = "{\"type\":\"string\",\"format\":\"date-time\"}",
        .about = "Since when its oldest ready task waits; absent when none does."),
};
/* clang-format on */
const struct form queue_form = FORM(rows);

static void write_queue(struct json_writer *w, const struct queue_view *view)
{
    json_open_object(w);
    form_show(w, &queue_form, view);
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
    if (!call_asked(call, NULL, NULL, err)) {
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
    if (!call_asked(call, NULL, NULL, err)) {
        return false;
    }
    call->own = call_command(call, COMMAND_QUEUES);
    call->done = answer_found;
    return true;
}

/* ---- Setting ---- */

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
    struct queue_view view = {0};
    uint64_t given = 0;
    if (!check_settable(call, err) || !call_asked(call, NULL, NULL, err) ||
        !call_body(call, &queue_form, false, &view, &given, err)) {
        return false;
    }
    double rate = MAX(view.settings.rate_per_second, 0);
    if (rate > 0 && rate < RATE_MIN) {
        return err_field(err, "ratePerSecond",
                         "ratePerSecond must be 0 (no limit) or at least %.5f", RATE_MIN);
    }
    view.settings.rate_per_second = rate;
    give_queue(call, &(struct command_queue){
                         .has_max_concurrent = form_given(&queue_form, given, "maxConcurrent"),
                         .has_rate = form_given(&queue_form, given, "ratePerSecond"),
                         .has_burst = form_given(&queue_form, given, "burst"),
                         .set = view.settings});
    return true;
}

static bool pause_queue(struct call *call, bool paused, struct err *err)
{
    if (!(paused ? check_settable : check_name)(call, err) || !call_asked(call, NULL, NULL, err) ||
        !call_body(call, NULL, true, NULL, NULL, err)) {
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
    if (!check_name(call, err) || !call_asked(call, NULL, NULL, err) ||
        !call_body(call, NULL, true, NULL, NULL, err)) {
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
