/* tests/queue/test_names.c: names that clients invent are given back when nobody uses them.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "bench.h"
#include "queue/engine.h"
#include "test.h"

#define SOON_MS (10 * SECOND_MS)

static const char *numbered(struct bench *b, const char *stem, size_t i)
{
    return arena_printf(&b->arena, "%s-%zu", stem, i).ptr;
}

/* One task in each of `n` queues that nobody has named before. */
static enum err_kind create_apart(struct bench *b, const char *stem, size_t n, int64_t expires_ms)
{
    enum err_kind kind = ERR_NONE;
    struct bench_order *orders = arena_array(&b->arena, struct bench_order, CREATE_MAX);
    for (size_t at = 0; at < n && kind == ERR_NONE; at += CREATE_MAX) {
        size_t some = MIN(n - at, (size_t)CREATE_MAX);
        for (size_t i = 0; i < some; i++) {
            orders[i] = (struct bench_order){
                .type = "t", .queue = numbered(b, stem, at + i), .expires_in_ms = expires_ms};
        }
        kind = bench_run(b, bench_create_call(b, orders, some))->command.err.kind;
    }
    return kind;
}

static enum err_kind create_in(struct bench *b, const char *queue)
{
    struct bench_order order = {.type = "t", .queue = queue};
    return bench_run(b, bench_create_call(b, &order, 1))->command.err.kind;
}

static const struct lanes *lanes_of(const struct bench *b)
{
    return &b->engine->lanes;
}

TEST(queues_whose_tasks_have_ended_make_room_for_others)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    CHECK_EQ(create_apart(&b, "one", LANES_MAX, SOON_MS), ERR_NONE);
    bench_pass_ms(&b, SOON_MS + 1);
    CHECK_EQ(bench_count(&b, TASK_CANCELLED), LANES_MAX);

    CHECK_EQ(create_in(&b, "default"), ERR_NONE);
    CHECK_EQ(create_apart(&b, "two", LANES_MAX / 2, SOON_MS), ERR_NONE);
    CHECK(lanes_of(&b)->count <= LANES_MAX);
    CHECK_EQ(lanes_of(&b)->count - lanes_of(&b)->idle_count, LANES_MAX / 2);
    CHECK(lane_find(lanes_of(&b), STR("one-0")) == NULL);
    CHECK(lane_find(lanes_of(&b), STR("one-9999")) != NULL); /* used later: forgotten later */

    bench_restart(&b);
    CHECK_EQ(lanes_of(&b)->count - lanes_of(&b)->idle_count, LANES_MAX / 2);
    CHECK(lanes_of(&b)->count <= LANES_MAX);
}

TEST(the_limit_is_on_queues_in_use_and_spares_the_default_one)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    CHECK_EQ(create_apart(&b, "q", LANES_MAX, 0), ERR_NONE);
    CHECK_EQ(create_in(&b, "one-more"), ERR_BUSY);
    CHECK_EQ(create_in(&b, "default"), ERR_NONE);
    CHECK_EQ(create_in(&b, "q-7"), ERR_NONE);
    struct call *waits =
        bench_claim_call(&b, (struct bench_claim){.queue = "one-more", .wait = true});
    CHECK_EQ(bench_run(&b, waits)->command.err.kind, ERR_BUSY);
    struct call *sets = bench_call(&b, COMMAND_QUEUE);
    sets->command.queue = (struct command_queue){
        .name = STR("one-more"), .has_max_concurrent = true, .set.max_concurrent = 1};
    CHECK_EQ(bench_run(&b, sets)->command.err.kind, ERR_BUSY);

    struct task task = bench_claim(&b, .queue = "q-8");
    CHECK_EQ(create_in(&b, "one-more"), ERR_BUSY);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(create_in(&b, "one-more"), ERR_NONE);
    CHECK_EQ(create_in(&b, "another"), ERR_BUSY);
}

/* Each kind of use alone keeps a queue, and its end gives it back. */
TEST(a_queue_is_in_use_while_anything_needs_it)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .queue = "task", .delay_ms = SOON_MS);
    struct call *waits = bench_claim_call(
        &b, (struct bench_claim){.queue = "claim", .queue2 = "claim2", .wait = true, .serial = 7});
    bench_give(&b, waits);
    bench_settle(&b);
    bench_queue(&b, "set", (struct command_queue){.has_burst = true, .set.burst = 3});
    const struct lanes *lanes = lanes_of(&b);
    CHECK_EQ(lanes->count, 4);
    CHECK_EQ(lanes->idle_count, 0);

    CHECK_EQ(bench_cancel(&b, id), ERR_NONE);
    CHECK_EQ(lanes->idle_count, 1);
    CHECK_EQ(bench_revive(&b, id), ERR_NONE);
    CHECK_EQ(lanes->idle_count, 0);
    CHECK_EQ(bench_cancel(&b, id), ERR_NONE);
    bench_run(&b, bench_stop_call(&b, 7));
    CHECK_EQ(lanes->idle_count, 3);
    bench_queue(&b, "set", (struct command_queue){.has_burst = true, .set.burst = 0});
    CHECK_EQ(lanes->idle_count, 4);
    CHECK_EQ(lanes->count, 4);
}

TEST(figures_do_not_shrink_when_a_queue_is_forgotten)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t", .queue = "early");
    struct task task = bench_claim(&b, .queue = "early");
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(create_apart(&b, "late", LANES_MAX, SOON_MS), ERR_NONE);
    CHECK(lane_find(lanes_of(&b), STR("early")) == NULL);
    struct queue_stats stats = bench_stats(&b);
    CHECK_EQ(stats.run.count, 1);
    CHECK_EQ(stats.wait.count, 1);
    CHECK_EQ(stats.counts[TASK_COMPLETED], 1);
}
