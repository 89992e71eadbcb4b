/* tests/client/test_llm_request.c: a question as the server reads it, and when it is asked again.
 *
 * SPDX-License-Identifier: MIT */
#include "client/llm_request.h"
#include "test.h"

static const struct llm_message hello[] = {
    {LLM_SYSTEM, {"Be \"brief\".", 11}},
    {LLM_USER, {"Hello", 5}},
    {LLM_ASSISTANT, {"Hi", 2}},
};

static void ignore(void *arg, struct str piece)
{
    (void)arg, (void)piece;
}

static void check_body(const struct llm_question *question, const char *want)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(LLM_REQUEST_MAX);
    struct err err = ERR_INIT;
    CHECK_OK(llm_request_write(question, STR("small"), &body, &err));
    CHECK_STR(buf_view(&body), want);
}

TEST(a_plain_question_has_a_model_and_messages)
{
    check_body(&(struct llm_question){.messages = hello, .count = 3},
               "{\"model\":\"small\",\"messages\":["
               "{\"role\":\"system\",\"content\":\"Be \\\"brief\\\".\"},"
               "{\"role\":\"user\",\"content\":\"Hello\"},"
               "{\"role\":\"assistant\",\"content\":\"Hi\"}]}");
}

TEST(a_question_may_name_its_model_and_a_limit_and_ask_for_a_stream)
{
    check_body(&(struct llm_question){.messages = hello + 1,
                                      .count = 1,
                                      .model = STR("large"),
                                      .max_tokens = 9,
                                      .on_text = ignore},
               "{\"model\":\"large\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],"
               "\"max_tokens\":9,\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
}

TEST(a_schema_is_sent_as_it_is)
{
    check_body(
        &(struct llm_question){.messages = hello + 1,
                               .count = 1,
                               .schema = STR("{\"type\":\"object\"}"),
                               .schema_name = "decision"},
        "{\"model\":\"small\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],"
        "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"decision\","
        "\"schema\":{\"type\":\"object\"},\"strict\":true}}}");
}

TEST(a_schema_needs_a_name_that_servers_take)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(LLM_REQUEST_MAX);
    struct err err = ERR_INIT;
    struct llm_question question = {.schema = STR("{}"), .schema_name = "two words"};
    CHECK(!llm_request_write(&question, STR("small"), &body, &err));
    question.schema_name = NULL;
    CHECK(!llm_request_write(&question, STR("small"), &body, &err));
}

TEST(a_question_beyond_the_limit_is_refused)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(64);
    struct err err = ERR_INIT;
    struct llm_question question = {.messages = hello, .count = 3};
    CHECK(!llm_request_write(&question, STR("small"), &body, &err));
    CHECK_EQ(err.kind, ERR_TOO_LARGE);
}

TEST(roles_have_their_usual_names)
{
    enum llm_role role;
    CHECK(llm_role_read(STR("system"), &role) && role == LLM_SYSTEM);
    CHECK(llm_role_read(STR("user"), &role) && role == LLM_USER);
    CHECK(llm_role_read(STR("assistant"), &role) && role == LLM_ASSISTANT);
    CHECK(!llm_role_read(STR("tool"), &role));
}

#define NOW_MS ((int64_t)1803884400000) /* 2027-03-01T07:00:00Z */

static int64_t pause_of(const char *retry_after, const char *ms, const char *date)
{
    return llm_pause_ms(&(struct llm_pause){str_of(retry_after), str_of(ms), str_of(date)}, NOW_MS);
}

TEST(a_pause_is_seconds_a_date_or_milliseconds)
{
    CHECK_EQ(pause_of(NULL, NULL, NULL), 0);
    CHECK_EQ(pause_of("7", NULL, NULL), 7000);
    CHECK_EQ(pause_of("7", "1500", NULL), 1500);
    CHECK_EQ(pause_of("Mon, 01 Mar 2027 07:00:09 GMT", NULL, NULL), 9000);
    CHECK_EQ(pause_of("Mon, 01 Mar 2027 07:00:09 GMT", NULL, "Mon, 01 Mar 2027 07:00:05 GMT"),
             4000);
    CHECK_EQ(pause_of("Mon, 01 Mar 2027 06:00:00 GMT", NULL, NULL), 0);
    CHECK_EQ(pause_of("soon", "-1", "yesterday"), 0);
    CHECK_EQ(pause_of("99999999999", NULL, NULL), LLM_RETRY_AFTER_MAX_MS);
}

TEST(waits_double_up_to_their_limit_and_are_spread_downwards)
{
    struct llm_limits limits = {.wait_ms = 500, .wait_max_ms = 3000};
    CHECK_EQ(llm_wait_ms(&limits, 1, 0, 0), 500);
    CHECK_EQ(llm_wait_ms(&limits, 2, 0, 0), 1000);
    CHECK_EQ(llm_wait_ms(&limits, 3, 0, 0), 2000);
    CHECK_EQ(llm_wait_ms(&limits, 4, 0, 0), 3000);
    CHECK_EQ(llm_wait_ms(&limits, 90, 0, 0), 3000);
    CHECK_EQ(llm_wait_ms(&limits, 2, 0, 0.5), 750);
}

TEST(a_time_that_the_server_named_is_never_shortened)
{
    struct llm_limits limits = {.wait_ms = 500, .wait_max_ms = 3000};
    CHECK_EQ(llm_wait_ms(&limits, 1, 60000, 0), 60000);
    CHECK_EQ(llm_wait_ms(&limits, 1, 60000, 0.5), 60125);
}

TEST(busy_and_broken_servers_are_asked_again_and_refusals_are_not)
{
    CHECK(llm_status_may_pass(408) && llm_status_may_pass(429));
    CHECK(llm_status_may_pass(500) && llm_status_may_pass(503) && llm_status_may_pass(529));
    CHECK(!llm_status_may_pass(400) && !llm_status_may_pass(401) && !llm_status_may_pass(404));
    CHECK(!llm_status_may_pass(301) && !llm_status_may_pass(204));
}
