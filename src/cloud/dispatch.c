/* cloud/dispatch.c: what a task of the Cloud Tasks API remembers. See dispatch.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cloud/dispatch.h"

#include "wire/cloud.h"

const char *const cloud_method_words[] = {
    "HTTP_METHOD_UNSPECIFIED", "POST", "GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", NULL};

/* ---- Where it goes ---- */

#define ASKED(label, member, kind, ...)                                                            \
    FORM_ROW(label, struct cloud_request, member, kind, FORM_KEPT, __VA_ARGS__)

/* clang-format off */
static const struct form_row request_rows[] = {
    ASKED("url", url, FORM_TEXT, 0),
    ASKED("httpMethod", method, FORM_WORD, .words = cloud_method_words),
    ASKED("headers", headers, FORM_OBJECT, 0),
};
/* clang-format on */
static const struct form request_form = FORM(request_rows);

struct str cloud_request_text(const struct cloud_request *request, struct str more,
                              struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&text);
    json_open_object(&w);
    json_key(&w, "httpRequest");
    form_keep(&w, &request_form, request);
    buf_str(&text, str_absent(more) ? STR("") : more);
    json_close_object(&w);
    return arena_str(arena, buf_view(&text));
}

bool cloud_request_read(struct str metadata, struct arena *arena, struct cloud_request *out,
                        struct err *err)
{
    struct str request = json_find(metadata, "httpRequest", arena);
    *out = (struct cloud_request){0};
    if (str_absent(request)) {
        return err_set(err, ERR_INVALID, "the task does not say where it goes");
    }
    return form_load(request, &request_form, arena, out, err);
}

/* ---- What was ---- */

#define KEPT(label, member, kind, ...)                                                             \
    FORM_ROW(label, struct cloud_dispatch, member, kind, FORM_KEPT, __VA_ARGS__)

/* clang-format off */
static const struct form_row kept[] = {
    KEPT("first", first_ms, FORM_I64, .max = INT64_MAX),
    KEPT("scheduled", scheduled_ms, FORM_I64, .max = INT64_MAX),
    KEPT("answers", answers, FORM_I32, .max = INT32_MAX),
    KEPT("executions", executions, FORM_I32, .max = INT32_MAX),
    KEPT("status", status, FORM_I32, .max = INT32_MAX),
};
/* clang-format on */
static const struct form kept_form = FORM(kept);

struct cloud_dispatch cloud_dispatch_read(const struct task *task, struct arena *arena)
{
    struct cloud_dispatch dispatch = {0};
    if (str_absent(task->dispatch) ||
        !form_load(task->dispatch, &kept_form, arena, &dispatch, NULL)) {
        return (struct cloud_dispatch){0};
    }
    return dispatch;
}

void cloud_dispatch_note(struct task *task, int status, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&text);
    struct cloud_dispatch dispatch = cloud_dispatch_read(task, arena);
    bool answered = status != 0;
    if (dispatch.first_ms == 0 || task->retries == 0) { /* a retry by hand begins anew */
        dispatch.first_ms = task->started_ms;
    }
    dispatch.scheduled_ms = cloud_eta_ms(task);
    dispatch.answers += answered;
    dispatch.executions += answered && status / 100 != 5;
    dispatch.status = status;
    form_keep(&w, &kept_form, &dispatch);
    task->dispatch = arena_str(arena, buf_view(&text));
}

int64_t cloud_eta_ms(const struct task *task)
{
    return task->scheduled_ms != 0 ? task->scheduled_ms : task->created_ms;
}

int cloud_status_of(const struct task_error *error, struct arena *arena)
{
    uint64_t status;
    struct str text = error == NULL ? STR_NONE : json_find(error->detail, "status", arena);
    return !str_absent(text) && str_u64(text, &status) && status < 1000 ? (int)status : 0;
}

/* ---- Names ---- */

static struct str behind_slash(struct str text)
{
    const char *slash = text.len == 0 ? NULL : memrchr(text.ptr, '/', text.len);
    return slash == NULL ? text : str_from(text, (size_t)(slash + 1 - text.ptr));
}

struct str cloud_short_name(const struct task *task)
{
    return behind_slash(task->external_id);
}

struct str cloud_short_queue(struct str queue)
{
    return behind_slash(queue);
}
