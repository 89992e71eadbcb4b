/* english/once.c: the resolver's first half: which day and moment is meant.
 *
 * A day without a year or a month is the next one in the future; a time alone is its next
 * occurrence; what is past is refused. Days and months count on the calendar, hours elapse.
 *
 * SPDX-License-Identifier: MIT */
#include "english/said.h"
#include "time/bits.h"
#include "wire/time.h"

#define YEARS_AHEAD 9 /* from one 29 February to the next there may be eight years */

struct date {
    int64_t year;
    unsigned month, day;
};

static struct date date_of(int64_t day)
{
    struct date date;
    time_date_of(day, &date.year, &date.month, &date.day);
    return date;
}

bool resolve_refuse(struct resolved *out, const char *field, struct str reason)
{
    out->kind = ENGLISH_REFUSED;
    out->field = field;
    out->reason = reason;
    return false;
}

/* A month `n` away from that of `day`; its first day. */
static int64_t month_away(int64_t day, int64_t n)
{
    struct date date = date_of(day);
    int64_t months = date.year * 12 + (int64_t)date.month - 1 + n;
    return time_days_of(wall_div(months, 12), (unsigned)wall_mod(months, 12) + 1, 1);
}

int64_t resolve_add(int64_t day, const struct amount *amount)
{
    struct date date = date_of(day);
    int64_t first = month_away(day, amount->months);
    struct date month = date_of(first);
    unsigned days = time_month_days(month.year, month.month);
    return first + MIN(date.day, days) - 1 + amount->days;
}

/* ---- Time of the day ---- */

/* An hour that leaves am or pm open: 7 to 11 is am, 12 is noon, 1 to 6 is pm. */
static int hour_of(const struct day_time *clock, unsigned parts, enum said_meal meal)
{
    int hour = clock->hour;
    bool night = parts == 1u << PART_NIGHT;
    if (!clock->open) {
        return hour;
    }
    if (parts == 0 && meal != MEAL_NONE && hour != 12) {
        return meal == MEAL_BREAKFAST ? hour : hour + 12;
    }
    if (parts == 1u << PART_MORNING || (night && (hour == 12 || hour < 5))) {
        return hour % 12;
    }
    if (parts != 0 && (parts & (parts - 1)) == 0) {
        return hour % 12 + 12;
    }
    return hour >= 7 ? hour : hour + 12;
}

bool resolve_clock(const struct said *said, const struct day_time *clock, int64_t *time_s)
{
    *time_s = hour_of(clock, said->parts, said->meal) * 3600 + clock->minute * 60 + clock->second;
    return true;
}

static int64_t part_time(unsigned parts)
{
    static const int hours[] = {
        [PART_MORNING] = 9, [PART_AFTERNOON] = 15, [PART_EVENING] = 18, [PART_NIGHT] = 20};
    return (int64_t)hours[bits_first(parts)] * 3600;
}

/* The one time of the day that is said, or the default. */
static bool one_time(const struct resolver *to, const struct said *said, int64_t *time_s,
                     struct resolved *out)
{
    bool many = said->clocks_count > 1 ||
                (said->clocks_count == 0 && (said->parts & (said->parts - 1)) != 0);
    if (many) {
        return resolve_refuse(out, "dtstart",
                              STR("there is more than one time of the day; say how often, or only "
                                  "one of them"));
    }
    *time_s = said->time_now ? wall_mod(to->now_wall_s, WALL_DAY_S) / 60 * 60 : to->default_s;
    if (said->clocks_count == 1) {
        return resolve_clock(said, &said->clocks[0], time_s);
    }
    if (said->has_window) {
        return resolve_clock(said, &said->from, time_s);
    }
    if (said->parts != 0) {
        *time_s = part_time(said->parts);
    }
    return true;
}

/* Midnight tonight, and the small hours of tonight, are tomorrow on the calendar. */
static int64_t night_after(const struct said *said, int64_t time_s)
{
    bool night = said->tonight || said->parts == 1u << PART_NIGHT;
    bool named = said->tonight || said->has_offset || said->weekdays != 0 || said->dated;
    bool midnight = time_s == 0 && named;
    return night && said->clocks_count == 1 && (midnight || (said->tonight && time_s < 5 * 3600));
}

/* ---- Days of a month ---- */

static unsigned nth_of_month(int64_t first, unsigned days, unsigned set, unsigned n, bool last)
{
    for (unsigned i = 0; i < days; i++) {
        unsigned at = last ? days - 1 - i : i;
        if (set >> wall_weekday(first + at) & 1 && --n == 0) {
            return at + 1;
        }
    }
    return 0;
}

static unsigned nth_weekday(const struct said *said, int64_t first, unsigned days)
{
    for (unsigned day = 0; day < 7; day++) {
        if (said->nth[day] != 0) {
            return nth_of_month(first, days, 1u << day, bits_first(said->nth[day]), false);
        }
        if (said->nth_last[day] != 0) {
            return nth_of_month(first, days, 1u << day, bits_first(said->nth_last[day]), true);
        }
    }
    return 0;
}

/* The day of that month that is said, counted from 1; 0: it has none. */
static unsigned day_in_month(const struct said *said, int64_t first)
{
    struct date date = date_of(first);
    unsigned days = time_month_days(date.year, date.month);
    if (said->month_days != 0) {
        unsigned day = bits_first(said->month_days);
        return day <= days ? day : 0;
    }
    if (said->month_days_last != 0) {
        return days + 1 - bits_first(said->month_days_last);
    }
    if (said->set_days != 0) {
        bool last = said->set_nth == 0;
        return nth_of_month(first, days, said->set_days,
                            bits_first(last ? said->set_nth_last : said->set_nth), last);
    }
    unsigned nth = nth_weekday(said, first, days);
    bool asks_nth = false;
    for (unsigned i = 0; i < 7; i++) {
        asks_nth |= said->nth[i] != 0 || said->nth_last[i] != 0;
    }
    return asks_nth ? nth : 1;
}

/* ---- The day ---- */

static bool is_ahead(const struct resolver *to, int64_t day, int64_t time_s)
{
    struct zone_answer answer;
    zone_resolve(to->zone, day * WALL_DAY_S + time_s, &answer);
    return answer.first_s * 1000 > to->now_ms;
}

static bool no_such_day(struct resolved *out)
{
    return resolve_refuse(out, "dtstart", STR("there is no such day"));
}

/* A month that is said with its year, or this or next. */
static bool in_fixed_month(const struct resolver *to, const struct said *said, int64_t *day,
                           struct resolved *out)
{
    struct date today = date_of(to->today);
    int64_t year = said->year != 0            ? said->year
                   : said->of_year == OF_NEXT ? today.year + 1
                                              : today.year;
    int64_t first = month_away(to->today, said->of_month == OF_NEXT         ? 1
                                          : said->of_month == OF_AFTER_NEXT ? 2
                                                                            : 0);
    if (said->months != 0) {
        first = time_days_of(year, bits_first(said->months), 1);
    } else if (said->year != 0 || said->of_year != OF_NONE) {
        first = time_days_of(year, said->month_days_last != 0 ? 12 : 1, 1);
    }
    unsigned in = day_in_month(said, first);
    *day = first + in - 1;
    return in > 0 || no_such_day(out);
}

/* The next month, from this one, that has the day with the time still ahead. */
static bool in_next_month(const struct resolver *to, const struct said *said, int64_t time_s,
                          int64_t *day, struct resolved *out)
{
    int64_t first = month_away(to->today, 0);
    for (int i = 0; i < YEARS_AHEAD * 12; i++, first = month_away(first, 1)) {
        struct date date = date_of(first);
        unsigned in = day_in_month(said, first);
        if (in == 0 || (said->months != 0 && !(said->months >> date.month & 1))) {
            continue;
        }
        *day = first + in - 1;
        if (is_ahead(to, *day, time_s)) {
            return true;
        }
    }
    return no_such_day(out);
}

static int64_t monday_of(int64_t day)
{
    return day - wall_weekday(day);
}

static int64_t next_weekday(int64_t today, unsigned weekday)
{
    return today + 1 + (int64_t)wall_mod((int64_t)weekday - wall_weekday(today + 1), 7);
}

static int64_t week_of(const struct resolver *to, enum said_of of)
{
    return monday_of(to->today) + (of == OF_NEXT ? 7 : of == OF_AFTER_NEXT ? 14 : 0);
}

static bool first_of_quarter(const struct resolver *to, const struct said *said, int64_t *day)
{
    struct date today = date_of(to->today);
    int64_t start = month_away(to->today, -(int64_t)((today.month - 1) % 3));
    int64_t first = said->of_quarter == OF_NEXT ? month_away(start, 3) : start;
    bool last = said->month_days_last != 0;
    *day = last ? month_away(first, 3) - (int64_t)bits_first(said->month_days_last) : first;
    return true;
}

static bool has_month_day(const struct said *said)
{
    uint32_t any = said->month_days | said->month_days_last | said->set_nth | said->set_nth_last;
    for (size_t i = 0; i < 7; i++) {
        any |= said->nth[i] | said->nth_last[i];
    }
    return any != 0;
}

/* So many days from Monday to Friday later. */
static int64_t add_workdays(int64_t day, int n, bool before)
{
    while (n > 0) {
        day += before ? -1 : 1;
        n -= wall_weekday(day) < 5;
    }
    return day;
}

static int64_t step(const struct said *said, int64_t from)
{
    struct amount by = said->in;
    if (said->near_weekdays != 0) {
        int64_t day = from + (said->in_before ? -1 : 1);
        while (!(said->near_weekdays >> wall_weekday(day) & 1)) {
            day += said->in_before ? -1 : 1;
        }
        return day;
    }
    if (by.workdays) {
        return add_workdays(from, by.days, said->in_before);
    }
    by.days = said->in_before ? -by.days : by.days;
    by.months = said->in_before ? -by.months : by.months;
    return resolve_add(from, &by);
}

/* "2 days before Christmas": from the next one of which that is still ahead. */
static bool from_anchor(const struct resolver *to, const struct said *said, int64_t time_s,
                        int64_t *day, struct resolved *out)
{
    struct resolver later = *to;
    const struct said *anchor = said->anchor;
    bool comes_again = anchor->year == 0 && anchor->of_year == OF_NONE &&
                       (anchor->holiday != 0 || anchor->dated || anchor->month_days != 0);
    for (int tries = 0; tries < 2; tries++) {
        int64_t from;
        if (!resolve_day(&later, anchor, WALL_DAY_S - 1, &from, out)) {
            return false;
        }
        *day = step(said, from);
        if (is_ahead(to, *day, time_s) || !comes_again) {
            return true;
        }
        struct zone_answer answer;
        zone_resolve(to->zone, (from + 1) * WALL_DAY_S, &answer);
        later.today = from + 1;
        later.now_ms = answer.first_s * 1000;
    }
    return true;
}

/* "in 3 days". */
static int64_t counted(const struct resolver *to, const struct said *said)
{
    int64_t from = to->today + (said->has_offset ? said->offset : 0);
    bool week = said->in.unit == UNIT_WEEK || said->in.unit == UNIT_MONTH;
    if (said->weekdays != 0 && !week) {
        from = next_weekday(to->today, bits_first(said->weekdays));
    }
    return step(said, from);
}

static bool on_holiday(const struct resolver *to, const struct said *said, int64_t time_s,
                       int64_t *day)
{
    int64_t year = said->year != 0 ? said->year : date_of(to->today).year;
    year += said->year == 0 && said->of_year == OF_NEXT;
    *day = holiday_day(said->holiday, year);
    if (said->year == 0 && said->of_year == OF_NONE && !is_ahead(to, *day, time_s)) {
        *day = holiday_day(said->holiday, year + 1);
    }
    return true;
}

/* A weekday that stands beside a date must be that date's. */
static bool agrees(const struct said *said, int64_t day, struct resolved *out)
{
    if (said->weekdays == 0 || said->weekdays >> wall_weekday(day) & 1) {
        return true;
    }
    return resolve_refuse(out, "dtstart", STR("that date is another day of the week"));
}

static bool by_weekday(const struct resolver *to, const struct said *said, int64_t *day)
{
    unsigned weekday = said->is_weekend ? 5 : bits_first(said->weekdays);
    if (said->which == OF_NEXT || said->of_week != OF_NONE) {
        *day = week_of(to, said->which == OF_NEXT ? OF_NEXT : said->of_week) + weekday;
    } else {
        *day = next_weekday(to->today, weekday);
    }
    return true;
}

bool resolve_day(const struct resolver *to, const struct said *said, int64_t time_s, int64_t *day,
                 struct resolved *out)
{
    bool fixed = said->year != 0 || said->of_year != OF_NONE || said->of_month != OF_NONE;
    if (said->bare_last) {
        return resolve_refuse(out, "dtstart", STR("that time is in the past"));
    }
    if (said->anchor != NULL) {
        return from_anchor(to, said, time_s, day, out);
    }
    if (said->holiday != 0) {
        return on_holiday(to, said, time_s, day) && agrees(said, *day, out);
    }
    if (said->ahead != 0) {
        *day = next_weekday(to->today, bits_first(said->weekdays)) + 7 * ((int64_t)said->ahead - 1);
        return true;
    }
    if (said->has_in) {
        *day = counted(to, said);
        if (said->weekdays != 0 && said->in.unit != UNIT_DAY) { /* in two weeks on Friday */
            *day = monday_of(*day) + bits_first(said->weekdays);
        }
        return true;
    }
    if (said->has_offset) {
        *day = to->today + said->offset;
        return agrees(said, *day, out);
    }
    if (said->of_quarter != OF_NONE) {
        return first_of_quarter(to, said, day);
    }
    if (fixed) {
        return in_fixed_month(to, said, day, out) && agrees(said, *day, out);
    }
    if (has_month_day(said) || said->months != 0) {
        return in_next_month(to, said, time_s, day, out) && agrees(said, *day, out);
    }
    if (said->weekdays != 0 || said->is_weekend) {
        return by_weekday(to, said, day);
    }
    *day = said->of_week == OF_NONE ? to->today
           : said->time_now         ? to->today + (said->of_week == OF_NEXT ? 7 : 14)
                                    : week_of(to, said->of_week);
    return true;
}

/* ---- The moment ---- */

static bool finish_at(const struct resolver *to, int64_t instant_s, struct resolved *out)
{
    out->first_ms = instant_s * 1000;
    if (instant_s > WALL_MAX_S - WALL_DAY_S) {
        return resolve_refuse(out, "dtstart", STR("that is too far in the future"));
    }
    if (out->first_ms <= to->now_ms) {
        return resolve_refuse(out, "dtstart", STR("that time is in the past"));
    }
    if (out->first_ms - to->now_ms < to->min_lead_ms) {
        return resolve_refuse(out, "dtstart", STR("that time is too near"));
    }
    out->kind = ENGLISH_ONCE;
    return true;
}

static bool on_wall(const struct resolver *to, int64_t wall_s, struct resolved *out)
{
    struct zone_answer answer;
    if (wall_s > WALL_MAX_S - WALL_DAY_S || wall_s < WALL_MIN_S + WALL_DAY_S) {
        return resolve_refuse(out, "dtstart", STR("that is too far away"));
    }
    zone_resolve(to->zone, wall_s, &answer);
    out->start = (struct when){.s = wall_s};
    return finish_at(to, answer.first_s, out);
}

/* In hours, minutes or seconds from now. */
static bool elapsed(const struct resolver *to, const struct said *said, struct resolved *out)
{
    int64_t now_s = wall_div(to->now_ms, 1000);
    int64_t instant = now_s + MIN(said->in.seconds, WALL_MAX_S);
    if (said_has_time(said)) {
        return resolve_refuse(out, "dtstart", STR("two times are said; say one of them"));
    }
    if (!finish_at(to, instant, out)) {
        return false;
    }
    resolve_start(to, NULL, out);
    return true;
}

/* A time of the day alone: today when it is ahead, else tomorrow. */
static bool next_time(const struct resolver *to, int64_t time_s, struct resolved *out)
{
    int64_t day = is_ahead(to, to->today, time_s) ? to->today : to->today + 1;
    return on_wall(to, day * WALL_DAY_S + time_s, out);
}

bool resolve_once(const struct resolver *to, const struct said *said, struct resolved *out)
{
    int64_t time_s, day;
    bool vague_period = (said->of_week == OF_THIS && said->weekdays == 0) ||
                        (said->of_month == OF_THIS && !has_month_day(said)) ||
                        (said->of_year == OF_THIS && said->months == 0 && !has_month_day(said));
    if (said->has_in && said->anchor == NULL && said->in.days == 0 && said->in.months == 0) {
        return elapsed(to, said, out);
    }
    if (vague_period) {
        return resolve_refuse(out, "dtstart", STR("on which day? Name one"));
    }
    if (!one_time(to, said, &time_s, out)) {
        return false;
    }
    if (!said_has_day(said)) {
        return said_has_time(said)
                   ? next_time(to, time_s, out)
                   : resolve_refuse(out, "dtstart",
                                    STR("it does not say when; name a day or a time"));
    }
    if (!resolve_day(to, said, time_s, &day, out)) {
        return false;
    }
    day += night_after(said, time_s);
    if (said->has_in && said->in.seconds != 0 && said->clocks_count == 0) { /* a day and 2 hours */
        time_s = wall_mod(to->now_wall_s, WALL_DAY_S) + said->in.seconds;
    }
    return on_wall(to, day * WALL_DAY_S + time_s, out);
}
