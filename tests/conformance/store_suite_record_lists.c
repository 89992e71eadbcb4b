/* tests/conformance/store_suite_record_lists.c: records by their parent, owner, mark or time, and
 * what is due.
 *
 * SPDX-License-Identifier: MIT */
#include "record_bench.h"

/* Whoever asks, and whichever way round: a transaction and a reader say the same. */
static void check_list(struct bench *b, struct record_filter filter, const char *want)
{
    SCOPED(tx_close) struct tx *tx = bench_begin(b);
    struct err err = ERR_INIT;
    struct records inside, outside;
    filter.kind = filter.kind == 0 ? RECORD_SCHEDULE : filter.kind;
    CHECK_OK(tx_records_list(tx, &filter, &b->arena, &inside, &err));
    CHECK_OK(reader_records(b->reader, &filter, &b->arena, &outside, &err));
    CHECK_STR(str_of(records_told(b, &inside)), want);
    CHECK_STR(str_of(records_told(b, &outside)), want);
}

static void check_due(struct bench *b, int64_t until_ms, size_t most, const char *want,
                      int64_t want_next_ms)
{
    SCOPED(tx_close) struct tx *tx = bench_begin(b);
    struct err err = ERR_INIT;
    struct records due;
    int64_t next_ms = 0;
    CHECK_OK(tx_records_due(tx, RECORD_SCHEDULE, until_ms, most, &b->arena, &due, &next_ms, &err));
    due.more = false; /* next_ms tells */
    CHECK_STR(str_of(records_told(b, &due)), want);
    CHECK_EQ(next_ms, want_next_ms);
}

/* ---- Due ---- */

TEST(what_is_due_comes_in_order_and_says_when_the_next_one_is)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    static const int64_t due[] = {0, 400, 100, 0, 200, 200, 300};
    struct record team = bench_record(1);
    for (size_t i = 1; i < ARRAY_LEN(due); i++) {
        struct record record = bench_record(i);
        record.due_ms = due[i];
        CHECK(record_saved(&b, &record));
    }
    team.kind = RECORD_TEAM;
    team.due_ms = 1;
    CHECK(record_saved(&b, &team));

    check_due(&b, 99, 10, "", 100);
    check_due(&b, 100, 10, "2", 200);
    check_due(&b, 200, 10, "2 4 5", 300);
    check_due(&b, 200, 2, "2 4", 200); /* one more is due already */
    check_due(&b, 1000, 3, "2 4 5", 300);
    check_due(&b, 1000, 10, "2 4 5 6 1", INT64_MAX);
    check_due(&b, 1000, 0, "", 100);
    check_due(&b, INT64_MAX, SIZE_MAX, "2 4 5 6 1", INT64_MAX);
}

TEST(what_a_transaction_changed_is_due_when_it_says)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct record one = bench_record(1), two = bench_record(2), three = bench_record(3);
    struct records due;
    int64_t next_ms = 0;
    one.due_ms = two.due_ms = 10;
    CHECK(record_saved(&b, &one) && record_saved(&b, &two));
    one.version = 1;
    one.due_ms = 50;
    three.due_ms = 5;
    tx = bench_begin(&b);
    CHECK(record_save_in(tx, &one) && record_save_in(tx, &three));
    CHECK_OK(tx_records_delete(tx, RECORD_SCHEDULE, &two.id, 1, &err));
    CHECK_OK(tx_records_due(tx, RECORD_SCHEDULE, 20, 9, &b.arena, &due, &next_ms, &err));
    CHECK_EQ(due.count, 1);
    check_same_record(&due.at[0], &three, 1);
    CHECK_EQ(next_ms, 50);
}

/* ---- Lists ---- */

/* 1 … 6: parents A, B by turns; owners u, u, v by turns; marks 0, 1, 2 by turns; at 100 … 500, and
 * 6 has no time. */
static void fill(struct bench *b)
{
    struct tx *tx = bench_begin(b);
    for (uint64_t i = 6; i > 0; i--) { /* the order of arrival is of no account */
        struct record record = bench_record(i);
        record.parent = i % 2 == 1 ? PARENT_A : PARENT_B;
        record.owner = i % 3 == 0 ? STR("v") : STR("u");
        record.mark = (int32_t)((i - 1) % 3);
        record.at_ms = i == 6 ? 0 : (int64_t)i * 100;
        CHECK(record_save_in(tx, &record));
    }
    struct record stranger = bench_record(9), bare = bench_record(8);
    stranger.kind = RECORD_TEAM;
    stranger.parent = PARENT_A;
    stranger.owner = STR("u");
    bare.kind = RECORD_NOTIFICATION; /* nobody's */
    CHECK(record_save_in(tx, &stranger) && record_save_in(tx, &bare));
    bench_commit(tx);
}

TEST(a_list_is_of_one_kind_newest_or_oldest_first)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    fill(&b);
    check_list(&b, (struct record_filter){0}, "6 5 4 3 2 1");
    check_list(&b, (struct record_filter){.oldest_first = true}, "1 2 3 4 5 6");
    check_list(&b, (struct record_filter){.kind = RECORD_TEAM}, "9");
    check_list(&b, (struct record_filter){.kind = RECORD_MESSAGE}, "");
}

TEST(a_list_is_limited_and_tells_that_others_follow)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    fill(&b);
    check_list(&b, (struct record_filter){.limit = 2}, "6 5+");
    check_list(&b, (struct record_filter){.limit = 6}, "6 5 4 3 2 1");
    check_list(&b, (struct record_filter){.limit = 5, .oldest_first = true}, "1 2 3 4 5+");
    check_list(&b, (struct record_filter){.limit = 2, .before = {5, 0}}, "4 3+");
    check_list(&b, (struct record_filter){.limit = 2, .before = {3, 0}}, "2 1");
    check_list(&b, (struct record_filter){.limit = 2, .after = {2, 0}, .oldest_first = true},
               "3 4+");
    check_list(&b, (struct record_filter){.limit = 2, .after = {4, 0}, .oldest_first = true},
               "5 6");
}

TEST(a_list_keeps_between_two_ids_in_either_direction)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    fill(&b);
    struct record_filter filter = {.after = {2, 0}, .before = {5, 0}};
    check_list(&b, filter, "4 3");
    filter.oldest_first = true;
    check_list(&b, filter, "3 4");
    filter.after = (struct task_id){2, 1}; /* ids need not exist */
    filter.before = (struct task_id){3, 1};
    check_list(&b, filter, "3");
    filter.before = (struct task_id){2, 0};
    check_list(&b, filter, "");
}

TEST(ids_are_ordered_as_unsigned_numbers_by_both_halves)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    static const uint64_t halves[] = {1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    struct err err = ERR_INIT;
    struct record_filter filter = {.kind = RECORD_SCHEDULE, .oldest_first = true};
    struct records list;
    for (size_t i = 16; i-- > 0;) {
        struct record record = bench_record(0);
        record.id = (struct task_id){halves[i / 4], halves[i % 4]};
        CHECK(record_saved(&b, &record));
    }
    CHECK_OK(reader_records(b.reader, &filter, &b.arena, &list, &err));
    CHECK_EQ(list.count, 16);
    for (size_t i = 0; i < 16; i++) {
        CHECK(id_eq(list.at[i].id, (struct task_id){halves[i / 4], halves[i % 4]}));
    }
    filter.after = (struct task_id){INT64_MAX, UINT64_MAX};
    CHECK_OK(reader_records(b.reader, &filter, &b.arena, &list, &err));
    CHECK_EQ(list.count, 8);
}

TEST(a_list_is_of_one_parent_or_one_owner)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    fill(&b);
    check_list(&b, (struct record_filter){.parent = PARENT_A}, "5 3 1");
    check_list(&b, (struct record_filter){.parent = PARENT_B, .oldest_first = true}, "2 4 6");
    check_list(&b, (struct record_filter){.parent = {70, 3}}, "");
    check_list(&b, (struct record_filter){.owner = STR("u")}, "5 4 2 1");
    check_list(&b, (struct record_filter){.owner = STR("v"), .oldest_first = true}, "3 6");
    check_list(&b, (struct record_filter){.owner = STR("")}, "");
    check_list(&b, (struct record_filter){.owner = STR("u"), .parent = PARENT_A}, "5 1");
    check_list(&b, (struct record_filter){.owner = STR("u"), .limit = 2}, "5 4+");
    check_list(&b, (struct record_filter){.parent = PARENT_A, .before = {5, 0}, .limit = 1}, "3+");
}

TEST(a_list_is_of_some_marks)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    fill(&b);
    check_list(&b, (struct record_filter){.marks = 1u << 0}, "4 1");
    check_list(&b, (struct record_filter){.marks = 1u << 0 | 1u << 2}, "6 4 3 1");
    check_list(&b, (struct record_filter){.marks = 1u << 31}, "");
    check_list(&b, (struct record_filter){.marks = 1u << 1, .owner = STR("u"), .limit = 1}, "5+");
}

TEST(records_are_counted_by_kind_and_mark)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    fill(&b);
    static const struct {
        enum record_kind kind;
        uint32_t marks;
        int64_t count;
    } rows[] = {{RECORD_SCHEDULE, 1u << 0, 2},
                {RECORD_SCHEDULE, 1u << 0 | 1u << 2, 4},
                {RECORD_SCHEDULE, 0, 6},
                {RECORD_SCHEDULE, 1u << 31, 0},
                {RECORD_USAGE, 0, 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT;
        int64_t count = -1;
        CHECK_OK(reader_records_count(b.reader, rows[i].kind, rows[i].marks, &count, &err));
        CHECK_EQ(count, rows[i].count);
    }
}

TEST(a_list_is_of_a_range_of_times_without_those_that_have_none)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    fill(&b);
    check_list(&b, (struct record_filter){.at_from_ms = 200, .at_before_ms = 400}, "3 2");
    check_list(&b, (struct record_filter){.at_from_ms = 300}, "5 4 3");
    check_list(&b, (struct record_filter){.at_before_ms = 300}, "2 1");
    check_list(&b, (struct record_filter){.at_from_ms = 1, .parent = PARENT_B, .limit = 1}, "4+");
}

TEST(a_list_of_many_is_complete)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct tx *tx = bench_begin(&b);
    struct err err = ERR_INIT;
    struct records list;
    for (uint64_t i = 1; i <= 1000; i++) {
        struct record record = bench_record(i);
        record.parent = PARENT_A;
        CHECK(record_save_in(tx, &record));
    }
    bench_commit(tx);
    struct record_filter filter = {.kind = RECORD_SCHEDULE, .parent = PARENT_A};
    CHECK_OK(reader_records(b.reader, &filter, &b.arena, &list, &err));
    CHECK_EQ(list.count, 1000);
    CHECK(list.at[0].id.hi == 1000 && list.at[999].id.hi == 1);
}
