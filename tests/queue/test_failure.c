/* tests/queue/test_failure.c: the store fails: everyone is told, memory is as before, and a restart
 * finds what was answered.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "store/ops.h"
#include "test.h"

TEST(a_full_disk_refuses_every_command_of_the_batch_and_leaves_no_trace)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .document = "d");
    bench_create(&b, "u");
    struct task running = bench_claim(&b, .type = "u");
    struct call *calls[] = {
        bench_create_call(&b, &(struct bench_order){.type = "new"}, 1),
        bench_claim_call(&b, (struct bench_claim){.type = "t"}),
        bench_finish_call(&b, &running, OUTCOME_COMPLETED),
        bench_one_call(&b, COMMAND_CANCEL, running.id),
    };
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        bench_give(&b, calls[i]);
    }
    memory_disk_fail_next(b.disk, MEMORY_FULL);
    bench_step(&b);

    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        CHECK(calls[i]->answered);
        CHECK_EQ(calls[i]->command.err.kind, ERR_UNAVAILABLE);
    }
    CHECK_EQ(bench_task(&b, id).state, TASK_QUEUED);
    CHECK_EQ(bench_task(&b, running.id).state, TASK_RUNNING);
    CHECK(!bench_document(&b, "d").locked);
    CHECK_EQ(bench_stats(&b).counts[TASK_QUEUED], 1);
}

TEST(after_a_full_disk_everything_goes_on)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .document = "d");
    memory_disk_fail_next(b.disk, MEMORY_FULL);
    struct call *claim = bench_run(&b, bench_claim_call(&b, (struct bench_claim){.max = 1}));
    CHECK_EQ(claim->command.err.kind, ERR_UNAVAILABLE);

    struct task task = bench_claim(&b);
    CHECK(id_eq(task.id, id));
    CHECK_EQ(task.attempt, 1);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_STR(bench_story(&b, id), "QUEUED RUNNING COMPLETED");
}

TEST(due_work_is_tried_again_after_a_pause)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .delay_ms = 1000);
    bench_jump_ms(&b, 1000);
    memory_disk_fail_next(b.disk, MEMORY_FULL);
    bench_settle(&b);
    CHECK_EQ(bench_task(&b, id).state, TASK_SCHEDULED);
    CHECK_EQ(engine_due_in_ms(b.engine), 200);
    bench_jump_ms(&b, 200);
    bench_settle(&b);

    CHECK_EQ(bench_task(&b, id).state, TASK_QUEUED);
}

TEST(a_limit_counts_nothing_that_a_full_disk_refused)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_queue(&b, "default",
                (struct command_queue){.has_max_concurrent = true, .set.max_concurrent = 1});
    bench_create(&b, "t");
    memory_disk_fail_next(b.disk, MEMORY_FULL);
    bench_run(&b, bench_claim_call(&b, (struct bench_claim){.max = 1}));

    CHECK(!id_none(bench_claim(&b).id));
}

TEST(a_queue_change_that_a_full_disk_refused_does_not_count)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    struct call *pause = bench_call(&b, COMMAND_QUEUE);
    pause->command.queue =
        (struct command_queue){.name = STR("default"), .has_paused = true, .set.paused = true};
    memory_disk_fail_next(b.disk, MEMORY_FULL);
    bench_run(&b, pause);

    CHECK_EQ(pause->command.err.kind, ERR_UNAVAILABLE);
    CHECK(!id_none(bench_claim(&b).id));
}

TEST(a_waiting_claim_outlives_a_full_disk_or_is_told)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *claim = bench_claim_call(&b, (struct bench_claim){.wait = true});
    bench_give(&b, claim);
    bench_settle(&b);
    struct call *create = bench_create_call(&b, &(struct bench_order){.type = "t"}, 1);
    memory_disk_fail_next(b.disk, MEMORY_FULL);
    bench_run(&b, create);
    CHECK_EQ(create->command.err.kind, ERR_UNAVAILABLE);
    CHECK(!claim->answered);
    bench_create(&b, "t");

    CHECK(claim->answered);
    CHECK_EQ(claim->command.claim.count, 1);
}

/* ---- The store is away ---- */

static bool cannot_begin(struct store *store, struct tx **out, struct err *err)
{
    (void)store;
    (void)out;
    return err_set(err, ERR_UNAVAILABLE, "the database is away");
}

TEST(a_claim_that_waits_while_the_store_is_away_is_tried_now_and_then)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *claim = bench_claim_call(&b, (struct bench_claim){.wait = true});
    bench_give(&b, claim);
    bench_settle(&b);
    struct bench_order order = {.type = "t", .document = "d"}; /* offered, see queue/meet.c */
    bench_give(&b, bench_create_call(&b, &order, 1));
    bench_step(&b);
    const struct store_ops *fine = b.store->ops;
    struct store_ops away = *fine;
    away.begin = cannot_begin;
    b.store->ops = &away;
    bench_settle(&b);
    CHECK(!claim->answered);
    CHECK_EQ(engine_due_in_ms(b.engine), 200);
    b.store->ops = fine;
    bench_jump_ms(&b, 200);
    bench_settle(&b);

    CHECK(claim->answered);
    CHECK_EQ(claim->command.claim.count, 1);
}

static bool changes_nothing(struct tx *tx, struct task_change *changes, size_t n, struct err *err)
{
    (void)tx;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        changes[i].applied = false;
    }
    return true;
}

TEST(a_batch_that_loses_every_race_gives_up)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    const struct store_ops *fine = b.store->ops;
    struct store_ops racing = *fine;
    racing.save = changes_nothing;
    b.store->ops = &racing;
    CHECK_EQ(bench_cancel(&b, id), ERR_UNAVAILABLE);
    b.store->ops = fine;

    CHECK_EQ(bench_cancel(&b, id), ERR_NONE);
}

/* ---- The store cannot be trusted any more ---- */

TEST(a_store_that_cannot_be_trusted_ends_the_engine)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct call *waits = bench_claim_call(&b, (struct bench_claim){.wait = true, .queue = "q"});
    bench_give(&b, waits);
    bench_settle(&b);
    struct call *create = bench_create_call(&b, &(struct bench_order){.type = "t"}, 1);
    memory_disk_fail_next(b.disk, MEMORY_CRASH_BEFORE);
    bench_run(&b, create);

    CHECK_EQ(create->command.err.kind, ERR_FATAL);
    CHECK(waits->answered);
    CHECK_EQ(b.failures, 1);
    struct call *later = bench_run(&b, bench_call(&b, COMMAND_STATS));
    CHECK_EQ(later->command.err.kind, ERR_UNAVAILABLE);
    CHECK_EQ(b.failures, 1);
}

TEST(what_a_crash_kept_from_the_disk_was_answered_as_failed)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    memory_disk_fail_next(b.disk, MEMORY_CRASH_BEFORE);
    CHECK_EQ(bench_cancel(&b, id), ERR_FATAL);
    bench_restart(&b);

    CHECK_EQ(bench_task(&b, id).state, TASK_QUEUED);
    CHECK(id_eq(bench_claim(&b).id, id));
}

TEST(what_reached_the_disk_is_there_though_its_answer_was_lost)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .document = "d");
    memory_disk_fail_next(b.disk, MEMORY_CRASH_AFTER);
    struct call *claim = bench_run(&b, bench_claim_call(&b, (struct bench_claim){.max = 1}));
    CHECK_EQ(claim->command.err.kind, ERR_FATAL);
    bench_restart(&b);

    CHECK_EQ(bench_task(&b, id).state, TASK_RUNNING);
    CHECK(bench_document(&b, "d").locked);
    bench_pass_ms(&b, TASK_LEASE_DEFAULT_MS);
    CHECK_EQ(bench_task(&b, id).outcome, OUTCOME_LOST);
}

/* ---- Memory is rebuilt from the store ---- */

TEST(a_restart_finds_every_task_where_it_was)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id queued = bench_create(&b, "q", .priority = TASK_HIGH);
    bench_create(&b, "low", .priority = TASK_LOW);
    struct task_id scheduled = bench_create(&b, "s", .delay_ms = 1000);
    struct task_id failing = bench_create(&b, "f", .priority = TASK_CRITICAL);
    struct task fails = bench_claim(&b);
    CHECK(id_eq(fails.id, failing));
    CHECK_EQ(bench_finish(&b, &fails, OUTCOME_FAILED), ERR_NONE);
    struct queue_stats before = bench_stats(&b);
    bench_restart(&b);
    struct queue_stats after = bench_stats(&b);

    CHECK(memcmp(before.counts, after.counts, sizeof before.counts) == 0);
    CHECK_EQ(before.oldest_ms, after.oldest_ms);
    CHECK_EQ(engine_due_in_ms(b.engine), 1000);
    CHECK(id_eq(bench_claim(&b).id, queued));
    bench_pass_ms(&b, 1000);
    CHECK(id_eq(bench_claim(&b, .type = "s").id, scheduled));
    bench_pass_ms(&b, 4000);
    CHECK(id_eq(bench_claim(&b).id, failing));
    CHECK_STR(bench_claim(&b).type, "low");
}

static void found(void *arg, const char *invariant, const char *sentence)
{
    (void)arg;
    print_error("%s: %s\n", invariant, sentence);
    fail();
}

TEST(the_doctor_finds_nothing_after_a_busy_life)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct err err = ERR_INIT;
    bench_create_many(&b, 50, (struct bench_order){.type = "t", .document = "d"});
    bench_create_many(&b, 50, (struct bench_order){.type = "t", .max_retries = BENCH_NONE});
    for (int i = 0; i < 40; i++) {
        struct task task = bench_claim(&b, .lease_ms = 1000);
        if (i % 3 != 0 && !id_none(task.id)) {
            bench_finish(&b, &task, i % 3 == 1 ? OUTCOME_COMPLETED : OUTCOME_FAILED);
        }
        bench_pass_ms(&b, i * 100);
    }
    CHECK_OK(store_check(b.store, found, NULL, &err));
}
