/* tests/schedule/test_schedule.c: a schedule and an execution survive being kept.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/schedule.h"

#include "schedule/execution.h"
#include "test.h"

#define TEXT "a \"quoted\" text, \xc3\xa9\n"

/* clang-format off */
static struct schedule full_schedule(struct str text, struct str *dates)
{
    return (struct schedule){
        .id = {7, 9}, .title = text, .description = text, .purpose = text, .one_time = true,
        .rrule = text, .dtstart = text, .exdates = {dates, 2}, .rdates = {dates, 1},
        .timezone = text, .status = SCHEDULE_PAUSED, .paused_reason = text, .resume_ms = 500, .next_ms = 1000,
        .last_ms = 2000, .wake_ms = 3000, .category = SCHEDULE_REPORT, .type = text,
        .payload = STR("{ \"a\":1.0 }"), .queue = text, .priority = TASK_HIGH, .document = text,
        .max_retries = 5, .timeout_ms = 6, .overlap = OVERLAP_CANCEL, .misfire = MISFIRE_ALL,
        .gap = 1, .fold = 2, .jitter_ms = 9, .delivery = 5, .delivery_title = text,
        .deliver_to = STR("{\"EMAIL\":\"a@b\"}"), .query_cost = 1.5, .user = text, .chat = text,
        .message = text, .messages = STR("[1, 2]"), .created_ms = 4000, .updated_ms = 5000,
        .open_start = true, .cursor_ms = 6000, .last_run = {1, 2}, .zone_version = INT64_MIN, .version = 3,
    };
}
/* clang-format on */

TEST(every_field_of_a_schedule_survives_being_kept)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct str text = STR(TEXT), dates[] = {STR("2027-03-01T09:00:00"), STR("b")};
    struct schedule back, schedule = full_schedule(text, dates);
    struct record record = schedule_record(&schedule, &arena);
    CHECK_OK(schedule_load(&record, &arena, &back, &err));
    struct record again = schedule_record(&back, &arena);
    CHECK(str_eq(record.body, again.body));
    CHECK_EQ(back.exdates.count, 2);
    CHECK_STR(back.exdates.at[1], "b");
    CHECK_STR(back.title, TEXT);
    CHECK_STR(back.payload, "{ \"a\":1.0 }");
    CHECK_EQ(back.zone_version, INT64_MIN);
    CHECK(id_eq(back.last_run, schedule.last_run));
    CHECK_EQ(back.version, 3);
    CHECK_EQ(record.mark, schedule_mark(SCHEDULE_PAUSED, SCHEDULE_REPORT));
    struct json json;
    struct str key;
    size_t members = 0;
    json_start(&json, record.body, &arena);
    CHECK(json_enter_object(&json, NULL));
    while (json_member(&json, &key, NULL)) {
        members++;
    }
    CHECK_EQ(members, schedule_form.count); /* the one above has them all */
}

TEST(every_field_of_an_execution_survives_being_kept)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct str text = STR(TEXT);
    struct execution back, execution = {
                               .id = {1, 1},
                               .schedule = {2, 2},
                               .key = STR("k"),
                               .task = {1, 1},
                               .scheduled_ms = 1000,
                               .created_ms = 2000,
                               .started_ms = 3000,
                               .finished_ms = 4000,
                               .status = EXECUTION_SKIPPED,
                               .count = 4,
                               .content = text,
                               .chat = text,
                               .message = text,
                               .user = text,
                               .queries = 1,
                               .tokens = 2,
                               .progress = STR("[]"),
                               .delivered = true,
                               .deliveries = STR("{}"),
                               .decides = true,
                               .expires_ms = 5000,
                               .version = 2,
                           };
    struct record record = execution_record(&execution, &arena);
    CHECK_OK(execution_load(&record, &arena, &back, &err));
    struct record again = execution_record(&back, &arena);
    CHECK(str_eq(record.body, again.body));
    CHECK(str_eq(record.key, again.key));
    CHECK_EQ(again.due_ms, 5000);
    CHECK_EQ(again.mark, EXECUTION_SKIPPED);
    CHECK(id_eq(again.parent, execution.schedule));
}

TEST(what_a_newer_version_wrote_is_passed_over)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct schedule back;
    struct record record = {.body = STR("{\"title\":\"t\",\"colour\":{\"a\":[1]},\"jitterMs\":5}")};
    CHECK_OK(schedule_load(&record, &arena, &back, &err));
    CHECK_STR(back.title, "t");
    CHECK_EQ(back.jitter_ms, 5);
}

TEST(a_result_is_told_as_text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK(str_absent(execution_content(STR_NONE, &arena)));
    CHECK(str_absent(execution_content(STR("null"), &arena)));
    CHECK_STR(execution_content(STR("\"a\\nb\""), &arena), "a\nb");
    CHECK_STR(execution_content(STR("{\"a\":1}"), &arena), "{\"a\":1}");
    struct str with_nul = execution_content(STR("\"a\\u0000b\""), &arena);
    CHECK_STR(with_nul, "a b");
}

TEST(steps_are_bounded)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct execution execution = EXECUTION_INIT;
    for (int i = 0; i < EXECUTION_STEPS_MAX + 5; i++) {
        execution_step(&execution, 1000 + i, i, STR("m"), &arena);
    }
    struct json json;
    size_t count = 0;
    json_start(&json, execution.progress, &arena);
    CHECK(json_enter_array(&json, NULL));
    while (json_item(&json, NULL)) {
        count++;
    }
    CHECK_EQ(count, EXECUTION_STEPS_MAX);
    CHECK(memmem(execution.progress.ptr, execution.progress.len, "\"percent\":4,", 12) == NULL);
}

TEST(marks_select_by_status_and_category)
{
    CHECK_EQ(schedule_marks(0, 0), 0);
    uint32_t active = schedule_marks(1u << SCHEDULE_ACTIVE, 0);
    CHECK_EQ(__builtin_popcount(active), SCHEDULE_CATEGORIES);
    CHECK(active >> schedule_mark(SCHEDULE_ACTIVE, SCHEDULE_OTHERS) & 1);
    CHECK_EQ(schedule_marks(1u << SCHEDULE_FAILED, 1u << SCHEDULE_REPORT),
             UINT32_C(1) << schedule_mark(SCHEDULE_FAILED, SCHEDULE_REPORT));
}
