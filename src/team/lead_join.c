/* team/lead_join.c: the results of a team's tasks, put together.
 *
 * Without a language model the result is a text of sections, one for each task in the order given.
 * Whoever made the text: what failed is named at its end, so that no reader takes a part for the
 * whole.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "team/lead_data.h"

#define SECTION_MAX (TEAM_RESULT_MAX / TEAM_TASKS_MAX) /* of a long result, when all are long */
#define TEXT_MAX    (TEAM_RESULT_MAX / 2)              /* escapes may make it longer */

/* The task with its result, as this batch leaves it. */
static bool look(struct batch *batch, struct task_id id, struct task *out)
{
    struct err err = ERR_INIT;
    const struct task *task = guest_task(batch, id);
    if (task == NULL) {
        return false;
    }
    *out = *task;
    if (task->state != TASK_COMPLETED || !str_absent(task->result)) {
        return true;
    }
    struct task_load load = {.id = id, .arena = guest_arena(batch), .whole = true};
    if (!tx_load(guest_tx(batch), &load, 1, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    out->result = load.found ? load.task.result : STR_NONE;
    return true;
}

/* A JSON string is its text; anything else stays JSON. */
static struct str plain(struct str json_text, struct arena *arena)
{
    struct json json;
    struct str text = json_text;
    if (str_absent(json_text)) {
        return STR("");
    }
    json_start(&json, json_text, arena);
    if (json_peek(&json) == JSON_STRING && !json_str(&json, &text, NULL)) {
        return json_text;
    }
    return text;
}

static void add_section(struct buf *text, struct str title, struct str body)
{
    struct str shown = str_head(body, SECTION_MAX);
    buf_printf(text, "%s## " STR_FMT "\n\n" STR_FMT "%s", text->len == 0 ? "" : "\n\n",
               STR_ARG(title), STR_ARG(shown), shown.len < body.len ? " […]" : "");
}

static void add_failure(struct buf *text, bool *any, struct str title, const struct task *task)
{
    struct str why = !str_absent(task->error.message) ? task->error.message : task->cancel_reason;
    buf_c(text, *any ? "" : "\n\nNot done:\n");
    *any = true;
    buf_printf(text, "- " STR_FMT " (%s%s" STR_FMT ")\n", STR_ARG(title),
               task_state_name(task->state), str_absent(why) ? "" : ": ", STR_ARG(why));
}

static void add_failures(struct batch *batch, const struct team *team, struct buf *text)
{
    bool any = false;
    for (size_t i = 0; i < team->tasks.count; i++) {
        const struct task *task = guest_task(batch, team->tasks.at[i].task);
        if (task != NULL && task_state_terminal(task->state) && task->state != TASK_COMPLETED) {
            add_failure(text, &any, team->tasks.at[i].title, task);
        }
    }
}

static struct str as_json(struct str text, struct arena *arena)
{
    SCOPED(buf_fini) struct buf json = BUF_INIT(8 * TEAM_RESULT_MAX);
    struct json_writer w = JSON_WRITER(&json);
    json_add_str(&w, text);
    return arena_str(arena, buf_view(&json));
}

struct str lead_join(struct batch *batch, const struct team *team)
{
    struct arena *arena = guest_arena(batch);
    SCOPED(buf_fini) struct buf text = BUF_INIT(2 * TEAM_RESULT_MAX);
    for (size_t i = 0; i < team->tasks.count; i++) {
        struct task task;
        if (look(batch, team->tasks.at[i].task, &task) && task.state == TASK_COMPLETED) {
            add_section(&text, team->tasks.at[i].title, plain(task.result, arena));
        }
    }
    add_failures(batch, team, &text);
    return as_json(str_head(buf_view(&text), TEXT_MAX), arena);
}

struct str lead_crown(struct batch *batch, const struct team *team, struct str result)
{
    struct arena *arena = guest_arena(batch);
    SCOPED(buf_fini) struct buf text = BUF_INIT(2 * TEAM_RESULT_MAX);
    buf_str(&text, str_head(plain(result, arena), TEXT_MAX));
    size_t before = text.len;
    add_failures(batch, team, &text);
    return text.len == before && !str_absent(result) ? result : as_json(buf_view(&text), arena);
}
