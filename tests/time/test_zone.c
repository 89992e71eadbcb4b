/* tests/time/test_zone.c: gaps, folds and far years, in places that are known for theirs.
 *
 * SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "test.h"
#include "time/wall.h"
#include "time/zone.h"
#include "wire/time.h"

static const struct zone *get(const char *name)
{
    struct zones *zones = zones_new(ZONES);
    struct err err = ERR_INIT;
    const struct zone *zone = NULL;
    CHECK_OK(zones_get(zones, str_of(name), &zone, &err));
    zones_free(zones);
    return zone;
}

static int64_t utc(const char *text)
{
    struct err err = ERR_INIT;
    int64_t ms = 0;
    CHECK_OK(time_parse(str_of(text), &ms, &err));
    return ms / 1000;
}

static int64_t wall(const char *text)
{
    struct err err = ERR_INIT;
    int64_t s = 0;
    CHECK_OK(wall_parse(str_of(text), &s, &err));
    return s;
}

/* `second` NULL: the clock shows it once. */
static void check(const char *name, const char *shown, enum zone_kind kind, const char *first,
                  const char *second)
{
    SCOPED(zone_release_at) const struct zone *zone = get(name);
    struct zone_answer answer;
    zone_resolve(zone, wall(shown), &answer);
    CHECK_EQ(answer.kind, kind);
    CHECK_EQ(answer.first_s, utc(first));
    CHECK_EQ(answer.second_s, utc(second == NULL ? first : second));
    CHECK_EQ(answer.first_s + answer.offset_s, wall(shown));
}

TEST(most_times_are_shown_once)
{
    check("Europe/Berlin", "2027-01-15T09:00:00", ZONE_UNIQUE, "2027-01-15T08:00:00Z", NULL);
    check("Europe/Berlin", "2027-07-15T09:00:00", ZONE_UNIQUE, "2027-07-15T07:00:00Z", NULL);
    check("America/New_York", "2027-01-15T09:00:00", ZONE_UNIQUE, "2027-01-15T14:00:00Z", NULL);
    check("Asia/Kathmandu", "2027-01-15T09:00:00", ZONE_UNIQUE, "2027-01-15T03:15:00Z", NULL);
    check("UTC", "2027-01-15T09:00:00", ZONE_UNIQUE, "2027-01-15T09:00:00Z", NULL);
}

TEST(a_time_in_a_gap_has_the_offset_before_it_first)
{
    check("Europe/Berlin", "2027-03-28T02:30:00", ZONE_GAP, "2027-03-28T01:30:00Z",
          "2027-03-28T00:30:00Z");
    check("America/New_York", "2027-03-14T02:00:00", ZONE_GAP, "2027-03-14T07:00:00Z",
          "2027-03-14T06:00:00Z");
    check("Australia/Lord_Howe", "2027-10-03T02:15:00", ZONE_GAP, "2027-10-02T15:45:00Z",
          "2027-10-02T15:15:00Z");
}

TEST(a_gap_begins_and_ends_to_the_second)
{
    check("Europe/Berlin", "2027-03-28T01:59:59", ZONE_UNIQUE, "2027-03-28T00:59:59Z", NULL);
    check("Europe/Berlin", "2027-03-28T02:00:00", ZONE_GAP, "2027-03-28T01:00:00Z",
          "2027-03-28T00:00:00Z");
    check("Europe/Berlin", "2027-03-28T02:59:59", ZONE_GAP, "2027-03-28T01:59:59Z",
          "2027-03-28T00:59:59Z");
    check("Europe/Berlin", "2027-03-28T03:00:00", ZONE_UNIQUE, "2027-03-28T01:00:00Z", NULL);
}

TEST(a_time_in_a_fold_is_shown_twice)
{
    check("Europe/Berlin", "2027-10-31T02:30:00", ZONE_FOLD, "2027-10-31T00:30:00Z",
          "2027-10-31T01:30:00Z");
    check("America/New_York", "2027-11-07T01:30:00", ZONE_FOLD, "2027-11-07T05:30:00Z",
          "2027-11-07T06:30:00Z");
    check("Australia/Lord_Howe", "2027-04-04T01:45:00", ZONE_FOLD, "2027-04-03T14:45:00Z",
          "2027-04-03T15:15:00Z");
}

TEST(a_fold_begins_and_ends_to_the_second)
{
    check("Europe/Berlin", "2027-10-31T01:59:59", ZONE_UNIQUE, "2027-10-30T23:59:59Z", NULL);
    check("Europe/Berlin", "2027-10-31T02:00:00", ZONE_FOLD, "2027-10-31T00:00:00Z",
          "2027-10-31T01:00:00Z");
    check("Europe/Berlin", "2027-10-31T02:59:59", ZONE_FOLD, "2027-10-31T00:59:59Z",
          "2027-10-31T01:59:59Z");
    check("Europe/Berlin", "2027-10-31T03:00:00", ZONE_UNIQUE, "2027-10-31T02:00:00Z", NULL);
}

TEST(samoa_went_without_the_thirtieth_of_december_2011)
{
    check("Pacific/Apia", "2011-12-29T12:00:00", ZONE_UNIQUE, "2011-12-29T22:00:00Z", NULL);
    check("Pacific/Apia", "2011-12-30T12:00:00", ZONE_GAP, "2011-12-30T22:00:00Z",
          "2011-12-29T22:00:00Z");
    check("Pacific/Apia", "2011-12-31T12:00:00", ZONE_UNIQUE, "2011-12-30T22:00:00Z", NULL);
}

TEST(morocco_turns_back_for_ramadan)
{
    check("Africa/Casablanca", "2025-02-23T02:30:00", ZONE_FOLD, "2025-02-23T01:30:00Z",
          "2025-02-23T02:30:00Z");
    check("Africa/Casablanca", "2025-04-06T02:30:00", ZONE_GAP, "2025-04-06T02:30:00Z",
          "2025-04-06T01:30:00Z");
}

TEST(nepal_moved_by_a_quarter_of_an_hour_in_1986)
{
    check("Asia/Kathmandu", "1985-12-31T23:59:59", ZONE_UNIQUE, "1985-12-31T18:29:59Z", NULL);
    check("Asia/Kathmandu", "1986-01-01T00:10:00", ZONE_GAP, "1985-12-31T18:40:00Z",
          "1985-12-31T18:25:00Z");
    check("Asia/Kathmandu", "1986-01-01T00:15:00", ZONE_UNIQUE, "1985-12-31T18:30:00Z", NULL);
}

TEST(years_past_the_table_follow_the_footer)
{
    check("Europe/Berlin", "2150-07-15T09:00:00", ZONE_UNIQUE, "2150-07-15T07:00:00Z", NULL);
    check("Europe/Berlin", "9876-01-15T09:00:00", ZONE_UNIQUE, "9876-01-15T08:00:00Z", NULL);
    /* Four hundred years after 28 March 2027 it is the same Sunday again. */
    check("Europe/Berlin", "2427-03-28T02:30:00", ZONE_GAP, "2427-03-28T01:30:00Z",
          "2427-03-28T00:30:00Z");
    check("Europe/Berlin", "9627-10-31T02:30:00", ZONE_FOLD, "9627-10-31T00:30:00Z",
          "9627-10-31T01:30:00Z");
    check("Australia/Lord_Howe", "2827-04-04T01:45:00", ZONE_FOLD, "2827-04-03T14:45:00Z",
          "2827-04-03T15:15:00Z");
}

TEST(years_before_the_table_have_the_mean_time_of_the_place)
{
    check("Europe/Berlin", "1800-01-01T00:53:28", ZONE_UNIQUE, "1800-01-01T00:00:00Z", NULL);
    check("Europe/Berlin", "0001-01-02T00:53:28", ZONE_UNIQUE, "0001-01-02T00:00:00Z", NULL);
}

/* The stretches of a zone, walked from one to the next, leave nothing out, and every turn of the
 * clock is a gap or a fold on the wall. */
static void check_turns(const char *name, size_t at_least)
{
    SCOPED(zone_release_at) const struct zone *zone = get(name);
    struct zone_span span, next;
    size_t turns = 0;
    zone_span_at(zone, utc("0001-01-01T00:00:00Z"), &span);
    for (; span.to_s < utc("9999-01-01T00:00:00Z"); span = next, turns++) {
        struct zone_answer answer;
        zone_span_at(zone, span.to_s, &next);
        CHECK_EQ(next.from_s, span.to_s);
        CHECK_EQ(next.before_s, span.offset_s);
        CHECK_EQ(span.after_s, next.offset_s);
        zone_resolve(zone, span.to_s + MIN(span.offset_s, next.offset_s), &answer);
        CHECK_EQ(answer.kind, next.offset_s > span.offset_s ? ZONE_GAP : ZONE_FOLD);
    }
    CHECK(turns >= at_least);
}

TEST(every_turn_of_the_clock_in_ten_thousand_years_is_a_gap_or_a_fold)
{
    check_turns("Europe/Berlin", 15000);
    check_turns("America/New_York", 15000);
    check_turns("Australia/Lord_Howe", 15000);
    check_turns("Africa/Casablanca", 100);
    check_turns("Asia/Kathmandu", 2);
}
