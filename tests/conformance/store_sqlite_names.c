/* tests/conformance/store_sqlite_names.c: names in the file: as many as tasks have, and a few more.
 *
 * SPDX-License-Identifier: MIT */
#include "store/sqlite/names.h"
#include "store/sqlite/sqlite.h"
#include "store_sqlite.h"
#include "store_suite.h"

#define NAMES 10500 /* more than the file may keep for nothing, and a connection at hand */

static struct str numbered(struct arena *arena, const char *stem, size_t i)
{
    return arena_printf(arena, "%s-%zu", stem, i);
}

/* One task of each type, or in each queue; they end at once where `ended`. */
static void insert_apart(struct bench *b, const char *stem, size_t n, bool ended, bool queues)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    CHECK_OK(store_begin(b->store, &tx, &err));
    for (size_t i = 0; i < n; i++) {
        struct task task = bench_task(b);
        const struct task *one = &task;
        *(queues ? &task.queue : &task.type) = numbered(&arena, stem, i);
        task.state = ended ? TASK_CANCELLED : TASK_QUEUED;
        task.finished_ms = task.cancelled_ms = ended ? b->now_ms : 0;
        CHECK_OK(tx_insert(tx, &one, 1, &err));
    }
    CHECK_OK(tx_commit(&tx, &err));
}

static void insert_types(struct bench *b, const char *stem, size_t n, bool ended)
{
    insert_apart(b, stem, n, ended, false);
}

static void sweep_all(struct bench *b)
{
    struct err err = ERR_INIT;
    struct store_sweep sweep = {
        .before_ms = INT64_MAX, .most = 2000, .oldest_ms = INT64_MAX, .cursor = 0};
    do {
        SCOPED(tx_close) struct tx *tx = NULL;
        CHECK_OK(store_begin(b->store, &tx, &err));
        CHECK_OK(tx_sweep(tx, &sweep, &err));
        CHECK_OK(tx_commit(&tx, &err));
    } while (sweep.cursor != 0);
}

static size_t tend_all(struct bench *b)
{
    struct err err = ERR_INIT;
    size_t steps = 0;
    for (bool more = true; more; steps++) {
        CHECK_OK(store_tend(b->store, &more, &err));
    }
    return steps;
}

static size_t cached(const struct bench *b)
{
    return SQLITE_STORE(b->store)->db.names_by_id.count;
}

static bool pass_by(void *arg, const struct task *task, struct err *err)
{
    (void)task;
    (void)err;
    ++*(size_t *)arg;
    return true;
}

TEST(types_that_no_task_has_any_more_leave_the_file_and_memory)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    size_t live = 0;
    insert_types(&b, "gone", NAMES, true);
    insert_types(&b, "kept", 20, false);
    CHECK_EQ(place_ask(b.place, "SELECT count(*) FROM name"), NAMES + 21); /* and "default" */
    sweep_all(&b);
    CHECK(tend_all(&b) > 5); /* in slices */
    CHECK_EQ(place_ask(b.place, "SELECT count(*) FROM name"), 21);
    CHECK_EQ(place_ask(b.place, "SELECT count(*) FROM ended"), 0);
    CHECK_EQ(tend_all(&b), 1); /* and nothing is looked for again */
    check_healthy(&b);

    bench_reopen(&b);
    CHECK_EQ(cached(&b), 0);
    CHECK_OK(store_scan_live(b.store, pass_by, &live, &err));
    CHECK_EQ(live, 20);
    CHECK_EQ(cached(&b), 21);
}

static int64_t ended_in_all(struct bench *b, size_t *listed)
{
    struct store_counts counts;
    struct err err = ERR_INIT;
    CHECK_OK(store_counts(b->store, &b->arena, &counts, &err));
    int64_t n = counts.others[TASK_CANCELLED];
    for (size_t i = 0; i < counts.count; i++) {
        n += counts.at[i].tasks[TASK_CANCELLED];
    }
    *listed = counts.count;
    return n;
}

/* Of queues that have nothing but a history only so many are counted each for itself in memory. */
TEST(queues_with_only_a_history_beyond_some_are_counted_together)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    size_t listed;
    insert_apart(&b, "q", NAMES, true, true);
    for (int life = 0; life < 2; life++) {
        CHECK_EQ(ended_in_all(&b, &listed), NAMES);
        CHECK_EQ(listed, COUNTS_HISTORY_MAX);
        bench_reopen(&b);
    }
    struct task task = bench_task(&b); /* comes back to a queue that was folded, and to one not */
    task.queue = STR("q-0");
    bench_insert(&b, &task);
    CHECK_EQ(bench_count(&b, "q-0", TASK_QUEUED), 1);
    CHECK_EQ(bench_count(&b, "q-0", TASK_CANCELLED), 1);
    task = bench_task(&b);
    task.queue = STR("q-10499");
    bench_insert(&b, &task);
    CHECK_EQ(bench_count(&b, "q-10499", TASK_CANCELLED), 1);
    CHECK_EQ(ended_in_all(&b, &listed), NAMES);
    check_healthy(&b);
    bench_reopen(&b);
    CHECK_EQ(bench_count(&b, "q-0", TASK_CANCELLED), 1);
    CHECK_EQ(ended_in_all(&b, &listed), NAMES);

    sweep_all(&b);
    CHECK_EQ(ended_in_all(&b, &listed), 0);
    CHECK_EQ(listed, 2);
    CHECK_EQ(SQLITE_STORE(b.store)->counts.others_count, 0);
    check_healthy(&b);
}

TEST(a_connection_keeps_only_some_names_at_hand)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    size_t live = 0;
    insert_types(&b, "t", NAMES, false);
    bench_reopen(&b);
    CHECK_OK(store_scan_live(b.store, pass_by, &live, &err));
    CHECK_EQ(live, NAMES);
    CHECK(cached(&b) <= NAMES_CACHED_MAX + 1);
    insert_types(&b, "t", NAMES, false); /* known by the file alone */
    CHECK_EQ(place_ask(b.place, "SELECT count(*) FROM name"), NAMES + 1);
    check_healthy(&b);
}

/* Whoever names a type while upkeep looks for those that can go keeps it. */
TEST(a_type_that_comes_back_during_upkeep_stays)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    bool more = true;
    insert_types(&b, "t", NAMES, true);
    sweep_all(&b);
    CHECK_OK(store_tend(b.store, &more, &err)); /* all tasks were seen, none is there */
    CHECK(more);
    insert_types(&b, "t", 3, false);
    bench_reopen(&b); /* a walk that was cut short begins anew */
    CHECK_OK(store_tend(b.store, &more, &err));
    CHECK(more);
    insert_types(&b, "t", 5, false);
    insert_types(&b, "new", 2, false);
    CHECK_OK(store_tend(b.store, &more, &err));
    insert_types(&b, "t", 3000, false); /* some of them gone already */
    tend_all(&b);
    CHECK_EQ(place_ask(b.place, "SELECT count(*) FROM name"), 3003);
    check_healthy(&b);
    struct task_filter filter = {.type = STR("t-2999"), .limit = 9};
    CHECK_EQ(bench_list(&b, &filter).count, 1);
    filter.type = STR("t-1");
    CHECK_EQ(bench_list(&b, &filter).count, 3);
}
