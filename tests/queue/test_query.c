/* tests/queue/test_query.c: lists and details, answered by threads of their own.
 *
 * SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "bench.h"
#include "queue/query.h"
#include "test.h"

#define QUESTIONS 50

struct desk {
    struct queries *queries;
    pthread_mutex_t lock;
    pthread_cond_t came;
    size_t answered;
};

static void on_answered(void *arg, struct query *query)
{
    struct desk *desk = arg;
    (void)query;
    pthread_mutex_lock(&desk->lock);
    desk->answered++;
    pthread_cond_signal(&desk->came);
    pthread_mutex_unlock(&desk->lock);
}

static void desk_open(struct desk *desk, struct store *store)
{
    struct err err = ERR_INIT;
    *desk = (struct desk){.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};
    CHECK_OK(queries_start(store, 2, on_answered, desk, &desk->queries, &err));
}

static void desk_wait(struct desk *desk, size_t answers)
{
    pthread_mutex_lock(&desk->lock);
    while (desk->answered < answers) {
        pthread_cond_wait(&desk->came, &desk->lock);
    }
    pthread_mutex_unlock(&desk->lock);
}

TEST(a_list_shows_the_newest_first_and_says_that_there_is_more)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 3, (struct bench_order){.type = "t"});
    struct task_id last = bench_create(&b, "last");
    struct desk desk;
    desk_open(&desk, b.store);
    struct query query = {.kind = QUERY_LIST, .arena = &b.arena, .filter.limit = 2};
    queries_ask(desk.queries, &query);
    desk_wait(&desk, 1);
    queries_stop(desk.queries);

    CHECK_EQ(query.err.kind, ERR_NONE);
    CHECK_EQ(query.rows.count, 2);
    CHECK(query.rows.more);
    CHECK(id_eq(query.rows.at[0].task.id, last));
}

TEST(a_detail_is_found_or_said_not_to_be_there)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .payload = "[1]");
    struct desk desk;
    desk_open(&desk, b.store);
    struct query there = {.kind = QUERY_DETAIL, .arena = &b.arena, .id = id};
    queries_ask(desk.queries, &there);
    desk_wait(&desk, 1);
    struct query nowhere = {.kind = QUERY_DETAIL, .arena = &b.arena, .id = {7, 7}};
    queries_ask(desk.queries, &nowhere);
    desk_wait(&desk, 2);
    queries_stop(desk.queries);

    CHECK(there.found);
    CHECK_STR(there.detail.task.payload, "[1]");
    CHECK(!nowhere.found);
    CHECK_EQ(nowhere.err.kind, ERR_NONE);
}

TEST(every_question_is_answered_before_the_readers_stop)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    struct desk desk;
    struct query queries[QUESTIONS];
    struct arena arenas[QUESTIONS] = {0};
    desk_open(&desk, b.store);
    for (int i = 0; i < QUESTIONS; i++) {
        queries[i] = (struct query){.kind = QUERY_LIST, .arena = &arenas[i], .filter.limit = 9};
        queries_ask(desk.queries, &queries[i]);
    }
    queries_stop(desk.queries);

    CHECK_EQ(desk.answered, QUESTIONS);
    for (int i = 0; i < QUESTIONS; i++) {
        CHECK_EQ(queries[i].rows.count, 1);
        arena_fini(&arenas[i]);
    }
}
