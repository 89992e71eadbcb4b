/* tests/time/test_ical.c: calendars as text. What other software reads in them: calendar.py.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"
#include "time/ical.h"

#define NOW_MS INT64_C(1799971200000) /* 2027-01-15T00:00:00Z */

struct scribe {
    struct zones *zones;
    const struct zone *paris, *tokyo;
    struct rrule weekly;
    struct buf out;
};

static void scribe_init(struct scribe *d)
{
    struct err err = ERR_INIT;
    *d = (struct scribe){.zones = zones_new(NULL), .out = BUF_INIT(MIB)};
    CHECK_OK(zones_get(d->zones, STR("Europe/Paris"), &d->paris, &err));
    CHECK_OK(zones_get(d->zones, STR("Asia/Tokyo"), &d->tokyo, &err));
    CHECK_OK(rrule_parse(STR("FREQ=WEEKLY;BYDAY=MO"), &d->weekly, &err));
}

static void scribe_fini(struct scribe *d)
{
    zone_release(d->paris);
    zone_release(d->tokyo);
    zones_free(d->zones);
    buf_fini(&d->out);
}

/* Monday, 1 March 2027, 09:00 on the wall. */
static struct ical_event event_in(const struct zone *zone, const struct rrule *rule)
{
    struct err err = ERR_INIT;
    struct ical_event event = {.uid = STR("0192"), .when = {.zone = zone, .rule = rule}};
    CHECK_OK(when_parse(STR("2027-03-01T09:00:00"), &event.when.start, &err));
    return event;
}

static const char *write_all(struct scribe *d, const struct ical_event *events, size_t count)
{
    struct err err = ERR_INIT;
    buf_clear(&d->out);
    CHECK_OK(ical_write(&d->out, &(struct ical){.events = events, .count = count, .now_ms = NOW_MS},
                        &err));
    return buf_c_text(&d->out);
}

static size_t times_in(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++) {
        n++;
    }
    return n;
}

TEST(a_schedule_is_an_event_with_its_rule_and_its_zone)
{
    SCOPED(scribe_fini) struct scribe d;
    scribe_init(&d);
    struct ical_event event = event_in(d.paris, &d.weekly);
    event.title = STR("Report");
    event.description = STR("Write it");
    event.created_ms = NOW_MS - 2000;
    event.updated_ms = NOW_MS - 1000;
    CHECK_STR(str_of(write_all(&d, &event, 1)),
              "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Errand//Errand//EN\r\n"
              "CALSCALE:GREGORIAN\r\n"
              "BEGIN:VTIMEZONE\r\nTZID:Europe/Paris\r\n"
              "BEGIN:STANDARD\r\nDTSTART:20251026T030000\r\nTZOFFSETFROM:+0200\r\n"
              "TZOFFSETTO:+0100\r\nTZNAME:+01\r\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\r\n"
              "END:STANDARD\r\n"
              "BEGIN:DAYLIGHT\r\nDTSTART:20260329T020000\r\nTZOFFSETFROM:+0100\r\n"
              "TZOFFSETTO:+0200\r\nTZNAME:+02\r\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\r\n"
              "END:DAYLIGHT\r\nEND:VTIMEZONE\r\n"
              "BEGIN:VEVENT\r\nUID:0192\r\nDTSTAMP:20270115T000000Z\r\n"
              "DTSTART;TZID=Europe/Paris:20270301T090000\r\nRRULE:FREQ=WEEKLY;BYDAY=MO\r\n"
              "SUMMARY:Report\r\nDESCRIPTION:Write it\r\nSTATUS:CONFIRMED\r\n"
              "TRANSP:TRANSPARENT\r\nCREATED:20270114T235958Z\r\n"
              "LAST-MODIFIED:20270114T235959Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n");
}

TEST(a_zone_without_changes_has_one_observance)
{
    SCOPED(scribe_fini) struct scribe d;
    scribe_init(&d);
    struct ical_event event = event_in(d.tokyo, NULL);
    const char *text = write_all(&d, &event, 1);
    CHECK(strstr(text, "BEGIN:STANDARD\r\nDTSTART:20260228T000000\r\nTZOFFSETFROM:+0900\r\n"
                       "TZOFFSETTO:+0900\r\nTZNAME:+09\r\nEND:STANDARD\r\nEND:VTIMEZONE") != NULL);
    CHECK_EQ(times_in(text, "RRULE"), 0);
}

TEST(utc_needs_no_zone)
{
    SCOPED(scribe_fini) struct scribe d;
    scribe_init(&d);
    struct ical_event event = event_in(NULL, &d.weekly);
    const char *text = write_all(&d, &event, 1);
    CHECK(strstr(text, "DTSTART:20270301T090000Z\r\n") != NULL);
    CHECK_EQ(times_in(text, "VTIMEZONE"), 0);
}

TEST(events_share_their_zones)
{
    SCOPED(scribe_fini) struct scribe d;
    scribe_init(&d);
    struct err err = ERR_INIT;
    struct ical_event events[] = {event_in(d.paris, NULL), event_in(NULL, NULL),
                                  event_in(d.tokyo, &d.weekly), event_in(d.paris, &d.weekly)};
    CHECK_OK(when_parse(STR("2021-03-01T09:00:00"), &events[3].when.start, &err));
    const char *text = write_all(&d, events, ARRAY_LEN(events));
    CHECK_EQ(times_in(text, "BEGIN:VTIMEZONE"), 2);
    CHECK_EQ(times_in(text, "TZID:Europe/Paris"), 1);
    CHECK_EQ(times_in(text, "BEGIN:VEVENT"), 4);
    CHECK(strstr(text, "DTSTART:20191027T030000\r\n") != NULL); /* for the oldest of them */
}

TEST(an_event_that_never_occurs_is_left_out)
{
    SCOPED(scribe_fini) struct scribe d;
    scribe_init(&d);
    struct err err = ERR_INIT;
    struct rrule never;
    CHECK_OK(rrule_parse(STR("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"), &never, &err));
    struct ical_event events[] = {event_in(d.paris, &never), event_in(d.tokyo, NULL)};
    const char *text = write_all(&d, events, 2);
    CHECK_EQ(times_in(text, "BEGIN:VEVENT"), 1);
    CHECK_EQ(times_in(text, "Europe/Paris"), 0);
    CHECK_EQ(times_in(write_all(&d, NULL, 0), "BEGIN:"), 1); /* an empty calendar is one */
}

TEST(the_start_is_the_first_occurrence_and_the_end_is_in_utc)
{
    SCOPED(scribe_fini) struct scribe d;
    scribe_init(&d);
    struct err err = ERR_INIT;
    struct rrule rule;
    CHECK_OK(rrule_parse(STR("FREQ=WEEKLY;BYDAY=FR;UNTIL=20270501"), &rule, &err));
    struct ical_event event = event_in(d.paris, &rule);
    const char *text = write_all(&d, &event, 1);
    CHECK(strstr(text, "DTSTART;TZID=Europe/Paris:20270305T090000\r\n"
                       "RRULE:FREQ=WEEKLY;UNTIL=20270501T215959Z;BYDAY=FR\r\n") != NULL);
}

TEST(a_rule_of_hours_steps_in_elapsed_time_and_so_in_utc)
{
    SCOPED(scribe_fini) struct scribe d;
    scribe_init(&d);
    struct err err = ERR_INIT;
    struct rrule rule;
    CHECK_OK(rrule_parse(STR("FREQ=HOURLY;INTERVAL=5"), &rule, &err));
    struct ical_event event = event_in(d.paris, &rule);
    struct when ex = {.s = event.when.start.s + 5 * 3600};
    event.when.exdates = &ex;
    event.when.exdates_count = 1;
    const char *text = write_all(&d, &event, 1);
    CHECK(strstr(text, "DTSTART:20270301T080000Z\r\nRRULE:FREQ=HOURLY;INTERVAL=5\r\n"
                       "EXDATE:20270301T130000Z\r\n") != NULL);
}

TEST(choices_for_the_changes_of_the_clocks_are_written_out)
{
    SCOPED(scribe_fini) struct scribe d;
    scribe_init(&d);
    struct err err = ERR_INIT;
    struct rrule rule;
    CHECK_OK(
        rrule_parse(STR("FREQ=DAILY;BYHOUR=2;BYMINUTE=30;UNTIL=20280101T000000Z"), &rule, &err));
    struct ical_event event = event_in(d.paris, &rule);
    event.when.gap = RECUR_SKIP;
    event.when.fold = RECUR_LAST;
    const char *text = write_all(&d, &event, 1);
    CHECK(strstr(text, "EXDATE;TZID=Europe/Paris:20270328T023000\r\n"
                       "EXDATE;TZID=Europe/Paris:20271031T023000\r\n"
                       "RDATE:20271031T013000Z\r\n") != NULL);
    CHECK_EQ(times_in(text, "DATE"), 3);
}

TEST(texts_are_escaped)
{
    SCOPED(scribe_fini) struct scribe d;
    scribe_init(&d);
    struct ical_event event = event_in(NULL, NULL);
    event.title = STR("a,b;c\\d:e");
    event.description = STR("one\r\ntwo\nthree\rfour\a\x7f\tend");
    event.status = ICAL_CANCELLED;
    const char *text = write_all(&d, &event, 1);
    CHECK(strstr(text,
                 "SUMMARY:a\\,b\\;c\\\\d:e\r\n"
                 "DESCRIPTION:one\\ntwo\\nthree\\nfour\tend\r\nSTATUS:CANCELLED\r\n") != NULL);
}

/* Every line has at most 75 octets and whole characters; without the folds it is what it was. */
TEST(long_lines_are_folded_between_characters)
{
    SCOPED(scribe_fini) struct scribe d;
    scribe_init(&d);
    SCOPED(buf_fini) struct buf title = BUF_INIT(KIB), unfolded = BUF_INIT(4 * KIB);
    struct ical_event event = event_in(NULL, NULL);
    for (int i = 0; i < 90; i++) {
        buf_c(&title, i % 3 == 0 ? "\xF0\x9F\x93\x85" : i % 3 == 1 ? "\xC3\xA9" : "x");
    }
    event.title = buf_view(&title);
    struct str rest = str_of(write_all(&d, &event, 1));
    while (rest.len > 0) {
        struct str line = str_cut(&rest, '\n');
        CHECK(line.len <= 76 && line.ptr[line.len - 1] == '\r');
        line.len--;
        CHECK(str_is_utf8(line));
        bool goes_on = line.ptr[0] == ' ';
        buf_c(&unfolded, goes_on ? "" : "\n");
        buf_str(&unfolded, str_from(line, goes_on));
    }
    const char *found = strstr(buf_c_text(&unfolded), "\nSUMMARY:");
    CHECK(found != NULL);
    CHECK(strncmp(found + 9, buf_c_text(&title), title.len) == 0 && found[9 + title.len] == '\n');
}

TEST(a_line_of_exactly_75_octets_is_not_folded)
{
    SCOPED(scribe_fini) struct scribe d;
    scribe_init(&d);
    char title[69];
    struct ical_event event = event_in(NULL, NULL);
    memset(title, 'x', sizeof title);
    event.title = (struct str){title, 75 - strlen("SUMMARY:")};
    CHECK_EQ(times_in(write_all(&d, &event, 1), "\r\n "), 0);
    event.title.len++;
    CHECK(strstr(write_all(&d, &event, 1), "x\r\n x\r\n") != NULL);
}

TEST(a_calendar_that_does_not_fit_is_refused)
{
    SCOPED(scribe_fini) struct scribe d;
    scribe_init(&d);
    SCOPED(buf_fini) struct buf small = BUF_INIT(200);
    struct err err = ERR_INIT;
    struct ical_event event = event_in(d.paris, NULL);
    struct ical calendar = {.name = STR("mine"), .events = &event, .count = 1, .now_ms = NOW_MS};
    CHECK(!ical_write(&small, &calendar, &err));
    CHECK_EQ(err.kind, ERR_TOO_LARGE);
    CHECK_OK(ical_write(&d.out, &calendar, &err));
    CHECK(strstr(buf_c_text(&d.out), "X-WR-CALNAME:mine\r\n") != NULL);
}
