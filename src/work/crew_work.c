/* work/crew_work.c: one task of a team, done with the language model: what the model is told, and
 * what its answer means.
 *
 * Thread: a seat's; it may block for as long as the model thinks.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>

#include "assist/chat.h"
#include "work/crew.h"

#define ANSWER_MAX  (480 * KIB) /* its JSON string fits into a result even if it doubles */
#define SPLIT_TRIES 2           /* a model that answered nonsense is asked again once */
#define WORDS_MAX   (2 * MIB)
#define RESULT_MAX  (64 * KIB) /* of one result; longer ones are cut */
#define MAIL_MAX    (64 * KIB) /* of a mailbox: its end */

/* A task under way. */
struct teamwork {
    struct seat *seat;
    struct team team;
    const int *stop; /* readable once it should stop */
    struct arena *arena;
    struct err err; /* why the model could not be asked, or what is wrong with its answer */
    struct llm_cost cost;
};

static const char lead_words[] =
    "You lead a team. Its members have worked on the tasks of one assignment. Put their results "
    "together into one answer to the assignment, complete in itself, without speaking of the team "
    "or its tasks. If something was not done, say what is missing.";

static const char split_schema[] =
    "{\"type\":\"object\",\"properties\":{\"tasks\":{\"type\":\"array\",\"items\":{"
    "\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"title\":{\"type\":"
    "\"string\"},\"description\":{\"type\":\"string\"},\"dependsOn\":{\"type\":\"array\","
    "\"items\":{\"type\":\"string\"}}},\"required\":[\"id\",\"title\",\"description\","
    "\"dependsOn\"],\"additionalProperties\":false}}},\"required\":[\"tasks\"],"
    "\"additionalProperties\":false}";

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

/* ---- What a teammate is told ---- */

static struct str words_of_role(const struct teamwork *work, struct arena *arena)
{
    const struct team_mate *mate = &work->team.mates.at[work->seat->as];
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
    return arena_str(arena, buf_view(&text));
}

static void add_results(struct buf *text, const struct teamwork *work, bool all,
                        struct arena *arena)
{
    for (size_t i = 0; i < work->seat->facts.dependencies_count; i++) {
        const struct task_dependency *on = &work->seat->facts.dependencies[i];
        size_t place = team_place(&work->team, on->id);
        if (place == work->team.tasks.count || (on->state != TASK_COMPLETED && !all)) {
            continue;
        }
        buf_printf(text, "\n\n## " STR_FMT "\n", STR_ARG(work->team.tasks.at[place].title));
        if (on->state == TASK_COMPLETED) {
            add_cut(text, json_plain(on->result, arena), RESULT_MAX);
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
        struct str body = json_plain(mail[i].body, arena);
        buf_printf(text, "\n" STR_FMT "%s: " STR_FMT, STR_ARG(mail[i].from),
                   str_absent(mail[i].to) ? " (to all)" : "", STR_ARG(body));
    }
}

static struct str words_of_task(const struct teamwork *work, const struct team_message *mail,
                                size_t count, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(WORDS_MAX);
    size_t place = team_place(&work->team, work->seat->task.id);
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
    return arena_str(arena, buf_view(&text));
}

/* ---- What the lead is told ---- */

static struct str words_of_split(const struct teamwork *work, struct arena *arena)
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
    return arena_str(arena, buf_view(&text));
}

static struct str words_of_synthesis(const struct teamwork *work, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(WORDS_MAX);
    add_part(&text, "# The assignment", work->team.prompt);
    buf_c(&text, "\n\n# What the members of the team have found");
    add_results(&text, work, true, arena);
    return arena_str(arena, buf_view(&text));
}

/* ---- Asking ---- */

/* Gives the engine a command and waits for its answer. */
static void ask_engine(struct seat *seat, struct command *command)
{
    struct list commands;
    list_init(&commands);
    assert(command_is_from(command, BY_WORKER));
    command->reply_to = &seat->answers;
    list_append(&commands, &command->link);
    engine_give(seat->crew->engine, &commands);
    while (!channel_take(&seat->answers, &commands)) {
        while (sem_wait(&seat->answered) != 0 && errno == EINTR) {
        }
    }
}

static bool look(struct teamwork *work, struct lead_order *order)
{
    struct command command = {.arena = work->arena};
    order->verb = LEAD_LOOK;
    order->id = work->seat->task.team;
    lead_ask(work->seat->crew->lead, &command, order);
    ask_engine(work->seat, &command);
    work->err = command.err;
    return command.err.kind == ERR_NONE;
}

static bool ask_model(struct teamwork *work, const struct chat *chat, const char *schema,
                      struct str *out)
{
    struct llm_answer answer;
    const struct llm_question question = {.messages = chat->at,
                                          .count = chat->count,
                                          .model = work->team.model,
                                          .schema = str_of(schema),
                                          .schema_name = "split",
                                          .stop = work->stop};
    work->err = ERR_INIT;
    if (!llm_ask(work->seat->llm, &question, work->arena, &answer, &work->cost, &work->err)) {
        return false;
    }
    *out = answer.content;
    return answer.content.len <= ANSWER_MAX ||
           err_set(&work->err, ERR_TOO_LARGE, "the answer of the model is too long");
}

static void fail(const struct teamwork *work, struct service_end *end, const char *code, bool retry)
{
    end->error = (struct task_error){.code = str_of(code),
                                     .message = arena_str(work->arena, str_of(work->err.text))};
    end->retry = retry;
}

static void fail_with_model(const struct teamwork *work, struct service_end *end)
{
    enum err_kind kind = work->err.kind;
    fail(work, end,
         kind == ERR_BUSY        ? "llm_busy"
         : kind == ERR_INVALID   ? "llm_bad_answer"
         : kind == ERR_TOO_LARGE ? "llm_too_large"
         : kind == ERR_REFUSED   ? "llm_refused"
                                 : "llm_unavailable",
         kind != ERR_TOO_LARGE && kind != ERR_REFUSED);
}

static void ask_text(struct teamwork *work, const struct chat *chat, struct service_end *end)
{
    SCOPED(buf_fini) struct buf json = BUF_INIT(TASK_RESULT_MAX);
    struct json_writer w = JSON_WRITER(&json);
    struct str text;
    if (!ask_model(work, chat, NULL, &text)) {
        fail_with_model(work, end);
        return;
    }
    json_add_str(&w, text);
    end->completed = true;
    end->result = arena_str(work->arena, buf_view(&json));
}

/* ---- A teammate's task ---- */

static void do_task(struct teamwork *work, struct service_end *end)
{
    struct chat chat = {0};
    struct lead_order mail = {.agent = team_mate_name(&work->team, work->seat->as, work->arena)};
    if (!look(work, &mail)) {
        err_set(&work->err, ERR_UNAVAILABLE, "its mailbox could not be read");
        fail_with_model(work, end);
        return;
    }
    chat_add(&chat, LLM_SYSTEM, words_of_role(work, work->arena), work->arena);
    chat_add(&chat, LLM_USER, words_of_task(work, mail.mail, mail.mail_count, work->arena),
             work->arena);
    ask_text(work, &chat, end);
}

/* ---- The lead's own ---- */

static bool check_split(struct str answer, struct arena *arena, struct err *err)
{
    struct json json;
    struct team_tasks tasks;
    struct str list = json_find(answer, "tasks", arena);
    if (str_absent(list)) {
        return err_field(err, "tasks", "tasks is required");
    }
    json_start(&json, list, arena);
    return team_tasks_read(&json, &tasks, err) && team_tasks_check(&tasks, arena, err);
}

/* True: there is nothing more to ask. */
static bool try_split(struct teamwork *work, struct chat *chat, struct service_end *end)
{
    struct str answer = STR_NONE;
    bool asked = ask_model(work, chat, split_schema, &answer);
    if (asked && check_split(answer, work->arena, &work->err)) {
        end->completed = true;
        end->result = answer;
        return true;
    }
    if (!asked && work->err.kind != ERR_INVALID) {
        fail_with_model(work, end);
        return true;
    }
    if (!str_absent(answer)) {
        chat_add(chat, LLM_ASSISTANT, answer, work->arena);
    }
    struct str complaint = arena_printf(
        work->arena, "That split cannot be used: %s. Answer with a corrected one.", work->err.text);
    chat_add(chat, LLM_USER, complaint, work->arena);
    return false;
}

static void do_split(struct teamwork *work, struct service_end *end)
{
    struct chat chat = {0};
    chat_add(&chat, LLM_SYSTEM, words_of_split(work, work->arena), work->arena);
    chat_add(&chat, LLM_USER, work->team.prompt, work->arena);
    for (int i = 0; i < SPLIT_TRIES; i++) {
        if (try_split(work, &chat, end)) {
            return;
        }
    }
    err_wrap(&work->err, "the model makes no split that can be used");
    fail(work, end, "invalid_split", false);
}

static void do_synthesis(struct teamwork *work, struct service_end *end)
{
    struct chat chat = {0};
    chat_add(&chat, LLM_SYSTEM, str_of(lead_words), work->arena);
    chat_add(&chat, LLM_USER, words_of_synthesis(work, work->arena), work->arena);
    ask_text(work, &chat, end);
}

/* ---- The work ---- */

void crew_work(void *arg, const struct service_call *call, struct service_end *end)
{
    struct teamwork work = {.seat = arg, .stop = call->stop, .arena = call->arena};
    struct str type = work.seat->task.type;
    struct lead_order team = {.agent = STR_NONE};
    bool found = look(&work, &team);
    work.team = team.team;
    if (!found) {
        fail(&work, end, "team_unknown", work.err.kind != ERR_NOT_FOUND);
    } else if (str_is(type, TEAM_SPLIT_TYPE)) {
        do_split(&work, end);
    } else if (str_is(type, TEAM_SYNTHESIS_TYPE)) {
        do_synthesis(&work, end);
    } else if (work.seat->as < work.team.mates.count) {
        do_task(&work, end);
    } else {
        err_set(&work.err, ERR_INTERNAL, "the team has no such teammate");
        fail(&work, end, "team_unknown", false);
    }
    end->retry_after_ms = work.cost.retry_after_ms;
    end->queries = (double)work.cost.queries;
    end->tokens = (double)work.cost.total_tokens;
}
