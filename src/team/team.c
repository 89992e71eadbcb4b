/* team/team.c: a team as a record, and what follows from its fields alone. See team.h.
 *
 * SPDX-License-Identifier: MIT */
#include "team/team.h"

const char *const team_statuses[] = {"running", "completed", "failed", "cancelled", NULL};
const char *const team_policies[] = {"fail", "continue", NULL};

/* A team as it is kept: lists are texts of their own. */
struct kept {
    struct team team;
    struct str tasks, mates;
};

#define ROW(label, member, form_kind, ...)                                                         \
    FORM_ROW(label, struct kept, member, form_kind, FORM_KEPT, __VA_ARGS__)

/* clang-format off */
static const struct form_row rows[] = {
    ROW("prompt", team.prompt, FORM_TEXT, .max = RECORD_BODY_MAX),
    ROW("model", team.model, FORM_TEXT, .max = RECORD_BODY_MAX),
    ROW("documentId", team.document, FORM_TEXT, .max = RECORD_BODY_MAX),
    ROW("teammates", mates, FORM_ARRAY, .max = RECORD_BODY_MAX),
    ROW("tasks", tasks, FORM_ARRAY, .max = RECORD_BODY_MAX),
    ROW("onTaskFailure", team.policy, FORM_WORD, .words = team_policies),
    ROW("decides", team.decides, FORM_BOOL, 0),
    ROW("split", team.split, FORM_ID, 0),
    ROW("synthesis", team.synthesis, FORM_ID, 0),
    ROW("hold", team.hold, FORM_ID, 0),
    ROW("turn", team.turn, FORM_ID, 0),
    ROW("status", team.status, FORM_WORD, .words = team_statuses),
    ROW("result", team.result, FORM_VALUE, .max = RECORD_BODY_MAX),
    ROW("errorCode", team.error_code, FORM_TEXT, .max = RECORD_BODY_MAX),
    ROW("error", team.error, FORM_TEXT, .max = RECORD_BODY_MAX),
    ROW("createdAt", team.created_ms, FORM_TIME, 0),
    ROW("finishedAt", team.finished_ms, FORM_TIME, 0),
    ROW("expires", team.expires_ms, FORM_TIME, 0),
    ROW("queue", team.queue, FORM_TEXT, .max = TASK_QUEUE_MAX),
};
/* clang-format on */
static const struct form team_form = {rows, ARRAY_LEN(rows)};

static bool load_lists(struct kept *kept, struct arena *arena, struct err *err)
{
    struct json json;
    json_start(&json, kept->mates, arena);
    if (!str_absent(kept->mates) && !team_mates_read(&json, &kept->team.mates, err)) {
        return false;
    }
    return str_absent(kept->tasks) || team_tasks_load(kept->tasks, arena, &kept->team.tasks, err);
}

bool team_load(const struct record *record, struct arena *arena, struct team *out, struct err *err)
{
    char text[TASK_ID_TEXT];
    struct kept kept = {.team = TEAM_INIT};
    if (!form_load(record->body, &team_form, arena, &kept, err) || !load_lists(&kept, arena, err)) {
        if (err != NULL) {
            err->kind = ERR_INTERNAL;
        }
        return err_wrap(err, "read team %s", id_text(record->id, text).ptr);
    }
    *out = kept.team;
    out->id = record->id;
    out->version = record->version;
    return true;
}

static struct str list_text(struct buf *text, struct arena *arena)
{
    return arena_str(arena, buf_view(text));
}

/* While it runs its queue is its key: no other team has it. */
struct record team_record(const struct team *team, struct arena *arena)
{
    SCOPED(buf_fini) struct buf tasks = BUF_INIT(RECORD_BODY_MAX);
    SCOPED(buf_fini) struct buf mates = BUF_INIT(RECORD_BODY_MAX);
    SCOPED(buf_fini) struct buf body = BUF_INIT(RECORD_BODY_MAX);
    struct json_writer for_tasks = JSON_WRITER(&tasks), for_mates = JSON_WRITER(&mates);
    struct json_writer w = JSON_WRITER(&body);
    struct kept kept = {.team = *team};
    team_tasks_write(&for_tasks, &team->tasks);
    team_mates_write(&for_mates, &team->mates);
    kept.tasks = team->tasks.count == 0 ? STR_NONE : list_text(&tasks, arena);
    kept.mates = list_text(&mates, arena);
    form_keep(&w, &team_form, &kept);
    return (struct record){.kind = RECORD_TEAM,
                           .id = team->id,
                           .key = team->status == TEAM_RUNNING ? team->queue : STR_NONE,
                           .due_ms = team->expires_ms,
                           .at_ms = team->created_ms,
                           .mark = team->status,
                           .version = team->version,
                           .body = arena_str(arena, buf_view(&body))};
}

/* ---- What follows ---- */

struct str team_mate_name(const struct team *team, size_t mate, struct arena *arena)
{
    struct str role = team->mates.at[mate].role;
    size_t before = 0;
    for (size_t i = 0; i < mate; i++) {
        before += str_eq(team->mates.at[i].role, role);
    }
    return before == 0 ? role : arena_printf(arena, STR_FMT " %zu", STR_ARG(role), before + 1);
}

size_t team_place(const struct team *team, struct task_id task)
{
    size_t at = 0;
    while (at < team->tasks.count && !id_eq(team->tasks.at[at].task, task)) {
        at++;
    }
    return at;
}

bool team_agent_ok(struct str name)
{
    return name.len >= 1 && name.len <= TASK_WORKER_MAX && !str_has_control(name) &&
           !task_worker_reserved(name);
}
