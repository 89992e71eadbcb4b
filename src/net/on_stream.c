/* net/on_stream.c: server-sent events: of the whole system, and of one task.
 *
 * The hub (events.h) owns a stream once it has it. A task's stream begins with the task as it is
 * now: the hub's position is taken first, then the task is read, then the hub goes on behind that
 * position, so nothing falls between.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/call.h"
#include "net/on.h"

#define TYPES_SCHEMA "{\"type\":\"string\",\"description\":\"state,progress,log,queue,leader\"}"
#define TEXT_SCHEMA  "{\"type\":\"string\"}"
#define STREAM_ROWS                                                                                \
    PARAM("types", NULL, TYPES_SCHEMA, "Only these kinds of events, comma separated."),            \
        PARAM("lastEventId", NULL, TEXT_SCHEMA, "Resume behind this event; a header does too."),   \
        PARAM("access_token", NULL, TEXT_SCHEMA, "The token, for readers that send no headers.")

/* Read by events_filter_parse(); here for openapi.json. */
static const struct param stream_table[] = {STREAM_ROWS};
static const struct param events_table[] = {
    STREAM_ROWS,
    PARAM("taskType", NULL, TEXT_SCHEMA, "Only events of tasks of this type."),
    PARAM("documentId", NULL, TEXT_SCHEMA, "Only events of tasks of this document."),
};
const struct params stream_params = {stream_table, ARRAY_LEN(stream_table)};
const struct params events_params = {events_table, ARRAY_LEN(events_table)};

bool on_events(struct call *call, struct err *err)
{
    struct events_filter filter;
    return events_filter_parse(call->exchange, &filter, err) &&
           events_subscribe(call->api->options.events, call->exchange, &filter, err);
}

/* ---- One task ---- */

struct stream {
    struct query *query;
    struct events_filter filter;
};

/* The task as it is, in the words of a live event. */
static struct event state_of(const struct task *task)
{
    return (struct event){
        .kind = EVENT_STATE,
        .at_ms = task->updated_ms,
        .task = task->id,
        .type = task->type,
        .queue = task->queue,
        .document = task->document,
        .state = task->state,
        .attempt = task->attempt,
    };
}

static void begin_stream(struct call *call)
{
    struct stream *stream = call->own;
    struct err err = ERR_INIT;
    struct event first = state_of(&stream->query->detail.task);
    stream->filter.first = &first;
    if (!stream->query->found) {
        err_set(&err, ERR_NOT_FOUND, "there is no such task");
        call_fail(call, &err);
    } else if (!events_subscribe(call->api->options.events, call->exchange, &stream->filter,
                                 &err)) {
        call_fail(call, &err);
    }
}

bool on_task_stream(struct call *call, struct err *err)
{
    struct stream *stream = arena_new(call->arena, struct stream);
    struct task_id id;
    if (!call_id(call, &id, err) || !events_filter_parse(call->exchange, &stream->filter, err)) {
        return false;
    }
    stream->filter.task = id;
    stream->filter.until_ended = true;
    stream->filter.after = events_last(call->api->options.events);
    stream->query = call_query(call, QUERY_DETAIL);
    stream->query->id = id;
    call->own = stream;
    call->done = begin_stream;
    call_ask(call, stream->query);
    return true;
}
