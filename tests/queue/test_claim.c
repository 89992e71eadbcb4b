/* tests/queue/test_claim.c: who gets which task, in which order, and who must wait for a document.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "test.h"

TEST(a_claimed_task_runs_under_a_lease)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .payload = "[7]");
    struct task got = bench_claim(&b, .worker = "w1", .lease_ms = 2000);

    CHECK(id_eq(got.id, id));
    CHECK_STR(got.payload, "[7]");
    struct task task = bench_task(&b, id);
    CHECK_EQ(task.state, TASK_RUNNING);
    CHECK_EQ(task.attempt, 1);
    CHECK_EQ(task.started_ms, BENCH_START_MS);
    CHECK_EQ(task.lease_until_ms, BENCH_START_MS + 2000);
    CHECK_STR(task.worker, "w1");
    CHECK(task.token != 0 && task.token == got.token);
}

TEST(a_task_is_handed_out_once)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    CHECK(!id_none(bench_claim(&b).id));
    CHECK(id_none(bench_claim(&b).id));
}

TEST(two_claims_of_one_batch_never_get_the_same_task)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 3, (struct bench_order){.type = "t"});
    struct call *one = bench_claim_call(&b, (struct bench_claim){.max = 2});
    struct call *two = bench_claim_call(&b, (struct bench_claim){.max = 2});
    bench_give(&b, one);
    bench_give(&b, two);
    bench_settle(&b);

    CHECK_EQ(one->command.claim.count, 2);
    CHECK_EQ(two->command.claim.count, 1);
    CHECK(!id_eq(one->command.claim.tasks[0].id, two->command.claim.tasks[0].id));
    CHECK(!id_eq(one->command.claim.tasks[1].id, two->command.claim.tasks[0].id));
}

TEST(critical_comes_before_high_before_normal_before_low)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "low", .priority = TASK_LOW);
    bench_create(&b, "normal");
    bench_create(&b, "critical", .priority = TASK_CRITICAL);
    bench_create(&b, "high", .priority = TASK_HIGH);

    CHECK_STR(bench_claim(&b).type, "critical");
    CHECK_STR(bench_claim(&b).type, "high");
    CHECK_STR(bench_claim(&b).type, "normal");
    CHECK_STR(bench_claim(&b).type, "low");
}

TEST(within_a_priority_first_come_is_first_served_across_queues)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "first", .queue = "q1");
    bench_pass_ms(&b, 1);
    bench_create(&b, "second", .queue = "q2");
    bench_pass_ms(&b, 1);
    bench_create(&b, "third", .queue = "q1");

    struct call *call = bench_run(
        &b, bench_claim_call(&b, (struct bench_claim){.queue = "q2", .queue2 = "q1", .max = 3}));
    CHECK_EQ(call->command.claim.count, 3);
    CHECK_STR(call->command.claim.tasks[0].type, "first");
    CHECK_STR(call->command.claim.tasks[1].type, "second");
    CHECK_STR(call->command.claim.tasks[2].type, "third");
}

TEST(a_claim_takes_only_its_types_and_queues)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "a", .queue = "q1");
    bench_create(&b, "b", .queue = "q2");

    CHECK(id_none(bench_claim(&b).id)); /* no queue named: "default" */
    CHECK(id_none(bench_claim(&b, .type = "b", .queue = "q1").id));
    CHECK_STR(bench_claim(&b, .type = "b", .queue = "q2").type, "b");
    CHECK_STR(bench_claim(&b, .queue = "q1").type, "a");
}

TEST(a_released_task_keeps_its_place)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "first");
    bench_pass_ms(&b, 10);
    bench_create(&b, "second");
    struct task first = bench_claim(&b);
    bench_pass_ms(&b, 10);
    CHECK_EQ(bench_finish(&b, &first, OUTCOME_RELEASED), ERR_NONE);

    CHECK_STR(bench_claim(&b).type, "first");
}

/* ---- Documents ---- */

TEST(two_tasks_of_one_document_never_run_at_once)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "one", .document = "d");
    bench_create(&b, "two", .document = "d");
    struct call *call = bench_run(&b, bench_claim_call(&b, (struct bench_claim){.max = 10}));

    CHECK_EQ(call->command.claim.count, 1);
    CHECK(id_none(bench_claim(&b).id));
    CHECK_EQ(bench_finish(&b, &call->command.claim.tasks[0], OUTCOME_COMPLETED), ERR_NONE);
    CHECK_STR(bench_claim(&b).type, "two");
}

TEST(other_documents_overtake_a_locked_one)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "holder", .document = "d");
    bench_claim(&b);
    bench_create(&b, "behind", .document = "d", .priority = TASK_CRITICAL);
    bench_create(&b, "other", .document = "e", .priority = TASK_LOW);

    CHECK_STR(bench_claim(&b).type, "other");
    CHECK(id_none(bench_claim(&b).id));
}

TEST(a_document_gives_way_to_the_most_urgent_then_the_oldest)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "holder", .document = "d");
    struct task holder = bench_claim(&b);
    bench_create(&b, "old", .document = "d");
    bench_pass_ms(&b, 1);
    bench_create(&b, "new", .document = "d");
    bench_create(&b, "urgent", .document = "d", .priority = TASK_HIGH);
    CHECK_EQ(bench_finish(&b, &holder, OUTCOME_COMPLETED), ERR_NONE);

    struct task urgent = bench_claim(&b);
    CHECK_STR(urgent.type, "urgent");
    CHECK_EQ(bench_finish(&b, &urgent, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_STR(bench_claim(&b).type, "old");
}

TEST(a_retrying_task_does_not_hold_its_document)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "fails", .document = "d");
    struct task fails = bench_claim(&b);
    bench_create(&b, "next", .document = "d");
    CHECK_EQ(bench_finish(&b, &fails, OUTCOME_FAILED), ERR_NONE);

    CHECK_EQ(bench_task(&b, fails.id).state, TASK_RETRYING);
    CHECK_STR(bench_claim(&b).type, "next");
}

TEST(a_document_is_still_locked_after_a_restart)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "holder", .document = "d");
    struct task holder = bench_claim(&b);
    bench_create(&b, "behind", .document = "d");
    bench_restart(&b);

    CHECK(id_none(bench_claim(&b).id));
    CHECK(bench_document(&b, "d").locked);
    CHECK_EQ(bench_finish(&b, &holder, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_STR(bench_claim(&b).type, "behind");
}

/* ---- Races inside one batch ---- */

TEST(a_claim_whose_task_was_cancelled_in_the_same_batch_gets_the_next_one)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id first = bench_create(&b, "first", .document = "d");
    bench_create(&b, "second", .document = "d");
    struct call *claim = bench_claim_call(&b, (struct bench_claim){.max = 1});
    bench_give(&b, bench_one_call(&b, COMMAND_CANCEL, first));
    bench_give(&b, claim);
    bench_settle(&b);

    CHECK_EQ(bench_task(&b, first).state, TASK_CANCELLED);
    CHECK_EQ(claim->command.claim.count, 1);
    CHECK_STR(claim->command.claim.tasks[0].type, "second");
}

TEST(a_cancel_behind_a_claim_of_the_same_batch_finds_the_task_running)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct call *claim = bench_claim_call(&b, (struct bench_claim){.max = 1});
    struct call *cancel = bench_one_call(&b, COMMAND_CANCEL, id);
    bench_give(&b, claim);
    bench_give(&b, cancel);
    bench_settle(&b);

    CHECK_EQ(claim->command.claim.count, 1);
    CHECK_EQ(cancel->command.one.task.state, TASK_RUNNING);
    CHECK(cancel->command.one.task.cancel_requested);
}

TEST(a_draining_server_hands_out_nothing)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    bench_run(&b, bench_call(&b, COMMAND_DRAIN));
    struct call *claim = bench_run(&b, bench_claim_call(&b, (struct bench_claim){.max = 1}));

    CHECK_EQ(claim->command.err.kind, ERR_UNAVAILABLE);
    CHECK_EQ(bench_task(&b, id).state, TASK_QUEUED);
}

TEST(a_claim_refused_by_a_drain_of_the_same_batch_has_started_nothing)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .document = "d");
    struct call *claim = bench_claim_call(&b, (struct bench_claim){.max = 1});
    bench_give(&b, bench_call(&b, COMMAND_DRAIN));
    bench_give(&b, claim);
    bench_settle(&b);

    bool started = bench_task(&b, id).state == TASK_RUNNING;
    CHECK_EQ(claim->command.err.kind == ERR_NONE, started);
    CHECK_EQ(bench_document(&b, "d").locked, started);
}

TEST(a_claim_beside_the_word_that_quiets_its_worker_does_not_wait)
{
    for (int first = 0; first < 2; first++) { /* whichever of the two comes first */
        SCOPED(bench_fini) struct bench b = BENCH_INIT;
        bench_claim(&b, .worker = "w");
        struct call *claim =
            bench_claim_call(&b, (struct bench_claim){.worker = "w", .wait = true});
        struct call *quiet = bench_call(&b, COMMAND_WORKER);
        quiet->command.worker = (struct command_worker){.id = STR("w"), .signal = SIGNAL_QUIET};
        bench_give(&b, first == 0 ? claim : quiet);
        bench_give(&b, first == 0 ? quiet : claim);
        bench_settle(&b);
        CHECK(claim->answered && quiet->answered);
        CHECK_EQ(claim->command.claim.count, 0);
        CHECK_EQ(claim->command.claim.signal, SIGNAL_QUIET);
    }
}

/* ---- Queues in order ---- */

static struct call *ordered_claim(struct bench *b, const struct str *queues, size_t count)
{
    struct call *call = bench_claim_call(b, (struct bench_claim){.worker = "w", .wait = true});
    call->command.claim.queues = queues;
    call->command.claim.queues_count = count;
    call->command.claim.in_order = true;
    return call;
}

TEST(queues_in_order_are_emptied_one_after_the_other_whatever_is_more_urgent)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    static const struct str queues[] = {{"second", 6}, {"first", 5}};
    bench_create(&b, "t", .queue = "first", .priority = TASK_CRITICAL);
    struct task_id low = bench_create(&b, "t", .queue = "second", .priority = TASK_LOW);
    struct task_id high = bench_create(&b, "t", .queue = "second", .priority = TASK_HIGH);
    const struct command_claim *claim = &bench_run(&b, ordered_claim(&b, queues, 2))->command.claim;
    CHECK(claim->count == 1 && id_eq(claim->tasks[0].id, high));
    claim = &bench_run(&b, ordered_claim(&b, queues, 2))->command.claim;
    CHECK(claim->count == 1 && id_eq(claim->tasks[0].id, low));
    claim = &bench_run(&b, ordered_claim(&b, queues, 2))->command.claim;
    CHECK(claim->count == 1 && str_is(claim->tasks[0].queue, "first"));
}

TEST(a_claim_of_queues_in_order_waits_for_all_of_them)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    static const struct str queues[] = {{"one", 3}, {"two", 3}};
    struct call *call = ordered_claim(&b, queues, 2);
    bench_give(&b, call);
    bench_settle(&b);
    CHECK(!call->answered);
    struct task_id id = bench_create(&b, "t", .queue = "two");
    bench_settle(&b);
    CHECK(call->answered && call->command.claim.count == 1);
    CHECK(id_eq(call->command.claim.tasks[0].id, id));
}

static int64_t ten_minutes(const struct task *task)
{
    return str_is(task->type, "long") ? 10 * MINUTE_MS : MINUTE_MS;
}

TEST(a_task_may_say_itself_how_long_its_lease_is)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    static const struct str queues[] = {{"default", 7}};
    struct task_id id = bench_create(&b, "long", .timeout_ms = BENCH_NONE);
    struct call *call = ordered_claim(&b, queues, 1);
    call->command.claim.lease_of = ten_minutes;
    bench_run(&b, call);
    CHECK_EQ(bench_task(&b, id).lease_until_ms, BENCH_START_MS + 10 * MINUTE_MS);
}

/* ---- Quick ones ---- */

/* A claim of a worker inside the server, for which tasks of type "quick" are done at once. */
static struct command_claim *claim_with_quick(struct bench *b, size_t max)
{
    static const struct str types[] = {{"quick", 5}, {"slow", 4}};
    static const bool quick[] = {true, false};
    struct call *call = bench_claim_call(b, (struct bench_claim){.max = max});
    call->command.claim.types = types;
    call->command.claim.types_count = ARRAY_LEN(types);
    call->command.claim.quick = quick;
    return &bench_run(b, call)->command.claim;
}

TEST(a_claim_goes_on_behind_quick_tasks_and_ends_with_another)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id last = bench_create(&b, "quick", .priority = TASK_LOW);
    struct task_id slow = bench_create(&b, "slow", .priority = TASK_HIGH);
    struct task_id first = bench_create(&b, "quick", .priority = TASK_CRITICAL);
    struct command_claim *claim = claim_with_quick(&b, 10);
    CHECK_EQ(claim->count, 2);
    CHECK(id_eq(claim->tasks[0].id, first));
    CHECK(id_eq(claim->tasks[1].id, slow)); /* strict priority: LOW does not overtake it */
    claim = claim_with_quick(&b, 10);
    CHECK_EQ(claim->count, 1);
    CHECK(id_eq(claim->tasks[0].id, last));
}

TEST(quick_tasks_are_held_to_the_limits_of_their_queue_and_to_their_documents)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 5, (struct bench_order){.type = "quick"});
    bench_queue(&b, "default",
                (struct command_queue){.has_max_concurrent = true, .set.max_concurrent = 3});
    CHECK_EQ(claim_with_quick(&b, 2)->count, 2);
    CHECK_EQ(claim_with_quick(&b, 10)->count, 1);
    SCOPED(bench_fini) struct bench other = BENCH_INIT;
    bench_create_many(&other, 3, (struct bench_order){.type = "quick", .document = "d"});
    CHECK_EQ(claim_with_quick(&other, 10)->count, 1);
}
