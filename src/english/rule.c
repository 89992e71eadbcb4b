/* english/rule.c: the frequency and the parts of the rule that is meant.
 *
 * SPDX-License-Identifier: MIT */
#include "english/rule.h"

#include "time/bits.h"
#include "wire/time.h"

#define ALL_MONTHS      0x1ffeu
#define ALL_MONTH_DAYS  0xfffffffeu
#define QUARTER_STARTS  (1u << 1 | 1u << 4 | 1u << 7 | 1u << 10)
#define QUARTER_ENDS    (1u << 3 | 1u << 6 | 1u << 9 | 1u << 12)
#define MOST_MONTH_DAYS 20
#define GRID_MAX        366 /* what BYSETPOS can count */

static bool has_nth(const struct said *said)
{
    uint32_t any = 0;
    for (size_t i = 0; i < 7; i++) {
        any |= said->nth[i] | said->nth_last[i];
    }
    return any != 0;
}

static bool has_month_days(const struct said *said)
{
    return (said->month_days | said->month_days_last) != 0;
}

/* ---- Which days ---- */

static void by_weekdays(struct rrule *rule, unsigned weekdays)
{
    rule->weekdays = weekdays;
    rule->has |= RRULE_BYDAY;
}

static void by_months(struct rrule *rule, unsigned months)
{
    rule->months = months;
    rule->has |= RRULE_BYMONTH;
}

static void by_month_days(struct rrule *rule, uint32_t days, uint32_t last)
{
    rule->month_days = days;
    rule->month_days_last = last;
    rule->has |= RRULE_BYMONTHDAY;
}

static void by_nth(struct rrule *rule, const struct said *said)
{
    for (size_t i = 0; i < 7; i++) {
        rule->nth[i] = said->nth[i];
        rule->nth_last[i] = said->nth_last[i];
    }
    rule->has |= RRULE_BYDAY;
}

/* The first or last working day: one place among weekdays. */
static void by_set(struct rrule *rule, const struct said *said)
{
    by_weekdays(rule, said->set_days);
    rule->positions[0] = said->set_nth;
    rule->positions_last[0] = said->set_nth_last;
    rule->has |= RRULE_BYSETPOS;
    /* Places are counted in a month, also when it is that of a year. */
    rule->freq = rule->freq == RRULE_YEARLY && rule->interval == 1 ? RRULE_MONTHLY : rule->freq;
}

/* Days of a month, however said; false when none is. */
static bool by_days_of_month(struct rrule *rule, const struct said *said)
{
    if (has_month_days(said)) {
        by_month_days(rule, said->month_days, said->month_days_last);
        if (said->weekdays != 0) { /* Friday the 13th */
            by_weekdays(rule, said->weekdays);
        }
    } else if (has_nth(said)) {
        by_nth(rule, said);
    } else if (said->set_days != 0) {
        by_set(rule, said);
    }
    return has_month_days(said) || has_nth(said) || said->set_days != 0;
}

static bool which_one(struct draft *d)
{
    return resolve_refuse(d->out, "rrule",
                          STR("which one of the month? Say for example the first Monday"));
}

static bool contradicts(struct draft *d)
{
    return resolve_refuse(d->out, "rrule",
                          STR("it contradicts itself: the days do not fit how often"));
}

/* Every quarter begins in January, April, July and October. */
static bool quarters(struct draft *d)
{
    const struct said *said = d->said;
    bool last = said->month_days_last != 0 || said->set_nth_last != 0;
    for (size_t i = 0; i < 7; i++) {
        last |= said->nth_last[i] != 0;
    }
    d->rule.freq = RRULE_YEARLY;
    d->rule.interval = 1;
    by_months(&d->rule, last ? QUARTER_ENDS : QUARTER_STARTS);
    return by_days_of_month(&d->rule, said) || contradicts(d);
}

/* "every Friday except the last one of the month": the others, counted in the month. */
static bool weekly_but_nth(struct draft *d, unsigned days, unsigned months)
{
    const struct said *said = d->said;
    unsigned but = said->except_nth_days != 0 ? said->except_nth_days & days : days;
    if (d->rule.interval > 1 || but == 0 || (said->except_nth != 0 && said->except_nth_last != 0)) {
        return contradicts(d);
    }
    d->rule.freq = RRULE_MONTHLY;
    by_weekdays(&d->rule, days & ~but);
    for (unsigned day = 0; day < 7; day++) {
        if (but >> day & 1) {
            d->rule.nth[day] = said->except_nth != 0 ? 0x3e & ~said->except_nth : 0;
            d->rule.nth_last[day] = said->except_nth_last != 0 ? 0x3e & ~said->except_nth_last : 0;
        }
    }
    if (months != ALL_MONTHS) {
        by_months(&d->rule, months);
    }
    return true;
}

/* All days of the month but these. */
static bool but_month_days(struct draft *d)
{
    const struct said *said = d->said;
    uint32_t days = said->except_month_days, last = said->except_month_days_last;
    if (days != 0 && last != 0) {
        return contradicts(d);
    }
    if ((days | last) != 0) {
        by_month_days(&d->rule, days != 0 ? ALL_MONTH_DAYS & ~days : 0,
                      last != 0 ? ALL_MONTH_DAYS & ~last : 0);
        d->rule.freq = d->rule.freq == RRULE_WEEKLY ? RRULE_DAILY : d->rule.freq;
    }
    return true;
}

static bool weekly(struct draft *d, unsigned months)
{
    const struct said *said = d->said;
    unsigned days = said->weekdays;
    if ((said->except_month_days | said->except_month_days_last) != 0 && d->rule.interval > 1) {
        return contradicts(d);
    }
    if (has_nth(said) || has_month_days(said) || said->set_days != 0) {
        return contradicts(d);
    }
    if (days == 0) {
        days = said->except_weekdays != 0 ? SAID_ALL_DAYS : 1u << wall_weekday(d->base_day);
    }
    days &= ~said->except_weekdays;
    if ((said->except_nth | said->except_nth_last) != 0 && days != 0) {
        return weekly_but_nth(d, days, months);
    }
    if (days == SAID_ALL_DAYS && d->rule.interval == 1) {
        d->rule.freq = RRULE_DAILY; /* "mon-fri, sat and sun": every day, and a summary says so */
    } else {
        by_weekdays(&d->rule, days);
    }
    if (months != ALL_MONTHS) {
        by_months(&d->rule, months);
    }
    return days != 0 ? but_month_days(d) : contradicts(d);
}

static bool daily(struct draft *d, unsigned months)
{
    const struct said *said = d->said;
    unsigned days = said->weekdays == 0 ? SAID_ALL_DAYS : said->weekdays;
    days &= ~said->except_weekdays;
    /* "every day on the 1st, 2nd, …": as a summary says that some days of the month are left out */
    bool most = __builtin_popcount(said->month_days | said->month_days_last) >= MOST_MONTH_DAYS;
    if (has_nth(said) || (has_month_days(said) && !most) || said->set_days != 0 || days == 0) {
        return contradicts(d);
    }
    if (most) {
        by_month_days(&d->rule, said->month_days, said->month_days_last);
    }
    if (days != SAID_ALL_DAYS) {
        by_weekdays(&d->rule, days);
    }
    if (months != ALL_MONTHS) {
        by_months(&d->rule, months);
    }
    if ((said->except_nth | said->except_nth_last) != 0) {
        return weekly_but_nth(d, days, months);
    }
    return but_month_days(d);
}

/* What is left out of days of the month: days of the week, or some of them. */
static bool but_days_of_month(struct draft *d)
{
    const struct said *said = d->said;
    if (said->except_weekdays != 0) {
        unsigned days =
            (said->weekdays != 0 ? said->weekdays : SAID_ALL_DAYS) & ~said->except_weekdays;
        if (!has_month_days(said) || days == 0) {
            return contradicts(d);
        }
        by_weekdays(&d->rule, days);
    }
    d->rule.month_days &= ~said->except_month_days;
    d->rule.month_days_last &= ~said->except_month_days_last;
    bool none = has_month_days(said) && (d->rule.month_days | d->rule.month_days_last) == 0;
    return none || (said->except_nth | said->except_nth_last) != 0 ? contradicts(d) : true;
}

static bool monthly(struct draft *d, unsigned months)
{
    const struct said *said = d->said;
    int64_t year;
    unsigned month, day;
    time_date_of(d->base_day, &year, &month, &day);
    if (months != ALL_MONTHS && said->dated && d->rule.interval > 1) {
        return contradicts(d); /* every 6 months on 1 July: from when on? */
    }
    if (months != ALL_MONTHS) {
        d->rule.freq = d->rule.interval == 1 && !said->has_only ? RRULE_YEARLY : RRULE_MONTHLY;
        by_months(&d->rule, months);
    }
    if (by_days_of_month(&d->rule, said)) {
        return but_days_of_month(d);
    }
    if (said->weekdays != 0) {
        by_weekdays(&d->rule, said->weekdays);
        return said->has_only || which_one(d);
    }
    by_month_days(&d->rule, (uint32_t)1 << day, 0);
    return true;
}

static bool yearly(struct draft *d, unsigned months)
{
    const struct said *said = d->said;
    int64_t year;
    unsigned month, day;
    time_date_of(d->base_day, &year, &month, &day);
    bool named = said->months != 0;
    if (!named && (has_nth(said) || said->set_days != 0)) {
        return resolve_refuse(d->out, "rrule", STR("in which month? Name it"));
    }
    if (!named && said->of_year == OF_EVERY) { /* the first or the last day of the year */
        months = said->month_days_last != 0 ? 1u << 12 : 1u << 1;
    }
    by_months(&d->rule, months != ALL_MONTHS || named ? months : 1u << month);
    if (by_days_of_month(&d->rule, said)) {
        return true;
    }
    if (said->weekdays != 0) {
        return which_one(d);
    }
    by_month_days(&d->rule, named ? 2 : (uint32_t)1 << day, 0);
    return true;
}

/* ---- What time ---- */

/* Not each hour at each minute: only these places of each day's times. */
static bool by_places(struct draft *d, const uint64_t taken[24])
{
    struct rrule *rule = &d->rule;
    unsigned place = 0, used = 0;
    uint64_t places[RRULE_DAY_WORDS] = {0};
    for (uint64_t h = rule->hours; h != 0; h &= h - 1) {
        for (uint64_t m = rule->minutes; m != 0; m &= m - 1) {
            place++;
            if (taken[bits_first(h)] >> bits_first(m) & 1 && place <= GRID_MAX) {
                bits_add(places, place);
                used++;
            }
        }
    }
    if (used == place) {
        return true;
    }
    bool one_day = rule->has & RRULE_BYDAY && rule->weekdays == 0; /* the first Monday */
    if (place > GRID_MAX || rule->has & (RRULE_BYSETPOS | RRULE_BYYEARDAY) ||
        (rule->freq > RRULE_DAILY && rule->interval > 1)) {
        return resolve_refuse(d->out, "rrule", STR("these times are too many for one schedule"));
    }
    if (!one_day) { /* days of the week and of the month limit a daily rule just as well */
        rule->freq = RRULE_DAILY;
    }
    memcpy(rule->positions, places, sizeof places);
    rule->has |= RRULE_BYSETPOS;
    return true;
}

static bool set_clocks(struct draft *d, const struct day_time *clocks, unsigned count)
{
    struct rrule *rule = &d->rule;
    uint64_t taken[24] = {0};
    for (unsigned i = 0; i < count; i++) {
        int64_t time_s;
        (void)resolve_clock(d->said, &clocks[i], &time_s);
        rule->hours |= 1u << (time_s / 3600);
        rule->minutes |= BIT(time_s / 60 % 60);
        rule->seconds |= BIT(time_s % 60);
        taken[time_s / 3600] |= BIT(time_s / 60 % 60);
    }
    rule->has |= RRULE_BYHOUR | RRULE_BYMINUTE;
    if (rule->seconds == 1) {
        rule->seconds = 0;
        return by_places(d, taken);
    }
    rule->has |= RRULE_BYSECOND;
    return count == 1 ||
           resolve_refuse(d->out, "rrule", STR("times with seconds need a schedule each"));
}

static bool default_clock(struct draft *d)
{
    static const int hours[] = {
        [PART_MORNING] = 9, [PART_AFTERNOON] = 15, [PART_EVENING] = 18, [PART_NIGHT] = 20};
    struct day_time clocks[5] = {0};
    unsigned count = 0;
    for (unsigned part = PART_MORNING; part <= PART_NIGHT; part++) {
        if (d->said->parts >> part & 1) {
            clocks[count++].hour = hours[part];
        }
    }
    if (count == 0) {
        int s = d->to->default_s;
        clocks[count++] =
            (struct day_time){.hour = s / 3600, .minute = s / 60 % 60, .second = s % 60};
    }
    return set_clocks(d, clocks, count);
}

/* "every 30 minutes from 9am to 5pm": steps from the first end, both included. */
static bool window(struct draft *d, int64_t step)
{
    int64_t from, to;
    uint64_t taken[24] = {0};
    struct rrule *rule = &d->rule;
    (void)resolve_clock(d->said, &d->said->from, &from);
    (void)resolve_clock(d->said, &d->said->to, &to);
    to += to < from ? WALL_DAY_S : 0;
    if (step % 60 != 0 || (to - from) / step >= GRID_MAX) {
        return resolve_refuse(d->out, "rrule", STR("that is too often for a part of the day"));
    }
    for (int64_t at = from; at <= to; at += step) {
        unsigned hour = (unsigned)(at / 3600 % 24), minute = (unsigned)(at / 60 % 60);
        rule->hours |= 1u << hour;
        rule->minutes |= BIT(minute);
        taken[hour] |= BIT(minute);
    }
    rule->has |= RRULE_BYHOUR | RRULE_BYMINUTE;
    return by_places(d, taken);
}

static bool times(struct draft *d)
{
    const struct said *said = d->said;
    const struct said *start = said->start;
    if (said->hours != 0) { /* minutes of hours, as a summary writes them */
        d->rule.hours = said->hours;
        d->rule.minutes = said->minutes;
        d->rule.has |= RRULE_BYHOUR | RRULE_BYMINUTE;
        return true;
    }
    if (said->clocks_count > 0) {
        return set_clocks(d, said->clocks, said->clocks_count);
    }
    if (said->time_now) {
        int64_t now_s = wall_mod(d->to->now_wall_s, WALL_DAY_S);
        struct day_time now = {.hour = (int)(now_s / 3600), .minute = (int)(now_s / 60 % 60)};
        return set_clocks(d, &now, 1);
    }
    if (said->has_window) {
        return set_clocks(d, &said->from, 1);
    }
    if (start != NULL && start->clocks_count > 0 && said->parts == 0) {
        return set_clocks(d, start->clocks, 1);
    }
    return default_clock(d);
}

/* ---- How often ---- */

static int unit_of(const struct said *said)
{
    if (said->holiday != 0) {
        return UNIT_YEAR;
    }
    bool days_of_month = has_month_days(said) || has_nth(said) || said->set_days != 0;
    bool week = said->weekdays != 0 || said->except_weekdays != 0;
    if (said->unit == UNIT_DAY && week && said->interval == 1 && !said->has_only &&
        !days_of_month) {
        return UNIT_WEEK;
    }
    if (said->unit != UNIT_NONE) {
        return said->unit;
    }
    if (days_of_month) {
        return said->months != 0 || said->of_year == OF_EVERY ? UNIT_YEAR : UNIT_MONTH;
    }
    if (said->weekdays != 0) {
        return UNIT_WEEK;
    }
    return said->months != 0 ? UNIT_YEAR : UNIT_DAY;
}

/* "twice a week": as many days as it says. */
static bool counts_right(struct draft *d)
{
    const struct said *said = d->said;
    unsigned named = 0;
    if (said->unit == UNIT_DAY) {
        named = said->clocks_count + (unsigned)__builtin_popcount(said->parts);
        named = said->clocks_count > 0 ? said->clocks_count : named;
    } else if (said->unit == UNIT_WEEK) {
        named = (unsigned)__builtin_popcount(said->weekdays);
    } else if (said->unit == UNIT_MONTH) {
        named = (unsigned)(__builtin_popcount(said->month_days) +
                           __builtin_popcount(said->month_days_last) +
                           __builtin_popcount(said->set_nth | said->set_nth_last));
        for (size_t i = 0; i < 7; i++) {
            named += (unsigned)(__builtin_popcount(said->nth[i]) +
                                __builtin_popcount(said->nth_last[i]));
        }
    } else if (said->unit == UNIT_YEAR) {
        named = (unsigned)__builtin_popcount(said->months);
    }
    bool right = said->per == 0 || (int)named == said->per || (said->per == 1 && named == 0);
    return right ||
           resolve_refuse(d->out, "rrule", STR("at which times, on which days? Name them"));
}

static bool days(struct draft *d, int unit)
{
    const struct said *said = d->said;
    unsigned months = (said->months != 0 ? said->months : ALL_MONTHS) & ~said->except_months;
    if (months == 0) {
        return contradicts(d);
    }
    if (said->holiday != 0) {
        return holiday_rule(said->holiday, &d->rule) ||
               resolve_refuse(d->out, "rrule",
                              STR("no rule gives Easter and what follows it; give the date"));
    }
    if (said->of_quarter == OF_EVERY) {
        return quarters(d);
    }
    switch (unit) {
    case UNIT_WEEK:
        return weekly(d, months);
    case UNIT_MONTH:
        return monthly(d, months);
    case UNIT_YEAR:
        return yearly(d, months);
    default:
        return daily(d, months);
    }
}

/* "only the 1st of each month" */
static bool only(struct draft *d)
{
    struct rrule *rule = &d->rule;
    if (d->said->has_only) {
        memcpy(d->said->only_last ? rule->positions_last : rule->positions, d->said->only,
               sizeof d->said->only);
        rule->has |= RRULE_BYSETPOS;
    }
    return true;
}

bool draft_rule(struct draft *d)
{
    const struct said *said = d->said;
    int unit = unit_of(said);
    d->rule = (struct rrule){.freq = (enum rrule_freq)unit, .interval = (uint32_t)said->interval};
    if (!counts_right(d)) {
        return false;
    }
    bool steps = unit <= UNIT_HOUR;
    if (!steps) {
        return days(d, unit) && times(d) && only(d);
    }
    if (!said->has_window) {
        return days(d, UNIT_DAY);
    }
    int64_t step = said->interval * (unit == UNIT_HOUR ? 3600 : unit == UNIT_MINUTE ? 60 : 1);
    unit = said->weekdays != 0 || said->except_weekdays != 0 ? UNIT_WEEK : UNIT_DAY;
    d->rule.freq = (enum rrule_freq)unit;
    d->rule.interval = 1;
    return days(d, unit) && window(d, step);
}
