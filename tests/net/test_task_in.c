/* tests/net/test_task_in.c: orders and changes out of JSON: what is taken, what is refused, and
 * which field is blamed.
 *
 * SPDX-License-Identifier: MIT */
#include "net/task_in.h"

#include "test.h"

#define PAYLOAD_MAX 64

struct bench {
    struct arena arena;
    struct create_in in;
    struct err err;
};
#define BENCH_INIT ((struct bench){.err = ERR_INIT})

static void bench_fini(struct bench *b)
{
    arena_fini(&b->arena);
}

static bool bench_read(struct bench *b, const char *text)
{
    struct json json;
    b->err = ERR_INIT;
    json_start(&json, str_of(text), &b->arena);
    return create_read(&json, PAYLOAD_MAX, &b->in, &b->err) && json_end(&json, &b->err);
}

static const struct task *bench_task(struct bench *b, const char *text)
{
    bool ok = bench_read(b, text);
    if (!ok) {
        print_message("%s\n", b->err.text);
    }
    CHECK(ok);
    CHECK_EQ(b->in.count, 1);
    return &b->in.orders[0].task;
}

TEST(an_order_of_nothing_but_a_type_has_the_defaults)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    const struct task *task = bench_task(&b, "{\"taskType\":\"mail\"}");

    CHECK_STR(task->type, "mail");
    CHECK_STR(task->queue, "default");
    CHECK_EQ(task->priority, TASK_NORMAL);
    CHECK_EQ(task->max_retries, 3);
    CHECK_EQ(task->timeout_ms, 300000);
    CHECK_EQ(task->backoff.base_ms, 5000);
    CHECK_EQ(task->backoff.max_ms, 3600000);
    CHECK(task->backoff.factor == 5 && task->backoff.jitter == 0);
    CHECK_EQ(b.in.orders[0].delay_ms, -1);
    CHECK(str_absent(task->payload) && str_absent(task->document) && str_absent(task->key));
    CHECK(task->cost.estimated < 0 && task->progress < 0);
    CHECK(!b.in.many);
}

TEST(every_field_of_an_order_arrives)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    const struct task *task = bench_task(
        &b,
        "{\"taskType\":\"a\",\"queue\":\"q/1\",\"documentId\":\"d\",\"payload\": {\"a\" : 1.0 },"
        "\"priority\":\"HIGH\",\"maxRetries\":0,\"timeoutMs\":0,\"idempotencyKey\":\"k\","
        "\"backoff\":{\"baseMs\":1,\"factor\":1.5,\"maxMs\":9,\"jitter\":0.5},"
        "\"scheduledAt\":\"2027-03-01T09:00:00Z\",\"expiresAt\":\"2027-03-01T10:00:00+01:00\","
        "\"tags\":[\"x\",\"y\"],\"metadata\":{\"m\":[1, 2]},\"cost\":{\"estimated\":2.5}}");

    CHECK_STR(task->queue, "q/1");
    CHECK_STR(task->document, "d");
    CHECK_STR(task->payload, "{\"a\" : 1.0 }");
    CHECK_EQ(task->priority, TASK_HIGH);
    CHECK_EQ(task->max_retries, 0);
    CHECK_EQ(task->timeout_ms, 0);
    CHECK_STR(task->key, "k");
    CHECK_EQ(task->backoff.max_ms, 9);
    CHECK_EQ(task->scheduled_ms, INT64_C(1803891600000));
    CHECK_EQ(task->expires_ms, INT64_C(1803891600000));
    CHECK_EQ(task->tags_count, 2);
    CHECK_STR(task->tags[1], "y");
    CHECK_STR(task->metadata, "{\"m\":[1, 2]}");
    CHECK(task->cost.estimated == 2.5 && task->cost.actual < 0);
}

TEST(a_backoff_given_in_part_keeps_the_other_defaults)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    const struct task *task = bench_task(&b, "{\"taskType\":\"a\",\"backoff\":{\"baseMs\":7}}");

    CHECK_EQ(task->backoff.base_ms, 7);
    CHECK(task->backoff.factor == 5);
}

TEST(priorities_have_names_and_numbers)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;

    CHECK_EQ(bench_task(&b, "{\"taskType\":\"a\",\"priority\":4}")->priority, TASK_CRITICAL);
    CHECK_EQ(bench_task(&b, "{\"taskType\":\"a\",\"priority\":1}")->priority, TASK_LOW);
    CHECK_EQ(bench_task(&b, "{\"taskType\":\"a\",\"priority\":\"CRITICAL\"}")->priority,
             TASK_CRITICAL);
}

TEST(raw_bytes_come_as_base64)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    const struct task *task = bench_task(&b, "{\"taskType\":\"a\",\"payloadBase64\":\"aGk=\"}");

    CHECK(task->payload_raw);
    CHECK_STR(task->payload, "hi");
}

TEST(null_means_absent_where_something_may_be_absent)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    const struct task *task = bench_task(
        &b, "{\"taskType\":\"a\",\"documentId\":null,\"idempotencyKey\":null,\"scheduledAt\":null,"
            "\"delayMs\":null,\"expiresAt\":null,\"tags\":null,\"metadata\":null,\"cost\":null,"
            "\"payload\":null}");

    CHECK(str_absent(task->document) && str_absent(task->key) && str_absent(task->metadata));
    CHECK_EQ(task->scheduled_ms, 0);
    CHECK_EQ(b.in.orders[0].delay_ms, -1);
    CHECK_STR(task->payload, "null"); /* null is a payload like any other */
}

TEST(many_orders_come_as_an_array_or_under_tasks)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;

    CHECK(bench_read(&b, "[{\"taskType\":\"a\"},{\"taskType\":\"b\",\"delayMs\":5}]"));
    CHECK(b.in.many);
    CHECK_EQ(b.in.count, 2);
    CHECK_EQ(b.in.orders[1].delay_ms, 5);
    CHECK(bench_read(&b, "{\"tasks\":[{\"taskType\":\"a\"}]}"));
    CHECK(b.in.many);
    CHECK(bench_read(&b, "[]"));
    CHECK_EQ(b.in.count, 0);
}

TEST(a_thousand_orders_are_taken_and_one_more_is_not)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    for (int i = 0; i < CREATE_MAX; i++) {
        buf_printf(&text, "%s{\"taskType\":\"t%d\"}", i == 0 ? "[" : ",", i);
    }
    size_t fits = text.len;
    buf_char(&text, ']');

    CHECK(bench_read(&b, buf_c_text(&text)));
    CHECK_EQ(b.in.count, CREATE_MAX);
    CHECK_STR(b.in.orders[999].task.type, "t999");
    text.len = fits;
    buf_c(&text, ",{\"taskType\":\"x\"}]");
    CHECK(!bench_read(&b, buf_c_text(&text)));
    CHECK_STR(str_of(b.err.field), "tasks");
}

#define TYPED(rest) "{\"taskType\":\"a\"," rest "}"

static const struct refusal {
    const char *body, *field;
    enum err_kind kind;
} refusals[] = {
    {"{}", "taskType", ERR_INVALID},
    {"7", "", ERR_INVALID},
    {"{\"taskType\":\"\"}", "taskType", ERR_INVALID},
    {"{\"taskType\":5}", "taskType", ERR_INVALID},
    {"{\"taskType\":null}", "taskType", ERR_INVALID},
    {"{\"taskType\":\"a\\u0007\"}", "taskType", ERR_INVALID},
    {TYPED("\"taskType\":\"a\""), "taskType", ERR_INVALID},
    {TYPED("\"queue\":\"a b\""), "queue", ERR_INVALID},
    {TYPED("\"queue\":null"), "queue", ERR_INVALID},
    {TYPED("\"documentId\":\"\""), "documentId", ERR_INVALID},
    {TYPED("\"documentId\":1"), "documentId", ERR_INVALID},
    {TYPED("\"documentId\":\"a\\u0000b\""), "documentId", ERR_INVALID},
    {TYPED("\"tags\":[\"\\u0000\"]"), "tags", ERR_INVALID},
    {TYPED("\"priority\":\"URGENT\""), "priority", ERR_INVALID},
    {TYPED("\"priority\":\"high\""), "priority", ERR_INVALID},
    {TYPED("\"priority\":\"3\""), "priority", ERR_INVALID},
    {TYPED("\"priority\":5"), "priority", ERR_INVALID},
    {TYPED("\"priority\":0"), "priority", ERR_INVALID},
    {TYPED("\"priority\":2.0"), "priority", ERR_INVALID},
    {TYPED("\"priority\":null"), "priority", ERR_INVALID},
    {TYPED("\"maxRetries\":101"), "maxRetries", ERR_INVALID},
    {TYPED("\"maxRetries\":-1"), "maxRetries", ERR_INVALID},
    {TYPED("\"maxRetries\":\"3\""), "maxRetries", ERR_INVALID},
    {TYPED("\"maxRetries\":1.5"), "maxRetries", ERR_INVALID},
    {TYPED("\"timeoutMs\":-1"), "timeoutMs", ERR_INVALID},
    {TYPED("\"timeoutMs\":9999999999999999"), "timeoutMs", ERR_INVALID},
    {TYPED("\"backoff\":5"), "backoff", ERR_INVALID},
    {TYPED("\"backoff\":{\"baseMs\":-1}"), "backoff.baseMs", ERR_INVALID},
    {TYPED("\"backoff\":{\"factor\":0}"), "backoff.factor", ERR_INVALID},
    {TYPED("\"backoff\":{\"jitter\":2}"), "backoff.jitter", ERR_INVALID},
    {TYPED("\"backoff\":{\"x\":2}"), "backoff.x", ERR_INVALID},
    {TYPED("\"scheduledAt\":\"tomorrow\""), "scheduledAt", ERR_INVALID},
    {TYPED("\"scheduledAt\":1803891600000"), "scheduledAt", ERR_INVALID},
    {TYPED("\"scheduledAt\":\"1969-01-01T00:00:00Z\""), "scheduledAt", ERR_INVALID},
    {TYPED("\"delayMs\":-5"), "delayMs", ERR_INVALID},
    {TYPED("\"delayMs\":5,\"scheduledAt\":\"2027-03-01T09:00:00Z\""), "delayMs", ERR_INVALID},
    {TYPED("\"expiresAt\":true"), "expiresAt", ERR_INVALID},
    {TYPED("\"idempotencyKey\":\"\""), "idempotencyKey", ERR_INVALID},
    {TYPED("\"tags\":\"x\""), "tags", ERR_INVALID},
    {TYPED("\"tags\":[1]"), "tags", ERR_INVALID},
    {TYPED("\"tags\":[\"\"]"), "tags", ERR_INVALID},
    {TYPED("\"tags\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10\",\"11\",\"12\","
           "\"13\",\"14\",\"15\",\"16\",\"17\"]"),
     "tags", ERR_INVALID},
    {TYPED("\"metadata\":[]"), "metadata", ERR_INVALID},
    {TYPED("\"cost\":{\"tokens\":-1}"), "cost.tokens", ERR_INVALID},
    {TYPED("\"cost\":3"), "cost", ERR_INVALID},
    {TYPED("\"payloadBase64\":\"a\""), "payloadBase64", ERR_INVALID},
    {TYPED("\"payload\":1,\"payloadBase64\":\"aGk=\""), "payloadBase64", ERR_INVALID},
    {TYPED("\"payload\":\"0123456789012345678901234567890123456789012345678901234567890123\""),
     "payload", ERR_TOO_LARGE},
    {TYPED("\"children\":[]"), "children", ERR_INVALID},
    {TYPED("\"children\":5"), "children", ERR_INVALID},
    {TYPED("\"children\":[{}]"), "children[0].taskType", ERR_INVALID},
    {TYPED("\"children\":[{\"taskType\":\"b\",\"idempotencyKey\":\"k\"}]"),
     "children[0].idempotencyKey", ERR_INVALID},
    {"{\"taskType\":\"a\",\"documentId\":\"d\",\"children\":[{\"taskType\":\"b\","
     "\"documentId\":\"e\"}]}",
     "children[0].documentId", ERR_INVALID},
    {TYPED("\"dependsOn\":5"), "dependsOn", ERR_INVALID},
    {TYPED("\"dependsOn\":[\"nobody\"]"), "dependsOn", ERR_INVALID},
    {TYPED("\"onChildFailure\":\"maybe\""), "onChildFailure", ERR_INVALID},
    {TYPED("\"onDependencyFailure\":true"), "onDependencyFailure", ERR_INVALID},
    {"[{\"taskType\":\"a\",\"ref\":\"x\"},{\"taskType\":\"a\",\"ref\":\"x\"}]", "ref", ERR_INVALID},
    {TYPED("\"externalId\":\"x\""), "externalId", ERR_INVALID},
    {TYPED("\"id\":\"x\""), "id", ERR_INVALID},
    {TYPED("\"state\":\"QUEUED\""), "state", ERR_INVALID},
    {TYPED("\"tasks\":[]"), "tasks", ERR_INVALID},
    {"{\"tasks\":[],\"taskType\":\"a\"}", "taskType", ERR_INVALID},
    {"{\"tasks\":5}", "tasks", ERR_INVALID},
    {"[{\"taskType\":\"a\"},5]", "[1]", ERR_INVALID},
    {"[{\"taskType\":\"a\"},{}]", "[1].taskType", ERR_INVALID},
    {"[{\"taskType\":\"a\"},{\"taskType\":\"b\",\"priority\":9}]", "[1].priority", ERR_INVALID},
    {"[{\"taskType\":\"a\",\"backoff\":{\"factor\":0}}]", "[0].backoff.factor", ERR_INVALID},
    {"[{\"taskType\":\"a\",\"nope\":1}]", "[0].nope", ERR_INVALID},
    {"{\"taskType\":\"a\"} x", "", ERR_INVALID},
    {"{\"taskType\":\"a\"", "", ERR_INVALID},
    {"", "", ERR_INVALID},
};

TEST(every_bad_order_is_refused_with_its_field)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        bool taken = bench_read(&b, refusals[i].body);
        if (taken || strcmp(b.err.field, refusals[i].field) != 0) {
            print_message("%s gave \"%s\": %s\n", refusals[i].body, b.err.field, b.err.text);
        }
        CHECK(!taken);
        CHECK_EQ(b.err.kind, refusals[i].kind);
        CHECK_STR(str_of(b.err.field), refusals[i].field);
        CHECK(b.err.text[0] != '\0');
    }
}

TEST(a_message_begins_with_the_whole_name_of_its_field)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;

    CHECK(!bench_read(&b, "[{\"taskType\":\"a\",\"priority\":9}]"));
    CHECK_STR(str_of(b.err.text),
              "[0].priority must be one of CRITICAL, HIGH, NORMAL, LOW (or 4, 3, 2, 1)");
}

/* ---- Names ---- */

TEST(what_is_named_twice_is_needed_once_and_the_order_stays)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    CHECK(bench_read(&b, "[{\"taskType\":\"a\",\"dependsOn\":[\"z\",\"y\","
                         "\"0192F3A0-0000-7000-8000-0000000000AB\",\"z\",\"y\",\"x\","
                         "\"0192f3a0-0000-7000-8000-0000000000ab\",\"x\"]},"
                         "{\"taskType\":\"b\",\"ref\":\"x\"},{\"taskType\":\"b\",\"ref\":\"y\"},"
                         "{\"taskType\":\"b\",\"ref\":\"z\"}]"));
    const struct order *order = &b.in.orders[0];
    CHECK_EQ(order->needs_count, 4);
    CHECK_EQ(order->needs[0].order, 4);
    CHECK_EQ(order->needs[1].order, 3);
    CHECK_EQ(order->needs[2].order, 0);
    CHECK_EQ(order->needs[2].id.lo & 0xFF, 0xAB);
    CHECK_EQ(order->needs[3].order, 2);
}

/* So many tasks, each with the names of those behind it, round and round. */
static bool read_names(struct bench *b, size_t tasks, size_t names)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(64 * MIB);
    for (size_t i = 0; i < tasks; i++) {
        buf_printf(&body, "%s{\"taskType\":\"a\",\"ref\":\"r%zu\",\"dependsOn\":[",
                   i == 0 ? "[" : ",", i);
        for (size_t j = 0; j < names; j++) {
            buf_printf(&body, "%s\"r%zu\"", j == 0 ? "" : ",", (i + j + 1) % tasks);
        }
        buf_c(&body, "]}");
    }
    buf_c(&body, "]");
    return bench_read(b, buf_c_text(&body));
}

TEST(as_many_names_as_may_be_are_resolved_and_one_more_is_refused)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    CHECK(read_names(&b, 1000, 20));
    CHECK_EQ(b.in.count, 1000);
    CHECK_EQ(b.in.orders[7].needs_count, 20);
    CHECK_EQ(b.in.orders[7].needs[0].order, 9);
    CHECK(!read_names(&b, 953, 21));
    CHECK_STR(str_of(b.err.field), "[952].dependsOn");
    CHECK(!read_names(&b, 1, 1001));
    CHECK_STR(str_of(b.err.field), "[0].dependsOn");
}

/* ---- Changes ---- */

static bool read_patch(const char *text, struct task *to, uint64_t *given, struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct json json;
    *given = 0;
    json_start(&json, str_of(text), &arena);
    return form_read_for(FORM_CHANGE, &json, &task_form, to, given, NULL, err) &&
           json_end(&json, err);
}

TEST(a_change_says_which_fields_it_has)
{
    struct err err = ERR_INIT;
    struct task to;
    uint64_t given;

    CHECK_OK(read_patch("{\"priority\":\"LOW\",\"timeoutMs\":5}", &to, &given, &err));
    CHECK(given == (TASK_BIT(priority) | TASK_BIT(timeout_ms)));
    CHECK_EQ(to.priority, TASK_LOW);
    CHECK_EQ(to.timeout_ms, 5);
}

TEST(a_change_of_anything_else_is_refused)
{
    static const char *const bad[][2] = {{"{\"queue\":\"x\"}", "queue"},
                                         {"{\"scheduledAt\":null}", "scheduledAt"},
                                         {"{\"maxRetries\":101}", "maxRetries"},
                                         {"{\"timeoutMs\":\"5\"}", "timeoutMs"},
                                         {"{\"priority\":\"x\"}", "priority"}};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = ERR_INIT;
        struct task to;
        uint64_t given;
        CHECK(!read_patch(bad[i][0], &to, &given, &err));
        CHECK_STR(str_of(err.field), bad[i][1]);
    }
}
