/* tests/conformance/store_postgres_fleet.c: two stores on one database: what one takes, the other
 * does not get.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "store_postgres.h"
#include "store_postgres_pair.h"

/* ---- Proposals ---- */

static const struct want any = {.any_queue = true};

#define HINTS_MAX 64
struct found {
    struct hint at[HINTS_MAX];
    size_t count;
};

static struct found propose(struct pair *p, struct tx *tx, const struct want *want, size_t max)
{
    struct err err = ERR_INIT;
    struct found found;
    CHECK_OK(tx_propose(tx, want, max, &p->b.arena, found.at, &found.count, &err));
    CHECK(found.count <= max);
    return found;
}

static bool start_in(struct pair *p, struct tx *tx, const struct task *task)
{
    struct err err = ERR_INIT;
    struct task now = *task;
    struct task_claim claim = {STR("w"), TASK_LEASE_DEFAULT_MS, 5};
    struct task_change change = {.was = task, .now = &now};
    CHECK_OK(task_start(&now, &claim, p->b.now_ms, &err));
    CHECK_OK(tx_save(tx, &change, 1, &err));
    return change.applied;
}

TEST(the_best_comes_first_over_all_queues_and_types)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct task low = pair_queued(&p, "a", "t", TASK_LOW, NULL);
    struct task first = pair_queued(&p, "b", "u", TASK_HIGH, NULL);
    struct task second = pair_queued(&p, "a", "u", TASK_HIGH, "d");
    struct task urgent = pair_queued(&p, "c", "t", TASK_CRITICAL, NULL);
    struct brood brood;
    bench_brood(&p.b, &brood, NULL);
    bench_cancel(&p.b, &brood.child[0]);
    bench_cancel(&p.b, &brood.child[1]);
    bench_cancel(&p.b, &brood.child[2]);
    SCOPED(tx_close) struct tx *tx = pair_begin(p.b.store);
    struct found found = propose(&p, tx, &any, 9);

    CHECK_EQ(found.count, 4); /* containers are never proposed */
    CHECK(id_eq(found.at[0].id, urgent.id) && id_eq(found.at[1].id, first.id));
    CHECK(id_eq(found.at[2].id, second.id) && id_eq(found.at[3].id, low.id));
    CHECK_STR(found.at[2].document, "d");
    CHECK_STR(found.at[2].queue, "a");
    CHECK_STR(found.at[2].type, "u");
    CHECK_EQ(found.at[2].priority, TASK_HIGH);
    CHECK_EQ(found.at[2].queued_ms, second.queued_ms);
}

TEST(only_what_is_asked_for_is_proposed_and_no_more_than_its_queue_has_room)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct task one = pair_queued(&p, "a", "t", TASK_NORMAL, NULL);
    struct task two = pair_queued(&p, "a", "u", TASK_NORMAL, NULL);
    pair_queued(&p, "b", "t", TASK_NORMAL, NULL);
    pair_queued(&p, "b", "t", TASK_NORMAL, NULL);
    pair_queued(&p, "c", "v", TASK_NORMAL, NULL);
    struct str types[] = {STR("t"), STR("u")};
    struct want_queue room[] = {{STR("a"), SIZE_MAX}, {STR("b"), 1}, {STR("none"), 5}};
    struct want named = {types, 2, room, 3, false}, all_of = {NULL, 0, room, 1, false};
    struct want_queue closed[] = {{STR("b"), 0}, {STR("a"), 1}};
    struct want rest = {.queues = closed, .queues_count = 2, .any_queue = true};
    struct tx *tx = pair_begin(p.b.store);
    CHECK_EQ(propose(&p, tx, &named, 9).count, 3); /* a: both, b: one */
    tx_close(&tx);
    tx = pair_begin(p.b.store);
    struct found found = propose(&p, tx, &all_of, 9);
    CHECK_EQ(found.count, 2);
    CHECK(id_eq(found.at[0].id, one.id) && id_eq(found.at[1].id, two.id));
    tx_close(&tx);
    tx = pair_begin(p.b.store);
    CHECK_EQ(propose(&p, tx, &rest, 9).count, 2); /* one of a, and c */
    tx_close(&tx);
}

TEST(what_one_node_takes_the_other_passes_over)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    for (int i = 0; i < 6; i++) {
        pair_queued(&p, "a", "t", TASK_NORMAL, NULL);
    }
    struct tx *one = pair_begin(p.b.store), *two = pair_begin(p.other);
    struct found mine = propose(&p, one, &any, 4), theirs = propose(&p, two, &any, 4);
    CHECK_EQ(mine.count, 4);
    CHECK_EQ(theirs.count, 2);
    for (size_t i = 0; i < 2; i++) {
        CHECK(!id_eq(theirs.at[i].id, mine.at[0].id) && !id_eq(theirs.at[i].id, mine.at[3].id));
    }
    tx_close(&one);
    tx_close(&two);
}

TEST(a_transaction_proposes_a_task_once)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct task tasks[3];
    for (size_t i = 0; i < 3; i++) {
        tasks[i] = pair_queued(&p, "a", "t", TASK_NORMAL, NULL);
    }
    struct str type = STR("t");
    struct want other = {.types = &type, .types_count = 1, .any_queue = true};
    SCOPED(tx_close) struct tx *tx = pair_begin(p.b.store);
    CHECK(id_eq(propose(&p, tx, &any, 1).at[0].id, tasks[0].id));
    CHECK(id_eq(propose(&p, tx, &any, 1).at[0].id, tasks[1].id));
    CHECK(id_eq(propose(&p, tx, &other, 1).at[0].id, tasks[2].id));
    CHECK_EQ(propose(&p, tx, &any, 1).count, 0);
}

TEST(never_two_of_a_document_and_none_that_is_held)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct task runs = pair_queued(&p, "a", "t", TASK_LOW, "held");
    CHECK(bench_try_start(&p.b, &runs));
    pair_queued(&p, "a", "t", TASK_CRITICAL, "held");
    struct task best = pair_queued(&p, "b", "u", TASK_HIGH, "free");
    pair_queued(&p, "a", "t", TASK_NORMAL, "free");
    struct tx *one = pair_begin(p.b.store), *two = pair_begin(p.other);
    struct found mine = propose(&p, one, &any, 9);
    CHECK_EQ(mine.count, 1);
    CHECK(id_eq(mine.at[0].id, best.id));
    CHECK_EQ(propose(&p, one, &any, 9).count, 0);
    CHECK_EQ(propose(&p, two, &any, 9).count, 0); /* not the second one of the document either */
    tx_close(&one);
    tx_close(&two);

    bench_complete(&p.b, &runs, "1");
    one = pair_begin(p.b.store);
    CHECK_EQ(propose(&p, one, &any, 9).count, 2);
    tx_close(&one);
}

TEST(a_batch_is_proposed_on_the_document_that_it_holds)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct brood brood;
    bench_brood(&p.b, &brood, "d");
    struct task other = pair_queued(&p, "default", "t", TASK_CRITICAL, "d");
    CHECK(bench_move(&p.b, &brood.top, TASK_RUNNING) && bench_try_start(&p.b, &brood.child[0]));
    bench_complete(&p.b, &brood.child[0], "1"); /* it took the document for all of them */
    SCOPED(tx_close) struct tx *tx = pair_begin(p.b.store);
    struct found found = propose(&p, tx, &any, 9);
    CHECK_EQ(found.count, 1);
    CHECK(id_eq(found.at[0].id, brood.child[1].id) && !id_eq(found.at[0].id, other.id));
}

/* Many tasks of one document, and one behind them without. */
static void insert_line(struct pair *p, size_t n, struct task *last)
{
    struct err err = ERR_INIT;
    struct tx *tx = pair_begin(p->b.store);
    struct task *tasks = mem_array(NULL, n, sizeof *tasks);
    const struct task **all = mem_array(NULL, n, sizeof *all);
    for (size_t i = 0; i < n; i++) {
        tasks[i] = bench_task(&p->b);
        tasks[i].document = STR("d");
        all[i] = &tasks[i];
    }
    CHECK_OK(tx_insert(tx, all, n, &err));
    pair_commit(tx);
    mem_free(all);
    mem_free(tasks);
    *last = bench_task(&p->b);
    bench_insert(&p->b, last);
}

TEST(a_long_line_behind_a_held_document_hides_nobody)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct task runs = pair_queued(&p, "default", "t", TASK_HIGH, "d"), last;
    CHECK(bench_try_start(&p.b, &runs));
    insert_line(&p, 12000, &last);
    struct tx *tx = pair_begin(p.b.store);
    struct found found = propose(&p, tx, &any, 9);
    CHECK_EQ(found.count, 1);
    CHECK(id_eq(found.at[0].id, last.id));
    tx_close(&tx); /* it came to nothing, but those in the line stay parked */
    CHECK(place_run(p.b.place, "SELECT count(*) FROM task WHERE NOT offered") > 11000);
    check_healthy(&p.b);

    bench_complete(&p.b, &runs, "1");
    for (int i = 0; i < 5; i++) { /* and one after the other comes forward */
        tx = pair_begin(p.b.store);
        found = propose(&p, tx, &any, 9);
        CHECK_EQ(found.count, i == 0 ? 2 : 1);
        struct task_load load = {.id = found.at[0].id, .arena = &p.b.arena};
        struct err err = ERR_INIT;
        CHECK_OK(tx_load(tx, &load, 1, &err));
        CHECK_STR(load.task.document, "d");
        CHECK(start_in(&p, tx, &load.task));
        struct task first = load.task, free_one = last;
        if (i == 0) {
            CHECK(start_in(&p, tx, &free_one));
        }
        pair_commit(tx);
        CHECK(bench_load(&p.b, first.id, &first));
        bench_complete(&p.b, &first, "1");
        check_healthy(&p.b);
    }
}

/* ---- Documents, limits, counters ---- */

TEST(of_two_claims_on_one_document_one_is_applied)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct task one = pair_queued(&p, "a", "t", TASK_NORMAL, "d");
    struct task two = pair_queued(&p, "a", "t", TASK_NORMAL, "d");
    struct tx *first = pair_begin(p.b.store);
    CHECK(start_in(&p, first, &one));
    pair_commit(first);
    struct tx *second = pair_begin(p.other);
    CHECK(!start_in(&p, second, &two));
    tx_close(&second);
    check_healthy(&p.b);
}

static void save_queue(struct pair *p, const struct store_queue *queue)
{
    struct err err = ERR_INIT;
    struct tx *tx = pair_begin(p->b.store);
    CHECK_OK(tx_save_queue(tx, queue, &err));
    pair_commit(tx);
}

static struct store_room room_in(struct pair *p, struct tx *tx, const char *queue)
{
    struct err err = ERR_INIT;
    struct store_room *rooms = NULL;
    struct str name = str_of(queue);
    size_t count = 0;
    CHECK_OK(tx_rooms(tx, &name, 1, p->b.now_ms, &p->b.arena, &rooms, &count, &err));
    CHECK_EQ(count, 1);
    CHECK(str_eq(rooms[0].settings.name, name));
    return rooms[0];
}

static struct store_room room_now(struct pair *p, struct store *store, const char *queue)
{
    SCOPED(tx_close) struct tx *tx = pair_begin(store);
    return room_in(p, tx, queue);
}

TEST(a_limit_holds_over_all_nodes)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct task tasks[3];
    for (size_t i = 0; i < 3; i++) {
        tasks[i] = pair_queued(&p, "q", "t", TASK_NORMAL, NULL);
    }
    save_queue(&p, &(struct store_queue){.name = STR("q"), .max_concurrent = 2});
    CHECK_EQ(room_now(&p, p.b.store, "q").room, 2);
    struct tx *tx = pair_begin(p.b.store);
    CHECK_EQ(room_in(&p, tx, "q").room, 2);
    CHECK(start_in(&p, tx, &tasks[0]));
    pair_commit(tx);
    CHECK_EQ(room_now(&p, p.other, "q").room, 1);
    tx = pair_begin(p.other);
    CHECK(start_in(&p, tx, &tasks[1]));
    pair_commit(tx);
    CHECK_EQ(room_now(&p, p.b.store, "q").room, 0);
    CHECK_EQ(room_now(&p, p.b.store, "q").opens_at_ms, 0);
    CHECK(bench_load(&p.b, tasks[0].id, &tasks[0]));
    bench_complete(&p.b, &tasks[0], "1");
    CHECK_EQ(room_now(&p, p.other, "q").room, 1);
}

TEST(who_takes_a_queue_for_open_commits_only_while_it_is)
{
    SCOPED(pair_fini) struct pair p;
    struct err err = ERR_INIT;
    pair_init(&p);
    const struct str names[] = {STR("q"), STR("other")};
    save_queue(&p, &(struct store_queue){.name = STR("third"), .paused = true});
    struct tx *tx = pair_begin(p.other);
    CHECK(tx_expect_open(tx, names, 2));
    pair_commit(tx);
    const struct store_queue closed[] = {{.name = STR("q"), .paused = true},
                                         {.name = STR("q"), .max_concurrent = 2},
                                         {.name = STR("q"), .rate_per_second = 2}};
    for (size_t i = 0; i < ARRAY_LEN(closed); i++) {
        save_queue(&p, &closed[i]);
        tx = pair_begin(p.other);
        CHECK(tx_expect_open(tx, names, 2));
        CHECK(!tx_commit(&tx, &err));
        CHECK_EQ(err.kind, ERR_CONFLICT);
        tx = pair_begin(p.other); /* and the next asks */
        CHECK(!tx_expect_open(tx, names, 2));
        (void)room_in(&p, tx, "q");
        pair_commit(tx);
    }
}

TEST(who_takes_many_queues_for_open_is_told_when_it_asks)
{
    SCOPED(pair_fini) struct pair p;
    struct err err = ERR_INIT;
    struct store_room *rooms = NULL;
    size_t count = 0, taken = 0;
    pair_init(&p);
    const struct str name = STR("q");
    save_queue(&p, &(struct store_queue){.name = name, .paused = true});
    SCOPED(tx_close) struct tx *tx = pair_begin(p.other);
    while (tx_expect_open(tx, &name, 1)) {
        CHECK(++taken < 100);
    }
    CHECK(taken > 0);
    CHECK(!tx_rooms(tx, &name, 1, p.b.now_ms, &p.b.arena, &rooms, &count, &err));
    CHECK_EQ(err.kind, ERR_CONFLICT);
}

TEST(a_rate_is_shared_and_its_bucket_fills_again)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct task tasks[3];
    for (size_t i = 0; i < 3; i++) {
        tasks[i] = pair_queued(&p, "q", "t", TASK_NORMAL, NULL);
    }
    save_queue(&p, &(struct store_queue){.name = STR("q"), .rate_per_second = 2, .burst = 2});
    CHECK_EQ(room_now(&p, p.b.store, "q").room, 2);
    struct tx *tx = pair_begin(p.b.store);
    CHECK(start_in(&p, tx, &tasks[0]));
    pair_commit(tx);
    tx = pair_begin(p.other);
    CHECK(start_in(&p, tx, &tasks[1]));
    pair_commit(tx);
    struct store_room room = room_now(&p, p.other, "q");
    CHECK_EQ(room.room, 0);
    CHECK_EQ(room.opens_at_ms, p.b.now_ms + 500);
    p.b.now_ms += 500;
    CHECK_EQ(room_now(&p, p.b.store, "q").room, 1);
    p.b.now_ms += 10000;
    CHECK_EQ(room_now(&p, p.b.store, "q").room, 2); /* never more than the burst */
}

TEST(rooms_are_told_for_paused_and_limited_queues_only)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct store_room *rooms = NULL;
    size_t count = 0;
    save_queue(&p, &(struct store_queue){.name = STR("open")});
    save_queue(&p, &(struct store_queue){.name = STR("paused"), .paused = true});
    save_queue(&p, &(struct store_queue){.name = STR("limited"), .max_concurrent = 7});
    SCOPED(tx_close) struct tx *tx = pair_begin(p.b.store);
    CHECK_OK(tx_rooms(tx, NULL, 0, p.b.now_ms, &p.b.arena, &rooms, &count, &err));
    CHECK_EQ(count, 2);
    CHECK_STR(rooms[0].settings.name, "limited");
    CHECK_EQ(rooms[0].room, 7);
    CHECK_STR(rooms[1].settings.name, "paused");
    CHECK_EQ(rooms[1].room, 0);
}

TEST(both_nodes_count_and_either_sees_the_sum)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct task one = bench_task(&p.b), two = bench_task(&p.b);
    const struct task *mine = &one, *theirs = &two;
    struct tx *tx = pair_begin(p.b.store);
    CHECK_OK(tx_insert(tx, &mine, 1, &err));
    pair_commit(tx);
    tx = pair_begin(p.other);
    CHECK_OK(tx_insert(tx, &theirs, 1, &err));
    CHECK(start_in(&p, tx, &one)); /* what the other one counted */
    pair_commit(tx);
    CHECK_EQ(bench_count(&p.b, "default", TASK_QUEUED), 1);
    CHECK_EQ(bench_count(&p.b, "default", TASK_RUNNING), 1);
    check_healthy(&p.b);
    store_close(p.other);
    p.other = place_open(p.b.place); /* what the first life counted is added up */
    CHECK_EQ(place_run(p.b.place, "SELECT count(*) FROM counter WHERE node <> 0"), 1);
    CHECK_EQ(bench_count(&p.b, "default", TASK_RUNNING), 1);
    check_healthy(&p.b);
}

/* What two nodes counted adds up to nothing only together. */
TEST(counters_of_queues_without_tasks_are_dropped)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    bool more = true;
    struct task gone = pair_queued(&p, "gone", "t", TASK_NORMAL, NULL);
    struct task kept = pair_queued(&p, "kept", "t", TASK_NORMAL, NULL);
    struct tx *tx = pair_begin(p.other);
    CHECK(start_in(&p, tx, &gone));
    CHECK(start_in(&p, tx, &kept));
    pair_commit(tx);
    struct task ended;
    CHECK(bench_load(&p.b, gone.id, &ended));
    bench_complete(&p.b, &ended, "1");
    CHECK_OK(store_tend(p.b.store, &more, &err)); /* nothing was removed yet */
    CHECK_EQ(place_run(p.b.place, "SELECT count(*) FROM counter WHERE queue = 'gone'"), 2);

    bench_delete(&p.b, gone.id);
    CHECK_OK(store_tend(p.b.store, &more, &err));
    CHECK(!more);
    CHECK_EQ(place_run(p.b.place, "SELECT count(*) FROM counter WHERE queue = 'gone'"), 0);
    CHECK_EQ(place_run(p.b.place, "SELECT count(*) FROM counter WHERE queue = 'kept'"), 2);
    CHECK_EQ(bench_count(&p.b, "kept", TASK_RUNNING), 1);
    check_healthy(&p.b);
}

TEST(documents_tell_their_holder_and_who_waits)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct store_document document, *all = NULL;
    size_t count = 0;
    struct task runs = pair_queued(&p, "a", "t", TASK_LOW, "d");
    CHECK(bench_try_start(&p.b, &runs));
    pair_queued(&p, "b", "u", TASK_NORMAL, "d");
    struct task first = pair_queued(&p, "a", "t", TASK_HIGH, "d");
    pair_queued(&p, "a", "t", TASK_HIGH, "d");
    SCOPED(tx_close) struct tx *tx = pair_begin(p.b.store);
    CHECK_OK(tx_document(tx, STR("d"), 2, &p.b.arena, &document, &err));
    CHECK(document.held && id_eq(document.holder, runs.id));
    CHECK_STR(document.worker, "w");
    CHECK_EQ(document.since_ms, p.b.now_ms);
    CHECK_EQ(document.waiting_count, 2);
    CHECK(id_eq(document.waiting[0], first.id));
    CHECK_OK(tx_document(tx, STR("x"), 2, &p.b.arena, &document, &err));
    CHECK(!document.held && document.waiting_count == 0 && id_none(document.holder));
    CHECK_OK(tx_documents(tx, 9, &p.b.arena, &all, &count, &err));
    CHECK_EQ(count, 1);
    CHECK_STR(all[0].document, "d");
    CHECK(all[0].line >= 2 && id_eq(all[0].waiting[0], first.id));
}

TEST(a_member_of_the_family_that_holds_a_document_does_not_wait_for_it)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct brood brood;
    struct store_document document, *all = NULL;
    size_t count = 0;
    bench_brood(&p.b, &brood, "d");
    CHECK(bench_try_start(&p.b, &brood.child[0]));
    struct task other = pair_queued(&p, "a", "t", TASK_LOW, "d");
    SCOPED(tx_close) struct tx *tx = pair_begin(p.b.store);
    CHECK_OK(tx_document(tx, STR("d"), 9, &p.b.arena, &document, &err));
    CHECK(id_eq(document.holder, brood.top.id));
    CHECK_EQ(document.waiting_count, 1);
    CHECK(id_eq(document.waiting[0], other.id));
    CHECK_OK(tx_documents(tx, 9, &p.b.arena, &all, &count, &err));
    CHECK_EQ(count, 1);
    CHECK_EQ(all[0].line, 1);
    CHECK_EQ(all[0].waiting_count, 1);
    CHECK(id_eq(all[0].waiting[0], other.id));
}

TEST(who_waits_for_a_document_that_nobody_holds_is_told)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct store_document document;
    struct task alone = pair_queued(&p, "a", "t", TASK_LOW, "d");
    SCOPED(tx_close) struct tx *tx = pair_begin(p.b.store);
    CHECK_OK(tx_document(tx, STR("d"), 9, &p.b.arena, &document, &err));
    CHECK(id_none(document.holder));
    CHECK_EQ(document.waiting_count, 1);
    CHECK(id_eq(document.waiting[0], alone.id));
}

TEST(the_oldest_is_known_for_each_queue_and_for_all)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    int64_t oldest = 0, began = p.b.now_ms;
    SCOPED(tx_close) struct tx *tx = pair_begin(p.b.store);
    CHECK_OK(tx_oldest(tx, STR_NONE, &oldest, &err));
    CHECK_EQ(oldest, INT64_MAX);
    tx_close(&tx);
    pair_queued(&p, "b", "u", TASK_LOW, NULL);
    p.b.now_ms += 10;
    pair_queued(&p, "a", "t", TASK_LOW, NULL);
    p.b.now_ms += 10;
    pair_queued(&p, "a", "t", TASK_HIGH, NULL);
    tx = pair_begin(p.b.store);
    CHECK_OK(tx_oldest(tx, STR("a"), &oldest, &err));
    CHECK_EQ(oldest, began + 10);
    CHECK_OK(tx_oldest(tx, STR_NONE, &oldest, &err));
    CHECK_EQ(oldest, began);
    CHECK_OK(tx_oldest(tx, STR("c"), &oldest, &err));
    CHECK_EQ(oldest, INT64_MAX);
}

TEST(a_page_may_end_between_ids_that_two_nodes_made_in_the_same_millisecond)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct task tasks[5];
    for (size_t i = 0; i < ARRAY_LEN(tasks); i++) {
        tasks[i] = bench_task(&p.b);
        tasks[i].id.hi = i == 0 ? tasks[i].id.hi : tasks[0].id.hi;
        tasks[i].id.lo = UINT64_C(1) << 63 | i;
        bench_insert(&p.b, &tasks[i]);
    }
    struct task_filter filter = {.limit = 2};
    for (size_t at = ARRAY_LEN(tasks); at > 0;) {
        struct task_rows rows = bench_list(&p.b, &filter);
        CHECK_EQ(rows.count, MIN(2, at));
        for (size_t i = 0; i < rows.count; i++) {
            CHECK(id_eq(rows.at[i].task.id, tasks[--at].id));
        }
        CHECK_EQ(rows.more, at > 0);
        filter.before = rows.at[rows.count - 1].task.id;
    }
}
