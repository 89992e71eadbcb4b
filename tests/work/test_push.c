/* tests/work/test_push.c: pushes to a real server on loopback, from a real engine.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "client/webhook.h"
#include "endpoint.h"
#include "stand.h"
#include "wire/time.h"

#define SECRET               "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define NEW_SECRET           "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define ANSWER(status, rest) "HTTP/1.1 " status " X\r\n" rest
#define EMPTY                "Content-Length: 0\r\n\r\n"

static const struct endpoint_row script[] = {
    {"/json", ANSWER("200", "Content-Length: 9\r\n\r\n{\"a\": 1}\n"), false},
    {"/text", ANSWER("201", "Content-Length: 5\r\n\r\nhello"), false},
    {"/204", ANSWER("204", "\r\n"), false},
    {"/301", ANSWER("301", "Location: /json\r\n" EMPTY), false},
    {"/307", ANSWER("307", "Location: /json\r\n" EMPTY), false},
    {"/400", ANSWER("400", "Content-Length: 4\r\n\r\noops"), false},
    {"/410", ANSWER("410", EMPTY), false},
    {"/408", ANSWER("408", EMPTY), false},
    {"/409", ANSWER("409", EMPTY), false},
    {"/429", ANSWER("429", EMPTY), false},
    {"/500", ANSWER("500", EMPTY), false},
    {"/503", ANSWER("503", EMPTY), false},
    {"/wait", ANSWER("429", "Retry-After: 120\r\n" EMPTY), false},
    {"/wait-until",
     ANSWER("503", "Date: Sun, 01 Mar 2026 09:00:00 GMT\r\n"
                   "Retry-After: Sun, 01 Mar 2026 09:05:00 GMT\r\n" EMPTY),
     false},
    {"/silent", NULL, true},
    {"/half", ANSWER("200", "Content-Length: 100\r\n\r\n{\"a\":"), true},
    {"/twice", "HTTP/1.1 100 Continue\r\nRetry-After: 9\r\n\r\n" ANSWER("200", EMPTY), false},
    {"/strange", "SSH-2.0-OpenSSH_9.2\r\n\r\n", true},
};

/* ---- The stand with pushes ---- */

#define HANDLERS_MAX 8

struct bench {
    struct stand stand;
    struct endpoint endpoint, other; /* the other is opened when a handler asks for it */
    char urls[HANDLERS_MAX][128];
};

struct bench_options {
    const char *paths[HANDLERS_MAX]; /* handlers "t0", "t1", …: where on the endpoint */
    const char *elsewhere;           /* handler "other": on the other endpoint */
    const char *url;                 /* handler "url": anywhere */
    const char *type;                /* instead of "t0" */
    const char *secrets, *authorization, *cloudevents;
    size_t concurrency, per_host; /* 0: the defaults */
    bool refuse_private, by_hand;
    int64_t grace_ms;
    const struct endpoint_row *rows; /* instead of the script */
    size_t rows_count;
};

static struct push_handler handler(const struct bench_options *options, struct str type,
                                   const char *url)
{
    return (struct push_handler){.type = type,
                                 .url = str_of(url),
                                 .secrets = str_of(options->secrets),
                                 .authorization = str_of(options->authorization),
                                 .cloudevents = str_of(options->cloudevents)};
}

static size_t list_handlers(struct bench *b, const struct bench_options *options,
                            struct push_handler *out)
{
    const char *types[] = {"t0", "t1", "t2", "t3", "t4", "t5"};
    types[0] = options->type != NULL ? options->type : types[0];
    size_t count = 0;
    for (; count < ARRAY_LEN(types) && options->paths[count] != NULL; count++) {
        snprintf(b->urls[count], sizeof b->urls[count], "http://127.0.0.1:%d%s", b->endpoint.port,
                 options->paths[count]);
        out[count] = handler(options, str_of(types[count]), b->urls[count]);
    }
    if (options->elsewhere != NULL) {
        snprintf(b->urls[count], sizeof b->urls[count], "http://127.0.0.1:%d%s", b->other.port,
                 options->elsewhere);
        out[count] = handler(options, STR("other"), b->urls[count]);
        count++;
    }
    if (options->url != NULL) {
        out[count++] = handler(options, STR("url"), options->url);
    }
    return count;
}

static void bench_open(struct bench *b, const struct bench_options *options)
{
    struct push_handler handlers[HANDLERS_MAX];
    log_set_level(LOG_ERROR);
    *b = (struct bench){.stand = {.store = NULL}};
    bool own = options->rows != NULL;
    endpoint_open(&b->endpoint, own ? options->rows : script,
                  own ? options->rows_count : ARRAY_LEN(script));
    endpoint_open(&b->other, script, ARRAY_LEN(script));
    struct push_settings push = {
        .handlers = handlers,
        .handlers_count = list_handlers(b, options, handlers),
        .concurrency = options->concurrency == 0 ? PUSH_CONCURRENCY_DEFAULT : options->concurrency,
        .per_host = options->per_host == 0 ? PUSH_PER_HOST_DEFAULT : options->per_host,
        .allow_private = !options->refuse_private};
    stand_open(&b->stand, &(struct stand_options){.workers = 1,
                                                  .by_hand = options->by_hand,
                                                  .grace_ms = options->grace_ms,
                                                  .push = push});
}

static void bench_close(struct bench *b)
{
    stand_close(&b->stand);
    endpoint_close(&b->endpoint);
    endpoint_close(&b->other);
}

static struct task bench_do(struct bench *b, const char *type, int32_t max_retries,
                            enum task_state end)
{
    return stand_do(&b->stand, (struct stand_order){.type = type, .max_retries = max_retries}, end);
}

/* ---- What is sent ---- */

static struct str header(struct bench *b, size_t request, const char *name)
{
    return endpoint_header(endpoint_request(&b->endpoint, request), name);
}

TEST(a_push_is_a_post_of_the_payload_byte_for_byte)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/json"}});
    struct task task =
        stand_do(&b.stand, (struct stand_order){.type = "t0", .payload = "{\"b\" : 1,\"a\":[ ]}"},
                 TASK_COMPLETED);
    CHECK_STR(task.result, "{\"a\": 1}");
    CHECK_STR(task.worker, "errand:push:1");
    struct endpoint_request request = endpoint_request(&b.endpoint, 0);
    CHECK(str_starts(request.head, STR("POST /json HTTP/1.1\r\n")));
    CHECK_STR(request.body, "{\"b\" : 1,\"a\":[ ]}");
    CHECK_STR(header(&b, 0, "Content-Type"), "application/json");
    CHECK_STR(header(&b, 0, "User-Agent"), "Errand/" ERRAND_VERSION);
    CHECK(str_absent(header(&b, 0, "Expect")));
    CHECK(str_absent(header(&b, 0, "Authorization")));
    CHECK(str_absent(header(&b, 0, "webhook-signature")));
}

TEST(a_push_says_which_task_it_is)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/500"}, .authorization = "Bearer abc"});
    struct task task =
        stand_do(&b.stand, (struct stand_order){.type = "t0", .queue = "mail", .max_retries = 1},
                 TASK_FAILED);
    char text[TASK_ID_TEXT];
    id_text(task.id, text);
    for (size_t i = 0; i < 2; i++) {
        CHECK_STR(header(&b, i, "webhook-id"), text);
        CHECK_STR(header(&b, i, "Errand-Task-Id"), text);
        CHECK_STR(header(&b, i, "Errand-Task-Type"), "t0");
        CHECK_STR(header(&b, i, "Errand-Queue"), "mail");
        CHECK_STR(header(&b, i, "Errand-Attempt"), i == 0 ? "1" : "2");
        CHECK_STR(header(&b, i, "Authorization"), "Bearer abc");
    }
}

TEST(raw_bytes_are_sent_as_they_are_and_nothing_as_nothing)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/204"}});
    stand_do(&b.stand, (struct stand_order){.type = "t0", .payload = "\x01\xff", .raw = true},
             TASK_COMPLETED);
    struct task task = bench_do(&b, "t0", 0, TASK_COMPLETED);
    CHECK(str_absent(task.result));
    CHECK_STR(header(&b, 0, "Content-Type"), "application/octet-stream");
    CHECK_STR(endpoint_request(&b.endpoint, 0).body, "\x01\xff");
    CHECK(str_absent(header(&b, 1, "Content-Type")));
    CHECK_STR(header(&b, 1, "Content-Length"), "0");
}

static void check_signature(struct bench *b, const char *secrets)
{
    struct err err = ERR_INIT;
    struct webhook_keys keys;
    SCOPED(buf_fini) struct buf want = BUF_INIT(KIB);
    int64_t unix_s = 0;
    CHECK(str_i64(header(b, 0, "webhook-timestamp"), &unix_s));
    CHECK(unix_s * SECOND_MS <= clock_real_wall_ms());
    CHECK(unix_s * SECOND_MS > clock_real_wall_ms() - 5 * MINUTE_MS);
    CHECK_OK(webhook_read_keys(str_of(secrets), &b->stand.arena, &keys, &err));
    webhook_sign(&keys, header(b, 0, "webhook-id"), unix_s, endpoint_request(&b->endpoint, 0).body,
                 &want);
    CHECK_STR(header(b, 0, "webhook-signature"), buf_c_text(&want));
}

TEST(a_push_is_signed_and_the_secret_is_never_sent)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/json"}, .secrets = SECRET});
    stand_do(&b.stand, (struct stand_order){.type = "t0", .payload = "[1, 2]"}, TASK_COMPLETED);
    check_signature(&b, SECRET);
    struct str head = endpoint_request(&b.endpoint, 0).head;
    CHECK(memmem(head.ptr, head.len, "MfKQ9r8G", 8) == NULL);
}

TEST(a_push_is_signed_with_each_secret_while_one_is_replaced)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/json"}, .secrets = NEW_SECRET " " SECRET});
    stand_do(&b.stand, (struct stand_order){.type = "t0", .payload = "{}"}, TASK_COMPLETED);
    check_signature(&b, NEW_SECRET " " SECRET);
}

TEST(the_trace_of_the_task_goes_along)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/500"}});
    stand_do(&b.stand,
             (struct stand_order){.type = "t0",
                                  .max_retries = 1,
                                  .metadata =
                                      "{\"traceparent\":\"00-0af7651916cd43dd8448eb211c80319"
                                      "c-b7ad6b7169203331-01\",\"tracestate\":\"v=1\"}"},
             TASK_FAILED);
    struct str first = header(&b, 0, "traceparent"), second = header(&b, 1, "traceparent");
    CHECK(str_starts(first, STR("00-0af7651916cd43dd8448eb211c80319c-")));
    CHECK(str_starts(second, STR("00-0af7651916cd43dd8448eb211c80319c-")));
    CHECK(!str_eq(first, second));
    CHECK_STR(header(&b, 0, "tracestate"), "v=1");
}

TEST(a_push_may_be_a_cloud_event)
{
    static const char trace[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    SCOPED(bench_close) struct bench b;
    char text[TASK_ID_TEXT], time[TIME_TEXT_LEN + 1];
    bench_open(&b, &(struct bench_options){
                       .paths = {"/500"}, .type = "f\xC3\xBCr \"5%\"", .cloudevents = "prod"});
    struct task task = stand_do(
        &b.stand,
        (struct stand_order){
            .type = "f\xC3\xBCr \"5%\"",
            .payload = "[1]",
            .queue = "mail",
            .max_retries = 1,
            .metadata = arena_printf(&b.stand.arena, "{\"traceparent\":\"%s\"}", trace).ptr},
        TASK_FAILED);
    time_text(task.created_ms, time);
    for (size_t i = 0; i < 2; i++) {
        CHECK_STR(header(&b, i, "ce-specversion"), "1.0");
        CHECK_STR(header(&b, i, "ce-id"), id_text(task.id, text).ptr);
        CHECK_STR(header(&b, i, "ce-source"), "/errand/prod/queues/mail");
        CHECK_STR(header(&b, i, "ce-type"), "f%C3%BCr%20%225%25%22");
        CHECK_STR(header(&b, i, "ce-time"), time);
        CHECK_STR(header(&b, i, "ce-errandattempt"), i == 0 ? "1" : "2");
        CHECK_STR(header(&b, i, "ce-traceparent"), trace);
        CHECK_STR(header(&b, i, "Content-Type"), "application/json");
        CHECK(str_absent(header(&b, i, "ce-datacontenttype")));
        CHECK_STR(endpoint_request(&b.endpoint, i).body, "[1]");
    }
}

/* ---- What comes back ---- */

TEST(text_becomes_a_json_string_and_an_interim_answer_is_none)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/text", "/twice"}});
    CHECK_STR(bench_do(&b, "t0", 0, TASK_COMPLETED).result, "\"hello\"");
    bench_do(&b, "t1", 0, TASK_COMPLETED);
}

TEST(client_errors_fail_for_good)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/400", "/410"}});
    struct task task = bench_do(&b, "t0", 3, TASK_FAILED);
    CHECK_EQ(task.attempt, 1);
    CHECK_STR(task.error.code, "http_400");
    CHECK_STR(task.error.detail, "{\"status\":400,\"body\":\"oops\"}");
    CHECK_EQ(bench_do(&b, "t1", 3, TASK_FAILED).attempt, 1);
}

TEST(the_rest_is_tried_again)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b,
               &(struct bench_options){.paths = {"/408", "/409", "/429", "/500", "/503", "/301"}});
    static const char *const types[] = {"t0", "t1", "t2", "t3", "t4", "t5"};
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        CHECK_EQ(bench_do(&b, types[i], 2, TASK_FAILED).attempt, 3);
    }
}

TEST(broken_exchanges_are_tried_again)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/silent", "/half", "/strange"}});
    static const char *const types[] = {"t0", "t1", "t2"};
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct task task = bench_do(&b, types[i], 1, TASK_FAILED);
        CHECK_EQ(task.attempt, 2);
        CHECK_STR(task.error.code, "unreachable");
    }
}

TEST(an_endpoint_that_is_not_there_is_tried_again)
{
    SCOPED(bench_close) struct bench b;
    struct endpoint gone;
    char url[64];
    endpoint_open(&gone, NULL, 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", gone.port);
    endpoint_close(&gone);
    bench_open(&b, &(struct bench_options){.url = url});
    struct task task = bench_do(&b, "url", 1, TASK_FAILED);
    CHECK_EQ(task.attempt, 2);
    CHECK_STR(task.error.code, "unreachable");
}

TEST(redirects_are_not_followed)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/307"}});
    bench_do(&b, "t0", 0, TASK_FAILED);
    CHECK_EQ(endpoint_requests(&b.endpoint), 1);
}

static void check_wait(const char *path, int64_t wait_ms)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {path}});
    struct task_id id = stand_create(&b.stand, "t0", .max_retries = 3);
    stand_until(&b.stand, id, TASK_RETRYING);
    struct task task = stand_task(&b.stand, id).task;
    CHECK_EQ(task.scheduled_ms - task.attempt_ended_ms, wait_ms);
    CHECK_EQ(task.retries, 1);
}

TEST(the_next_attempt_waits_as_long_as_retry_after_says)
{
    check_wait("/wait", 120 * SECOND_MS);
    check_wait("/wait-until", 300 * SECOND_MS);
}

static struct str long_answer(struct arena *arena, size_t length)
{
    struct str head = arena_printf(arena, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", length);
    char *text = arena_alloc(arena, head.len + length + 1);
    memcpy(text, head.ptr, head.len);
    memset(text + head.len, '7', length);
    text[head.len + length] = '\0';
    return (struct str){text, head.len + length};
}

TEST(a_result_may_have_a_mebibyte_and_no_more)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(bench_close) struct bench b;
    struct endpoint_row rows[] = {{"/fits", long_answer(&arena, MIB).ptr, false},
                                  {"/over", long_answer(&arena, MIB + 1).ptr, false}};
    bench_open(&b,
               &(struct bench_options){.paths = {"/fits", "/over"}, .rows = rows, .rows_count = 2});
    CHECK_EQ(bench_do(&b, "t0", 0, TASK_COMPLETED).result.len, MIB);
    CHECK_STR(bench_do(&b, "t1", 0, TASK_FAILED).error.code, "result_too_large");
}

TEST(an_endless_head_is_cut_off)
{
    SCOPED(buf_fini) struct buf answer = BUF_INIT(MIB);
    SCOPED(bench_close) struct bench b;
    buf_c(&answer, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 10000; i++) {
        buf_c(&answer, "X-More: and more\r\n");
    }
    buf_c(&answer, EMPTY);
    struct endpoint_row rows[] = {{"/head", buf_c_text(&answer), false}};
    bench_open(&b, &(struct bench_options){.paths = {"/head"}, .rows = rows, .rows_count = 1});
    CHECK_STR(bench_do(&b, "t0", 0, TASK_FAILED).error.code, "unreachable");
}

/* ---- Where it may go ---- */

TEST(private_addresses_are_refused_unless_they_are_allowed)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/json"}, .refuse_private = true});
    struct task task = bench_do(&b, "t0", 3, TASK_FAILED);
    CHECK_EQ(task.attempt, 1);
    CHECK_STR(task.error.code, "address_refused");
    CHECK_STR(task.error.message, "127.0.0.1 is a loopback address: pushes there are refused");
    CHECK_EQ(endpoint_connections(&b.endpoint), 0);
}

TEST(a_name_that_leads_inside_is_refused_when_it_is_resolved)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.url = "http://localhost:1/", .refuse_private = true});
    CHECK_STR(bench_do(&b, "url", 3, TASK_FAILED).error.code, "address_refused");
}

TEST(link_local_addresses_are_refused_always)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.url = "http://169.254.169.254/latest/meta-data"});
    CHECK_STR(bench_do(&b, "url", 3, TASK_FAILED).error.code, "address_refused");
}

TEST(a_proxy_of_the_environment_is_not_asked)
{
    SCOPED(bench_close) struct bench b;
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    bench_open(&b, &(struct bench_options){.paths = {"/json"}});
    bench_do(&b, "t0", 0, TASK_COMPLETED);
    unsetenv("http_proxy");
}

/* ---- How many at once ---- */

static void create_many(struct bench *b, const char *type, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        stand_create(&b->stand, type);
    }
}

static void until_done(struct bench *b, struct task_id id)
{
    stand_until(&b->stand, id, TASK_COMPLETED);
}

TEST(hundreds_of_requests_wait_for_a_slow_endpoint_at_once)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/hold"}, .per_host = 300});
    struct task_id first = stand_create(&b.stand, "t0");
    create_many(&b, "t0", 299);
    endpoint_until_held(&b.endpoint, 300);
    CHECK_EQ(workforce_health(b.stand.work).pushing, 300);
    endpoint_release(&b.endpoint, 300);
    until_done(&b, first);
    endpoint_until_held(&b.endpoint, 0);
}

TEST(a_slow_host_does_not_hold_up_the_rest)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){
                       .paths = {"/hold", "/hold2"}, .elsewhere = "/json", .per_host = 4});
    create_many(&b, "t0", 10);
    create_many(&b, "t1", 10);
    endpoint_until_held(&b.endpoint, 4);
    for (int i = 0; i < 10; i++) {
        bench_do(&b, "other", 0, TASK_COMPLETED);
    }
    struct task_id last = stand_create(&b.stand, "t1");
    endpoint_release(&b.endpoint, 21);
    until_done(&b, last);
    CHECK_EQ(endpoint_most_held(&b.endpoint), 4);
}

TEST(no_more_than_concurrency_are_under_way)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b,
               &(struct bench_options){.paths = {"/hold"}, .elsewhere = "/hold", .concurrency = 3});
    create_many(&b, "t0", 5);
    endpoint_until_held(&b.endpoint, 3);
    struct task_id last = stand_create(&b.stand, "other");
    endpoint_release(&b.endpoint, 5);
    endpoint_release(&b.other, 1);
    until_done(&b, last);
    CHECK_EQ(endpoint_most_held(&b.endpoint), 3);
}

/* ---- Stopping ---- */

TEST(a_cancel_closes_the_request)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/hold"}});
    struct task_id id = stand_create(&b.stand, "t0", .max_retries = 3);
    endpoint_until_held(&b.endpoint, 1);
    stand_cancel(&b.stand, id);
    endpoint_until_left(&b.endpoint, 1);
    stand_until(&b.stand, id, TASK_CANCELLED);
}

TEST(a_time_out_closes_the_request)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/hold"}, .by_hand = true});
    struct task_id id = stand_create(&b.stand, "t0", .timeout_ms = 5000, .document = "d");
    endpoint_until_held(&b.endpoint, 1);
    stand_wind(&b.stand, 5000);
    endpoint_until_left(&b.endpoint, 1);
    stand_until(&b.stand, id, TASK_TIMEOUT);
    CHECK(!stand_document(&b.stand, "d").locked);
}

TEST(what_is_under_way_may_end_before_the_server_does)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/hold"}});
    struct task_id id = stand_create(&b.stand, "t0");
    endpoint_until_held(&b.endpoint, 1);
    workforce_quiet(b.stand.work);
    endpoint_release(&b.endpoint, 1);
    stand_rested(&b.stand);
    until_done(&b, id);
    struct task_id later = stand_create(&b.stand, "t0");
    CHECK_EQ(stand_task(&b.stand, later).task.state, TASK_QUEUED);
}

TEST(what_does_not_end_in_time_is_given_back_without_using_a_retry)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, &(struct bench_options){.paths = {"/hold"}, .grace_ms = 1});
    struct task_id id = stand_create(&b.stand, "t0", .max_retries = 3);
    endpoint_until_held(&b.endpoint, 1);
    workforce_quiet(b.stand.work);
    stand_rested(&b.stand);
    endpoint_until_left(&b.endpoint, 1);
    struct task_detail detail = stand_task(&b.stand, id);
    CHECK_EQ(detail.task.state, TASK_QUEUED);
    CHECK_EQ(detail.task.retries, 0);
    CHECK_EQ(detail.attempts[0].outcome, OUTCOME_RELEASED);
}

/* ---- Configuration ---- */

TEST(a_handler_that_cannot_work_is_refused_by_name)
{
    static const struct push_handler bad[] = {
        {.type = {"t", 1}, .url = {"ftp://example.org/", 18}},
        {.type = {"t", 1}, .url = {"example.org", 11}},
        {.type = {"t", 1}, .url = {"http://me:pw@example.org/", 25}},
        {.type = {"t", 1}, .url = {"http://example.org/", 19}, .secrets = {"secret", 6}},
        {.type = {"t", 1}, .url = {"http://example.org/", 19}, .authorization = {"a\r\nb", 4}},
        {.type = {"t", 1}, .url = {"http://example.org/", 19}, .cloudevents = {"a/b", 3}},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = ERR_INIT;
        struct workforce *work = workforce_new();
        const struct workforce_options options = {
            .push = {.handlers = &bad[i], .handlers_count = 1, .concurrency = 1, .per_host = 1}};
        CHECK(!workforce_start(work, &options, &err));
        workforce_free(work);
        CHECK(strncmp(err.text, "[handler.t]", 11) == 0);
    }
}
