/* net/mcp_wait.c: a tool's answer as the protocol wants it, and a wait with words about it.
 *
 * The wait is an event stream: how the task stands, once a second, until it has ended or the time
 * is over. The stream may end under it, so it has memory of its own.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "net/fault.h"
#include "net/mcp.h"
#include "net/task_out.h"

/* ---- Answers of tools ---- */

void mcp_put_content(struct json_writer *w, struct str text)
{
    json_put_array(w, "content");
    json_open_object(w);
    json_put_c(w, "type", "text");
    json_put_str(w, "text", text);
    json_close_object(w);
    json_close_array(w);
}

/* {"items":[…],"next"}: what the API answers as an array, with where its Link leads. */
static void put_items(struct json_writer *w, const struct mcp_told *told)
{
    struct str cursor = STR_NONE;
    for (size_t i = 0; i + 7 < told->headers.len; i++) {
        if (memcmp(told->headers.ptr + i, "cursor=", 7) == 0) {
            cursor = str_from(told->headers, i + 7);
        }
    }
    json_open_object(w);
    json_put_raw(w, "items", told->body);
    if (!str_absent(cursor)) {
        json_put_str(w, "next", str_cut(&cursor, '>'));
    }
    json_close_object(w);
}

void mcp_put_result(struct json_writer *w, struct str id, const struct mcp_told *told)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(MCP_ANSWER_MAX);
    struct json_writer inside = JSON_WRITER(&text);
    bool failed = told->status >= 400 || told->refused;
    struct str why = json_find(told->body, told->refused ? "refusal" : "error", told->arena);
    if (!failed && told->body.len > 0 && told->body.ptr[0] == '[') {
        put_items(&inside, told);
    } else {
        json_add_raw(&inside, told->body.len == 0 ? STR("{}") : told->body);
    }
    json_open_object(w);
    json_put_c(w, "jsonrpc", "2.0");
    json_put_raw(w, "id", id);
    json_put_object(w, "result");
    mcp_put_content(w, !failed
                           ? buf_view(&text)
                           : json_find_str(why, told->refused ? "reason" : "message", told->arena));
    json_put_raw(w, "structuredContent", buf_view(&text));
    json_put_bool(w, "isError", failed);
    json_close_object(w);
    json_close_object(w);
}

/* ---- Waiting with words about it ---- */

struct waiting {
    struct call call; /* a copy; its exchange is NULL when the client has left */
    struct arena arena;
    struct query *query;
    struct str id, progress; /* of the message; the token of its progress */
    int64_t began_ms, until_ms;
    bool asking;
};

static void waiting_free(struct waiting *waiting)
{
    arena_fini(&waiting->arena);
    mem_free(waiting);
}

static void waiting_gone(struct exchange *exchange)
{
    struct waiting *waiting = exchange->user;
    waiting->call.exchange = NULL;
    if (!waiting->asking) {
        waiting_free(waiting);
    }
}

static void send_event(struct waiting *waiting, struct str json)
{
    SCOPED(buf_fini) struct buf event = BUF_INIT(MCP_ANSWER_MAX);
    buf_printf(&event, "event: message\ndata: " STR_FMT "\n\n", STR_ARG(json));
    (void)!stream_send(waiting->call.exchange, buf_view(&event));
}

static void tell_progress(struct waiting *waiting, const struct task *task, int64_t now_ms)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64 * KIB);
    SCOPED(buf_fini) struct buf words = BUF_INIT(4 * KIB);
    struct json_writer w = JSON_WRITER(&text);
    buf_c(&words, task_state_name(task->state));
    if (task->progress >= 0) {
        buf_printf(&words, " %.0f %%", task->progress);
    }
    const struct redact_keys *redact = call_redact(&waiting->call);
    if (!str_absent(task->progress_message)) {
        buf_char(&words, ' ');
        redact_text(&words, redact == NULL ? &(struct redact_keys){.count = 0} : redact,
                    task->progress_message);
    }
    json_open_object(&w);
    json_put_c(&w, "jsonrpc", "2.0");
    json_put_c(&w, "method", "notifications/progress");
    json_put_object(&w, "params");
    json_put_raw(&w, "progressToken", waiting->progress);
    json_put_f64(&w, "progress", (double)(now_ms - waiting->began_ms) / SECOND_MS);
    json_put_f64(&w, "total", (double)(waiting->until_ms - waiting->began_ms) / SECOND_MS);
    json_put_str(&w, "message", buf_view(&words));
    json_close_object(&w);
    json_close_object(&w);
    send_event(waiting, buf_view(&text));
}

static void end_waiting(struct waiting *waiting, int status, struct str body)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MCP_ANSWER_MAX);
    struct json_writer w = JSON_WRITER(&out);
    mcp_put_result(&w, waiting->id,
                   &(struct mcp_told){status, false, STR(""), body, &waiting->arena});
    send_event(waiting, buf_view(&out));
    waiting->call.exchange->gone = NULL;
    exchange_end(waiting->call.exchange);
    waiting_free(waiting);
}

static void waiting_ask(struct exchange *exchange)
{
    struct waiting *waiting = exchange->user;
    waiting->asking = true;
    call_ask(&waiting->call, waiting->query);
}

static void waiting_failed(struct call *call)
{
    struct waiting *waiting = HOLDER(call, struct waiting, call);
    SCOPED(buf_fini) struct buf body = BUF_INIT(64 * KIB);
    struct json_writer w = JSON_WRITER(&body);
    if (call->exchange == NULL) {
        waiting_free(waiting);
        return;
    }
    json_open_object(&w);
    json_key(&w, "error");
    fault_write(&w, &call->failure);
    json_close_object(&w);
    end_waiting(waiting, fault_status(call->failure.kind), buf_view(&body));
}

static void waiting_looked(struct call *call)
{
    struct waiting *waiting = HOLDER(call, struct waiting, call);
    int64_t now_ms = (int64_t)uv_now(call->api->options.loop);
    waiting->asking = false;
    if (call->exchange == NULL) {
        waiting_free(waiting);
        return;
    }
    if (!waiting->query->found) {
        err_set(&call->failure, ERR_NOT_FOUND, "there is no such task");
        waiting_failed(call);
        return;
    }
    const struct task *task = &waiting->query->detail.task;
    if (task_state_terminal(task->state) || now_ms >= waiting->until_ms) {
        SCOPED(buf_fini) struct buf body = BUF_INIT(MCP_ANSWER_MAX);
        struct json_writer w = JSON_WRITER(&body);
        task_write_detail(&w, &waiting->query->detail, STR_NONE);
        end_waiting(waiting, 200, buf_view(&body));
        return;
    }
    tell_progress(waiting, task, now_ms);
    exchange_timer(call->exchange, MIN(MCP_PROGRESS_MS, waiting->until_ms - now_ms), waiting_ask);
}

bool mcp_wait_begin(const struct call *call, struct str message, struct str progress,
                    struct str arguments)
{
    struct exchange *exchange = call->exchange;
    struct str text =
        str_absent(arguments) ? STR_NONE : json_find_str(arguments, "id", call->arena);
    struct str limit =
        str_absent(arguments) ? STR_NONE : json_find(arguments, "waitMs", call->arena);
    struct task_id id;
    struct json json;
    struct err ignored = ERR_INIT;
    int64_t wait_ms = MCP_WAIT_DEFAULT;
    if (exchange->is_gone || str_absent(text) || !id_parse(text, &id) || id_none(id)) {
        return false;
    }
    json_start(&json, limit, call->arena);
    if (!str_absent(limit) &&
        (!json_i64(&json, &wait_ms, &ignored) || wait_ms < 0 || wait_ms > CLAIM_WAIT_MAX)) {
        return false;
    }
    struct waiting *waiting = mem_new(struct waiting);
    waiting->call = *call;
    waiting->call.arena = &waiting->arena;
    waiting->call.done = waiting_looked;
    waiting->call.failed = waiting_failed;
    waiting->id = arena_str(&waiting->arena, message);
    waiting->progress = arena_str(&waiting->arena, progress);
    waiting->began_ms = (int64_t)uv_now(call->api->options.loop);
    waiting->until_ms = waiting->began_ms + wait_ms;
    waiting->query = call_query(&waiting->call, QUERY_DETAIL);
    waiting->query->id = id;
    exchange->user = waiting;
    exchange->gone = waiting_gone;
    exchange_stream(exchange);
    waiting_ask(exchange);
    return true;
}
