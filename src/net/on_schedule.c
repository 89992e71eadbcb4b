/* net/on_schedule.c: what clients wish of schedules: create, change, pause, run.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/on.h"
#include "net/schedule_in.h"
#include "net/schedule_out.h"
#include "net/task_out.h"

/* What a request says of an order, beside the schedule that the path names. */
#define ROW(label, member, form_kind, use, ...)                                                    \
    FORM_ROW(label, struct planner_order, member, form_kind, FORM_SET | (use), __VA_ARGS__)

static const struct form_row pause_rows[] = {
    ROW("reason", reason, FORM_TEXT, 0, .max = TASK_REASON_MAX),
    ROW("until", until_ms, FORM_TIME, 0, .about = "It is ACTIVE again by itself then."),
};
static const struct form_row window_rows[] = {
    ROW("from", from_ms, FORM_TIME, FORM_NEEDED, 0),
    ROW("to", to_ms, FORM_TIME, FORM_NEEDED, .about = "Included; not in the future."),
    ROW("again", again, FORM_BOOL, FORM_DEFAULT, .about = "Also the times that have run."),
};
const struct form schedule_pause_form = FORM(pause_rows);
const struct form schedule_window_form = FORM(window_rows);

/* ---- Wishes ---- */

static struct planner_order *wish(struct call *call, enum planner_verb verb,
                                  void (*done)(struct call *call))
{
    struct planner_order *order = arena_new(call->arena, struct planner_order);
    order->verb = verb;
    order->owner = call_user(call);
    call->own = order;
    call->done = done;
    call->failed = schedule_fail;
    planner_ask(call->api->parts.planner, call_command(call, COMMAND_GUEST), order);
    return order;
}

static bool read_id(struct call *call, struct task_id *out, struct err *err)
{
    return (id_parse(call->name, out) && !id_none(*out)) ||
           err_set(err, ERR_NOT_FOUND, "there is no such schedule");
}

static void answer_schedule(struct call *call)
{
    struct json_writer w = call_writer(call);
    schedule_write_made(&w, &((struct planner_order *)call->own)->schedule, call->api);
    call_answer(call, 200);
}

/* ---- Creating and changing ---- */

static void answer_created(struct call *call)
{
    const struct schedule *schedule = &((struct planner_order *)call->own)->schedule;
    char text[TASK_ID_TEXT];
    struct json_writer w = call_writer(call);
    schedule_write_made(&w, schedule, call->api);
    call_answer_with(call, 201, "application/json",
                     arena_printf(call->arena, "Location: /api/schedules/" STR_FMT "\r\n",
                                  STR_ARG(id_text(schedule->id, text))));
}

static void create(struct call *call, struct schedule_in *in)
{
    wish(call, PLANNER_CREATE, answer_created)->schedule = in->schedule;
}

bool on_schedule_create(struct call *call, struct err *err)
{
    struct schedule_in *in = arena_new(call->arena, struct schedule_in);
    in->ready = create;
    return call_asked(call, NULL, NULL, err) && schedule_in_read(call, in, err);
}

bool on_schedule_change(struct call *call, struct err *err)
{
    struct task_id id;
    struct schedule_change *change = arena_new(call->arena, struct schedule_change);
    if (!read_id(call, &id, err) || !call_asked(call, NULL, NULL, err) ||
        !schedule_in_change(call, change, err)) {
        return false;
    }
    struct planner_order *order = wish(call, PLANNER_CHANGE, answer_schedule);
    order->id = id;
    order->change = change;
    return true;
}

static void answer_removed(struct call *call)
{
    call_answer_empty(call, 204);
}

bool on_schedule_remove(struct call *call, struct err *err)
{
    struct task_id id;
    if (!read_id(call, &id, err) || !call_asked(call, NULL, NULL, err)) {
        return false;
    }
    wish(call, PLANNER_REMOVE, answer_removed)->id = id;
    return true;
}

/* ---- Pausing ---- */

bool on_schedule_pause(struct call *call, struct err *err)
{
    struct task_id id;
    struct planner_order in = {.reason = STR_NONE};
    if (!read_id(call, &id, err) || !call_asked(call, NULL, NULL, err) ||
        !call_body(call, &schedule_pause_form, true, &in, NULL, err)) {
        return false;
    }
    struct planner_order *order = wish(call, PLANNER_PAUSE, answer_schedule);
    order->id = id;
    order->reason = in.reason;
    order->until_ms = in.until_ms;
    return true;
}

bool on_schedule_resume(struct call *call, struct err *err)
{
    struct task_id id;
    if (!read_id(call, &id, err) || !call_asked(call, NULL, NULL, err) ||
        !call_body(call, &form_nothing, true, NULL, NULL, err)) {
        return false;
    }
    wish(call, PLANNER_RESUME, answer_schedule)->id = id;
    return true;
}

/* ---- Running ---- */

static void answer_run(struct call *call)
{
    struct task_id id = ((struct planner_order *)call->own)->execution;
    char text[TASK_ID_TEXT];
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    id_put(&w, "executionId", id);
    json_close_object(&w);
    call_answer_with(call, 202, "application/json",
                     arena_printf(call->arena, "Location: /api/executions/" STR_FMT "\r\n",
                                  STR_ARG(id_text(id, text))));
}

bool on_schedule_run(struct call *call, struct err *err)
{
    struct task_id id;
    if (!read_id(call, &id, err) || !call_asked(call, NULL, NULL, err) ||
        !call_body(call, &form_nothing, true, NULL, NULL, err)) {
        return false;
    }
    wish(call, PLANNER_RUN, answer_run)->id = id;
    return true;
}

static void answer_count(struct call *call)
{
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_i64(&w, "count", (int64_t)((struct planner_order *)call->own)->count);
    json_close_object(&w);
    call_answer(call, 202);
}

bool on_schedule_backfill(struct call *call, struct err *err)
{
    struct task_id id;
    struct planner_order in = {.from_ms = 0};
    if (!read_id(call, &id, err) || !call_asked(call, NULL, NULL, err) ||
        !call_body(call, &schedule_window_form, false, &in, NULL, err)) {
        return false;
    }
    if (in.from_ms > in.to_ms) {
        return err_field(err, "to", "to must not be before from");
    }
    struct planner_order *order = wish(call, PLANNER_BACKFILL, answer_count);
    order->id = id;
    order->from_ms = in.from_ms;
    order->to_ms = in.to_ms;
    order->again = in.again;
    return true;
}
