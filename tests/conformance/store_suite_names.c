/* tests/conformance/store_suite_names.c: names of queues and types that clients invent.
 *
 * SPDX-License-Identifier: MIT */
#include "store_suite.h"

#define NAMES 300

static struct str numbered(struct bench *b, const char *stem, size_t i)
{
    return arena_printf(&b->arena, "%s-%zu", stem, i);
}

static size_t queues_listed(struct bench *b)
{
    struct store_counts counts;
    struct err err = ERR_INIT;
    CHECK_OK(store_counts(b->store, &b->arena, &counts, &err));
    return counts.count;
}

/* A task in each of many queues, each of a type of its own. */
static void insert_apart(struct bench *b, const char *stem, struct task *tasks, size_t n)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(store_begin(b->store, &tx, &err));
    for (size_t i = 0; i < n; i++) {
        const struct task *one = &tasks[i];
        tasks[i] = bench_task(b);
        tasks[i].queue = numbered(b, stem, i);
        tasks[i].type = numbered(b, "type", i);
        CHECK_OK(tx_insert(tx, &one, 1, &err));
    }
    CHECK_OK(tx_commit(&tx, &err));
}

TEST(a_queue_whose_last_task_was_removed_is_gone)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task *tasks = arena_array(&b.arena, struct task, NAMES);
    insert_apart(&b, "q", tasks, NAMES);
    CHECK_EQ(queues_listed(&b), NAMES);
    for (size_t i = 0; i < NAMES; i++) {
        bench_cancel(&b, &tasks[i]);
        bench_delete(&b, tasks[i].id);
    }
    CHECK_EQ(queues_listed(&b), 0);
    check_healthy(&b);

    insert_apart(&b, "other", tasks, NAMES); /* and others can have its place */
    CHECK_EQ(queues_listed(&b), NAMES);
    CHECK_EQ(bench_count(&b, "other-7", TASK_QUEUED), 1);
    CHECK_EQ(bench_count(&b, "q-7", TASK_QUEUED), -1);
    bench_reopen(&b);
    CHECK_EQ(queues_listed(&b), NAMES);
    check_healthy(&b);
}

/* A queue that was named only by what came to nothing was never there. */
TEST(a_queue_of_a_transaction_that_came_to_nothing_is_not_counted)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct tx *tx = NULL;
    struct task lost = bench_task(&b), kept = bench_task(&b);
    const struct task *one = &lost;
    lost.queue = STR("lost");
    lost.type = kept.type = STR("new");
    kept.queue = STR("kept");
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_insert(tx, &one, 1, &err));
    tx_close(&tx);
    bench_insert(&b, &kept);
    CHECK_EQ(queues_listed(&b), 1);
    struct task found;
    CHECK(bench_load(&b, kept.id, &found));
    CHECK_STR(found.queue, "kept");
    CHECK_STR(found.type, "new");
    check_healthy(&b);
}

/* A type that was forgotten and comes back is found again, also by who looked for it before. */
TEST(a_list_finds_a_type_that_has_come_back)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct task_filter filter = {.type = STR("rare"), .limit = 9};
    for (int round = 0; round < 2; round++) {
        struct task task = bench_task(&b);
        task.type = STR("rare");
        bench_insert(&b, &task);
        CHECK_EQ(bench_list(&b, &filter).count, 1);
        bench_cancel(&b, &task);
        bench_delete(&b, task.id);
        CHECK_EQ(bench_list(&b, &filter).count, 0);
        for (bool more = true; more;) {
            CHECK_OK(store_tend(b.store, &more, &err));
        }
    }
}
