/* net/on_team_stream.c: server-sent events of one team.
 *
 * Whoever opens the stream has missed how the team began: the stream starts by telling it, from the
 * team and its tasks as they are, and goes on with what happens. The hub's position is taken first,
 * so nothing falls between, and nothing is told twice.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "net/on.h"
#include "net/team_call.h"

struct stream {
    struct team_call of; /* first */
    struct team team;
    struct query *tasks;
    struct events_filter filter;
};

struct past {
    struct event *at;
    size_t count;
    struct str topic;
    struct arena *arena;
};

static void add(struct past *past, int64_t at_ms, const char *name, struct str json)
{
    past->at[past->count++] = (struct event){.kind = EVENT_TOPIC,
                                             .at_ms = at_ms,
                                             .topic = past->topic,
                                             .name = str_of(name),
                                             .text = json};
}

static const struct task *row_of(const struct task_rows *rows, struct task_id id)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (id_eq(rows->at[i].task.id, id)) {
            return &rows->at[i].task;
        }
    }
    return NULL;
}

static void add_task(struct past *past, const struct team *team, size_t place,
                     const struct task *task)
{
    struct str agent = lead_worker(team, task, past->arena);
    struct str json = lead_task_event(team, place, agent, task, past->arena);
    if (task->attempt > 0 && (task->state == TASK_RUNNING || task->state == TASK_COMPLETED)) {
        add(past, task->started_ms, "task_claimed", json);
    }
    if (task_state_terminal(task->state)) {
        add(past, task->finished_ms,
            task->state == TASK_COMPLETED ? "task_completed" : "task_failed", json);
    }
}

static int by_time(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    return (a->at_ms > b->at_ms) - (a->at_ms < b->at_ms);
}

static void add_tasks(struct past *past, const struct team *team, const struct task_rows *rows)
{
    size_t first = past->count;
    for (size_t i = 0; i < team->tasks.count; i++) {
        const struct task *task = row_of(rows, team->tasks.at[i].task);
        if (task != NULL) {
            add_task(past, team, i, task);
        }
    }
    qsort(past->at + first, past->count - first, sizeof *past->at, by_time);
}

static void add_all(struct past *past, const struct team *team, const struct task_rows *rows)
{
    const struct task *synthesis = row_of(rows, team->synthesis);
    bool joins =
        synthesis != NULL && synthesis->state != TASK_WAITING && synthesis->state != TASK_CANCELLED;
    if (!id_none(team->split)) {
        add(past, team->created_ms, "decomposing", lead_mates_event(team, past->arena));
    }
    if (team->tasks.count > 0) {
        add(past, team->created_ms, "tasks_created", lead_tasks_event(team, past->arena));
        add(past, team->created_ms, "teammates_started", lead_mates_event(team, past->arena));
    }
    add_tasks(past, team, rows);
    if (joins || team->status == TEAM_COMPLETED) {
        add(past, team->finished_ms, "synthesizing", lead_mates_event(team, past->arena));
    }
}

/* Who resumes has heard the rest; only that it is over must never be missed. */
static void tell_past(struct stream *stream, struct arena *arena)
{
    const struct team *team = &stream->team;
    struct past past = {.at = arena_array(arena, struct event, 2 * TEAM_ROWS_MAX + 8),
                        .topic = stream->filter.topic,
                        .arena = arena};
    if (stream->filter.last_event_id.len == 0) {
        add_all(&past, team, &stream->tasks->rows);
    }
    if (team->status != TEAM_RUNNING) {
        add(&past, team->finished_ms,
            team->status == TEAM_COMPLETED ? "team_completed" : "team_failed",
            lead_end_event(team, arena));
    }
    stream->filter.first = past.at;
    stream->filter.first_count = past.count;
}

static void begin_stream(struct call *call)
{
    struct stream *stream = call->own;
    SCOPED(arena_fini) struct arena past = ARENA_INIT; /* the stream may last long, this need not */
    struct err err = ERR_INIT;
    tell_past(stream, &past);
    if (!call_subscribe(call, &stream->filter, &err)) {
        call_fail(call, &err);
    }
}

static void stream_tasks(struct call *call)
{
    struct stream *stream = call->own;
    if (team_call_read(call, &stream->team)) {
        stream->filter.topic = lead_topic(stream->team.id, call->arena);
        stream->filter.ends = lead_is_last;
        call->done = begin_stream;
        team_call_tasks(call, stream->team.id, &stream->tasks);
    }
}

bool on_team_stream(struct call *call, struct err *err)
{
    struct task_id id;
    struct stream *stream = arena_new(call->arena, struct stream);
    call->own = stream;
    if (!team_call_id(call, &id, err) ||
        !events_filter_parse(call->exchange, &stream->filter, err)) {
        return false;
    }
    if (stream->filter.kinds != 0 || stream->filter.pace_ms != 0 ||
        !str_absent(stream->filter.type) || !str_absent(stream->filter.document)) {
        return err_set(err, ERR_INVALID, "the stream of a team takes no filter");
    }
    stream->filter.after = events_last(call->api->options.events);
    return team_call_find(call, id, stream_tasks, err);
}
