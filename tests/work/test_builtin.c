/* tests/work/test_builtin.c: the types for trying things out, and the workers that run them.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "stand.h"
#include "store_memory/memory.h"

static struct task run_one(struct stand_order order, enum task_state end, struct stand *s)
{
    stand_open(s, &(struct stand_options){0});
    return stand_do(s, order, end);
}

TEST(a_noop_completes_without_a_result)
{
    SCOPED(stand_close) struct stand s;
    struct task task = run_one((struct stand_order){.type = "noop"}, TASK_COMPLETED, &s);
    CHECK(str_absent(task.result));
    CHECK_STR(task.worker, "errand:run:1");
}

TEST(an_echo_answers_with_its_payload_byte_for_byte)
{
    SCOPED(stand_close) struct stand s;
    struct task task =
        run_one((struct stand_order){.type = "echo", .payload = "{\"b\" : 1,\"a\":[ ]}"},
                TASK_COMPLETED, &s);
    CHECK_STR(task.result, "{\"b\" : 1,\"a\":[ ]}");
}

TEST(an_echo_of_raw_bytes_is_their_base64)
{
    SCOPED(stand_close) struct stand s;
    struct task task = run_one((struct stand_order){.type = "echo", .payload = "abc", .raw = true},
                               TASK_COMPLETED, &s);
    CHECK_STR(task.result, "\"YWJj\"");
}

TEST(a_fail_fails_the_first_attempts_and_then_completes)
{
    SCOPED(stand_close) struct stand s;
    struct task task =
        run_one((struct stand_order){.type = "fail", .payload = "{\"times\":2}", .max_retries = 3},
                TASK_COMPLETED, &s);
    CHECK_EQ(task.attempt, 3);
    struct task_detail detail = stand_task(&s, task.id);
    CHECK_EQ(detail.attempts[0].outcome, OUTCOME_FAILED);
    CHECK_STR(detail.attempts[0].error.message, "attempt 1 fails, as asked");
}

TEST(a_fail_without_a_number_always_fails)
{
    SCOPED(stand_close) struct stand s;
    struct task task =
        run_one((struct stand_order){.type = "fail", .max_retries = 1}, TASK_FAILED, &s);
    CHECK_EQ(task.attempt, 2);
}

TEST(a_sleep_without_milliseconds_fails_for_good)
{
    SCOPED(stand_close) struct stand s;
    struct task task =
        run_one((struct stand_order){.type = "sleep", .payload = "{\"ms\":-1}", .max_retries = 3},
                TASK_FAILED, &s);
    CHECK_STR(task.error.code, "invalid_payload");
    CHECK_EQ(task.attempt, 1);
}

TEST(a_sleep_ends_by_the_engines_clock_and_reports_progress)
{
    SCOPED(stand_close) struct stand s;
    stand_open(&s, &(struct stand_options){.by_hand = true});
    struct task_id id =
        stand_create(&s, "sleep", .payload = "{\"ms\":86400000}", .timeout_ms = 2 * DAY_MS);
    stand_until(&s, id, TASK_RUNNING);
    stand_wind(&s, DAY_MS - 1);
    CHECK_EQ(stand_task(&s, id).task.state, TASK_RUNNING);
    stand_wind(&s, 1);
    struct task task = stand_task(&s, id).task;
    CHECK_EQ(task.state, TASK_COMPLETED);
    CHECK_EQ(task.finished_ms, STAND_START_MS + DAY_MS);
    CHECK(task.progress == 100);
}

TEST(a_hand_wound_clock_runs_through_retries_and_sleeps_without_a_gap)
{
    SCOPED(stand_close) struct stand s;
    stand_open(&s, &(struct stand_options){.by_hand = true, .workers = 1});
    struct task_id failing =
        stand_create(&s, "fail", .payload = "{\"times\":3}", .max_retries = 3, .backoff_ms = 1000);
    struct task_id slept[5];
    for (int i = 0; i < 5; i++) {
        slept[i] = stand_create(&s, "sleep", .payload = "{\"ms\":1000}");
    }
    stand_wind(&s, 10000);
    CHECK_EQ(stand_task(&s, failing).task.state, TASK_COMPLETED);
    for (int i = 0; i < 5; i++) {
        struct task task = stand_task(&s, slept[i]).task;
        CHECK_EQ(task.finished_ms, STAND_START_MS + (i + 1) * 1000);
    }
}

TEST(a_sleep_that_is_cancelled_ends_at_once)
{
    SCOPED(stand_close) struct stand s;
    stand_open(&s, &(struct stand_options){0});
    struct task_id id =
        stand_create(&s, "sleep", .payload = "{\"ms\":3600000}", .timeout_ms = DAY_MS);
    stand_until(&s, id, TASK_RUNNING);
    stand_cancel(&s, id);
    stand_until(&s, id, TASK_CANCELLED);
    CHECK_EQ(stand_task(&s, id).attempts[0].outcome, OUTCOME_CANCELLED);
}

TEST(a_sleep_past_its_time_out_is_a_TIMEOUT_and_uses_its_retries)
{
    SCOPED(stand_close) struct stand s;
    stand_open(&s, &(struct stand_options){.by_hand = true});
    struct task_id id = stand_create(&s, "sleep", .payload = "{\"ms\":60000}", .timeout_ms = 1000,
                                     .max_retries = 1, .backoff_ms = 5000);
    stand_until(&s, id, TASK_RUNNING);
    stand_wind(&s, 1000);
    stand_until(&s, id, TASK_RETRYING);
    stand_wind(&s, 6000);
    stand_until(&s, id, TASK_TIMEOUT);
    struct task_detail detail = stand_task(&s, id);
    CHECK_EQ(detail.attempts[0].outcome, OUTCOME_TIMEOUT);
    CHECK_EQ(detail.task.attempt, 2);
}

TEST(a_sleep_whose_time_out_falls_on_one_of_its_steps_ends_at_once)
{
    SCOPED(stand_close) struct stand s;
    stand_open(&s, &(struct stand_options){.by_hand = true});
    for (int i = 0; i < 20; i++) { /* whichever of the two its worker hears of first */
        struct task_id id = stand_create(&s, "sleep", .payload = "{\"ms\":10000}",
                                         .timeout_ms = 5000, .max_retries = 0);
        stand_until(&s, id, TASK_RUNNING);
        stand_wind(&s, 5000);
        stand_until(&s, id, TASK_TIMEOUT);
        struct task task = stand_task(&s, id).task;
        CHECK_EQ(task.finished_ms - task.started_ms, 5000);
    }
}

TEST(an_end_that_the_store_cannot_take_is_told_again)
{
    SCOPED(stand_close) struct stand s;
    stand_open(&s, &(struct stand_options){.by_hand = true});
    struct task_id id = stand_create(&s, "sleep", .payload = "{\"ms\":100}");
    stand_wind(&s, 99); /* it sleeps, and the engine has nothing to do */
    struct command *wind = stand_command(&s, COMMAND_CLOCK);
    wind->clock = (struct command_clock){.relative = true, .ms = 1};
    memory_disk_fail_next(memory_store_disk(s.store), MEMORY_FULL);
    CHECK_EQ(stand_try(&s, wind), ERR_UNAVAILABLE); /* it waited for what the disk refused */
    stand_until(&s, id, TASK_COMPLETED);
}

TEST(the_pool_takes_from_every_queue_unless_it_is_told_which)
{
    struct str only = STR("images");
    SCOPED(stand_close) struct stand s;
    stand_open(&s, &(struct stand_options){0});
    stand_do(&s, (struct stand_order){.type = "noop", .queue = "some/other"}, TASK_COMPLETED);
    SCOPED(stand_close) struct stand narrow;
    stand_open(&narrow, &(struct stand_options){.queues = &only, .queues_count = 1});
    struct task_id left = stand_create(&narrow, "noop");
    stand_do(&narrow, (struct stand_order){.type = "noop", .queue = "images"}, TASK_COMPLETED);
    CHECK_EQ(stand_task(&narrow, left).task.state, TASK_QUEUED);
}

TEST(a_task_of_any_queue_waits_for_busy_workers_and_not_for_want_of_one)
{
    SCOPED(stand_close) struct stand s;
    stand_open(&s, &(struct stand_options){.by_hand = true, .workers = 1});
    stand_create(&s, "sleep", .payload = "{\"ms\":1000}");
    struct task_id id = stand_create(&s, "noop", .queue = "some/other");
    struct command *why = stand_command(&s, COMMAND_WHY);
    why->why.id = id;
    stand_run(&s, why);
    CHECK_EQ(why->why.count, 1);
    CHECK_EQ(why->why.reasons[0].code, WHY_WORKERS_BUSY);
}

/* ---- document.append ---- */

#define AGENTS 50

static size_t count_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t lines = 0;
    CHECK(file != NULL);
    for (int c; (c = getc(file)) != EOF;) {
        lines += c == '\n';
    }
    fclose(file);
    return lines;
}

static size_t append_by_many(const char *document, const char *name)
{
    SCOPED(stand_close) struct stand s;
    struct task_id ids[AGENTS];
    SCOPED(buf_fini) struct buf path = BUF_INIT(KIB);
    stand_open(&s, &(struct stand_options){.workers = 8});
    for (int i = 0; i < AGENTS; i++) {
        const char *payload = arena_printf(&s.arena, "{\"text\":\"line %d\"}", i).ptr;
        ids[i] = stand_create(&s, "document.append", .payload = payload, .document = document);
    }
    for (int i = 0; i < AGENTS; i++) {
        stand_until(&s, ids[i], TASK_COMPLETED);
    }
    buf_printf(&path, "%s/documents/%s", s.folder, name);
    return count_lines(buf_c_text(&path));
}

TEST(fifty_agents_on_one_document_lose_no_line)
{
    CHECK_EQ(append_by_many("plan", "plan"), AGENTS);
}

TEST(the_same_agents_without_a_document_do_lose_lines)
{
    CHECK(append_by_many(NULL, "+none") < AGENTS);
}

static void check_file(const char *document, const char *name)
{
    SCOPED(stand_close) struct stand s;
    SCOPED(buf_fini) struct buf path = BUF_INIT(4 * KIB);
    stand_open(&s, &(struct stand_options){0});
    stand_do(&s,
             (struct stand_order){
                 .type = "document.append", .payload = "{\"text\":\"x\"}", .document = document},
             TASK_COMPLETED);
    buf_printf(&path, "%s/documents/%s", s.folder, name);
    CHECK_EQ(count_lines(buf_c_text(&path)), 1);
}

TEST(a_documents_file_stays_in_its_folder_whatever_it_is_called)
{
    char name[257] = {0};
    memset(name, 'a', 256);
    check_file("../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd");
    check_file(".", "%2E");
    check_file("über", "%C3%BCber");
    check_file(name, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa+/"
                     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
}

/* ---- Ending ---- */

TEST(a_quiet_pool_claims_no_more_and_rests_when_its_work_is_done)
{
    SCOPED(stand_close) struct stand s;
    stand_open(&s, &(struct stand_options){.by_hand = true, .workers = 1});
    struct task_id id = stand_create(&s, "sleep", .payload = "{\"ms\":1000}");
    struct task_id later = stand_create(&s, "noop");
    stand_wind(&s, 250);
    stand_until_percent(&s, id, 25); /* it has begun; what was only claimed would be given back */
    workforce_quiet(s.work);
    stand_wind(&s, 750);
    stand_rested(&s);
    CHECK_EQ(stand_task(&s, id).task.state, TASK_COMPLETED);
    CHECK_EQ(stand_task(&s, later).task.state, TASK_QUEUED);
}

TEST(what_still_runs_after_the_grace_period_is_given_back_without_using_a_retry)
{
    SCOPED(stand_close) struct stand s;
    stand_open(&s, &(struct stand_options){.grace_ms = 20});
    struct task_id id = stand_create(&s, "sleep", .payload = "{\"ms\":3600000}", .max_retries = 3,
                                     .timeout_ms = DAY_MS);
    stand_until(&s, id, TASK_RUNNING);
    workforce_quiet(s.work);
    stand_rested(&s);
    struct task_detail detail = stand_task(&s, id);
    CHECK_EQ(detail.task.state, TASK_QUEUED);
    CHECK_EQ(detail.task.retries, 0);
    CHECK_EQ(detail.attempts[0].outcome, OUTCOME_RELEASED);
}

TEST(a_workforce_that_is_stopped_gives_back_what_runs)
{
    struct task_id id;
    SCOPED(stand_close) struct stand s;
    stand_open(&s, &(struct stand_options){0});
    id = stand_create(&s, "sleep", .payload = "{\"ms\":3600000}", .timeout_ms = DAY_MS);
    stand_until(&s, id, TASK_RUNNING);
    workforce_stop(s.work);
    CHECK_EQ(stand_task(&s, id).task.state, TASK_QUEUED);
}

TEST(a_hundred_noops_and_one_worker_leave_each_task_one_attempt)
{
    SCOPED(stand_close) struct stand s;
    struct task_id ids[100], sleep;
    stand_open(&s, &(struct stand_options){.workers = 1});
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        ids[i] = stand_create(&s, i % 10 == 5 ? "sleep" : "noop", .payload = "{\"ms\":1}");
    }
    sleep = stand_create(&s, "sleep", .payload = "{\"ms\":0}");
    stand_until(&s, sleep, TASK_COMPLETED);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct task task = stand_task(&s, ids[i]).task;
        CHECK_EQ(task.state, TASK_COMPLETED);
        CHECK_EQ(task.attempt, 1);
    }
}
