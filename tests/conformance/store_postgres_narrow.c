/* tests/conformance/store_postgres_narrow.c: statements that write only what they change, batches
 * of one trip, and what is taken for certain in them; and a database of an older errand.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "postgres_sql.h"
#include "store_postgres.h"
#include "store_postgres_pair.h"

/* ---- Starts and ends by themselves ---- */

static struct task load_to_start(struct pair *p, struct tx *tx, struct task_id id)
{
    struct err err = ERR_INIT;
    struct task_load load = {.id = id, .arena = &p->b.arena, .whole = true, .starts = true};
    CHECK_OK(tx_load(tx, &load, 1, &err));
    CHECK(load.found);
    return load.task;
}

static struct task started(struct pair *p, const struct task *task)
{
    struct err err = ERR_INIT;
    struct task now = *task;
    struct task_claim claim = {STR("w"), TASK_LEASE_DEFAULT_MS, 5};
    CHECK_OK(task_start(&now, &claim, p->b.now_ms, &err));
    return now;
}

static struct task completed(struct pair *p, const struct task *task)
{
    struct err err = ERR_INIT;
    struct task now = *task;
    CHECK_OK(task_complete(&now, STR("1"), p->b.now_ms, &err));
    return now;
}

/* In a transaction of its own on the other node. */
static void save_there(struct pair *p, const struct task *was, const struct task *now)
{
    struct err err = ERR_INIT;
    bool ended = was->state == TASK_RUNNING && now->state != TASK_RUNNING;
    struct task_change change = {.was = was, .now = now, .ended = ended};
    struct tx *tx = pair_begin(p->other);
    CHECK_OK(tx_save(tx, &change, 1, &err));
    CHECK(change.applied);
    pair_commit(tx);
}

TEST(a_start_keeps_what_another_node_changed_since_it_was_loaded)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct task task = pair_queued(&p, "q", "t", TASK_NORMAL, NULL), urgent = task, got;
    urgent.priority = TASK_CRITICAL;
    struct tx *tx = pair_begin(p.b.store);
    struct task was = load_to_start(&p, tx, task.id), now = started(&p, &was);
    save_there(&p, &task, &urgent); /* no lock keeps it from that */
    struct task_change change = {.was = &was, .now = &now};
    CHECK_OK(tx_save(tx, &change, 1, &err));
    CHECK(change.applied);
    pair_commit(tx);
    CHECK(bench_load(&p.b, task.id, &got));
    CHECK_EQ(got.state, TASK_RUNNING);
    CHECK_EQ(got.priority, TASK_CRITICAL);
    check_healthy(&p.b);
}

TEST(another_change_of_what_was_loaded_to_be_started_needs_the_row_as_it_was)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct task task = pair_queued(&p, "q", "t", TASK_NORMAL, NULL), urgent = task, got;
    urgent.priority = TASK_CRITICAL;
    struct tx *tx = pair_begin(p.b.store);
    struct task was = load_to_start(&p, tx, task.id), now = was;
    CHECK_OK(task_cancel(&now, STR("no"), p.b.now_ms, &err));
    save_there(&p, &task, &urgent);
    struct task_change change = {.was = &was, .now = &now};
    CHECK_OK(tx_save(tx, &change, 1, &err));
    CHECK(!change.applied);
    tx_close(&tx);
    CHECK(bench_load(&p.b, task.id, &got));
    CHECK_EQ(got.state, TASK_QUEUED);
}

TEST(a_start_that_came_too_late_is_a_conflict_once_and_refused_the_next_time)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct task task = pair_queued(&p, "q", "t", TASK_NORMAL, NULL);
    struct task theirs = started(&p, &task), now = started(&p, &task);
    struct task_change change = {.was = &task, .now = &now};
    struct tx *tx = pair_begin(p.b.store);
    load_to_start(&p, tx, task.id);
    save_there(&p, &task, &theirs);
    CHECK(!(tx_save(tx, &change, 1, &err) && tx_commit(&tx, &err)));
    CHECK_EQ(err.kind, ERR_CONFLICT);
    tx_close(&tx);

    tx = pair_begin(p.b.store); /* begun again, and from here on each answer is waited for */
    load_to_start(&p, tx, task.id);
    CHECK_OK(tx_save(tx, &change, 1, &err));
    CHECK(!change.applied);
    pair_commit(tx);
    CHECK_EQ(bench_count(&p.b, "q", TASK_RUNNING), 1);
    check_healthy(&p.b);
}

/* Starts it in this node's store, as a claim does; from then on its end needs no load. */
static struct task hold(struct pair *p, const struct task *task)
{
    struct err err = ERR_INIT;
    struct tx *tx = pair_begin(p->b.store);
    struct task was = load_to_start(p, tx, task->id), now = started(p, &was);
    struct task_change change = {.was = &was, .now = &now};
    CHECK_OK(tx_save(tx, &change, 1, &err));
    CHECK(change.applied);
    pair_commit(tx);
    return now;
}

static struct task load_to_end(struct pair *p, struct tx *tx, const struct task *task)
{
    struct err err = ERR_INIT;
    struct task_load load = {
        .id = task->id, .arena = &p->b.arena, .whole = true, .token = task->token};
    CHECK_OK(tx_load(tx, &load, 1, &err));
    CHECK(load.found);
    return load.task;
}

/* False: a conflict. */
static bool end_here(struct pair *p, const struct task *task)
{
    struct err err = ERR_INIT;
    struct tx *tx = pair_begin(p->b.store);
    struct task was = load_to_end(p, tx, task), now = completed(p, &was);
    struct task_change change = {.was = &was, .now = &now, .ended = true};
    bool ended = tx_save(tx, &change, 1, &err) && change.applied && tx_commit(&tx, &err);
    CHECK(ended || err.kind == ERR_CONFLICT);
    tx_close(&tx);
    return ended;
}

TEST(the_end_of_an_attempt_that_began_here_is_not_loaded_and_keeps_what_others_wrote)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct task queued = pair_queued(&p, "q", "t", TASK_NORMAL, NULL), beaten, got;
    struct task task = hold(&p, &queued);
    beaten = task;
    beaten.progress = 40;
    save_there(&p, &task, &beaten);
    struct tx *tx = pair_begin(p.b.store);
    CHECK(load_to_end(&p, tx, &task).progress < 0); /* from memory */
    tx_close(&tx);
    CHECK(end_here(&p, &task));
    CHECK(bench_load(&p.b, task.id, &got));
    CHECK_EQ(got.state, TASK_COMPLETED);
    CHECK(got.progress == 40);
    CHECK_STR(got.result, "1");
    CHECK_STR(got.worker, "w");
    check_healthy(&p.b);
}

TEST(whoever_has_come_to_depend_on_it_is_not_overlooked_by_an_end_from_memory)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct task queued = pair_queued(&p, "q", "t", TASK_NORMAL, NULL), waits = bench_task(&p.b);
    struct task task = hold(&p, &queued);
    const struct task *one = &waits;
    waits.state = TASK_WAITING;
    waits.unmet = 1;
    waits.depends = &task.id;
    waits.depends_count = 1;
    struct tx *tx = pair_begin(p.other);
    struct task_load load = {.id = task.id, .arena = &p.b.arena};
    CHECK_OK(tx_load(tx, &load, 1, &err));
    CHECK_OK(tx_insert(tx, &one, 1, &err));
    pair_commit(tx);
    CHECK(!end_here(&p, &task)); /* begun again it is loaded, and then asked who waits */
    CHECK(end_here(&p, &task));
    check_healthy(&p.b);
}

TEST(an_attempt_that_another_node_took_away_is_not_ended_from_memory)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct task queued = pair_queued(&p, "q", "t", TASK_NORMAL, NULL), lost, got;
    struct task task = hold(&p, &queued);
    lost = task;
    CHECK_OK(task_release(&lost, 0, p.b.now_ms, &err));
    save_there(&p, &task, &lost);
    CHECK(!end_here(&p, &task));
    struct tx *tx = pair_begin(p.b.store);
    CHECK_EQ(load_to_end(&p, tx, &task).state, TASK_QUEUED);
    tx_close(&tx);
    struct task again = hold(&p, &lost); /* by another token it is not the same attempt */
    task.token ^= 2;
    tx = pair_begin(p.b.store);
    got = load_to_end(&p, tx, &task);
    CHECK_EQ(got.attempt, again.attempt);
    tx_close(&tx);
    check_healthy(&p.b);
}

TEST(nobody_comes_to_depend_on_what_was_only_loaded_to_be_started)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct task task = pair_queued(&p, "q", "t", TASK_NORMAL, NULL), waits = bench_task(&p.b);
    struct task ended = task;
    const struct task *one = &waits;
    waits.state = TASK_WAITING;
    waits.unmet = 1;
    waits.depends = &task.id;
    waits.depends_count = 1;
    CHECK_OK(task_cancel(&ended, STR("no"), p.b.now_ms, &err));
    struct tx *tx = pair_begin(p.b.store);
    load_to_start(&p, tx, task.id);
    save_there(&p, &task, &ended); /* it would wait for ever */
    CHECK(!tx_insert(tx, &one, 1, &err));
    CHECK_EQ(err.kind, ERR_CONFLICT);
    tx_close(&tx);
    check_healthy(&p.b);
}

TEST(a_transaction_sees_what_waits_to_be_written)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct task task = bench_task(&p.b);
    const struct task *one = &task;
    struct task_load load = {.id = task.id, .arena = &p.b.arena};
    struct tx *tx = pair_begin(p.b.store);
    CHECK_OK(tx_insert(tx, &one, 1, &err));
    CHECK_OK(tx_load(tx, &load, 1, &err));
    CHECK(load.found);
    tx_close(&tx);
    CHECK(!bench_load(&p.b, task.id, &task));
}

/* ---- A database of an older errand ---- */

#define OLD_VERSION 5
#define LIVE                                                                                       \
    "INSERT INTO task (id, type, queue, document, container, expires_ms, state, priority, "        \
    "attempt, retries, max_retries, timeout_ms, scheduled_ms, queued_ms, started_ms, updated_ms, " \
    "cancel_requested, token, outcome, worker, lease_ms, lease_until_ms, attempt_ended_ms, "       \
    "log_bytes, unmet) VALUES "

/* Live ones in every state that time or others can change, one that ended, a document that is held,
 * a key, a tag, and one that waits for another. */
static const char *const old_rows[] = {
    "INSERT INTO body (id, type, queue, created_ms, expires_ms, backoff_base_ms, backoff_max_ms, "
    "backoff_factor, backoff_jitter, payload_raw, container, continues, runs_anyway, document, "
    "key, tags, payload) SELECT ('00000000-0000-7000-8000-00000000000' || n)::uuid, 't', 'q', n, "
    "CASE n WHEN 1 THEN 99 ELSE 0 END, 1000, 60000, 2, 0, false, false, false, false, "
    "CASE n WHEN 3 THEN 'd'::bytea END, CASE n WHEN 5 THEN 'k'::bytea END, "
    "CASE n WHEN 5 THEN '\\x0300726564'::bytea END, '{}' FROM generate_series(1, 6) AS n",
    "INSERT INTO tag VALUES ('red', '00000000-0000-7000-8000-000000000005')",
    LIVE "('00000000-0000-7000-8000-000000000001', 't', 'q', NULL, false, 99, 2, 2, 0, 0, 3, 0, 0, "
         "50, 0, 50, false, 0, 0, NULL, 0, 0, 0, 0, 0)",
    LIVE "('00000000-0000-7000-8000-000000000002', 't', 'q', NULL, false, 0, 0, 2, 0, 0, 3, 0, 77, "
         "0, 0, 50, false, 0, 0, NULL, 0, 0, 0, 0, 0)",
    LIVE "('00000000-0000-7000-8000-000000000003', 't', 'q', 'd', false, 0, 3, 2, 1, 0, 3, 10, 0, "
         "50, 60, 60, false, 9, 0, 'w', 30, 90, 0, 0, 0)",
    LIVE "('00000000-0000-7000-8000-000000000004', 't', 'q', NULL, false, 0, 4, 2, 1, 1, 3, 0, 88, "
         "50, 60, 60, false, 9, 2, 'w', 30, 0, 70, 0, 0)",
    LIVE "('00000000-0000-7000-8000-000000000006', 't', 'q', NULL, false, 0, 1, 2, 0, 0, 3, 0, 0, "
         "0, 0, 50, false, 0, 0, NULL, 0, 0, 0, 0, 1)",
    "INSERT INTO attempt (id, number, outcome, started_ms, finished_ms) VALUES "
    "('00000000-0000-7000-8000-000000000004', 1, 2, 60, 70)",
    "INSERT INTO dependency VALUES ('00000000-0000-7000-8000-000000000006', "
    "'00000000-0000-7000-8000-000000000001')",
    "INSERT INTO doc_lease VALUES ('d', '00000000-0000-7000-8000-000000000003', false, false, 1, "
    "'1', 60)",
    "INSERT INTO done (id, state, priority, attempt, retries, max_retries, timeout_ms, "
    "scheduled_ms, queued_ms, started_ms, updated_ms, cancel_requested, token, outcome, worker, "
    "lease_ms, lease_until_ms, attempt_ended_ms, log_bytes, unmet, finished_ms, cancelled_ms, "
    "result) VALUES ('00000000-0000-7000-8000-000000000005', 5, 2, 1, 0, 3, 0, 0, 50, 60, 70, "
    "false, 9, 1, 'w', 30, 0, 70, 0, 0, 70, 0, '7')",
    "INSERT INTO counter VALUES (0, 'q', 1, 1, 1, 1, 1, 1, 0, 0, 0)",
    "INSERT INTO meta (version, oldest_reader) VALUES (5, 1)",
};

static struct task_id old_id(uint64_t n)
{
    return (struct task_id){UINT64_C(0x7000), UINT64_C(0x8000000000000000) | n};
}

static struct place *old_place(void)
{
    struct place *place = place_new();
    for (int i = 0; i < OLD_VERSION; i++) {
        place_run(place, pg_migrations[i].text);
    }
    for (size_t i = 0; i < ARRAY_LEN(old_rows); i++) {
        place_run(place, old_rows[i]);
    }
    return place;
}

static void check_old_tasks(struct bench *b)
{
    static const enum task_state states[] = {TASK_QUEUED,   TASK_SCHEDULED, TASK_RUNNING,
                                             TASK_RETRYING, TASK_COMPLETED, TASK_WAITING};
    struct task got;
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        CHECK(bench_load(b, old_id(i + 1), &got));
        CHECK_EQ(got.state, states[i]);
        CHECK_STR(got.payload, "{}");
        CHECK_EQ(bench_count(b, "q", states[i]), 1);
    }
    CHECK_STR(bench_detail(b, old_id(5)).task.result, "7");
    CHECK_EQ(bench_list(b, &(struct task_filter){.tag = STR("red"), .limit = 9}).count, 1);
    CHECK_EQ(bench_detail(b, old_id(6)).dependencies_count, 1);
    CHECK(bench_load(b, old_id(3), &got));
    CHECK_STR(got.document, "d");
}

TEST(a_database_of_an_older_errand_is_migrated_with_all_that_is_in_it)
{
    struct bench b = {.place = old_place(), .now_ms = INT64_C(1800000000000)};
    struct err err = ERR_INIT;
    struct steward *steward = NULL;
    struct steward_due due[9];
    size_t count = 0;
    struct task_id known;
    bench_reopen(&b);
    check_old_tasks(&b);
    CHECK_OK(steward_open(b.store, &steward, &err));
    CHECK_OK(steward_due(steward, 1000, 0, TASK_ID_NONE, 9, due, &count, &err));
    CHECK_EQ(count, 4);
    CHECK(id_eq(due[0].id, old_id(3)) && due[0].due_ms == 70); /* its time-out */
    CHECK(id_eq(due[1].id, old_id(2)) && due[1].due_ms == 77);
    CHECK(id_eq(due[2].id, old_id(4)) && due[2].due_ms == 88);
    CHECK(id_eq(due[3].id, old_id(1)) && due[3].due_ms == 99); /* it expires */
    steward_close(steward);
    struct tx *tx = pair_begin(b.store);
    CHECK_OK(tx_find_keys(tx, &STR("k"), 1, &known, &err));
    CHECK(id_eq(known, old_id(5)));
    tx_close(&tx);
    check_healthy(&b);
    bench_fini(&b);
}

/* What a node of the older version would write after the migration, if it had begun before. */
TEST(an_older_errand_cannot_store_an_attempt_that_nobody_would_miss)
{
    struct bench b = {.place = old_place(), .now_ms = INT64_C(1800000000000)};
    bench_reopen(&b);
    CHECK_EQ(place_run(b.place, "DO $$ BEGIN UPDATE task SET state = 3, attempt = 1, token = 1, "
                                "worker = 'w', lease_until_ms = 9, due_ms = NULL WHERE state = 2; "
                                "EXCEPTION WHEN check_violation THEN NULL; END $$"),
             0);
    CHECK_EQ(bench_count(&b, "q", TASK_RUNNING), 1);
    CHECK_EQ(place_run(b.place, "SELECT count(*) FROM task WHERE state = 3"), 1);
    bench_fini(&b);
}
