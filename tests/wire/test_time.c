/* tests/wire/test_time.c: the claims of wire/time.h.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"
#include "wire/time.h"

TEST(times_are_read_to_the_millisecond)
{
    static const struct {
        const char *text;
        int64_t want;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01T00:00:00.001Z", 1},
        {"1969-12-31T23:59:59.999Z", -1},
        {"2027-03-01T09:00:00Z", 1803891600000},
        {"2027-03-01t09:00:00z", 1803891600000},
        {"2027-03-01T09:00:00.1Z", 1803891600100},
        {"2027-03-01T09:00:00.12Z", 1803891600120},
        {"2027-03-01T09:00:00.1239999999999Z", 1803891600123},
        {"2027-03-01T10:00:00+01:00", 1803891600000},
        {"2027-02-28T22:30:00-10:30", 1803891600000},
        {"2027-03-01T09:00:00-00:00", 1803891600000},
        {"2024-02-29T00:00:00Z", 1709164800000},
        {"2000-02-29T00:00:00Z", 951782400000},
        {"0001-01-01T00:00:00Z", TIME_MIN_MS},
        {"9999-12-31T23:59:59.999Z", TIME_MAX_MS},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT;
        int64_t got;
        CHECK_OK(time_parse(str_of(cases[i].text), &got, &err));
        CHECK(got == cases[i].want);
    }
}

TEST(what_is_not_a_full_and_real_time_is_refused)
{
    static const char *const cases[] = {
        "",
        "2027",
        "2027-03-01",
        "2027-03-01T09:00:00",
        "2027-03-01T09:00Z",
        "2027-03-01 09:00:00Z",
        "2027-3-1T09:00:00Z",
        "2027-03-01T9:00:00Z",
        "2027-03-01T09:00:00.Z",
        "2027-03-01T09:00:00,5Z",
        "2027-03-01T09:00:00Zx",
        " 2027-03-01T09:00:00Z",
        "2027-03-01T09:00:00Z ",
        "2027-03-01T09:00:00+0100",
        "2027-03-01T09:00:00+01",
        "2027-03-01T09:00:00+24:00",
        "2027-03-01T09:00:00+01:60",
        "+2027-03-01T09:00:00Z",
        "12027-03-01T09:00:00Z",
        "2027-13-01T09:00:00Z",
        "2027-00-01T09:00:00Z",
        "2027-01-00T09:00:00Z",
        "2027-01-32T09:00:00Z",
        "2027-04-31T09:00:00Z",
        "2027-02-29T09:00:00Z",
        "1900-02-29T09:00:00Z",
        "2027-03-01T24:00:00Z",
        "2027-03-01T09:60:00Z",
        "2016-12-31T23:59:60Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "2027-03-01T09:00:00\xe2\x80\x8aZ",
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT;
        int64_t got = 7;
        CHECK(!time_parse(str_of(cases[i]), &got, &err));
        CHECK_EQ(err.kind, ERR_INVALID);
        CHECK_EQ(got, 7);
    }
}

static void check_time(int64_t ms, const char *want)
{
    char text[TIME_TEXT_LEN + 1];
    time_text(ms, text);
    CHECK_STR(str_of(text), want);
}

TEST(times_are_written_with_milliseconds_in_utc)
{
    check_time(0, "1970-01-01T00:00:00.000Z");
    check_time(-1, "1969-12-31T23:59:59.999Z");
    check_time(1803891600123, "2027-03-01T09:00:00.123Z");
    check_time(951782399999, "2000-02-28T23:59:59.999Z");
    check_time(TIME_MIN_MS, "0001-01-01T00:00:00.000Z");
    check_time(TIME_MAX_MS, "9999-12-31T23:59:59.999Z");
    check_time(INT64_MIN, "0001-01-01T00:00:00.000Z");
    check_time(INT64_MAX, "9999-12-31T23:59:59.999Z");
}

TEST(what_is_written_reads_back_for_every_day_of_ten_thousand_years)
{
    char text[TIME_TEXT_LEN + 1];
    int64_t step = DAY_MS + 3723004, back, days = 0;
    for (int64_t ms = TIME_MIN_MS; ms <= TIME_MAX_MS; ms += step, days++) {
        time_text(ms, text);
        if (!time_parse(str_of(text), &back, NULL) || back != ms) {
            print_error("%s\n", text);
            fail();
        }
    }
    CHECK(days > 3000000);
}

TEST(the_calendar_goes_both_ways)
{
    int64_t year;
    unsigned month, day;
    for (int64_t days = -800000; days < 3000000; days += 1) {
        time_date_of(days, &year, &month, &day);
        if (time_days_of(year, month, day) != days || day > time_month_days(year, month)) {
            fail();
        }
    }
    CHECK_EQ(time_days_of(1970, 1, 1), 0);
    CHECK_EQ(time_days_of(2000, 3, 1), 11017);
}

TEST(http_dates_go_both_ways)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    struct err err = ERR_INIT;
    int64_t ms;
    CHECK_OK(time_parse_http(STR("Sun, 06 Nov 1994 08:49:37 GMT"), &ms, &err));
    CHECK(ms == 784111777000);
    time_write_http(&buf, ms + 999);
    CHECK_STR(buf_view(&buf), "Sun, 06 Nov 1994 08:49:37 GMT");
    buf_clear(&buf);
    time_write_http(&buf, -DAY_MS);
    CHECK_STR(buf_view(&buf), "Wed, 31 Dec 1969 00:00:00 GMT");
}

TEST(other_http_dates_are_refused)
{
    static const char *const cases[] = {
        "",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "Mon, 06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:60 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t ms;
        CHECK(!time_parse_http(str_of(cases[i]), &ms, NULL));
    }
}

TEST(durations_are_read_as_people_write_them)
{
    static const struct {
        const char *text;
        int64_t want;
    } cases[] = {
        {"0", 0},
        {"0s", 0},
        {"30", 30000},
        {"500ms", 500},
        {"30s", 30000},
        {"10m", 600000},
        {"1h30m", 5400000},
        {"1h 30m", 5400000},
        {"2d", 172800000},
        {"1w", 604800000},
        {"1w1d1h1m1s1ms", 694861001},
        {"90m", 5400000},
        {"9223372036854775807ms", INT64_MAX},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT;
        int64_t got;
        CHECK_OK(duration_parse(str_of(cases[i].text), &got, &err));
        CHECK(got == cases[i].want);
    }
}

TEST(other_durations_are_refused)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", "like"},
        {" ", "like"},
        {"s", "like"},
        {"-1s", "like"},
        {"+1s", "like"},
        {"1.5h", "like"},
        {"1 s", "like"},
        {"1x", "like"},
        {"1S", "like"},
        {"10min", "like"},
        {"1m1h", "like"},
        {"1m1m", "like"},
        {"1s ", "like"},
        {"1h  1m", "like"},
        {"1h5", "like"},
        {" 1s", "like"},
        {"1e3", "like"},
        {"9223372036854775808ms", "too long"},
        {"9223372036854776s", "too long"},
        {"99999999999999999999d", "too long"},
        {"9223372036854776", "too long"},
        {"106751991167d8h", "too long"},
        {"99999999999999999999", "too long"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT;
        int64_t got;
        bool refused = !duration_parse(str_of(cases[i].text), &got, &err) &&
                       strstr(err.text, cases[i].want) != NULL;
        if (!refused) {
            print_error("<%s>: %s\n", cases[i].text, err.text);
        }
        CHECK(refused);
    }
}

TEST(durations_are_written_for_people_and_read_back)
{
    static const struct {
        int64_t ms;
        const char *want;
    } cases[] = {
        {0, "0s"},
        {500, "500ms"},
        {5400000, "1h 30m"},
        {777600000, "9d"},
        {90061001, "1d 1h 1m 1s 1ms"},
        {INT64_MAX, "106751991167d 7h 12m 55s 807ms"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
        int64_t back;
        duration_write(&buf, cases[i].ms);
        CHECK_STR(buf_view(&buf), cases[i].want);
        CHECK(duration_parse(buf_view(&buf), &back, NULL));
        CHECK(back == cases[i].ms);
    }
}

TEST(a_negative_duration_is_written_with_a_sign)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    duration_write(&buf, -61000);
    CHECK_STR(buf_view(&buf), "-1m 1s");
}
