/* tests/time/test_recur.c: when things recur, in plain words. The corpus has the many cases.
 *
 * SPDX-License-Identifier: MIT */
#include "expand.h"
#include "test.h"
#include "time/recur_data.h"
#include "wire/time.h"

static void check(struct expand of, const char *want)
{
    SCOPED(buf_fini) struct buf got = BUF_INIT(MIB);
    struct zones *zones = zones_new(ZONES);
    expand_list(zones, &of, &got);
    zones_free(zones);
    CHECK_STR(buf_view(&got), want);
}

/* check(EXPAND("2027-03-27T02:30:00", "Europe/Berlin", "FREQ=DAILY", 3, .gap = …), "…") */
#define EXPAND(start_text, zone_text, rule_text, many, ...)                                        \
    ((struct expand){.start = STR(start_text),                                                     \
                     .zone = STR(zone_text),                                                       \
                     .rule = STR(rule_text),                                                       \
                     .n = (many),                                                                  \
                     ##__VA_ARGS__})

TEST(a_gap_shifts_that_day_only)
{
    check(EXPAND("2027-03-27T02:30:00", "Europe/Berlin", "FREQ=DAILY", 3),
          "2027-03-27T02:30:00+01:00,2027-03-28T03:30:00+02:00,2027-03-29T02:30:00+02:00");
    check(EXPAND("2027-10-02T02:15:00", "Australia/Lord_Howe", "FREQ=DAILY", 3),
          "2027-10-02T02:15:00+10:30,2027-10-03T02:45:00+11:00,2027-10-04T02:15:00+11:00");
}

/* As many as are found one by one. */
static void check_places(const char *text, int64_t total)
{
    struct rrule rule;
    struct err err = ERR_INIT;
    CHECK_OK(rrule_parse(str_of(text), &rule, &err));
    int64_t count = 0;
    for (int64_t rank = 0; rank <= total; rank++) {
        CHECK_EQ(places_count(&rule, total, rank), count);
        count += places_next(&rule, total, rank) == rank ? 1 : 0;
    }
}

TEST(places_of_a_set_are_counted_as_they_are_found)
{
    check_places("FREQ=DAILY;BYHOUR=1,2", 9);
    check_places("FREQ=DAILY;BYHOUR=1,2;BYSETPOS=1,-1", 1);
    check_places("FREQ=DAILY;BYHOUR=1,2;BYSETPOS=1,2,64,65,-1,-2,-64,-65", 66);
    check_places("FREQ=DAILY;BYHOUR=1,2;BYSETPOS=3,5,366,-3,-5,-366", 7);
    check_places("FREQ=DAILY;BYHOUR=1,2;BYSETPOS=3,5,366,-3,-5,-366", 1000);
}

TEST(a_gap_may_be_skipped)
{
    check(EXPAND("2027-03-27T02:30:00", "Europe/Berlin", "FREQ=DAILY", 2, .gap = RECUR_SKIP),
          "2027-03-27T02:30:00+01:00,2027-03-29T02:30:00+02:00");
    check(
        EXPAND("2027-03-27T02:30:00", "Europe/Berlin", "FREQ=DAILY;COUNT=2", 9, .gap = RECUR_SKIP),
        "2027-03-27T02:30:00+01:00,2027-03-29T02:30:00+02:00");
}

TEST(a_shifted_time_and_a_real_one_at_the_same_instant_are_one)
{
    check(EXPAND("2027-03-28T00:00:00", "Europe/Berlin", "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30", 5),
          "2027-03-28T03:00:00+02:00,2027-03-28T03:30:00+02:00,2027-03-29T02:00:00+02:00,"
          "2027-03-29T02:30:00+02:00,2027-03-29T03:00:00+02:00");
}

TEST(instants_are_counted_not_wall_times)
{
    check(EXPAND("2027-03-28T00:00:00", "Europe/Berlin", "FREQ=DAILY;COUNT=3;BYHOUR=2,3", 9),
          "2027-03-28T03:00:00+02:00,2027-03-29T02:00:00+02:00,2027-03-29T03:00:00+02:00");
}

TEST(a_shifted_time_may_come_after_a_later_one)
{
    check(EXPAND("2027-03-28T00:00:00", "Europe/Berlin",
                 "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=10,30;BYSETPOS=2,3", 3),
          "2027-03-28T03:10:00+02:00,2027-03-28T03:30:00+02:00,2027-03-29T02:30:00+02:00");
}

TEST(a_fold_is_the_first_the_last_or_both)
{
    check(EXPAND("2027-10-31T02:30:00", "Europe/Berlin", "FREQ=DAILY", 2),
          "2027-10-31T02:30:00+02:00,2027-11-01T02:30:00+01:00");
    check(EXPAND("2027-10-31T02:30:00", "Europe/Berlin", "FREQ=DAILY", 2, .fold = RECUR_LAST),
          "2027-10-31T02:30:00+01:00,2027-11-01T02:30:00+01:00");
    check(EXPAND("2027-10-31T00:00:00", "Europe/Berlin", "FREQ=DAILY;BYHOUR=2;BYMINUTE=0,30", 5,
                 .fold = RECUR_BOTH),
          "2027-10-31T02:00:00+02:00,2027-10-31T02:30:00+02:00,2027-10-31T02:00:00+01:00,"
          "2027-10-31T02:30:00+01:00,2027-11-01T02:00:00+01:00");
}

TEST(the_second_pass_of_a_fold_is_found_from_within_the_first)
{
    check(EXPAND("2027-10-01T02:30:00", "Europe/Berlin", "FREQ=DAILY", 1, .fold = RECUR_LAST,
                 .after = STR("2027-10-31T02:45:00")),
          "2027-10-31T02:30:00+01:00");
    check(EXPAND("2027-10-01T02:30:00", "Europe/Berlin", "FREQ=DAILY;UNTIL=20271031", 1,
                 .fold = RECUR_BOTH, .after = STR("2027-10-31T02:30:00")),
          "2027-10-31T02:30:00+01:00");
}

TEST(the_day_that_samoa_skipped_lands_on_the_next_and_counts_once)
{
    check(EXPAND("2011-12-29T12:00:00", "Pacific/Apia", "FREQ=DAILY", 3),
          "2011-12-29T12:00:00-10:00,2011-12-31T12:00:00+14:00,2012-01-01T12:00:00+14:00");
}

TEST(hours_are_real_hours)
{
    check(EXPAND("2027-10-31T01:00:00", "Europe/Berlin", "FREQ=HOURLY", 4),
          "2027-10-31T01:00:00+02:00,2027-10-31T02:00:00+02:00,2027-10-31T02:00:00+01:00,"
          "2027-10-31T03:00:00+01:00");
    check(EXPAND("2027-04-04T01:00:00", "Australia/Lord_Howe", "FREQ=HOURLY", 3),
          "2027-04-04T01:00:00+11:00,2027-04-04T01:30:00+10:30,2027-04-04T02:30:00+10:30");
}

TEST(the_minutes_of_an_hour_are_those_on_the_wall)
{
    check(EXPAND("2027-04-04T01:00:00", "Australia/Lord_Howe", "FREQ=HOURLY;BYMINUTE=0,45", 5),
          "2027-04-04T01:00:00+11:00,2027-04-04T01:45:00+11:00,2027-04-04T01:45:00+10:30,"
          "2027-04-04T02:00:00+10:30,2027-04-04T02:45:00+10:30");
    check(EXPAND("2027-01-01T00:10:00", "Asia/Kathmandu", "FREQ=MINUTELY;INTERVAL=20;BYHOUR=9", 3),
          "2027-01-01T09:10:00+05:45,2027-01-01T09:30:00+05:45,2027-01-01T09:50:00+05:45");
}

TEST(elapsed_days_drift_on_the_wall)
{
    check(EXPAND("2025-02-22T09:00:00", "Africa/Casablanca", "FREQ=HOURLY;INTERVAL=24", 3),
          "2025-02-22T09:00:00+01:00,2025-02-23T08:00:00+00:00,2025-02-24T08:00:00+00:00");
    check(EXPAND("2025-02-22T09:00:00", "Africa/Casablanca", "FREQ=HOURLY;INTERVAL=24;BYHOUR=8", 2),
          "2025-02-23T08:00:00+00:00,2025-02-24T08:00:00+00:00");
}

TEST(a_start_that_does_not_match_is_no_occurrence)
{
    check(EXPAND("2027-03-03T09:00:00", "", "FREQ=WEEKLY;BYDAY=MO;COUNT=2", 5),
          "2027-03-08T09:00:00,2027-03-15T09:00:00");
}

TEST(without_a_rule_it_is_once)
{
    check(EXPAND("2027-03-28T02:30:00", "Europe/Berlin", "", 5), "2027-03-28T03:30:00+02:00");
    check(EXPAND("2027-10-31T02:30:00", "Europe/Berlin", "", 5, .fold = RECUR_BOTH),
          "2027-10-31T02:30:00+02:00,2027-10-31T02:30:00+01:00");
    check(EXPAND("2027-10-31T01:30:00Z", "Europe/Berlin", "", 5), "2027-10-31T02:30:00+01:00");
}

TEST(dates_are_left_out_and_added)
{
    check(EXPAND("2027-03-01T09:00:00", "", "FREQ=DAILY;COUNT=4", 9,
                 .exdates = STR("2027-03-02T09:00:00,2027-03-09T09:00:00"),
                 .rdates = STR("2027-02-01T10:00:00,2027-03-09T09:00:00,2027-03-03T09:00:00")),
          "2027-02-01T10:00:00,2027-03-01T09:00:00,2027-03-03T09:00:00,2027-03-04T09:00:00");
    check(EXPAND("2027-03-27T02:30:00", "Europe/Berlin", "FREQ=DAILY", 2,
                 .exdates = STR("2027-03-28T02:30:00")),
          "2027-03-27T02:30:00+01:00,2027-03-29T02:30:00+02:00");
    check(EXPAND("2027-03-27T09:00:00", "Europe/Berlin", "FREQ=DAILY", 1,
                 .exdates = STR("2027-03-27T08:00:00Z")),
          "2027-03-28T09:00:00+02:00");
}

TEST(an_end_is_included)
{
    check(EXPAND("2027-03-01T09:00:00", "Europe/Berlin", "FREQ=DAILY;UNTIL=20270303T080000Z", 9),
          "2027-03-01T09:00:00+01:00,2027-03-02T09:00:00+01:00,2027-03-03T09:00:00+01:00");
    check(EXPAND("2027-03-01T09:00:00", "Europe/Berlin", "FREQ=DAILY;UNTIL=20270302", 9),
          "2027-03-01T09:00:00+01:00,2027-03-02T09:00:00+01:00");
    check(EXPAND("2027-03-01T09:00:00", "Europe/Berlin", "FREQ=DAILY;UNTIL=20270302T085959", 9),
          "2027-03-01T09:00:00+01:00");
}

TEST(a_week_alone_is_on_the_weekday_of_the_start)
{
    check(EXPAND("2027-01-06T09:00:00", "", "FREQ=YEARLY;BYWEEKNO=20", 2),
          "2027-05-19T09:00:00,2028-05-17T09:00:00");
}

TEST(the_last_year_is_9999)
{
    check(EXPAND("9999-12-30T09:00:00", "Europe/Berlin", "FREQ=DAILY", 9),
          "9999-12-30T09:00:00+01:00,9999-12-31T09:00:00+01:00");
    check(EXPAND("2027-01-01T09:00:00", "", "FREQ=YEARLY;INTERVAL=2147483647", 9),
          "2027-01-01T09:00:00");
    check(EXPAND("0001-01-01T09:00:00", "", "FREQ=SECONDLY;INTERVAL=2147483647", 2),
          "0001-01-01T09:00:00,0069-01-19T12:14:07");
}

TEST(rules_that_never_match_say_so)
{
    static const char *const rules[] = {
        "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=31",
        "FREQ=HOURLY;INTERVAL=24;BYHOUR=5",
        "FREQ=MINUTELY;INTERVAL=60;BYMINUTE=31",
        "FREQ=SECONDLY;INTERVAL=7200;BYSECOND=1,2,3,5;BYMINUTE=0,1,2",
        "FREQ=DAILY;INTERVAL=7;BYDAY=MO",
        "FREQ=HOURLY;INTERVAL=168;BYDAY=MO;BYMONTH=1",
        "FREQ=WEEKLY;BYSETPOS=8;BYDAY=MO",
        "FREQ=MONTHLY;BYDAY=1MO;BYSETPOS=2",
        "FREQ=MONTHLY;BYDAY=6MO",
        "FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=HOURLY;BYMINUTE=1;BYSETPOS=2",
        "FREQ=DAILY;BYHOUR=1;BYSETPOS=-2",
        "FREQ=DAILY;UNTIL=20200101",
        "FREQ=SECONDLY;INTERVAL=7;BYHOUR=5;BYMINUTE=0;BYSECOND=0;BYDAY=WE;COUNT=5",
    };
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        SCOPED(recur_free_at) struct recur *r = NULL;
        struct expand of = {.start = STR("2025-01-01T09:00:30"), .rule = str_of(rules[i])};
        struct err err = ERR_INIT;
        int64_t ms;
        CHECK_OK(expand_new(NULL, &of, &r, &err));
        if (recur_first(r, &ms)) {
            fail_msg("%s: matches", rules[i]);
        }
    }
}

TEST(leap_days_that_are_mondays_are_found)
{
    check(EXPAND("2024-01-01T09:00:00", "", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", 3),
          "2044-02-29T09:00:00,2072-02-29T09:00:00,2112-02-29T09:00:00");
}

TEST(far_away_is_as_near_as_close_by)
{
    check(EXPAND("2000-01-01T00:00:00", "Europe/Berlin", "FREQ=MINUTELY;INTERVAL=7;BYHOUR=3", 1,
                 .after = STR("9000-07-01T00:00:00")),
          "9000-07-01T03:05:00+02:00");
    check(EXPAND("2000-01-01T00:00:00", "Europe/Berlin", "FREQ=DAILY;INTERVAL=3;BYHOUR=3", 1,
                 .after = STR("9000-07-01T00:00:00")),
          "9000-07-01T03:00:00+02:00");
}

static struct recur *make(const char *start, const char *zone, const char *rule)
{
    struct zones *zones = zones_new(ZONES);
    struct expand of = {.start = str_of(start), .zone = str_of(zone), .rule = str_of(rule)};
    struct err err = ERR_INIT;
    struct recur *r = NULL;
    CHECK_OK(expand_new(zones, &of, &r, &err));
    zones_free(zones);
    return r;
}

static int64_t ms_of(const char *text)
{
    int64_t ms = 0;
    CHECK(time_parse(str_of(text), &ms, NULL));
    return ms;
}

/* Each of these took seconds when it was searched for stretch by stretch of the zone. */
TEST(far_away_in_a_zone_with_two_offsets_is_as_near_as_well)
{
    struct str after = STR("2027-02-03T04:05:06");
    check(EXPAND("2025-01-01T09:30:00", "America/New_York",
                 "FREQ=SECONDLY;INTERVAL=2147483647;BYDAY=MO", 2, .after = after),
          "2093-01-19T12:44:07-05:00,2365-04-05T02:40:35-04:00");
    check(EXPAND("1995-05-14T06:56:18", "Australia/Lord_Howe",
                 "FREQ=HOURLY;INTERVAL=184701;BYMONTHDAY=29;BYMINUTE=5,28;BYDAY=TH", 2,
                 .after = after),
          "7157-08-29T15:05:18+10:30,7157-08-29T15:28:18+10:30");
}

TEST(what_only_the_other_offset_allows_never_is)
{
    check(EXPAND("2025-01-01T09:30:00", "Europe/Berlin",
                 "FREQ=SECONDLY;INTERVAL=2147483647;BYDAY=MO;BYHOUR=5", 1),
          "");
    check(EXPAND("2027-02-01T09:00:00", "Europe/Berlin",
                 "FREQ=HOURLY;INTERVAL=2;BYMONTH=6,8;BYHOUR=15", 1),
          "");
    check(EXPAND("2027-02-01T09:00:00", "Europe/Berlin",
                 "FREQ=HOURLY;INTERVAL=255;BYMONTH=12;BYHOUR=1,22", 1),
          "");
}

TEST(the_next_is_strictly_later)
{
    SCOPED(recur_free_at) struct recur *r = make("2027-03-01T09:00:00", "", "FREQ=DAILY");
    int64_t ms;
    CHECK(recur_next(r, ms_of("2027-03-01T09:00:00Z"), &ms));
    CHECK_EQ(ms, ms_of("2027-03-02T09:00:00Z"));
    CHECK(recur_next(r, ms_of("2027-03-01T08:59:59.999Z"), &ms));
    CHECK_EQ(ms, ms_of("2027-03-01T09:00:00Z"));
    CHECK(recur_next(r, ms_of("2027-03-01T09:00:00.001Z"), &ms));
    CHECK_EQ(ms, ms_of("2027-03-02T09:00:00Z"));
    CHECK(!recur_next(r, INT64_MAX, &ms));
}

TEST(what_was_missed_is_counted_without_walking)
{
    SCOPED(recur_free_at)
    struct recur *r = make("2000-01-01T00:00:00", "Europe/Berlin", "FREQ=MINUTELY");
    int64_t from = ms_of("2020-01-01T00:00:00Z"), to = ms_of("2030-01-01T00:00:30Z"), last;
    CHECK_EQ(recur_count(r, from, to), (to - from) / 60000);
    CHECK(recur_last(r, from, to, &last));
    CHECK_EQ(last, ms_of("2030-01-01T00:00:00Z"));
    CHECK(!recur_last(r, to, to + 1000, &last));
    CHECK_EQ(recur_count(r, to, from), 0);
}

/* A huge COUNT is found where walking finds it. */
static void check_count_out(const char *rule, const char *counted, uint32_t count)
{
    SCOPED(recur_free_at) struct recur *r = make("2024-01-31T02:30:00", "Europe/Berlin", rule);
    SCOPED(recur_free_at) struct recur *c = make("2024-01-31T02:30:00", "Europe/Berlin", counted);
    int64_t at = INT64_MIN, last = 0;
    for (uint32_t i = 0; i < count; i++) {
        CHECK(recur_next(r, at, &at));
    }
    CHECK(recur_last(c, INT64_MIN, INT64_MAX, &last));
    CHECK_EQ(last, at);
    CHECK_EQ(recur_count(c, INT64_MIN, INT64_MAX), count);
}

TEST(a_count_ends_where_walking_ends)
{
    check_count_out("FREQ=DAILY;BYHOUR=2,3", "FREQ=DAILY;BYHOUR=2,3;COUNT=3000", 3000);
    check_count_out("FREQ=DAILY;INTERVAL=3", "FREQ=DAILY;INTERVAL=3;COUNT=500", 500);
    check_count_out("FREQ=MONTHLY;BYMONTHDAY=31", "FREQ=MONTHLY;BYMONTHDAY=31;COUNT=300", 300);
    check_count_out("FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=1,-1",
                    "FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=1,-1;COUNT=300", 300);
    check_count_out("FREQ=HOURLY;INTERVAL=5;BYMINUTE=0,20;BYDAY=SU",
                    "FREQ=HOURLY;INTERVAL=5;BYMINUTE=0,20;BYDAY=SU;COUNT=3000", 3000);
    check_count_out("FREQ=SECONDLY;INTERVAL=7;BYHOUR=9",
                    "FREQ=SECONDLY;INTERVAL=7;BYHOUR=9;COUNT=3000", 3000);
    check_count_out("FREQ=MINUTELY;INTERVAL=15;BYHOUR=1,2,3",
                    "FREQ=MINUTELY;INTERVAL=15;BYHOUR=1,2,3;COUNT=4000", 4000);
}

TEST(a_count_of_billions_is_no_trouble)
{
    SCOPED(recur_free_at)
    struct recur *r = make("2024-01-31T02:30:00", "UTC", "FREQ=SECONDLY;COUNT=2000000000");
    int64_t last = 0;
    CHECK(recur_last(r, INT64_MIN, INT64_MAX, &last));
    CHECK_EQ(last, ms_of("2024-01-31T02:30:00Z") + 1999999999 * SECOND_MS);
}

TEST(a_count_that_cannot_be_counted_is_refused)
{
    struct expand of = {.start = STR("2024-01-31T02:30:00"),
                        .rule = STR("FREQ=SECONDLY;INTERVAL=7;BYHOUR=9;COUNT=2000000000")};
    struct err err = ERR_INIT;
    struct recur *r;
    CHECK(!expand_new(NULL, &of, &r, &err));
    CHECK(strstr(err.text, "COUNT=2000000000 takes too long") != NULL);
}

TEST(too_many_dates_are_refused)
{
    struct recur_order order = {.exdates_count = RECUR_DATES_MAX + 1};
    struct err err = ERR_INIT;
    struct recur *r;
    CHECK(!recur_new(&order, &r, &err));
    CHECK_EQ(err.kind, ERR_INVALID);
}
