/* tests/english/test_english.c: what the tables of sentences do not say: limits, roles,
 * categories, who "it" is.
 *
 * SPDX-License-Identifier: MIT */
#include "english/edit.h"
#include "english/english.h"
#include "test.h"

#define NOW_MS 1803898800000 /* 2027-03-01T09:00:00Z, a Monday */

static struct english_read read_lead(struct str text, int64_t min_lead_ms, struct arena *arena)
{
    struct english_asked asked = {
        .text = text, .now_ms = NOW_MS, .zone = zone_utc(), .min_lead_ms = min_lead_ms};
    struct english_read read;
    english_read(&asked, arena, &read);
    return read;
}

static struct english_read read_text(const char *text, struct arena *arena)
{
    return read_lead(str_of(text), 0, arena);
}

TEST(a_text_over_the_limit_is_refused)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    char *text = arena_alloc(&arena, 10 * KIB);
    memset(text, 'a', 10 * KIB);
    memcpy(text, "tomorrow ", 9);
    struct english_read read = read_lead((struct str){text, 10 * KIB}, 0, &arena);
    CHECK_EQ(read.kind, ENGLISH_REFUSED);
    CHECK_STR(read.refusal.reason, "the text is too long");
    CHECK_EQ(read_lead((struct str){text, ENGLISH_TEXT_MAX}, 0, &arena).kind, ENGLISH_ONCE);
}

TEST(too_many_words_are_refused)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    char text[2 * ENGLISH_WORDS_MAX + 2];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = i % 2 ? ' ' : 'a';
    }
    CHECK_EQ(read_lead((struct str){text, sizeof text}, 0, &arena).kind, ENGLISH_REFUSED);
}

TEST(bytes_that_are_no_text_are_refused)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_EQ(read_lead(STR("tomorrow \xff\xfe"), 0, &arena).kind, ENGLISH_REFUSED);
    CHECK_EQ(read_lead(STR("tomorrow\0at 5pm"), 0, &arena).kind, ENGLISH_REFUSED);
    CHECK_EQ(read_lead(STR_NONE, 0, &arena).kind, ENGLISH_REFUSED);
}

TEST(other_languages_stay_in_the_title)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct english_read read = read_text("tomorrow at 5pm caf\xc3\xa9 mit J\xc3\xb6rg", &arena);
    CHECK_EQ(read.kind, ENGLISH_ONCE);
    CHECK_STR(read.title, "caf\xc3\xa9 mit J\xc3\xb6rg");
    CHECK_EQ(read_text("jeden Tag um neun", &arena).kind, ENGLISH_REFUSED);
}

TEST(marks_that_telephones_write_are_read)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct english_read read = read_text("say \xe2\x80\x9c"
                                         "at 5pm\xe2\x80\x9d at 9 o\xe2\x80\x99"
                                         "clock tomorrow",
                                         &arena);
    CHECK_EQ(read.kind, ENGLISH_ONCE);
    CHECK_STR(read.dtstart, "2027-03-02T09:00:00");
    CHECK_STR(read_text("Mon \xe2\x80\x93 Fri at 9am", &arena).rrule,
              "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0");
}

TEST(a_time_nearer_than_the_lead_is_refused)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_EQ(read_lead(STR("in 4 seconds"), 5 * SECOND_MS, &arena).kind, ENGLISH_REFUSED);
    CHECK_EQ(read_lead(STR("in 5 seconds"), 5 * SECOND_MS, &arena).kind, ENGLISH_ONCE);
    CHECK_EQ(read_lead(STR("every 2 seconds"), 5 * SECOND_MS, &arena).kind, ENGLISH_RECURRING);
}

TEST(a_long_task_has_a_short_title_and_its_whole_purpose)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    buf_c(&text, "every day at 9am");
    for (int i = 0; i < 40; i++) {
        buf_c(&text, " and water the ferns");
    }
    struct english_read read = read_lead(buf_view(&text), 0, &arena);
    CHECK_EQ(read.kind, ENGLISH_RECURRING);
    CHECK(read.title.len <= ENGLISH_TITLE_MAX && read.title.len > 80);
    CHECK(read.purpose.len > 700 && str_starts(read.purpose, read.title));
}

TEST(a_day_may_have_a_condition)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_STR(read_text("the 13th of every month if it is a Friday", &arena).rrule,
              "FREQ=MONTHLY;BYDAY=FR;BYHOUR=9;BYMINUTE=0;BYMONTHDAY=13");
    CHECK_STR(read_text("the last day of every month if it is a weekday", &arena).rrule,
              "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYMONTHDAY=-1");
    CHECK_STR(read_text("the last day of every month if it is a weekend", &arena).rrule,
              "FREQ=MONTHLY;BYDAY=SA,SU;BYHOUR=9;BYMINUTE=0;BYMONTHDAY=-1");
}

TEST(one_time_is_a_number_of_times_and_no_time_of_the_day)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_STR(read_text("every Monday at 09:00, 1 time", &arena).rrule,
              "FREQ=WEEKLY;COUNT=1;BYDAY=MO;BYHOUR=9;BYMINUTE=0");
}

TEST(an_end_may_have_a_time_behind_minutes_of_hours)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    const char *text =
        "every day at minutes 0 and 6 of hours 8 and 9, until 13 January 2029 at 10:00";
    CHECK_STR(read_text(text, &arena).rrule,
              "FREQ=DAILY;UNTIL=20290113T100000Z;BYHOUR=8,9;BYMINUTE=0,6");
}

TEST(all_seven_weekdays_are_every_day)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_STR(read_text("every mon-fri, sat and sun at 9am", &arena).rrule,
              "FREQ=DAILY;BYHOUR=9;BYMINUTE=0");
}

TEST(each_word_is_told_apart)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    static const enum english_role roles[] = {
        ENGLISH_POLITE, ENGLISH_TASK,  ENGLISH_TASK,  ENGLISH_OFTEN, ENGLISH_OFTEN, ENGLISH_TIME,
        ENGLISH_TIME,   ENGLISH_START, ENGLISH_START, ENGLISH_END,   ENGLISH_END};
    struct english_read read =
        read_text("please call mom every Friday at 5pm starting tomorrow until December", &arena);
    CHECK_EQ(read.words_count, ARRAY_LEN(roles));
    for (size_t i = 0; i < read.words_count; i++) {
        CHECK_EQ(read.words[i].role, roles[i]);
    }
}

TEST(what_is_asked_for_has_a_category)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_EQ(read_text("remind me tomorrow to read the report", &arena).category, ENGLISH_REMINDER);
    CHECK_EQ(read_text("send me a summary of my inbox every day", &arena).category, ENGLISH_REPORT);
    CHECK_EQ(read_text("compare prices every Monday", &arena).category, ENGLISH_ANALYSIS);
    CHECK_EQ(read_text("run the cleanup script every night", &arena).category, ENGLISH_OTHERS);
}

TEST(a_named_zone_must_be_the_one_given)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_EQ(read_text("every day at 9am UTC", &arena).kind, ENGLISH_RECURRING);
    struct english_read read = read_text("every day at 9am, Europe/Paris", &arena);
    CHECK_EQ(read.kind, ENGLISH_REFUSED);
    CHECK_STR(str_of(read.refusal.fields[0]), "timezone");
}

TEST(a_city_behind_a_time_is_a_zone_and_elsewhere_a_part_of_the_task)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct english_read read = read_text("tomorrow 9am in Tokyo call the office", &arena);
    CHECK_EQ(read.kind, ENGLISH_REFUSED); /* the zone given is another */
    CHECK_STR(str_of(read.refusal.fields[0]), "timezone");
    CHECK_EQ(read_text("tomorrow 9am in tokyo call", &arena).kind, ENGLISH_REFUSED);
    read = read_text("call the office in Tokyo tomorrow 9am", &arena);
    CHECK_EQ(read.kind, ENGLISH_ONCE);
    CHECK_STR(read.title, "call the office in Tokyo");
}

TEST(hours_are_written_as_soldiers_do)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_STR(read_text("1730hrs gym daily", &arena).rrule, "FREQ=DAILY;BYHOUR=17;BYMINUTE=30");
    CHECK_STR(read_text("gym daily 0900h", &arena).rrule, "FREQ=DAILY;BYHOUR=9;BYMINUTE=0");
    CHECK_EQ(read_text("2575hrs gym daily", &arena).kind, ENGLISH_REFUSED);
}

TEST(a_number_behind_a_list_of_days_is_no_part_of_the_task)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_EQ(read_text("mon/wed/fri: 7 swim", &arena).kind, ENGLISH_REFUSED);
    CHECK_STR(read_text("mon/wed/fri: 7am swim", &arena).title, "swim");
}

/* ---- Edits ---- */

static struct edit_read edit(const char *text, size_t count, const char *chat, struct arena *arena)
{
    const struct edit_schedule all[] = {
        {STR("call mom"), NULL, NOW_MS + DAY_MS, STR("c1"), false},
        {STR("call dad"), NULL, NOW_MS + 2 * DAY_MS, STR("c2"), false},
        {STR("pay rent"), NULL, NOW_MS + 3 * DAY_MS, STR("c2"), false},
    };
    struct edit_asked asked = {.text = str_of(text),
                               .now_ms = NOW_MS,
                               .zone = zone_utc(),
                               .schedules = all,
                               .count = count,
                               .chat_id = str_of(chat)};
    struct edit_read read;
    english_edit(&asked, arena, &read);
    return read;
}

TEST(it_is_the_only_schedule_or_the_only_one_of_the_chat)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_EQ(edit("move it to 5pm", 1, NULL, &arena).op, EDIT_RESCHEDULE);
    CHECK_EQ(edit("move it to 5pm", 3, NULL, &arena).op, EDIT_REFUSED);
    struct edit_read read = edit("cancel it", 3, "c1", &arena);
    CHECK_EQ(read.op, EDIT_CANCEL);
    CHECK_EQ(read.changes[0].which, 0);
    CHECK_EQ(edit("cancel it", 3, "c2", &arena).op, EDIT_REFUSED);
}

TEST(several_that_fit_are_given_as_candidates)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct edit_read read = edit("cancel the call", 3, NULL, &arena);
    CHECK_EQ(read.op, EDIT_REFUSED);
    CHECK_EQ(read.candidates_count, 2);
    CHECK_EQ(read.candidates[1], 1);
    CHECK_EQ(edit("cancel the call with dad", 3, NULL, &arena).changes[0].which, 1);
}

TEST(a_new_order_is_no_edit)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_EQ(edit("every Monday at 9am water the plants", 3, NULL, &arena).op, EDIT_NONE);
    CHECK_EQ(edit("", 3, NULL, &arena).op, EDIT_NONE);
    CHECK_EQ(edit("move the piano to 5pm", 3, NULL, &arena).op, EDIT_REFUSED);
}
