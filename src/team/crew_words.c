/* team/crew_words.c: what the language model is told.
 *
 * Thread: a seat's. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "team/crew_data.h"

#define WORDS_MAX  (2 * MIB)
#define RESULT_MAX (64 * KIB) /* of one result; longer ones are cut */
#define MAIL_MAX   (64 * KIB) /* of a mailbox: its end */

const char split_schema[] =
    "{\"type\":\"object\",\"properties\":{\"tasks\":{\"type\":\"array\",\"items\":{"
    "\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"title\":{\"type\":"
    "\"string\"},\"description\":{\"type\":\"string\"},\"dependsOn\":{\"type\":\"array\","
    "\"items\":{\"type\":\"string\"}}},\"required\":[\"id\",\"title\",\"description\","
    "\"dependsOn\"],\"additionalProperties\":false}}},\"required\":[\"tasks\"],"
    "\"additionalProperties\":false}";

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

static void add_cut(struct buf *text, struct str body, size_t max)
{
    struct str head = str_head(body, max);
    buf_str(text, head);
    buf_c(text, head.len < body.len ? " […]" : "");
}

static void add_part(struct buf *text, const char *heading, struct str body)
{
    if (body.len > 0) {
        buf_printf(text, "%s%s\n", text->len == 0 ? "" : "\n\n", heading);
        add_cut(text, body, WORDS_MAX);
    }
}

static struct str done(const struct buf *text, struct arena *arena)
{
    return arena_str(arena, buf_view(text));
}

/* ---- A teammate ---- */

struct str words_of_role(const struct work *work, struct arena *arena)
{
    const struct team_mate *mate = &work->team.mates.at[work->mate];
    SCOPED(buf_fini) struct buf text = BUF_INIT(WORDS_MAX);
    buf_printf(&text,
               "You are a member of a team that works on one assignment. Your role: " STR_FMT ".",
               STR_ARG(mate->role));
    if (mate->focus.len > 0) {
        buf_printf(&text, " Your focus: " STR_FMT ".", STR_ARG(mate->focus));
    }
    buf_c(&text, " You are given one task of it. Do that task and nothing else, with what you "
                 "have: nobody can answer questions. Your answer goes to your teammates as the "
                 "result of the task.");
    return done(&text, arena);
}

static void add_results(struct buf *text, const struct work *work, bool all, struct arena *arena)
{
    for (size_t i = 0; i < work->facts->dependencies_count; i++) {
        const struct task_dependency *on = &work->facts->dependencies[i];
        size_t place = team_place(&work->team, on->id);
        if (place == work->team.tasks.count || (on->state != TASK_COMPLETED && !all)) {
            continue;
        }
        buf_printf(text, "\n\n## " STR_FMT "\n", STR_ARG(work->team.tasks.at[place].title));
        if (on->state == TASK_COMPLETED) {
            add_cut(text, plain(on->result, arena), RESULT_MAX);
        } else {
            buf_printf(text, "(was not done: %s)", task_state_name(on->state));
        }
    }
}

/* The newest as far as there is room, in the order in which they were said. */
static void add_mail(struct buf *text, const struct team_message *mail, size_t count,
                     struct arena *arena)
{
    size_t first = count, bytes = 0;
    while (first > 0 && bytes + mail[first - 1].body.len <= MAIL_MAX) {
        bytes += mail[--first].body.len;
    }
    if (first < count) {
        buf_c(text, "\n\n# Messages from your teammates");
    }
    for (size_t i = first; i < count; i++) {
        struct str body = plain(mail[i].body, arena);
        buf_printf(text, "\n" STR_FMT "%s: " STR_FMT, STR_ARG(mail[i].from),
                   str_absent(mail[i].to) ? " (to all)" : "", STR_ARG(body));
    }
}

struct str words_of_task(const struct work *work, const struct team_message *mail, size_t count,
                         struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(WORDS_MAX);
    size_t place = team_place(&work->team, work->task->id);
    add_part(&text, "# The assignment of the team", work->team.prompt);
    if (place < work->team.tasks.count) {
        add_part(&text, "# Your task", work->team.tasks.at[place].title);
        buf_c(&text, "\n");
        buf_str(&text, work->team.tasks.at[place].description);
    }
    if (place < work->team.tasks.count && work->team.tasks.at[place].depends_on.count > 0) {
        buf_c(&text, "\n\n# Results that your task builds on");
        add_results(&text, work, false, arena);
    }
    add_mail(&text, mail, count, arena);
    return done(&text, arena);
}

/* ---- The lead ---- */

struct str words_of_split(const struct work *work, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(WORDS_MAX);
    buf_printf(&text,
               "You lead a team. Split the assignment into the tasks that its members work on, at "
               "most %d, few rather than many. Each task has a short unique id, a title, a "
               "description that says all its worker must know, and in dependsOn the ids of those "
               "tasks whose results it needs. Tasks that need nothing of each other are worked on "
               "at the same time; no task may, over others, depend on itself. Another step puts "
               "all results together: make no task for that.",
               TEAM_TASKS_MAX);
    if (work->team.mates.count > 0) {
        buf_c(&text, "\n\nThe members of the team:");
    }
    for (size_t i = 0; i < work->team.mates.count; i++) {
        const struct team_mate *mate = &work->team.mates.at[i];
        buf_printf(&text, "\n- " STR_FMT "%s" STR_FMT, STR_ARG(mate->role),
                   mate->focus.len > 0 ? ": " : "", STR_ARG(mate->focus));
    }
    return done(&text, arena);
}

struct str words_of_synthesis(const struct work *work, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(WORDS_MAX);
    add_part(&text, "# The assignment", work->team.prompt);
    buf_c(&text, "\n\n# What the members of the team have found");
    add_results(&text, work, true, arena);
    return done(&text, arena);
}
