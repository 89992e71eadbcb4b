/* tests/queue/test_create.c: orders come in whole, once, and survive.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "test.h"

TEST(a_new_task_is_queued_with_everything_it_was_ordered_with)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "mail", .payload = "[1]", .document = "d", .key = "k");

    struct task task = bench_task(&b, id);
    CHECK_EQ(task.state, TASK_QUEUED);
    CHECK_STR(task.type, "mail");
    CHECK_STR(task.queue, "default");
    CHECK_STR(task.payload, "[1]");
    CHECK_STR(task.document, "d");
    CHECK_STR(task.key, "k");
    CHECK_EQ(task.attempt, 0);
    CHECK_EQ(task.queued_ms, BENCH_START_MS);
    CHECK_EQ(task.created_ms, BENCH_START_MS);
}

TEST(the_tasks_of_an_array_are_created_in_its_order)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct bench_order orders[] = {{.type = "a"}, {.type = "b"}, {.type = "c"}};
    struct command *command = &bench_run(&b, bench_create_call(&b, orders, 3))->command;

    CHECK(command->create.orders[0].task.id.hi < command->create.orders[1].task.id.hi);
    CHECK(command->create.orders[1].task.id.hi < command->create.orders[2].task.id.hi);
    CHECK_STR(bench_claim(&b).type, "a");
    CHECK_STR(bench_claim(&b).type, "b");
    CHECK_STR(bench_claim(&b).type, "c");
}

TEST(a_delayed_task_is_scheduled_and_not_claimable)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "later", .delay_ms = 1000);

    CHECK_EQ(bench_task(&b, id).state, TASK_SCHEDULED);
    CHECK_EQ(bench_task(&b, id).scheduled_ms, BENCH_START_MS + 1000);
    CHECK(id_none(bench_claim(&b).id));
}

TEST(a_task_that_expired_before_it_came_is_cancelled_at_once)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "late", .expires_in_ms = -1);

    CHECK_EQ(bench_task(&b, id).state, TASK_CANCELLED);
    CHECK_STR(bench_task(&b, id).cancel_reason, "expired");
}

/* ---- Idempotency keys ---- */

static struct order *only(struct call *call)
{
    CHECK(call->answered);
    CHECK_EQ(call->command.err.kind, ERR_NONE);
    return &call->command.create.orders[0];
}

static struct call *keyed(struct bench *b, const char *payload)
{
    return bench_create_call(b, &(struct bench_order){.type = "t", .key = "k", .payload = payload},
                             1);
}

TEST(a_known_key_returns_the_first_task_in_whatever_state)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id first = bench_create(&b, "t", .key = "k", .payload = "1");
    struct task task = bench_claim(&b);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);

    struct order *again = only(bench_run(&b, keyed(&b, "2")));
    CHECK(again->known);
    CHECK(id_eq(again->task.id, first));
    CHECK_EQ(again->task.state, TASK_COMPLETED);
    CHECK_STR(again->task.payload, "1");
}

TEST(two_creates_with_one_key_in_one_batch_make_one_task)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *first = keyed(&b, "1"), *second = keyed(&b, "2");
    bench_give(&b, first);
    bench_give(&b, second);
    bench_settle(&b);

    CHECK(!only(first)->known);
    CHECK(only(second)->known);
    CHECK(id_eq(only(first)->task.id, only(second)->task.id));
    CHECK_STR(only(second)->task.payload, "1");
    CHECK_EQ(bench_count(&b, TASK_QUEUED), 1);
}

TEST(one_key_twice_in_one_array_makes_one_task_in_both_places)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct bench_order orders[] = {
        {.type = "t", .key = "k"}, {.type = "u"}, {.type = "v", .key = "k"}};
    struct order *made = bench_run(&b, bench_create_call(&b, orders, 3))->command.create.orders;

    CHECK(!made[0].known);
    CHECK(made[2].known);
    CHECK(id_eq(made[0].task.id, made[2].task.id));
    CHECK_STR(made[2].task.type, "t");
    CHECK_EQ(bench_count(&b, TASK_QUEUED), 2);
}

TEST(a_key_lives_as_long_as_its_task)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id first = bench_create(&b, "t", .key = "k");
    CHECK_EQ(bench_cancel(&b, first), ERR_NONE);
    CHECK_EQ(bench_remove(&b, first), ERR_NONE);

    struct order *fresh = only(bench_run(&b, keyed(&b, "2")));
    CHECK(!fresh->known);
    CHECK(!id_eq(fresh->task.id, first));
}

TEST(a_key_is_free_for_a_create_that_follows_the_removal_in_the_same_batch)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id first = bench_create(&b, "t", .key = "k");
    CHECK_EQ(bench_cancel(&b, first), ERR_NONE);
    struct call *remove = bench_one_call(&b, COMMAND_REMOVE, first), *create = keyed(&b, "2");
    bench_give(&b, remove);
    bench_give(&b, create);
    bench_settle(&b);

    CHECK_EQ(remove->command.err.kind, ERR_NONE);
    CHECK(!only(create)->known);
    CHECK(!bench_has(&b, first));
    CHECK_EQ(bench_task(&b, only(create)->task.id).state, TASK_QUEUED);
}

TEST(a_known_task_is_answered_whole_though_a_heartbeat_loaded_it_in_part)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t", .key = "k", .payload = "{\"big\":1}");
    struct task task = bench_claim(&b);
    struct call *create = keyed(&b, "2");
    bench_give(&b, bench_heartbeat_call(&b, &task, 5000));
    bench_give(&b, create);
    bench_settle(&b);

    CHECK(only(create)->known);
    CHECK_STR(only(create)->task.payload, "{\"big\":1}");
    CHECK_EQ(only(create)->task.state, TASK_RUNNING);
}

TEST(a_key_survives_a_restart)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id first = bench_create(&b, "t", .key = "k");
    bench_restart(&b);

    CHECK(id_eq(only(bench_run(&b, keyed(&b, "2")))->task.id, first));
}

TEST(ids_go_on_growing_after_a_restart)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id first = bench_create(&b, "t");
    bench_restart(&b);

    CHECK(bench_create(&b, "t").hi > first.hi);
}
