/* tests/queue/test_limit.c: queues that are paused or limited, to the task and to the millisecond.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "queue/engine.h"
#include "test.h"

static struct command_queue paused(bool yes)
{
    return (struct command_queue){.has_paused = true, .set.paused = yes};
}

static struct command_queue concurrent(int64_t max)
{
    return (struct command_queue){.has_max_concurrent = true, .set.max_concurrent = max};
}

static struct command_queue rate(double per_second, int64_t burst)
{
    return (struct command_queue){
        .has_rate = true, .has_burst = true, .set.rate_per_second = per_second, .set.burst = burst};
}

static size_t claim_many(struct bench *b, size_t max)
{
    struct call *call = bench_run(b, bench_claim_call(b, (struct bench_claim){.max = max}));
    CHECK_EQ(call->command.err.kind, ERR_NONE);
    return call->command.claim.count;
}

TEST(a_paused_queue_hands_out_nothing_until_it_resumes)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    CHECK(bench_queue(&b, "default", paused(true)).settings.paused);
    CHECK_EQ(claim_many(&b, 1), 0);
    struct call *waits = bench_claim_call(&b, (struct bench_claim){.wait = true});
    bench_give(&b, waits);
    bench_settle(&b);
    CHECK(!waits->answered);
    bench_queue(&b, "default", paused(false));

    CHECK(waits->answered);
    CHECK_EQ(waits->command.claim.count, 1);
}

TEST(a_queue_stays_paused_over_a_restart)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    bench_queue(&b, "default", paused(true));
    bench_restart(&b);
    CHECK_EQ(claim_many(&b, 1), 0);
}

TEST(a_pause_changes_nothing_else)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_queue(&b, "q", concurrent(3));
    struct store_queue settings = bench_queue(&b, "q", paused(true)).settings;
    CHECK_EQ(settings.max_concurrent, 3);
    CHECK(settings.paused);
}

TEST(two_changes_of_one_queue_in_one_batch_both_count)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *one = bench_call(&b, COMMAND_QUEUE), *two = bench_call(&b, COMMAND_QUEUE);
    one->command.queue = concurrent(3);
    two->command.queue = paused(true);
    one->command.queue.name = two->command.queue.name = STR("q");
    bench_give(&b, one);
    bench_give(&b, two);
    bench_settle(&b);

    CHECK_EQ(two->command.queue.view.settings.max_concurrent, 3);
    bench_restart(&b);
    struct store_queue settings = bench_queue(&b, "q", (struct command_queue){0}).settings;
    CHECK(settings.paused);
    CHECK_EQ(settings.max_concurrent, 3);
}

/* ---- maxConcurrent ---- */

TEST(no_more_than_max_concurrent_run_at_once)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 5, (struct bench_order){.type = "t"});
    bench_queue(&b, "default", concurrent(2));
    struct task one = bench_claim(&b);
    CHECK_EQ(claim_many(&b, 5), 1);
    CHECK_EQ(claim_many(&b, 5), 0);
    CHECK_EQ(bench_finish(&b, &one, OUTCOME_COMPLETED), ERR_NONE);

    CHECK_EQ(claim_many(&b, 5), 1);
    CHECK_EQ(bench_count(&b, TASK_RUNNING), 2);
}

TEST(max_concurrent_holds_for_the_claims_of_one_batch)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 9, (struct bench_order){.type = "t"});
    bench_queue(&b, "default", concurrent(3));
    for (int i = 0; i < 3; i++) {
        bench_give(&b, bench_claim_call(&b, (struct bench_claim){.max = 2}));
    }
    bench_settle(&b);
    CHECK_EQ(bench_count(&b, TASK_RUNNING), 3);
}

TEST(max_concurrent_counts_what_runs_since_before_a_restart)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 4, (struct bench_order){.type = "t"});
    bench_queue(&b, "default", concurrent(2));
    CHECK_EQ(claim_many(&b, 4), 2);
    bench_restart(&b);
    CHECK_EQ(claim_many(&b, 4), 0);
}

TEST(a_freed_place_wakes_who_waits)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 2, (struct bench_order){.type = "t"});
    bench_queue(&b, "default", concurrent(1));
    struct task one = bench_claim(&b);
    struct call *waits = bench_claim_call(&b, (struct bench_claim){.wait = true});
    bench_give(&b, waits);
    bench_settle(&b);
    CHECK(!waits->answered);
    CHECK_EQ(bench_finish(&b, &one, OUTCOME_FAILED), ERR_NONE);

    CHECK(waits->answered);
}

TEST(a_raised_limit_wakes_who_waits)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 2, (struct bench_order){.type = "t"});
    bench_queue(&b, "default", concurrent(1));
    bench_claim(&b);
    struct call *waits = bench_claim_call(&b, (struct bench_claim){.wait = true});
    bench_give(&b, waits);
    bench_settle(&b);
    bench_queue(&b, "default", concurrent(2));

    CHECK(waits->answered);
}

/* Two may run and two claims wait. The first is proposed two tasks, one of which is cancelled in
 * the same batch: that place belongs to the second claim. */
TEST(a_place_that_a_cancelled_task_did_not_take_goes_to_the_next_claim)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_queue(&b, "default", concurrent(2));
    bench_queue(&b, "default", paused(true));
    struct task_id first = bench_create(&b, "first");
    bench_create_many(&b, 2, (struct bench_order){.type = "more"});
    struct call *one = bench_claim_call(&b, (struct bench_claim){.max = 2, .wait = true});
    struct call *two = bench_claim_call(&b, (struct bench_claim){.max = 1, .wait = true});
    struct call *resume = bench_call(&b, COMMAND_QUEUE);
    resume->command.queue = paused(false);
    resume->command.queue.name = STR("default");
    bench_give(&b, one);
    bench_give(&b, two);
    bench_give(&b, resume);
    bench_step(&b);
    bench_give(&b, bench_one_call(&b, COMMAND_CANCEL, first));
    bench_settle(&b);

    CHECK_EQ(one->command.claim.count, 1);
    CHECK(two->answered);
    CHECK_EQ(bench_count(&b, TASK_RUNNING), 2);
}

TEST(one_queue_at_its_limit_does_not_hold_up_another)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 2, (struct bench_order){.type = "t", .queue = "slow"});
    bench_create(&b, "fast", .queue = "fast", .priority = TASK_LOW);
    bench_queue(&b, "slow", concurrent(1));
    struct call *call = bench_run(
        &b,
        bench_claim_call(&b, (struct bench_claim){.queue = "slow", .queue2 = "fast", .max = 9}));
    CHECK_EQ(call->command.claim.count, 2);
    CHECK_STR(call->command.claim.tasks[1].type, "fast");
}

/* ---- Rates ---- */

TEST(a_rate_lets_a_burst_start_and_then_one_at_each_interval)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 20, (struct bench_order){.type = "t"});
    bench_queue(&b, "default", rate(10, 5));
    CHECK_EQ(claim_many(&b, 20), 5);
    for (int i = 0; i < 4; i++) {
        bench_pass_ms(&b, 99);
        CHECK_EQ(claim_many(&b, 20), 0);
        bench_pass_ms(&b, 1);
        CHECK_EQ(claim_many(&b, 20), 1);
    }
}

TEST(an_unused_rate_saves_up_no_more_than_its_burst)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 20, (struct bench_order){.type = "t"});
    bench_queue(&b, "default", rate(10, 3));
    bench_pass_ms(&b, HOUR_MS);
    CHECK_EQ(claim_many(&b, 20), 3);
}

TEST(a_burst_that_is_not_given_is_one_second_of_the_rate)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 20, (struct bench_order){.type = "t"});
    bench_queue(&b, "default", rate(7, 0));
    CHECK_EQ(claim_many(&b, 20), 7);
}

TEST(a_slow_rate_starts_one_task_and_then_waits)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 3, (struct bench_order){.type = "t"});
    bench_queue(&b, "default", rate(0.5, 0));
    CHECK_EQ(claim_many(&b, 3), 1);
    bench_pass_ms(&b, 1999);
    CHECK_EQ(claim_many(&b, 3), 0);
    bench_pass_ms(&b, 1);
    CHECK_EQ(claim_many(&b, 3), 1);
}

/* The API takes no such rate, but an old file may have one. */
TEST(a_rate_too_slow_to_be_counted_lets_the_engine_sleep)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    static const double rates[] = {1e-17, 1e-300, 5e-324};
    bench_create_many(&b, 9, (struct bench_order){.type = "t"});
    for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
        bench_queue(&b, "default", rate(0, 0));
        bench_queue(&b, "default", rate(rates[i], 1));
        struct call *waits = bench_claim_call(&b, (struct bench_claim){.wait = true, .max = 1});
        CHECK_EQ(claim_many(&b, 1), 1);
        bench_give(&b, waits);
        bench_settle(&b);
        CHECK(!waits->answered);
        CHECK(engine_event_in_ms(b.engine, clock_now(&b.clock)) >
              SECOND_MS); /* a lease ends before the rate allows more */
        bench_pass_ms(&b, SECOND_MS);
        CHECK(!waits->answered);
        bench_queue(&b, "default", rate(0, 0));
        CHECK(waits->answered);
    }
}

TEST(a_restart_begins_with_an_empty_bucket)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 20, (struct bench_order){.type = "t"});
    bench_queue(&b, "default", rate(10, 5));
    CHECK_EQ(claim_many(&b, 20), 5);
    bench_restart(&b);
    CHECK_EQ(claim_many(&b, 20), 0);
    bench_pass_ms(&b, 100);
    CHECK_EQ(claim_many(&b, 20), 1);
}

TEST(a_waiting_claim_is_served_when_the_rate_allows)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 3, (struct bench_order){.type = "t"});
    bench_queue(&b, "default", rate(10, 1));
    CHECK_EQ(claim_many(&b, 3), 1);
    struct call *waits = bench_claim_call(&b, (struct bench_claim){.wait = true});
    bench_give(&b, waits);
    bench_settle(&b);
    CHECK_EQ(engine_due_in_ms(b.engine), 100);
    bench_pass_ms(&b, 100);

    CHECK(waits->answered);
    CHECK_EQ(waits->command.claim.tasks[0].started_ms, BENCH_START_MS + 100);
}

TEST(a_full_bucket_at_max_concurrent_does_not_keep_the_engine_awake)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 3, (struct bench_order){.type = "t", .timeout_ms = BENCH_NONE});
    bench_queue(&b, "default", rate(100, 50));
    bench_queue(&b, "default", concurrent(1));
    bench_claim(&b, .lease_ms = HOUR_MS);
    bench_give(&b, bench_claim_call(&b, (struct bench_claim){.wait = true}));
    bench_settle(&b);
    bench_pass_ms(&b, 2000);

    CHECK_EQ(engine_due_in_ms(b.engine), HOUR_MS - 2000);
}

TEST(a_lifted_rate_lets_everything_start)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 9, (struct bench_order){.type = "t"});
    bench_queue(&b, "default", rate(1, 1));
    CHECK_EQ(claim_many(&b, 9), 1);
    bench_queue(&b, "default", rate(0, 0));
    CHECK_EQ(claim_many(&b, 9), 8);
}
