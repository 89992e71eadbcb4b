/* net/mcp_tools.c: the table of tools, their schemas, and arguments as requests. See mcp.h.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "net/mcp.h"
#include "net/route.h"
#include "wire/uri.h"

#define SCHEMA_DEPTH_MAX 6 /* schemas inside schemas; what is deeper may be anything */

/* Descriptions are for models: when to use it, what comes back, what to do next. */
/* clang-format off */
const struct mcp_tool mcp_tools[] = {
    {"push_task", "Queue a task",
     "Queue work to be done by a worker, now or later. It is on disk when this returns. Tasks with the same documentId never overlap, so give one to every "
     "edit of a shared document. Give an idempotencyKey when you might call again with the same intent. Returns the task; keep its id for get_task, "
     "wait_for_task or cancel_task.",
     HTTP_POST, "/api/tasks", .request = "Order"},
    {"get_task", "Look at a task",
     "How one task stands: state, result, error, progress, attempts with their logs. To wait for its end use wait_for_task; to learn why it does not start, why_not_running.",
     HTTP_GET, "/api/tasks/{id}", .subject = "id", .reads = true, .repeatable = true},
    {"why_not_running", "Why is it not running?",
     "Why a task has not started: a locked document and who holds it, unmet dependencies, its time, a paused or full queue, busy or missing workers. No reasons: it runs or has ended.",
     HTTP_GET, "/api/tasks/{id}/why", .subject = "id", .reads = true, .repeatable = true},
    {"list_tasks", "List tasks",
     "Tasks, newest first, filtered by state, taskType, documentId, tag and more. Ask for a small limit; `next` of the answer is the `cursor` of the next page.",
     HTTP_GET, "/api/tasks", .reads = true, .repeatable = true},
    {"cancel_task", "Cancel a task",
     "Stop a task that has not ended. One that runs is told to stop and ends when it has (cancelRequested). Its work may be lost.",
     HTTP_POST, "/api/tasks/{id}/cancel", .subject = "id", .destroys = true, .repeatable = true},
    {"retry_task", "Retry a task",
     "Run a task again that is FAILED, TIMEOUT or CANCELLED, with a fresh budget of retries. A task that is RETRYING comes back by itself.",
     HTTP_POST, "/api/tasks/{id}/retry", .subject = "id"},
    {"wait_for_task", "Wait for a task",
     "Wait until a task has ended, at most waitMs (default 30000, at most 60000), and return it. If its state is still QUEUED, RUNNING or the like the time was over: call again.",
     HTTP_GET, "/api/tasks/{id}", .subject = "id", .reads = true, .repeatable = true},
    {"claim_task", "Claim a task",
     "Be a worker: take a task under a lease. workerId is your name, the same in every call. Empty `tasks`: nothing to do now. Afterwards do what taskType and "
     "payload say, call heartbeat_task before leaseMs is over, and end with complete_task, fail_task or release_task, each with the task's id and lease.",
     HTTP_POST, "/api/claim", .subject = NULL},
    {"heartbeat_task", "Keep a claimed task",
     "Renew the lease of a task you claimed and report progress. cancelRequested in the answer: stop and call fail_task. An error lease_lost: the task is somebody else's now; stop and tell nobody.",
     HTTP_POST, "/api/tasks/{id}/heartbeat", .subject = "id"},
    {"complete_task", "Complete a claimed task",
     "Say that a task you claimed is done, with its result (any JSON). Calling it again with the same lease does no harm.",
     HTTP_POST, "/api/tasks/{id}/complete", .subject = "id", .repeatable = true},
    {"fail_task", "Fail a claimed task",
     "Say that a task you claimed did not work: error {code, message}. It is tried again later unless retry is false or its retries are used up.",
     HTTP_POST, "/api/tasks/{id}/fail", .subject = "id", .repeatable = true},
    {"release_task", "Give a claimed task back",
     "Give a task you claimed back without using a retry, for delayMs if it should wait.",
     HTTP_POST, "/api/tasks/{id}/release", .subject = "id", .repeatable = true},
    {"preview_schedule", "Preview a schedule",
     "What a sentence (\"every friday at 4pm send the report\") or a rule would become: its next five times and a summary. Nothing is saved. Show it to the user before you call schedule, "
     "and give the user's timezone. A refusal names the word that was not understood.",
     HTTP_POST, "/api/schedules/preview", .reads = true, .repeatable = true},
    {"schedule", "Create a schedule",
     "Create a reminder, report or other recurring or one-time run from `text` in English, or from title with rrule, cron or dtstart. Give the user's timezone and userId.",
     HTTP_POST, "/api/schedules", .subject = NULL},
    {"list_schedules", "List schedules",
     "Schedules with their next times, newest first; of one user with userId.",
     HTTP_GET, "/api/schedules", .reads = true, .repeatable = true},
    {"edit_schedule", "Change a schedule",
     "Change a schedule: `text` in English (\"move it to 8am\", \"skip the next one\", \"pause it\"), or fields such as title, rrule, timezone. Not both.",
     HTTP_PATCH, "/api/schedules/{id}", .subject = "id", .destroys = true},
    {"start_team", "Start a team",
     "Start several agents on one prompt: `tasks` with dependencies, or without them if the server has a language model to split it. Agents then use team_claim, team_say and team_read.",
     HTTP_POST, "/api/teams", .subject = NULL},
    {"team_claim", "Claim a team's task",
     "Take a task of a team whose dependencies are done, as `agent` (your name). task null: none is ready. End it with complete_task or fail_task; the results of what it depends on come with it.",
     HTTP_POST, "/api/teams/{id}/claim", .subject = "teamId"},
    {"team_say", "Say something to a team",
     "Send a message to one member of a team (`to`) or, without it, to all.",
     HTTP_POST, "/api/teams/{id}/messages", .subject = "teamId"},
    {"team_read", "Read a team's messages",
     "Messages for `agent`, in order; `after` is the id of the last one you have seen, waitMs waits for a new one.",
     HTTP_GET, "/api/teams/{id}/messages", .subject = "teamId", .reads = true, .repeatable = true},
    {"queue_stats", "Look at the queues",
     "Every queue with its limits, whether it is paused, and how many tasks stand in which state.",
     HTTP_GET, "/api/queues", .reads = true, .repeatable = true},
};
/* clang-format on */
const size_t mcp_tools_count = ARRAY_LEN(mcp_tools);

const struct mcp_tool *mcp_tool_find(struct str name)
{
    for (size_t i = 0; i < mcp_tools_count; i++) {
        if (str_is(name, mcp_tools[i].name)) {
            return &mcp_tools[i];
        }
    }
    return NULL;
}

static const struct route *route_of(const struct mcp_tool *tool)
{
    for (size_t i = 0; i < routes_count; i++) {
        if (routes[i].method == tool->method && strcmp(routes[i].path, tool->path) == 0) {
            return &routes[i];
        }
    }
    return NULL;
}

bool mcp_tool_allowed(const struct mcp_tool *tool, enum role role)
{
    return auth_role_allows(role, route_of(tool)->access);
}

/* ---- Schemas, out of openapi.json ---- */

struct mcp_book {
    struct arena arena;
    struct str paths, schemas; /* of the document */
    struct str *inputs;        /* beside mcp_tools: each one's inputSchema */
};

void mcp_book_free(struct mcp_book *book)
{
    if (book != NULL) {
        arena_fini(&book->arena);
        mem_free(book);
    }
}

/* A schema with those that it refers to in their places: hosts of models know no references. */
static void put_schema(struct json_writer *w, struct mcp_book *book, struct str schema, int depth)
{
    struct json json;
    struct err ignored = ERR_INIT;
    struct str key, value;
    json_start(&json, schema, &book->arena);
    struct str reference =
        json_peek(&json) == JSON_OBJECT ? json_find_str(schema, "$ref", &book->arena) : STR_NONE;
    if (!str_absent(reference)) {
        const char *name = strrchr(arena_c_text(&book->arena, reference), '/') + 1;
        put_schema(w, book, depth == 0 ? STR("{}") : json_find(book->schemas, name, &book->arena),
                   depth - 1);
    } else if (json_peek(&json) == JSON_OBJECT && json_enter_object(&json, &ignored)) {
        json_open_object(w);
        while (json_member(&json, &key, &ignored) && json_raw(&json, &value, &ignored)) {
            json_key_str(w, key);
            put_schema(w, book, value, depth);
        }
        json_close_object(w);
    } else if (json_peek(&json) == JSON_ARRAY && json_enter_array(&json, &ignored)) {
        json_open_array(w);
        while (json_item(&json, &ignored) && json_raw(&json, &value, &ignored)) {
            put_schema(w, book, value, depth);
        }
        json_close_array(w);
    } else {
        json_add_raw(w, schema);
    }
}

/* The parameters of the query, with what the document says about them. */
static void put_parameters(struct json_writer *w, struct mcp_book *book, struct str operation)
{
    struct str parameters = json_find(operation, "parameters", &book->arena), raw;
    struct json json;
    struct err ignored = ERR_INIT;
    if (str_absent(parameters)) {
        return;
    }
    json_start(&json, parameters, &book->arena);
    for (bool in = json_enter_array(&json, &ignored);
         in && json_item(&json, &ignored) && json_raw(&json, &raw, &ignored);) {
        if (str_is(json_find_str(raw, "in", &book->arena), "query")) {
            json_key_str(w, json_find_str(raw, "name", &book->arena));
            put_schema(w, book, json_find(raw, "schema", &book->arena), SCHEMA_DEPTH_MAX);
        }
    }
}

static void put_body(struct json_writer *w, struct mcp_book *book, struct str schema)
{
    struct str properties = json_find(schema, "properties", &book->arena), key, value;
    struct json json;
    struct err ignored = ERR_INIT;
    if (str_absent(properties)) {
        return;
    }
    json_start(&json, properties, &book->arena);
    for (bool in = json_enter_object(&json, &ignored);
         in && json_member(&json, &key, &ignored) && json_raw(&json, &value, &ignored);) {
        json_key_str(w, key);
        put_schema(w, book, value, SCHEMA_DEPTH_MAX);
    }
}

static void put_required(struct json_writer *w, struct mcp_book *book, const char *subject,
                         struct str schema)
{
    struct str required =
        str_absent(schema) ? STR_NONE : json_find(schema, "required", &book->arena);
    struct str name;
    struct json json;
    struct err ignored = ERR_INIT;
    json_put_array(w, "required");
    if (subject != NULL) {
        json_add_str(w, str_of(subject));
    }
    if (!str_absent(required)) {
        json_start(&json, required, &book->arena);
        for (bool in = json_enter_array(&json, &ignored);
             in && json_item(&json, &ignored) && json_str(&json, &name, &ignored);) {
            json_add_str(w, name);
        }
    }
    json_close_array(w);
}

static struct str input_of_tool(struct mcp_book *book, const struct mcp_tool *tool)
{
    const struct route *route = route_of(tool);
    const char *request = tool->request != NULL ? tool->request : route->request;
    struct str schema =
        request == NULL ? STR_NONE : json_find(book->schemas, request, &book->arena);
    char method[8];
    size_t n = 0;
    for (const char *c = route_method_name(route->method); *c != '\0'; c++) {
        method[n++] = (char)(*c | 0x20); /* the document has them in lower case */
    }
    method[n] = '\0';
    struct str path = json_find(book->paths, route->path, &book->arena);
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&text);
    json_open_object(&w);
    json_put_c(&w, "type", "object");
    json_put_object(&w, "properties");
    if (tool->subject != NULL) {
        json_put_object(&w, tool->subject);
        json_put_c(&w, "type", "string");
        json_close_object(&w);
    }
    put_parameters(&w, book, json_find(path, method, &book->arena));
    if (!str_absent(schema)) {
        put_body(&w, book, schema);
    }
    if (strcmp(tool->name, "edit_schedule") == 0) { /* the assistant reads it */
        json_put_raw(&w, "text", STR("{\"type\":\"string\",\"minLength\":1}"));
    }
    json_close_object(&w);
    put_required(&w, book, tool->subject, schema);
    json_close_object(&w);
    return arena_str(&book->arena, buf_view(&text));
}

static const struct mcp_book *book_of(struct api *api)
{
    if (api->mcp == NULL) {
        struct mcp_book *book = mem_new(struct mcp_book);
        struct str document = buf_view(&api->openapi);
        book->paths = json_find(document, "paths", &book->arena);
        book->schemas =
            json_find(json_find(document, "components", &book->arena), "schemas", &book->arena);
        book->inputs = arena_array(&book->arena, struct str, mcp_tools_count);
        for (size_t i = 0; i < mcp_tools_count; i++) {
            book->inputs[i] = input_of_tool(book, &mcp_tools[i]);
        }
        api->mcp = book;
    }
    return api->mcp;
}

void mcp_tools_write(struct json_writer *w, struct api *api, enum role role)
{
    const struct mcp_book *book = book_of(api);
    json_open_array(w);
    for (size_t i = 0; i < mcp_tools_count; i++) {
        const struct mcp_tool *tool = &mcp_tools[i];
        if (!mcp_tool_allowed(tool, role)) {
            continue;
        }
        json_open_object(w);
        json_put_c(w, "name", tool->name);
        json_put_c(w, "title", tool->title);
        json_put_c(w, "description", tool->about);
        json_put_raw(w, "inputSchema", book->inputs[i]);
        json_put_object(w, "annotations");
        json_put_c(w, "title", tool->title);
        json_put_bool(w, "readOnlyHint", tool->reads);
        json_put_bool(w, "destructiveHint", tool->destroys);
        json_put_bool(w, "idempotentHint", tool->repeatable);
        json_put_bool(w, "openWorldHint", false);
        json_close_object(w);
        json_close_object(w);
    }
    json_close_array(w);
}

/* ---- Arguments ---- */

/* One argument as a parameter of the query: lists are joined by commas, null is not given. */
static bool add_parameter(struct buf *query, struct str key, struct str raw, struct arena *arena,
                          struct err *err)
{
    struct json json;
    struct str text = raw;
    SCOPED(buf_fini) struct buf joined = BUF_INIT(64 * KIB);
    json_start(&json, raw, arena);
    switch (json_peek(&json)) {
    case JSON_NULL:
        return true;
    case JSON_STRING:
        if (!json_str(&json, &text, err)) {
            return false;
        }
        break;
    case JSON_ARRAY:
        for (bool in = json_enter_array(&json, err);
             in && json_item(&json, err) && json_str(&json, &text, err);) {
            buf_c(&joined, joined.len == 0 ? "" : ",");
            buf_str(&joined, text);
        }
        if (!json_ok(&json)) {
            return err_field(err, arena_c_text(arena, key), STR_FMT " must be a list of texts",
                             STR_ARG(key));
        }
        text = buf_view(&joined);
        break;
    case JSON_OBJECT:
        return err_field(err, arena_c_text(arena, key), STR_FMT " must not be an object",
                         STR_ARG(key));
    default:
        break;
    }
    buf_c(query, query->len == 0 ? "" : "&");
    uri_encode(query, key);
    buf_char(query, '=');
    uri_encode(query, text);
    return true;
}

/* Puts the subject into the path: "/api/tasks/{id}/why". */
static struct str fill_path(const char *pattern, struct str subject, struct arena *arena)
{
    SCOPED(buf_fini) struct buf path = BUF_INIT(64 * KIB);
    size_t before = strcspn(pattern, "{");
    buf_add(&path, pattern, before);
    if (pattern[before] == '{') {
        uri_encode(&path, subject);
        buf_c(&path, strchr(pattern, '}') + 1);
    }
    return arena_str(arena, buf_view(&path));
}

bool mcp_tool_request(const struct mcp_tool *tool, struct str arguments, struct arena *arena,
                      struct mcp_request *out, struct err *err)
{
    SCOPED(buf_fini) struct buf query = BUF_INIT(256 * KIB);
    SCOPED(buf_fini) struct buf body = BUF_INIT(MCP_ANSWER_MAX);
    struct json_writer w = JSON_WRITER(&body);
    struct json json;
    struct str key, raw, subject = STR_NONE;
    bool waits = false;
    json_start(&json, str_absent(arguments) ? STR("{}") : arguments, arena);
    if (json_peek(&json) != JSON_OBJECT) {
        return err_set(err, ERR_INVALID, "arguments must be an object");
    }
    if (!json_enter_object(&json, err)) {
        return false;
    }
    json_open_object(&w);
    while (json_member(&json, &key, err)) {
        if (tool->subject != NULL && str_is(key, tool->subject)) {
            if (!json_str(&json, &subject, err)) {
                return false;
            }
            continue;
        }
        if (!json_raw(&json, &raw, err)) {
            return false;
        }
        waits = waits || str_is(key, "waitMs");
        if (tool->method == HTTP_GET) {
            if (!add_parameter(&query, key, raw, arena, err)) {
                return false;
            }
        } else {
            json_key_str(&w, key);
            json_add_raw(&w, raw);
        }
    }
    json_close_object(&w);
    if (!json_end(&json, err)) {
        return false;
    }
    if (tool->subject != NULL && (str_absent(subject) || subject.len == 0)) {
        return err_field(err, tool->subject, "%s is required", tool->subject);
    }
    if (strcmp(tool->name, "wait_for_task") == 0 && !waits) {
        buf_printf(&query, "waitMs=%lld", (long long)MCP_WAIT_DEFAULT);
    }
    *out = (struct mcp_request){
        .method = tool->method,
        .path = fill_path(tool->path, subject, arena),
        .query = query.len == 0 ? STR_NONE : arena_str(arena, buf_view(&query)),
        .body = tool->method == HTTP_GET ? STR("") : arena_str(arena, buf_view(&body)),
    };
    return true;
}
