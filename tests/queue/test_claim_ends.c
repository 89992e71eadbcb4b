/* tests/queue/test_claim_ends.c: claims that end attempts first: one commit where that is the same
 * as one after the other, two where it is not.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "request.h"
#include "test.h"

/* A claim that first ends what `task` holds. */
static struct call *ending_claim(struct bench *b, const struct task *task,
                                 enum task_outcome outcome, struct bench_claim claim)
{
    struct call *call = bench_claim_call(b, claim);
    call->command.claim.finish = bench_finish_call(b, task, outcome)->command.finish;
    return call;
}

static const struct finish *ended(const struct call *call)
{
    return &call->command.claim.finish.items[0];
}

TEST(a_worker_in_its_rhythm_needs_one_commit_a_task)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 2, (struct bench_order){.type = "t"});
    struct task first = bench_claim(&b);
    struct call *call = ending_claim(&b, &first, OUTCOME_COMPLETED, (struct bench_claim){.max = 1});
    bench_give(&b, call);
    bench_step(&b);

    CHECK(call->answered);
    CHECK_EQ(ended(call)->err.kind, ERR_NONE);
    CHECK_EQ(ended(call)->task.state, TASK_COMPLETED);
    CHECK_EQ(call->command.claim.count, 1);
    CHECK_EQ(bench_task(&b, first.id).state, TASK_COMPLETED);
    CHECK_EQ(bench_task(&b, call->command.claim.tasks[0].id).state, TASK_RUNNING);
}

TEST(what_is_finished_does_not_wait_for_the_claim)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task task = bench_claim(&b);
    struct call *call =
        ending_claim(&b, &task, OUTCOME_COMPLETED, (struct bench_claim){.wait = true});
    bench_give(&b, call);
    bench_settle(&b);

    CHECK(!call->answered);
    CHECK_EQ(bench_task(&b, id).state, TASK_COMPLETED);
    struct task_id next = bench_create(&b, "t");
    CHECK(call->answered);
    CHECK_EQ(ended(call)->task.state, TASK_COMPLETED);
    CHECK(id_eq(call->command.claim.tasks[0].id, next));
}

TEST(a_document_is_handed_from_the_finished_task_to_the_claimed_one)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "first", .document = "d");
    struct task task = bench_claim(&b);
    bench_create(&b, "urgent", .document = "d", .priority = TASK_CRITICAL);
    bench_create(&b, "other");
    struct call *call =
        bench_run(&b, ending_claim(&b, &task, OUTCOME_COMPLETED, (struct bench_claim){.max = 1}));

    CHECK_STR(call->command.claim.tasks[0].type, "urgent"); /* G4, though `other` was ready */
    CHECK(id_eq(bench_document(&b, "d").task, call->command.claim.tasks[0].id));
    CHECK_STR(bench_claim(&b).type, "other");
}

TEST(a_document_whose_next_is_less_urgent_costs_no_second_commit)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "first", .document = "d");
    struct task task = bench_claim(&b);
    bench_create(&b, "other");
    bench_create(&b, "behind", .document = "d");
    struct call *call = ending_claim(&b, &task, OUTCOME_COMPLETED, (struct bench_claim){.max = 1});
    bench_give(&b, call);
    bench_step(&b);

    CHECK(call->answered);
    CHECK_STR(call->command.claim.tasks[0].type, "other");
}

TEST(a_place_below_the_limit_is_free_for_the_claim_that_gave_it_up)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_queue(&b, "default",
                (struct command_queue){.has_max_concurrent = true, .set.max_concurrent = 1});
    bench_create_many(&b, 2, (struct bench_order){.type = "t"});
    struct task task = bench_claim(&b);
    CHECK(id_none(bench_claim(&b).id));
    struct call *call =
        bench_run(&b, ending_claim(&b, &task, OUTCOME_COMPLETED, (struct bench_claim){.max = 5}));

    CHECK_EQ(call->command.claim.count, 1);
}

TEST(a_dependent_is_claimed_by_whoever_finished_what_it_waited_for)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t first = request_add(&r, 0, NULL), then = request_add(&r, 0, NULL);
    request_need(&r, then, (struct order_need){.order = first});
    request_send(&r);
    struct task task = bench_claim(&b);
    struct call *call =
        bench_run(&b, ending_claim(&b, &task, OUTCOME_COMPLETED, (struct bench_claim){.max = 1}));

    CHECK_EQ(call->command.claim.count, 1);
    CHECK(id_eq(call->command.claim.tasks[0].id, request_id(&r, then)));
}

TEST(a_released_task_comes_first_again)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "first");
    struct task task = bench_claim(&b);
    bench_create(&b, "second");
    struct call *call =
        bench_run(&b, ending_claim(&b, &task, OUTCOME_RELEASED, (struct bench_claim){.max = 1}));

    CHECK(id_eq(call->command.claim.tasks[0].id, id)); /* it kept its place */
    CHECK_EQ(call->command.claim.tasks[0].attempt, 2);
    CHECK_EQ(ended(call)->task.state, TASK_QUEUED);
}

TEST(a_stale_finish_is_told_and_the_claim_goes_on)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 2, (struct bench_order){.type = "t"});
    struct task task = bench_claim(&b);
    task.token++;
    struct call *call = ending_claim(&b, &task, OUTCOME_COMPLETED, (struct bench_claim){.max = 1});
    bench_give(&b, call);
    bench_step(&b);

    CHECK(call->answered);
    CHECK_EQ(call->command.err.kind, ERR_NONE);
    CHECK_EQ(ended(call)->err.kind, ERR_LEASE_LOST);
    CHECK_EQ(call->command.claim.count, 1);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_RUNNING);
}

TEST(what_another_command_of_the_batch_changed_is_finished_in_the_next)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 2, (struct bench_order){.type = "t"});
    struct task task = bench_claim(&b);
    struct call *beat = bench_heartbeat_call(&b, &task, 5000);
    struct call *call = ending_claim(&b, &task, OUTCOME_COMPLETED, (struct bench_claim){.max = 1});
    bench_give(&b, beat);
    bench_give(&b, call);
    bench_settle(&b);

    CHECK_EQ(beat->command.err.kind, ERR_NONE);
    CHECK_EQ(ended(call)->err.kind, ERR_NONE);
    CHECK_EQ(call->command.claim.count, 1);
}

TEST(a_claim_that_looks_again_keeps_nothing_from_those_behind_it)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "first", .document = "d");
    struct task task = bench_claim(&b);
    bench_create(&b, "urgent", .document = "d", .priority = TASK_CRITICAL);
    bench_create(&b, "normal");
    bench_create(&b, "low", .priority = TASK_LOW);
    struct call *ends =
        ending_claim(&b, &task, OUTCOME_COMPLETED, (struct bench_claim){.worker = "a"});
    struct call *behind = bench_claim_call(&b, (struct bench_claim){.worker = "b"});
    bench_give(&b, ends);
    bench_give(&b, behind);
    bench_settle(&b);

    CHECK_EQ(ends->command.claim.count, 1);
    CHECK_EQ(behind->command.claim.count, 1);
    CHECK_EQ(bench_count(&b, TASK_QUEUED), 1);
    CHECK_STR(bench_claim(&b).type, "low"); /* nobody was given it before its time */
}

/* It is proposed something behind what goes back, in the very batch in which its time ends: nothing
 * would end it later. */
TEST(a_waiting_claim_that_is_overtaken_when_its_time_ends_is_answered)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "first", .document = "d");
    struct task task = bench_claim(&b);
    bench_create(&b, "urgent", .document = "d", .priority = TASK_CRITICAL);
    struct call *waits = bench_claim_call(&b, (struct bench_claim){.worker = "w", .wait = true});
    waits->command.claim.wait_ms = CLAIM_WAIT_MAX;
    bench_give(&b, waits);
    bench_settle(&b);
    struct bench_order orders[] = {{.type = "normal", .document = "e"}, /* see queue/meet.c */
                                   {.type = "low", .document = "f", .priority = TASK_LOW}};
    bench_give(&b, bench_create_call(&b, orders, 2));
    bench_step(&b);
    CHECK(!waits->answered);
    waits->command.claim.deadline_real_ms = 1; /* long ago */
    struct call *ends =
        ending_claim(&b, &task, OUTCOME_COMPLETED, (struct bench_claim){.worker = "a"});
    struct call *rest = bench_claim_call(&b, (struct bench_claim){.worker = "b", .max = 5});
    bench_give(&b, ends);
    bench_step(&b);
    bench_give(&b, rest);
    bench_settle(&b);

    CHECK(waits->answered);
    CHECK_EQ(waits->command.claim.count, 0);
    CHECK_STR(ends->command.claim.tasks[0].type, "urgent");
    CHECK_EQ(rest->command.claim.count, 2);
    CHECK_EQ(bench_stats(&b).waiting_claims, 0);
}

TEST(a_full_disk_fails_the_finish_with_the_claim)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 2, (struct bench_order){.type = "t"});
    struct task task = bench_claim(&b);
    memory_disk_fail_next(b.disk, MEMORY_FULL);
    struct call *call =
        bench_run(&b, ending_claim(&b, &task, OUTCOME_COMPLETED, (struct bench_claim){.max = 1}));

    CHECK_EQ(call->command.err.kind, ERR_UNAVAILABLE);
    CHECK(call->command.claim.ending != ENDING_SAVED);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_RUNNING);
    CHECK_EQ(bench_count(&b, TASK_QUEUED), 1);
}

TEST(a_claim_that_fails_after_its_finish_says_so)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    b.with.waiting_max = 1;
    bench_give(&b, bench_claim_call(&b, (struct bench_claim){.type = "none", .wait = true}));
    bench_create(&b, "t");
    struct task task = bench_claim(&b);
    struct call *call = bench_run(
        &b, ending_claim(&b, &task, OUTCOME_COMPLETED, (struct bench_claim){.wait = true}));

    CHECK_EQ(call->command.err.kind, ERR_BUSY);
    CHECK_EQ(call->command.claim.ending, ENDING_SAVED);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_COMPLETED);
}

TEST(while_the_server_drains_the_finish_counts_and_the_worker_is_told)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 2, (struct bench_order){.type = "t"});
    struct task task = bench_claim(&b);
    bench_run(&b, bench_call(&b, COMMAND_DRAIN));
    struct call *call =
        bench_run(&b, ending_claim(&b, &task, OUTCOME_COMPLETED, (struct bench_claim){.max = 1}));

    CHECK_EQ(call->command.err.kind, ERR_NONE);
    CHECK_EQ(call->command.claim.count, 0);
    CHECK_EQ(call->command.claim.signal, SIGNAL_QUIET);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_COMPLETED);
}

TEST(a_claim_that_was_stopped_while_it_looks_again_does_not_wait)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    struct task task = bench_claim(&b);
    struct call *call =
        ending_claim(&b, &task, OUTCOME_COMPLETED, (struct bench_claim){.wait = true, .serial = 7});
    bench_give(&b, call);
    bench_give(&b, bench_stop_call(&b, 7));
    bench_settle(&b);

    CHECK(call->answered);
    CHECK_EQ(call->command.claim.count, 0);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_COMPLETED);
}

TEST(a_lease_that_ends_in_the_batch_of_its_finish_is_not_lost)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 2, (struct bench_order){.type = "t"});
    struct task task = bench_claim(&b, .lease_ms = 1000);
    bench_jump_ms(&b, 1000);
    struct call *call =
        bench_run(&b, ending_claim(&b, &task, OUTCOME_COMPLETED, (struct bench_claim){.max = 1}));

    CHECK_EQ(ended(call)->err.kind, ERR_NONE);
    CHECK_EQ(bench_task(&b, task.id).state, TASK_COMPLETED);
}
