/* team/lead_event.c: what the stream of a team tells, and who its people are.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "team/lead.h"

#define EVENT_MAX     (256 * KIB)
#define WORKER_PREFIX "errand:team:"

struct str lead_topic(struct task_id team, struct arena *arena)
{
    char text[TASK_ID_TEXT];
    return arena_printf(arena, "team:%s", id_text(team, text).ptr);
}

bool lead_is_last(struct str event_name)
{
    return str_is(event_name, "team_completed") || str_is(event_name, "team_failed");
}

/* ---- Who ---- */

size_t lead_mate(const struct team *team, const struct task *task)
{
    uint64_t number;
    struct str rest = task->worker;
    if (str_absent(rest) || !str_starts(rest, STR(WORKER_PREFIX))) {
        return SIZE_MAX;
    }
    rest = str_from(rest, sizeof WORKER_PREFIX - 1);
    rest = str_cut(&rest, '@');
    bool one = str_u64(rest, &number) && number >= 1 && number <= team->mates.count;
    return one ? (size_t)number - 1 : SIZE_MAX;
}

struct str lead_worker(const struct team *team, const struct task *task, struct arena *arena)
{
    size_t mate = lead_mate(team, task);
    return mate == SIZE_MAX ? task->worker : team_mate_name(team, mate, arena);
}

/* ---- What ---- */

static void put_id(struct json_writer *w, const char *key, struct task_id id)
{
    char text[TASK_ID_TEXT];
    json_put_str(w, key, id_text(id, text));
}

static void put_error(struct json_writer *w, const struct task *task)
{
    json_put_c(w, "state", task_state_name(task->state));
    if (!str_absent(task->error.message)) {
        json_put_str(w, "error", task->error.message);
    } else if (!str_absent(task->cancel_reason)) {
        json_put_str(w, "error", task->cancel_reason);
    }
}

struct str lead_task_event(const struct team *team, size_t place, struct str agent,
                           const struct task *task, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(EVENT_MAX);
    struct json_writer w = JSON_WRITER(&text);
    const struct team_task *of = &team->tasks.at[place];
    json_open_object(&w);
    put_id(&w, "teamId", team->id);
    put_id(&w, "taskId", of->task);
    json_put_str(&w, "id", of->ref);
    json_put_str(&w, "title", of->title);
    if (!str_absent(agent)) {
        json_put_str(&w, "agent", agent);
    }
    if (task_state_terminal(task->state) && task->state != TASK_COMPLETED) {
        put_error(&w, task);
    }
    json_close_object(&w);
    return arena_str(arena, buf_view(&text));
}

struct str lead_tasks_event(const struct team *team, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(2 * MIB);
    struct json_writer w = JSON_WRITER(&text);
    json_open_object(&w);
    put_id(&w, "teamId", team->id);
    json_put_i64(&w, "count", (int64_t)team->tasks.count);
    json_key(&w, "tasks");
    team_tasks_write(&w, &team->tasks);
    json_close_object(&w);
    return arena_str(arena, buf_view(&text));
}

struct str lead_mates_event(const struct team *team, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(EVENT_MAX);
    struct json_writer w = JSON_WRITER(&text);
    json_open_object(&w);
    put_id(&w, "teamId", team->id);
    json_put_i64(&w, "numTeammates", (int64_t)team->mates.count);
    json_key(&w, "teammates");
    team_mates_write(&w, &team->mates);
    json_close_object(&w);
    return arena_str(arena, buf_view(&text));
}

struct str lead_end_event(const struct team *team, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(2 * MIB);
    struct json_writer w = JSON_WRITER(&text);
    json_open_object(&w);
    put_id(&w, "teamId", team->id);
    json_put_c(&w, "status", team_statuses[team->status]);
    if (!str_absent(team->result)) {
        json_put_raw(&w, "result", team->result);
    }
    if (!str_absent(team->error)) {
        json_put_object(&w, "error");
        json_put_str(&w, "code", team->error_code);
        json_put_str(&w, "message", team->error);
        json_close_object(&w);
    }
    json_close_object(&w);
    return arena_str(arena, buf_view(&text));
}
