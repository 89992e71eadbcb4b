/* tests/english/test_summary.c: rules in English.
 *
 * SPDX-License-Identifier: MIT */
#include "english/summary.h"
#include "test.h"

static void check_in(const struct zone *zone, const char *text, const char *want)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
    struct rrule rule;
    struct err err = ERR_INIT;
    struct recur_order order = {.zone = zone};
    CHECK_OK(wall_parse(STR("2027-03-01T09:00:00"), &order.start.s, &err));
    if (text != NULL) {
        CHECK_OK(rrule_parse(str_of(text), &rule, &err));
        order.rule = &rule;
    }
    summary_write(&out, &order);
    CHECK_STR(buf_view(&out), want);
}

static void check(const char *text, const char *want)
{
    check_in(NULL, text, want);
}

TEST(days_and_weeks)
{
    check("FREQ=DAILY", "Every day at 09:00");
    check("FREQ=DAILY;INTERVAL=3;BYHOUR=8;BYMINUTE=30", "Every 3 days at 08:30");
    check("FREQ=WEEKLY", "Every Monday at 09:00");
    check("FREQ=WEEKLY;BYDAY=MO,WE,FR;BYHOUR=9;BYMINUTE=0",
          "Every Monday, Wednesday and Friday at 09:00");
    check("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "Every weekday at 09:00");
    check("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU", "Every day at 09:00");
    check("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU", "Every 2 weeks on Tuesday at 09:00");
    check("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;WKST=SU",
          "Every 2 weeks on Tuesday at 09:00, weeks beginning on Sunday");
    check("FREQ=DAILY;BYMONTH=6,7,8", "Every day in June, July and August at 09:00");
    check("FREQ=DAILY;BYDAY=SA,SU;BYMONTH=6", "Every Saturday and Sunday in June at 09:00");
}

TEST(months)
{
    check("FREQ=MONTHLY", "Every month on the 1st at 09:00");
    check("FREQ=MONTHLY;BYMONTHDAY=2,15,-1", "Every month on the 2nd, 15th and last day at 09:00");
    check("FREQ=MONTHLY;BYMONTHDAY=-2", "Every month on the second to last day at 09:00");
    check("FREQ=MONTHLY;BYDAY=1MO", "Every month on the first Monday at 09:00");
    check("FREQ=MONTHLY;BYDAY=1MO,-1FR",
          "Every month on the first Monday and last Friday at 09:00");
    check("FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=1", "Every 3 months on the 1st at 09:00");
    check("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
          "Every month on the 13th if it is Friday at 09:00");
    check("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
          "Every month on the last weekday at 09:00");
    check("FREQ=MONTHLY;BYDAY=SA,SU;BYSETPOS=1,-1",
          "Every month on Saturday and Sunday at 09:00, only the 1st and last of each month");
    check("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=2;BYHOUR=9,10",
          "Every month on every weekday at 09:00 and 10:00, only the 2nd of each month");
    check("FREQ=MONTHLY;BYMONTH=1,7;BYMONTHDAY=1",
          "Every month on the 1st in January and July at 09:00");
}

TEST(years)
{
    check("FREQ=YEARLY", "Every year on 1 March at 09:00");
    check("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24", "Every year on 24 December at 09:00");
    check("FREQ=YEARLY;BYMONTH=11;BYDAY=4TH",
          "Every year on the fourth Thursday of November at 09:00");
    check("FREQ=YEARLY;BYMONTH=1,7;BYMONTHDAY=1,15",
          "Every year on the 1st and 15th of January and July at 09:00");
    check("FREQ=YEARLY;BYMONTHDAY=13;BYDAY=FR",
          "Every year on the 13th of every month if it is Friday at 09:00");
    check("FREQ=YEARLY;BYDAY=20MO", "Every year on the 20th Monday of the year at 09:00");
    check("FREQ=YEARLY;BYYEARDAY=1,-1", "Every year on the 1st and last days of the year at 09:00");
    check("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO",
          "Every year in the 20th week of the year on Monday at 09:00");
}

TEST(hours_minutes_and_seconds)
{
    check("FREQ=HOURLY", "Every hour");
    check("FREQ=HOURLY;INTERVAL=6", "Every 6 hours");
    check("FREQ=MINUTELY;INTERVAL=15", "Every 15 minutes");
    check("FREQ=SECONDLY;INTERVAL=30", "Every 30 seconds");
    check("FREQ=HOURLY;BYMINUTE=0,30", "Every hour at minutes 0 and 30");
    check("FREQ=HOURLY;BYMINUTE=5;BYSECOND=0", "Every hour at minute 5");
    check("FREQ=HOURLY;BYMINUTE=5;BYSECOND=10", "Every hour at second 10 of minute 5");
    check("FREQ=MINUTELY;BYSECOND=0", "Every minute");
    check("FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16,17;BYDAY=MO,TU,WE,TH,FR",
          "Every 20 minutes on every weekday during hours 9 to 17");
    check("FREQ=MINUTELY;BYMINUTE=0,1,2,3,4,30", "Every minute during minutes 0 to 4 and 30");
    check("FREQ=HOURLY;BYMONTHDAY=1", "Every hour on the 1st of the month");
}

TEST(times_of_the_day)
{
    check("FREQ=DAILY;BYHOUR=9,17", "Every day at 09:00 and 17:00");
    check("FREQ=DAILY;BYHOUR=9,17;BYMINUTE=0,30", "Every day at 09:00, 09:30, 17:00 and 17:30");
    check("FREQ=DAILY;BYSECOND=30", "Every day at 09:00:30");
    check("FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16,17;BYMINUTE=0,30",
          "Every day at minutes 0 and 30 of hours 9 to 17");
    check("FREQ=DAILY;BYHOUR=9,10,11;BYMINUTE=0,30;BYSECOND=0,20",
          "Every day at seconds 0 and 20 of minutes 0 and 30 of hours 9 to 11");
}

TEST(ends)
{
    check("FREQ=DAILY;COUNT=10", "Every day at 09:00, 10 times");
    check("FREQ=DAILY;COUNT=1", "Every day at 09:00, 1 time");
    check("FREQ=DAILY;UNTIL=20271231", "Every day at 09:00, until 31 December 2027");
    check("FREQ=DAILY;UNTIL=20271231T100000",
          "Every day at 09:00, until 31 December 2027 at 10:00");
}

TEST(places)
{
    struct zones *zones = zones_new(ZONES);
    const struct zone *paris = NULL;
    CHECK(zones_get(zones, STR("Europe/Paris"), &paris, NULL));
    check_in(paris, "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0",
             "Every Monday at 09:00, Europe/Paris");
    check_in(paris, "FREQ=DAILY;UNTIL=20271231T225959Z",
             "Every day at 09:00, until 31 December 2027, Europe/Paris");
    check_in(paris, NULL, "Once, on 1 March 2027 at 09:00, Europe/Paris");
    zone_release(paris);
    zones_free(zones);
}
