/* net/on_task.c: creating, steering and explaining single tasks.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/call.h"
#include "net/filter_in.h"
#include "net/on.h"
#include "net/task_in.h"
#include "net/task_out.h"
#include "wire/trace.h"

/* ---- Creating ---- */

static void created_one(struct call *call)
{
    const struct command_create *create = &((struct command *)call->own)->create;
    const struct order *order = create->orders;
    struct json_writer w = call_writer(call);
    char location[] = "Location: /api/tasks/00000000-0000-0000-0000-000000000000\r\n";
    char *id = location + sizeof location - 1 - 2 - (TASK_ID_TEXT - 1);
    task_write_created(&w, create->orders, create->count, 0);
    id_text(order->task.id, id);
    id[TASK_ID_TEXT - 1] = '\r'; /* where it has put its NUL */
    call_answer_with(call, order->known ? 200 : 201, "application/json", str_of(location));
}

static void answer_many(struct call *call, const struct order *orders, size_t count)
{
    struct json_writer w = call_writer(call);
    json_open_array(&w);
    for (size_t i = 0; i < count; i++) {
        if (orders[i].parent == 0) { /* children are named by their parent */
            task_write_created(&w, orders, count, i);
        }
    }
    json_close_array(&w);
    call_answer(call, 201);
}

static void created_many(struct call *call)
{
    const struct command_create *create = &((struct command *)call->own)->create;
    answer_many(call, create->orders, create->count);
}

/* The trace of whoever orders a task goes with it, so that a push can go on with it. Metadata that
 * were given stay as they are. */
static void keep_trace(struct call *call, const struct create_in *in)
{
    const struct http_headers *headers = &call->exchange->request.headers;
    struct str parent = http_header(headers, "traceparent");
    struct str state = http_header(headers, "tracestate");
    if (str_absent(parent) || parent.len > TRACESTATE_MAX || !trace_is_parent(parent)) {
        return;
    }
    SCOPED(buf_fini) struct buf text = BUF_INIT(4 * KIB);
    struct json_writer w = JSON_WRITER(&text);
    json_open_object(&w);
    json_put_str(&w, "traceparent", (struct str){parent.ptr, TRACEPARENT_LEN});
    if (trace_is_state(state)) {
        json_put_str(&w, "tracestate", state);
    }
    json_close_object(&w);
    struct str metadata = arena_str(call->arena, buf_view(&text));
    for (size_t i = 0; i < in->count; i++) {
        struct task *task = &in->orders[i].task;
        task->metadata = str_absent(task->metadata) ? metadata : task->metadata;
    }
}

bool on_task_create(struct call *call, struct err *err)
{
    struct json json;
    struct create_in in;
    if (!call_asked(call, NULL, NULL, err) || !call_json(call, &json, err) ||
        !create_read(&json, call->api->options.payload_max, &in, err) || !json_end(&json, err)) {
        return false;
    }
    if (in.count == 0) {
        answer_many(call, NULL, 0);
        return true;
    }
    keep_trace(call, &in);
    struct command *command = call_command(call, COMMAND_CREATE);
    command->create = (struct command_create){in.orders, in.count};
    call->own = command;
    call->done = in.many ? created_many : created_one;
    return true;
}

/* ---- Steering ---- */

static void answer_task(struct call *call)
{
    const struct task *task = &((struct command *)call->own)->one.task;
    struct json_writer w = call_writer(call);
    task_write(&w, task);
    call_answer(call, 200);
}

static void answer_cancelled(struct call *call)
{
    const struct task *task = &((struct command *)call->own)->one.task;
    struct json_writer w = call_writer(call);
    task_write(&w, task);
    call_answer(call, task->state == TASK_CANCELLED ? 200 : 202);
}

static void answer_removed(struct call *call)
{
    call_answer_empty(call, 204);
}

static struct command_one *steer(struct call *call, enum command_kind kind, struct task_id id,
                                 void (*done)(struct call *call))
{
    struct command *command = call_command(call, kind);
    command->one.id = id;
    call->own = command;
    call->done = done;
    return &command->one;
}

bool on_task_cancel(struct call *call, struct err *err)
{
    struct task_id id;
    struct bulk_in in = {0};
    if (!call_id(call, &id, err) || !call_asked(call, NULL, NULL, err) ||
        !call_body(call, &reason_form, true, &in, NULL, err)) {
        return false;
    }
    steer(call, COMMAND_CANCEL, id, answer_cancelled)->reason = in.reason;
    return true;
}

bool on_task_retry(struct call *call, struct err *err)
{
    struct task_id id;
    if (!call_id(call, &id, err) || !call_asked(call, NULL, NULL, err) ||
        !call_body(call, NULL, true, NULL, NULL, err)) {
        return false;
    }
    steer(call, COMMAND_REVIVE, id, answer_task);
    return true;
}

bool on_task_change(struct call *call, struct err *err)
{
    struct json json;
    struct task_id id;
    struct task *to = arena_new(call->arena, struct task);
    uint64_t given = 0;
    if (!call_id(call, &id, err) || !call_asked(call, NULL, NULL, err) ||
        !call_json(call, &json, err) ||
        !form_read_for(FORM_CHANGE, &json, &task_form, to, &given, NULL, err) ||
        !json_end(&json, err)) {
        return false;
    }
    steer(call, COMMAND_CHANGE, id, answer_task)->patch = (struct task_patch){given, to};
    return true;
}

bool on_task_remove(struct call *call, struct err *err)
{
    struct task_id id;
    if (!call_id(call, &id, err) || !call_asked(call, NULL, NULL, err)) {
        return false;
    }
    steer(call, COMMAND_REMOVE, id, answer_removed);
    return true;
}

/* ---- Explaining ---- */

static void write_reason(struct json_writer *w, const struct why_reason *reason)
{
    json_open_object(w);
    json_put_c(w, "code", why_code_name(reason->code));
    json_put_str(w, "message", reason->message);
    id_put(w, "taskId", reason->task);
    if (!str_absent(reason->worker)) {
        json_put_str(w, "workerId", reason->worker);
    }
    time_put(w, "since", reason->since_ms);
    time_put(w, "until", reason->until_ms);
    if (reason->ahead >= 0) {
        json_put_i64(w, "ahead", reason->ahead);
    }
    if (reason->tasks_count > 0) {
        ids_put(w, "taskIds", reason->tasks, reason->tasks_count);
    }
    json_close_object(w);
}

static void answer_why(struct call *call)
{
    const struct command_why *why = &((struct command *)call->own)->why;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_c(&w, "state", task_state_name(why->state));
    json_put_array(&w, "reasons");
    for (size_t i = 0; i < why->count; i++) {
        write_reason(&w, &why->reasons[i]);
    }
    json_close_array(&w);
    json_close_object(&w);
    call_answer(call, 200);
}

bool on_task_why(struct call *call, struct err *err)
{
    struct task_id id;
    if (!call_id(call, &id, err) || !call_asked(call, NULL, NULL, err)) {
        return false;
    }
    struct command *command = call_command(call, COMMAND_WHY);
    command->why.id = id;
    call->own = command;
    call->done = answer_why;
    return true;
}
