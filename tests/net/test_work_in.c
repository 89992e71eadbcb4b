/* tests/net/test_work_in.c: what workers say, out of JSON.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "net/work_in.h"

#include "test.h"

#define ID    "0192f3a0-0000-7000-8000-000000000001"
#define LEASE "\"lease\":\"1-00000000000000ff\""

struct bench {
    struct arena arena;
    struct json json;
    struct err err;
    struct claim_in in;
    struct command_heartbeat beat;
    struct finish finish;
    struct command_finish finishes;
};

static void bench_fini(struct bench *b)
{
    arena_fini(&b->arena);
}

static void begin(struct bench *b, const char *text)
{
    b->err = ERR_INIT;
    json_start(&b->json, str_of(text), &b->arena);
}

static bool claim(struct bench *b, const char *text)
{
    begin(b, text);
    return claim_read(&b->json, &b->in, &b->err) && json_end(&b->json, &b->err);
}

static bool beat(struct bench *b, const char *text)
{
    begin(b, text);
    b->beat = (struct command_heartbeat){0};
    return heartbeat_read(&b->json, &b->beat, &b->err) && json_end(&b->json, &b->err);
}

static bool finish(struct bench *b, enum task_outcome outcome, const char *text)
{
    begin(b, text);
    b->finish = (struct finish){.outcome = outcome};
    return finish_read(&b->json, &b->finish, &b->err) && json_end(&b->json, &b->err);
}

static bool finishes(struct bench *b, const char *text)
{
    begin(b, text);
    return finishes_read(&b->json, &b->finishes, &b->err) && json_end(&b->json, &b->err);
}

/* ---- Claims ---- */

TEST(a_claim_of_nothing_but_a_worker_has_the_defaults)
{
    SCOPED(bench_fini) struct bench b = {0};

    CHECK(claim(&b, "{\"workerId\":\"w\"}"));
    CHECK_STR(b.in.claim.worker, "w");
    CHECK_EQ(b.in.claim.max, 1);
    CHECK_EQ(b.in.claim.lease_ms, 60000);
    CHECK_EQ(b.in.claim.wait_ms, 0);
    CHECK(!b.in.claim.wait);
    CHECK_EQ(b.in.claim.types_count, 0);
    CHECK_EQ(b.in.claim.queues_count, 0);
}

TEST(a_claim_names_types_and_queues)
{
    SCOPED(bench_fini) struct bench b = {0};

    CHECK(claim(&b, "{\"workerId\":\"w\",\"taskTypes\":[\"a\",\"b\"],\"queues\":[\"q\"],\"max\":9,"
                    "\"waitMs\":60000,\"leaseMs\":1000}"));
    CHECK_EQ(b.in.claim.types_count, 2);
    CHECK_STR(b.in.claim.types[1], "b");
    CHECK_STR(b.in.claim.queues[0], "q");
    CHECK_EQ(b.in.claim.max, 9);
    CHECK(b.in.claim.wait);
    CHECK_EQ(b.in.claim.wait_ms, 60000);
    CHECK_EQ(b.in.claim.lease_ms, 1000);
}

TEST(every_bad_claim_is_refused_with_its_field)
{
    static const char *const bad[][2] = {
        {"{}", "workerId"},
        {"{\"workerId\":\"\"}", "workerId"},
        {"{\"workerId\":7}", "workerId"},
        {"{\"workerId\":\"errand:run:1\"}", "workerId"},
        {"{\"workerId\":\"a\\nb\"}", "workerId"},
        {"{\"workerId\":\"w\",\"max\":0}", "max"},
        {"{\"workerId\":\"w\",\"max\":1001}", "max"},
        {"{\"workerId\":\"w\",\"waitMs\":60001}", "waitMs"},
        {"{\"workerId\":\"w\",\"waitMs\":-1}", "waitMs"},
        {"{\"workerId\":\"w\",\"leaseMs\":999}", "leaseMs"},
        {"{\"workerId\":\"w\",\"leaseMs\":86400001}", "leaseMs"},
        {"{\"workerId\":\"w\",\"taskTypes\":\"a\"}", "taskTypes"},
        {"{\"workerId\":\"w\",\"taskTypes\":[\"\"]}", "taskTypes"},
        {"{\"workerId\":\"w\",\"queues\":[\"a b\"]}", "queues"},
        {"{\"workerId\":\"w\",\"queues\":[5]}", "queues"},
        {"{\"workerId\":\"w\",\"queue\":\"q\"}", "queue"},
        {"[]", ""},
    };
    SCOPED(bench_fini) struct bench b = {0};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK(!claim(&b, bad[i][0]));
        CHECK_EQ(b.err.kind, ERR_INVALID);
        CHECK_STR(str_of(b.err.field), bad[i][1]);
    }
}

/* ---- Heartbeats ---- */

TEST(a_heartbeat_of_nothing_but_a_lease_asks_for_the_claims_extension)
{
    SCOPED(bench_fini) struct bench b = {0};

    CHECK(beat(&b, "{" LEASE "}"));
    CHECK_EQ(b.beat.lease.attempt, 1);
    CHECK_EQ(b.beat.lease.token, 255);
    CHECK_EQ(b.beat.extend_ms, -1);
    CHECK(b.beat.progress < 0);
    CHECK(str_absent(b.beat.log));
}

TEST(log_lines_come_as_a_text_or_as_texts_and_each_ends)
{
    SCOPED(bench_fini) struct bench b = {0};

    CHECK(beat(&b, "{" LEASE ",\"log\":\"one\\ntwo\"}"));
    CHECK_STR(b.beat.log, "one\ntwo\n");
    CHECK(beat(&b, "{" LEASE ",\"log\":[\"one\",\"two\\n\"],\"progress\":{\"percent\":50.5,"
                   "\"message\":\"half\"},\"extendMs\":5000}"));
    CHECK_STR(b.beat.log, "one\ntwo\n");
    CHECK(b.beat.progress == 50.5);
    CHECK_STR(b.beat.message, "half");
    CHECK_EQ(b.beat.extend_ms, 5000);
}

TEST(a_lease_that_is_none_of_ours_is_one_that_nobody_has)
{
    SCOPED(bench_fini) struct bench b = {0};

    CHECK(beat(&b, "{\"lease\":\"nonsense\"}"));
    CHECK_EQ(b.beat.lease.attempt, -1);
    CHECK(finish(&b, OUTCOME_COMPLETED, "{\"lease\":\"\"}"));
    CHECK_EQ(b.finish.lease.attempt, -1);
}

TEST(every_bad_heartbeat_is_refused_with_its_field)
{
    static const char *const bad[][2] = {
        {"{}", "lease"},
        {"{\"lease\":5}", "lease"},
        {"{\"lease\":null}", "lease"},
        {"{" LEASE ",\"progress\":50}", "progress"},
        {"{" LEASE ",\"progress\":{\"percent\":101}}", "progress.percent"},
        {"{" LEASE ",\"progress\":{\"percent\":\"5\"}}", "progress.percent"},
        {"{" LEASE ",\"progress\":{\"x\":5}}", "progress.x"},
        {"{" LEASE ",\"log\":5}", "log"},
        {"{" LEASE ",\"log\":[5]}", "log"},
        {"{" LEASE ",\"extendMs\":999}", "extendMs"},
        {"{" LEASE ",\"result\":1}", "result"},
    };
    SCOPED(bench_fini) struct bench b = {0};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK(!beat(&b, bad[i][0]));
        CHECK_STR(str_of(b.err.field), bad[i][1]);
    }
}

/* ---- Endings ---- */

TEST(a_completion_keeps_the_result_byte_for_byte)
{
    SCOPED(bench_fini) struct bench b = {0};

    CHECK(finish(&b, OUTCOME_COMPLETED,
                 "{" LEASE ",\"result\": {\"a\":  1e2} ,\"cost\":"
                 "{\"actual\":1,\"tokens\":20}}"));
    CHECK_STR(b.finish.result, "{\"a\":  1e2}");
    CHECK(b.finish.cost.tokens == 20 && b.finish.cost.estimated < 0);
    CHECK(str_absent(b.finish.error.code));
}

TEST(an_error_is_a_text_or_an_object_or_nothing)
{
    SCOPED(bench_fini) struct bench b = {0};

    CHECK(finish(&b, OUTCOME_FAILED, "{" LEASE ",\"error\":\"boom\"}"));
    CHECK_STR(b.finish.error.message, "boom");
    CHECK_STR(b.finish.error.code, "failed");
    CHECK(b.finish.retry);
    CHECK(finish(&b, OUTCOME_FAILED,
                 "{" LEASE ",\"retry\":false,\"error\":{\"code\":\"E1\","
                 "\"message\":\"m\",\"detail\":[1]}}"));
    CHECK_STR(b.finish.error.code, "E1");
    CHECK_STR(b.finish.error.detail, "[1]");
    CHECK(!b.finish.retry);
    CHECK(finish(&b, OUTCOME_FAILED, "{" LEASE "}"));
    CHECK_STR(b.finish.error.code, "failed");
}

TEST(each_ending_takes_its_own_fields_only)
{
    static const struct {
        enum task_outcome outcome;
        const char *body, *field;
    } bad[] = {
        {OUTCOME_COMPLETED, "{}", "lease"},
        {OUTCOME_COMPLETED, "{" LEASE ",\"error\":\"x\"}", "error"},
        {OUTCOME_COMPLETED, "{" LEASE ",\"cost\":{\"usd\":1}}", "cost.usd"},
        {OUTCOME_FAILED, "{" LEASE ",\"result\":1}", "result"},
        {OUTCOME_FAILED, "{" LEASE ",\"error\":5}", "error"},
        {OUTCOME_FAILED, "{" LEASE ",\"error\":{\"code\":5}}", "error.code"},
        {OUTCOME_FAILED, "{" LEASE ",\"retry\":\"no\"}", "retry"},
        {OUTCOME_RELEASED, "{" LEASE ",\"delayMs\":-1}", "delayMs"},
        {OUTCOME_RELEASED, "{" LEASE ",\"retry\":true}", "retry"},
    };
    SCOPED(bench_fini) struct bench b = {0};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK(!finish(&b, bad[i].outcome, bad[i].body));
        CHECK_EQ(b.err.kind, ERR_INVALID);
        CHECK_STR(str_of(b.err.field), bad[i].field);
    }
}

TEST(a_result_over_a_megabyte_is_too_large)
{
    SCOPED(bench_fini) struct bench b = {0};
    SCOPED(buf_fini) struct buf body = BUF_INIT(4 * MIB);
    buf_c(&body, "{" LEASE ",\"result\":\"");
    for (size_t i = 0; i < MIB; i += 64) {
        buf_c(&body, "0123456789012345678901234567890123456789012345678901234567890123");
    }
    buf_c(&body, "\"}");

    CHECK(!finish(&b, OUTCOME_COMPLETED, buf_c_text(&body)));
    CHECK_EQ(b.err.kind, ERR_TOO_LARGE);
    CHECK_STR(str_of(b.err.field), "result");
}

TEST(many_endings_come_in_one_array)
{
    SCOPED(bench_fini) struct bench b = {0};

    CHECK(finishes(&b, "[{\"id\":\"" ID "\"," LEASE ",\"outcome\":\"complete\",\"result\":1},"
                       "{\"id\":\"" ID "\"," LEASE ",\"outcome\":\"fail\",\"error\":\"x\"},"
                       "{\"outcome\":\"release\",\"delayMs\":5,\"id\":\"" ID "\"," LEASE "}]"));
    CHECK_EQ(b.finishes.count, 3);
    CHECK_EQ(b.finishes.items[0].outcome, OUTCOME_COMPLETED);
    CHECK_STR(b.finishes.items[1].error.message, "x");
    CHECK_EQ(b.finishes.items[2].delay_ms, 5);
    CHECK(str_absent(b.finishes.items[2].error.code));
    CHECK(finishes(&b, "[]"));
    CHECK_EQ(b.finishes.count, 0);
}

TEST(one_malformed_ending_refuses_them_all)
{
    static const char *const bad[][2] = {
        {"{}", ""},
        {"[1]", "[0]"},
        {"[{" LEASE ",\"outcome\":\"complete\"}]", "[0].id"},
        {"[{\"id\":\"x\"," LEASE ",\"outcome\":\"complete\"}]", "[0].id"},
        {"[{\"id\":\"" ID "\",\"outcome\":\"complete\"}]", "[0].lease"},
        {"[{\"id\":\"" ID "\"," LEASE "}]", "[0].outcome"},
        {"[{\"id\":\"" ID "\"," LEASE ",\"outcome\":\"done\"}]", "[0].outcome"},
        {"[{\"id\":\"" ID "\"," LEASE ",\"outcome\":\"fail\",\"result\":1}]", "[0].result"},
        {"[{\"id\":\"" ID "\"," LEASE ",\"outcome\":\"complete\",\"x\":1}]", "[0].x"},
    };
    SCOPED(bench_fini) struct bench b = {0};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK(!finishes(&b, bad[i][0]));
        CHECK_EQ(b.err.kind, ERR_INVALID);
        CHECK_STR(str_of(b.err.field), bad[i][1]);
    }
}

TEST(a_claim_may_bring_endings_along)
{
    static const char *const bad[][2] = {
        {"5", "finish"},
        {"null", "finish"},
        {"[1]", "finish[0]"},
        {"[{\"id\":\"" ID "\",\"outcome\":\"complete\"}]", "finish[0].lease"},
        {"[{\"id\":\"" ID "\"," LEASE ",\"outcome\":\"fail\",\"result\":1}]", "finish[0].result"},
    };
    SCOPED(bench_fini) struct bench b = {0};
    CHECK(claim(&b, "{\"workerId\":\"w\",\"finish\":[{\"id\":\"" ID "\"," LEASE
                    ",\"outcome\":\"complete\"}]}"));
    CHECK(b.in.finishes);
    CHECK_EQ(b.in.claim.finish.count, 1);
    CHECK(claim(&b, "{\"workerId\":\"w\"}"));
    CHECK(!b.in.finishes);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char body[512];
        snprintf(body, sizeof body, "{\"workerId\":\"w\",\"finish\":%s}", bad[i][0]);
        CHECK(!claim(&b, body));
        CHECK_EQ(b.err.kind, ERR_INVALID);
        CHECK_STR(str_of(b.err.field), bad[i][1]);
    }
}

TEST(a_claim_with_too_many_endings_names_the_field)
{
    SCOPED(bench_fini) struct bench b = {0};
    SCOPED(buf_fini) struct buf body = BUF_INIT(MIB);
    buf_c(&body, "{\"workerId\":\"w\",\"finish\":[");
    for (int i = 0; i <= FINISH_MAX; i++) {
        buf_c(&body, i == 0 ? "" : ",");
        buf_c(&body, "{\"id\":\"" ID "\"," LEASE ",\"outcome\":\"complete\"}");
    }
    buf_c(&body, "]}");
    CHECK(!claim(&b, buf_c_text(&body)));
    CHECK_STR(str_of(b.err.field), "finish");
}
