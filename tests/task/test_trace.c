/* tests/task/test_trace.c: which trace an attempt belongs to.
 *
 * SPDX-License-Identifier: MIT */
#include "task/trace.h"
#include "test.h"

#define TRACE  "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

static struct task_trace trace_of(uint64_t id, int32_t attempt, const char *metadata, bool recorded,
                                  struct arena *arena)
{
    const struct task task = {.id = {id, 7}, .attempt = attempt};
    struct task_trace trace;
    task_trace(&task, metadata == NULL ? STR_NONE : str_of(metadata), recorded, arena, &trace);
    CHECK(trace_is_parent(str_of(trace.parent)));
    return trace;
}

TEST(a_trace_goes_on_with_a_new_parent_for_each_attempt)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    const char *metadata =
        "{\"x\":1,\"traceparent\":\"00-" TRACE "-" PARENT "-01\",\"tracestate\":\"a=b\"}";
    struct task_trace one = trace_of(1, 1, metadata, false, &arena);
    struct task_trace two = trace_of(1, 2, metadata, false, &arena);
    CHECK_STR(trace_id(one.parent), TRACE);
    CHECK(strstr(one.parent, PARENT) == NULL);
    CHECK_STR(str_of(one.parent + 52), "-01");
    CHECK(strcmp(one.parent, two.parent) != 0);
    CHECK_STR(one.from, "00-" TRACE "-" PARENT "-01");
    CHECK_STR(one.state, "a=b");
    CHECK(one.sampled);
}

TEST(an_attempt_is_called_the_same_by_whoever_asks)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct task_trace here = trace_of(5, 3, NULL, true, &arena);
    struct task_trace there = trace_of(5, 3, "{}", true, &arena);
    CHECK_STR(str_of(here.parent), there.parent);
    struct task_trace next = trace_of(5, 4, NULL, true, &arena);
    struct task_trace other = trace_of(6, 3, NULL, true, &arena);
    CHECK(str_eq(trace_id(here.parent), trace_id(next.parent)));
    CHECK(!str_eq(trace_span(here.parent), trace_span(next.parent)));
    CHECK(!str_eq(trace_id(here.parent), trace_id(other.parent)));
    CHECK(!str_eq(trace_span(here.parent), trace_span(other.parent)));
}

TEST(without_a_valid_parent_a_trace_begins)
{
    static const char *const none[] = {
        NULL,
        "{}",
        "[1]",
        "{\"traceparent\":1}",
        "{\"traceparent\":\"00-" TRACE "-" PARENT "\",\"tracestate\":\"a=b\"}",
        "{\"traceparent\":\"00-" TRACE "-" PARENT "-01-x\"}",
        "{\"traceparent\":\"ff-" TRACE "-" PARENT "-01\"}",
        "{\"traceparent\":\"00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01\"}",
        "{\"traceparent\":\"00-00000000000000000000000000000000-" PARENT "-01\"}",
        "{\"traceparent\":\"00-" TRACE "-0000000000000000-01\"}",
    };
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        struct task_trace trace = trace_of(1, 1, none[i], false, &arena);
        CHECK(strstr(trace.parent, TRACE) == NULL);
        CHECK_STR(str_of(trace.parent + 52), "-00");
        CHECK(str_absent(trace.state) && str_absent(trace.from) && !trace.sampled);
        CHECK_STR(str_of(trace_of(1, 1, none[i], true, &arena).parent + 52), "-01");
    }
}

TEST(whether_it_is_recorded_is_the_callers_to_say)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    static const struct {
        const char *flags;
        bool sampled;
    } rows[] = {{"00", false}, {"01", true}, {"02", false},
                {"03", true},  {"ff", true}, {"fe", false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str metadata =
            arena_printf(&arena, "{\"traceparent\":\"00-" TRACE "-" PARENT "-%s\"}", rows[i].flags);
        struct task_trace trace = trace_of(1, 1, metadata.ptr, true, &arena);
        CHECK_EQ(trace.sampled, rows[i].sampled);
        CHECK_STR(str_of(trace.parent + 53), rows[i].flags);
    }
}

TEST(a_later_version_of_the_header_is_read_as_far_as_it_is_known)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct task_trace trace =
        trace_of(1, 1, "{\"traceparent\":\"01-" TRACE "-" PARENT "-01-more\"}", false, &arena);
    CHECK_STR(trace_id(trace.parent), TRACE);
}
