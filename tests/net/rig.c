/* tests/net/rig.c: the whole server in one process. See rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "rig.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "store_memory/memory.h"
#include "test.h"
#include "wire/json.h"

static void on_happened(void *arg, struct event_batch *events)
{
    events_give(((struct rig *)arg)->events, events);
}

static void on_failed(void *arg, const struct err *err)
{
    api_engine_failed(((struct rig *)arg)->api, err);
}

static bool on_head(struct stand *stand, struct exchange *exchange)
{
    return api_admit(((struct rig *)stand->user)->api, exchange);
}

static void on_request(struct stand *stand, struct exchange *exchange)
{
    api_handle(((struct rig *)stand->user)->api, exchange);
}

static void open_engine(struct rig *rig)
{
    struct err err = ERR_INIT;
    rig->store = memory_store_new();
    CHECK_OK(broker_open(
        &(struct broker_options){.url = STR("memory:"), .ready = engine_ready, .arg = &rig->engine},
        &rig->broker, &err));
    rig->zones = zones_new(NULL);
    rig->planner = planner_new(&(struct planner_options){
        .zones = rig->zones,
        .limits = {.horizon_ms = 30 * DAY_MS, .min_lead_ms = 5 * SECOND_MS},
        .misfire_after_ms = MINUTE_MS,
        .default_type = STR("remind")});
    rig->guests[0] = planner_guest(rig->planner);
    rig->lead = lead_new(&(struct lead_options){0});
    rig->guests[1] = lead_guest(rig->lead);
    rig->cloud = cloud_new(&(struct cloud_options){.google_limits = rig->google_limits,
                                                   .tombstone_ms = RIG_TOMBSTONE_MS});
    rig->guests[2] = cloud_guest(rig->cloud);
    CHECK_OK(engine_new(
        &(struct engine_options){.store = rig->store,
                                 .broker = rig->broker,
                                 .clock = &rig->clock,
                                 .rand = &rig->rand,
                                 .host = {.arg = rig, .happened = on_happened, .failed = on_failed},
                                 .waiting_max = 2,
                                 .grace_ms = 10000,
                                 .guests = rig->guests,
                                 .guests_count = ARRAY_LEN(rig->guests)},
        &rig->engine, &err));
    CHECK_OK(engine_start(rig->engine, &err));
    CHECK_OK(queries_start(rig->store, 1, api_query_answered, rig->api, &rig->queries, &err));
}

static void open_loops(struct rig *rig, const struct api_options *api,
                       const struct server_options *server)
{
    struct err err = ERR_INIT;
    struct server_options own = *server;
    own.admit = api_admit;
    own.handle = api_handle;
    CHECK_OK(loops_open(&(struct loops_options){.count = rig->further,
                                                .api = api,
                                                .server = &own,
                                                .home_api = rig->api,
                                                .home_server = rig->stand.server},
                        &rig->loops, &err));
}

static void open_rig(struct rig *rig)
{
    struct err err = ERR_INIT;
    const struct server_options server = {
        .body_max = 4 * MIB, .loops = rig->further + 1, .connections_max = rig->connections_max};
    stand_open(&rig->stand, &server);
    rig->stand.admit = on_head;
    rig->stand.other = on_request;
    rig->stand.user = rig;
    clock_init_by_hand(&rig->clock, RIG_START_MS);
    rand_init_seed(&rig->rand, 7);
    CHECK_OK(events_start(&rig->stand.loop, RIG_START_MS, &rig->events, &err));
    const struct api_options api = {.loop = &rig->stand.loop,
                                    .auth = &rig->auth,
                                    .events = rig->events,
                                    .clock = &rig->clock,
                                    .payload_max = TASK_PAYLOAD_MAX,
                                    .test_clock = true,
                                    .node_id = STR("n1"),
                                    .version = STR("0.0.0"),
                                    .started_ms = RIG_START_MS};
    CHECK_OK(api_start(&api, &rig->api, &err));
    open_engine(rig);
    const struct api_parts parts = {.engine = rig->engine,
                                    .queries = rig->queries,
                                    .server = rig->stand.server,
                                    .address = STR("127.0.0.1:1"),
                                    .planner = rig->planner,
                                    .lead = rig->lead,
                                    .cloud = rig->cloud};
    api_open(rig->api, &parts);
    if (rig->further > 0) {
        open_loops(rig, &api, &server);
        CHECK_OK(loops_run(rig->loops, &parts, &err));
    }
    client_open(&rig->client, &rig->stand);
}

void rig_open(struct rig *rig)
{
    *rig = (struct rig){0};
    open_rig(rig);
}

void rig_open_google(struct rig *rig)
{
    *rig = (struct rig){.google_limits = true};
    open_rig(rig);
}

void rig_open_loops(struct rig *rig, size_t further, size_t connections_max)
{
    *rig = (struct rig){.further = further, .connections_max = connections_max};
    open_rig(rig);
}

void rig_close(struct rig *rig)
{
    client_close(&rig->client);
    loops_stop(rig->loops, 0);
    server_stop(rig->stand.server);
    engine_stop(rig->engine);
    engine_free(rig->engine);
    queries_stop(rig->queries);
    api_stop(rig->api);
    loops_close(rig->loops);
    events_stop(rig->events);
    uv_run(&rig->stand.loop, UV_RUN_DEFAULT);
    CHECK_EQ(uv_loop_close(&rig->stand.loop), 0);
    loops_free(rig->loops);
    server_free(rig->stand.server);
    api_free(rig->api);
    events_free(rig->events);
    lead_free(rig->lead);
    cloud_free(rig->cloud);
    planner_free(rig->planner);
    zones_free(rig->zones);
    broker_close(rig->broker);
    store_close(rig->store);
    arena_fini(&rig->arena);
}

/* ---- Asking ---- */

static void quote(struct buf *buf, const char *text)
{
    for (; *text != '\0'; text++) {
        buf_char(buf, *text == '\'' ? '"' : *text);
    }
}

void rig_say(struct client *client, const char *request, const char *body)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(8 * MIB);
    buf_printf(&out, "%s HTTP/1.1\r\nHost: localhost\r\n", request);
    if (body[0] != '\0') {
        buf_printf(&out, "Content-Type: application/json\r\nContent-Length: %zu\r\n", strlen(body));
    }
    buf_c(&out, "\r\n");
    quote(&out, body);
    client_send(client, buf_view(&out));
}

int rig_hear(struct rig *rig, struct client *client)
{
    CHECK(client_sees(client, "\r\n\r\n"));
    const char *end = memmem(client->in.ptr, client->in.len, "\r\n\r\n", 4);
    size_t head_len = (size_t)(end - client->in.ptr) + 4;
    rig->head = arena_str(&rig->arena, (struct str){client->in.ptr, head_len});
    const char *length = strcasestr(rig->head.ptr, "content-length: ");
    size_t body_len = length == NULL ? 0 : (size_t)atol(length + 16);
    while (client->in.len < head_len + body_len) {
        client_read_some(client);
        CHECK(!client->ended);
    }
    rig->body = arena_str(&rig->arena, (struct str){client->in.ptr + head_len, body_len});
    buf_cut_front(&client->in, head_len + body_len);
    rig->status = atoi(rig->head.ptr + 9);
    return rig->status;
}

int rig_ask(struct rig *rig, const char *request, const char *body)
{
    rig_say(&rig->client, request, body);
    return rig_hear(rig, &rig->client);
}

/* ---- Looking at the answer ---- */

static struct str item(struct rig *rig, struct str array, size_t index)
{
    struct json json;
    struct str value = STR_NONE;
    json_start(&json, array, &rig->arena);
    if (!json_enter_array(&json, NULL)) {
        return STR_NONE;
    }
    for (size_t i = 0; json_item(&json, NULL); i++) {
        if (!json_raw(&json, &value, NULL) || i == index) {
            return value;
        }
    }
    return STR_NONE;
}

struct str rig_raw(struct rig *rig, const char *path)
{
    struct str value = rig->body, rest = str_of(path);
    uint64_t index;
    while (!str_absent(rest) && !str_absent(value)) {
        struct str key = str_cut(&rest, '.');
        value = str_u64(key, &index)
                    ? item(rig, value, index)
                    : json_find(value, arena_c_text(&rig->arena, key), &rig->arena);
    }
    return value;
}

struct str rig_text(struct rig *rig, const char *path)
{
    struct json json;
    struct str text = STR_NONE;
    json_start(&json, rig_raw(rig, path), &rig->arena);
    return json_str(&json, &text, NULL) ? arena_str(&rig->arena, text) : STR("(none)");
}

bool rig_has(const struct rig *rig, const char *piece)
{
    SCOPED(buf_fini) struct buf quoted = BUF_INIT(MIB);
    quote(&quoted, piece);
    bool found = memmem(rig->body.ptr, rig->body.len, quoted.ptr, quoted.len) != NULL;
    if (!found) {
        print_message("%d " STR_FMT "\nhas no %s\n", rig->status, STR_ARG(rig->body), piece);
    }
    return found;
}

void rig_check_error(struct rig *rig, int status, const char *code, const char *field)
{
    if (rig->status != status) {
        print_message(STR_FMT "\n", STR_ARG(rig->body));
    }
    CHECK_EQ(rig->status, status);
    CHECK_STR(rig_text(rig, "error.code"), code);
    CHECK(rig_text(rig, "error.message").len > 0);
    CHECK_STR(rig_text(rig, "error.field"), field == NULL ? "(none)" : field);
}

void rig_until(struct rig *rig, const char *request, const char *path, const char *raw)
{
    int64_t give_up_us = clock_real_mono_us() + 10 * SECOND_MS * 1000;
    do {
        CHECK_EQ(rig_ask(rig, request, ""), 200);
    } while (!str_is(rig_raw(rig, path), raw) && clock_real_mono_us() < give_up_us);
    CHECK_STR(rig_raw(rig, path), raw);
}

const char *rig_printf(struct rig *rig, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return arena_c_text(&rig->arena, str_of(text));
}

/* ---- The usual moves ---- */

const char *rig_create(struct rig *rig, const char *body)
{
    CHECK_EQ(rig_ask(rig, "POST /api/tasks", body), 201);
    return rig_text(rig, "id").ptr;
}

struct rig_claimed rig_claim(struct rig *rig)
{
    CHECK_EQ(rig_ask(rig, "POST /api/claim", "{'workerId':'w'}"), 200);
    return (struct rig_claimed){rig_text(rig, "tasks.0.id").ptr,
                                rig_text(rig, "tasks.0.lease").ptr};
}
