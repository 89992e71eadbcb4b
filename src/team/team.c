/* team/team.c: a team and its split: read, checked, kept as a record. See team.h.
 *
 * The same reader takes what clients give, what a language model makes up, and what was stored.
 *
 * Keeps: what passes team_tasks_check() can always be run to its end.
 *
 * SPDX-License-Identifier: MIT */
#include "team/team.h"

#include <stdio.h>

const char *const team_statuses[] = {"running", "completed", "failed", "cancelled", NULL};
const char *const team_policies[] = {"fail", "continue", NULL};

/* ---- Its tasks and teammates ---- */

#define ASKED (FORM_SET | FORM_KEPT)
#define TASK_ROW(label, member, form_kind, use, ...)                                               \
    FORM_ROW(label, struct team_task, member, form_kind, use, __VA_ARGS__)

static const struct form_row task_rows[] = {
    TASK_ROW("id", ref, FORM_TEXT, ASKED | FORM_NEEDED, .min = 1, .max = TEAM_REF_MAX,
             .about = "By which others depend on it."),
    TASK_ROW("title", title, FORM_TEXT, ASKED | FORM_NEEDED, .min = 1, .max = TEAM_TITLE_MAX),
    TASK_ROW("description", description, FORM_TEXT, ASKED, .max = TEAM_DESCRIPTION_MAX),
    TASK_ROW("dependsOn", depends_on, FORM_TEXTS, ASKED, .max = TEAM_TASKS_MAX,
             .about = "Ids of the same request."),
    TASK_ROW("documentId", document, FORM_TEXT, ASKED, .min = 1, .max = TASK_DOCUMENT_MAX,
             .about = "Instead of the team's."),
    TASK_ROW("taskId", task, FORM_ID, FORM_KEPT, 0),
};
const struct form team_task_request = FORM(task_rows);

static const struct form_row mate_rows[] = {
    FORM_ROW("role", struct team_mate, role, FORM_TEXT, ASKED | FORM_NEEDED, .min = 1,
             .max = TEAM_ROLE_MAX),
    FORM_ROW("focus", struct team_mate, focus, FORM_TEXT, ASKED, .max = TEAM_FOCUS_MAX),
};
const struct form team_mate_request = FORM(mate_rows);

/* ---- Reading ---- */

/* "title must be …" of the third task is "tasks[2].title must be …". */
static bool inside(struct err *err, const char *list, size_t index)
{
    char field[2 * sizeof err->field], text[2 * sizeof err->text];
    if (err == NULL) {
        return false;
    }
    size_t old = strlen(err->field);
    bool named = old > 0 && strncmp(err->text, err->field, old) == 0;
    snprintf(field, sizeof field, "%s[%zu]%s%s", list, index, old > 0 ? "." : "", err->field);
    snprintf(text, sizeof text, "%s%s%s", field, named ? "" : ": ", err->text + (named ? old : 0));
    snprintf(err->field, sizeof err->field, "%.*s", (int)sizeof err->field - 1, field);
    snprintf(err->text, sizeof err->text, "%.*s", (int)sizeof err->text - 1, text);
    return false;
}

/* An array of objects of one form, into `items` of `size` bytes each. */
struct items {
    const char *name;
    const struct form *form;
    size_t size, most;
    bool (*check)(const void *item, struct err *err);
    bool stored; /* we wrote it ourselves, with what clients may not set */
    void *at;
    size_t count;
};

static bool read_item(struct json *json, const struct items *items, void *item, struct err *err)
{
    uint64_t given = 0;
    struct str raw;
    if (json_peek(json) != JSON_OBJECT) {
        return err_set(err, ERR_INVALID, "must be an object");
    }
    if (items->stored) {
        return json_raw(json, &raw, err) && form_load(raw, items->form, json->arena, item, err);
    }
    return form_read(json, items->form, item, &given, NULL, err) && items->check(item, err);
}

static bool read_items(struct json *json, struct items *items, struct err *err)
{
    items->at = arena_zero(json->arena, items->size * items->most);
    if (json_peek(json) != JSON_ARRAY) {
        return json_refuse(json, err, "must be an array of objects");
    }
    if (!json_enter_array(json, err)) {
        return false;
    }
    while (json_item(json, err)) {
        if (items->count == items->most) {
            return err_field(err, items->name, "%s must not be more than %zu", items->name,
                             items->most);
        }
        void *item = (char *)items->at + items->size * items->count;
        if (!read_item(json, items, item, err)) {
            return inside(err, items->name, items->count);
        }
        items->count++;
    }
    return json_ok(json);
}

static bool plain(struct str text, const char *field, struct err *err)
{
    return !str_has_control(text) ||
           err_field(err, field, "%s must not have control characters", field);
}

static bool check_task(const void *item, struct err *err)
{
    const struct team_task *task = item;
    return plain(task->ref, "id", err) && plain(task->title, "title", err);
}

static bool check_mate(const void *item, struct err *err)
{
    const struct team_mate *mate = item;
    return plain(mate->role, "role", err) &&
           (!task_worker_reserved(mate->role) ||
            err_field(err, "role", "role must not begin with errand:"));
}

static bool read_tasks(struct json *json, bool stored, struct team_tasks *out, struct err *err)
{
    struct items items = {.name = "tasks",
                          .form = &team_task_request,
                          .size = sizeof(struct team_task),
                          .most = TEAM_TASKS_MAX,
                          .check = check_task,
                          .stored = stored};
    if (!read_items(json, &items, err)) {
        return false;
    }
    *out = (struct team_tasks){items.at, items.count};
    return true;
}

bool team_tasks_read(struct json *json, struct team_tasks *out, struct err *err)
{
    return read_tasks(json, false, out, err);
}

bool team_tasks_load(struct str text, struct arena *arena, struct team_tasks *out, struct err *err)
{
    struct json json;
    json_start(&json, text, arena);
    return read_tasks(&json, true, out, err) && team_tasks_check(out, arena, err);
}

bool team_mates_read(struct json *json, struct team_mates *out, struct err *err)
{
    struct items items = {.name = "teammates",
                          .form = &team_mate_request,
                          .size = sizeof(struct team_mate),
                          .most = TEAM_MATES_MAX,
                          .check = check_mate};
    if (!read_items(json, &items, err)) {
        return false;
    }
    *out = (struct team_mates){items.at, items.count};
    return true;
}

/* ---- Checking ---- */

static size_t find_ref(const struct team_tasks *tasks, struct str ref)
{
    size_t at = 0;
    while (at < tasks->count && !str_eq(tasks->at[at].ref, ref)) {
        at++;
    }
    return at;
}

static bool resolve(struct team_tasks *tasks, size_t at, struct arena *arena, struct err *err)
{
    struct team_task *task = &tasks->at[at];
    if (find_ref(tasks, task->ref) != at) {
        err_field(err, "id", "id " STR_FMT " is there twice", STR_ARG(task->ref));
        return inside(err, "tasks", at);
    }
    task->needs = arena_array(arena, size_t, task->depends_on.count);
    for (size_t i = 0; i < task->depends_on.count; i++) {
        task->needs[i] = find_ref(tasks, task->depends_on.at[i]);
        if (task->needs[i] == tasks->count) {
            err_field(err, "dependsOn", "dependsOn names the unknown task " STR_FMT,
                      STR_ARG(task->depends_on.at[i]));
            return inside(err, "tasks", at);
        }
    }
    return true;
}

static bool ready(const struct team_task *task, const bool *done)
{
    for (size_t i = 0; i < task->depends_on.count; i++) {
        if (!done[task->needs[i]]) {
            return false;
        }
    }
    return true;
}

/* Walks from those that depend on nothing; what is never reached is in a cycle, or behind one. */
static bool check_order(const struct team_tasks *tasks, struct err *err)
{
    bool done[TEAM_TASKS_MAX] = {false};
    size_t left = tasks->count;
    for (bool moved = true; moved && left > 0;) {
        moved = false;
        for (size_t i = 0; i < tasks->count; i++) {
            if (!done[i] && ready(&tasks->at[i], done)) {
                done[i] = moved = true;
                left--;
            }
        }
    }
    for (size_t i = 0; left > 0 && i < tasks->count; i++) {
        if (!done[i]) {
            return err_field(err, "tasks",
                             "tasks depend on each other in a cycle: " STR_FMT " can never begin",
                             STR_ARG(tasks->at[i].ref));
        }
    }
    return true;
}

bool team_tasks_check(struct team_tasks *tasks, struct arena *arena, struct err *err)
{
    if (tasks->count < 1 || tasks->count > TEAM_TASKS_MAX) {
        return err_field(err, "tasks", "tasks must be 1 to %d", TEAM_TASKS_MAX);
    }
    for (size_t i = 0; i < tasks->count; i++) {
        if (!resolve(tasks, i, arena, err)) {
            return false;
        }
    }
    return check_order(tasks, err);
}

/* ---- Writing ---- */

void team_tasks_write(struct json_writer *w, const struct team_tasks *tasks)
{
    json_open_array(w);
    for (size_t i = 0; i < tasks->count; i++) {
        form_keep(w, &team_task_request, &tasks->at[i]);
    }
    json_close_array(w);
}

void team_mates_write(struct json_writer *w, const struct team_mates *mates)
{
    json_open_array(w);
    for (size_t i = 0; i < mates->count; i++) {
        form_keep(w, &team_mate_request, &mates->at[i]);
    }
    json_close_array(w);
}

/* ---- What clients ask for ---- */

static bool read_asked_mates(struct json *json, const struct form_row *row, void *into,
                             struct err *err)
{
    (void)row;
    return json_take_null(json) || team_mates_read(json, &((struct team *)into)->mates, err);
}

static bool read_asked_tasks(struct json *json, const struct form_row *row, void *into,
                             struct err *err)
{
    struct team_tasks *tasks = &((struct team *)into)->tasks;
    (void)row;
    return json_take_null(json) ||
           (team_tasks_read(json, tasks, err) && team_tasks_check(tasks, json->arena, err));
}

static const struct form_hook mates_hook = {.read = read_asked_mates};
static const struct form_hook tasks_hook = {.read = read_asked_tasks};

#define LIST_SCHEMA(of, limits)                                                                    \
    "{\"type\":[\"array\",\"null\"],\"items\":{\"$ref\":\"#/components/schemas/" of "\"}," limits  \
    "}"
#define REQUEST(label, member, form_kind, use, ...)                                                \
    FORM_ROW(label, struct team, member, form_kind, FORM_SET | (use), __VA_ARGS__)

/* clang-format off */
static const struct form_row request_rows[] = {
    REQUEST("prompt", prompt, FORM_TEXT, FORM_NEEDED, .min = 1, .max = TEAM_PROMPT_MAX),
    REQUEST("teammates", mates, FORM_HOOK, 0, .hook = &mates_hook,
            .schema = LIST_SCHEMA("Teammate", "\"maxItems\":16"),
            .about = "Who works inside the server where a language model is configured; none given: three."),
    REQUEST("documentId", document, FORM_TEXT, FORM_NULL, .min = 1, .max = TASK_DOCUMENT_MAX,
            .about = "It is the team's while it runs."),
    REQUEST("model", model, FORM_TEXT, FORM_NULL, .min = 1, .max = TEAM_MODEL_MAX),
    REQUEST("tasks", tasks, FORM_HOOK, 0, .hook = &tasks_hook,
            .schema = LIST_SCHEMA("TeamTaskRequest", "\"minItems\":1,\"maxItems\":50"),
            .about = "The split; without it the language model makes one."),
    REQUEST("onTaskFailure", policy, FORM_WORD, FORM_DEFAULT, .words = team_policies, .standard = TEAM_FAIL),
};
/* clang-format on */
const struct form team_request = FORM(request_rows);

/* ---- The team as it is kept ---- */

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

bool team_load(const struct record *record, struct arena *arena, struct team *out, struct err *err)
{
    char text[TASK_ID_TEXT];
    struct kept kept = {.team = TEAM_INIT};
    struct json mates;
    bool ok = form_load(record->body, &team_form, arena, &kept, err);
    json_start(&mates, kept.mates, arena);
    ok = ok && (str_absent(kept.mates) || team_mates_read(&mates, &kept.team.mates, err)) &&
         (str_absent(kept.tasks) || team_tasks_load(kept.tasks, arena, &kept.team.tasks, err));
    if (!ok) {
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
    kept.tasks = team->tasks.count == 0 ? STR_NONE : arena_str(arena, buf_view(&tasks));
    kept.mates = arena_str(arena, buf_view(&mates));
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
