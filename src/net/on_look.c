/* net/on_look.c: lists of tasks, and one task as it is or as it ends.
 *
 * Waiting for a task to end: the watch starts before the task is read, so that an end in between
 * is not missed; when the watch fires or the time is over, the task is read once more.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/call.h"
#include "net/filter_in.h"
#include "net/on.h"
#include "net/task_out.h"
#include "schedule/execution.h"

/* ---- Lists ---- */

static void answer_list(struct call *call)
{
    const struct query *query = call->own;
    const struct task_rows *rows = &query->rows;
    struct json_writer w = call_writer(call);
    json_open_array(&w);
    for (size_t i = 0; i < rows->count; i++) {
        if (filter_begins(&query->filter, rows->at[i].task.id)) {
            task_write_row(&w, &rows->at[i]);
        }
    }
    json_close_array(&w);
    call_answer_page(call, rows->more, rows->count > 0 ? &rows->at[rows->count - 1].task.id : NULL);
}

bool on_task_list(struct call *call, struct err *err)
{
    struct task_filter filter = {.limit = LIST_LIMIT_DEFAULT, .omit_over = LIST_OMIT_OVER};
    if (!call_asked(call, &list_form, &filter, err)) {
        return false;
    }
    filter_narrow(&filter);
    struct query *query = call_query(call, QUERY_LIST);
    query->filter = filter;
    call->own = query;
    call->done = answer_list;
    call_ask(call, query);
    return true;
}

/* ---- One task ---- */

#define FLEET_LOOK_MS (2 * SECOND_MS)

struct show {
    struct call *call;
    struct query *query;
    struct query *run; /* the execution that the task stands for; NULL: not asked for */
    struct events_watch watch;
    bool waits;      /* an unfinished task is not the answer yet */
    bool asking;     /* the query is out */
    int64_t left_ms; /* of the wait, behind the timer that runs */
    bool waited;     /* or still waits */
};

static void show_stop_waiting(struct show *show)
{
    if (show->watch.active) {
        events_unwatch(show->call->api->options.events, &show->watch);
    }
    show->waits = false;
}

static void show_ask(struct show *show)
{
    if (!show->asking) {
        show->asking = true;
        call_ask(show->call, show->query);
    }
}

static void show_failed(struct call *call)
{
    show_stop_waiting(call->own);
    call_fail(call, &call->failure);
}

static void show_write(struct call *call)
{
    const struct show *show = call->own;
    struct json_writer w = call_writer(call);
    struct execution execution = {.deliveries = STR_NONE};
    struct err ignored = ERR_INIT;
    if (show->run != NULL && show->run->found) { /* one that cannot be read shows no deliveries */
        (void)!execution_load(&show->run->record, call->arena, &execution, &ignored);
    }
    task_write_detail(&w, &show->query->detail, execution.deliveries);
    call_answer(call, 200);
}

/* The run of a schedule is answered with what became of its deliveries: its execution, which has
 * the same id, knows. */
static void show_answer(struct call *call)
{
    struct show *show = call->own;
    struct err err = ERR_INIT;
    if (show->waited && !call_may_still(call, &err)) {
        call_fail(call, &err);
        return;
    }
    if (id_none(show->query->detail.task.schedule)) {
        show_write(call);
        return;
    }
    show->run = call_query(call, QUERY_RECORD);
    show->run->record_filter.kind = RECORD_EXECUTION;
    show->run->id = show->query->id;
    call->done = show_write;
    call_ask(call, show->run);
}

static void show_read(struct call *call)
{
    struct show *show = call->own;
    const struct query *query = show->query;
    show->asking = false;
    if (!query->found) {
        err_set(&call->failure, ERR_NOT_FOUND, "there is no such task");
        show_failed(call);
        return;
    }
    bool over = task_state_terminal(query->detail.task.state) || call->exchange->is_gone;
    if (show->waits && !over && show->watch.active) {
        return;
    }
    if (show->waits && !over) { /* it ended after this was read */
        show->waits = false;
        show_ask(show);
        return;
    }
    show_stop_waiting(show);
    show_answer(call);
}

/* Time is over, the client left, or the task has ended: one more look, and that is the answer. */
static void show_last_look(struct show *show)
{
    bool was_out = show->asking;
    show_stop_waiting(show);
    if (!was_out) {
        show_ask(show);
    }
}

static void show_ended(struct events_watch *watch, const struct event *event)
{
    struct show *show = HOLDER(watch, struct show, watch);
    (void)event;
    if (!show->asking) { /* else show_read() sees that the watch is over, and looks again */
        show_last_look(show);
    }
}

static void show_time_over(struct exchange *exchange);

/* The task may end on another node, and its word may be lost with a broken connection: there the
 * row is looked at from time to time. */
static void show_set_timer(struct show *show)
{
    int64_t slice_ms =
        show->call->api->home->fleet == NULL ? show->left_ms : MIN(show->left_ms, FLEET_LOOK_MS);
    show->left_ms -= slice_ms;
    exchange_timer(show->call->exchange, slice_ms, show_time_over);
}

static void show_time_over(struct exchange *exchange)
{
    struct show *show = ((struct call *)exchange->user)->own;
    if (show->left_ms == 0) {
        show_last_look(show);
        return;
    }
    show_ask(show);
    show_set_timer(show);
}

static void show_gone(struct exchange *exchange)
{
    show_last_look(((struct call *)exchange->user)->own);
}

struct show_in {
    int64_t wait_ms;
};
static const struct form_row show_rows[] = {
    FORM_ROW("waitMs", struct show_in, wait_ms, FORM_I64, FORM_SET | FORM_DEFAULT,
             .max = CLAIM_WAIT_MAX, .about = "Hold the answer this long for the task to end."),
};
const struct form show_form = FORM(show_rows);

static void show_wait(struct show *show, int64_t wait_ms)
{
    struct exchange *exchange = show->call->exchange;
    show->waits = show->waited = true;
    show->watch.task = show->query->id;
    show->watch.fire = show_ended;
    events_watch(show->call->api->options.events, &show->watch);
    exchange->gone = show_gone;
    show->left_ms = wait_ms;
    show_set_timer(show);
}

bool on_task_show(struct call *call, struct err *err)
{
    struct task_id id;
    struct show_in in = {0};
    if (!call_id(call, &id, err) || !call_asked(call, &show_form, &in, err)) {
        return false;
    }
    struct show *show = arena_new(call->arena, struct show);
    show->call = call;
    show->query = call_query(call, QUERY_DETAIL);
    show->query->id = id;
    call->own = show;
    call->done = show_read;
    call->failed = show_failed;
    if (in.wait_ms > 0) {
        show_wait(show, in.wait_ms);
    }
    show_ask(show);
    return true;
}
