/* tests/queue/test_wind.c: the clock that is wound by hand: each event at its own time.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "test.h"

TEST(each_event_sees_its_own_time)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id early = bench_create(&b, "t", .delay_ms = 1000);
    struct task_id late = bench_create(&b, "t", .delay_ms = DAY_MS);
    bench_pass_ms(&b, 30 * DAY_MS);

    CHECK_EQ(bench_task(&b, early).queued_ms, BENCH_START_MS + 1000);
    CHECK_EQ(bench_task(&b, late).queued_ms, BENCH_START_MS + DAY_MS);
    CHECK_EQ(bench_now(&b).wall_ms, BENCH_START_MS + 30 * DAY_MS);
}

TEST(a_whole_life_of_retries_passes_in_one_winding)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct call *claims[4];
    for (int i = 0; i < 4; i++) {
        claims[i] =
            bench_claim_call(&b, (struct bench_claim){.wait = true, .lease_ms = 10 * SECOND_MS});
        bench_give(&b, claims[i]);
    }
    bench_settle(&b);
    bench_pass_ms(&b, DAY_MS);

    CHECK_EQ(bench_task(&b, id).state, TASK_FAILED);
    CHECK_EQ(claims[1]->command.claim.tasks[0].started_ms, BENCH_START_MS + 15000);
    CHECK_EQ(claims[2]->command.claim.tasks[0].started_ms, BENCH_START_MS + 50000);
    CHECK_EQ(claims[3]->command.claim.tasks[0].started_ms, BENCH_START_MS + 185000);
}

static struct call *wind(struct bench *b, bool relative, int64_t ms)
{
    struct call *call = bench_call(b, COMMAND_CLOCK);
    call->command.clock.relative = relative;
    call->command.clock.ms = ms;
    return call;
}

TEST(the_clock_is_never_set_back)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *call = bench_run(&b, wind(&b, false, BENCH_START_MS - 1));
    CHECK_EQ(call->command.err.kind, ERR_INVALID);
    call = bench_run(&b, wind(&b, true, -1));
    CHECK_EQ(call->command.err.kind, ERR_INVALID);
    call = bench_run(&b, wind(&b, true, INT64_MAX));
    CHECK_EQ(call->command.err.kind, ERR_INVALID);
    CHECK_EQ(bench_now(&b).wall_ms, BENCH_START_MS);
}

TEST(two_windings_follow_each_other)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *one = wind(&b, false, BENCH_START_MS + 1000);
    struct call *two = wind(&b, false, BENCH_START_MS + 3000);
    bench_give(&b, one);
    bench_give(&b, two);
    bench_settle(&b);

    CHECK_EQ(one->command.clock.now_ms, BENCH_START_MS + 1000);
    CHECK_EQ(two->command.clock.now_ms, BENCH_START_MS + 3000);
}

TEST(winding_goes_on_after_a_full_disk)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .delay_ms = 1000);
    memory_disk_fail_next(b.disk, MEMORY_FULL);
    struct call *call = bench_run(&b, wind(&b, true, 1000));
    CHECK_EQ(call->command.err.kind, ERR_UNAVAILABLE);
    bench_pass_ms(&b, 5000);

    CHECK_EQ(bench_task(&b, id).state, TASK_QUEUED);
}
