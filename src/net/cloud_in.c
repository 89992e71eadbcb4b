/* net/cloud_in.c: what the Cloud Tasks API is asked: paths, queries and bodies. See cloud.h.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "client/guard.h"
#include "net/cloud.h"
#include "net/route.h"
#include "task/reserved.h"
#include "wire/time.h"
#include "wire/trace.h"
#include "wire/uri.h"

static const char *const view_words[] = {"VIEW_UNSPECIFIED", "BASIC", "FULL", NULL};

/* ---- Queries ---- */

#define ASKED(label, member, kind, use, ...)                                                       \
    FORM_ROW(label, struct cloud_asked, member, kind, FORM_SET | (use), __VA_ARGS__)
#define VIEW                                                                                       \
    ASKED("responseView", view, FORM_WORD, FORM_NUMBER, .words = view_words,                       \
          .about = "FULL: with the body.")
#define PAGE                                                                                       \
    ASKED("pageSize", page_size, FORM_I64, 0, .max = INT32_MAX),                                   \
        ASKED("pageToken", page_token, FORM_TEXT, 0,                                               \
              .about = "The nextPageToken of the page before.")

/* clang-format off */
static const struct form_row queues_rows[] = {
    ASKED("filter", filter, FORM_TEXT, 0, .about = "state: PAUSED, or state: RUNNING."), PAGE};
static const struct form_row patch_rows[] = {
    ASKED("updateMask", update_mask, FORM_TEXT, 0, .about = "Fields, comma separated; none: all.")};
static const struct form_row tasks_rows[] = {VIEW, PAGE};
static const struct form_row view_rows[] = {VIEW};
/* clang-format on */
const struct form cloud_queues_query = FORM(queues_rows);
const struct form cloud_patch_query = FORM(patch_rows);
const struct form cloud_tasks_query = FORM(tasks_rows);
const struct form cloud_view_query = FORM(view_rows);

/* What Google's servers take everywhere and what means nothing here. */
static bool is_system(struct str name)
{
    static const char *const names[] = {
        "alt",       "fields",       "key",        "prettyPrint",     "callback",
        "quotaUser", "access_token", "uploadType", "upload_protocol", "oauth_token"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_is(name, names[i])) {
            return true;
        }
    }
    return name.len == 0 || name.ptr[0] == '$';
}

static const struct form_row *find_parameter(const struct form *form, struct str name,
                                             struct arena *arena)
{
    uint64_t bits = 0;
    if (form == NULL || !cloud_mask_parse(name, form, arena, &bits, NULL) ||
        (bits & (bits - 1)) != 0) {
        return NULL;
    }
    return &form->rows[__builtin_ctzll(bits)];
}

static bool read_query(struct call *call, const struct form *form, struct cloud_asked *asked,
                       struct err *err)
{
    struct str query = call->exchange->request.query, name, value;
    while (uri_pair(&query, call->arena, &name, &value, err)) {
        const struct form_row *row = find_parameter(form, name, call->arena);
        if (str_is(name, "$alt")) {
            asked->numbers = str_ends(value, STR("enum-encoding=int"));
        } else if (row == NULL && !is_system(name)) {
            return err_field(err, "query",
                             "Invalid JSON payload received. Unknown name \"" STR_FMT
                             "\": Cannot bind query parameter.",
                             STR_ARG(str_head(name, 64)));
        } else if (row != NULL && value.len > 0 && !form_text(row, value, asked, err)) {
            return false;
        }
    }
    return str_absent(query);
}

/* ---- Paths ---- */

static bool check_name(const struct cloud_name *name, struct err *err)
{
    bool place = cloud_project_ok(name->project) &&
                 (str_absent(name->location) || cloud_location_ok(name->location)) &&
                 name->project.len + name->location.len <= CLOUD_PARENT_MAX;
    if (!place || (!str_absent(name->queue) && !cloud_queue_ok(name->queue))) {
        return err_field(err, "name",
                         "Queue name must be formatted: \"projects/<PROJECT_ID>/locations/"
                         "<LOCATION_ID>/queues/<QUEUE_ID>\".");
    }
    if (!str_absent(name->task) && !cloud_task_ok(name->task)) {
        return err_field(err, "name",
                         "Task ID \"" STR_FMT
                         "\" can contain only letters ([A-Za-z]), numbers ([0-9]), hyphens (-), or "
                         "underscores (_). Task ID must between 1 and 500 characters.",
                         STR_ARG(str_head(name->task, 100)));
    }
    return true;
}

static bool name_errand(struct cloud_path *path, struct arena *arena, struct err *err)
{
    const struct cloud_name *name = &path->name;
    path->parent =
        arena_printf(arena, STR_FMT "/" STR_FMT, STR_ARG(name->project), STR_ARG(name->location));
    path->queue =
        arena_printf(arena, STR_FMT "/" STR_FMT, STR_ARG(path->parent), STR_ARG(name->queue));
    return !reserved_for_teams(path->queue) ||
           err_field(err, "name",
                     "a project cannot be called \"team\" here: such queues are "
                     "those of Errand's teams");
}

static bool read_path(struct call *call, struct cloud_path *path, struct err *err)
{
    struct str text;
    size_t tail = strlen(strrchr(call->route->path, '}') + 1); /* "/queues", ":pause" */
    *path = (struct cloud_path){0};
    if (!uri_decode(call->exchange->request.path, call->arena, &text, err)) {
        return false;
    }
    text = str_from(text, sizeof "/v2/" - 1);
    text.len -= MIN(tail, text.len);
    if (!cloud_name_parse(text, &path->name)) { /* an escaped slash */
        return err_field(err, "name", "this is not the name of a queue or task");
    }
    return check_name(&path->name, err) && name_errand(path, call->arena, err);
}

bool cloud_read_call(struct call *call, const struct form *query, struct cloud_path *path,
                     struct cloud_asked *asked, struct err *err)
{
    *asked = (struct cloud_asked){.filter = STR_NONE};
    return read_path(call, path, err) && read_query(call, query, asked, err);
}

/* ---- Bodies ---- */

bool cloud_read_body(struct call *call, const struct form *form, void *into, uint64_t *given,
                     struct err *err)
{
    struct str body = str_chomp(str_trim(call->exchange->request.body)), plain;
    struct json json;
    if (body.len == 0 ||
        str_is(body, "\"\"")) { /* the client's word for a message without fields */
        return true;
    }
    if (!call_json(call, &json, err) || !cloud_message(body, call->arena, &plain, err)) {
        return false;
    }
    json_start(&json, plain, call->arena);
    return form_read_for(FORM_SET, &json, form, into, given, NULL, err) && json_end(&json, err);
}

#define ROW(label, member, kind, use, ...)                                                         \
    FORM_ROW(label, struct cloud_task_in, member, kind, FORM_SET | (use), __VA_ARGS__)
#define IGNORED(label) ROW(label, name, FORM_NONE, 0, .about = "Taken and not looked at.")
#define BODY_VIEW                                                                                  \
    ROW("responseView", view, FORM_WORD, FORM_NUMBER, .words = view_words,                         \
        .about = "FULL: with the body.")

/* clang-format off */
static const struct form_row task_rows[] = {
    ROW("task.name", name, FORM_TEXT, 0, .about = "projects/P/locations/L/queues/Q/tasks/T; none: one is made."),
    ROW("task.httpRequest.url", request.url, FORM_TEXT, 0, 0),
    ROW("task.httpRequest.httpMethod", request.method, FORM_WORD, FORM_NUMBER, .words = cloud_method_words, .about = "Default POST."),
    ROW("task.httpRequest.headers", request.headers, FORM_OBJECT, 0, 0),
    ROW("task.httpRequest.body", body, FORM_HOOK, 0, .hook = &cloud_bytes, .schema = "{\"type\":\"string\",\"contentEncoding\":\"base64\"}"),
    ROW("task.httpRequest.oidcToken", oidc, FORM_OBJECT, 0, .about = "Refused: there are no keys to sign it with."),
    ROW("task.httpRequest.oauthToken", oauth, FORM_OBJECT, 0, .about = "Refused: there are no keys to sign it with."),
    ROW("task.appEngineHttpRequest", app_engine, FORM_OBJECT, 0, .about = "Refused: there is no App Engine here."),
    ROW("task.scheduleTime", scheduled_ms, FORM_TIME, FORM_LOOSE, .about = "RFC 3339."),
    ROW("task.dispatchDeadline", deadline_ms, FORM_HOOK, 0, .hook = &cloud_duration, .schema = "{\"type\":\"string\"}", .about = "15s to 1800s, default 600s."),
    IGNORED("task.createTime"),
    IGNORED("task.dispatchCount"),
    IGNORED("task.responseCount"),
    IGNORED("task.firstAttempt"),
    IGNORED("task.lastAttempt"),
    IGNORED("task.view"),
    BODY_VIEW,
    IGNORED("parent"),
};
static const struct form_row run_rows[] = {BODY_VIEW, IGNORED("name")};
/* clang-format on */
const struct form cloud_task_form = FORM(task_rows), cloud_run_form = FORM(run_rows);

/* ---- A task ---- */

static bool read_task_name(const struct cloud_path *path, struct str text, struct str *out,
                           struct err *err)
{
    struct cloud_name name;
    if (text.len == 0) {
        return true;
    }
    if (!cloud_name_parse(text, &name) || str_absent(name.task)) {
        return err_field(err, "name",
                         "Task name must be formatted: \"projects/<PROJECT_ID>/locations/"
                         "<LOCATION_ID>/queues/<QUEUE_ID>/tasks/<TASK_ID>\".");
    }
    bool same = str_eq(name.project, path->name.project) &&
                str_eq(name.location, path->name.location) && str_eq(name.queue, path->name.queue);
    struct str queue = {text.ptr, (size_t)(name.queue.ptr + name.queue.len - text.ptr)};
    if (!same) {
        return err_field(err, "name",
                         "The queue name from request ('projects/" STR_FMT "/locations/" STR_FMT
                         "/queues/" STR_FMT "') must be the same as the queue name in the named "
                         "task ('" STR_FMT "').",
                         STR_ARG(path->name.project), STR_ARG(path->name.location),
                         STR_ARG(path->name.queue), STR_ARG(str_head(queue, 100)));
    }
    *out = name.task;
    return check_name(&name, err);
}

static bool check_url(struct str url, bool allow_private, struct err *err)
{
    struct uri uri;
    bool http = str_starts(url, STR("http://")), https = str_starts(url, STR("https://"));
    if (url.len == 0) {
        return err_field(err, "url", "HttpRequest.url is required.");
    }
    if (!http && !https) {
        return err_field(err, "url", "HttpTarget.url must start with 'http://' or 'https://'.");
    }
    if (url.len > CLOUD_URL_MAX) {
        return err_field(err, "url", "HttpRequest.url must be at most %d characters.",
                         CLOUD_URL_MAX);
    }
    bool plain = !str_has_control(url) && memchr(url.ptr, ' ', url.len) == NULL;
    if (!plain || !uri_parse(url, &uri, NULL) || uri.host.len == 0) {
        return err_field(err, "url", "HttpRequest.url is not a URL that can be sent to.");
    }
    if (!str_absent(uri.userinfo)) {
        return err_field(err, "url",
                         "HttpRequest.url: a user belongs into an Authorization header.");
    }
    struct err refused = ERR_INIT;
    return guard_check_host(uri.host, allow_private, &refused) ||
           err_field(err, "url",
                     "HttpRequest.url: %s; [push] allow_private = true lets tasks go to this "
                     "machine and private networks",
                     refused.text);
}

/* Tokens signed by Google cannot be made here. Sending the request without would be worse than to
 * refuse it. */
static bool check_kind(const struct cloud_task_in *in, struct err *err)
{
    if (!str_absent(in->app_engine)) {
        return err_field(err, "appEngineHttpRequest",
                         "appEngineHttpRequest is not supported: use httpRequest with a URL.");
    }
    bool oidc = !str_absent(in->oidc), oauth = !str_absent(in->oauth);
    if (oidc || oauth) {
        const char *which = oidc ? "oidcToken" : "oauthToken";
        return err_field(err, which,
                         "HttpRequest.%s is not supported: Errand has no key to sign it with. Send "
                         "a secret of your own in HttpRequest.headers, such as Authorization.",
                         which);
    }
    return true;
}

static bool check_body(const struct call *call, const struct cloud_task_in *in, struct err *err)
{
    if (in->body.len > 0 && !cloud_method_has_body(in->request.method)) {
        return err_field(err, "body", "HttpRequest.body is allowed for POST, PUT and PATCH only.");
    }
    size_t size = in->body.len + in->request.headers.len + in->request.url.len;
    return size <= call->api->options.payload_max || err_field(err, "task", "Task size too large");
}

static bool check_times(const struct call *call, const struct cloud_task_in *in, struct err *err)
{
    int64_t now_ms = clock_now(call->api->options.clock).wall_ms;
    bool google = cloud_google_limits(call->api->parts.cloud);
    if (in->deadline_ms != 0 &&
        (in->deadline_ms < CLOUD_DEADLINE_MIN_MS || in->deadline_ms > CLOUD_DEADLINE_MAX_MS)) {
        return err_field(err, "dispatchDeadline",
                         "Task.dispatchDeadline must be between [15s, 30m].");
    }
    if (google && in->scheduled_ms > now_ms + CLOUD_AHEAD_MAX_MS) {
        char text[TIME_TEXT_LEN + 1];
        time_text(in->scheduled_ms, text);
        return err_field(err, "scheduleTime",
                         "The Task.scheduleTime, %s, is too far in the future. Schedule time must "
                         "be no more than 720h in the future.",
                         text);
    }
    return true;
}

/* The trace of whoever creates a task goes on with its requests. */
static struct str trace_of(struct call *call)
{
    const struct http_headers *headers = &call->exchange->request.headers;
    struct str parent = http_header(headers, "traceparent");
    return str_absent(parent) || !trace_is_parent(parent)
               ? STR_NONE
               : arena_printf(call->arena, ",\"traceparent\":\"%.*s\"", TRACEPARENT_LEN,
                              parent.ptr);
}

static void fill_task(struct call *call, const struct cloud_task_in *in, struct task *task)
{
    task_init(task);
    task->payload = in->body.len == 0 ? STR_NONE : in->body;
    task->payload_raw = in->body.len > 0 && !json_valid(in->body, NULL);
    task->metadata = cloud_request_text(&in->request, trace_of(call), call->arena);
    task->timeout_ms = in->deadline_ms == 0 ? CLOUD_DEADLINE_MS : in->deadline_ms;
    task->scheduled_ms = in->scheduled_ms;
}

bool cloud_read_task(struct call *call, const struct cloud_path *path, struct cloud_task_in *in,
                     struct cloud_order *order, struct err *err)
{
    struct cloud_request *request = &in->request;
    *in = (struct cloud_task_in){0};
    if (!cloud_read_body(call, &cloud_task_form, in, &(uint64_t){0}, err)) {
        return false;
    }
    request->method = request->method == CLOUD_METHOD_NONE ? CLOUD_POST : request->method;
    if (!read_task_name(path, in->name, &order->task, err) || !check_kind(in, err) ||
        !check_url(request->url, call->api->options.push_private, err) ||
        !(cloud_headers_read(request->headers, call->arena, &request->headers, err) ||
          form_inside(err, "headers")) ||
        !check_body(call, in, err) || !check_times(call, in, err)) {
        return false;
    }
    fill_task(call, in, &order->make);
    return true;
}
