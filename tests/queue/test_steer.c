/* tests/queue/test_steer.c: cancel, retry, change and remove, in each state and each race.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "test.h"

/* ---- Cancel ---- */

TEST(a_queued_task_is_cancelled_at_once)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    CHECK_EQ(bench_cancel(&b, id), ERR_NONE);

    CHECK_EQ(bench_task(&b, id).state, TASK_CANCELLED);
    CHECK_STR(bench_task(&b, id).cancel_reason, "changed my mind");
    CHECK(id_none(bench_claim(&b).id));
}

TEST(a_scheduled_task_is_cancelled_and_never_falls_due)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .delay_ms = 1000);
    CHECK_EQ(bench_cancel(&b, id), ERR_NONE);
    bench_pass_ms(&b, 2000);
    CHECK_EQ(bench_task(&b, id).state, TASK_CANCELLED);
}

TEST(a_retrying_task_is_cancelled_at_once)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    struct task task = bench_claim(&b);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_FAILED), ERR_NONE);
    CHECK_EQ(bench_cancel(&b, task.id), ERR_NONE);
    bench_pass_ms(&b, 5000);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_CANCELLED);
}

TEST(a_finished_task_cannot_be_cancelled)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    struct task task = bench_claim(&b);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(bench_cancel(&b, task.id), ERR_CONFLICT);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_COMPLETED);
}

TEST(cancelling_twice_is_the_same_as_once)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    CHECK_EQ(bench_cancel(&b, id), ERR_NONE);
    CHECK_EQ(bench_cancel(&b, id), ERR_NONE);
    CHECK_STR(bench_story(&b, id), "QUEUED CANCELLED");
}

TEST(an_unknown_task_is_not_found)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = {7, 7};
    CHECK_EQ(bench_cancel(&b, id), ERR_NOT_FOUND);
    CHECK_EQ(bench_revive(&b, id), ERR_NOT_FOUND);
    CHECK_EQ(bench_remove(&b, id), ERR_NOT_FOUND);
    CHECK_EQ(bench_why(&b, id)->command.err.kind, ERR_NOT_FOUND);
}

/* A running task: the attempt is asked to stop and holds its document until it has. */
static struct task cancel_requested(struct bench *b)
{
    bench_create(b, "t", .document = "d");
    struct task task = bench_claim(b);
    CHECK_EQ(bench_cancel(b, task.id), ERR_NONE);
    CHECK_EQ(bench_task(b, task.id).state, TASK_RUNNING);
    CHECK(bench_task(b, task.id).cancel_requested);
    CHECK(bench_document(b, "d").locked);
    return task;
}

TEST(completing_wins_over_a_requested_cancel)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task task = cancel_requested(&b);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_COMPLETED);
}

TEST(failing_after_a_requested_cancel_ends_cancelled)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task task = cancel_requested(&b);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_FAILED), ERR_NONE);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_CANCELLED);
    CHECK(!bench_document(&b, "d").locked);
}

TEST(releasing_after_a_requested_cancel_ends_cancelled)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task task = cancel_requested(&b);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_RELEASED), ERR_NONE);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_CANCELLED);
}

TEST(an_attempt_that_ignores_a_cancel_loses_its_lease_after_the_grace_period)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task task = cancel_requested(&b);
    bench_pass_ms(&b, 9999);
    CHECK_EQ(bench_heartbeat(&b, &task, 60000), ERR_NONE);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_RUNNING);
    bench_pass_ms(&b, 1);

    CHECK_EQ(bench_task(&b, task.id).state, TASK_CANCELLED);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_LEASE_LOST);
    CHECK(!bench_document(&b, "d").locked);
}

TEST(the_grace_period_is_kept_over_a_restart)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task task = cancel_requested(&b);
    bench_restart(&b);
    bench_pass_ms(&b, 10000);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_CANCELLED);
}

TEST(a_complete_and_a_cancel_of_one_batch_go_by_their_order)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 2, (struct bench_order){.type = "t"});
    struct task one = bench_claim(&b), two = bench_claim(&b);
    struct call *late = bench_one_call(&b, COMMAND_CANCEL, one.id);
    struct call *early = bench_one_call(&b, COMMAND_CANCEL, two.id);
    struct call *complete = bench_finish_call(&b, &two, OUTCOME_COMPLETED);
    bench_give(&b, bench_finish_call(&b, &one, OUTCOME_COMPLETED));
    bench_give(&b, late);
    bench_give(&b, early);
    bench_give(&b, complete);
    bench_settle(&b);

    CHECK_EQ(late->command.err.kind, ERR_CONFLICT);
    CHECK_EQ(early->command.err.kind, ERR_NONE);
    CHECK(early->command.one.task.cancel_requested);
    CHECK_EQ(complete->command.finish.items[0].err.kind, ERR_NONE);
    CHECK_EQ(bench_task(&b, two.id).state, TASK_COMPLETED);
}

TEST(a_cancel_and_a_retry_of_one_batch_go_by_their_order)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    bench_give(&b, bench_one_call(&b, COMMAND_CANCEL, id));
    bench_give(&b, bench_one_call(&b, COMMAND_REVIVE, id));
    bench_settle(&b);

    CHECK_EQ(bench_task(&b, id).state, TASK_QUEUED);
    CHECK_STR(bench_story(&b, id), "QUEUED CANCELLED QUEUED");
    CHECK(id_eq(bench_claim(&b).id, id));
}

/* ---- Manual retry ---- */

TEST(a_failed_task_is_revived_with_a_fresh_budget)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t", .max_retries = BENCH_NONE);
    struct task task = bench_claim(&b);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_FAILED), ERR_NONE);
    CHECK_EQ(bench_revive(&b, task.id), ERR_NONE);

    struct task again = bench_claim(&b);
    CHECK(id_eq(again.id, task.id));
    CHECK_EQ(again.attempt, 2);
    CHECK_EQ(again.retries, 0);
}

TEST(a_revival_may_leave_the_retries_used_that_were)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t", .max_retries = 1, .backoff_ms = 1000);
    struct task task = bench_claim(&b, .worker = "w1");
    bench_finish(&b, &task, OUTCOME_FAILED);
    bench_pass_ms(&b, 1000);
    task = bench_claim(&b, .worker = "w1");
    bench_finish(&b, &task, OUTCOME_FAILED);
    struct call *call = bench_one_call(&b, COMMAND_REVIVE, task.id);
    call->command.one.keeps_retries = true;
    CHECK_EQ(bench_run(&b, call)->command.err.kind, ERR_NONE);
    CHECK_EQ(bench_task(&b, task.id).retries, 1);
    task = bench_claim(&b, .worker = "w1");
    bench_finish(&b, &task, OUTCOME_FAILED);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_FAILED);
}

TEST(what_waits_for_its_time_can_be_killed_and_stays_so)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .delay_ms = 1000);
    CHECK_EQ(bench_run(&b, bench_one_call(&b, COMMAND_KILL, id))->command.err.kind, ERR_NONE);
    CHECK_EQ(bench_task(&b, id).state, TASK_FAILED);
    CHECK_STR(bench_task(&b, id).error.code, "killed");
    bench_pass_ms(&b, 2000);
    CHECK_EQ(bench_task(&b, id).state, TASK_FAILED);
    CHECK_EQ(bench_run(&b, bench_one_call(&b, COMMAND_KILL, id))->command.err.kind, ERR_CONFLICT);
}

TEST(only_what_ended_badly_can_be_revived)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id queued = bench_create(&b, "t");
    CHECK_EQ(bench_revive(&b, queued), ERR_CONFLICT);
    struct task task = bench_claim(&b);
    CHECK_EQ(bench_revive(&b, queued), ERR_CONFLICT);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(bench_revive(&b, queued), ERR_CONFLICT);
}

/* ---- Change ---- */

TEST(a_new_priority_moves_a_task_in_the_line)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "first");
    struct task_id id = bench_create(&b, "second");
    struct task_patch patch = {TASK_BIT(priority), &(struct task){.priority = TASK_HIGH}};
    CHECK_EQ(bench_change(&b, id, patch), ERR_NONE);
    CHECK_STR(bench_claim(&b).type, "second");
}

TEST(a_queued_task_put_off_waits_for_its_new_time)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task_patch later = {TASK_BIT(scheduled_ms),
                               &(struct task){.scheduled_ms = BENCH_START_MS + 1000}};
    CHECK_EQ(bench_change(&b, id, later), ERR_NONE);
    CHECK_EQ(bench_task(&b, id).state, TASK_SCHEDULED);
    CHECK(id_none(bench_claim(&b).id));
    bench_pass_ms(&b, 1000);
    CHECK(id_eq(bench_claim(&b).id, id));
}

TEST(a_scheduled_task_may_be_brought_forward_to_now)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .delay_ms = HOUR_MS);
    struct task_patch now = {TASK_BIT(scheduled_ms),
                             &(struct task){.scheduled_ms = BENCH_START_MS}};
    CHECK_EQ(bench_change(&b, id, now), ERR_NONE);
    CHECK(id_eq(bench_claim(&b).id, id));
}

TEST(the_time_of_a_retry_may_be_changed)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    struct task task = bench_claim(&b);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_FAILED), ERR_NONE);
    struct task_patch sooner = {TASK_BIT(scheduled_ms),
                                &(struct task){.scheduled_ms = BENCH_START_MS + 100}};
    CHECK_EQ(bench_change(&b, task.id, sooner), ERR_NONE);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_RETRYING);
    bench_pass_ms(&b, 100);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_QUEUED);
}

TEST(a_running_task_cannot_be_changed)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    bench_claim(&b);
    struct task_patch patch = {TASK_BIT(priority), &(struct task){.priority = TASK_HIGH}};
    CHECK_EQ(bench_change(&b, id, patch), ERR_CONFLICT);
}

TEST(a_changed_priority_counts_behind_a_locked_document)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "holder", .document = "d");
    struct task holder = bench_claim(&b);
    bench_create(&b, "first", .document = "d");
    struct task_id id = bench_create(&b, "second", .document = "d");
    struct task_patch patch = {TASK_BIT(priority), &(struct task){.priority = TASK_HIGH}};
    CHECK_EQ(bench_change(&b, id, patch), ERR_NONE);
    CHECK_EQ(bench_finish(&b, &holder, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_STR(bench_claim(&b).type, "second");
}

/* ---- Remove ---- */

TEST(only_a_finished_task_can_be_removed)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    CHECK_EQ(bench_remove(&b, id), ERR_CONFLICT);
    CHECK_EQ(bench_cancel(&b, id), ERR_NONE);
    CHECK_EQ(bench_remove(&b, id), ERR_NONE);

    CHECK(!bench_has(&b, id));
    CHECK_EQ(bench_remove(&b, id), ERR_NOT_FOUND);
    CHECK_STR(bench_story(&b, id), "QUEUED CANCELLED removed");
    CHECK_EQ(bench_count(&b, TASK_CANCELLED), 0);
}

TEST(a_retry_behind_a_removal_of_the_same_batch_finds_nothing)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    CHECK_EQ(bench_cancel(&b, id), ERR_NONE);
    struct call *revive = bench_one_call(&b, COMMAND_REVIVE, id);
    bench_give(&b, bench_one_call(&b, COMMAND_REMOVE, id));
    bench_give(&b, revive);
    bench_settle(&b);

    CHECK_EQ(revive->command.err.kind, ERR_NOT_FOUND);
    CHECK(!bench_has(&b, id));
}
