/* english/summary.c: a recurrence in English. See summary.h.
 *
 * The sentence is built of clauses in a fixed order: how often, which days, what time, which of
 * them, until when, where. Each clause is true by itself, so any rule gives a true sentence.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "english/summary.h"

#include "english/summary_lists.h"
#include "time/bits.h"

#define WORKDAYS   0x1fu
#define ALL_DAYS   0x7fu
#define CLOCKS_MAX 8 /* so many times of the day are listed one by one */

static const char *const freq_nouns[] = {"second", "minute", "hour", "day",
                                         "week",   "month",  "year"};

static bool has_nth(const struct rrule *rule)
{
    uint64_t any = 0;
    for (size_t i = 0; i < 7; i++) {
        any |= rule->nth[i] | rule->nth_last[i];
    }
    return any != 0;
}

static unsigned count_clocks(const struct rrule *rule)
{
    return (unsigned)(__builtin_popcount(rule->hours) * __builtin_popcountll(rule->minutes) *
                      __builtin_popcountll(rule->seconds));
}

/* ---- How often ---- */

static void write_weekdays(struct buf *out, uint32_t weekdays)
{
    if (weekdays == WORKDAYS) {
        buf_c(out, "weekday");
    } else if (weekdays == ALL_DAYS) {
        buf_c(out, "day");
    } else {
        english_names(out, weekdays, english_weekdays);
    }
}

/* "Every Monday" says a week without saying so. */
static bool is_of_weekdays(const struct rrule *rule)
{
    return rule->interval == 1 && !(rule->has & RRULE_BYSETPOS) && !has_nth(rule) &&
           (rule->freq == RRULE_WEEKLY || rule->freq == RRULE_DAILY) && rule->has & RRULE_BYDAY &&
           !(rule->has & RRULE_BYMONTHDAY);
}

static void write_freq(struct buf *out, const struct rrule *rule)
{
    buf_c(out, "Every ");
    if (is_of_weekdays(rule)) {
        write_weekdays(out, rule->weekdays);
    } else if (rule->interval == 1) {
        buf_c(out, freq_nouns[rule->freq]);
    } else {
        buf_printf(out, "%u %ss", rule->interval, freq_nouns[rule->freq]);
    }
}

/* ---- Which days ---- */

static void write_months(struct buf *out, const char *word, const struct rrule *rule)
{
    if (rule->has & RRULE_BYMONTH) {
        buf_printf(out, " %s ", word);
        english_names(out, rule->months, english_months);
    }
}

static void add_nth(struct english_list *list, unsigned n, bool last, size_t weekday)
{
    english_item(list);
    (last ? english_last : english_ordinal)(list->out, n);
    buf_printf(list->out, " %s", english_weekdays[weekday]);
}

static unsigned count_days(const struct rrule *rule)
{
    unsigned total = (unsigned)__builtin_popcount(rule->weekdays);
    for (size_t day = 0; day < 7; day++) {
        total += (unsigned)__builtin_popcountll(rule->nth[day]) +
                 (unsigned)__builtin_popcountll(rule->nth_last[day]);
    }
    return total;
}

/* "the first Monday and last Friday", with plain weekdays among them as "every Sunday". */
static void write_nth(struct buf *out, const struct rrule *rule)
{
    struct english_list list = {out, count_days(rule), 0};
    buf_c(out, "the ");
    for (size_t day = 0; day < 7; day++) {
        for (uint64_t set = rule->nth[day]; set != 0; set &= set - 1) {
            add_nth(&list, bits_first(set), false, day);
        }
        for (unsigned n = 53; n > 0; n--) {
            if (rule->nth_last[day] >> n & 1) {
                add_nth(&list, n, true, day);
            }
        }
    }
    for (size_t day = 0; day < 7; day++) {
        if (rule->weekdays >> day & 1) {
            english_item(&list);
            buf_printf(out, "every %s", english_weekdays[day]);
        }
    }
}

static void write_month_days(struct buf *out, const struct rrule *rule)
{
    uint64_t days = rule->month_days, last = rule->month_days_last;
    buf_c(out, "the ");
    english_places(out, &days, &last, 31);
    if (last != 0) {
        buf_c(out, bits_back(&last, 31) == bits_first(last) ? " day" : " days");
    }
}

/* Yearly, one day of one month: "on 24 December". */
static bool is_one_date(const struct rrule *rule)
{
    return rule->freq == RRULE_YEARLY && __builtin_popcount(rule->months) == 1 &&
           __builtin_popcount(rule->month_days) == 1 && rule->month_days_last == 0;
}

static void write_by_month_day(struct buf *out, const struct rrule *rule)
{
    buf_c(out, " on ");
    if (is_one_date(rule)) {
        buf_printf(out, "%u %s", bits_first(rule->month_days),
                   english_months[bits_first(rule->months)]);
        return;
    }
    write_month_days(out, rule);
    if (rule->freq == RRULE_YEARLY && !(rule->has & RRULE_BYMONTH)) {
        buf_c(out, " of every month");
    } else if (rule->freq == RRULE_YEARLY) {
        write_months(out, "of", rule);
    } else if (rule->freq != RRULE_MONTHLY) {
        buf_c(out, " of the month");
    }
}

/* Days of the week: as the days themselves, or as a condition on those already named. */
static void write_by_day(struct buf *out, const struct rrule *rule, bool is_condition)
{
    bool of_year = rule->freq == RRULE_YEARLY && !(rule->has & RRULE_BYMONTH);
    buf_c(out, is_condition ? " if it is " : " on ");
    if (!has_nth(rule)) {
        buf_c(out, rule->weekdays == WORKDAYS || rule->weekdays == ALL_DAYS
                       ? (is_condition ? "a " : "every ")
                       : "");
        write_weekdays(out, rule->weekdays);
        return;
    }
    write_nth(out, rule);
    if (rule->freq == RRULE_YEARLY && !is_condition && !of_year) {
        write_months(out, "of", rule);
    } else if (of_year) {
        buf_c(out, " of the year");
    } else if (is_condition) {
        buf_c(out, " of the month");
    }
}

static void write_year_days(struct buf *out, const struct rrule *rule)
{
    buf_c(out, " on the ");
    english_places(out, rule->year_days, rule->year_days_last, 366);
    buf_c(out,
          english_places_count(rule->year_days, rule->year_days_last, 366) > 1 ? " days" : " day");
    buf_c(out, " of the year");
}

static void write_weeks(struct buf *out, const struct rrule *rule)
{
    buf_c(out, " in the ");
    english_places(out, &rule->weeks, &rule->weeks_last, 53);
    buf_c(out, english_places_count(&rule->weeks, &rule->weeks_last, 53) > 1 ? " weeks" : " week");
    buf_c(out, " of the year");
}

/* A yearly rule says its months with the days ("of March"), if it has such days. */
static bool months_come_with_days(const struct rrule *rule)
{
    return rule->freq == RRULE_YEARLY &&
           (rule->has & RRULE_BYMONTHDAY || (rule->has & RRULE_BYDAY && has_nth(rule))) &&
           !(rule->has & RRULE_BYYEARDAY);
}

/* The last working day: one place among plain weekdays, at one time. */
static bool is_placed_day(const struct rrule *rule)
{
    const unsigned parts = RRULE_BYDAY | RRULE_BYSETPOS, others = RRULE_BYMONTHDAY | RRULE_BYMONTH;
    bool one_day = rule->weekdays == WORKDAYS || rule->weekdays == ALL_DAYS ||
                   (rule->weekdays & (rule->weekdays - 1)) == 0;
    return rule->freq == RRULE_MONTHLY && (rule->has & (parts | others)) == parts && one_day &&
           !has_nth(rule) && count_clocks(rule) == 1 &&
           english_places_count(rule->positions, rule->positions_last, 366) == 1;
}

static void write_placed_day(struct buf *out, const struct rrule *rule)
{
    unsigned back = bits_back(rule->positions_last, 366);
    buf_c(out, " on the ");
    if (back > 0) {
        english_last(out, back);
    } else {
        english_ordinal(out, bits_back(rule->positions, 366));
    }
    buf_char(out, ' ');
    write_weekdays(out, rule->weekdays);
}

static void write_days(struct buf *out, const struct rrule *rule)
{
    unsigned has = rule->has;
    if (is_placed_day(rule)) {
        write_placed_day(out, rule);
        return;
    }
    if (has & RRULE_BYWEEKNO) {
        write_weeks(out, rule);
    }
    if (has & RRULE_BYYEARDAY) {
        write_year_days(out, rule);
    }
    if (has & RRULE_BYMONTHDAY) {
        write_by_month_day(out, rule);
    }
    if (has & RRULE_BYDAY && !is_of_weekdays(rule)) {
        write_by_day(out, rule, has & (RRULE_BYMONTHDAY | RRULE_BYYEARDAY));
    }
    if (!months_come_with_days(rule)) {
        write_months(out, "in", rule);
    }
}

/* ---- What time ---- */

static void write_field(struct buf *out, const char *before, const char *noun, uint64_t set,
                        unsigned max)
{
    bool one = (set & (set - 1)) == 0;
    buf_printf(out, "%s%s%s ", before, noun, one ? "" : "s");
    english_numbers(out, &set, max);
}

/* Each of hours × minutes × seconds, rising. */
static void write_clocks(struct buf *out, const struct rrule *rule, unsigned total)
{
    struct english_list list = {out, total, 0};
    buf_c(out, " at ");
    for (uint64_t h = rule->hours; h != 0; h &= h - 1) {
        for (uint64_t m = rule->minutes; m != 0; m &= m - 1) {
            for (uint64_t s = rule->seconds; s != 0; s &= s - 1) {
                english_item(&list);
                english_clock(out, bits_first(h) * 3600 + bits_first(m) * 60 + bits_first(s));
            }
        }
    }
}

static void write_time_of_day(struct buf *out, const struct rrule *rule)
{
    unsigned total = count_clocks(rule);
    if (total <= CLOCKS_MAX) {
        write_clocks(out, rule, total);
        return;
    }
    buf_c(out, " at ");
    if (rule->seconds != 1) {
        write_field(out, "", "second", rule->seconds, 59);
        buf_c(out, " of ");
    }
    write_field(out, "", "minute", rule->minutes, 59);
    write_field(out, " of ", "hour", rule->hours, 23);
}

/* Of rules that step by the clock: what is expanded is "at", what only limits is "during". Second
 * 0 goes without saying. */
static void write_time_of_steps(struct buf *out, const struct rrule *rule)
{
    bool seconds = rule->has & RRULE_BYSECOND && rule->seconds != 1;
    if (rule->has & RRULE_BYSECOND && rule->freq == RRULE_SECONDLY) {
        write_field(out, " during ", "second", rule->seconds, 59);
    } else if (seconds) {
        write_field(out, " at ", "second", rule->seconds, 59);
    }
    if (rule->freq == RRULE_HOURLY && rule->has & (RRULE_BYMINUTE | RRULE_BYSECOND)) {
        write_field(out, seconds ? " of " : " at ", "minute", rule->minutes, 59);
    } else if (rule->has & RRULE_BYMINUTE) {
        write_field(out, " during ", "minute", rule->minutes, 59);
    }
    if (rule->has & RRULE_BYHOUR) {
        write_field(out, " during ", "hour", rule->hours, 23);
    }
}

/* ---- Which of them, until when ---- */

static void write_places(struct buf *out, const struct rrule *rule)
{
    if (rule->has & RRULE_BYSETPOS && !is_placed_day(rule)) {
        buf_c(out, ", only the ");
        english_places(out, rule->positions, rule->positions_last, 366);
        buf_printf(out, " of each %s", freq_nouns[rule->freq]);
    }
}

/* The time is said unless it is the end of the day. */
static void write_end(struct buf *out, const struct rrule *rule, const struct zone *zone)
{
    int64_t wall_s = rule->until_s;
    if (rule->count > 0) {
        buf_printf(out, ", %u time%s", rule->count, rule->count == 1 ? "" : "s");
    }
    if (rule->until == RRULE_ENDLESS) {
        return;
    }
    if (rule->until == RRULE_UNTIL_UTC && zone != NULL) {
        wall_s = zone_wall(zone, wall_s);
    }
    buf_c(out, ", until ");
    english_date(out, wall_div(wall_s, WALL_DAY_S));
    if (wall_mod(wall_s, WALL_DAY_S) != WALL_DAY_S - 1) {
        buf_c(out, " at ");
        english_clock(out, wall_s);
    }
}

/* Where a week begins matters when weeks are counted. */
static void write_week_start(struct buf *out, const struct rrule *rule)
{
    bool counted =
        rule->has & RRULE_BYWEEKNO ||
        (rule->freq == RRULE_WEEKLY && (rule->interval > 1 || rule->has & RRULE_BYSETPOS));
    if (counted && rule->wkst != 0) {
        buf_printf(out, ", weeks beginning on %s", english_weekdays[rule->wkst]);
    }
}

static void write_rule(struct buf *out, const struct rrule *given, int64_t start_wall_s,
                       const struct zone *zone)
{
    struct rrule rule = *given;
    rrule_fill(&rule, start_wall_s);
    write_freq(out, &rule);
    write_days(out, &rule);
    if (rule.freq >= RRULE_DAILY) {
        write_time_of_day(out, &rule);
    } else {
        write_time_of_steps(out, &rule);
    }
    write_places(out, &rule);
    write_week_start(out, &rule);
    write_end(out, &rule, zone);
}

void summary_write(struct buf *out, const struct recur_order *order)
{
    bool convert = order->start.is_utc && order->zone != NULL;
    int64_t wall_s = convert ? zone_wall(order->zone, order->start.s) : order->start.s;
    if (order->rule != NULL) {
        write_rule(out, order->rule, wall_s, order->zone);
    } else {
        buf_c(out, "Once, on ");
        english_date(out, wall_div(wall_s, WALL_DAY_S));
        buf_c(out, " at ");
        english_clock(out, wall_s);
    }
    if (order->zone != NULL) {
        buf_printf(out, ", %s", zone_name(order->zone));
    }
}
