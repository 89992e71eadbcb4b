/* tests/queue/test_bulk.c: cancel, retry and purge of many, in chunks, while others go on.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "test.h"

TEST(a_bulk_cancel_takes_all_that_match_and_nothing_else)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 5, (struct bench_order){.type = "a"});
    bench_create_many(&b, 3, (struct bench_order){.type = "b"});
    struct call *call =
        bench_run(&b, bench_bulk_call(&b, BULK_CANCEL, (struct task_filter){.type = STR("a")}));

    CHECK_EQ(call->command.bulk.count, 5);
    CHECK_EQ(bench_count(&b, TASK_CANCELLED), 5);
    CHECK_EQ(bench_count(&b, TASK_QUEUED), 3);
}

TEST(a_bulk_cancel_of_thousands_goes_in_chunks_while_others_go_on)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 2500, (struct bench_order){.type = "a"});
    struct call *bulk = bench_bulk_call(&b, BULK_CANCEL, (struct task_filter){.type = STR("a")});
    struct call *create = bench_create_call(&b, &(struct bench_order){.type = "a"}, 1);
    bench_give(&b, bulk);
    CHECK(bench_step(&b));
    CHECK(!bulk->answered);
    bench_give(&b, create);
    CHECK(bench_step(&b));
    CHECK(create->answered && !bulk->answered);
    bench_settle(&b);

    CHECK(bulk->answered);
    CHECK_EQ(bulk->command.bulk.count, 2500);
    CHECK_EQ(bench_task(&b, create->command.create.orders[0].task.id).state, TASK_QUEUED);
}

TEST(a_bulk_cancel_asks_running_tasks_to_stop)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 2, (struct bench_order){.type = "a"});
    struct task task = bench_claim(&b);
    struct task_filter filter = {.type = STR("a")};
    struct call *call = bench_run(&b, bench_bulk_call(&b, BULK_CANCEL, filter));

    CHECK_EQ(call->command.bulk.count, 2);
    CHECK(bench_task(&b, task.id).cancel_requested);
    call = bench_run(&b, bench_bulk_call(&b, BULK_CANCEL, filter));
    CHECK_EQ(call->command.bulk.count, 0);
}

TEST(a_bulk_cancel_does_not_miss_a_task_whose_worker_speaks_in_the_same_batch)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 3, (struct bench_order){.type = "a"});
    struct task task = bench_claim(&b);
    struct call *bulk = bench_bulk_call(&b, BULK_CANCEL, (struct task_filter){.type = STR("a")});
    bench_give(&b, bench_heartbeat_call(&b, &task, 5000));
    bench_give(&b, bulk);
    bench_settle(&b);

    CHECK_EQ(bulk->command.bulk.count, 3);
    CHECK(bench_task(&b, task.id).cancel_requested);
    CHECK_EQ(bench_count(&b, TASK_CANCELLED), 2);
}

TEST(a_bulk_retry_revives_what_ended_badly)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 1200, (struct bench_order){.type = "a"});
    struct task_filter filter = {.type = STR("a")};
    bench_run(&b, bench_bulk_call(&b, BULK_CANCEL, filter));
    struct call *call = bench_run(&b, bench_bulk_call(&b, BULK_REVIVE, filter));

    CHECK_EQ(call->command.bulk.count, 1200);
    CHECK_EQ(bench_count(&b, TASK_QUEUED), 1200);
    CHECK(!id_none(bench_claim(&b).id));
}

TEST(a_bulk_command_keeps_to_the_states_it_was_given)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "a");
    bench_create(&b, "a", .delay_ms = 1000);
    struct task_filter filter = {.type = STR("a"), .states = 1u << TASK_SCHEDULED};
    CHECK_EQ(bench_run(&b, bench_bulk_call(&b, BULK_CANCEL, filter))->command.bulk.count, 1);
    filter.states = 1u << TASK_COMPLETED;
    CHECK_EQ(bench_run(&b, bench_bulk_call(&b, BULK_CANCEL, filter))->command.bulk.count, 0);
}

TEST(a_purge_spares_what_runs)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 3, (struct bench_order){.type = "a", .queue = "q"});
    bench_create(&b, "later", .queue = "q", .delay_ms = 1000);
    bench_create(&b, "other");
    struct task running = bench_claim(&b, .queue = "q");
    struct call *call =
        bench_run(&b, bench_bulk_call(&b, BULK_PURGE, (struct task_filter){.queue = STR("q")}));

    CHECK_EQ(call->command.bulk.count, 3);
    CHECK(!bench_task(&b, running.id).cancel_requested);
    CHECK_EQ(bench_count(&b, TASK_QUEUED), 1);
    CHECK_EQ(bench_count(&b, TASK_CANCELLED), 3);
}

TEST(a_bulk_command_that_meets_a_full_disk_says_so)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 1500, (struct bench_order){.type = "a"});
    struct call *bulk = bench_bulk_call(&b, BULK_CANCEL, (struct task_filter){.type = STR("a")});
    bench_give(&b, bulk);
    bench_step(&b);
    memory_disk_fail_next(b.disk, MEMORY_FULL);
    bench_settle(&b);

    CHECK(bulk->answered);
    CHECK_EQ(bulk->command.err.kind, ERR_UNAVAILABLE);
    CHECK_EQ(bench_count(&b, TASK_CANCELLED), 1000);
}
