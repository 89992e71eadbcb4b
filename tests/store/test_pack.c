/* tests/store/test_pack.c: fields of a task as one run of bytes, and back.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "store/columns.h"
#include "store/pack.h"
#include "test.h"

#define RUN_MAX (64 * KIB)

/* A value for every field, each its own. */
static void fill(struct task *task)
{
    int64_t n = 3;
    unpack_begin(task);
#define GIVE_ID(member)                                                                            \
    task->member = (struct task_id)                                                                \
    {                                                                                              \
        (uint64_t) n << 40, (uint64_t)n                                                            \
    }
#define GIVE_NAME(member)     task->member = STR(#member)
#define GIVE_TEXT(member)     task->member = STR(#member)
#define GIVE_JSON(member)     task->member = STR(#member)
#define GIVE_BYTES(member)    task->member = STR("a\0b")
#define GIVE_TAGS(member)     task->tags[0] = STR("x"), task->tags[1] = STR(""), task->tags_count = 2
#define GIVE_TIME(member)     task->member = INT64_C(1700000000000) + n
#define GIVE_I64(member)      task->member = -n
#define GIVE_U64(member)      task->member = UINT64_MAX - (uint64_t)n
#define GIVE_I32(member)      task->member = (int32_t)-n
#define GIVE_STATE(member)    task->member = TASK_TIMEOUT
#define GIVE_PRIORITY(member) task->member = TASK_CRITICAL
#define GIVE_OUTCOME(member)  task->member = OUTCOME_LOST
#define GIVE_F64(member)      task->member = 1.0 / (double)n
#define GIVE_AMOUNT(member)   task->member = (double)n
#define GIVE_BOOL(member)     task->member = true
#define FIELD(part, kind, column, member, ...)                                                     \
    n++;                                                                                           \
    GIVE_##kind(member);
#include "task/task.def"
}

#define SAME_ID(member)       CHECK(id_eq(a->member, b->member))
#define SAME_NAME(member)     CHECK(str_eq(a->member, b->member))
#define SAME_TEXT(member)     CHECK(str_eq(a->member, b->member))
#define SAME_JSON(member)     CHECK(str_eq(a->member, b->member))
#define SAME_BYTES(member)    CHECK(str_eq(a->member, b->member))
#define SAME_TAGS(member)     CHECK(a->tags_count == b->tags_count && str_eq(a->tags[0], b->tags[0]))
#define SAME_TIME(member)     CHECK_EQ(a->member, b->member)
#define SAME_I64(member)      CHECK_EQ(a->member, b->member)
#define SAME_U64(member)      CHECK(a->member == b->member)
#define SAME_I32(member)      CHECK_EQ(a->member, b->member)
#define SAME_STATE(member)    CHECK_EQ(a->member, b->member)
#define SAME_PRIORITY(member) CHECK_EQ(a->member, b->member)
#define SAME_OUTCOME(member)  CHECK_EQ(a->member, b->member)
#define SAME_F64(member)      CHECK(a->member == b->member)
#define SAME_AMOUNT(member)   CHECK(a->member == b->member)
#define SAME_BOOL(member)     CHECK(a->member == b->member)

ALWAYS_INLINE void check_same(const struct task *a, const struct task *b, unsigned parts)
{
#define FIELD(part, kind, column, member, ...)                                                     \
    if ((PART_##part & parts) != 0) {                                                              \
        SAME_##kind(member);                                                                       \
    }
#include "task/task.def"
}

TEST(every_field_of_a_task_comes_back_as_it_was)
{
    SCOPED(buf_fini) struct buf run = BUF_INIT(RUN_MAX);
    struct task task, back;
    fill(&task);
    unpack_begin(&back);

    CHECK(pack_whole(&run, &task));
    CHECK(unpack(buf_view(&run), &back));

    check_same(&task, &back, ~0u);
    CHECK_EQ(back.tags[1].len, 0);
    CHECK(!str_absent(back.tags[1]));
}

TEST(a_task_with_nothing_to_say_is_no_bytes_and_comes_back_blank)
{
    SCOPED(buf_fini) struct buf run = BUF_INIT(RUN_MAX);
    struct task task, back;
    unpack_begin(&task);
    fill(&back);

    CHECK(pack_whole(&run, &task));
    CHECK_EQ(run.len, 0);
    unpack_begin(&back);
    CHECK(unpack(buf_view(&run), &back));

    check_same(&task, &back, ~0u);
}

TEST(an_empty_text_is_not_an_absent_one)
{
    SCOPED(buf_fini) struct buf run = BUF_INIT(RUN_MAX);
    struct task task, back;
    unpack_begin(&task);
    unpack_begin(&back);
    task.metadata = STR("");

    CHECK(pack_order(&run, &task));
    CHECK(unpack(buf_view(&run), &back));

    CHECK(!str_absent(back.metadata) && back.metadata.len == 0);
    CHECK(str_absent(back.payload));
}

TEST(where_a_task_stands_repeats_of_its_order_what_a_start_reads)
{
    SCOPED(buf_fini) struct buf run = BUF_INIT(RUN_MAX);
    struct task order, now, back;
    fill(&order);
    unpack_begin(&now);
    unpack_begin(&back);
    now.updated_ms = 5;

    CHECK(pack_standing(&run, &order, &now));
    CHECK(unpack(buf_view(&run), &back));

    check_same(&now, &back, PARTS_STANDING & ~PART_FRESH);
    CHECK_EQ(back.updated_ms, 5);
    CHECK(str_is(back.document, "document"));
    CHECK(id_eq(back.family, order.family));
    CHECK(str_absent(back.key));
}

TEST(where_a_task_stands_is_as_long_before_its_start_as_after)
{
    SCOPED(buf_fini) struct buf run = BUF_INIT(RUN_MAX);
    struct task queued, running, back;
    unpack_begin(&queued);
    queued.document = STR("d");
    queued.queued_ms = queued.updated_ms = INT64_C(1700000000000);
    running = queued;
    running.token = UINT64_MAX;
    running.worker = STR("a worker with a name");
    running.lease_ms = 30000;
    running.started_ms = running.lease_until_ms = INT64_C(1700000000000);

    CHECK(pack_standing(&run, &queued, &queued));
    size_t len = run.len;
    CHECK(pack_standing(&run, &queued, &running));
    CHECK_EQ(run.len, 2 * len);
    unpack_begin(&back);
    CHECK(unpack((struct str){run.ptr, len}, &back));
    check_same(&queued, &back, PARTS_STANDING);
    CHECK(unpack(str_from(buf_view(&run), len), &back));
    check_same(&running, &back, PARTS_STANDING);
}

TEST(a_run_that_was_cut_or_has_an_unknown_number_is_refused)
{
    SCOPED(buf_fini) struct buf run = BUF_INIT(RUN_MAX);
    struct task task, back;
    unpack_begin(&task);
    unpack_begin(&back);
    task.worker = STR("somebody");
    CHECK(pack_whole(&run, &task));

    for (size_t len = 1; len < run.len; len++) {
        CHECK(!unpack((struct str){run.ptr, len}, &back));
    }
    CHECK(!unpack(STR("\xfe"), &back));
    CHECK(!unpack(STR("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), &back));
}

TEST(a_run_too_long_for_its_room_is_not_written)
{
    SCOPED(buf_fini) struct buf run = BUF_INIT(64);
    struct task task;
    fill(&task);
    CHECK(!pack_whole(&run, &task));
    CHECK_EQ(run.len, 0);
}
