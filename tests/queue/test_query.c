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

/* Saves `n` records with bodies of that many bytes, ids from 1 on. */
static void save_records(struct bench *b, size_t n, size_t bytes)
{
    struct err err = ERR_INIT;
    SCOPED(tx_close) struct tx *tx = NULL;
    char *body = arena_alloc(&b->arena, bytes);
    memset(body, 'x', bytes);
    bench_create(b, "t"); /* opens the store */
    CHECK_OK(store_begin(b->store, &tx, &err));
    for (size_t i = 1; i <= n; i++) {
        struct record record = {
            .kind = RECORD_TEAM, .id = {i, 1}, .mark = 1, .body = {body, bytes}};
        struct record_save save = {.record = &record};
        CHECK_OK(tx_records_save(tx, &save, 1, &err));
    }
    CHECK_OK(tx_commit(&tx, &err));
}

static struct records page_of(struct bench *b, size_t limit)
{
    struct desk desk;
    desk_open(&desk, b->store);
    struct query query = {.kind = QUERY_RECORDS,
                          .arena = &b->arena,
                          .record_filter = {.kind = RECORD_TEAM, .limit = limit}};
    queries_ask(desk.queries, &query);
    desk_wait(&desk, 1);
    queries_stop(desk.queries);
    CHECK_EQ(query.err.kind, ERR_NONE);
    return query.records;
}

TEST(a_page_of_records_is_as_long_as_asked)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    save_records(&b, 100, 10);
    struct records page = page_of(&b, 90);
    CHECK_EQ(page.count, 90);
    CHECK(page.more);
    for (size_t i = 0; i < page.count; i++) {
        CHECK_EQ(page.at[i].id.hi, 100 - i);
    }
    page = page_of(&b, 500);
    CHECK_EQ(page.count, 100);
    CHECK(!page.more);
}

TEST(a_page_of_big_records_ends_before_it_fills_the_memory)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    save_records(&b, 40, MIB);
    struct records page = page_of(&b, 40);
    CHECK(page.count >= 16 && page.count <= 32);
    CHECK(page.more);
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
