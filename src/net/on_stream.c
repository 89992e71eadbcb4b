/* net/on_stream.c: server-sent events: of the whole system, and of one task and its descendants.
 *
 * The hub (events.h) owns a stream once it has it. A task's stream begins with the family as it is
 * now: the hub's position is taken first, then the tasks are read, then the hub goes on behind that
 * position, so nothing falls between.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/call.h"
#include "net/on.h"

bool on_events(struct call *call, struct err *err)
{
    struct events_filter filter;
    if (!events_filter_parse(call->exchange, &filter, err)) {
        return false;
    }
    filter.user = call_user(call);
    return call_subscribe(call, &filter, err);
}

/* ---- One task ---- */

struct stream {
    struct query *query;
    struct arena rows; /* what was read: the stream may last long, and needs none of it */
    struct events_filter filter;
};

/* When it came to its state. */
static int64_t since_ms(const struct task *task)
{
    return task->state == TASK_RUNNING        ? task->started_ms
           : task->state == TASK_QUEUED       ? task->queued_ms
           : task_state_terminal(task->state) ? task->finished_ms
                                              : task->updated_ms;
}

/* The task as it is, in the words of a live event. */
static struct event event_of(const struct task *task, enum event_kind kind)
{
    return (struct event){
        .kind = kind,
        .at_ms = kind == EVENT_STATE ? since_ms(task) : task->updated_ms,
        .task = task->id,
        .parent = task->parent,
        .family = task->family,
        .type = task->type,
        .queue = task->queue,
        .document = task->document,
        .state = task->state,
        .attempt = task->attempt,
        .percent = task->progress,
        .text = kind == EVENT_PROGRESS ? task->progress_message : STR_NONE,
    };
}

static void add_first(struct events_filter *filter, struct event *first, const struct task *task)
{
    first[filter->first_count++] = event_of(task, EVENT_STATE);
    bool progressed = task->progress >= 0 || !str_absent(task->progress_message);
    if (progressed && !task_state_terminal(task->state)) {
        first[filter->first_count++] = event_of(task, EVENT_PROGRESS);
    }
}

/* The stream begins with how the task and its descendants stand now. Its own end comes last: it is
 * the end of the stream. */
static void fill_first(struct stream *stream, struct arena *arena)
{
    struct events_filter *filter = &stream->filter;
    const struct task *task = &stream->query->detail.task;
    const struct task_rows *rows = &stream->query->rows;
    struct event *first = arena_array(arena, struct event, 2 * (rows->count + 1));
    struct task_id *family = arena_array(arena, struct task_id, rows->count);
    bool over = task_state_terminal(task->state);
    if (!over) {
        add_first(filter, first, task);
    }
    for (size_t i = 0; i < rows->count; i++) {
        family[i] = rows->at[i].task.id;
        add_first(filter, first, &rows->at[i].task);
    }
    if (over) {
        add_first(filter, first, task);
    }
    filter->first = first;
    filter->family = family;
    filter->family_count = rows->count;
}

static void begin_stream(struct call *call)
{
    struct stream *stream = call->own;
    SCOPED(arena_fini) struct arena rows = stream->rows; /* outlives the stream if that ends now */
    struct err err = ERR_INIT;
    if (!stream->query->found) {
        err_set(&err, ERR_NOT_FOUND, "there is no such task");
        call_fail(call, &err);
        return;
    }
    fill_first(stream, &rows);
    if (!call_subscribe(call, &stream->filter, &err)) {
        call_fail(call, &err);
    }
}

static void fail_stream(struct call *call)
{
    struct stream *stream = call->own;
    arena_fini(&stream->rows);
    call_fail(call, &call->failure);
}

bool on_task_stream(struct call *call, struct err *err)
{
    struct stream *stream = arena_new(call->arena, struct stream);
    struct task_id id;
    if (!call_id(call, &id, err) || !events_filter_parse(call->exchange, &stream->filter, err)) {
        return false;
    }
    if (stream->filter.pace_ms != 0 || stream->filter.topics != 0) {
        return err_set(err, ERR_INVALID, "the stream of a task has its own events, at once");
    }
    stream->filter.task = id;
    stream->filter.until_ended = true;
    stream->filter.after = events_last(call->api->options.events);
    stream->query = call_query(call, QUERY_FAMILY);
    stream->query->id = id;
    stream->query->arena = &stream->rows;
    call->own = stream;
    call->done = begin_stream;
    call->failed = fail_stream;
    call_ask(call, stream->query);
    return true;
}
