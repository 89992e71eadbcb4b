/* net/call.c: what every handler needs. See call.h.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/call.h"

#include "base/log.h"
#include "base/mem.h"
#include "net/cloud.h"
#include "net/fault.h"
#include "net/filter_in.h"
#include "net/route.h"
#include "wire/uri.h"

#define JSON_TYPE "application/json"

/* ---- Reading ---- */

bool call_json(struct call *call, struct json *json, struct err *err)
{
    const struct http_request *request = &call->exchange->request;
    if (request->body.len == 0) {
        return err_set(err, ERR_INVALID, "a body of JSON is needed");
    }
    struct str type = http_header(&request->headers, "content-type");
    if (str_absent(type) || !str_eq_nocase(str_trim(str_cut(&type, ';')), STR(JSON_TYPE))) {
        return err_set(err, ERR_MEDIA, "a body needs Content-Type: " JSON_TYPE);
    }
    json_start(json, request->body, call->arena);
    return true;
}

const struct form form_nothing = {NULL, 0};

bool call_body(struct call *call, const struct form *form, bool optional, void *into,
               uint64_t *given, struct err *err)
{
    struct json json;
    if (optional && call->exchange->request.body.len == 0) {
        return true;
    }
    return call_json(call, &json, err) &&
           form_read_for(FORM_SET, &json, form == NULL ? &form_nothing : form, into, given, NULL,
                         err) &&
           json_end(&json, err);
}

bool call_asked(struct call *call, const struct form *form, void *into, struct err *err)
{
    return form_query(call->exchange->request.query, form == NULL ? &form_nothing : form,
                      call->arena, into, err);
}

struct str call_user(const struct call *call)
{
    return call->who.user[0] == '\0' ? STR_NONE : str_of(call->who.user);
}

const struct redact_keys *call_redact(const struct call *call)
{
    _Atomic(const struct redact_keys *) *redact = call->api->options.redact;
    return call->who.role == ROLE_READ && redact != NULL ? atomic_load(redact) : NULL;
}

bool call_subscribe(struct call *call, struct events_filter *filter, struct err *err)
{
    filter->redact = call_redact(call);
    filter->may_stay = call_may_stay;
    filter->may_stay_arg = call;
    return events_subscribe(call->api->options.events, call->exchange, filter, err);
}

bool call_id(struct call *call, struct task_id *out, struct err *err)
{
    return (id_parse(call->name, out) && !id_none(*out)) ||
           err_set(err, ERR_NOT_FOUND, "there is no such task");
}

/* ---- Asking ---- */

/* One of the call's commands or queries is back. */
static void call_back(struct call *call, const struct err *err)
{
    if (err->kind != ERR_NONE && call->failure.kind == ERR_NONE) {
        call->failure = *err;
    }
    if (--call->pending > 0) {
        return;
    }
    if (call->failure.kind == ERR_NONE) {
        call->done(call);
    } else if (call->failed != NULL) {
        call->failed(call);
    } else {
        call_fail(call, &call->failure);
    }
}

static void command_back(struct api_sender *sender, struct command *command)
{
    struct call *call = HOLDER(sender, struct call, sender);
    enum err_kind kind = command->err.kind;
    _Atomic uint64_t *down_at_ms = &call->api->home->store_down_at_ms;
    /* A write that could not be made is remembered for /readyz, until one could. All loops share
     * that line of memory: it is written only to change it. */
    if (kind == ERR_UNAVAILABLE || kind == ERR_FATAL) {
        *down_at_ms = MAX(uv_now(call->api->options.loop), (uint64_t)1);
    } else if (kind == ERR_NONE && *down_at_ms != 0 && command_row(command->kind)->writes) {
        *down_at_ms = 0;
    }
    call_back(call, &command->err);
}

struct command *call_command(struct call *call, enum command_kind kind)
{
    struct command *command = arena_new(call->arena, struct command);
    command->kind = kind;
    command->arena = call->arena;
    call->sender.answered = command_back;
    command->sender = &call->sender;
    call->pending++;
    api_give(call->api, command);
    return command;
}

struct query *call_query(struct call *call, enum query_kind kind)
{
    struct query *query = arena_new(call->arena, struct query);
    query->kind = kind;
    query->arena = call->arena;
    query->reach = call_user(call);
    query->sender = call;
    return query;
}

void call_ask(struct call *call, struct query *query)
{
    call->pending++;
    query->err = ERR_INIT;
    if (!api_ask(call->api, query)) {
        err_set(&query->err, ERR_UNAVAILABLE, "the server is stopping");
        call_query_back(query);
    }
}

void call_query_back(struct query *query)
{
    if (query->answered != NULL) {
        query->answered(query);
        return;
    }
    call_back(query->sender, &query->err);
}

/* A command without a call. */
struct stray {
    struct api_sender sender;
    struct command command;
    struct arena arena;
};

static void stray_back(struct api_sender *sender, struct command *command)
{
    struct stray *stray = HOLDER(sender, struct stray, sender);
    (void)command;
    arena_fini(&stray->arena);
    mem_free(stray);
}

struct command *api_command(struct api *api, enum command_kind kind)
{
    struct stray *stray = mem_new(struct stray);
    stray->sender.answered = stray_back;
    stray->command.kind = kind;
    stray->command.arena = &stray->arena;
    stray->command.sender = &stray->sender;
    api_give(api, &stray->command);
    return &stray->command;
}

/* ---- Answering ---- */

struct json_writer call_writer(struct call *call)
{
    buf_clear(&call->api->scratch);
    return JSON_WRITER(&call->api->scratch);
}

static void give_answer(struct call *call, int status, const char *content_type, struct str headers,
                        struct str body)
{
    SCOPED(buf_fini) struct buf clean = BUF_INIT(ANSWER_MAX);
    const struct redact_keys *redact = call_redact(call);
    if (redact != NULL && body.len > 0 && str_starts(str_of(content_type), STR(JSON_TYPE))) {
        redact_json(&clean, redact, body);
        body = buf_view(&clean);
    }
    if (call->answered != NULL) {
        call->answered(call, status, headers, body);
    } else {
        exchange_answer(call->exchange, status, content_type, headers, body);
    }
}

void call_answer_with(struct call *call, int status, const char *content_type, struct str headers)
{
    struct api *api = call->api;
    if (api->scratch.full) {
        struct err err = ERR_INIT;
        err_set(&err, ERR_INTERNAL, "the answer to %s is too long", call->route->path);
        call_fail(call, &err);
        return;
    }
    give_answer(call, status, content_type, headers, buf_view(&api->scratch));
    if (api->scratch.cap > ANSWER_KEPT_MAX) {
        buf_fini(&api->scratch);
    }
}

void call_answer(struct call *call, int status)
{
    call_answer_with(call, status, JSON_TYPE, STR(""));
}

void call_answer_empty_with(struct call *call, int status, struct str headers)
{
    give_answer(call, status, JSON_TYPE, headers, STR(""));
}

void call_answer_empty(struct call *call, int status)
{
    call_answer_empty_with(call, status, STR(""));
}

void call_fail(struct call *call, const struct err *err)
{
    if (cloud_speaks(call->exchange->request.path)) {
        cloud_fail(call, err);
        return;
    }
    struct json_writer w = call_writer(call);
    if (fault_status(err->kind) == 500) {
        log_error("%s", err->text);
    }
    json_open_object(&w);
    json_key(&w, "error");
    fault_write(&w, err);
    json_close_object(&w);
    struct str headers = str_of(fault_headers(err->kind));
    if (err->retry_after_ms > 0) {
        headers = arena_printf(call->arena, "Retry-After: %lld\r\n",
                               (long long)((err->retry_after_ms + SECOND_MS - 1) / SECOND_MS));
    }
    if (!str_absent(call->headers)) {
        headers = call->headers;
    }
    call_answer_with(call, fault_status(err->kind), JSON_TYPE, headers);
}

static struct str next_page(struct call *call, struct task_id last)
{
    const struct http_request *request = &call->exchange->request;
    struct str query = request->query, name, value;
    char cursor[CURSOR_TEXT];
    SCOPED(buf_fini) struct buf link = BUF_INIT(64 * KIB);
    buf_c(&link, "Link: <");
    buf_str(&link, request->path);
    buf_char(&link, '?');
    while (uri_pair(&query, call->arena, &name, &value, NULL)) {
        if (!str_is(name, "cursor")) {
            buf_str(&link, name); /* one of our own words */
            buf_char(&link, '=');
            uri_encode(&link, value);
            buf_char(&link, '&');
        }
    }
    buf_c(&link, "cursor=");
    buf_str(&link, cursor_text(last, cursor));
    buf_c(&link, ">; rel=\"next\"\r\n");
    return arena_str(call->arena, buf_view(&link));
}

void call_answer_page(struct call *call, bool more, const struct task_id *last)
{
    if (call->failure.kind != ERR_NONE) {
        call_fail(call, &call->failure);
        return;
    }
    struct str link = more && last != NULL ? next_page(call, *last) : STR("");
    call_answer_with(call, 200, JSON_TYPE, link);
}

struct fleet_status api_fleet_status(const struct api *api)
{
    return api->home->fleet == NULL ? (struct fleet_status){.leads = true,
                                                            .health = BROKER_WHOLE,
                                                            .broker = "memory",
                                                            .nodes = 1}
                                    : fleet_status(api->home->fleet);
}

bool api_store_down(const struct api *api)
{
    uint64_t now_ms = uv_now(api->options.loop), since_ms = api->home->store_down_at_ms;
    /* Another loop may have noticed it in a later turn than this one's. */
    return atomic_load(&api->home->engine_failed) || api_fleet_status(api).store_away ||
           (since_ms != 0 && now_ms < since_ms + STORE_DOWN_MS);
}
