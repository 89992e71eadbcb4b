/* tests/conformance/store_postgres_narrow.c: statements that write only what they change, batches
 * of one trip, and what is taken for certain in them.
 *
 * SPDX-License-Identifier: MIT */
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
