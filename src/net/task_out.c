/* net/task_out.c: tasks as JSON. See task_out.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/task_out.h"

#include "task/trace.h"

/* ---- Small pieces ---- */

void id_write(struct json_writer *w, struct task_id id)
{
    char text[TASK_ID_TEXT + 2];
    struct str plain = id_text(id, text + 1);
    text[0] = text[1 + plain.len] = '"';
    json_add_raw(w, (struct str){text, plain.len + 2});
}

void id_put(struct json_writer *w, const char *key, struct task_id id)
{
    if (!id_none(id)) {
        json_key(w, key);
        id_write(w, id);
    }
}

void ids_put(struct json_writer *w, const char *key, const struct task_id *ids, size_t count)
{
    json_put_array(w, key);
    for (size_t i = 0; i < count; i++) {
        id_write(w, ids[i]);
    }
    json_close_array(w);
}

void time_put(struct json_writer *w, const char *key, int64_t ms)
{
    if (ms != 0) {
        json_put_time(w, key, ms);
    }
}

void signal_put(struct json_writer *w, enum worker_signal signal)
{
    if (signal != SIGNAL_NONE) {
        json_put_c(w, "signal", task_worker_signal_name(signal));
    }
}

void counts_put(struct json_writer *w, const char *key, const int64_t counts[TASK_STATES])
{
    json_put_object(w, key);
    for (int state = 0; state < TASK_STATES; state++) {
        json_put_i64(w, task_state_name((enum task_state)state), counts[state]);
    }
    json_close_object(w);
}

/* ---- A task ---- */

/* What a task is shown with beside its own fields: what is said to be left out (an error is
 * shortened, not left out), and what it depends on. */
struct task_view {
    const struct task *task;
    bool payload_omitted, result_omitted, metadata_omitted, error_omitted;
};

static void show_base64(struct json_writer *w, const struct form_row *row, const void *from)
{
    const struct task_view *view = from;
    if (view->task->payload_raw && !str_absent(view->task->payload) && !view->payload_omitted) {
        json_key(w, row->name.ptr);
        json_add_base64(w, view->task->payload);
    }
}

/* Of a new one; the other views know more about them. */
static void show_depends(struct json_writer *w, const struct form_row *row, const void *from)
{
    const struct task *task = ((const struct task_view *)from)->task;
    if (task->depends_count > 0) {
        ids_put(w, row->name.ptr, task->depends, task->depends_count);
    }
}

static const struct form_hook base64_hook = {.show = show_base64};
static const struct form_hook depends_hook = {.show = show_depends};

#define ROW(label, member, kind, ...)                                                              \
    FORM_ROW(label, struct task_view, member, kind, FORM_SHOWN, __VA_ARGS__)

/* clang-format off */
static const struct form_row view_rows[] = {
    ROW("payloadBase64", task, FORM_HOOK, .hook = &base64_hook,
        .schema = "{\"type\":\"string\",\"contentEncoding\":\"base64\"}"),
    ROW("payloadOmitted", payload_omitted, FORM_YES,
        .about = "The payload is over 4 KiB and left out of lists."),
    ROW("resultOmitted", result_omitted, FORM_YES,
        .about = "The result is over 4 KiB and left out of lists."),
    ROW("metadataOmitted", metadata_omitted, FORM_YES,
        .about = "The metadata is over 4 KiB and left out of lists."),
    ROW("errorOmitted", error_omitted, FORM_YES,
        .about = "The error is over 4 KiB: in lists it has no detail and the beginning of its message."),
    ROW("dependsOn", task, FORM_HOOK, .hook = &depends_hook,
        .schema = "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"format\":\"uuid\"}}",
        .about = "When it was created, claimed or is shown whole; not in lists."),
};
/* clang-format on */
const struct form task_view_form = FORM(view_rows);

/* All fields of a task, inside an object that is open. */
static void put_task(struct json_writer *w, const struct task_view *view)
{
    const struct task *task = view->task;
    uint64_t hidden = 0;
    if (task->state != TASK_RUNNING) {
        hidden |= TASK_BIT(worker) | TASK_BIT(lease_until_ms) | TASK_BIT(cancel_requested);
    }
    hidden |= task->payload_raw || view->payload_omitted ? TASK_BIT(payload) : 0;
    hidden |= view->result_omitted ? TASK_BIT(result) : 0;
    hidden |= view->metadata_omitted ? TASK_BIT(metadata) : 0;
    form_show_but(w, &task_form, task, hidden);
    form_show(w, &task_view_form, view);
}

static void put_whole(struct json_writer *w, const struct task *task)
{
    bool full = w->buf->len > ANSWER_WHOLE_MAX;
    put_task(w,
             &(struct task_view){.task = task,
                                 .payload_omitted = full && task->payload.len > LIST_OMIT_OVER,
                                 .result_omitted = full && task->result.len > LIST_OMIT_OVER,
                                 .metadata_omitted = full && task->metadata.len > LIST_OMIT_OVER});
}

/* ---- Its views ---- */

void task_write(struct json_writer *w, const struct task *task)
{
    json_open_object(w);
    put_whole(w, task);
    json_close_object(w);
}

void task_write_created(struct json_writer *w, const struct order *orders, size_t count, size_t at)
{
    json_open_object(w);
    put_whole(w, &orders[at].task);
    if (orders[at].task.container && !orders[at].known) {
        json_put_array(w, "childIds");
        for (size_t i = at + 1; i < count; i++) { /* children come behind their parent */
            if (orders[i].parent == at + 1) {
                id_write(w, orders[i].task.id);
            }
        }
        json_close_array(w);
    }
    json_close_object(w);
}

void task_write_row(struct json_writer *w, const struct task_row *row)
{
    json_open_object(w);
    put_task(w, &(struct task_view){&row->task, row->payload_omitted, row->result_omitted,
                                    row->metadata_omitted, row->error_omitted});
    json_close_object(w);
}

static void dependencies_put(struct json_writer *w, const struct task_dependency *on, size_t count)
{
    if (count == 0) {
        return;
    }
    json_put_array(w, "dependsOn");
    for (size_t i = 0; i < count; i++) {
        id_write(w, on[i].id);
    }
    json_close_array(w);
    json_put_array(w, "dependencyResults");
    for (size_t i = 0; i < count; i++) {
        json_open_object(w);
        id_put(w, "id", on[i].id);
        json_put_c(w, "state", task_state_name(on[i].state));
        if (w->buf->len > ANSWER_WHOLE_MAX && on[i].result.len > LIST_OMIT_OVER) {
            json_put_bool(w, "resultOmitted", true);
        } else if (!str_absent(on[i].result)) {
            json_put_raw(w, "result", on[i].result);
        }
        json_close_object(w);
    }
    json_close_array(w);
}

static void traceparent_put(struct json_writer *w, const struct task *task, bool traced)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct task_trace trace;
    if (!traced && str_absent(task->metadata)) {
        return;
    }
    task_trace(task, task->metadata, traced, &arena, &trace);
    if (traced || !str_absent(trace.from)) {
        json_put_c(w, "traceparent", trace.parent);
    }
}

void task_open_claimed(struct json_writer *w, const struct task *task, bool traced)
{
    char lease[TASK_LEASE_TEXT];
    json_open_object(w);
    put_whole(w, task);
    json_put_str(w, "lease",
                 task_lease_text((struct task_lease){task->attempt, task->token}, lease));
    traceparent_put(w, task, traced);
}

void task_write_claimed(struct json_writer *w, const struct task *task,
                        const struct claim_facts *facts, bool traced)
{
    task_open_claimed(w, task, traced);
    dependencies_put(w, facts->dependencies, facts->dependencies_count);
    json_close_object(w);
}

static void show_log(struct json_writer *w, const struct form_row *row, const void *from)
{
    struct str log = ((const struct task_attempt *)from)->log;
    json_put_array(w, row->name.ptr);
    while (log.len > 0) {
        json_add_str(w, str_cut(&log, '\n'));
    }
    json_close_array(w);
}

static const struct form_hook log_hook = {.show = show_log};

#define ATTEMPT_ROW(label, member, kind, use, ...)                                                 \
    FORM_ROW(label, struct task_attempt, member, kind, FORM_SHOWN | (use), __VA_ARGS__)

/* clang-format off */
static const struct form_row attempt_rows[] = {
    ATTEMPT_ROW("number", number, FORM_I32, 0, .min = 1),
    ATTEMPT_ROW("outcome", outcome, FORM_WORD, 0, .words = task_outcome_words, .about = "Absent while it runs."),
    ATTEMPT_ROW("workerId", worker, FORM_TEXT, 0, 0),
    ATTEMPT_ROW("startedAt", started_ms, FORM_TIME, 0, 0),
    ATTEMPT_ROW("finishedAt", finished_ms, FORM_TIME, 0, 0),
    ATTEMPT_ROW("error.code", error.code, FORM_TEXT, 0, 0),
    ATTEMPT_ROW("error.message", error.message, FORM_TEXT, 0, 0),
    ATTEMPT_ROW("error.detail", error.detail, FORM_VALUE, 0, .about = "Any JSON value."),
    ATTEMPT_ROW("log", log, FORM_HOOK, FORM_ALWAYS, .hook = &log_hook, .about = "Lines.",
                .schema = "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"),
};
/* clang-format on */
const struct form attempt_form = FORM(attempt_rows);

void task_write_detail(struct json_writer *w, const struct task_detail *detail,
                       struct str deliveries)
{
    json_open_object(w);
    put_whole(w, &detail->task);
    json_put_array(w, "attempts");
    for (size_t i = 0; i < detail->attempts_count; i++) {
        json_open_object(w);
        form_show(w, &attempt_form, &detail->attempts[i]);
        json_close_object(w);
    }
    json_close_array(w);
    ids_put(w, "childIds", detail->children, detail->children_count);
    if (!str_absent(deliveries)) {
        json_put_raw(w, "deliveries", deliveries);
    }
    dependencies_put(w, detail->dependencies, detail->dependencies_count);
    json_close_object(w);
}
