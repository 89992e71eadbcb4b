/* tests/conformance/store_postgres_fresh.c: what a store created itself is started without being
 * loaded, unless its row was touched since.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "store/pack.h"
#include "store_postgres.h"
#include "store_postgres_pair.h"

/* Queued at once and with nothing unusual, as most tasks are. */
static struct task plain(struct pair *p, const char *payload)
{
    struct task task = bench_task(&p->b);
    task.payload = str_of(payload);
    task.queued_ms = task.updated_ms = task.created_ms;
    bench_insert(&p->b, &task);
    return task;
}

/* As a claim does that was told since when it is queued. */
static struct task recall(struct pair *p, struct tx *tx, const struct task *task, int64_t queued_ms)
{
    struct err err = ERR_INIT;
    struct task_load load = {.id = task->id,
                             .arena = &p->b.arena,
                             .whole = true,
                             .starts = true,
                             .queued_ms = queued_ms};
    CHECK_OK(tx_load(tx, &load, 1, &err));
    CHECK(load.found);
    return load.task;
}

static bool start(struct pair *p, struct store *store, const struct task *task)
{
    struct err err = ERR_INIT;
    struct task_claim claim = {STR("w"), TASK_LEASE_DEFAULT_MS, 5};
    struct tx *tx = pair_begin(store);
    struct task was = recall(p, tx, task, task->queued_ms), now = was;
    struct task_change change = {.was = &was, .now = &now};
    bool begun = task_start(&now, &claim, p->b.now_ms, &err) && tx_save(tx, &change, 1, &err) &&
                 change.applied && tx_commit(&tx, &err);
    CHECK(begun || err.kind == ERR_CONFLICT);
    tx_close(&tx);
    return begun;
}

static void change_there(struct pair *p, const struct task *was, const struct task *now)
{
    struct err err = ERR_INIT;
    struct task_change change = {.was = was, .now = now};
    struct tx *tx = pair_begin(p->other);
    CHECK_OK(tx_save(tx, &change, 1, &err));
    CHECK(change.applied);
    pair_commit(tx);
}

/* Its row alone is changed, behind the back of everybody: memory does not know of it. */
static void touch_row(struct pair *p, const struct task *task, const char *sql)
{
    char text[TASK_ID_TEXT], all[200];
    snprintf(all, sizeof all, "%s '%s'", sql, id_text(task->id, text).ptr);
    place_run(p->b.place, all);
}

TEST(what_was_created_here_is_told_from_memory_as_its_row_tells_it)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct task task = plain(&p, "{\"a\":1}"), row;
    SCOPED(buf_fini) struct buf kept = BUF_INIT(MIB);
    SCOPED(buf_fini) struct buf stored = BUF_INIT(MIB);
    CHECK(bench_load(&p.b, task.id, &row));
    touch_row(&p, &task, "UPDATE task SET retries = 1 WHERE id =");
    struct tx *tx = pair_begin(p.b.store);
    struct task told = recall(&p, tx, &task, task.queued_ms);
    tx_close(&tx);
    CHECK(pack_whole(&kept, &told) && pack_whole(&stored, &row));
    CHECK(str_eq(buf_view(&kept), buf_view(&stored)));
}

/* Three plain tasks that the caller makes differ, in one transaction: their rows say what was
 * ordered. */
static void check_stored(void (*differ)(struct task *, int))
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    static const char *const payloads[] = {"{\"a\":1}", "2", "[3]"};
    struct task tasks[ARRAY_LEN(payloads)];
    const struct task *all[ARRAY_LEN(payloads)];
    for (int i = 0; i < (int)ARRAY_LEN(payloads); i++) {
        tasks[i] = bench_task(&p.b);
        tasks[i].payload = str_of(payloads[i]);
        differ(&tasks[i], i);
        tasks[i].queued_ms = tasks[i].updated_ms = tasks[i].created_ms;
        all[i] = &tasks[i];
    }
    struct tx *tx = pair_begin(p.b.store);
    CHECK_OK(tx_insert(tx, all, ARRAY_LEN(payloads), &err));
    pair_commit(tx);
    for (size_t i = 0; i < ARRAY_LEN(payloads); i++) {
        SCOPED(buf_fini) struct buf ordered = BUF_INIT(MIB);
        SCOPED(buf_fini) struct buf stored = BUF_INIT(MIB);
        struct task row;
        CHECK(bench_load(&p.b, tasks[i].id, &row));
        CHECK(pack_whole(&ordered, &tasks[i]) && pack_whole(&stored, &row));
        CHECK(str_eq(buf_view(&ordered), buf_view(&stored)));
    }
    check_healthy(&p.b);
}

static void differ_nowhere(struct task *task, int i)
{
    (void)i;
    task->backoff.base_ms = 17;
    task->priority = TASK_HIGH;
}

static void differ_in_queue(struct task *task, int i)
{
    task->queue = str_of(i == 2 ? "other" : "default");
}

static void differ_in_type(struct task *task, int i)
{
    task->type = str_of(i == 2 ? "other" : "one");
}

static void differ_in_numbers(struct task *task, int i)
{
    task->created_ms += i;
    task->priority = i == 0 ? TASK_LOW : TASK_CRITICAL;
    task->max_retries = i;
    task->timeout_ms = i;
}

static void differ_in_backoff(struct task *task, int i)
{
    task->backoff.factor = i + 1;
}

TEST(tasks_of_one_make_are_stored_as_they_were_ordered)
{
    check_stored(differ_nowhere);
}

TEST(tasks_of_several_makes_are_stored_as_they_were_ordered)
{
    check_stored(differ_in_queue);
    check_stored(differ_in_type);
    check_stored(differ_in_numbers);
    check_stored(differ_in_backoff);
}

TEST(what_was_created_here_starts_and_ends)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct task task = plain(&p, "1"), got;
    CHECK(start(&p, p.b.store, &task));
    CHECK(bench_load(&p.b, task.id, &got));
    CHECK_EQ(got.state, TASK_RUNNING);
    CHECK_EQ(got.attempt, 1);
    CHECK_STR(got.payload, "1");
    CHECK_EQ(bench_count(&p.b, "default", TASK_RUNNING), 1);
    check_healthy(&p.b);
}

TEST(what_another_node_changed_is_not_started_from_memory)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct task task = plain(&p, "1"), urgent = task, got;
    urgent.priority = TASK_CRITICAL;
    change_there(&p, &task, &urgent);
    CHECK(!start(&p, p.b.store, &task)); /* begun again it is loaded */
    CHECK(start(&p, p.b.store, &task));
    CHECK(bench_load(&p.b, task.id, &got));
    CHECK_EQ(got.priority, TASK_CRITICAL);
    check_healthy(&p.b);
}

TEST(what_another_node_has_started_is_not_started_from_memory)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct task task = plain(&p, "1");
    CHECK(start(&p, p.other, &task));
    CHECK(!start(&p, p.b.store, &task));
    struct tx *tx = pair_begin(p.b.store);
    CHECK_EQ(recall(&p, tx, &task, task.queued_ms).state, TASK_RUNNING);
    tx_close(&tx);
    CHECK_EQ(err.kind, ERR_NONE);
    check_healthy(&p.b);
}

TEST(what_was_queued_again_since_is_loaded_at_once)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct task task = plain(&p, "1"), later = task;
    later.queued_ms += 7;
    change_there(&p, &task, &later);
    CHECK(start(&p, p.b.store, &later)); /* the hint says since when: no conflict */
    check_healthy(&p.b);
}

TEST(what_was_created_in_vain_is_not_remembered)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct task task = bench_task(&p.b);
    const struct task *one = &task;
    struct task_load load = {
        .id = task.id, .arena = &p.b.arena, .starts = true, .queued_ms = task.queued_ms};
    struct tx *tx = pair_begin(p.b.store);
    CHECK_OK(tx_insert(tx, &one, 1, &err));
    tx_close(&tx);
    tx = pair_begin(p.b.store);
    CHECK_OK(tx_load(tx, &load, 1, &err));
    CHECK(!load.found);
    tx_close(&tx);
}
