/* tests/client/test_llm.c: questions to a server that speaks the protocol, and to one that does not
 * behave.
 *
 * SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "base/buf.h"
#include "client/llm.h"
#include "standin.h"
#include "test.h"

#define KEY "sk-secret-4711"

struct bench {
    struct standin server;
    struct llm *llm;
    struct arena arena;
    struct buf heard;
    struct llm_answer answer;
    struct llm_cost cost;
    struct err err;
    int stop[2];
    int hang_up_after; /* pieces until the listener wants no more; 0: never */
};

static void bench_open(struct bench *b, struct llm_limits limits)
{
    *b = (struct bench){.heard = BUF_INIT(MIB), .arena = ARENA_INIT};
    struct err err = ERR_INIT;
    limits.wait_ms = 1; /* nobody watches */
    standin_open(&b->server, "llm.py", NULL);
    assert_int_equal(pipe(b->stop), 0);
    CHECK_OK(llm_open(&(struct llm_options){.base_url = standin_word(&b->server, "on"),
                                            .model = STR("small"),
                                            .api_key = STR(KEY),
                                            .limits = limits},
                      &b->llm, &err));
}

static void bench_close(struct bench *b)
{
    llm_close(b->llm);
    standin_close(&b->server);
    close(b->stop[0]);
    close(b->stop[1]);
    buf_fini(&b->heard);
    arena_fini(&b->arena);
}

static void hear(void *arg, struct str piece)
{
    struct bench *b = arg;
    buf_str(&b->heard, piece);
    buf_char(&b->heard, '|');
    if (b->hang_up_after > 0 && --b->hang_up_after == 0) {
        assert_int_equal(write(b->stop[1], "", 1), 1);
    }
}

static bool ask(struct bench *b, struct llm_question question)
{
    struct llm_message hello = {LLM_USER, STR("Hello there")};
    question.messages = &hello;
    question.count = 1;
    question.arg = b;
    b->cost = (struct llm_cost){0};
    return llm_ask(b->llm, &question, &b->arena, &b->answer, &b->cost, &b->err);
}

#define PLAIN    ((struct llm_question){.limit_ms = 0})
#define STREAMED ((struct llm_question){.on_text = hear})
#define OBJECT                                                                                     \
    ((struct llm_question){                                                                        \
        .schema = STR("{\"type\":\"object\",\"properties\":{\"mode\":{\"enum\":[\"REFUSAL\"]}}}"), \
        .schema_name = "decision"})

#define CHECK_ASKED(b, question)                                                                   \
    test_check_ok(ask((b), (question)), &(b)->err, "ask", __FILE__, __LINE__)

/* Fails with this kind, after so many requests, with a text that begins so. */
static void check_fails(struct bench *b, struct llm_question question, enum err_kind kind,
                        int64_t requests, const char *text)
{
    CHECK(!ask(b, question));
    struct str said = str_of(b->err.text);
    said.len = MIN(said.len, strlen(text));
    CHECK_STR(said, text);
    CHECK_EQ(b->err.kind, kind);
    CHECK_EQ(b->cost.requests, requests);
}

/* ---- Servers that behave ---- */

TEST(a_question_is_answered_and_counted)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){0});
    CHECK_ASKED(&b, PLAIN);
    CHECK_STR(b.answer.content, "You said: Hello there");
    CHECK(!b.answer.cut_off);
    CHECK_EQ(b.cost.queries, 1);
    CHECK_EQ(b.cost.requests, 1);
    CHECK_EQ(b.cost.prompt_tokens, 11);
    CHECK_EQ(b.cost.completion_tokens, 7);
    CHECK_EQ(b.cost.total_tokens, 18);
}

TEST(the_server_is_asked_as_the_protocol_says)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){0});
    CHECK_ASKED(&b, OBJECT);
    CHECK_STR(b.answer.content, "{\"mode\": \"REFUSAL\"}");
    CHECK_STR(standin_entry_text(&b.server, 0, "path"), "/v1/chat/completions");
    CHECK_STR(standin_entry_text(&b.server, 0, "headers.Authorization"), "Bearer " KEY);
    CHECK_STR(standin_entry_text(&b.server, 0, "headers.Content-Type"), "application/json");
    CHECK_STR(standin_entry_text(&b.server, 0, "body.model"), "small");
    CHECK_STR(standin_entry_text(&b.server, 0, "body.response_format.json_schema.name"),
              "decision");
    CHECK(str_absent(standin_entry(&b.server, 0, "body.stream")));
}

TEST(a_streamed_answer_comes_in_pieces_and_is_there_as_a_whole)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){0});
    standin_script(&b.server, "[{\"pieces\":[\"One \",\"tw\",\"ö.\"]}]");
    CHECK_ASKED(&b, STREAMED);
    CHECK_STR(buf_view(&b.heard), "One |tw|ö.|");
    CHECK_STR(b.answer.content, "One twö.");
    CHECK_EQ(b.cost.total_tokens, 18);
    CHECK_STR(standin_entry(&b.server, 0, "body.stream_options.include_usage"), "true");
}

TEST(a_server_that_cannot_stream_is_heard_all_the_same)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){0});
    standin_script(&b.server, "[{\"text\":\"All at once\",\"stream\":false}]");
    CHECK_ASKED(&b, STREAMED);
    CHECK_STR(buf_view(&b.heard), "All at once|");
    CHECK_STR(b.answer.content, "All at once");
}

TEST(an_answer_that_the_limit_of_tokens_ended_says_so)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){0});
    standin_script(&b.server, "[{\"text\":\"Once upon\",\"finish\":\"length\"}]");
    CHECK_ASKED(&b, PLAIN);
    CHECK(b.answer.cut_off);
}

/* ---- Servers that do not ---- */

TEST(what_is_no_answer_is_said_clearly_and_not_asked_again)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){0});
    standin_script(&b.server, "[{\"raw\":\"no JSON\"},{\"raw\":\"{\\\"choices\\\":[]}\"},"
                              "{\"text\":\"\"},{\"text\":\"not an object\"},"
                              "{\"refusal\":\"I had rather not.\"}]");
    check_fails(&b, PLAIN, ERR_INVALID, 1, "the LLM's answer is not a JSON object");
    CHECK_EQ(b.cost.queries, 1);
    check_fails(&b, PLAIN, ERR_INVALID, 1, "the LLM's answer has no choices[0].message");
    check_fails(&b, PLAIN, ERR_INVALID, 1, "the LLM's answer is empty");
    check_fails(&b, OBJECT, ERR_INVALID, 1, "the LLM was asked for a JSON object and wrote none");
    CHECK_EQ(b.cost.total_tokens, 18);
    check_fails(&b, OBJECT, ERR_REFUSED, 1, "the LLM declines: I had rather not.");
}

TEST(a_stream_of_rubbish_is_said_clearly)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){0});
    standin_script(&b.server, "[{\"raw\":\"data: rubbish\\n\\n\"}]");
    check_fails(&b, STREAMED, ERR_INVALID, 1, "a piece of the LLM's answer is not a JSON object");
}

TEST(a_refused_question_is_not_asked_again_and_the_key_does_not_show)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){0});
    standin_script(&b.server, "[{\"status\":401,\"error\":\"" KEY " is no key\"},"
                              "{\"status\":404,\"error\":\"no such model\"}]");
    check_fails(&b, PLAIN, ERR_REFUSED, 1,
                "the LLM's server answered 401: ************** is no key");
    check_fails(&b, PLAIN, ERR_REFUSED, 1, "the LLM's server answered 404: no such model");
    CHECK_EQ(b.cost.queries, 0);
}

TEST(a_busy_or_broken_server_is_asked_again)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){0});
    standin_script(&b.server, "[{\"status\":429,\"headers\":{\"Retry-After-Ms\":\"3\"}},"
                              "{\"status\":503,\"headers\":{\"Retry-After\":\"0\"}},"
                              "{\"status\":500},{\"text\":\"at last\"}]");
    CHECK_ASKED(&b, PLAIN);
    CHECK_STR(b.answer.content, "at last");
    CHECK_EQ(b.cost.requests, 4);
    CHECK_EQ(b.cost.queries, 1);
    CHECK_EQ(b.cost.retry_after_ms, 0);
}

TEST(the_number_of_tries_has_a_limit)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){.tries = 2});
    standin_script(&b.server, "[{\"status\":502,\"error\":\"bad gateway\",\"times\":0}]");
    check_fails(&b, PLAIN, ERR_UNAVAILABLE, 2, "the LLM's server answered 502: bad gateway");
}

TEST(a_wait_longer_than_the_time_that_is_left_is_not_begun)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){0});
    standin_script(&b.server, "[{\"status\":429,\"headers\":{\"Retry-After\":\"3600\"}}]");
    check_fails(&b, PLAIN, ERR_BUSY, 1, "the LLM's server answered 429: no");
    CHECK_EQ(b.cost.retry_after_ms, HOUR_MS);
}

TEST(a_cut_connection_is_tried_again)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){.tries = 2});
    standin_script(&b.server, "[{\"text\":\"half\",\"cut\":9},{\"text\":\"whole\"},"
                              "{\"text\":\"half\",\"cut\":9,\"times\":2}]");
    CHECK_ASKED(&b, PLAIN);
    CHECK_STR(b.answer.content, "whole");
    check_fails(&b, PLAIN, ERR_UNAVAILABLE, 2, "the LLM's answer was cut short");
}

TEST(a_stream_that_was_cut_is_tried_again_only_if_nothing_was_heard)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){0});
    standin_script(&b.server, "[{\"text\":\"a b\",\"cut\":0},{\"text\":\"c d\"},"
                              "{\"text\":\"e f\",\"cut\":1}]");
    CHECK_ASKED(&b, STREAMED);
    CHECK_STR(buf_view(&b.heard), "c |d|");
    CHECK_EQ(b.cost.requests, 2);
    check_fails(&b, STREAMED, ERR_UNAVAILABLE, 1, "the LLM's answer was cut short");
    CHECK_STR(buf_view(&b.heard), "c |d|e |");
}

TEST(a_server_that_is_not_there_is_tried_and_named_unreachable)
{
    struct arena arena = ARENA_INIT;
    struct llm *llm;
    struct llm_answer answer;
    struct llm_cost cost = {0};
    struct err err = ERR_INIT;
    struct llm_message hello = {LLM_USER, STR("Hello")};
    CHECK_OK(llm_open(&(struct llm_options){.base_url = STR("http://127.0.0.1:1/v1"),
                                            .model = STR("small"),
                                            .limits = {.wait_ms = 1, .tries = 3}},
                      &llm, &err));
    CHECK(!llm_ask(llm, &(struct llm_question){.messages = &hello, .count = 1}, &arena, &answer,
                   &cost, &err));
    CHECK_EQ(err.kind, ERR_UNAVAILABLE);
    CHECK_EQ(cost.requests, 3);
    CHECK(strstr(err.text, "the LLM cannot be reached: ") != NULL);
    llm_close(llm);
    arena_fini(&arena);
}

/* ---- Limits ---- */

TEST(an_answer_has_a_limit_of_bytes_whole_or_streamed)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){.answer_max = 1000});
    standin_script(&b.server, "[{\"huge\":100000},{\"huge\":100000}]");
    check_fails(&b, PLAIN, ERR_TOO_LARGE, 1, "the LLM's answer is too long");
    check_fails(&b, STREAMED, ERR_TOO_LARGE, 1, "a line of the LLM's answer is too long");
}

TEST(a_question_has_a_limit_of_time)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){0});
    standin_script(&b.server, "[{\"hold\":0}]");
    check_fails(&b, (struct llm_question){.limit_ms = 50}, ERR_UNAVAILABLE, 1,
                "the LLM is too slow: ");
}

TEST(a_stream_that_stalls_is_left)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){.idle_ms = 300});
    standin_script(&b.server, "[{\"text\":\"a b c\",\"hold\":2}]");
    check_fails(&b, STREAMED, ERR_UNAVAILABLE, 1, "the LLM's answer stalled");
}

TEST(a_question_is_given_up_when_told_so)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){0});
    standin_script(&b.server, "[{\"text\":\"a b c\",\"hold\":2}]");
    b.hang_up_after = 2;
    struct llm_question question = STREAMED;
    question.stop = &b.stop[0];
    check_fails(&b, question, ERR_UNAVAILABLE, 1, "the question to the LLM was given up");
}

TEST(a_question_that_was_given_up_waits_for_nothing)
{
    SCOPED(bench_close) struct bench b;
    bench_open(&b, (struct llm_limits){0});
    standin_script(&b.server, "[{\"status\":503,\"headers\":{\"Retry-After\":\"100\"}}]");
    assert_int_equal(write(b.stop[1], "", 1), 1);
    struct llm_question question = PLAIN;
    question.stop = &b.stop[0];
    CHECK(!ask(&b, question));
    CHECK_STR(str_of(b.err.text), "the question to the LLM was given up");
}

/* ---- Options ---- */

TEST(options_that_cannot_be_meant_are_refused_without_showing_the_key)
{
    static const struct llm_options bad[] = {
        {.base_url = {"ftp://127.0.0.1/", 16}, .model = {"m", 1}},
        {.base_url = {"127.0.0.1", 9}, .model = {"m", 1}},
        {.base_url = {"http://127.0.0.1/v1", 19}, .model = {NULL, 0}},
        {.base_url = {"http://127.0.0.1/v1", 19}, .model = {"m", 1}, .api_key = {"k\r\nX: y", 7}},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = ERR_INIT;
        struct llm *llm = NULL;
        CHECK(!llm_open(&bad[i], &llm, &err));
        CHECK_EQ(err.kind, ERR_INVALID);
        CHECK(strstr(err.text, "X: y") == NULL);
    }
}
