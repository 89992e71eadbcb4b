/* net/team_out.c: teams as JSON. See team_out.h.
 *
 * What people did is counted from the tasks: nothing about it is stored twice.
 *
 * SPDX-License-Identifier: MIT */
#include "net/team_out.h"

#include <stdio.h>

#include "net/task_out.h"

/* One who works, or has worked. */
struct person {
    struct str name, role, focus;
    bool inside;
    size_t done;
    struct task_id task; /* works on it now; none: idle */
};

struct people {
    struct person *at;
    size_t count;
};

static const struct task *row_of(const struct task_rows *rows, struct task_id id)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (id_eq(rows->at[i].task.id, id)) {
            return &rows->at[i].task;
        }
    }
    return NULL;
}

static void put_text(struct json_writer *w, const char *key, struct str text)
{
    if (!str_absent(text)) {
        json_put_str(w, key, text);
    }
}

/* ---- People ---- */

static struct person *person_of(struct people *people, struct str name)
{
    for (size_t i = 0; i < people->count; i++) {
        if (str_eq(people->at[i].name, name)) {
            return &people->at[i];
        }
    }
    struct person *person = &people->at[people->count++];
    *person = (struct person){.name = name, .role = name};
    return person;
}

static void count_task(struct people *people, const struct team *team, const struct task *task,
                       struct arena *arena)
{
    struct str name = lead_worker(team, task, arena);
    if (str_absent(name) || task_worker_reserved(name)) {
        return; /* nobody has had it yet, or it is the lead's own */
    }
    struct person *person = person_of(people, name);
    person->done += task->state == TASK_COMPLETED;
    if (task->state == TASK_RUNNING) {
        person->task = task->id;
    }
}

static struct people list_people(const struct team *team, const struct task_rows *rows,
                                 struct arena *arena)
{
    size_t most = team->mates.count + team->tasks.count;
    struct people people = {arena_array(arena, struct person, most), 0};
    for (size_t i = 0; i < team->mates.count; i++) {
        people.at[people.count++] = (struct person){.name = team_mate_name(team, i, arena),
                                                    .role = team->mates.at[i].role,
                                                    .focus = team->mates.at[i].focus,
                                                    .inside = team->decides};
    }
    for (size_t i = 0; i < team->tasks.count; i++) {
        const struct task *task = row_of(rows, team->tasks.at[i].task);
        if (task != NULL) {
            count_task(&people, team, task, arena);
        }
    }
    return people;
}

static void put_people(struct json_writer *w, const struct team *team, const struct task_rows *rows,
                       struct arena *arena)
{
    struct people people = list_people(team, rows, arena);
    json_put_array(w, "teammates");
    for (size_t i = 0; i < people.count; i++) {
        const struct person *person = &people.at[i];
        bool works = !id_none(person->task) && team->status == TEAM_RUNNING;
        json_open_object(w);
        json_put_str(w, "agent", person->name);
        json_put_str(w, "role", person->role);
        put_text(w, "focus", person->focus);
        json_put_bool(w, "inside", person->inside);
        json_put_i64(w, "tasksDone", (int64_t)person->done);
        json_put_c(w, "status", works ? "working" : team->status == TEAM_RUNNING ? "idle" : "done");
        if (works) {
            id_put(w, "taskId", person->task);
        }
        json_close_object(w);
    }
    json_close_array(w);
}

/* ---- Tasks ---- */

static void put_task(struct json_writer *w, const struct team *team, const struct team_task *of,
                     const struct task *task, struct arena *arena)
{
    json_open_object(w);
    json_put_str(w, "id", of->ref);
    id_put(w, "taskId", of->task);
    json_put_str(w, "title", of->title);
    put_text(w, "description", of->description);
    put_text(w, "documentId", str_absent(of->document) ? team->document : of->document);
    json_put_array(w, "dependsOn");
    for (size_t i = 0; i < of->depends_on.count; i++) {
        json_add_str(w, of->depends_on.at[i]);
    }
    json_close_array(w);
    if (task != NULL) {
        json_put_c(w, "state", task_state_name(task->state));
        put_text(w, "agent", lead_worker(team, task, arena));
        put_text(w, "error",
                 !str_absent(task->error.message) ? task->error.message : task->cancel_reason);
        time_put(w, "startedAt", task->started_ms);
        time_put(w, "finishedAt", task->finished_ms);
    }
    json_close_object(w);
}

static void put_counts(struct json_writer *w, const struct team *team, const struct task_rows *rows)
{
    int64_t done = 0, failed = 0;
    for (size_t i = 0; i < team->tasks.count; i++) {
        const struct task *task = row_of(rows, team->tasks.at[i].task);
        enum task_state state = task == NULL ? TASK_WAITING : task->state;
        done += state == TASK_COMPLETED;
        failed += task_state_terminal(state) && state != TASK_COMPLETED;
    }
    json_put_i64(w, "tasksDone", done);
    json_put_i64(w, "tasksFailed", failed);
    json_put_i64(w, "tasksTotal", (int64_t)team->tasks.count);
}

/* ---- Cost ---- */

static void add(double *sum, double amount)
{
    if (amount >= 0) {
        *sum = MAX(*sum, 0) + amount;
    }
}

static void put_amount(struct json_writer *w, const char *key, double amount)
{
    if (amount >= 0) {
        json_put_f64(w, key, amount);
    }
}

static void put_cost(struct json_writer *w, const struct task_rows *rows)
{
    struct task_cost sum = TASK_COST_NONE;
    for (size_t i = 0; i < rows->count; i++) {
        const struct task_cost *cost = &rows->at[i].task.cost;
        add(&sum.estimated, cost->estimated);
        add(&sum.actual, cost->actual);
        add(&sum.tokens, cost->tokens);
    }
    json_put_object(w, "cost");
    put_amount(w, "estimated", sum.estimated);
    put_amount(w, "actual", sum.actual);
    put_amount(w, "tokens", sum.tokens);
    json_close_object(w);
}

/* ---- Teams ---- */

static void put_stream(struct json_writer *w, const struct team *team)
{
    char id[TASK_ID_TEXT], url[TASK_ID_TEXT + 32];
    snprintf(url, sizeof url, "/api/teams/%s/stream", id_text(team->id, id).ptr);
    json_put_c(w, "streamUrl", url);
}

static void put_end(struct json_writer *w, const struct team *team, bool whole)
{
    if (!str_absent(team->error)) {
        json_put_object(w, "error");
        json_put_str(w, "code", team->error_code);
        json_put_str(w, "message", team->error);
        json_close_object(w);
    }
    if (whole && !str_absent(team->result)) {
        json_put_raw(w, "result", team->result);
    }
    time_put(w, "createdAt", team->created_ms);
    time_put(w, "finishedAt", team->finished_ms);
    put_stream(w, team);
}

void team_write(struct json_writer *w, const struct team *team, const struct task_rows *rows,
                bool whole, struct arena *arena)
{
    json_open_object(w);
    id_put(w, "teamId", team->id);
    json_put_c(w, "status", team_statuses[team->status]);
    json_put_str(w, "prompt", team->prompt);
    put_text(w, "model", team->model);
    put_text(w, "documentId", team->document);
    json_put_c(w, "onTaskFailure", team_policies[team->policy]);
    json_put_i64(w, "numTeammates", (int64_t)team->mates.count);
    put_counts(w, team, rows);
    if (whole) {
        put_people(w, team, rows, arena);
        json_put_array(w, "tasks");
        for (size_t i = 0; i < team->tasks.count; i++) {
            const struct team_task *of = &team->tasks.at[i];
            put_task(w, team, of, row_of(rows, of->task), arena);
        }
        json_close_array(w);
    }
    put_cost(w, rows);
    put_end(w, team, whole);
    json_close_object(w);
}

void team_write_begun(struct json_writer *w, const struct team *team, struct str warning)
{
    json_open_object(w);
    id_put(w, "teamId", team->id);
    json_put_c(w, "status", team_statuses[team->status]);
    json_put_i64(w, "numTeammates", (int64_t)team->mates.count);
    put_stream(w, team);
    if (!str_absent(warning)) {
        json_put_array(w, "warnings");
        json_add_str(w, warning);
        json_close_array(w);
    }
    json_close_object(w);
}

/* ---- A claimed task ---- */

static void put_dependency(struct json_writer *w, const struct team *team,
                           const struct task_dependency *on)
{
    size_t place = team_place(team, on->id);
    if (place == team->tasks.count) {
        return; /* the turn of the team's document: nothing that an agent could use */
    }
    json_open_object(w);
    json_put_str(w, "id", team->tasks.at[place].ref);
    json_put_str(w, "title", team->tasks.at[place].title);
    id_put(w, "taskId", on->id);
    if (str_absent(on->result)) {
        json_put_null(w, "result");
    } else {
        json_put_raw(w, "result", on->result);
    }
    json_close_object(w);
}

void team_write_claimed(struct json_writer *w, const struct team *team, const struct task *task,
                        const struct claim_facts *facts, bool traced)
{
    size_t place = team_place(team, task->id);
    task_open_claimed(w, task, traced);
    if (place < team->tasks.count) {
        json_put_str(w, "ref", team->tasks.at[place].ref);
        json_put_str(w, "title", team->tasks.at[place].title);
        put_text(w, "description", team->tasks.at[place].description);
    }
    json_put_str(w, "prompt", team->prompt);
    json_put_array(w, "dependencies");
    for (size_t i = 0; i < facts->dependencies_count; i++) {
        put_dependency(w, team, &facts->dependencies[i]);
    }
    json_close_array(w);
    json_close_object(w);
}
