/* tests/queue/test_type_book.c: figures by the type of tasks.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "bench.h"
#include "queue/engine.h"
#include "test.h"

static const struct type_figures *figures_of(struct bench *b, const char *type)
{
    return type_book_of(&b->engine->types, str_of(type));
}

TEST(tasks_are_counted_by_their_type)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "a");
    bench_create(&b, "a");
    bench_create(&b, "b");
    struct task first = bench_claim(&b, .worker = "w", .type = "a");
    bench_pass_ms(&b, 1500);
    bench_finish(&b, &first, OUTCOME_COMPLETED);

    const struct type_figures *a = figures_of(&b, "a");
    CHECK_EQ(a->enqueued, 2);
    CHECK_EQ(a->completed, 1);
    CHECK_EQ(a->outcomes[OUTCOME_COMPLETED], 1);
    CHECK_EQ(a->wait.count, 1);
    CHECK_EQ(a->run.sum_ms, 1500);
    CHECK_EQ(figures_of(&b, "b")->enqueued, 1);
    CHECK_EQ(figures_of(&b, "b")->completed, 0);
}

TEST(a_failure_is_retried_until_it_is_one_for_good)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "a", .max_retries = 1);
    struct task first = bench_claim(&b, .worker = "w", .type = "a");
    bench_finish(&b, &first, OUTCOME_FAILED);
    CHECK_EQ(figures_of(&b, "a")->retried, 1);
    CHECK_EQ(figures_of(&b, "a")->failed, 0);

    bench_pass_ms(&b, MINUTE_MS);
    struct task second = bench_claim(&b, .worker = "w", .type = "a");
    bench_finish(&b, &second, OUTCOME_FAILED);
    CHECK_EQ(figures_of(&b, "a")->retried, 1);
    CHECK_EQ(figures_of(&b, "a")->failed, 1);
    CHECK_EQ(figures_of(&b, "a")->outcomes[OUTCOME_FAILED], 2);
    CHECK_EQ(lane_find(&b.engine->lanes, STR("default"))->failed, 1);
}

TEST(types_beyond_the_limit_share_one_place)
{
    struct type_book book;
    const struct str known[] = {STR("kept")};
    char name[16];
    type_book_init(&book, known, 1);
    for (int i = 0; i < 3 * TYPE_BOOK_MAX; i++) {
        snprintf(name, sizeof name, "type-%d", i);
        type_book_of(&book, str_of(name))->enqueued++;
    }
    type_book_of(&book, STR("kept"))->enqueued++;

    CHECK_EQ(book.count, TYPE_BOOK_MAX);
    CHECK_EQ(type_book_of(&book, STR("type-0"))->enqueued, 1);
    CHECK_EQ(type_book_of(&book, STR("kept"))->enqueued, 1);
    CHECK_EQ(type_book_of(&book, STR(TYPE_BOOK_OTHER))->enqueued, 2 * TYPE_BOOK_MAX + 2);
    type_book_fini(&book);
}

TEST(a_type_that_is_called_like_the_rest_is_counted_with_it)
{
    struct type_book book;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct type_figures *all;
    type_book_init(&book, NULL, 0);
    type_book_of(&book, STR(TYPE_BOOK_OTHER))->enqueued++;

    CHECK_EQ(type_book_list(&book, &arena, &all), 1);
    CHECK_STR(all[0].type, TYPE_BOOK_OTHER);
    CHECK_EQ(all[0].enqueued, 1);
    type_book_fini(&book);
}
