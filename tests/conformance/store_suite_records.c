/* tests/conformance/store_suite_records.c: what is kept besides tasks. See store/record.h.
 *
 * SPDX-License-Identifier: MIT */
#include "record_bench.h"

static bool is_there(struct bench *b, uint64_t hi)
{
    struct record got;
    return record_loaded(b, RECORD_SCHEDULE, (struct task_id){hi, 0}, &got);
}

static bool reader_has(struct bench *b, uint64_t hi)
{
    struct err err = ERR_INIT;
    struct record got;
    bool found = false;
    CHECK_OK(reader_record(b->reader, RECORD_SCHEDULE, (struct task_id){hi, 0}, &b->arena, &found,
                           &got, &err));
    return found;
}

static uint64_t find_in(struct tx *tx, const char *key)
{
    struct err err = ERR_INIT;
    struct str text = str_of(key);
    struct task_id id;
    CHECK_OK(tx_records_find(tx, RECORD_SCHEDULE, &text, 1, &id, &err));
    return id.hi;
}

static uint64_t find(struct bench *b, const char *key)
{
    SCOPED(tx_close) struct tx *tx = bench_begin(b);
    return find_in(tx, key);
}

static void drop(struct bench *b, uint64_t hi)
{
    struct err err = ERR_INIT;
    struct tx *tx = bench_begin(b);
    CHECK_OK(tx_records_delete(tx, RECORD_SCHEDULE, &(struct task_id){hi, 0}, 1, &err));
    bench_commit(tx);
}

/* ---- Keeping ---- */

TEST(a_record_comes_back_as_it_was_saved)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct record want = {.kind = RECORD_EXECUTION,
                          .id = {UINT64_MAX, 0x8000000000000001u},
                          .parent = PARENT_A,
                          .owner = STR("ursula \xE2\x82\xAC"),
                          .key = STR("k"),
                          .due_ms = INT64_MAX - 1,
                          .at_ms = INT64_C(1800000000123),
                          .mark = 31,
                          .body = STR("a\0b\xFF")};
    struct record got;
    bool found = false;
    CHECK(record_saved(&b, &want));
    for (int restarts = 0; restarts < 2; restarts++) {
        CHECK(record_loaded(&b, want.kind, want.id, &got));
        check_same_record(&got, &want, 1);
        CHECK_OK(reader_record(b.reader, want.kind, want.id, &b.arena, &found, &got, &err));
        CHECK(found);
        check_same_record(&got, &want, 1);
        check_healthy(&b);
        bench_reopen(&b);
    }
}

TEST(a_record_may_have_next_to_nothing)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct record bare = {.kind = RECORD_TEAM, .id = {1, 0}, .body = STR("")}, got;
    struct record empty = {
        .kind = RECORD_TEAM, .id = {2, 0}, .owner = STR(""), .key = STR(""), .body = STR("x")};
    CHECK(record_saved(&b, &bare) && record_saved(&b, &empty));
    CHECK(record_loaded(&b, RECORD_TEAM, bare.id, &got));
    check_same_record(&got, &bare, 1);
    CHECK(record_loaded(&b, RECORD_TEAM, empty.id, &got));
    check_same_record(&got, &empty, 1);
}

TEST(a_body_may_be_as_long_as_the_limit)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    char *bytes = arena_alloc(&b.arena, RECORD_BODY_MAX);
    memset(bytes, 'x', RECORD_BODY_MAX);
    struct record big = bench_record(1), got;
    big.body = (struct str){bytes, RECORD_BODY_MAX};
    CHECK(record_saved(&b, &big));
    CHECK(record_loaded(&b, RECORD_SCHEDULE, big.id, &got));
    CHECK(str_eq(got.body, big.body));
}

TEST(an_id_is_unique_within_its_kind_only_and_all_of_it_counts)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct record first = bench_record(1), got;
    struct record again = first, other_kind = first, other_half = first;
    again.body = STR("second");
    other_kind.kind = RECORD_TEAM;
    other_half.id.lo = 9;
    CHECK(record_saved(&b, &first));
    CHECK(!record_saved(&b, &again));
    CHECK(record_saved(&b, &other_kind) && record_saved(&b, &other_half));
    CHECK(record_loaded(&b, RECORD_SCHEDULE, first.id, &got));
    check_same_record(&got, &first, 1);
    CHECK(!record_loaded(&b, RECORD_SCHEDULE, (struct task_id){1, 8}, &got));
    CHECK(!record_loaded(&b, RECORD_MESSAGE, first.id, &got));
}

TEST(a_parent_may_be_missing)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct record child = bench_record(1);
    child.parent = PARENT_A;
    CHECK(record_saved(&b, &child));
    check_healthy(&b);
}

/* ---- Versions ---- */

TEST(a_record_is_replaced_only_at_the_version_it_was_loaded_with)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct record record = bench_record(1), got;
    CHECK(record_saved(&b, &record));
    record.version = 1;
    record.parent = PARENT_A;
    record.owner = STR("u");
    record.key = STR("k");
    record.due_ms = 5;
    record.at_ms = 6;
    record.mark = 7;
    record.body = STR("second");
    CHECK(record_saved(&b, &record));
    CHECK(record_loaded(&b, RECORD_SCHEDULE, record.id, &got));
    check_same_record(&got, &record, 2);

    CHECK(!record_saved(&b, &record)); /* somebody else was first */
    struct record later = got;
    later.body = STR("third");
    later.due_ms = later.at_ms = 0;
    later.mark = 0;
    CHECK(record_saved(&b, &later));
    CHECK(record_loaded(&b, RECORD_SCHEDULE, record.id, &got));
    check_same_record(&got, &later, 3);
    later = got;
    later.parent = TASK_ID_NONE;
    later.owner = later.key = STR_NONE;
    CHECK(record_saved(&b, &later));
    CHECK(record_loaded(&b, RECORD_SCHEDULE, record.id, &got));
    check_same_record(&got, &later, 4);
    check_healthy(&b);
}

TEST(what_does_not_exist_is_not_replaced)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct record record = bench_record(1);
    record.version = 1;
    CHECK(!record_saved(&b, &record));
    CHECK(!is_there(&b, 1));
}

TEST(saves_of_one_call_see_each_other)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct record first = bench_record(1), second = bench_record(1), stale = bench_record(1),
                  other = bench_record(2), got;
    second.version = 1;
    second.body = STR("second");
    stale.version = 1;
    struct record_save saves[] = {
        {.record = &first}, {.record = &second}, {.record = &stale}, {.record = &other}};
    struct tx *tx = bench_begin(&b);
    CHECK_OK(tx_records_save(tx, saves, ARRAY_LEN(saves), &err));
    CHECK(saves[0].applied && saves[1].applied && !saves[2].applied && saves[3].applied);
    CHECK(record_load_in(&b, tx, RECORD_SCHEDULE, first.id, &got));
    check_same_record(&got, &second, 2);
    bench_commit(tx);
    CHECK(record_loaded(&b, RECORD_SCHEDULE, first.id, &got));
    check_same_record(&got, &second, 2);
    CHECK(is_there(&b, 2));
}

/* ---- Keys ---- */

TEST(a_key_belongs_to_one_record_of_a_kind)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct record first = bench_record(1), second = bench_record(2), team = bench_record(3), got;
    first.key = second.key = team.key = STR("daily");
    team.kind = RECORD_TEAM;
    CHECK(record_saved(&b, &first));
    CHECK(!record_saved(&b, &second)); /* nothing of it was written */
    CHECK(!is_there(&b, 2));
    CHECK(record_saved(&b, &team));
    CHECK_EQ(find(&b, "daily"), 1);
    CHECK_EQ(find(&b, "weekly"), 0);

    second.key = STR("weekly");
    CHECK(record_saved(&b, &second));
    second.version = 1;
    second.key = STR("daily");
    second.body = STR("changed");
    CHECK(!record_saved(&b, &second));
    CHECK(record_loaded(&b, RECORD_SCHEDULE, second.id, &got));
    CHECK_STR(got.key, "weekly");
    CHECK_STR(got.body, "{}");
    check_healthy(&b);
}

TEST(a_key_is_free_again_when_its_record_lets_it_go)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct record first = bench_record(9), second = bench_record(2), third = bench_record(3);
    first.key = second.key = third.key = STR("k");
    CHECK(record_saved(&b, &first));
    first.version = 1;
    first.key = STR("other");
    struct tx *tx = bench_begin(&b);
    CHECK(record_save_in(tx, &first));
    CHECK_EQ(find_in(tx, "k"), 0);
    CHECK(record_save_in(tx, &second)); /* in the same transaction */
    CHECK_EQ(find_in(tx, "k"), 2);
    bench_commit(tx);
    CHECK_EQ(find(&b, "k"), 2);
    CHECK_EQ(find(&b, "other"), 9);
    drop(&b, 2);
    CHECK_EQ(find(&b, "k"), 0);
    CHECK(record_saved(&b, &third));
    CHECK_EQ(find(&b, "k"), 3);
    check_healthy(&b);
}

TEST(many_keys_are_found_at_once)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct record one = bench_record(1), two = bench_record(2);
    struct str keys[] = {STR("b"), STR("none"), STR("a"), STR("b")};
    struct task_id ids[4];
    one.key = STR("a");
    two.key = STR("b");
    CHECK(record_saved(&b, &one) && record_saved(&b, &two));
    tx = bench_begin(&b);
    CHECK_OK(tx_records_find(tx, RECORD_SCHEDULE, keys, 4, ids, &err));
    CHECK(ids[0].hi == 2 && id_none(ids[1]) && ids[2].hi == 1 && ids[3].hi == 2);
}

TEST(a_long_key_is_a_key)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    char text[RECORD_KEY_MAX + 1];
    memset(text, 'k', RECORD_KEY_MAX);
    text[RECORD_KEY_MAX] = '\0';
    struct record record = bench_record(1);
    record.key = str_of(text);
    CHECK(record_saved(&b, &record));
    CHECK_EQ(find(&b, text), 1);
    text[RECORD_KEY_MAX - 1] = 'x';
    CHECK_EQ(find(&b, text), 0);
}

/* ---- Going ---- */

TEST(a_deleted_record_is_gone_and_unknown_ids_are_passed_over)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct record one = bench_record(1), two = bench_record(2), team = bench_record(1);
    struct task_id ids[] = {{7, 7}, {1, 0}, {1, 0}};
    team.kind = RECORD_TEAM;
    CHECK(record_saved(&b, &one) && record_saved(&b, &two) && record_saved(&b, &team));
    struct tx *tx = bench_begin(&b);
    CHECK_OK(tx_records_delete(tx, RECORD_SCHEDULE, ids, 3, &err));
    struct record got;
    CHECK(!record_load_in(&b, tx, RECORD_SCHEDULE, one.id, &got));
    bench_commit(tx);
    CHECK(!is_there(&b, 1) && is_there(&b, 2));
    CHECK(record_loaded(&b, RECORD_TEAM, team.id, &got));
    one.version = 1;
    CHECK(!record_saved(&b, &one)); /* it does not come back by being replaced */
    one.version = 0;
    CHECK(record_saved(&b, &one));
    check_healthy(&b);
}

TEST(clearing_removes_all_of_a_kind_that_belong_to_a_parent)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct record of_a = bench_record(1), of_b = bench_record(2), of_none = bench_record(3),
                  message = bench_record(4), unsaved = bench_record(5), got;
    of_a.parent = message.parent = unsaved.parent = PARENT_A;
    of_b.parent = PARENT_B;
    message.kind = RECORD_MESSAGE;
    CHECK(record_saved(&b, &of_a) && record_saved(&b, &of_b) && record_saved(&b, &of_none) &&
          record_saved(&b, &message));
    struct tx *tx = bench_begin(&b);
    CHECK(record_save_in(tx, &unsaved));
    CHECK_OK(tx_records_clear(tx, RECORD_SCHEDULE, PARENT_A, &err));
    CHECK_OK(tx_records_clear(tx, RECORD_SCHEDULE, (struct task_id){1, 1}, &err));
    CHECK_OK(tx_records_clear(tx, RECORD_SCHEDULE, TASK_ID_NONE, &err)); /* nobody's children */
    bench_commit(tx);
    CHECK(!is_there(&b, 1) && is_there(&b, 2) && is_there(&b, 3) && !is_there(&b, 5));
    CHECK(record_loaded(&b, RECORD_MESSAGE, message.id, &got));
    check_healthy(&b);
}

/* ---- Transactions ---- */

TEST(a_transaction_sees_its_own_records_and_a_reader_does_not)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct record old = bench_record(1), fresh = bench_record(2), got;
    struct records list;
    struct record_filter all = {.kind = RECORD_SCHEDULE};
    CHECK(record_saved(&b, &old));
    struct tx *tx = bench_begin(&b);
    CHECK(record_save_in(tx, &fresh));
    CHECK_OK(tx_records_delete(tx, RECORD_SCHEDULE, &old.id, 1, &err));
    CHECK(record_load_in(&b, tx, RECORD_SCHEDULE, fresh.id, &got));
    CHECK_OK(tx_records_list(tx, &all, &b.arena, &list, &err));
    CHECK_STR(str_of(records_told(&b, &list)), "2");
    CHECK_OK(reader_records(b.reader, &all, &b.arena, &list, &err));
    CHECK_STR(str_of(records_told(&b, &list)), "1");
    CHECK(reader_has(&b, 1) && !reader_has(&b, 2));
    bench_commit(tx);
    CHECK(!reader_has(&b, 1) && reader_has(&b, 2));
}

TEST(a_rollback_leaves_nothing)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct record kept = bench_record(1), changed = bench_record(1), fresh = bench_record(2), got;
    kept.key = STR("old");
    kept.parent = PARENT_A;
    fresh.key = STR("fresh");
    CHECK(record_saved(&b, &kept));
    changed.version = 1;
    changed.key = STR("new");
    struct tx *tx = bench_begin(&b);
    CHECK(record_save_in(tx, &changed) && record_save_in(tx, &fresh));
    tx_close(&tx);
    tx = bench_begin(&b);
    CHECK_OK(tx_records_clear(tx, RECORD_SCHEDULE, PARENT_A, &err));
    tx_close(&tx);

    CHECK(record_loaded(&b, RECORD_SCHEDULE, kept.id, &got));
    check_same_record(&got, &kept, 1);
    CHECK(!is_there(&b, 2));
    CHECK_EQ(find(&b, "old"), 1);
    CHECK_EQ(find(&b, "new"), 0);
    CHECK_EQ(find(&b, "fresh"), 0);
    CHECK(record_saved(&b, &fresh));
    check_healthy(&b);
}

TEST(records_are_written_with_the_tasks_they_belong_to_or_not_at_all)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct task task = bench_task(&b), got;
    const struct task *one = &task;
    struct record record = bench_record(1);
    for (int tries = 0; tries < 2; tries++) {
        struct tx *tx = bench_begin(&b);
        CHECK_OK(tx_insert(tx, &one, 1, &err));
        CHECK(record_save_in(tx, &record));
        if (tries == 1) {
            bench_commit(tx);
            break;
        }
        tx_close(&tx);
        CHECK(!bench_load(&b, task.id, &got) && !is_there(&b, 1));
    }
    bench_reopen(&b);
    CHECK(bench_load(&b, task.id, &got) && is_there(&b, 1));
    check_healthy(&b);
}
