/* team/crew_work.c: one task of a team, done with the language model.
 *
 * Thread: a seat's; it may block for as long as the model thinks.
 *
 * SPDX-License-Identifier: MIT */
#include "assist/chat.h"
#include "team/crew_data.h"

#define ANSWER_MAX  (480 * KIB) /* its JSON string fits into a result even if it doubles */
#define SPLIT_TRIES 2           /* a model that answered nonsense is asked again once */

static const char lead_words[] =
    "You lead a team. Its members have worked on the tasks of one assignment. Put their results "
    "together into one answer to the assignment, complete in itself, without speaking of the team "
    "or its tasks. If something was not done, say what is missing.";

static struct str json_text(struct str text, struct arena *arena)
{
    SCOPED(buf_fini) struct buf json = BUF_INIT(TASK_RESULT_MAX);
    struct json_writer w = JSON_WRITER(&json);
    json_add_str(&w, text);
    return arena_str(arena, buf_view(&json));
}

/* ---- Asking ---- */

static bool ask(struct work *work, const struct chat *chat, const char *schema,
                struct work_end *end, struct str *out)
{
    struct llm_answer answer;
    const struct llm_question question = {.messages = chat->at,
                                          .count = chat->count,
                                          .model = work->team.model,
                                          .schema = str_of(schema),
                                          .schema_name = "split",
                                          .stop = &work->seat->stop_fd};
    end->err = ERR_INIT;
    if (!llm_ask(work->seat->llm, &question, work->arena, &answer, &end->cost, &end->err)) {
        return false;
    }
    *out = answer.content;
    return answer.content.len <= ANSWER_MAX ||
           err_set(&end->err, ERR_TOO_LARGE, "the answer of the model is too long");
}

static void note_failure(struct work_end *end)
{
    enum err_kind kind = end->err.kind;
    end->completed = false;
    end->retry = kind != ERR_TOO_LARGE && kind != ERR_REFUSED;
    end->code = kind == ERR_BUSY        ? "llm_busy"
                : kind == ERR_INVALID   ? "llm_bad_answer"
                : kind == ERR_TOO_LARGE ? "llm_too_large"
                : kind == ERR_REFUSED   ? "llm_refused"
                                        : "llm_unavailable";
}

static void ask_text(struct work *work, const struct chat *chat, struct work_end *end)
{
    struct str text;
    if (ask(work, chat, NULL, end, &text)) {
        end->completed = true;
        end->result = json_text(text, work->arena);
    } else {
        note_failure(end);
    }
}

/* ---- A teammate's task ---- */

static bool read_mail(struct work *work, struct lead_order *look)
{
    struct command command = {.arena = work->arena};
    *look = (struct lead_order){
        .verb = LEAD_LOOK,
        .id = work->team.id,
        .agent = team_mate_name(&work->team, work->mate, work->arena),
    };
    lead_ask(work->seat->crew->lead, &command, look);
    seat_ask(work->seat, &command);
    return command.err.kind == ERR_NONE;
}

static void do_task(struct work *work, struct work_end *end)
{
    struct chat chat = {0};
    struct lead_order look;
    if (!read_mail(work, &look)) {
        err_set(&end->err, ERR_UNAVAILABLE, "its mailbox could not be read");
        note_failure(end);
        return;
    }
    chat_add(&chat, LLM_SYSTEM, words_of_role(work, work->arena), work->arena);
    chat_add(&chat, LLM_USER, words_of_task(work, look.mail, look.mail_count, work->arena),
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

static void complain(struct chat *chat, struct str answer, const struct err *err,
                     struct arena *arena)
{
    if (!str_absent(answer)) {
        chat_add(chat, LLM_ASSISTANT, answer, arena);
    }
    chat_add(chat, LLM_USER,
             arena_printf(arena, "That split cannot be used: %s. Answer with a corrected one.",
                          err->text),
             arena);
}

/* True: there is nothing more to ask. */
static bool try_split(struct work *work, struct chat *chat, struct work_end *end)
{
    struct str answer = STR_NONE;
    bool asked = ask(work, chat, split_schema, end, &answer);
    if (asked && check_split(answer, work->arena, &end->err)) {
        end->completed = true;
        end->result = answer;
        return true;
    }
    if (!asked && end->err.kind != ERR_INVALID) {
        note_failure(end);
        return true;
    }
    complain(chat, answer, &end->err, work->arena);
    return false;
}

static void do_split(struct work *work, struct work_end *end)
{
    struct chat chat = {0};
    chat_add(&chat, LLM_SYSTEM, words_of_split(work, work->arena), work->arena);
    chat_add(&chat, LLM_USER, work->team.prompt, work->arena);
    for (int i = 0; i < SPLIT_TRIES; i++) {
        if (try_split(work, &chat, end)) {
            return;
        }
    }
    err_wrap(&end->err, "the model makes no split that can be used");
    end->code = "invalid_split";
    end->retry = false;
}

static void do_synthesis(struct work *work, struct work_end *end)
{
    struct chat chat = {0};
    chat_add(&chat, LLM_SYSTEM, str_of(lead_words), work->arena);
    chat_add(&chat, LLM_USER, words_of_synthesis(work, work->arena), work->arena);
    ask_text(work, &chat, end);
}

/* ---- The work ---- */

static bool look_up(struct work *work, struct work_end *end)
{
    struct command command = {.arena = work->arena};
    struct lead_order look = {.verb = LEAD_LOOK, .id = work->task->team};
    lead_ask(work->seat->crew->lead, &command, &look);
    seat_ask(work->seat, &command);
    if (command.err.kind != ERR_NONE) {
        end->err = command.err;
        end->code = "team_unknown";
        end->retry = command.err.kind != ERR_NOT_FOUND;
        return false;
    }
    work->team = look.team;
    return true;
}

void work_do(struct work *work, struct work_end *end)
{
    struct str type = work->task->type;
    if (!look_up(work, end)) {
        return;
    }
    if (str_is(type, TEAM_SPLIT_TYPE)) {
        do_split(work, end);
    } else if (str_is(type, TEAM_SYNTHESIS_TYPE)) {
        do_synthesis(work, end);
    } else if (work->mate < work->team.mates.count) {
        do_task(work, end);
    } else {
        err_set(&end->err, ERR_INTERNAL, "the team has no such teammate");
        end->code = "team_unknown";
    }
}
