/* tests/assist/test_assistant.c: what a model's answer is read as, and how changes are made.
 *
 * SPDX-License-Identifier: MIT */
#include "assist/assistant_parts.h"
#include "test.h"

#define NOW_MS INT64_C(1803891600000) /* 2027-03-01T09:00:00Z, a Monday */

struct table { /* what is being worked with */
    struct arena arena;
    struct zones *zones;
    struct schedule schedules[2];
    struct assistant_asked asked;
};

static void table_init(struct table *t, const char *text)
{
    *t = (struct table){.zones = zones_new(NULL)};
    for (size_t i = 0; i < 2; i++) {
        t->schedules[i] = schedule_blank();
        t->schedules[i].id = (struct task_id){1, i + 1};
        t->schedules[i].title = i == 0 ? STR("Daily report") : STR("Weekly review");
        t->schedules[i].rrule = i == 0 ? STR("FREQ=DAILY") : STR("FREQ=WEEKLY");
        t->schedules[i].dtstart = STR("2027-02-01T09:00:00");
        t->schedules[i].next_ms = NOW_MS + DAY_MS;
    }
    t->asked = (struct assistant_asked){.text = str_of(text),
                                        .now_ms = NOW_MS,
                                        .schedules = t->schedules,
                                        .count = 2,
                                        .zones = t->zones,
                                        .limits = {.horizon_ms = 400 * DAY_MS, 5000}};
}

static void table_fini(struct table *t)
{
    arena_fini(&t->arena);
    zones_free(t->zones);
}

static struct assistant_answer read(struct table *t, const char *json)
{
    struct assistant_answer answer;
    struct err err = ERR_INIT;
    CHECK_OK(assistant_answer_read(str_of(json), &t->arena, &answer, &err));
    return answer;
}

TEST(an_answer_may_leave_out_what_it_does_not_say)
{
    SCOPED(table_fini) struct table t;
    table_init(&t, "");
    struct assistant_answer answer = read(&t, "{\"mode\":\"TASK_CREATION\",\"title\":\" x \","
                                              "\"rrule\":\"\",\"isOneTime\":true,\"other\":[1]}");
    CHECK_STR(answer.title, "x");
    CHECK(str_absent(answer.rrule) && str_absent(answer.dtstart));
    CHECK_EQ(answer.one_time, 1);
    CHECK(!answer.refuses);
}

TEST(schedules_are_named_by_one_id_by_several_or_by_an_array)
{
    SCOPED(table_fini) struct table t;
    table_init(&t, "");
    CHECK_EQ(read(&t, "{\"scheduleId\":\"a\"}").ids_count, 1);
    CHECK_EQ(read(&t, "{\"scheduleId\":\"a, b,\"}").ids_count, 2);
    CHECK_EQ(read(&t, "{\"scheduleIds\":[\"a\",\"b\",\"c\"]}").ids_count, 3);
    CHECK_EQ(read(&t, "{\"scheduleId\":null}").ids_count, 0);
}

TEST(a_refusal_is_an_object_a_sentence_or_the_fact)
{
    SCOPED(table_fini) struct table t;
    table_init(&t, "");
    CHECK_STR(read(&t, "{\"refusal\":\"no time\"}").refusal.reason, "no time");
    CHECK(read(&t, "{\"refusal\":true}").refuses);
    CHECK(!read(&t, "{\"refusal\":false}").refuses);
    CHECK(!read(&t, "{\"refusal\":\"\"}").refuses);
    struct assistant_answer answer =
        read(&t, "{\"refusal\":{\"fields\":[\"dtstart\"],\"reason\":\"past\"}}");
    CHECK_EQ(answer.refusal.fields_count, 1);
    CHECK_STR(answer.refusal.reason, "past");
}

TEST(a_text_that_names_no_zone_is_meant_in_that_of_all_schedules)
{
    SCOPED(table_fini) struct table t;
    table_init(&t, "");
    t.schedules[0].timezone = t.schedules[1].timezone = STR("Europe/Paris");
    CHECK_STR(assistant_zone(&t.asked), "Europe/Paris");
    t.schedules[1].timezone = STR("Asia/Tokyo");
    CHECK_STR(assistant_zone(&t.asked), "UTC");
    t.asked.timezone = STR("America/Lima");
    CHECK_STR(assistant_zone(&t.asked), "America/Lima");
}

TEST(a_change_moves_only_what_it_mentions)
{
    SCOPED(table_fini) struct table t;
    struct assistant_said said;
    struct err err = ERR_INIT;
    bool retimed;
    table_init(&t, "move my daily report to 8am");
    assistant_read(&t.asked, &t.arena, &said);
    CHECK_EQ(said.mode, ASSISTANT_UPDATE);
    CHECK_EQ(said.edits_count, 1);
    CHECK_EQ(said.edits[0].which, 0);
    struct schedule schedule = t.schedules[0];
    CHECK_OK(schedule_change(&schedule, &said.edits[0].change, t.asked.zones, t.asked.now_ms,
                             &t.arena, &retimed, &err));
    CHECK(retimed);
    CHECK_STR(schedule.title, "Daily report");
    CHECK_STR(schedule.dtstart, "2027-03-02T08:00:00");
}

TEST(a_skipped_time_is_an_exception)
{
    SCOPED(table_fini) struct table t;
    struct assistant_said said;
    struct err err = ERR_INIT;
    bool retimed;
    table_init(&t, "skip the next daily report");
    assistant_read(&t.asked, &t.arena, &said);
    struct schedule schedule = t.schedules[0];
    CHECK_OK(schedule_change(&schedule, &said.edits[0].change, t.asked.zones, t.asked.now_ms,
                             &t.arena, &retimed, &err));
    CHECK_EQ(schedule.exdates.count, 1);
    CHECK_STR(schedule.exdates.at[0], "2027-03-02T09:00:00Z");
}

TEST(only_new_ones_are_made_where_only_those_are_asked_for)
{
    SCOPED(table_fini) struct table t;
    struct assistant_said said;
    table_init(&t, "pause my daily report");
    t.asked.only_new = true;
    assistant_read(&t.asked, &t.arena, &said);
    CHECK_EQ(said.mode, ASSISTANT_REFUSAL);
}
