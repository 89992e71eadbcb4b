/* tests/net/test_filter_in.c: which tasks: queries of lists and bodies of bulk commands.
 *
 * SPDX-License-Identifier: MIT */
#include "net/filter_in.h"

#include "test.h"

#define ID "0192f3a0-0000-7000-8000-000000000001"

struct bench {
    struct arena arena;
    struct task_filter filter;
    struct bulk_in bulk;
    struct err err;
};

static void bench_fini(struct bench *b)
{
    arena_fini(&b->arena);
}

static bool list(struct bench *b, const char *query)
{
    b->filter = (struct task_filter){0};
    b->err = ERR_INIT;
    return form_query(str_of(query), &list_form, &b->arena, &b->filter, &b->err);
}

static bool bulk(struct bench *b, const char *body)
{
    struct json json;
    b->bulk = (struct bulk_in){.takes_reason = true};
    b->err = ERR_INIT;
    json_start(&json, str_of(body), &b->arena);
    return bulk_read(&json, &b->bulk, &b->err) && json_end(&json, &b->err);
}

TEST(every_filter_of_a_list_arrives)
{
    SCOPED(bench_fini) struct bench b = {0};

    CHECK(list(&b, "state=QUEUED,RUNNING&taskType=a%20b&queue=q&documentId=d%2F1&priority=HIGH"
                   "&parentId=" ID
                   "&tag=t&externalId=e&limit=500&cursor=0000000000000abc0000000000000001"
                   "&createdAfter=2027-03-01T09:00:00Z&createdBefore=2027-03-01T10:00:00%2B01:00"));
    CHECK_EQ(b.filter.states, 1u << TASK_QUEUED | 1u << TASK_RUNNING);
    CHECK_STR(b.filter.type, "a b");
    CHECK_STR(b.filter.document, "d/1");
    CHECK_EQ(b.filter.priority, TASK_HIGH);
    CHECK(!id_none(b.filter.parent));
    CHECK_STR(b.filter.tag, "t");
    CHECK_STR(b.filter.external_id, "e");
    CHECK_EQ(b.filter.limit, 500);
    CHECK(id_eq(b.filter.before, (struct task_id){0xabc, 1}));
    CHECK_EQ(b.filter.created_after_ms, INT64_C(1803891600000));
    CHECK_EQ(b.filter.created_before_ms, INT64_C(1803891600000));
}

TEST(the_other_names_of_states_and_priorities_are_known)
{
    SCOPED(bench_fini) struct bench b = {0};

    CHECK(list(&b, "state=PENDING,IN_PROGRESS&priority=4"));
    CHECK_EQ(b.filter.states, 1u << TASK_QUEUED | 1u << TASK_RUNNING);
    CHECK_EQ(b.filter.priority, TASK_CRITICAL);
}

TEST(a_plus_sign_that_became_a_blank_is_mended)
{
    SCOPED(bench_fini) struct bench b = {0};

    CHECK(list(&b, "createdBefore=2027-03-01T10:00:00+01:00"));
    CHECK_EQ(b.filter.created_before_ms, INT64_C(1803891600000));
}

TEST(a_cursor_comes_back_as_it_was_given)
{
    SCOPED(bench_fini) struct bench b = {0};
    char text[CURSOR_TEXT], query[64] = "cursor=";
    struct task_id last = {UINT64_C(0x0192f3a000007123), UINT64_C(0x8123456789abcdef)};
    strncat(query, cursor_text(last, text).ptr, CURSOR_TEXT);

    CHECK(list(&b, query));
    CHECK(id_eq(b.filter.before, last));
}

TEST(every_bad_query_is_refused_with_its_field)
{
    static const char *const bad[][2] = {
        {"state=DONE", "state"},
        {"state=QUEUED,", "state"},
        {"state=", "state"},
        {"priority=5", "priority"},
        {"limit=0", "limit"},
        {"limit=501", "limit"},
        {"limit=x", "limit"},
        {"cursor=x", "cursor"},
        {"cursor=0000000000000abc", "cursor"},
        {"cursor=000000000000zabc0000000000000001", "cursor"},
        {"parentId=7", "parentId"},
        {"teamId=7", "teamId"},
        {"scheduleId=7", "scheduleId"},
        {"createdAfter=now", "createdAfter"},
        {"foo=1", "foo"},
        {"queue=a&queue=b", "queue"},
        {"State=QUEUED", "State"},
    };
    SCOPED(bench_fini) struct bench b = {0};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK(!list(&b, bad[i][0]));
        CHECK_EQ(b.err.kind, ERR_INVALID);
        CHECK_STR(str_of(b.err.field), bad[i][1]);
    }
    CHECK(!list(&b, "queue=%zz"));
}

TEST(a_bulk_body_takes_the_names_of_the_list)
{
    SCOPED(bench_fini) struct bench b = {0};

    CHECK(bulk(&b, "{\"state\":\"QUEUED,RETRYING\",\"priority\":3,\"reason\":\"r\"}"));
    CHECK_EQ(b.bulk.filter.states, 1u << TASK_QUEUED | 1u << TASK_RETRYING);
    CHECK_EQ(b.bulk.filter.priority, TASK_HIGH);
    CHECK_STR(b.bulk.reason, "r");
    CHECK(bulk(&b, "{\"state\":[\"QUEUED\",\"RETRYING\"],\"tag\":\"t\"}"));
    CHECK_EQ(b.bulk.filter.states, 1u << TASK_QUEUED | 1u << TASK_RETRYING);
    CHECK_STR(b.bulk.filter.tag, "t");
}

TEST(a_bulk_body_that_selects_nothing_in_particular_is_refused)
{
    static const char *const bad[][2] = {
        {"{}", ""},
        {"{\"reason\":\"r\"}", ""},
        {"{\"state\":[]}", "state"},
        {"{\"state\":[1]}", "state"},
        {"{\"state\":\"x\"}", "state"},
        {"{\"queue\":\"\"}", "queue"},
        {"{\"queue\":null}", "queue"},
        {"{\"queue\":[\"a\"]}", "queue"},
        {"{\"limit\":5}", "limit"},
        {"{\"foo\":\"x\"}", "foo"},
        {"[]", ""},
    };
    SCOPED(bench_fini) struct bench b = {0};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK(!bulk(&b, bad[i][0]));
        CHECK_EQ(b.err.kind, ERR_INVALID);
        CHECK_STR(str_of(b.err.field), bad[i][1]);
    }
}
