/* team/message.c: what the members of a team say to each other. See message.h.
 *
 * SPDX-License-Identifier: MIT */
#include "team/message.h"

#include "team/team.h"

#define SHOWN (FORM_SHOWN | FORM_KEPT)
#define ROW(label, member, form_kind, use, ...)                                                    \
    FORM_ROW(label, struct team_message, member, form_kind, use, __VA_ARGS__)

/* clang-format off */
static const struct form_row rows[] = {
    ROW("id", id, FORM_ID, FORM_SHOWN | FORM_ALWAYS, 0),
    ROW("from", from, FORM_TEXT, SHOWN | FORM_ALWAYS, .max = TASK_WORKER_MAX),
    ROW("to", to, FORM_TEXT, SHOWN, .max = TASK_WORKER_MAX),
    ROW("body", body, FORM_VALUE, SHOWN | FORM_ALWAYS, .max = RECORD_BODY_MAX),
    ROW("taskId", task, FORM_ID, SHOWN, .about = "The body is the result of this task."),
    ROW("title", title, FORM_TEXT, SHOWN, .about = "Of that task."),
    ROW("createdAt", created_ms, FORM_TIME, SHOWN | FORM_ALWAYS, 0),
    ROW("number", number, FORM_I64, FORM_KEPT, .max = INT64_MAX),
};
/* clang-format on */
const struct form team_message_form = FORM(rows);

#define ASKED(label, member, form_kind, use, ...)                                                  \
    FORM_ROW(label, struct team_message, member, form_kind, FORM_SET | (use), __VA_ARGS__)

/* clang-format off */
static const struct form_row request_rows[] = { /* what clients say is held to more than results */
    ASKED("from", from, FORM_TEXT, FORM_NEEDED, .min = 1, .max = TASK_WORKER_MAX, .check = team_agent_ok, .rule = TEAM_AGENT_RULE),
    ASKED("to", to, FORM_TEXT, FORM_NULL, .min = 1, .max = TASK_WORKER_MAX, .check = team_agent_ok, .rule = TEAM_AGENT_RULE, .about = "None: everybody."),
    ASKED("body", body, FORM_VALUE, FORM_NEEDED, .max = MESSAGE_BODY_MAX, .about = "Any JSON, at most 16 KiB."),
};
/* clang-format on */
const struct form team_message_request = FORM(request_rows);

bool team_message_load(const struct record *record, struct arena *arena, struct team_message *out,
                       struct err *err)
{
    char text[TASK_ID_TEXT];
    *out = (struct team_message){0};
    if (!form_load(record->body, &team_message_form, arena, out, err)) {
        if (err != NULL) {
            err->kind = ERR_INTERNAL;
        }
        return err_wrap(err, "read message %s", id_text(record->id, text).ptr);
    }
    out->id = record->id;
    out->team = record->parent;
    return true;
}

struct record team_message_record(const struct team_message *message, struct arena *arena)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(RECORD_BODY_MAX);
    struct json_writer w = JSON_WRITER(&body);
    form_keep(&w, &team_message_form, message);
    return (struct record){.kind = RECORD_MESSAGE,
                           .id = message->id,
                           .parent = message->team,
                           .at_ms = message->created_ms,
                           .body = arena_str(arena, buf_view(&body))};
}

bool team_message_is_for(const struct team_message *message, struct str agent)
{
    return str_absent(agent) || str_absent(message->to) || str_eq(message->to, agent);
}

void team_message_write(struct json_writer *w, const struct team_message *message)
{
    json_open_object(w);
    form_show(w, &team_message_form, message);
    json_close_object(w);
}
