/* tests/queue/test_due.c: what happens by itself: delays, backoffs, lost leases, time-outs, expiry,
 * retention.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "queue/due.h"
#include "test.h"

TEST(a_delayed_task_is_queued_at_its_time_and_not_before)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .delay_ms = 1000);
    bench_pass_ms(&b, 999);
    CHECK_EQ(bench_task(&b, id).state, TASK_SCHEDULED);
    CHECK_EQ(engine_due_in_ms(b.engine), 1);
    bench_pass_ms(&b, 1);

    CHECK_EQ(bench_task(&b, id).state, TASK_QUEUED);
    CHECK_EQ(bench_task(&b, id).queued_ms, BENCH_START_MS + 1000);
}

TEST(what_fell_due_while_nobody_was_there_happens_at_the_start)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id delayed = bench_create(&b, "t", .delay_ms = 1000);
    struct task_id lost = bench_create(&b, "t");
    bench_claim(&b, .lease_ms = 1000);
    bench_jump_ms(&b, HOUR_MS);
    bench_restart(&b);
    bench_settle(&b);

    CHECK_EQ(bench_task(&b, delayed).state, TASK_QUEUED);
    CHECK_EQ(bench_task(&b, lost).state, TASK_RETRYING);
}

TEST(the_lease_of_work_inside_the_server_is_for_the_engine_to_say)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .timeout_ms = BENCH_NONE);
    struct task task = bench_claim(&b, .worker = "errand:run:1", .lease_ms = 1000);

    CHECK_EQ(task.lease_until_ms, BENCH_START_MS + 30 * SECOND_MS);
    bench_jump_ms(&b, HOUR_MS);
    bench_settle(&b);
    CHECK_EQ(bench_task(&b, id).state, TASK_RUNNING);
}

TEST(an_attempt_of_this_process_is_looked_at_when_its_lease_is_to_be_renewed)
{
    struct task task = {.state = TASK_RUNNING,
                        .attempt = 1,
                        .token = 1,
                        .worker = STR("errand:run:1"),
                        .lease_until_ms = BENCH_START_MS + 30000};
    struct now now = {BENCH_START_MS, 1};
    struct due due = {.renew_every_ms = 10000};
    due_init(&due);
    CHECK_EQ(due_set(&due, &task, DUE_WRITTEN, 0, now)->at_ms, 10001);
    due_fini(&due);

    due = (struct due){.renew_every_ms = NEVER_MS};
    due_init(&due);
    CHECK_EQ(due_set(&due, &task, DUE_WRITTEN, 0, now)->at_ms, NEVER_MS);
    due_fini(&due);
}

TEST(a_task_whose_worker_vanished_is_retried)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "send-welcome");
    bench_claim(&b, .worker = "w1", .lease_ms = 1000);
    bench_pass_ms(&b, 1001);

    CHECK_EQ(bench_task(&b, id).state, TASK_RETRYING);
    CHECK_EQ(bench_task(&b, id).retries, 1);
    CHECK_EQ(bench_task(&b, id).outcome, OUTCOME_LOST);
}

TEST(a_task_whose_worker_vanished_too_often_fails)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .max_retries = BENCH_NONE);
    bench_claim(&b, .lease_ms = 1000);
    bench_pass_ms(&b, 1000);

    CHECK_EQ(bench_task(&b, id).state, TASK_FAILED);
    CHECK_STR(bench_task(&b, id).error.code, "lost");
}

TEST(a_lease_keeps_its_remaining_time_over_a_restart)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task task = bench_claim(&b, .lease_ms = 10000);
    bench_pass_ms(&b, 4000);
    bench_restart(&b);
    bench_pass_ms(&b, 5999);
    CHECK_EQ(bench_task(&b, id).state, TASK_RUNNING);
    CHECK_EQ(bench_heartbeat(&b, &task, -1), ERR_NONE);
    bench_pass_ms(&b, 10000);

    CHECK_EQ(bench_task(&b, id).state, TASK_RETRYING);
}

TEST(a_lost_attempt_lets_its_document_go)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "one", .document = "d");
    bench_create(&b, "two", .document = "d");
    bench_claim(&b, .lease_ms = 1000);
    bench_pass_ms(&b, 1000);

    CHECK_STR(bench_claim(&b).type, "two");
}

/* ---- Time-outs ---- */

TEST(a_lease_never_outlasts_the_time_out)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .timeout_ms = 3000);
    struct task task = bench_claim(&b, .lease_ms = 60000);
    CHECK_EQ(task.lease_until_ms, BENCH_START_MS + 3000);
    bench_pass_ms(&b, 2000);
    CHECK_EQ(bench_heartbeat(&b, &task, 60000), ERR_NONE);
    CHECK_EQ(bench_task(&b, id).lease_until_ms, BENCH_START_MS + 3000);
    bench_pass_ms(&b, 1000);

    CHECK_EQ(bench_task(&b, id).state, TASK_RETRYING);
    CHECK_EQ(bench_task(&b, id).outcome, OUTCOME_TIMEOUT);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_LEASE_LOST);
}

TEST(the_last_attempt_that_runs_too_long_ends_in_timeout)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .timeout_ms = 3000, .max_retries = BENCH_NONE);
    bench_claim(&b, .lease_ms = 60000);
    bench_pass_ms(&b, 3000);

    CHECK_EQ(bench_task(&b, id).state, TASK_TIMEOUT);
}

TEST(each_attempt_has_the_whole_time_out)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .timeout_ms = 3000, .backoff_ms = 100);
    bench_claim(&b);
    bench_pass_ms(&b, 3100);
    bench_claim(&b);
    bench_pass_ms(&b, 2999);
    CHECK_EQ(bench_task(&b, id).state, TASK_RUNNING);
    bench_pass_ms(&b, 1);

    CHECK_EQ(bench_task(&b, id).state, TASK_RETRYING);
}

TEST(a_task_without_time_out_runs_as_long_as_its_lease)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .timeout_ms = BENCH_NONE);
    bench_claim(&b, .lease_ms = DAY_MS);
    bench_pass_ms(&b, DAY_MS - 1);
    CHECK_EQ(bench_task(&b, id).state, TASK_RUNNING);
    bench_pass_ms(&b, 1);

    CHECK_EQ(bench_task(&b, id).outcome, OUTCOME_LOST);
}

/* ---- Expiry ---- */

TEST(a_task_that_nobody_started_in_time_expires)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .expires_in_ms = 1000);
    bench_pass_ms(&b, 999);
    CHECK_EQ(bench_task(&b, id).state, TASK_QUEUED);
    bench_pass_ms(&b, 1);

    CHECK_EQ(bench_task(&b, id).state, TASK_CANCELLED);
    CHECK_STR(bench_task(&b, id).cancel_reason, "expired");
    CHECK(id_none(bench_claim(&b).id));
}

TEST(a_scheduled_task_expires_before_its_time_too)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .delay_ms = 5000, .expires_in_ms = 1000);
    bench_pass_ms(&b, 1000);
    CHECK_EQ(bench_task(&b, id).state, TASK_CANCELLED);
}

TEST(a_started_task_does_not_expire)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .expires_in_ms = 1000);
    struct task task = bench_claim(&b);
    bench_pass_ms(&b, 2000);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_RELEASED), ERR_NONE);
    bench_settle(&b);

    CHECK_EQ(bench_task(&b, id).state, TASK_QUEUED);
}

TEST(a_task_that_fell_due_and_expired_while_nobody_was_there_is_expired)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .delay_ms = 1000, .expires_in_ms = 2000);
    bench_jump_ms(&b, HOUR_MS);
    bench_settle(&b);

    CHECK_EQ(bench_task(&b, id).state, TASK_CANCELLED);
    CHECK_STR(bench_task(&b, id).cancel_reason, "expired");
}

TEST(an_expired_task_that_is_revived_stays)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .expires_in_ms = 1000);
    bench_pass_ms(&b, 1000);
    CHECK_EQ(bench_revive(&b, id), ERR_NONE);
    bench_pass_ms(&b, 1000);

    CHECK_EQ(bench_task(&b, id).state, TASK_QUEUED);
}

TEST(a_claim_gets_what_did_not_expire_in_the_same_batch)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "old", .expires_in_ms = 1000);
    bench_create(&b, "good");
    bench_jump_ms(&b, 1000);

    CHECK_STR(bench_claim(&b).type, "good");
}

/* ---- Many at once ---- */

TEST(more_than_a_batch_may_fall_due_at_the_same_moment)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 2500, (struct bench_order){.type = "t", .delay_ms = 1000});
    bench_jump_ms(&b, 1000);
    bench_settle(&b);

    CHECK_EQ(bench_count(&b, TASK_QUEUED), 2500);
}

/* ---- Retention ---- */

static struct task_id completed(struct bench *b, const char *key)
{
    struct task_id id = bench_create(b, "t", .key = key);
    struct task task = bench_claim(b);
    CHECK_EQ(bench_finish(b, &task, OUTCOME_COMPLETED), ERR_NONE);
    return id;
}

TEST(a_finished_task_is_removed_when_its_time_is_over)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    b.with.retention_ms = DAY_MS;
    struct task_id old = completed(&b, "k");
    bench_pass_ms(&b, DAY_MS - 1);
    CHECK(bench_has(&b, old));
    struct task_id young = completed(&b, NULL);
    bench_pass_ms(&b, 1);

    CHECK(!bench_has(&b, old));
    CHECK(bench_has(&b, young));
    CHECK_EQ(bench_count(&b, TASK_COMPLETED), 1);
    bench_pass_ms(&b, DAY_MS + HOUR_MS);
    CHECK(!bench_has(&b, young));
}

TEST(what_grew_old_while_nobody_was_there_is_removed_at_the_start)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    b.with.retention_ms = DAY_MS;
    struct task_id old = completed(&b, NULL);
    bench_jump_ms(&b, 2 * DAY_MS);
    bench_restart(&b);
    bench_settle(&b);

    CHECK(!bench_has(&b, old));
}

TEST(a_long_history_is_swept_in_pieces)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    b.with.retention_ms = DAY_MS;
    bench_create_many(&b, 1300, (struct bench_order){.type = "t", .expires_in_ms = -1});
    bench_pass_ms(&b, DAY_MS);

    CHECK_EQ(bench_count(&b, TASK_CANCELLED), 0);
}

TEST(a_task_that_ends_in_the_batch_of_a_walk_is_removed_in_its_time)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    b.with.retention_ms = DAY_MS;
    struct task_id id = bench_create(&b, "t", .expires_in_ms = -1); /* the first batch walks */
    bench_pass_ms(&b, DAY_MS);

    CHECK(!bench_has(&b, id));
}

TEST(a_task_revived_in_the_batch_that_would_sweep_it_lives)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    b.with.retention_ms = DAY_MS;
    struct task_id id = bench_create(&b, "t", .expires_in_ms = -1);
    bench_jump_ms(&b, DAY_MS);
    CHECK_EQ(bench_revive(&b, id), ERR_NONE);

    CHECK_EQ(bench_task(&b, id).state, TASK_QUEUED);
}

TEST(without_retention_finished_tasks_stay)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = completed(&b, NULL);
    bench_pass_ms(&b, 3650 * DAY_MS);
    CHECK(bench_has(&b, id));
    CHECK_EQ(engine_due_in_ms(b.engine), -1);
}
