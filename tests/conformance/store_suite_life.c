/* tests/conformance/store_suite_life.c: documents, attempts, logs, restarts and retention.
 *
 * SPDX-License-Identifier: MIT */
#include "store/fleet.h"
#include "store_suite.h"

TEST(a_document_is_held_by_one_running_task)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task one = bench_on_document(&b, "d"), two = bench_on_document(&b, "d"), got;
    struct task other = bench_on_document(&b, "e"), none = bench_on_document(&b, NULL);

    CHECK(bench_try_start(&b, &one));
    CHECK(!bench_try_start(&b, &two));
    CHECK(bench_load(&b, two.id, &got));
    check_same_task(&got, &two);
    CHECK(bench_try_start(&b, &other) && bench_try_start(&b, &none));
    check_healthy(&b);
    bench_complete(&b, &one, "1");
    CHECK(bench_try_start(&b, &two));
    check_healthy(&b);
}

TEST(every_way_out_of_running_lets_the_document_go)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct task one = bench_on_document(&b, "d"), two = bench_on_document(&b, "d");
    CHECK(bench_try_start(&b, &one));
    bench_fail(&b, &one, "x");
    CHECK(bench_try_start(&b, &two));
    struct task was = two;
    CHECK_OK(task_release(&two, 0, b.now_ms, &err));
    CHECK(bench_save(&b, &was, &two, true, NULL));
    struct task three = bench_on_document(&b, "d");
    CHECK(bench_try_start(&b, &three));
    was = three;
    CHECK_OK(task_cancel_now(&three, b.now_ms, &err));
    CHECK(bench_save(&b, &was, &three, true, NULL));
    CHECK(bench_try_start(&b, &two));
    check_healthy(&b);
}

TEST(a_document_changes_hands_within_one_batch)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task one = bench_on_document(&b, "d"), two = bench_on_document(&b, "d");
    CHECK(bench_try_start(&b, &one));
    struct task ended = one, started = two;
    CHECK_OK(task_complete(&ended, STR("1"), b.now_ms, &err));
    CHECK_OK(task_start(&started, &(struct task_claim){STR("v"), 1000, 9}, b.now_ms, &err));
    struct task_change changes[] = {{.was = &two, .now = &started},
                                    {.was = &one, .now = &ended, .ended = true},
                                    {.was = &two, .now = &started}};
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_save(tx, changes, 3, &err));
    CHECK_OK(tx_commit(&tx, &err));

    CHECK(!changes[0].applied && changes[1].applied && changes[2].applied);
    check_healthy(&b);
}

TEST(a_lost_claim_does_not_hold_the_document)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task one = bench_on_document(&b, "d"), stale = one, two = bench_on_document(&b, "d");
    bench_cancel(&b, &one);

    CHECK(!bench_try_start(&b, &stale));
    CHECK(bench_try_start(&b, &two));
    check_healthy(&b);
}

TEST(of_many_changes_those_that_come_too_late_leave_no_trace)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task was[4] = {bench_on_document(&b, NULL), bench_on_document(&b, "d"), bench_task(&b),
                          bench_on_document(&b, NULL)};
    struct task now[4], ended = was[1], got, other = bench_on_document(&b, "d");
    struct task_change changes[4];
    bench_cancel(&b, &ended); /* and the third was never stored */
    for (size_t i = 0; i < ARRAY_LEN(was); i++) {
        now[i] = was[i];
        CHECK_OK(task_start(&now[i], &(struct task_claim){STR("v"), 1000, 9}, b.now_ms, &err));
        changes[i] = (struct task_change){.was = &was[i], .now = &now[i]};
    }
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_save(tx, changes, 4, &err));
    CHECK_OK(tx_commit(&tx, &err));

    CHECK(changes[0].applied && changes[3].applied);
    CHECK(!changes[1].applied && !changes[2].applied);
    CHECK(bench_load(&b, ended.id, &got));
    check_same_task(&got, &ended);
    CHECK(!bench_load(&b, was[2].id, &got));
    CHECK(bench_load(&b, was[3].id, &got));
    check_same_task(&got, &now[3]);
    CHECK(bench_try_start(&b, &other));
    check_healthy(&b);
    bench_reopen(&b);
    CHECK_EQ(bench_count(&b, "default", TASK_RUNNING), 3);
}

TEST(a_task_may_be_born_running_and_then_holds_its_document)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task one = bench_task(&b), two = bench_on_document(&b, "d"), three = bench_task(&b);
    one.document = three.document = STR("d");
    CHECK_OK(task_start(&one, &(struct task_claim){STR("v"), 1000, 9}, b.now_ms, &err));
    CHECK_OK(task_start(&three, &(struct task_claim){STR("v"), 1000, 9}, b.now_ms, &err));
    bench_insert(&b, &one);
    const struct task *again = &three;
    CHECK(!bench_try_start(&b, &two));
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK(!tx_insert(tx, &again, 1, &err));
    CHECK_EQ(err.kind, ERR_CONFLICT);
}

TEST(the_detail_view_tells_every_attempt)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct task task = bench_task(&b);
    bench_insert(&b, &task);
    CHECK_EQ(bench_detail(&b, task.id).attempts_count, 0);
    bench_start(&b, &task);
    CHECK_EQ(bench_detail(&b, task.id).attempts_count, 1);
    CHECK_EQ(bench_detail(&b, task.id).attempts[0].outcome, OUTCOME_NONE);

    b.now_ms += 10;
    bench_fail(&b, &task, "first");
    struct task_detail detail = bench_detail(&b, task.id);
    CHECK_EQ(detail.attempts_count, 1);
    CHECK_EQ(detail.attempts[0].outcome, OUTCOME_FAILED);
    CHECK_STR(detail.attempts[0].error.code, "first");
    CHECK_STR(detail.attempts[0].error.detail, "{\"a\":1}");
    CHECK_STR(detail.attempts[0].worker, "w1");
    CHECK_EQ(detail.attempts[0].finished_ms - detail.attempts[0].started_ms, 10);
    CHECK_STR(detail.task.error.code, "first");
    check_healthy(&b);

    struct task was = task;
    CHECK_OK(task_due(&task, b.now_ms, &err));
    CHECK(bench_save(&b, &was, &task, false, NULL));
    bench_start(&b, &task);
    was = task;
    CHECK_OK(task_release(&task, 0, b.now_ms, &err));
    CHECK(bench_save(&b, &was, &task, true, NULL));
    bench_start(&b, &task);
    bench_complete(&b, &task, "1");
    bench_reopen(&b);
    detail = bench_detail(&b, task.id);
    CHECK_EQ(detail.attempts_count, 3);
    CHECK_EQ(detail.attempts[1].outcome, OUTCOME_RELEASED);
    CHECK(str_absent(detail.attempts[1].error.code));
    CHECK_EQ(detail.attempts[2].number, 3);
    CHECK_EQ(detail.attempts[2].outcome, OUTCOME_COMPLETED);
    check_healthy(&b);
}

TEST(a_revived_task_keeps_the_attempts_it_had)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct task task = bench_task(&b), got;
    task.max_retries = 0;
    bench_insert(&b, &task);
    bench_start(&b, &task);
    bench_fail(&b, &task, "first");
    CHECK_EQ(task.state, TASK_FAILED);
    struct task was = task;
    CHECK_OK(task_revive(&task, b.now_ms, &err));
    CHECK(bench_save(&b, &was, &task, false, NULL));

    CHECK(bench_load(&b, task.id, &got));
    check_same_task(&got, &task);
    struct task_detail detail = bench_detail(&b, task.id);
    CHECK_EQ(detail.attempts_count, 1);
    CHECK_STR(detail.attempts[0].error.code, "first");
    CHECK_EQ(bench_count(&b, "default", TASK_FAILED), 0);
    bench_start(&b, &task);
    bench_complete(&b, &task, "1");
    detail = bench_detail(&b, task.id);
    CHECK_EQ(detail.attempts_count, 2);
    CHECK_EQ(detail.attempts[1].outcome, OUTCOME_COMPLETED);
    check_healthy(&b);
}

TEST(a_task_cancelled_between_attempts_and_revived_tells_each_once)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct task task = bench_task(&b);
    bench_insert(&b, &task);
    bench_start(&b, &task);
    bench_fail(&b, &task, "first");
    bench_cancel(&b, &task);
    CHECK_EQ(bench_detail(&b, task.id).attempts_count, 1);
    check_healthy(&b);

    struct task was = task;
    CHECK_OK(task_revive(&task, b.now_ms, &err));
    CHECK(bench_save(&b, &was, &task, false, NULL));
    struct task_detail detail = bench_detail(&b, task.id);
    CHECK_EQ(detail.attempts_count, 1);
    CHECK_EQ(detail.attempts[0].outcome, OUTCOME_FAILED);
    CHECK_STR(detail.attempts[0].error.code, "first");
    check_healthy(&b);
}

TEST(each_attempt_has_its_own_log)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct task task = bench_task(&b);
    bench_insert(&b, &task);
    bench_start(&b, &task);
    CHECK(bench_save(&b, &task, &task, false, "one\n"));
    CHECK(bench_save(&b, &task, &task, false, "two\nthree\n"));
    CHECK_STR(bench_detail(&b, task.id).attempts[0].log, "one\ntwo\nthree\n");
    struct task was = task;
    CHECK_OK(task_release(&task, 0, b.now_ms, &err));
    CHECK(bench_save(&b, &was, &task, true, "last\n"));
    bench_start(&b, &task);
    CHECK(str_absent(bench_detail(&b, task.id).attempts[1].log));
    was = task;
    CHECK_OK(task_complete(&task, STR("1"), b.now_ms, &err));
    CHECK(bench_save(&b, &was, &task, true, "again\n"));

    struct task_detail detail = bench_detail(&b, task.id);
    CHECK_STR(detail.attempts[0].log, "one\ntwo\nthree\nlast\n");
    CHECK_STR(detail.attempts[1].log, "again\n");
    bench_delete(&b, task.id);
    check_healthy(&b);
}

TEST(a_log_keeps_its_newest_lines)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task task = bench_task(&b);
    char line[1001];
    memset(line, 'x', 999);
    line[999] = '\n';
    line[1000] = '\0';
    bench_insert(&b, &task);
    bench_start(&b, &task);
    for (int i = 0; i < 100; i++) {
        line[0] = (char)('0' + i / 10);
        line[1] = (char)('0' + i % 10);
        CHECK(bench_save(&b, &task, &task, false, line));
    }

    struct str log = bench_detail(&b, task.id).attempts[0].log;
    CHECK_EQ(log.len, TASK_LOG_MAX / 1000 * 1000);
    CHECK(log.ptr[0] == '3' && log.ptr[1] == '5'); /* 65 lines: 35 to 99 */
    CHECK(str_ends(log, STR("x\n")));
}

TEST(children_are_told_oldest_first)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task parent = bench_task(&b), children[3];
    parent.container = true;
    bench_insert(&b, &parent);
    for (size_t i = 0; i < 3; i++) {
        children[i] = bench_task(&b);
        children[i].parent = parent.id;
        bench_insert(&b, &children[i]);
    }
    bench_cancel(&b, &children[1]);

    struct task_detail detail = bench_detail(&b, parent.id);
    CHECK_EQ(detail.children_count, 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK(id_eq(detail.children[i], children[i].id));
    }
    CHECK_EQ(bench_detail(&b, children[0].id).children_count, 0);
}

struct seen {
    const struct task *want;
    size_t count;
};

static bool see_live(void *arg, const struct task *task, struct err *err)
{
    struct seen *seen = arg;
    const struct task *want = &seen->want[seen->count++];
    (void)err;
    CHECK(id_eq(task->id, want->id));
    CHECK_EQ(task->state, want->state);
    CHECK_EQ(task->attempt, want->attempt);
    CHECK_EQ(task->priority, want->priority);
    CHECK_EQ(task->queued_ms, want->queued_ms);
    CHECK_EQ(task->scheduled_ms, want->scheduled_ms);
    CHECK_EQ(task->expires_ms, want->expires_ms);
    if (want->state == TASK_RUNNING) {
        CHECK_EQ(task->lease_until_ms, want->lease_until_ms);
        CHECK_EQ(task->started_ms, want->started_ms);
        CHECK_EQ(task->timeout_ms, want->timeout_ms);
        CHECK(task->token == want->token && str_eq(task->worker, want->worker));
    }
    CHECK(str_eq(task->type, want->type) && str_eq(task->queue, want->queue));
    CHECK(str_eq(task->document, want->document));
    CHECK(id_eq(task->parent, want->parent) && id_eq(task->family, want->family));
    CHECK_EQ(task->container, want->container);
    CHECK_EQ(task->continues, want->continues);
    CHECK_EQ(task->runs_anyway, want->runs_anyway);
    CHECK_EQ(task->unmet, want->unmet);
    return true;
}

TEST(what_was_live_is_found_again_after_a_restart)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct task tasks[3], ended = bench_task(&b);
    bench_insert(&b, &ended);
    bench_cancel(&b, &ended);
    for (size_t i = 0; i < 3; i++) {
        tasks[i] = bench_task(&b);
        tasks[i].document = i == 1 ? STR("d") : STR_NONE;
        tasks[i].expires_ms = TASK_TIME_MAX_MS - (int64_t)i;
        tasks[i].container = tasks[i].continues = i == 0;
        tasks[i].parent = i == 0 ? TASK_ID_NONE : tasks[0].id;
        tasks[i].family = i == 2 ? tasks[0].id : TASK_ID_NONE;
        tasks[i].runs_anyway = i == 1;
        tasks[i].unmet = (int32_t)i;
        bench_insert(&b, &tasks[i]);
    }
    bench_start(&b, &tasks[1]);
    bench_start(&b, &tasks[2]);
    bench_fail(&b, &tasks[2], "x");
    bench_reopen(&b);

    struct seen seen = {.want = tasks};
    CHECK_OK(store_scan_live(b.store, see_live, &seen, &err));
    CHECK_EQ(seen.count, 3);
    struct task blocked = bench_on_document(&b, "d");
    CHECK(!bench_try_start(&b, &blocked)); /* the document is still held */
    CHECK_EQ(bench_count(&b, "default", TASK_RUNNING), 1);
    CHECK_EQ(bench_count(&b, "default", TASK_CANCELLED), 1);
    check_healthy(&b);
}

static bool refuse(void *arg, const struct task *task, struct err *err)
{
    (void)arg;
    (void)task;
    return err_set(err, ERR_INTERNAL, "no");
}

TEST(a_scan_stops_when_it_is_told_to)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct task task = bench_task(&b);
    bench_insert(&b, &task);
    CHECK(!store_scan_live(b.store, refuse, NULL, &err));
    CHECK_STR(str_of(err.text), "no");
    bench_cancel(&b, &task); /* and the store goes on */
}

TEST(every_opening_has_a_higher_epoch)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    uint64_t first = store_epoch(b.store);
    CHECK(first > 0);
    bench_reopen(&b);
    CHECK_EQ(store_epoch(b.store), first + 1);
}

TEST(the_last_id_is_remembered_even_if_its_task_is_gone)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    CHECK_EQ(store_last_id(b.store), 0);
    if (store_shared(b.store)) {
        return; /* nodes make ids on their own: no store can say what the last one is */
    }
    struct task one = bench_task(&b), two = bench_task(&b);
    bench_insert(&b, &one);
    bench_insert(&b, &two);
    CHECK(store_last_id(b.store) == two.id.hi);
    bench_cancel(&b, &two);
    bench_delete(&b, two.id);
    bench_reopen(&b);
    CHECK(store_last_id(b.store) == two.id.hi);
}

static bool copy_queue(void *arg, const struct store_queue *queue, struct err *err)
{
    struct bench *b = arg;
    (void)err;
    b->now_ms += queue->paused ? 1000 : 1;
    CHECK_EQ(queue->max_concurrent, 7);
    CHECK(queue->rate_per_second == 2.5);
    CHECK_EQ(queue->burst, 3);
    return true;
}

TEST(queue_settings_are_kept)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct tx *tx = NULL;
    struct store_queue one = {STR("one"), true, 7, 2.5, 3}, two = {STR("two"), false, 1, 1, 1};
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_save_queue(tx, &one, &err));
    CHECK_OK(tx_save_queue(tx, &two, &err));
    two = (struct store_queue){STR("two"), true, 7, 2.5, 3};
    CHECK_OK(tx_save_queue(tx, &two, &err));
    CHECK_OK(tx_commit(&tx, &err));
    CHECK_EQ(bench_count(&b, "one", TASK_QUEUED), 0); /* listed, though it has no tasks */
    bench_reopen(&b);

    b.now_ms = 0;
    CHECK_OK(store_scan_queues(b.store, copy_queue, &b, &err));
    CHECK_EQ(b.now_ms, 2000);
    CHECK_EQ(bench_count(&b, "two", TASK_QUEUED), 0);
    CHECK_EQ(bench_count(&b, "three", TASK_QUEUED), -1);
}

static bool sweep_step(struct bench *b, struct store_sweep *sweep)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(store_begin(b->store, &tx, &err));
    CHECK_OK(tx_sweep(tx, sweep, &err));
    CHECK_OK(tx_commit(&tx, &err));
    return sweep->cursor != 0;
}

TEST(a_sweep_removes_what_finished_before_a_time_in_small_steps)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    for (int i = 0; i < 25; i++) {
        struct task task = bench_task(&b);
        task.state = i % 5 == 4 ? TASK_QUEUED : TASK_COMPLETED;
        task.created_ms = 100; /* nothing ends before it was created */
        task.finished_ms = i % 5 == 4 ? 0 : 100 + i % 5 * 100; /* 100 … 400 */
        task.tags_count = 1;
        task.tags[0] = STR("x");
        bench_insert(&b, &task);
    }
    struct store_sweep sweep = {.before_ms = 300, .most = 3, .oldest_ms = INT64_MAX};
    int steps = 1;
    while (sweep_step(&b, &sweep)) {
        steps++;
    }

    CHECK_EQ(sweep.removed, 10);
    CHECK_EQ(sweep.oldest_ms, 300);
    CHECK_EQ(steps, 7); /* 20 finished ones, 3 at a time, and the end */
    CHECK_EQ(bench_count(&b, "default", TASK_COMPLETED), 10);
    CHECK_EQ(bench_list(&b, &(struct task_filter){.limit = 99}).count, 15);
    check_healthy(&b);
}
