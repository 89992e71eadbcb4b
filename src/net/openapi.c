/* net/openapi.c: writes openapi.json. See openapi.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/openapi.h"

#include "net/cloud.h"
#include "net/filter_in.h"
#include "net/on.h"
#include "net/route.h"
#include "net/schedule_in.h"
#include "net/schedule_out.h"
#include "net/task_in.h"
#include "net/task_out.h"
#include "net/work_in.h"
#include "openapi_schemas.h"
#include "team/message.h"
#include "team/team.h"
#include "wire/form.h"

#define ERROR_SCHEMA "Error"

static const char *const access_names[ACCESSES] = {
    [OPEN] = "Needs no token.",
    [MAY_READ] = "Needs the role read, produce or admin.",
    [MAY_READ_TASKS] = "Needs the role read, produce, work or admin.",
    [MAY_PRODUCE] = "Needs the role produce or admin.",
    [MAY_WORK] = "Needs the role work or admin.",
    [MAY_ADMIN] = "Needs the role admin.",
};

/* ---- Small pieces ---- */

static void put_content(struct json_writer *w, const char *media, struct str schema)
{
    json_put_object(w, "content");
    json_put_object(w, media);
    if (schema.len > 0) {
        json_put_object(w, "schema");
        json_key(w, "$ref");
        buf_printf(w->buf, "\"#/components/schemas/" STR_FMT "\"", STR_ARG(schema));
        w->comma = true;
        json_close_object(w);
    } else {
        json_put_raw(w, "schema", STR("{\"type\":\"string\"}"));
    }
    json_close_object(w);
    json_close_object(w);
}

static const char *describe(struct str status)
{
    static const char *const known[][2] = {
        {"200", "Done."},
        {"201", "Created."},
        {"202", "Accepted; it is under way."},
        {"204", "Done; nothing to say."},
        {"304", "As it was known."},
        {"400", "A value is wrong; `field` names it."},
        {"401", "A token is needed."},
        {"403", "Not allowed for this token, host or origin."},
        {"404", "There is no such thing."},
        {"409", "Not in this state, or the lease was lost."},
        {"413", "Too many bytes."},
        {"415", "The body is not application/json."},
        {"422", "Understood, but it cannot be so: `refusal` says why."},
        {"429", "A limit is reached; try again later."},
        {"501", "Not kept here."},
        {"503", "The store is away or failed; try again later."},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (str_is(status, known[i][0])) {
            return known[i][1];
        }
    }
    return "Something else went wrong.";
}

/* ---- Answers ---- */

static void put_answer(struct json_writer *w, const struct route *route, struct str status,
                       struct str schema)
{
    json_key_str(w, status);
    json_open_object(w);
    json_put_c(w, "description", describe(status));
    if (schema.len > 0 || route->media != NULL) {
        put_content(w, route->media == NULL ? "application/json" : route->media, schema);
    }
    json_close_object(w);
}

/* Whether a route may answer a fault of that status. */
static bool may_fail(const struct route *route, const char *status)
{
    bool body = route->request != NULL, open = route->access == OPEN;
    if (strstr(route->answers, status) != NULL) {
        return false; /* described already */
    }
    if (route->faults != NULL && strstr(route->faults, status) != NULL) {
        return true;
    }
    if (strcmp(status, "413") == 0 || strcmp(status, "415") == 0) {
        return body;
    }
    bool named_only = strcmp(status, "404") == 0 || strcmp(status, "409") == 0;
    return strcmp(status, "400") == 0 || strcmp(status, "403") == 0 || (!open && !named_only);
}

static void put_fault(struct json_writer *w, const struct route *route, const char *status)
{
    bool cloud = cloud_speaks(str_of(route->path));
    json_put_object(w, status);
    json_put_c(w, "description", describe(str_of(status)));
    put_content(w, "application/json", cloud ? STR("CloudError") : STR(ERROR_SCHEMA));
    json_close_object(w);
}

static void put_responses(struct json_writer *w, const struct route *route)
{
    static const char *const faults[] = {"400", "401", "403", "404", "409",
                                         "413", "415", "429", "503"};
    struct str rest = str_of(route->answers);
    json_put_object(w, "responses");
    while (!str_absent(rest)) {
        struct str schema = str_trim(str_cut(&rest, ','));
        struct str status = str_cut(&schema, ' ');
        put_answer(w, route, status, schema);
    }
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        if (may_fail(route, faults[i])) {
            put_fault(w, route, faults[i]);
        }
    }
    put_fault(w, route, "default");
    json_close_object(w);
}

/* ---- Questions ---- */

static void put_path_param(struct json_writer *w, const char *path, const char *open)
{
    struct str name = {open + 1, (size_t)(strchr(open, '}') - open) - 1};
    bool id = strncmp(path, "/api/tasks/", 11) == 0 || strncmp(path, "/api/schedules/", 15) == 0 ||
              strncmp(path, "/api/executions/", 16) == 0 ||
              strncmp(path, "/api/notifications/", 19) == 0 ||
              strncmp(path, "/api/teams/", 11) == 0;
    json_open_object(w);
    json_put_str(w, "name", name);
    json_put_c(w, "in", "path");
    json_put_bool(w, "required", true);
    json_put_raw(w, "schema",
                 id ? STR("{\"type\":\"string\",\"format\":\"uuid\"}")
                    : STR("{\"type\":\"string\",\"minLength\":1}"));
    json_close_object(w);
}

static void put_request(struct json_writer *w, const struct route *route)
{
    if (route->request == NULL) {
        return;
    }
    json_put_object(w, "requestBody");
    json_put_bool(w, "required", !route->optional_body);
    put_content(w, "application/json", str_of(route->request));
    json_close_object(w);
}

/* "get_api_tasks_id": unique, because method and path are. */
static void put_operation_id(struct json_writer *w, const char *method, const char *path)
{
    SCOPED(buf_fini) struct buf id = BUF_INIT(KIB);
    buf_c(&id, method);
    for (const char *c = path; *c != '\0'; c++) {
        if (*c != '{' && *c != '}') {
            buf_char(&id, *c == '/' || *c == '.' || *c == ':' ? '_' : *c);
        }
    }
    json_put_str(w, "operationId", buf_view(&id));
}

static const char *lower_method(enum http_method method)
{
    switch (method) {
    case HTTP_GET:
        return "get";
    case HTTP_POST:
        return "post";
    case HTTP_PUT:
        return "put";
    case HTTP_PATCH:
        return "patch";
    default:
        return "delete";
    }
}

static void put_operation(struct json_writer *w, const struct route *route)
{
    const char *method = lower_method(route->method);
    json_put_object(w, method);
    put_operation_id(w, method, route->path);
    json_put_c(w, "summary", route->summary);
    json_put_c(w, "description", access_names[route->access]);
    json_put_array(w, "parameters");
    for (const char *at = strchr(route->path, '{'); at != NULL; at = strchr(at + 1, '{')) {
        put_path_param(w, route->path, at);
    }
    if (route->query != NULL) {
        form_parameters(w, route->query);
    }
    json_close_array(w);
    put_request(w, route);
    put_responses(w, route);
    if (route->access == OPEN) {
        json_put_raw(w, "security", STR("[]"));
    }
    json_close_object(w);
}

/* ---- Schemas that follow from forms ---- */

static const struct {
    const char *name;
    const struct form *form, *more;
    unsigned use; /* FORM_SET, FORM_CHANGE or FORM_SHOWN */
    bool open;    /* others extend it */
} forms[] = {
    {"ScheduleRequest", &schedule_form, &schedule_create_more, FORM_SET, false},
    {"SchedulePreviewRequest", &schedule_form, &schedule_preview_more, FORM_SET, false},
    {"SchedulePatch", &schedule_form, &schedule_change_more, FORM_CHANGE, false},
    {"Schedule", &schedule_form, &schedule_omitted, FORM_SHOWN, false},
    {"PauseRequest", &schedule_pause_form, NULL, FORM_SET, false},
    {"Window", &schedule_window_form, NULL, FORM_SET, false},
    {"Execution", &execution_form, &execution_omitted, FORM_SHOWN, false},
    {"Notification", &notification_form, NULL, FORM_SHOWN, false},
    {"TeamRequest", &team_request, NULL, FORM_SET, false},
    {"TeamTaskRequest", &team_task_request, NULL, FORM_SET, false},
    {"Teammate", &team_mate_request, NULL, FORM_SET, false},
    {"TeamClaim", &team_claim_form, NULL, FORM_SET, false},
    {"TeamMessageRequest", &team_message_request, NULL, FORM_SET, false},
    {"TeamMessage", &team_message_form, NULL, FORM_SHOWN, false},
    {"Empty", &(const struct form){NULL, 0}, NULL, FORM_SET, false},
    {"Order", &task_form, &order_form, FORM_SET, false},
    {"Task", &task_form, &task_view_form, FORM_SHOWN, true},
    {"TaskPatch", &task_form, NULL, FORM_CHANGE, false},
    {"Attempt", &attempt_form, NULL, FORM_SHOWN, false},
    {"TaskError", &error_form, NULL, FORM_SHOWN, false},
    {"CancelRequest", &reason_form, NULL, FORM_SET, false},
    {"Claim", &claim_form, NULL, FORM_SET, false},
    {"Heartbeat", &heartbeat_form, NULL, FORM_SET, false},
    {"Complete", &finish_form, NULL, FINISH_COMPLETE, false},
    {"Fail", &finish_form, NULL, FINISH_FAIL, false},
    {"Release", &finish_form, NULL, FINISH_RELEASE, false},
    {"CancelFilter", &filter_form, &reason_form, FORM_SET, false},
    {"RetryFilter", &filter_form, NULL, FORM_SET, false},
    {"SignIn", &sign_in_form, NULL, FORM_SET, false},
    {"Queue", &queue_form, NULL, FORM_SHOWN, false},
    {"QueueSettings", &queue_form, NULL, FORM_SET, false},
    {"Finish", &finish_form, NULL, FORM_SET, false},
    {"CloudQueueRequest", &cloud_settings_form, NULL, FORM_SET, true},
    {"CloudTaskRequest", &cloud_task_form, NULL, FORM_SET, true},
    {"CloudRun", &cloud_run_form, NULL, FORM_SET, true},
};

static void put_schemas(struct json_writer *w)
{
    const char *by_hand = (const char *)openapi_schemas; /* an object, whose members join ours */
    const char *end = memrchr(by_hand, '}', sizeof openapi_schemas);
    json_put_object(w, "schemas");
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        json_key(w, forms[i].name);
        form_schema(w, forms[i].form, forms[i].more, forms[i].use, forms[i].open);
    }
    json_add_raw(w, (struct str){by_hand + 1, (size_t)(end - by_hand) - 1});
    json_close_object(w);
}

/* ---- The document ---- */

static void put_path(struct json_writer *w, size_t first)
{
    json_put_object(w, routes[first].path);
    for (size_t i = first; i < routes_count; i++) {
        if (strcmp(routes[i].path, routes[first].path) == 0) {
            put_operation(w, &routes[i]);
        }
    }
    json_close_object(w);
}

static void put_paths(struct json_writer *w)
{
    json_put_object(w, "paths");
    for (size_t i = 0; i < routes_count; i++) {
        bool first = true;
        for (size_t j = 0; j < i; j++) {
            first = first && strcmp(routes[j].path, routes[i].path) != 0;
        }
        if (first) {
            put_path(w, i);
        }
    }
    json_close_object(w);
}

void openapi_write(struct buf *buf, struct str version)
{
    struct json_writer w = JSON_WRITER(buf);
    json_open_object(&w);
    json_put_c(&w, "openapi", "3.1.0");
    json_put_object(&w, "info");
    json_put_c(&w, "title", "Errand");
    json_put_c(&w, "summary", "A durable task queue and scheduler");
    json_put_str(&w, "version", version);
    json_put_raw(&w, "license", STR("{\"name\":\"MIT\",\"identifier\":\"MIT\"}"));
    json_close_object(&w);
    json_put_raw(&w, "security", STR("[{\"bearer\":[]},{\"cookie\":[]},{}]"));
    put_paths(&w);
    json_put_object(&w, "components");
    put_schemas(&w);
    json_put_raw(&w, "securitySchemes",
                 STR("{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\"},\"cookie\":{\"type\":"
                     "\"apiKey\",\"in\":\"cookie\",\"name\":\"" SESSION_COOKIE "\"}}"));
    json_close_object(&w);
    json_close_object(&w);
}
