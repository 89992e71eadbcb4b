/* net/mcp.c: the Model Context Protocol over HTTP. See mcp.h.
 *
 * One POST brings one message, or several in a batch. They are carried out one after the other; a
 * tool becomes a request inside this one (api_dispatch), whose answer comes back to on_inside().
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/mcp.h"

#include "net/on.h"

/* Errors of JSON-RPC, and the one that MCP adds. */
enum {
    RPC_PARSE = -32700,
    RPC_REQUEST = -32600,
    RPC_METHOD = -32601,
    RPC_PARAMS = -32602,
    RPC_NO_RESOURCE = -32002
};

static const char instructions[] =
    "Errand is a durable task queue and scheduler. Use push_task to have work done by a worker and "
    "wait_for_task for its result; why_not_running explains a task that does not start. "
    "Tasks with the same documentId never overlap. preview_schedule and schedule take English. "
    "To do work yourself, claim_task, heartbeat_task and complete_task.";

enum inside { INSIDE_TOOL, INSIDE_EDIT_LOOK, INSIDE_EDIT, INSIDE_RESOURCE };

struct mcp {
    struct call *call;           /* the POST itself */
    struct http_request request; /* as it came: a request inside stands in its place for a while */
    bool batch;
    struct str *messages;
    size_t count, at;
    struct buf out; /* the answers */
    struct json_writer w;

    /* Of the message under way: */
    struct str id; /* raw JSON; absent: a notification */
    enum inside inside;
    struct str arguments, uri;
    struct str
        progress; /* the token under which progress is told, raw; absent: none is asked for */
};

static void go_on(struct mcp *mcp);

/* ---- Answers ---- */

static void open_answer(struct mcp *mcp)
{
    json_open_object(&mcp->w);
    json_put_c(&mcp->w, "jsonrpc", "2.0");
    json_put_raw(&mcp->w, "id", str_absent(mcp->id) ? STR("null") : mcp->id);
}

static void open_result(struct mcp *mcp)
{
    open_answer(mcp);
    json_put_object(&mcp->w, "result");
}

static void close_result(struct mcp *mcp)
{
    json_close_object(&mcp->w);
    json_close_object(&mcp->w);
}

static void answer_error(struct mcp *mcp, int code, const char *message)
{
    open_answer(mcp);
    json_put_object(&mcp->w, "error");
    json_put_i64(&mcp->w, "code", code);
    json_put_c(&mcp->w, "message", message);
    close_result(mcp);
}

/* Everything was carried out. Who only notified is told that it was taken. With the exchange its
 * arena ends, in which the struct lies. */
static void finish(struct mcp *mcp)
{
    struct exchange *exchange = mcp->call->exchange;
    bool nothing = mcp->out.len == (mcp->batch ? 1 : 0); /* the bracket of a batch alone */
    if (mcp->batch) {
        json_close_array(&mcp->w);
    }
    SCOPED(buf_fini) struct buf out = mcp->out;
    if (nothing) {
        exchange_answer(exchange, 202, "application/json", STR(""), STR(""));
    } else if (out.full) {
        struct err err = ERR_INIT;
        err_set(&err, ERR_INTERNAL, "the answer to /mcp is too long");
        call_fail(mcp->call, &err);
    } else if (!str_absent(mcp->progress)) {
        SCOPED(buf_fini) struct buf event = BUF_INIT(out.len + 64);
        buf_printf(&event, "event: message\ndata: " STR_FMT "\n\n", STR_ARG(buf_view(&out)));
        exchange_answer(exchange, 200, ROUTE_STREAM, STR("Cache-Control: no-store\r\n"),
                        buf_view(&event));
    } else {
        exchange_answer(exchange, 200, "application/json", STR(""), buf_view(&out));
    }
}

/* ---- A request inside this one ---- */

static void answer_resource(struct mcp *mcp, int status, struct str body)
{
    if (status >= 400) {
        struct str said =
            json_find_str(json_find(body, "error", mcp->call->arena), "message", mcp->call->arena);
        answer_error(mcp, status == 404 ? RPC_NO_RESOURCE : RPC_PARAMS,
                     arena_c_text(mcp->call->arena, said));
        return;
    }
    open_result(mcp);
    json_put_array(&mcp->w, "contents");
    json_open_object(&mcp->w);
    json_put_str(&mcp->w, "uri", mcp->uri);
    json_put_c(&mcp->w, "mimeType", "application/json");
    json_put_str(&mcp->w, "text", body);
    json_close_object(&mcp->w);
    json_close_array(&mcp->w);
    close_result(mcp);
}

static void edit_by_text(struct mcp *mcp, struct str schedule);

static void on_inside(struct call *inner, int status, struct str headers, struct str body)
{
    struct mcp *mcp = inner->answered_arg;
    struct exchange *exchange = mcp->call->exchange;
    exchange->request = mcp->request;
    exchange->user = mcp->call;
    exchange->gone = NULL;
    exchange_timer(exchange, -1, NULL);
    if (mcp->inside == INSIDE_EDIT_LOOK && status < 400) {
        edit_by_text(mcp, arena_str(mcp->call->arena, body));
        return;
    }
    if (mcp->inside == INSIDE_RESOURCE) {
        answer_resource(mcp, status, body);
    } else {
        struct arena *arena = mcp->call->arena;
        bool refused =
            mcp->inside == INSIDE_EDIT && str_is(json_find_str(body, "mode", arena), "REFUSAL");
        mcp_put_result(&mcp->w, mcp->id, &(struct mcp_told){status, refused, headers, body, arena});
    }
    go_on(mcp);
}

/* The request takes the place of the one that brought it, with its sender's rights. It has one
 * header: others, such as Accept, were meant for the protocol. */
static void ask_inside(struct mcp *mcp, enum inside inside, const struct mcp_request *request)
{
    const struct http_header json_only = {STR("content-type"), STR("application/json")};
    struct exchange *exchange = mcp->call->exchange;
    struct call *inner = arena_new(mcp->call->arena, struct call);
    struct err err = ERR_INIT;
    mcp->inside = inside;
    exchange->request.method = request->method;
    exchange->request.path = request->path;
    exchange->request.query = request->query;
    exchange->request.body = request->body;
    exchange->request.headers.list = arena_new(mcp->call->arena, struct http_header);
    exchange->request.headers.list[0] = json_only;
    exchange->request.headers.count = 1;
    *inner = (struct call){.api = mcp->call->api,
                           .exchange = exchange,
                           .arena = mcp->call->arena,
                           .who = mcp->call->who,
                           .entered_ms = mcp->call->entered_ms,
                           .answered = on_inside,
                           .answered_arg = mcp};
    exchange->user = inner;
    if (!api_dispatch(inner, &err)) {
        call_fail(inner, &err);
    }
}

/* ---- Changing a schedule in English ---- */

/* The assistant reads the sentence, in the schedule's zone and for its owner. */
static void edit_by_text(struct mcp *mcp, struct str schedule)
{
    struct arena *arena = mcp->call->arena;
    struct str id = json_find_str(schedule, "id", arena);
    struct str user = json_find_str(schedule, "userId", arena);
    struct str zone = json_find_str(mcp->arguments, "timezone", arena);
    SCOPED(buf_fini) struct buf body = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&body);
    json_open_object(&w);
    json_put_str(&w, "text", json_find_str(mcp->arguments, "text", arena));
    json_put_str(&w, "timezone",
                 str_absent(zone) ? json_find_str(schedule, "timezone", arena) : zone);
    if (!str_absent(user)) {
        json_put_str(&w, "userId", user);
    }
    json_close_object(&w);
    ask_inside(mcp, INSIDE_EDIT,
               &(struct mcp_request){HTTP_POST, STR("/api/assistant"),
                                     arena_printf(arena, "scheduleId=" STR_FMT, STR_ARG(id)),
                                     arena_str(arena, buf_view(&body))});
}

/* ---- Methods: true if the message is answered, false if it will be ---- */

static bool on_initialize(struct mcp *mcp, struct str params)
{
    struct arena *arena = mcp->call->arena;
    struct str asked =
        str_absent(params) ? STR_NONE : json_find_str(params, "protocolVersion", arena);
    bool older = !str_absent(asked) && str_is(asked, MCP_BATCHING);
    open_result(mcp);
    json_put_c(&mcp->w, "protocolVersion", older ? MCP_BATCHING : MCP_NEWEST);
    json_put_raw(&mcp->w, "capabilities",
                 STR("{\"tools\":{\"listChanged\":false},"
                     "\"resources\":{\"subscribe\":false,\"listChanged\":false}}"));
    json_put_object(&mcp->w, "serverInfo");
    json_put_c(&mcp->w, "name", "errand");
    json_put_c(&mcp->w, "title", "Errand");
    json_put_str(&mcp->w, "version", mcp->call->api->options.version);
    json_close_object(&mcp->w);
    json_put_c(&mcp->w, "instructions", instructions);
    close_result(mcp);
    return true;
}

static bool on_ping(struct mcp *mcp, struct str params)
{
    (void)params;
    open_result(mcp);
    close_result(mcp);
    return true;
}

static bool on_tools_list(struct mcp *mcp, struct str params)
{
    (void)params;
    open_result(mcp);
    json_key(&mcp->w, "tools");
    mcp_tools_write(&mcp->w, mcp->call->api, mcp->call->who.role);
    close_result(mcp);
    return true;
}

/* Beside `text` an edit takes only the zone that it means. */
static bool text_stands_alone(struct str arguments, struct arena *arena, struct err *err)
{
    struct json json;
    struct str key, raw;
    json_start(&json, arguments, arena);
    bool in = json_enter_object(&json, err);
    while (in && json_member(&json, &key, err)) {
        if (!str_is(key, "id") && !str_is(key, "text") && !str_is(key, "timezone")) {
            return err_field(err, "text", "text must not be given beside other changes");
        }
        in = json_raw(&json, &raw, err);
    }
    return json_ok(&json);
}

static bool on_tools_call(struct mcp *mcp, struct str params)
{
    struct arena *arena = mcp->call->arena;
    struct str name = str_absent(params) ? STR_NONE : json_find_str(params, "name", arena);
    const struct mcp_tool *tool = str_absent(name) ? NULL : mcp_tool_find(name);
    struct mcp_request request;
    struct err err = ERR_INIT;
    if (tool == NULL || !mcp_tool_allowed(tool, mcp->call->who.role)) {
        answer_error(mcp, RPC_PARAMS,
                     arena_c_text(arena, arena_printf(arena, "unknown tool: " STR_FMT,
                                                      STR_ARG(str_absent(name) ? STR("") : name))));
        return true;
    }
    struct str meta = json_find(params, "_meta", arena);
    mcp->arguments = json_find(params, "arguments", arena);
    mcp->progress = str_absent(meta) ? STR_NONE : json_find(meta, "progressToken", arena);
    if (strcmp(tool->name, "wait_for_task") == 0 && !str_absent(mcp->progress) && !mcp->batch &&
        mcp_wait_begin(mcp->call, mcp->id, mcp->progress, mcp->arguments)) {
        return false; /* nothing was written so far: there is nothing to free */
    }
    bool by_text = strcmp(tool->name, "edit_schedule") == 0 && !str_absent(mcp->arguments) &&
                   !str_absent(json_find(mcp->arguments, "text", arena));
    if ((by_text && !text_stands_alone(mcp->arguments, arena, &err)) ||
        !mcp_tool_request(tool, mcp->arguments, arena, &request, &err)) {
        open_result(mcp); /* a call that failed is a result too, so that a model can mend it */
        mcp_put_content(&mcp->w, str_of(err.text));
        json_put_bool(&mcp->w, "isError", true);
        close_result(mcp);
        return true;
    }
    if (by_text) {
        request.method = HTTP_GET;
        request.body = STR("");
    }
    ask_inside(mcp, by_text ? INSIDE_EDIT_LOOK : INSIDE_TOOL, &request);
    return false;
}

static bool on_resources_list(struct mcp *mcp, struct str params)
{
    (void)params;
    open_result(mcp);
    json_put_raw(&mcp->w, "resources",
                 STR("[{\"uri\":\"errand://queues\",\"name\":\"queues\",\"title\":\"Queues\","
                     "\"description\":\"Every queue with its limits and counts\","
                     "\"mimeType\":\"application/json\"}]"));
    close_result(mcp);
    return true;
}

static bool on_resource_templates(struct mcp *mcp, struct str params)
{
    (void)params;
    open_result(mcp);
    json_put_raw(
        &mcp->w, "resourceTemplates",
        STR("[{\"uriTemplate\":\"errand://tasks/{id}\",\"name\":\"task\",\"title\":\"Task\","
            "\"description\":\"A task with its attempts\",\"mimeType\":\"application/json\"},"
            "{\"uriTemplate\":\"errand://schedules/"
            "{id}\",\"name\":\"schedule\",\"title\":\"Schedule\","
            "\"description\":\"A schedule with its next "
            "time\",\"mimeType\":\"application/json\"}]"));
    close_result(mcp);
    return true;
}

static bool on_resource_read(struct mcp *mcp, struct str params)
{
    struct arena *arena = mcp->call->arena;
    struct str uri = str_absent(params) ? STR_NONE : json_find_str(params, "uri", arena);
    struct str scheme = STR("errand://");
    if (str_absent(uri) || !str_starts(uri, scheme)) {
        answer_error(mcp, RPC_NO_RESOURCE, "there is no such resource");
        return true;
    }
    struct str rest = str_from(uri, scheme.len);
    if (!str_is(rest, "queues") && !str_starts(rest, STR("tasks/")) &&
        !str_starts(rest, STR("schedules/"))) {
        answer_error(mcp, RPC_NO_RESOURCE, "there is no such resource");
        return true;
    }
    mcp->uri = uri;
    ask_inside(mcp, INSIDE_RESOURCE,
               &(struct mcp_request){HTTP_GET, arena_printf(arena, "/api/" STR_FMT, STR_ARG(rest)),
                                     STR_NONE, STR("")});
    return false;
}

static const struct method {
    const char *name;
    bool (*on)(struct mcp *mcp, struct str params);
} methods[] = {
    {"initialize", on_initialize},         {"ping", on_ping},
    {"tools/list", on_tools_list},         {"tools/call", on_tools_call},
    {"resources/list", on_resources_list}, {"resources/templates/list", on_resource_templates},
    {"resources/read", on_resource_read},
};

/* ---- Messages ---- */

/* True if the message is dealt with; false if it is under way. */
static bool carry_out(struct mcp *mcp, struct str message)
{
    struct arena *arena = mcp->call->arena;
    struct json json;
    json_start(&json, message, arena);
    if (json_peek(&json) != JSON_OBJECT) {
        mcp->id = STR_NONE;
        answer_error(mcp, RPC_REQUEST, "a message is an object");
        return true;
    }
    mcp->id = json_find(message, "id", arena);
    struct str name = json_find_str(message, "method", arena);
    struct str params = json_find(message, "params", arena);
    if (!str_is(json_find_str(message, "jsonrpc", arena), "2.0") ||
        (str_absent(name) && str_absent(json_find(message, "result", arena)) &&
         str_absent(json_find(message, "error", arena)))) {
        answer_error(mcp, RPC_REQUEST, "a message has \"jsonrpc\":\"2.0\" and a method");
        return true;
    }
    if (str_absent(mcp->id) || str_absent(name)) {
        return true; /* a notification, or an answer to what was never asked */
    }
    if (!str_absent(params) && params.ptr[0] != '{') {
        answer_error(mcp, RPC_PARAMS, "params must be an object");
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        if (str_is(name, methods[i].name)) {
            return methods[i].on(mcp, params);
        }
    }
    answer_error(mcp, RPC_METHOD,
                 arena_c_text(arena, arena_printf(arena, "there is no method " STR_FMT,
                                                  STR_ARG(str_head(name, 100)))));
    return true;
}

static void go_on(struct mcp *mcp)
{
    while (mcp->at < mcp->count) {
        if (!carry_out(mcp, mcp->messages[mcp->at++])) {
            return;
        }
    }
    finish(mcp);
}

/* The messages of a batch. An empty one, or one where the protocol has none, is an invalid request.
 */
static bool read_batch(struct mcp *mcp, struct str body)
{
    struct json json;
    struct err ignored = ERR_INIT;
    json_start(&json, body, mcp->call->arena);
    mcp->messages = arena_array(mcp->call->arena, struct str, MCP_BATCH_MAX);
    bool in = json_enter_array(&json, &ignored);
    while (in && json_item(&json, &ignored)) {
        in = mcp->count < MCP_BATCH_MAX && json_raw(&json, &mcp->messages[mcp->count], &ignored);
        mcp->count += in;
    }
    return in && mcp->count > 0;
}

static void refuse(struct mcp *mcp, int code, const char *message)
{
    mcp->id = STR_NONE;
    answer_error(mcp, code, message);
    SCOPED(buf_fini) struct buf out = mcp->out; /* the struct ends with its exchange */
    exchange_answer(mcp->call->exchange, 400, "application/json", STR(""), buf_view(&out));
}

bool on_mcp(struct call *call, struct err *err)
{
    struct str version = http_header(&call->exchange->request.headers, "mcp-protocol-version");
    struct json json;
    if (!str_absent(version) && !str_is(version, MCP_NEWEST) && !str_is(version, MCP_BATCHING)) {
        return err_set(err, ERR_INVALID,
                       "MCP-Protocol-Version must be " MCP_NEWEST " or " MCP_BATCHING);
    }
    if (!call_asked(call, NULL, NULL, err) || !call_json(call, &json, err)) {
        return false;
    }
    struct mcp *mcp = arena_new(call->arena, struct mcp);
    struct str body = call->exchange->request.body;
    *mcp = (struct mcp){
        .call = call, .request = call->exchange->request, .out = BUF_INIT(MCP_ANSWER_MAX)};
    mcp->w = JSON_WRITER(&mcp->out);
    if (!json_valid(body, err)) {
        refuse(mcp, RPC_PARSE, "the body is no JSON");
        return true;
    }
    json_start(&json, body, call->arena);
    mcp->batch = json_peek(&json) == JSON_ARRAY;
    if (!mcp->batch) {
        mcp->messages = arena_new(call->arena, struct str);
        mcp->messages[0] = body;
        mcp->count = 1;
    } else if ((!str_absent(version) && str_is(version, MCP_NEWEST)) || !read_batch(mcp, body)) {
        refuse(mcp, RPC_REQUEST,
               "a batch has 1 to 100 messages, and version " MCP_BATCHING " only");
        return true;
    }
    if (mcp->batch) {
        json_open_array(&mcp->w);
    }
    go_on(mcp);
    return true;
}
