/* tests/remote/test_order.c: what a create looks like, and what a claimed task becomes.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "remote/remote.h"
#include "test.h"

static bool written(const struct errand_order *order, int64_t wall_ms, struct buf *out)
{
    struct err err = ERR_INIT;
    buf_clear(out);
    return order_write(out, "resize", "[1, 2]", order, "k1", wall_ms, &err);
}

TEST(an_order_says_what_was_given_and_nothing_else)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
    struct errand_order order = ERRAND_ORDER;
    CHECK(written(&order, -1, &out));
    CHECK_STR(buf_view(&out),
              "{\"taskType\":\"resize\",\"payload\":[1, 2],\"idempotencyKey\":\"k1\"}");
}

TEST(the_callers_key_wins_over_ours)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
    struct errand_order order = ERRAND_ORDER;
    order.key = "mine";
    order.max_retries = 0;
    order.fields = "{\"tags\":[\"a\"]}";
    CHECK(written(&order, -1, &out));
    CHECK_STR(buf_view(&out), "{\"taskType\":\"resize\",\"payload\":[1, 2],\"idempotencyKey\":"
                              "\"mine\",\"maxRetries\":0,\"tags\":[\"a\"]}");
}

TEST(a_spooled_delay_counts_from_when_it_was_asked_for)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
    struct errand_order order = ERRAND_ORDER;
    order.delay_ms = 60000;
    CHECK(written(&order, INT64_C(1803891600000), &out));
    CHECK_STR(buf_view(&out), "{\"taskType\":\"resize\",\"payload\":[1, 2],\"idempotencyKey\":\"k1"
                              "\",\"scheduledAt\":\"2027-03-01T09:01:00.000Z\"}");
}

TEST(what_is_not_json_is_refused_here)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
    struct errand_order order = ERRAND_ORDER;
    struct err err = ERR_INIT;
    CHECK(!order_write(&out, "t", "{oops", &order, "k", -1, &err));
    order.fields = "[\"no object\"]";
    CHECK(!order_write(&out, "t", "1", &order, "k", -1, &err));
}

/* ---- Jobs ---- */

static errand_job *job_of(const char *task)
{
    return job_read(NULL, str_of(task), 60000, 1000);
}

TEST(a_claimed_task_becomes_a_job)
{
    errand_job *job =
        job_of("{\"id\":\"i\",\"taskType\":\"t\",\"queue\":\"q\",\"documentId\":\"d\","
               "\"payload\":{\"a\": 1},\"attempt\":2,\"timeoutMs\":0,\"lease\":\"l\"}");
    size_t len;
    CHECK(job != NULL);
    CHECK_STR(str_of(errand_job_id(job)), "i");
    CHECK_STR(str_of(errand_job_type(job)), "t");
    CHECK_STR(str_of(errand_job_queue(job)), "q");
    CHECK_STR(str_of(errand_job_document(job)), "d");
    CHECK_STR(str_of(errand_job_payload(job, &len)), "{\"a\": 1}");
    CHECK_EQ(len, 8);
    CHECK_EQ(errand_job_attempt(job), 2);
    CHECK_EQ(errand_job_stop(job), ERRAND_GO_ON);
    CHECK_EQ(job->until_ms, 61000);
    job_free(job);
}

TEST(raw_bytes_arrive_as_bytes)
{
    errand_job *job = job_of("{\"id\":\"i\",\"payloadBase64\":\"AAEC\",\"lease\":\"l\"}");
    size_t len;
    CHECK(job != NULL);
    CHECK_EQ(memcmp(errand_job_payload(job, &len), "\0\1\2", 3), 0);
    CHECK_EQ(len, 3);
    CHECK(errand_job_document(job) == NULL);
    job_free(job);
}

TEST(a_lease_does_not_outlast_the_time_out)
{
    errand_job *job = job_of("{\"id\":\"i\",\"timeoutMs\":5000,\"lease\":\"l\"}");
    CHECK_EQ(job->until_ms, 6000);
    job_free(job);
}

TEST(a_task_without_a_lease_is_no_job)
{
    CHECK(job_of("{\"id\":\"i\"}") == NULL);
    CHECK(job_of("[]") == NULL);
}

TEST(a_heartbeat_carries_what_is_to_be_reported)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
    errand_job *job = job_of("{\"id\":\"i\",\"lease\":\"l\"}");
    job_write_beat(job, &out);
    CHECK_STR(buf_view(&out), "{\"lease\":\"l\"}");
    job->percent = 40;
    buf_c(&job->message, "half way");
    buf_c(&job->log, "a\nb\n");
    buf_clear(&out);
    job_write_beat(job, &out);
    CHECK_STR(buf_view(&out), "{\"lease\":\"l\",\"progress\":{\"percent\":40,\"message\":\"half "
                              "way\"},\"log\":\"a\\nb\\n\"}");
    job_free(job);
}
