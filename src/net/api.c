/* net/api.c: the API on its loop: dispatch, and the way of commands to the engine and back.
 *
 * The loop never sleeps on commands that were not given: `prepare` runs before it sleeps, `check`
 * right after it was woken, so that what was read in one turn goes out at once and together. An
 * idle loop is not woken by either.
 *
 * Thread: the net loop of the api; api_engine_failed on the engine's, api_query_answered on a
 * reader's.
 *
 * SPDX-License-Identifier: MIT */
#include "net/api.h"

#include <assert.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/assist.h"
#include "net/cloud.h"
#include "net/mcp.h"
#include "net/openapi.h"
#include "net/route.h"
#include "wire/uri.h"

#define CLAIMS_BITS 48 /* of a claim's serial; those above tell the loops apart */

/* ---- A request comes in ---- */

/* Whether this loop may answer it. Streams, and whoever waits for an event, are at home where the
 * events are; so is what is counted, remembered or written once for the whole server. */
static bool may_answer(const struct call *call)
{
    enum route_loops loops = call->route->loops;
    bool asked = call->exchange->request.query.len > 0;
    return call->api->home == call->api || loops == LOOPS_ALL ||
           (loops == LOOPS_ALL_UNASKED && !asked);
}

static bool find_route(struct call *call, struct err *err)
{
    char allow[ROUTE_ALLOW_MAX];
    struct str name = STR_NONE;
    const struct http_request *request = &call->exchange->request;
    if (!route_find(request, &call->route, &name, allow, err)) {
        if (err->kind == ERR_METHOD) {
            call->headers = arena_printf(call->arena, "Allow: %s\r\n", allow);
        }
        return false;
    }
    return str_absent(name) || uri_decode(name, call->arena, &call->name, err);
}

static bool may_enter(struct call *call, struct err *err)
{
    const struct route *route = call->route;
    const char *media = route == NULL || route->media == NULL ? "" : route->media;
    bool stream = strcmp(media, ROUTE_STREAM) == 0 || strcmp(media, ROUTE_CALENDAR) == 0;
    enum http_method method = call->exchange->request.method;
    bool changes = method != HTTP_GET && method != HTTP_HEAD && (route == NULL || !route->reads);
    call->entered_ms = (int64_t)uv_now(call->api->options.loop);
    return auth_check(call->api->options.auth, &call->exchange->request,
                      route == NULL ? OPEN : route->access,
                      (stream ? AUTH_IN_QUERY : 0) | (changes ? AUTH_CHANGES : 0) |
                          (route != NULL && route->any_host ? AUTH_ANY_HOST : 0) |
                          (cloud_speaks(call->exchange->request.path) ? AUTH_API_KEY : 0),
                      call->entered_ms, call->arena, &call->who, err);
}

bool call_may_still(struct call *call, struct err *err)
{
    return call->entered_ms == (int64_t)uv_now(call->api->options.loop) || may_enter(call, err);
}

bool call_may_stay(void *arg)
{
    struct err err = ERR_INIT;
    return may_enter(arg, &err);
}

bool api_admit(void *arg, struct exchange *exchange)
{
    struct call *call = arena_new(&exchange->arena, struct call);
    struct err err = ERR_INIT, found = ERR_INIT;
    call->api = arg;
    call->exchange = exchange;
    call->arena = &exchange->arena;
    exchange->user = call;
    if (exchange->late) { /* whoever asks, and for whatever: ask another node, or later */
        err_set(&err, ERR_UNAVAILABLE, "the server is stopping");
        call_fail(call, &err);
        return false;
    }
    bool known = find_route(call, &found); /* who asks from outside learns nothing, not even 404 */
    if (!may_enter(call, &err)) {
        call->headers = STR_NONE;
        call_fail(call, &err);
        return false;
    }
    exchange->stranger = call->who.role == ROLE_NONE;
    if (!known) {
        call_fail(call, &found);
        return false;
    }
    if (!may_answer(call)) {
        exchange_go_home(exchange);
        return false;
    }
    /* Of a token of one user the task is looked for first, so that commands could change places. */
    exchange->overlaps = call->route->overlaps && str_absent(call_user(call));
    /* A path that takes no body, or only a little one, need not hold room for more. */
    const struct route *route = call->route;
    size_t max = route->request == NULL ? ROUTE_NO_BODY_MAX
                 : route->body_max == 0 ? SIZE_MAX
                                        : route->body_max;
    if (!exchange_limit_body(exchange, max)) {
        err_set(&found, ERR_TOO_LARGE, "a body has at most %zu bytes at this path", max);
        call_fail(call, &found);
        return false;
    }
    return true;
}

/* ---- Tokens of one user ---- */

static void reached(struct call *call)
{
    const struct query *query = call->own;
    struct err err = ERR_INIT;
    call->own = NULL;
    call->done = NULL;
    if (!query->found) {
        err_set(&err, ERR_NOT_FOUND, "there is no such task");
        call_fail(call, &err);
    } else if (!call->route->handle(call, &err)) {
        call_fail(call, &err);
    }
}

/* The rule (docs/guide.md): such a token reaches that user's schedules with all that comes of them,
 * and tasks of no schedule as its role says. Lists and details are asked for by call_query() and
 * bulk commands by call_bulk(), which know the asker; whatever a route does with one task, the task
 * is looked for first, here, for all of them. Who claims is given anybody's task: that it may not.
 */
static bool handle(struct call *call, struct err *err)
{
    struct task_id id;
    bool of_task = str_starts(str_of(call->route->path), STR("/api/tasks/{id}"));
    if (str_absent(call_user(call)) || !(of_task || call->route->claims)) {
        return call->route->handle(call, err);
    }
    if (call->route->claims) {
        return err_set(err, ERR_FORBIDDEN,
                       "a token of one user may not claim: a worker is given everybody's tasks");
    }
    if (!call_id(call, &id, err)) {
        return false;
    }
    struct query *query = call_query(call, QUERY_DETAIL);
    query->id = id;
    call->own = query;
    call->done = reached;
    call_ask(call, query);
    return true;
}

bool api_dispatch(struct call *call, struct err *err)
{
    return find_route(call, err) &&
           (auth_role_allows(call->who.role, call->route->access) ||
            err_set(err, ERR_FORBIDDEN, "this token's role may not do that")) &&
           handle(call, err);
}

void api_handle(void *arg, struct exchange *exchange)
{
    struct call *call = exchange->user;
    struct err err = ERR_INIT;
    (void)arg;
    /* A body may take its time, and a token be revoked meanwhile. */
    int64_t passed_ms = (int64_t)uv_now(call->api->options.loop) - call->entered_ms;
    bool may = passed_ms < SECOND_MS || may_enter(call, &err);
    if (!may || !handle(call, &err)) {
        call_fail(call, &err);
    }
}

/* ---- Out to the engine, once a turn ---- */

void api_give(struct api *api, struct command *command)
{
    assert(command_is_from(command, BY_CLIENT | BY_OPERATOR | BY_SERVER));
    _Atomic uint64_t *given = &api->commands_given[command->kind];
    uint64_t count = atomic_load_explicit(given, memory_order_relaxed);
    atomic_store_explicit(given, count + 1, memory_order_relaxed); /* nobody else writes it */
    command->reply_to = &api->answers;
    list_append(&api->outgoing, &command->link);
}

uint64_t api_commands_given(const struct api *api, enum command_kind kind)
{
    uint64_t count = api->commands_given[kind];
    for (size_t i = 0; i < api->others_count; i++) {
        count += api->others[i]->commands_given[kind];
    }
    return count;
}

static void give_all(struct api *api)
{
    if (!list_empty(&api->outgoing)) {
        engine_give(api->parts.engine, &api->outgoing);
    }
}

static void on_prepare(uv_prepare_t *handle)
{
    give_all(handle->data);
}

static void on_check(uv_check_t *handle)
{
    give_all(handle->data);
}

/* ---- Back from other threads ---- */

static void wake_loop(void *arg)
{
    wake_send(&((struct api *)arg)->wake);
}

void api_engine_failed(struct api *api, const struct err *err)
{
    log_error("the store cannot be trusted any more: %s", err->text);
    atomic_store(&api->engine_failed, true);
    wake_loop(api);
}

void api_join(struct api *api, struct fleet *fleet)
{
    api->fleet = fleet;
}

bool api_ask(struct api *api, struct query *query)
{
    if (api->parts.queries == NULL) {
        return false;
    }
    query->reply_to = &api->queries;
    queries_ask(api->parts.queries, query);
    return true;
}

void api_query_answered(void *arg, struct query *query)
{
    (void)arg;
    channel_give(query->reply_to, &query->link);
}

static void answer_commands(struct api *api)
{
    struct list commands;
    list_init(&commands);
    if (!channel_take(&api->answers, &commands)) {
        return;
    }
    LIST_EACH(&commands, it)
    {
        struct command *command = HOLDER(it, struct command, link);
        struct api_sender *sender = command->sender;
        list_remove(it);
        sender->answered(sender, command);
    }
}

static void answer_queries(struct api *api)
{
    struct list queries;
    list_init(&queries);
    if (!channel_take(&api->queries, &queries)) {
        return;
    }
    LIST_EACH(&queries, it)
    {
        list_remove(it);
        call_query_back(HOLDER(it, struct query, link));
    }
}

struct channel *api_assistant_notes(struct api *api)
{
    return &api->notes;
}

static void answer_notes(struct api *api)
{
    struct list notes;
    list_init(&notes);
    if (!channel_take(&api->notes, &notes)) {
        return;
    }
    LIST_EACH(&notes, it)
    {
        list_remove(it);
        assist_noted(HOLDER(it, struct assistant_note, link));
    }
}

/* ---- Owners of schedules, for event streams ---- */

struct owner_query {
    struct query query;
    struct arena arena;
};

static void owner_found(struct query *query)
{
    struct owner_query *owner = HOLDER(query, struct owner_query, query);
    const struct api *api = query->sender;
    struct str none = STR_NONE;
    events_owner(api->options.events, query->id,
                 query->err.kind != ERR_NONE ? NULL
                 : query->found              ? &query->record.owner
                                             : &none);
    arena_fini(&owner->arena);
    mem_free(owner);
}

static void ask_owner(void *arg, struct task_id schedule)
{
    struct api *api = arg;
    struct owner_query *owner = mem_new(struct owner_query);
    owner->query = (struct query){.kind = QUERY_RECORD,
                                  .arena = &owner->arena,
                                  .id = schedule,
                                  .record_filter.kind = RECORD_SCHEDULE,
                                  .sender = api,
                                  .answered = owner_found};
    if (!api_ask(api, &owner->query)) { /* they have ended, and the streams will */
        arena_fini(&owner->arena);
        mem_free(owner);
    }
}

static void on_wake(void *arg)
{
    struct api *api = arg;
    answer_commands(api);
    answer_queries(api);
    answer_notes(api);
    if (atomic_load(&api->engine_failed) && !api->failure_told) {
        api->failure_told = true;
        if (api->options.failed != NULL) {
            api->options.failed(api->options.failed_arg);
        }
    }
}

/* ---- Life ---- */

/* Only the server's sockets and timers keep the loop alive. */
static bool start_handles(struct api *api, struct err *err)
{
    uv_loop_t *loop = api->options.loop;
    if (!wake_open(&api->wake, loop, on_wake, api, err)) {
        return err_wrap(err, "start the api");
    }
    uv_prepare_init(loop, &api->prepare); /* these cannot fail */
    uv_prepare_start(&api->prepare, on_prepare);
    uv_check_init(loop, &api->check);
    uv_check_start(&api->check, on_check);
    api->prepare.data = api->check.data = api;
    uv_unref((uv_handle_t *)&api->prepare);
    uv_unref((uv_handle_t *)&api->check);
    return true;
}

bool api_start(const struct api_options *options, struct api **out, struct err *err)
{
    struct api *api = mem_new(struct api);
    api->options = *options;
    list_init(&api->outgoing);
    channel_init(&api->answers, wake_loop, api);
    channel_init(&api->queries, wake_loop, api);
    channel_init(&api->notes, wake_loop, api);
    api->scratch = BUF_INIT(ANSWER_MAX);
    api->openapi = BUF_INIT(MIB);
    api->home = options->home == NULL ? api : options->home;
    if (!start_handles(api, err)) {
        api_free(api);
        return false;
    }
    if (api->home == api) {
        openapi_write(&api->openapi, options->version);
    } else {
        assert(api->home->others_count < SERVER_LOOPS_MAX);
        api->home->others[api->home->others_count++] = api;
        api->claims = (uint64_t)api->home->others_count << CLAIMS_BITS;
    }
    *out = api;
    return true;
}

void api_open(struct api *api, const struct api_parts *parts)
{
    api->parts = *parts;
    if (api->home == api) {
        events_set_ask(api->options.events, ask_owner, api);
    }
}

void api_set_payload_max(struct api *api, size_t bytes)
{
    api->options.payload_max = bytes;
}

void api_set_push_private(struct api *api, bool allowed)
{
    api->options.push_private = allowed;
}

/* Commands that never reached the engine are refused as the engine would. */
static void refuse_outgoing(struct api *api)
{
    LIST_EACH(&api->outgoing, it)
    {
        struct command *command = HOLDER(it, struct command, link);
        struct api_sender *sender = command->sender;
        list_remove(it);
        err_set(&command->err, ERR_UNAVAILABLE, "the server is stopping");
        sender->answered(sender, command);
    }
}

void api_stop(struct api *api)
{
    api->parts.queries = NULL;
    answer_commands(api);
    answer_queries(api);
    answer_notes(api);
    while (!list_empty(&api->outgoing)) { /* an answer may have given another command */
        refuse_outgoing(api);
    }
    wake_stop(&api->wake);
    uv_close((uv_handle_t *)&api->prepare, NULL);
    uv_close((uv_handle_t *)&api->check, NULL);
}

void api_free(struct api *api)
{
    if (api == NULL) {
        return;
    }
    wake_fini(&api->wake);
    channel_fini(&api->answers);
    channel_fini(&api->queries);
    channel_fini(&api->notes);
    buf_fini(&api->scratch);
    buf_fini(&api->openapi);
    mcp_book_free(api->mcp);
    mem_free(api);
}
