/* schedule/execution.c: an entry in a schedule's history. See execution.h.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/execution.h"

const char *const execution_statuses[] = {"RUNNING", "SUCCESS", "FAILURE",
                                          "WAKE_UP", "SKIPPED", NULL};

#define SHOWN  (FORM_SHOWN | FORM_KEPT)
#define ALWAYS (SHOWN | FORM_ALWAYS)
#define ROW(label, member, form_kind, form_use, ...)                                               \
    FORM_ROW(label, struct execution, member, form_kind, form_use, __VA_ARGS__)

#define STEPS                                                                                      \
    "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"at\":{\"type\":"         \
    "\"string\","                                                                                  \
    "\"format\":\"date-time\"},\"percent\":{\"type\":\"number\"},\"message\":{\"type\":"           \
    "\"string\"}},"                                                                                \
    "\"required\":[\"at\"],\"additionalProperties\":false}}"
#define REPORT                                                                                     \
    "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\",\"properties\":{"          \
    "\"status\":"                                                                                  \
    "{\"type\":\"string\"},\"attempts\":{\"type\":\"integer\"},\"at\":{\"type\":\"string\","       \
    "\"format\":\"date-time\"},\"taskId\":{\"type\":\"string\","                                   \
    "\"format\":\"uuid\"},\"error\":{\"type\":\"string\"}},\"additionalProperties\":false}}"

/* clang-format off */
static const struct form_row rows[] = {
    ROW("id", id, FORM_ID, ALWAYS, 0),
    ROW("scheduleId", schedule, FORM_ID, ALWAYS, 0),
    ROW("taskId", task, FORM_ID, SHOWN, .about = "Of a run: the same as `id`."),
    ROW("scheduledFor", scheduled_ms, FORM_TIME, ALWAYS, .about = "The occurrence."),
    ROW("createdAt", created_ms, FORM_TIME, ALWAYS, 0),
    ROW("startedAt", started_ms, FORM_TIME, SHOWN, 0),
    ROW("finishedAt", finished_ms, FORM_TIME, SHOWN, 0),
    ROW("status", status, FORM_WORD, SHOWN, .words = execution_statuses),
    ROW("count", count, FORM_I64, SHOWN, .min = 1, .max = INT64_MAX, .about = "SKIPPED: how many times were left out."),
    ROW("content", content, FORM_TEXT, SHOWN, .max = EXECUTION_CONTENT_MAX,
        .about = "The result as text; of a failure what went wrong."),
    ROW("chatId", chat, FORM_TEXT, SHOWN, 0),
    ROW("messageId", message, FORM_TEXT, SHOWN, 0),
    ROW("userId", user, FORM_TEXT, SHOWN, 0),
    ROW("queries", queries, FORM_F64, ALWAYS, .max = INT64_MAX),
    ROW("tokens", tokens, FORM_F64, ALWAYS, .max = INT64_MAX),
    ROW("progress", progress, FORM_ARRAY, ALWAYS, .max = EXECUTION_PROGRESS_MAX, .schema = STEPS),
    ROW("isDelivered", delivered, FORM_BOOL, SHOWN, 0),
    ROW("deliveries", deliveries, FORM_OBJECT, ALWAYS, .max = EXECUTION_DELIVERIES_MAX, .schema = REPORT),
    ROW("decides", decides, FORM_BOOL, FORM_KEPT, 0),
    ROW("counted", counted_ms, FORM_TIME, FORM_KEPT, 0),
    ROW("expires", expires_ms, FORM_TIME, FORM_KEPT, 0),
};
/* clang-format on */
const struct form execution_form = {rows, ARRAY_LEN(rows)};

bool execution_load(const struct record *record, struct arena *arena, struct execution *out,
                    struct err *err)
{
    char text[TASK_ID_TEXT];
    *out = EXECUTION_INIT;
    if (!form_load(record->body, &execution_form, arena, out, err)) {
        if (err != NULL) {
            err->kind = ERR_INTERNAL;
        }
        return err_wrap(err, "read execution %s", id_text(record->id, text).ptr);
    }
    out->id = record->id;
    out->key = record->key;
    out->version = record->version;
    return true;
}

struct record execution_record(const struct execution *execution, struct arena *arena)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(RECORD_BODY_MAX);
    struct json_writer w = JSON_WRITER(&body);
    form_keep(&w, &execution_form, execution);
    return (struct record){.kind = RECORD_EXECUTION,
                           .id = execution->id,
                           .parent = execution->schedule,
                           .owner = execution->user,
                           .key = execution->key,
                           .due_ms = execution->expires_ms,
                           .at_ms = execution->created_ms,
                           .mark = (int32_t)execution->status,
                           .version = execution->version,
                           .body = arena_str(arena, buf_view(&body))};
}

struct str execution_key(struct task_id schedule, int64_t occurrence_ms, struct arena *arena)
{
    char text[TASK_ID_TEXT];
    /* The time first: what falls due together lies together in the store's index. */
    return arena_printf(arena, "%014lld@%s", (long long)occurrence_ms, id_text(schedule, text).ptr);
}

/* ---- What came of it ---- */

/* U+0000 is no text to anybody. */
static struct str without_nul(struct str text, struct arena *arena)
{
    if (text.len == 0 || memchr(text.ptr, '\0', text.len) == NULL) {
        return text;
    }
    char *copy = arena_c_text(arena, text);
    for (size_t i = 0; i < text.len; i++) {
        copy[i] = copy[i] == '\0' ? ' ' : copy[i];
    }
    return (struct str){copy, text.len};
}

struct str execution_content(struct str result, struct arena *arena)
{
    struct json json;
    struct str text = result;
    if (str_absent(result) || str_is(result, "null")) {
        return STR_NONE;
    }
    json_start(&json, result, arena);
    if (json_peek(&json) == JSON_STRING && !json_str(&json, &text, NULL)) {
        return STR_NONE;
    }
    return without_nul(str_head(text, EXECUTION_CONTENT_MAX), arena);
}

double execution_queries(const struct task *task)
{
    if (task->cost.actual >= 0) {
        return task->cost.actual;
    }
    return task->state == TASK_COMPLETED ? MAX(task->cost.estimated, 0) : 0;
}

/* The steps so far but for the oldest, when there are as many as there may be. */
static void copy_steps(struct json_writer *w, struct str steps, struct arena *arena)
{
    struct json json;
    struct str step;
    size_t count = 0, skip;
    for (int pass = 0; pass < 2 && !str_absent(steps); pass++) {
        skip = count >= EXECUTION_STEPS_MAX ? count - EXECUTION_STEPS_MAX + 1 : 0;
        json_start(&json, steps, arena);
        bool ok = json_enter_array(&json, NULL);
        for (size_t i = 0; ok && json_item(&json, NULL) && json_raw(&json, &step, NULL); i++) {
            count += pass == 0;
            if (pass == 1 && i >= skip) {
                json_add_raw(w, step);
            }
        }
    }
}

void execution_step(struct execution *execution, int64_t at_ms, double percent, struct str message,
                    struct arena *arena)
{
    SCOPED(buf_fini) struct buf steps = BUF_INIT(EXECUTION_PROGRESS_MAX);
    struct json_writer w = JSON_WRITER(&steps);
    json_open_array(&w);
    copy_steps(&w, execution->progress, arena);
    json_open_object(&w);
    json_put_time(&w, "at", at_ms);
    if (percent >= 0) {
        json_put_f64(&w, "percent", percent);
    }
    if (!str_absent(message)) {
        json_put_str(&w, "message", message);
    }
    json_close_object(&w);
    json_close_array(&w);
    if (!steps.full) {
        execution->progress = arena_str(arena, buf_view(&steps));
    }
}
