/* tests/conformance/store_suite_tasks.c: what goes into a store comes out of it, and changes only
 * by compare-and-set.
 *
 * SPDX-License-Identifier: MIT */
#include "store/fleet.h"
#include "store_suite.h"

#define BYTES(literal) ((struct str){"" literal, sizeof(literal) - 1})

/* A container to be the child of, in a queue of its own. */
static struct task_id parent_of_full(struct bench *b)
{
    struct task parent = bench_task(b);
    parent.queue = STR("above");
    parent.container = true;
    bench_insert(b, &parent);
    return parent.id;
}

static struct task full_task(struct bench *b)
{
    struct task_id parent = parent_of_full(b);
    struct task task = bench_task(b);
    task.type = STR("h\xC3\xA9llo \xF0\x9F\x98\x80");
    task.queue = STR("a/b:c.d-e_f");
    task.document = STR("doc \xE2\x82\xAC");
    task.external_id = STR("projects/p/x");
    task.origin = STR("{\"other\":{\"x\":1}}");
    task.key = STR("key 'quoted' \"twice\" -- %");
    task.payload = BYTES("raw \0 bytes \xff\xfe\x01");
    task.payload_raw = true;
    task.metadata = STR("{\"a\" : [1, 2 ] }");
    task.tags[0] = STR("red");
    task.tags[1] = STR("");
    task.tags[2] = BYTES("with \0 in it");
    task.tags_count = 3;
    task.backoff = (struct task_backoff){1, TASK_DURATION_MAX_MS, 1.75, 0.3};
    task.parent = parent;
    task.family = (struct task_id){parent.hi, UINT64_MAX - 1};
    task.continues = task.runs_anyway = true;
    task.unmet = INT32_MAX;
    task.team = (struct task_id){2, 1};
    task.schedule = (struct task_id){3, UINT64_MAX / 2 + 1};
    task.expires_ms = TASK_TIME_MAX_MS;
    task.priority = TASK_CRITICAL;
    task.attempt = 7;
    task.retries = 5;
    task.max_retries = TASK_RETRIES_UNLIMITED;
    task.timeout_ms = 123;
    task.scheduled_ms = 11;
    task.queued_ms = 12;
    task.started_ms = 13;
    task.updated_ms = 14;
    task.cancel_reason = STR("because");
    task.token = UINT64_MAX - 3;
    task.outcome = OUTCOME_LOST;
    task.worker = STR("w \xC3\xA9");
    task.lease_ms = 1000;
    task.attempt_ended_ms = 15;
    task.progress = 33.25;
    task.progress_message = STR("a third");
    task.dispatch = STR("{\"sent\":2}");
    task.log_bytes = 99;
    task.error = (struct task_error){STR("code"), BYTES("mess\0age"), STR("[1]")};
    task.cost = (struct task_cost){0, 0.5, 1e9};
    return task;
}

TEST(every_field_of_a_live_task_comes_back_byte_for_byte)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task want = full_task(&b), got;
    bench_insert(&b, &want);

    CHECK(bench_load(&b, want.id, &got));
    check_same_task(&got, &want);
    struct task_detail detail = bench_detail(&b, want.id);
    check_same_task(&detail.task, &want);
    bench_reopen(&b);
    CHECK(bench_load(&b, want.id, &got));
    check_same_task(&got, &want);
}

TEST(every_field_of_a_finished_task_comes_back_byte_for_byte)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task want = full_task(&b), got;
    want.state = TASK_COMPLETED;
    want.outcome = OUTCOME_COMPLETED;
    want.cancel_requested = true;
    want.finished_ms = 16;
    want.cancelled_ms = 17;
    want.result = BYTES("[\"\0\"]");
    bench_insert(&b, &want);

    CHECK(bench_load(&b, want.id, &got));
    check_same_task(&got, &want);
}

TEST(absent_and_empty_are_two_things)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task absent = bench_task(&b), empty = bench_task(&b), got;
    empty.payload = empty.metadata = empty.external_id = empty.document = STR("");
    empty.cancel_reason = empty.progress_message = empty.worker = STR("");
    empty.error = (struct task_error){STR(""), STR(""), STR("")};
    empty.progress = 0;
    bench_insert(&b, &absent);
    bench_insert(&b, &empty);

    CHECK(bench_load(&b, absent.id, &got));
    check_same_task(&got, &absent);
    CHECK(bench_load(&b, empty.id, &got));
    check_same_task(&got, &empty);
}

TEST(a_big_payload_and_result_come_back_whole)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task want = bench_task(&b), got;
    char *big = arena_alloc(&b.arena, MIB);
    rand_bytes(&b.rand, big, MIB);
    want.payload = want.result = (struct str){big, MIB};
    want.state = TASK_COMPLETED;
    want.finished_ms = 1;
    bench_insert(&b, &want);

    CHECK(bench_load(&b, want.id, &got));
    check_same_task(&got, &want);
}

TEST(a_load_that_is_not_whole_leaves_the_big_parts_out)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task want = full_task(&b);
    bench_insert(&b, &want);
    struct task_load load = {.id = want.id, .arena = &b.arena};
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_load(tx, &load, 1, &err));

    CHECK(load.found);
    want.payload = want.metadata = STR_NONE;
    want.tags_count = 0;
    check_same_task(&load.task, &want);
}

TEST(an_id_is_known_by_both_halves)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task task = bench_task(&b), got;
    struct err err = ERR_INIT;
    struct task_detail detail;
    bool found = true;
    bench_insert(&b, &task);
    struct task_id guess = {task.id.hi, task.id.lo ^ 1};

    CHECK(!bench_load(&b, guess, &got));
    CHECK(!bench_load(&b, (struct task_id){task.id.hi + 1, task.id.lo}, &got));
    CHECK_OK(reader_detail(b.reader, guess, &b.arena, &found, &detail, &err));
    CHECK(!found);
    struct task moved = task;
    moved.id = guess;
    CHECK(!bench_save(&b, &moved, &moved, false, NULL));
}

TEST(a_transaction_sees_what_it_wrote)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task task = bench_task(&b), cancelled;
    const struct task *one = &task;
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_insert(tx, &one, 1, &err));
    cancelled = task;
    CHECK_OK(task_cancel(&cancelled, STR("x"), b.now_ms, &err));
    struct task_change change = {.was = &task, .now = &cancelled};
    CHECK_OK(tx_save(tx, &change, 1, &err));
    struct task_load load = {.id = task.id, .arena = &b.arena, .whole = true};
    CHECK_OK(tx_load(tx, &load, 1, &err));

    CHECK(change.applied && load.found);
    check_same_task(&load.task, &cancelled);
}

TEST(a_task_that_was_loaded_and_rolled_back_is_unknown)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task task = bench_task(&b), got;
    const struct task *one = &task;
    struct task_load load = {.id = task.id, .arena = &b.arena, .whole = true};
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_insert(tx, &one, 1, &err));
    CHECK_OK(tx_load(tx, &load, 1, &err));
    CHECK(load.found);
    tx_close(&tx);
    CHECK(!bench_load(&b, task.id, &got));
}

TEST(a_change_is_refused_when_state_or_attempt_moved_on)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task task = bench_task(&b), got;
    bench_insert(&b, &task);
    struct task before = task;
    bench_start(&b, &task);

    struct task stale = before;
    stale.priority = TASK_LOW;
    CHECK(!bench_save(&b, &before, &stale, false, NULL));
    struct task other_attempt = task, hijack = task;
    other_attempt.attempt = 2;
    hijack.worker = STR("thief");
    CHECK(!bench_save(&b, &other_attempt, &hijack, false, NULL));
    CHECK(bench_load(&b, task.id, &got));
    check_same_task(&got, &task);
}

TEST(a_finished_task_is_finished_once)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task task = bench_task(&b), got;
    struct err err = ERR_INIT;
    bench_insert(&b, &task);
    bench_start(&b, &task);
    struct task running = task, late = task;
    bench_complete(&b, &task, "1");
    CHECK_OK(task_complete(&late, STR("2"), b.now_ms, &err));

    CHECK(!bench_save(&b, &running, &late, true, "late\n"));
    CHECK(bench_load(&b, task.id, &got));
    CHECK_STR(got.result, "1");
    CHECK_EQ(bench_count(&b, "default", TASK_COMPLETED), 1);
    check_healthy(&b);
}

TEST(of_two_equal_changes_in_one_batch_the_first_is_applied)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task task = bench_task(&b), first, second;
    bench_insert(&b, &task);
    first = second = task;
    CHECK_OK(task_start(&first, &(struct task_claim){STR("a"), 1000, 1}, b.now_ms, &err));
    CHECK_OK(task_start(&second, &(struct task_claim){STR("b"), 1000, 2}, b.now_ms, &err));
    struct task_change changes[] = {{.was = &task, .now = &first}, {.was = &task, .now = &second}};
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_save(tx, changes, 2, &err));
    CHECK_OK(tx_commit(&tx, &err));

    CHECK(changes[0].applied && !changes[1].applied);
}

TEST(a_rollback_leaves_nothing)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct task kept = bench_task(&b), lost = full_task(&b), got;
    const struct task *one = &lost;
    struct tx *tx = NULL;
    lost.attempt = 0;
    lost.outcome = OUTCOME_NONE;
    bench_insert(&b, &kept);
    struct task started = kept;
    CHECK_OK(task_start(&started, &(struct task_claim){STR("a"), 1000, 1}, b.now_ms, &err));
    struct task_change change = {.was = &kept, .now = &started, .log = STR("line\n")};
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_insert(tx, &one, 1, &err));
    CHECK_OK(tx_save(tx, &change, 1, &err));
    CHECK_OK(tx_save_queue(tx, &(struct store_queue){.name = STR("q9"), .paused = true}, &err));
    tx_close(&tx);

    CHECK(tx == NULL);
    CHECK(!bench_load(&b, lost.id, &got));
    CHECK(bench_load(&b, kept.id, &got));
    check_same_task(&got, &kept);
    CHECK_EQ(bench_count(&b, "default", TASK_QUEUED), 1);
    CHECK_EQ(bench_count(&b, "a/b:c.d-e_f", TASK_QUEUED), -1);
    CHECK_EQ(bench_count(&b, "q9", TASK_QUEUED), -1);
    bench_insert(&b, &lost); /* id, key, names and document are free */
    CHECK(bench_load(&b, lost.id, &got));
    check_same_task(&got, &lost);
    check_healthy(&b);
}

TEST(a_reader_sees_what_is_committed_and_nothing_else)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task task = bench_task(&b);
    const struct task *one = &task;
    struct task_filter all = {.limit = 10};
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_insert(tx, &one, 1, &err));
    CHECK_EQ(bench_list(&b, &all).count, 0);
    CHECK_EQ(bench_count(&b, "default", TASK_QUEUED), -1);
    CHECK_OK(tx_commit(&tx, &err));

    CHECK_EQ(bench_list(&b, &all).count, 1);
    CHECK_EQ(bench_count(&b, "default", TASK_QUEUED), 1);
}

TEST(keys_are_found_kept_unique_and_freed_with_their_task)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task first = bench_task(&b), second = bench_task(&b);
    const struct task *again = &second;
    first.key = second.key = STR("k");
    bench_insert(&b, &first);
    struct str keys[] = {STR("k"), STR("K"), STR("")};
    struct task_id found[3];
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_find_keys(tx, keys, 3, found, &err));
    CHECK(id_eq(found[0], first.id) && id_none(found[1]) && id_none(found[2]));
    CHECK(!(tx_insert(tx, &again, 1, &err) && tx_commit(&tx, &err)));
    CHECK_EQ(err.kind, ERR_CONFLICT);
    tx_close(&tx);

    bench_cancel(&b, &first);
    bench_delete(&b, first.id);
    bench_insert(&b, &second);
    check_healthy(&b);
}

TEST(only_finished_tasks_can_be_deleted)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task live = bench_task(&b), ended = full_task(&b), got;
    ended.state = TASK_FAILED;
    ended.finished_ms = 5;
    bench_insert(&b, &live);
    bench_insert(&b, &ended);
    bench_delete(&b, live.id);
    bench_delete(&b, (struct task_id){ended.id.hi, 1});
    CHECK(bench_load(&b, live.id, &got) && bench_load(&b, ended.id, &got));

    bench_delete(&b, ended.id);
    CHECK(!bench_load(&b, ended.id, &got));
    CHECK_EQ(bench_list(&b, &(struct task_filter){.tag = STR("red"), .limit = 9}).count, 0);
    CHECK_EQ(bench_count(&b, "a/b:c.d-e_f", TASK_FAILED), -1);
    check_healthy(&b);
}

TEST(an_id_is_used_once)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task task = bench_task(&b), again = bench_task(&b), got;
    const struct task *one = &again;
    bench_insert(&b, &task);
    struct task_id next = again.id;
    again.id = task.id;
    if (!store_shared(b.store)) { /* two nodes may meet in the first half */
        again.id = next = (struct task_id){task.id.hi, task.id.lo ^ 1};
    }
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK(!(tx_insert(tx, &one, 1, &err) && tx_commit(&tx, &err)));
    tx_close(&tx);
    CHECK(bench_load(&b, task.id, &got) && !bench_load(&b, next, &got));
    check_healthy(&b);
}

TEST(a_load_never_sees_a_change_that_was_rolled_back)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task task = full_task(&b), got;
    task.outcome = OUTCOME_NONE;
    bench_insert(&b, &task);
    CHECK(bench_load(&b, task.id, &got));
    struct task changed = task;
    changed.priority = TASK_LOW;
    changed.progress_message = STR("two thirds");
    struct task_change change = {.was = &task, .now = &changed};
    struct task_load load = {.id = task.id, .arena = &b.arena, .whole = true};
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_save(tx, &change, 1, &err));
    CHECK_OK(tx_load(tx, &load, 1, &err));
    check_same_task(&load.task, &changed);
    tx_close(&tx);

    CHECK(bench_load(&b, task.id, &got));
    check_same_task(&got, &task);
}

TEST(more_tasks_than_are_kept_at_hand_are_loaded_as_they_are)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task first = full_task(&b), got;
    const struct task *one = &first;
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_insert(tx, &one, 1, &err));
    struct task_load load = {.id = first.id, .arena = &b.arena, .whole = true};
    CHECK_OK(tx_load(tx, &load, 1, &err));
    for (int i = 0; i < 4200; i++) {
        struct task task = bench_task(&b);
        one = &task;
        task.priority = i % 2 == 0 ? TASK_LOW : TASK_HIGH;
        CHECK_OK(tx_insert(tx, &one, 1, &err));
        load.id = task.id;
        CHECK_OK(tx_load(tx, &load, 1, &err));
        CHECK(load.found && load.task.priority == task.priority);
    }
    CHECK_OK(tx_commit(&tx, &err));
    CHECK(bench_load(&b, first.id, &got));
    check_same_task(&got, &first);
}
