/* tests/queue/test_wait.c: claims that wait: woken by what they wait for, stopped, drained.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "test.h"

static struct call *waits(struct bench *b, struct bench_claim claim)
{
    claim.wait = true;
    struct call *call = bench_claim_call(b, claim);
    bench_give(b, call);
    bench_settle(b);
    return call;
}

TEST(a_waiting_claim_is_woken_by_a_new_task)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *claim = waits(&b, (struct bench_claim){.max = 1});
    CHECK(!claim->answered);
    struct task_id id = bench_create(&b, "t");

    CHECK(claim->answered);
    CHECK_EQ(claim->command.claim.count, 1);
    CHECK(id_eq(claim->command.claim.tasks[0].id, id));
}

TEST(a_waiting_claim_is_woken_by_a_task_that_falls_due)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t", .delay_ms = 500);
    struct call *claim = waits(&b, (struct bench_claim){.max = 1});
    bench_pass_ms(&b, 500);

    CHECK(claim->answered);
    CHECK_EQ(claim->command.claim.tasks[0].started_ms, BENCH_START_MS + 500);
}

TEST(a_waiting_claim_is_woken_when_a_document_is_let_go)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "one", .document = "d");
    bench_create(&b, "two", .document = "d");
    struct task one = bench_claim(&b);
    struct call *claim = waits(&b, (struct bench_claim){.max = 1});
    CHECK(!claim->answered);
    CHECK_EQ(bench_finish(&b, &one, OUTCOME_COMPLETED), ERR_NONE);

    CHECK(claim->answered);
    CHECK_STR(claim->command.claim.tasks[0].type, "two");
}

TEST(a_waiting_claim_is_not_woken_by_what_it_does_not_take)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *claim = waits(&b, (struct bench_claim){.type = "a", .queue = "q"});
    bench_create(&b, "b", .queue = "q");
    bench_create(&b, "a");
    CHECK(!claim->answered);

    bench_create(&b, "a", .queue = "q");
    CHECK(claim->answered);
}

TEST(each_waiting_claim_gets_one_of_the_new_tasks)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *one = waits(&b, (struct bench_claim){.max = 1});
    struct call *two = waits(&b, (struct bench_claim){.max = 1});
    bench_create_many(&b, 3, (struct bench_order){.type = "t"});

    CHECK_EQ(one->command.claim.count, 1);
    CHECK_EQ(two->command.claim.count, 1);
    CHECK(!id_eq(one->command.claim.tasks[0].id, two->command.claim.tasks[0].id));
    CHECK_EQ(bench_count(&b, TASK_QUEUED), 1);
}

TEST(more_waiting_claims_than_a_batch_takes_are_all_served)
{
    enum { MANY = 1500 };
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    for (int i = 0; i < MANY; i++) {
        waits(&b, (struct bench_claim){.max = 1});
    }
    struct bench_order order = {.type = "t"};
    struct call *calls[2] = {bench_call(&b, COMMAND_CREATE), bench_call(&b, COMMAND_CREATE)};
    for (int i = 0; i < 2; i++) {
        calls[i]->command.create.orders = arena_array(&b.arena, struct order, MANY / 2);
        calls[i]->command.create.count = MANY / 2;
        for (int j = 0; j < MANY / 2; j++) {
            calls[i]->command.create.orders[j] = bench_order(&b, order);
        }
        bench_give(&b, calls[i]);
    }
    bench_settle(&b);

    CHECK_EQ(bench_count(&b, TASK_RUNNING), MANY);
    CHECK_EQ(bench_stats(&b).waiting_claims, 0);
}

/* ---- Meeting: created and started in one commit ---- */

TEST(a_task_that_somebody_waits_for_starts_in_the_commit_that_creates_it)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *claim = waits(&b, (struct bench_claim){.worker = "w", .max = 1});
    struct call *create = bench_create_call(&b, &(struct bench_order){.type = "t"}, 1);
    bench_give(&b, create);
    bench_step(&b);

    struct task task = create->command.create.orders[0].task;
    CHECK(create->answered && claim->answered);
    CHECK_EQ(task.state, TASK_QUEUED);
    CHECK_EQ(claim->command.claim.tasks[0].state, TASK_RUNNING);
    CHECK_EQ(bench_task(&b, task.id).attempt, 1);
    CHECK_STR(bench_task(&b, task.id).worker, "w");
    CHECK_STR(bench_story(&b, task.id), "QUEUED RUNNING");
    CHECK_EQ(bench_finish(&b, &claim->command.claim.tasks[0], OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(bench_count(&b, TASK_COMPLETED), 1);
    CHECK_EQ(bench_count(&b, TASK_QUEUED), 0);
}

TEST(the_most_urgent_of_the_new_tasks_starts_first)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *claim = waits(&b, (struct bench_claim){.max = 2});
    struct bench_order orders[] = {{.type = "low", .priority = TASK_LOW},
                                   {.type = "high", .priority = TASK_HIGH},
                                   {.type = "normal"}};
    bench_give(&b, bench_create_call(&b, orders, 3));
    bench_step(&b);

    CHECK_EQ(claim->command.claim.count, 2);
    CHECK_STR(claim->command.claim.tasks[0].type, "high");
    CHECK_STR(claim->command.claim.tasks[1].type, "normal");
    CHECK_STR(bench_claim(&b).type, "low");
}

TEST(what_becomes_ready_in_the_same_commit_has_its_turn)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "old", .priority = TASK_HIGH);
    struct task old = bench_claim(&b);
    struct call *claim = waits(&b, (struct bench_claim){.max = 1});
    bench_give(&b, bench_finish_call(&b, &old, OUTCOME_RELEASED));
    bench_give(&b, bench_create_call(&b, &(struct bench_order){.type = "new"}, 1));
    bench_settle(&b);

    CHECK_STR(claim->command.claim.tasks[0].type, "old");
}

TEST(a_new_task_does_not_start_in_a_paused_queue)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *claim = waits(&b, (struct bench_claim){.max = 1});
    bench_queue(&b, "default", (struct command_queue){.has_paused = true, .set.paused = true});
    struct task_id id = bench_create(&b, "t");

    CHECK(!claim->answered);
    CHECK_EQ(bench_task(&b, id).state, TASK_QUEUED);
}

TEST(a_claim_waits_in_several_queues_and_leaves_all_their_lines)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *claim = waits(&b, (struct bench_claim){.queue = "q1", .queue2 = "q2"});
    bench_create(&b, "t", .queue = "q2");
    CHECK(claim->answered);
    struct task_id later = bench_create(&b, "t", .queue = "q1");

    CHECK_EQ(bench_task(&b, later).state, TASK_QUEUED);
}

/* ---- Stopping ---- */

TEST(a_stopped_claim_is_answered_with_nothing)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *claim = waits(&b, (struct bench_claim){.serial = 5});
    struct call *other = waits(&b, (struct bench_claim){.serial = 6});
    bench_run(&b, bench_stop_call(&b, 5));

    CHECK(claim->answered);
    CHECK_EQ(claim->command.claim.count, 0);
    CHECK_EQ(claim->command.err.kind, ERR_NONE);
    CHECK(!other->answered);
    struct task_id id = bench_create(&b, "t");
    CHECK(id_eq(other->command.claim.tasks[0].id, id));
}

TEST(a_claim_waits_by_real_time_though_the_clock_is_wound_by_hand)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *patient = bench_claim_call(&b, (struct bench_claim){.max = 1, .wait = true});
    struct call *brief = bench_claim_call(&b, (struct bench_claim){.max = 1, .wait = true});
    patient->command.claim.wait_ms = CLAIM_WAIT_MAX;
    brief->command.claim.wait_ms = 1;
    bench_give(&b, patient);
    bench_give(&b, brief);
    bench_pass_ms(&b, 2 * CLAIM_WAIT_MAX);
    WAIT_FOR(!bench_step(&b) && brief->answered);
    CHECK_EQ(brief->command.err.kind, ERR_NONE);
    CHECK_EQ(brief->command.claim.count, 0);
    CHECK(!patient->answered);
    bench_create(&b, "t");
    CHECK_EQ(patient->command.claim.count, 1);
}

TEST(a_claim_may_be_stopped_in_the_batch_it_came_with)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *claim = bench_claim_call(&b, (struct bench_claim){.wait = true, .serial = 5});
    bench_give(&b, claim);
    bench_give(&b, bench_stop_call(&b, 5));
    bench_settle(&b);

    CHECK(claim->answered);
    CHECK_EQ(claim->command.claim.count, 0);
}

/* The claim waits; a task arrives for it, but in the batch that would hand it over the task is
 * cancelled and the claim is stopped. */
TEST(a_stop_counts_though_the_claim_was_just_offered_a_task)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *claim = waits(&b, (struct bench_claim){.serial = 5});
    struct bench_order order = {.type = "t", .document = "d"}; /* offered, see queue/meet.c */
    struct call *create = bench_create_call(&b, &order, 1);
    bench_give(&b, create);
    bench_step(&b);
    CHECK(create->answered && !claim->answered);
    bench_give(&b, bench_one_call(&b, COMMAND_CANCEL, create->command.create.orders[0].task.id));
    bench_give(&b, bench_stop_call(&b, 5));
    bench_settle(&b);

    CHECK(claim->answered);
    CHECK_EQ(claim->command.claim.count, 0);
}

TEST(a_claim_that_was_offered_a_task_cancelled_meanwhile_gets_another)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *claim = waits(&b, (struct bench_claim){.max = 1});
    struct bench_order orders[] = {{.type = "first", .document = "d"},
                                   {.type = "second", .document = "e"}};
    struct call *create = bench_create_call(&b, orders, 2);
    bench_give(&b, create);
    bench_step(&b);
    bench_give(&b, bench_one_call(&b, COMMAND_CANCEL, create->command.create.orders[0].task.id));
    bench_settle(&b);

    CHECK(claim->answered);
    CHECK_EQ(claim->command.claim.count, 1);
    CHECK_STR(claim->command.claim.tasks[0].type, "second");
}

TEST(a_new_claim_that_parks_on_a_cancelled_task_still_finds_the_next)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id first = bench_create(&b, "first");
    bench_create(&b, "second");
    struct call *claim = bench_claim_call(&b, (struct bench_claim){.wait = true});
    bench_give(&b, bench_one_call(&b, COMMAND_CANCEL, first));
    bench_give(&b, claim);
    bench_settle(&b);

    CHECK(claim->answered);
    CHECK_STR(claim->command.claim.tasks[0].type, "second");
}

TEST(a_drain_answers_every_waiting_claim)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *one = waits(&b, (struct bench_claim){.max = 1});
    struct call *two = waits(&b, (struct bench_claim){.queue = "q"});
    bench_run(&b, bench_call(&b, COMMAND_DRAIN));

    CHECK(one->answered && two->answered);
    CHECK_EQ(one->command.claim.count, 0);
    CHECK_EQ(bench_stats(&b).waiting_claims, 0);
}

TEST(waiting_claims_have_a_limit)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    b.with.waiting_max = 1;
    struct call *first = waits(&b, (struct bench_claim){.max = 1});
    struct call *second = waits(&b, (struct bench_claim){.max = 1});

    CHECK(!first->answered);
    CHECK_EQ(second->command.err.kind, ERR_BUSY);
}

/* Memory of queues is bounded, also against claims that name ever new ones. */
TEST(a_claim_may_wait_only_for_queues_there_is_room_for)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    b.with.waiting_max = SIZE_MAX;
    struct call *last = NULL;
    for (int i = 0; i < 10001; i++) {
        const char *name = arena_printf(&b.arena, "q%d", i).ptr;
        last = bench_claim_call(&b, (struct bench_claim){.queue = name, .wait = true});
        bench_give(&b, last);
    }
    bench_settle(&b);

    CHECK_EQ(last->command.err.kind, ERR_BUSY);
    CHECK_EQ(bench_stats(&b).waiting_claims, 10000);
    struct call *known = waits(&b, (struct bench_claim){.queue = "q7"});
    CHECK(!known->answered);
}

TEST(an_engine_that_ends_gives_waiting_claims_back)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *claim = waits(&b, (struct bench_claim){.max = 1});
    bench_restart(&b);

    CHECK(claim->answered);
    CHECK_EQ(claim->command.err.kind, ERR_UNAVAILABLE);
}

TEST(an_idle_engine_with_waiting_claims_has_nothing_due)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    waits(&b, (struct bench_claim){.max = 1});
    CHECK_EQ(engine_due_in_ms(b.engine), -1);
}
