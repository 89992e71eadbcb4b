/* tests/work/test_push_answer.c: what an answer means for its task, and which trace goes along.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"
#include "work/push.h"
#include "work/push_answer.h"

#define NOW_MS INT64_C(1772355600000) /* Sun, 01 Mar 2026 09:00:00 GMT */

static struct job_end judge(const struct push_answer *answer, struct arena *arena)
{
    return push_judge(answer, NOW_MS, arena);
}

TEST(each_status_completes_is_tried_again_or_fails_for_good)
{
    static const struct {
        int status;
        char end; /* c: completes, r: again, f: for good */
    } cases[] = {
        {200, 'c'}, {201, 'c'}, {202, 'c'}, {204, 'c'}, {299, 'c'}, {300, 'r'}, {301, 'r'},
        {302, 'r'}, {304, 'r'}, {307, 'r'}, {308, 'r'}, {400, 'f'}, {401, 'f'}, {403, 'f'},
        {404, 'f'}, {405, 'f'}, {408, 'r'}, {409, 'r'}, {410, 'f'}, {413, 'f'}, {422, 'f'},
        {429, 'r'}, {451, 'f'}, {499, 'f'}, {500, 'r'}, {501, 'r'}, {502, 'r'}, {503, 'r'},
        {504, 'r'}, {599, 'r'}, {600, 'r'},
    };
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct job_end end = judge(&(struct push_answer){.status = cases[i].status}, &arena);
        char got = end.completed ? 'c' : end.retry ? 'r' : 'f';
        if (got != cases[i].end) {
            fail_msg("%d: '%c' instead of '%c'", cases[i].status, got, cases[i].end);
        }
    }
}

TEST(the_result_is_the_body_as_json_or_as_a_string)
{
    static const struct {
        const char *body, *result;
    } cases[] = {
        {" {\"b\" : 1}\n", "{\"b\" : 1}"},
        {"12", "12"},
        {"null", "null"},
        {"done", "\"done\""},
        {"a\n\"b\"\n", "\"a\\n\\\"b\\\"\""},
        {"{oops", "\"{oops\""},
    };
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct push_answer answer = {.status = 200, .body = str_of(cases[i].body)};
        CHECK_STR(judge(&answer, &arena).result, cases[i].result);
    }
    CHECK(str_absent(judge(&(struct push_answer){.status = 204, .body = STR("")}, &arena).result));
}

TEST(an_error_shows_the_status_and_the_beginning_of_the_answer)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct push_answer answer = {.status = 500, .body = STR("out of \"cheese\"")};
    struct job_end end = judge(&answer, &arena);
    CHECK_STR(end.error.code, "http_500");
    CHECK_STR(end.error.message, "the endpoint answered 500");
    CHECK_STR(end.error.detail, "{\"status\":500,\"body\":\"out of \\\"cheese\\\"\"}");
    char *much = arena_alloc(&arena, 100 * KIB);
    memset(much, 1, 100 * KIB);
    answer.body = (struct str){much, 100 * KIB};
    end = judge(&answer, &arena);
    CHECK(end.error.detail.len > PUSH_BODY_SHOWN && end.error.detail.len < JOB_DETAIL_MAX);
}

TEST(a_broken_exchange_is_tried_again_unless_the_status_says_otherwise)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct job_end none = judge(&(struct push_answer){.broken = "connection refused"}, &arena);
    CHECK_STR(none.error.code, "unreachable");
    CHECK(none.retry);
    struct job_end half = judge(&(struct push_answer){.status = 200, .broken = "eof"}, &arena);
    CHECK(!half.completed && half.retry);
    CHECK(!judge(&(struct push_answer){.status = 404, .broken = "eof"}, &arena).retry);
}

TEST(an_answer_that_is_too_long_is_no_result)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct push_answer answer = {.status = 200, .body_cut = true, .broken = "write error"};
    struct job_end end = judge(&answer, &arena);
    CHECK(!end.completed);
    CHECK_STR(end.error.code, "result_too_large");
    answer.status = 404;
    CHECK_STR(judge(&answer, &arena).error.code, "http_404");
}

TEST(an_address_that_is_refused_fails_for_good)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct push_answer answer = {.broken = "no", .refused = "10.0.0.1 is a private address"};
    struct job_end end = judge(&answer, &arena);
    CHECK_STR(end.error.code, "address_refused");
    CHECK(!end.retry && !end.completed);
}

/* ---- Retry-After ---- */

static int64_t wait_of(int status, const char *retry_after, const char *date)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct push_answer answer = {
        .status = status, .retry_after = str_of(retry_after), .date = str_of(date)};
    return judge(&answer, &arena).retry_after_ms;
}

TEST(retry_after_is_honoured_as_seconds_and_as_a_date)
{
    CHECK_EQ(wait_of(429, "120", NULL), 120 * SECOND_MS);
    CHECK_EQ(wait_of(503, "0", NULL), 0);
    CHECK_EQ(wait_of(503, "Sun, 01 Mar 2026 09:02:00 GMT", NULL), 120 * SECOND_MS);
    CHECK_EQ(wait_of(429, "Sun, 01 Mar 2026 08:59:00 GMT", NULL), 0);
}

TEST(a_retry_after_date_is_meant_by_the_clock_of_the_endpoint)
{
    CHECK_EQ(wait_of(429, "Sun, 01 Mar 2026 09:02:00 GMT", "Sun, 01 Mar 2026 09:01:30 GMT"),
             30 * SECOND_MS);
    CHECK_EQ(wait_of(429, "Sun, 01 Mar 2026 09:02:00 GMT", "yesterday"), 120 * SECOND_MS);
}

TEST(a_retry_after_that_makes_no_sense_or_is_not_asked_for_is_passed_over)
{
    static const char *const bad[] = {"", "-1", "1.5", "soon", "120s", "Sun, 99 Mar 2026"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK_EQ(wait_of(429, bad[i], NULL), 0);
    }
    CHECK_EQ(wait_of(500, "120", NULL), 0);
}

TEST(no_endpoint_puts_a_task_off_for_ever)
{
    CHECK_EQ(wait_of(429, "18446744073709551615", NULL), PUSH_RETRY_AFTER_MAX_MS);
    CHECK_EQ(wait_of(429, "Fri, 31 Dec 9999 23:59:59 GMT", NULL), PUSH_RETRY_AFTER_MAX_MS);
}
