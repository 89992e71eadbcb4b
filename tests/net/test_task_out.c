/* tests/net/test_task_out.c: tasks and failures as JSON.
 *
 * SPDX-License-Identifier: MIT */
#include "net/task_out.h"

#include "net/fault.h"
#include "test.h"

static struct task plain_task(void)
{
    struct task task = {
        .type = STR("mail"),
        .queue = STR("default"),
        .priority = TASK_NORMAL,
        .state = TASK_QUEUED,
        .backoff = TASK_BACKOFF_DEFAULT,
        .max_retries = 3,
        .timeout_ms = 300000,
        .created_ms = 1803891600000,
        .queued_ms = 1803891600000,
        .updated_ms = 1803891600001,
        .progress = -1,
        .cost = TASK_COST_NONE,
    };
    (void)!id_parse(STR("0192f3a0-0000-7000-8000-000000000001"), &task.id);
    return task;
}

static bool has(const struct buf *buf, const char *piece)
{
    bool found = memmem(buf->ptr, buf->len, piece, strlen(piece)) != NULL;
    if (!found) {
        print_message(STR_FMT "\nhas no %s\n", STR_ARG(buf_view(buf)), piece);
    }
    return found;
}

static bool lacks(const struct buf *buf, const char *piece)
{
    return memmem(buf->ptr, buf->len, piece, strlen(piece)) == NULL;
}

TEST(a_plain_task_shows_what_is_set_and_nothing_else)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&buf);
    struct task task = plain_task();
    task_write(&w, &task);

    CHECK_STR(
        buf_view(&buf),
        "{\"id\":\"0192f3a0-0000-7000-8000-000000000001\",\"taskType\":\"mail\","
        "\"queue\":\"default\",\"createdAt\":\"2027-03-01T09:00:00.000Z\","
        "\"backoff\":{\"baseMs\":5000,\"maxMs\":3600000,\"factor\":5,\"jitter\":0},"
        "\"state\":\"QUEUED\",\"priority\":\"NORMAL\",\"maxRetries\":3,\"timeoutMs\":300000,"
        "\"queuedAt\":\"2027-03-01T09:00:00.000Z\",\"updatedAt\":\"2027-03-01T09:00:00.001Z\","
        "\"attempt\":0,\"retries\":0}");
}

TEST(payload_result_and_metadata_are_shown_byte_for_byte)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&buf);
    struct task task = plain_task();
    task.payload = STR("{ \"a\" : 1.0e2 }");
    task.result = STR("null");
    task.metadata = STR("{\"k\":\"\\u0041\"}");
    task_write(&w, &task);

    CHECK(has(&buf, "\"payload\":{ \"a\" : 1.0e2 },"));
    CHECK(has(&buf, "\"result\":null"));
    CHECK(has(&buf, "\"metadata\":{\"k\":\"\\u0041\"}"));
    CHECK(json_valid(buf_view(&buf), NULL));
}

TEST(raw_bytes_are_shown_as_base64)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&buf);
    struct task task = plain_task();
    task.payload = STR("hi");
    task.payload_raw = true;
    task_write(&w, &task);

    CHECK(has(&buf, "\"payloadBase64\":\"aGk=\""));
    CHECK(lacks(&buf, "\"payload\":"));
}

TEST(worker_lease_and_cancel_request_are_shown_only_while_it_runs)
{
    SCOPED(buf_fini) struct buf running = BUF_INIT(MIB), ended = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&running), v = JSON_WRITER(&ended);
    struct task task = plain_task();
    task.worker = STR("w1");
    task.lease_until_ms = 1803891660000;
    task.cancel_requested = true;
    task.state = TASK_RUNNING;
    task_write(&w, &task);
    task.state = TASK_CANCELLED;
    task_write(&v, &task);

    CHECK(has(&running, "\"cancelRequested\":true,\"workerId\":\"w1\","
                        "\"leaseExpiresAt\":\"2027-03-01T09:01:00.000Z\""));
    CHECK(lacks(&ended, "workerId") && lacks(&ended, "leaseExpiresAt"));
    CHECK(lacks(&ended, "cancelRequested"));
}

TEST(error_progress_cost_and_tags_are_objects_and_arrays)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&buf);
    struct task task = plain_task();
    task.error = (struct task_error){STR("E1"), STR("m\"x"), STR("[1]")};
    task.progress = 50.5;
    task.progress_message = STR("half");
    task.cost.tokens = 20;
    task.tags[0] = STR("a");
    task.tags_count = 1;
    task.max_retries = TASK_RETRIES_UNLIMITED;
    task_write(&w, &task);

    CHECK(has(&buf, "\"error\":{\"code\":\"E1\",\"message\":\"m\\\"x\",\"detail\":[1]}"));
    CHECK(has(&buf, "\"progress\":{\"percent\":50.5,\"message\":\"half\"}"));
    CHECK(has(&buf, "\"cost\":{\"tokens\":20}"));
    CHECK(has(&buf, "\"tags\":[\"a\"]"));
    CHECK(has(&buf, "\"maxRetries\":-1"));
}

TEST(a_list_says_what_it_left_out)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&buf);
    struct task_row row = {.task = plain_task(), .payload_omitted = true, .result_omitted = true};
    task_write_row(&w, &row);

    CHECK(has(&buf, "\"payloadOmitted\":true"));
    CHECK(has(&buf, "\"resultOmitted\":true"));
}

TEST(a_claimed_task_has_its_lease)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&buf);
    struct task task = plain_task();
    task.attempt = 2;
    task.token = 255;
    task_write_claimed(&w, &task, &(struct claim_facts){0}, false);

    CHECK(has(&buf, "\"lease\":\"2-00000000000000ff\"}"));
}

TEST(the_detail_view_has_attempts_and_children)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&buf);
    struct task_attempt attempts[] = {
        {.number = 1,
         .outcome = OUTCOME_FAILED,
         .worker = STR("w"),
         .started_ms = 1803891600000,
         .finished_ms = 1803891601000,
         .error = {.code = STR("failed"), .message = STR("x")},
         .log = STR("one\ntwo\n")},
        {.number = 2, .worker = STR("w")},
    };
    struct task_detail detail = {.task = plain_task(), .attempts = attempts, .attempts_count = 2};
    task_write_detail(&w, &detail, STR_NONE);

    CHECK(has(&buf, "\"attempts\":[{\"number\":1,\"outcome\":\"FAILED\",\"workerId\":\"w\","
                    "\"startedAt\":\"2027-03-01T09:00:00.000Z\","
                    "\"finishedAt\":\"2027-03-01T09:00:01.000Z\","
                    "\"error\":{\"code\":\"failed\",\"message\":\"x\"},\"log\":[\"one\",\"two\"]},"
                    "{\"number\":2,\"workerId\":\"w\",\"log\":[]}],\"childIds\":[]}"));
}

TEST(a_failure_has_code_message_and_the_field_if_there_is_one)
{
    SCOPED(buf_fini) struct buf with = BUF_INIT(MIB), without = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&with), v = JSON_WRITER(&without);
    struct err err = ERR_INIT;
    err_field(&err, "priority", "priority must be nice");
    fault_write(&w, &err);
    err_set(&err, ERR_LEASE_LOST, "its lease was lost");
    fault_write(&v, &err);

    CHECK_STR(buf_view(&with), "{\"code\":\"invalid_argument\",\"message\":\"priority must be "
                               "nice\",\"field\":\"priority\"}");
    CHECK_STR(buf_view(&without), "{\"code\":\"lease_lost\",\"message\":\"its lease was lost\"}");
    CHECK_EQ(fault_status(ERR_LEASE_LOST), 409);
}

TEST(a_mistake_of_our_own_shows_no_details)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&buf);
    struct err err = ERR_INIT;
    err_set(&err, ERR_INTERNAL, "secret");
    fault_write(&w, &err);

    CHECK(lacks(&buf, "secret"));
}
