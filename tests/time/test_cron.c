/* tests/time/test_cron.c: cron expressions, the rules they are, and those they cannot be.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"
#include "time/cron.h"

static void check(const char *cron, const char *want)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(RRULE_TEXT_MAX);
    struct err err = ERR_INIT;
    struct rrule rule = {0}, back;
    CHECK_OK(cron_parse(str_of(cron), &rule, &err));
    rrule_write(&buf, &rule);
    CHECK_STR(buf_view(&buf), want);
    CHECK_OK(rrule_parse(buf_view(&buf), &back, &err));
}

TEST(given_hours_are_on_the_wall)
{
    check("0 9 * * *", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0");
    check("30 9,17 * * *", "FREQ=DAILY;BYHOUR=9,17;BYMINUTE=30;BYSECOND=0");
    check("0 */6 * * *", "FREQ=DAILY;BYHOUR=0,6,12,18;BYMINUTE=0;BYSECOND=0");
    check("0 8-18/5 * * *", "FREQ=DAILY;BYHOUR=8,13,18;BYMINUTE=0;BYSECOND=0");
    check("0 20/2 * * *", "FREQ=DAILY;BYHOUR=20,22;BYMINUTE=0;BYSECOND=0");
}

TEST(all_hours_or_minutes_are_elapsed_time)
{
    check("* * * * *", "FREQ=MINUTELY;BYSECOND=0");
    check("*/15 * * * *", "FREQ=HOURLY;BYMINUTE=0,15,30,45;BYSECOND=0");
    check("5 * * * *", "FREQ=HOURLY;BYMINUTE=5;BYSECOND=0");
    check("* 9-10 * * 1-5", "FREQ=MINUTELY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9,10;BYSECOND=0");
}

TEST(days_choose_the_frequency)
{
    check("0 9 * * 1", "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0");
    check("0 9 1,15 * *", "FREQ=MONTHLY;BYHOUR=9;BYMINUTE=0;BYMONTHDAY=1,15;BYSECOND=0");
    check("0 9 24 12 *", "FREQ=YEARLY;BYHOUR=9;BYMINUTE=0;BYMONTH=12;BYMONTHDAY=24;BYSECOND=0");
    check("0 9 * 6-8 *", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYMONTH=6,7,8;BYSECOND=0");
    check("0 9 * 6 mon", "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYMONTH=6;BYSECOND=0");
}

TEST(sunday_is_0_and_7)
{
    check("0 0 * * 0", "FREQ=WEEKLY;BYDAY=SU;BYHOUR=0;BYMINUTE=0;BYSECOND=0");
    check("0 0 * * 7", "FREQ=WEEKLY;BYDAY=SU;BYHOUR=0;BYMINUTE=0;BYSECOND=0");
    check("0 0 * * 6-7", "FREQ=WEEKLY;BYDAY=SA,SU;BYHOUR=0;BYMINUTE=0;BYSECOND=0");
    check("0 0 * * 0-7", "FREQ=DAILY;BYHOUR=0;BYMINUTE=0;BYSECOND=0");
}

TEST(names_may_be_used)
{
    check("0 9 * JAN,mar Mon-Fri",
          "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYMONTH=1,3;BYSECOND=0");
    check("@hourly", "FREQ=HOURLY;BYMINUTE=0;BYSECOND=0");
    check("@daily", "FREQ=DAILY;BYHOUR=0;BYMINUTE=0;BYSECOND=0");
    check("@weekly", "FREQ=WEEKLY;BYDAY=SU;BYHOUR=0;BYMINUTE=0;BYSECOND=0");
    check("@monthly", "FREQ=MONTHLY;BYHOUR=0;BYMINUTE=0;BYMONTHDAY=1;BYSECOND=0");
    check("@yearly", "FREQ=YEARLY;BYHOUR=0;BYMINUTE=0;BYMONTH=1;BYMONTHDAY=1;BYSECOND=0");
}

TEST(blanks_do_not_matter)
{
    check("  0   9 *\t* *  ", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0");
}

TEST(a_starred_day_and_another_are_both_meant)
{
    check("0 9 */2 * 1", "FREQ=DAILY;BYDAY=MO;BYHOUR=9;BYMINUTE=0;"
                         "BYMONTHDAY=1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31;BYSECOND=0");
}

TEST(either_of_a_day_and_every_day_is_every_day)
{
    check("0 12 1-31 * 1", "FREQ=DAILY;BYHOUR=12;BYMINUTE=0;BYSECOND=0");
    check("0 12 5 * 0-6", "FREQ=DAILY;BYHOUR=12;BYMINUTE=0;BYSECOND=0");
    check("0 9 13 * ?", "FREQ=MONTHLY;BYHOUR=9;BYMINUTE=0;BYMONTHDAY=13;BYSECOND=0");
    check("0 9 ? * MON", "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0");
}

TEST(days_may_be_counted_in_the_month)
{
    check("0 9 L * *", "FREQ=MONTHLY;BYHOUR=9;BYMINUTE=0;BYMONTHDAY=-1;BYSECOND=0");
    check("0 9 L-2 * ?", "FREQ=MONTHLY;BYHOUR=9;BYMINUTE=0;BYMONTHDAY=-3;BYSECOND=0");
    check("0 9 1,L * *", "FREQ=MONTHLY;BYHOUR=9;BYMINUTE=0;BYMONTHDAY=1,-1;BYSECOND=0");
    check("0 9 LW * *",
          "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0;BYSETPOS=-1");
    check("0 9 1W * ?",
          "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0;BYSETPOS=1");
    check("0 9 * * 1#2", "FREQ=MONTHLY;BYDAY=2MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0");
    check("0 9 ? * fri#1,FRI#3", "FREQ=MONTHLY;BYDAY=1FR,3FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0");
    check("0 9 * * 5L", "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0");
    check("0 9 * * sunL", "FREQ=MONTHLY;BYDAY=-1SU;BYHOUR=9;BYMINUTE=0;BYSECOND=0");
    check("0 9 * 11 4#4", "FREQ=YEARLY;BYDAY=4TH;BYHOUR=9;BYMINUTE=0;BYMONTH=11;BYSECOND=0");
}

TEST(weekdays_go_round)
{
    check("0 9 * * Fri-Sun", "FREQ=WEEKLY;BYDAY=FR,SA,SU;BYHOUR=9;BYMINUTE=0;BYSECOND=0");
    check("0 9 * * sat-mon", "FREQ=WEEKLY;BYDAY=MO,SA,SU;BYHOUR=9;BYMINUTE=0;BYSECOND=0");
    check("0 9 * * 1-5;", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0");
}

static void check_refused(const char *cron, const char *because)
{
    struct err err = ERR_INIT;
    struct rrule rule;
    if (cron_parse(str_of(cron), &rule, &err) || strstr(err.text, because) == NULL) {
        fail_msg("%s: \"%s\", not \"%s\"", cron, err.text, because);
    }
}

TEST(either_of_two_days_is_no_one_rule)
{
    check_refused("0 9 13 * 5", "more than one rule can say");
}

TEST(what_is_no_cron_expression_is_refused_with_the_field)
{
    check_refused("", "the minute is missing");
    check_refused("0 9 * *", "the day of the week is missing");
    check_refused("nine * * * *", "the minute \"nine\"");
}

TEST(values_out_of_range_are_refused)
{
    check_refused("60 9 * * *", "the minute \"60\"");
    check_refused("0 24 * * *", "the hour \"24\"");
    check_refused("0 9 0 * *", "the day of the month \"0\"");
    check_refused("0 9 * 13 *", "the month \"13\"");
    check_refused("0 9 * * 8", "the day of the week \"8\"");
    check_refused("0 9 * * MOO", "the day of the week \"MOO\"");
    check_refused("0 9 15W * *", "the day of the month \"15W\"");
    check_refused("0 9 L-31 * *", "the day of the month \"L-31\"");
    check_refused("0 9 * * 1#6", "the day of the week \"1#6\"");
    check_refused("0 9 L * 5", "more than one rule can say");
    check_refused("0 9 15,LW * *", "more than one rule can say");
    check_refused("0 H * * *", "the hour \"H\"");
    check_refused("*/0 9 * * *", "has a step that is not a number from 1 on");
    check_refused("0 17-9 * * *", "runs backwards");
    check_refused("0 9, * * *", "the hour \"\"");
    check_refused("-1 9 * * *", "the minute \"-1\"");
    check_refused("0 0 9 * * *", "more than five fields");
    check_refused("@reboot", "names are @hourly");
}
