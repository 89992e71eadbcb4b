/* tests/queue/test_finish.c: the end of an attempt: done, failed, given back; retries; heartbeats.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "test.h"

TEST(a_completed_task_keeps_its_result)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task task = bench_claim(&b);
    bench_pass_ms(&b, 40);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);

    task = bench_task(&b, id);
    CHECK_EQ(task.state, TASK_COMPLETED);
    CHECK_STR(task.result, "{\"ok\":true}");
    CHECK_EQ(task.finished_ms, BENCH_START_MS + 40);
    CHECK_EQ(task.outcome, OUTCOME_COMPLETED);
}

TEST(a_failed_attempt_is_retried_after_5_25_and_125_seconds_then_fails)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    const int64_t waits_ms[] = {5000, 25000, 125000};
    for (int i = 0; i < 3; i++) {
        struct task task = bench_claim(&b);
        CHECK_EQ(bench_finish(&b, &task, OUTCOME_FAILED), ERR_NONE);
        CHECK_EQ(bench_task(&b, id).state, TASK_RETRYING);
        CHECK_EQ(bench_task(&b, id).retries, i + 1);
        bench_pass_ms(&b, waits_ms[i] - 1);
        CHECK(id_none(bench_claim(&b).id));
        bench_pass_ms(&b, 1);
        CHECK_EQ(bench_task(&b, id).state, TASK_QUEUED);
    }
    struct task last = bench_claim(&b);
    CHECK_EQ(bench_finish(&b, &last, OUTCOME_FAILED), ERR_NONE);

    CHECK_EQ(bench_task(&b, id).state, TASK_FAILED);
    CHECK_EQ(bench_task(&b, id).attempt, 4);
    CHECK_STR(bench_task(&b, id).error.code, "oops");
}

TEST(a_worker_may_say_not_to_retry)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task task = bench_claim(&b);
    struct call *call = bench_finish_call(&b, &task, OUTCOME_FAILED);
    call->command.finish.items[0].retry = false;
    bench_run(&b, call);

    CHECK_EQ(bench_task(&b, id).state, TASK_FAILED);
    CHECK_EQ(bench_task(&b, id).retries, 0);
}

TEST(a_release_uses_no_retry_and_may_wait)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task task = bench_claim(&b);
    struct call *call = bench_finish_call(&b, &task, OUTCOME_RELEASED);
    call->command.finish.items[0].delay_ms = 300;
    bench_run(&b, call);
    CHECK_EQ(bench_task(&b, id).state, TASK_SCHEDULED);
    bench_pass_ms(&b, 300);

    CHECK_EQ(bench_task(&b, id).state, TASK_QUEUED);
    CHECK_EQ(bench_task(&b, id).retries, 0);
    CHECK_EQ(bench_task(&b, id).queued_ms, BENCH_START_MS);
}

TEST(each_attempt_is_on_record)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task first = bench_claim(&b, .worker = "w1");
    CHECK_EQ(bench_finish(&b, &first, OUTCOME_FAILED), ERR_NONE);
    bench_pass_ms(&b, 5000);
    struct task second = bench_claim(&b, .worker = "w2");
    CHECK_EQ(bench_finish(&b, &second, OUTCOME_COMPLETED), ERR_NONE);

    struct task_detail detail = bench_detail(&b, id);
    CHECK_EQ(detail.attempts_count, 2);
    CHECK_EQ(detail.attempts[0].outcome, OUTCOME_FAILED);
    CHECK_STR(detail.attempts[0].worker, "w1");
    CHECK_STR(detail.attempts[0].error.message, "it broke");
    CHECK_EQ(detail.attempts[1].outcome, OUTCOME_COMPLETED);
    CHECK_STR(detail.attempts[1].worker, "w2");
}

/* ---- Leases ---- */

TEST(an_old_lease_is_refused_and_changes_nothing)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task old = bench_claim(&b, .lease_ms = 1000);
    bench_pass_ms(&b, 1000 + 5000);
    struct task current = bench_claim(&b);
    CHECK_EQ(current.attempt, 2);

    CHECK_EQ(bench_finish(&b, &old, OUTCOME_COMPLETED), ERR_LEASE_LOST);
    CHECK_EQ(bench_finish(&b, &old, OUTCOME_FAILED), ERR_LEASE_LOST);
    CHECK_EQ(bench_finish(&b, &old, OUTCOME_RELEASED), ERR_LEASE_LOST);
    CHECK_EQ(bench_heartbeat(&b, &old, 9000), ERR_LEASE_LOST);
    CHECK_EQ(bench_task(&b, id).state, TASK_RUNNING);
    CHECK_EQ(bench_task(&b, id).lease_until_ms, current.lease_until_ms);
}

TEST(a_guessed_token_is_refused)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    struct task task = bench_claim(&b);
    task.token ^= 2;
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_LEASE_LOST);
}

TEST(saying_the_same_again_is_answered_with_the_task_as_it_is)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    struct task task = bench_claim(&b);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);

    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_FAILED), ERR_LEASE_LOST);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_COMPLETED);
}

TEST(a_fail_may_be_repeated_until_a_newer_attempt_starts)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    struct task task = bench_claim(&b);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_FAILED), ERR_NONE);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_FAILED), ERR_NONE);
    CHECK_EQ(bench_task(&b, task.id).retries, 1);
    bench_pass_ms(&b, 5000);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_FAILED), ERR_NONE);
    bench_claim(&b);

    CHECK_EQ(bench_finish(&b, &task, OUTCOME_FAILED), ERR_LEASE_LOST);
}

TEST(two_finishes_of_one_batch_are_decided_one_on_the_result_of_the_other)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task task = bench_claim(&b);
    struct call *complete = bench_finish_call(&b, &task, OUTCOME_COMPLETED);
    struct call *fail = bench_finish_call(&b, &task, OUTCOME_FAILED);
    struct call *again = bench_finish_call(&b, &task, OUTCOME_COMPLETED);
    bench_give(&b, complete);
    bench_give(&b, fail);
    bench_give(&b, again);
    bench_settle(&b);

    CHECK_EQ(complete->command.finish.items[0].err.kind, ERR_NONE);
    CHECK_EQ(fail->command.finish.items[0].err.kind, ERR_LEASE_LOST);
    CHECK_EQ(again->command.finish.items[0].err.kind, ERR_NONE);
    CHECK_EQ(bench_task(&b, id).state, TASK_COMPLETED);
}

TEST(each_item_of_a_finish_has_its_own_answer)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 2, (struct bench_order){.type = "t"});
    struct task one = bench_claim(&b), two = bench_claim(&b);
    struct finish items[3];
    items[0] = bench_finish_call(&b, &one, OUTCOME_COMPLETED)->command.finish.items[0];
    items[1] = bench_finish_call(&b, &two, OUTCOME_FAILED)->command.finish.items[0];
    items[2] = (struct finish){.id = {1, 2}, .outcome = OUTCOME_COMPLETED};
    struct call *call = bench_call(&b, COMMAND_FINISH);
    call->command.finish = (struct command_finish){items, 3};
    bench_run(&b, call);

    CHECK_EQ(items[0].err.kind, ERR_NONE);
    CHECK_EQ(items[0].task.state, TASK_COMPLETED);
    CHECK_EQ(items[1].task.state, TASK_RETRYING);
    CHECK_EQ(items[2].err.kind, ERR_NOT_FOUND);
}

TEST(one_task_twice_in_one_finish_is_said_twice)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task task = bench_claim(&b);
    struct finish items[2];
    items[0] = bench_finish_call(&b, &task, OUTCOME_COMPLETED)->command.finish.items[0];
    items[1] = bench_finish_call(&b, &task, OUTCOME_RELEASED)->command.finish.items[0];
    struct call *call = bench_call(&b, COMMAND_FINISH);
    call->command.finish = (struct command_finish){items, 2};
    bench_run(&b, call);

    CHECK_EQ(items[0].err.kind, ERR_NONE);
    CHECK_EQ(items[1].err.kind, ERR_LEASE_LOST);
    CHECK_EQ(bench_task(&b, id).state, TASK_COMPLETED);
}

/* ---- Heartbeats ---- */

TEST(a_heartbeat_sets_the_lease_anew)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task task = bench_claim(&b, .lease_ms = 1000);
    bench_pass_ms(&b, 900);
    CHECK_EQ(bench_heartbeat(&b, &task, -1), ERR_NONE);
    bench_pass_ms(&b, 999);
    CHECK_EQ(bench_task(&b, id).state, TASK_RUNNING);
    CHECK_EQ(bench_heartbeat(&b, &task, 3000), ERR_NONE);
    CHECK_EQ(bench_task(&b, id).lease_until_ms, BENCH_START_MS + 1899 + 3000);
    bench_pass_ms(&b, 3000);

    CHECK_EQ(bench_task(&b, id).state, TASK_RETRYING);
    CHECK_EQ(bench_task(&b, id).outcome, OUTCOME_LOST);
}

TEST(a_heartbeat_may_shorten_the_lease)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task task = bench_claim(&b, .lease_ms = 60000);
    CHECK_EQ(bench_heartbeat(&b, &task, 1000), ERR_NONE);
    bench_pass_ms(&b, 1000);

    CHECK_EQ(bench_task(&b, id).state, TASK_RETRYING);
}

TEST(a_heartbeat_tells_progress_log_and_the_wish_to_cancel)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task task = bench_claim(&b);
    CHECK_EQ(bench_cancel(&b, id), ERR_NONE);
    struct call *call = bench_heartbeat_call(&b, &task, -1);
    call->command.heartbeat.progress = 40;
    call->command.heartbeat.message = STR("almost");
    call->command.heartbeat.log = STR("line 1\n");
    bench_run(&b, call);

    CHECK(call->command.heartbeat.cancel_requested);
    CHECK_EQ((int)bench_task(&b, id).progress, 40);
    CHECK_STR(bench_task(&b, id).progress_message, "almost");
    struct task_detail detail = bench_detail(&b, id);
    CHECK_STR(detail.attempts[0].log, "line 1\n");
}

TEST(two_heartbeats_of_one_batch_both_count)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task task = bench_claim(&b);
    struct call *one = bench_heartbeat_call(&b, &task, 2000);
    struct call *two = bench_heartbeat_call(&b, &task, 7000);
    one->command.heartbeat.log = STR("a\n");
    two->command.heartbeat.log = STR("b\n");
    bench_give(&b, one);
    bench_give(&b, two);
    bench_settle(&b);

    CHECK_EQ(bench_task(&b, id).lease_until_ms, BENCH_START_MS + 7000);
    CHECK_STR(bench_detail(&b, id).attempts[0].log, "a\nb\n");
}
