/* tests/time/test_rrule.c: what a rule may be, what is said of one that may not, and how it is
 * spelled.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"
#include "time/rrule.h"

static void check_text(const char *from, const char *want)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(RRULE_TEXT_MAX * 4);
    struct err err = ERR_INIT;
    struct rrule rule = {0};
    CHECK_OK(rrule_parse(str_of(from), &rule, &err));
    rrule_write(&buf, &rule);
    CHECK_STR(buf_view(&buf), want);
}

TEST(parts_are_written_in_their_order)
{
    check_text("BYMINUTE=0;BYHOUR=9;FREQ=DAILY", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0");
    check_text("FREQ=WEEKLY;WKST=SU;BYDAY=FR,MO;COUNT=3;INTERVAL=2",
               "FREQ=WEEKLY;INTERVAL=2;COUNT=3;BYDAY=MO,FR;WKST=SU");
    check_text("FREQ=YEARLY;BYYEARDAY=1;BYSETPOS=-1;BYSECOND=0;BYMONTHDAY=1;BYMONTH=1",
               "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1;BYSECOND=0;BYSETPOS=-1;BYYEARDAY=1");
}

TEST(what_says_nothing_is_not_written)
{
    check_text("FREQ=DAILY;INTERVAL=1;WKST=MO", "FREQ=DAILY");
}

TEST(numbers_rise_and_are_said_once)
{
    check_text("FREQ=DAILY;BYHOUR=17,9,9,09", "FREQ=DAILY;BYHOUR=9,17");
    check_text("FREQ=MONTHLY;BYMONTHDAY=-1,-3,15,+1", "FREQ=MONTHLY;BYMONTHDAY=1,15,-3,-1");
    check_text("FREQ=YEARLY;BYYEARDAY=366,-366,64,63", "FREQ=YEARLY;BYYEARDAY=63,64,366,-366");
}

TEST(weekdays_go_from_monday_to_sunday)
{
    check_text("FREQ=WEEKLY;BYDAY=SU,SA,FR,TH,WE,TU,MO", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU");
    check_text("FREQ=MONTHLY;BYDAY=-1SU,+2TU,1TU,-2SU,MO",
               "FREQ=MONTHLY;BYDAY=MO,1TU,2TU,-2SU,-1SU");
}

TEST(an_end_keeps_its_form)
{
    check_text("FREQ=DAILY;UNTIL=20271231T225959Z", "FREQ=DAILY;UNTIL=20271231T225959Z");
    check_text("FREQ=DAILY;UNTIL=20271231T225959", "FREQ=DAILY;UNTIL=20271231T225959");
    check_text("FREQ=DAILY;UNTIL=20271231", "FREQ=DAILY;UNTIL=20271231");
}

TEST(case_does_not_matter)
{
    check_text("freq=weekly;byday=mo;until=20271231t225959z",
               "FREQ=WEEKLY;UNTIL=20271231T225959Z;BYDAY=MO");
}

TEST(the_leap_second_is_the_one_before_it)
{
    check_text("FREQ=DAILY;BYSECOND=60", "FREQ=DAILY;BYSECOND=59");
}

static void check_refused(const char *text, const char *because)
{
    struct err err = ERR_INIT;
    struct rrule rule;
    bool taken = rrule_parse(str_of(text), &rule, &err);
    if (taken || err.kind != ERR_INVALID || strstr(err.text, because) == NULL) {
        fail_msg("%s: %s, not \"%s\"", text, taken ? "taken" : err.text, because);
    }
}

TEST(a_rule_that_is_no_rule_is_refused)
{
    check_refused("", "a rule is like FREQ=DAILY");
    check_refused("INTERVAL=2", "FREQ is missing");
    check_refused("every day", "\"every day\" is not a part");
    check_refused("RRULE:FREQ=DAILY", "\"RRULE:FREQ=DAILY\" is not a part");
    check_refused("FREQ=DAILY;", "\"\" is not a part");
    check_refused("FREQ=DAILY;;BYHOUR=9", "\"\" is not a part");
    check_refused("FREQ=DAILY; BYHOUR=9", "\" BYHOUR=9\" is not a part");
    check_refused("FREQ", "\"FREQ\" is not a part");
    check_refused("FREQ=", "FREQ=: must be SECONDLY");
    check_refused("FREQ=FORTNIGHTLY", "FREQ=FORTNIGHTLY: must be SECONDLY");
    check_refused("FREQ=DAILY;FREQ=DAILY", "FREQ is given twice");
    check_refused("FREQ=DAILY;BYEASTER=1", "\"BYEASTER=1\" is not a part");
}

TEST(numbers_out_of_range_are_refused_with_the_range)
{
    check_refused("FREQ=DAILY;INTERVAL=0", "INTERVAL=0: must be a number from 1");
    check_refused("FREQ=DAILY;INTERVAL=-1", "must be a number from 1");
    check_refused("FREQ=DAILY;INTERVAL=2147483648", "must be a number from 1 to 2147483647");
    check_refused("FREQ=DAILY;COUNT=0", "COUNT=0: must be a number from 1");
    check_refused("FREQ=DAILY;COUNT=99999999999999999999", "must be a number from 1");
    check_refused("FREQ=DAILY;BYHOUR=24", "BYHOUR=24: must be hours from 0 to 23");
    check_refused("FREQ=DAILY;BYHOUR=-1", "must be hours from 0 to 23");
    check_refused("FREQ=DAILY;BYHOUR=", "must be hours from 0 to 23");
    check_refused("FREQ=DAILY;BYHOUR=9,", "must be hours from 0 to 23");
    check_refused("FREQ=DAILY;BYHOUR=009", "must be hours from 0 to 23");
    check_refused("FREQ=DAILY;BYMINUTE=60", "must be minutes from 0 to 59");
    check_refused("FREQ=DAILY;BYSECOND=61", "must be seconds from 0 to 59");
    check_refused("FREQ=MONTHLY;BYMONTHDAY=0", "must be days from 1 to 31");
    check_refused("FREQ=MONTHLY;BYMONTHDAY=32", "must be days from 1 to 31");
    check_refused("FREQ=YEARLY;BYYEARDAY=367", "must be days from 1 to 366");
    check_refused("FREQ=YEARLY;BYWEEKNO=54", "must be weeks from 1 to 53");
    check_refused("FREQ=YEARLY;BYMONTH=13", "must be months from 1 to 12");
    check_refused("FREQ=YEARLY;BYDAY=54MO", "must be weekdays like MO,WE");
    check_refused("FREQ=YEARLY;BYDAY=0MO", "must be weekdays like MO,WE");
    check_refused("FREQ=YEARLY;BYDAY=M", "must be weekdays like MO,WE");
    check_refused("FREQ=WEEKLY;WKST=XX", "must be MO, TU, WE");
}

TEST(an_end_that_is_no_time_is_refused)
{
    check_refused("FREQ=DAILY;UNTIL=2027-12-31", "UNTIL=2027-12-31: must be a time like");
    check_refused("FREQ=DAILY;UNTIL=20271231T", "must be a time like");
    check_refused("FREQ=DAILY;UNTIL=20270230T090000Z", "is not a real date");
    check_refused("FREQ=DAILY;UNTIL=20271231T250000Z", "is not a real date");
    check_refused("FREQ=DAILY;UNTIL=2027+231T250000Z", "is not a real date");
}

TEST(parts_that_do_not_go_together_are_refused)
{
    check_refused("FREQ=DAILY;COUNT=3;UNTIL=20271231T000000Z", "COUNT and UNTIL");
    check_refused("FREQ=DAILY;BYSETPOS=1", "BYSETPOS chooses among another BY part");
    check_refused("FREQ=DAILY;BYDAY=1MO", "BYDAY with a number");
    check_refused("FREQ=WEEKLY;BYDAY=-1MO", "BYDAY with a number");
    check_refused("FREQ=YEARLY;BYWEEKNO=10;BYDAY=1MO", "does not go with BYWEEKNO");
    check_refused("FREQ=MONTHLY;BYWEEKNO=5", "BYWEEKNO goes with FREQ=YEARLY only");
    check_refused("FREQ=HOURLY;BYWEEKNO=5", "BYWEEKNO goes with FREQ=YEARLY only");
    check_refused("FREQ=MONTHLY;BYYEARDAY=5", "BYYEARDAY does not go");
    check_refused("FREQ=DAILY;BYYEARDAY=5", "BYYEARDAY does not go");
    check_refused("FREQ=WEEKLY;BYMONTHDAY=3", "BYMONTHDAY does not go with FREQ=WEEKLY");
}
