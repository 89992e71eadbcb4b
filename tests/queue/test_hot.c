/* tests/queue/test_hot.c: tasks that the engine keeps at hand: which, how many, and never wrong
 * ones.
 *
 * The workbench compares every task at hand with its row before it is used (doubts_memory), so all
 * other tests of this folder are about it too.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "queue/engine.h"
#include "store/ops.h"
#include "test.h"

static struct now at_ms(int64_t ms)
{
    return (struct now){.wall_ms = ms, .mono_ms = ms};
}

static struct task some_task(uint64_t number, enum task_state state)
{
    struct task task;
    task_init(&task);
    task.id = (struct task_id){number, number};
    task.type = STR("t");
    task.state = state;
    task.worker = state == TASK_RUNNING ? STR("w") : STR_NONE;
    return task;
}

static bool is_kept(const struct hot *hot, uint64_t number)
{
    struct task task;
    return hot_read(hot, (struct task_id){number, number}, &task) && task.id.hi == number;
}

TEST(what_is_queued_or_runs_is_kept_and_nothing_else)
{
    SCOPED(hot_fini) struct hot hot;
    hot_init(&hot);
    for (int state = 0; state < TASK_STATES; state++) {
        struct task task = some_task((uint64_t)state + 1, (enum task_state)state);
        hot_keep(&hot, &task, at_ms(0));
        CHECK_EQ(is_kept(&hot, task.id.hi), state == TASK_QUEUED || state == TASK_RUNNING);
    }
    struct task ended = some_task(1 + TASK_RUNNING, TASK_COMPLETED);
    hot_keep(&hot, &ended, at_ms(0));
    CHECK(!is_kept(&hot, 1 + TASK_RUNNING));
}

TEST(a_task_is_read_as_it_was_kept_last_and_its_texts_live_until_the_batch_is_over)
{
    SCOPED(hot_fini) struct hot hot;
    struct task task = some_task(1, TASK_RUNNING), before, after;
    hot_init(&hot);
    hot_keep(&hot, &task, at_ms(0));
    CHECK(hot_read(&hot, task.id, &before));
    task.worker = STR("other");
    hot_keep(&hot, &task, at_ms(0));
    CHECK(hot_read(&hot, task.id, &after));

    CHECK_STR(before.worker, "w");
    CHECK_STR(after.worker, "other");
    hot_settle(&hot);
    CHECK_STR(after.worker, "other");
}

TEST(of_queued_tasks_the_first_are_kept_until_they_have_stood_in_line_for_long)
{
    SCOPED(hot_fini) struct hot hot;
    uint64_t n = 0;
    hot_init(&hot);
    hot.queued.most = 4 * KIB;
    do {
        struct task task = some_task(++n, TASK_QUEUED);
        hot_keep(&hot, &task, at_ms(0));
    } while (is_kept(&hot, n));
    CHECK(is_kept(&hot, 1));
    CHECK(hot.queued.bytes <= hot.queued.most);

    struct task late = some_task(n + 1, TASK_QUEUED);
    hot_keep(&hot, &late, at_ms(HOT_STALE_MS));
    CHECK(is_kept(&hot, n + 1));
    CHECK(!is_kept(&hot, 1));
    CHECK(hot.queued.bytes <= hot.queued.most);
}

TEST(of_attempts_the_latest_are_kept)
{
    SCOPED(hot_fini) struct hot hot;
    hot_init(&hot);
    hot.held.most = 4 * KIB;
    for (uint64_t n = 1; n <= 100; n++) {
        struct task task = some_task(n, TASK_RUNNING);
        hot_keep(&hot, &task, at_ms(0));
        CHECK(is_kept(&hot, n));
    }
    CHECK(!is_kept(&hot, 1));
    CHECK(hot.held.bytes <= hot.held.most);
}

TEST(a_task_with_much_to_say_is_not_kept)
{
    SCOPED(hot_fini) struct hot hot;
    char much[2 * HOT_ROW_MAX] = "";
    struct task task = some_task(1, TASK_QUEUED);
    hot_init(&hot);
    hot_keep(&hot, &task, at_ms(0));
    task.payload = (struct str){much, sizeof much};
    hot_keep(&hot, &task, at_ms(0));
    CHECK(!is_kept(&hot, 1));
}

/* ---- The engine with it ---- */

static bool no_load(struct tx *tx, struct task_load *loads, size_t n, struct err *err)
{
    (void)tx;
    (void)loads;
    (void)n;
    return err_set(err, ERR_UNAVAILABLE, "nothing may be read");
}

TEST(a_start_and_an_end_of_what_is_at_hand_read_no_row)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .document = "d", .payload = "[1]");
    struct store_ops ops = *b.store->ops;
    const struct store_ops *whole = b.store->ops;
    ops.load = no_load;
    b.engine->with.doubts_memory = false;
    b.store->ops = &ops;

    struct task task = bench_claim(&b);
    CHECK(id_eq(task.id, id));
    CHECK_STR(task.payload, "[1]");
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);

    b.store->ops = whole;
    CHECK_EQ(bench_task(&b, id).state, TASK_COMPLETED);
}

TEST(a_commit_that_failed_leaves_what_is_at_hand_as_it_was)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task task = bench_claim(&b), kept;
    memory_disk_fail_next(b.disk, MEMORY_FULL);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_UNAVAILABLE);

    CHECK(hot_read(&b.engine->hot, id, &kept));
    CHECK_EQ(kept.state, TASK_RUNNING);
    bench_pass_ms(&b, SECOND_MS);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);
    CHECK(!hot_read(&b.engine->hot, id, &kept));
}
