/* english/recurring.c: the resolver's second half: the rule that is meant, and its start.
 *
 * The first occurrence is the earliest moment after now, and not before a given start, that fits
 * the parts of the rule with its interval left aside; the interval counts from it.
 *
 * SPDX-License-Identifier: MIT */
#include "english/rule.h"
#include "time/bits.h"
#include "wire/time.h"

#define EXDATES_MAX 366
#define CLOCK_UNITS 3 /* seconds, minutes, hours: elapsed time */

static const int64_t unit_s[] = {1, 60, 3600};

/* ---- The start that is said ---- */

/* The day of "starting Monday"; none said: today. */
static bool start_day(struct draft *d)
{
    const struct said *start = d->said->start;
    if (start == NULL && d->said->year != 0) { /* every 10 years on January 1 2030 */
        start = d->said;
    }
    d->base_day = d->to->today;
    d->after_ms = d->to->now_ms;
    if (start == NULL || !said_has_day(start)) {
        return true;
    }
    struct zone_answer answer;
    if (start->has_in && start->in.days == 0 && start->in.months == 0) {
        return true; /* in hours: an anchor, see anchor() */
    }
    if (!resolve_day(d->to, start, WALL_DAY_S - 1, &d->base_day, d->out)) {
        return false;
    }
    if (d->base_day < d->to->today) {
        return resolve_refuse(d->out, "dtstart", STR("it would start in the past"));
    }
    zone_resolve(d->to->zone, d->base_day * WALL_DAY_S, &answer);
    d->after_ms = MAX(d->to->now_ms, answer.first_s * 1000 - 1);
    return true;
}

/* ---- The first occurrence ---- */

void resolve_start(const struct resolver *to, const struct rrule *rule, struct resolved *out)
{
    int64_t utc_s = wall_div(out->first_ms, 1000), wall_s = zone_wall(to->zone, utc_s);
    struct zone_answer answer;
    struct zone_span span;
    zone_resolve(to->zone, wall_s, &answer);
    zone_span_at(to->zone, utc_s, &span);
    bool shifted = rule != NULL && rule->freq >= RRULE_DAILY &&
                   !(rule->hours >> (wall_mod(wall_s, WALL_DAY_S) / 3600) & 1);
    if (shifted) { /* in a gap: the time that the rule names does not exist on that day */
        out->start = (struct when){.s = utc_s + span.before_s};
    } else if (answer.first_s == utc_s) {
        out->start = (struct when){.s = wall_s};
    } else { /* the second of two: the wall alone cannot say it */
        out->start = (struct when){.is_utc = true, .s = utc_s};
    }
}

static bool never(struct resolved *out)
{
    return resolve_refuse(out, "rrule", STR("that never happens"));
}

static bool first_of(const struct resolver *to, const struct recur_order *order, int64_t after_ms,
                     int64_t *first_ms)
{
    SCOPED(recur_free_at) struct recur *recur = NULL;
    return recur_new(order, &recur, NULL) && recur_next(recur, after_ms, first_ms) &&
           *first_ms <= (WALL_MAX_S - WALL_DAY_S) * 1000 && *first_ms > to->now_ms;
}

bool resolve_first(const struct resolver *to, const struct rrule *rule, int64_t after_ms,
                   struct resolved *out)
{
    struct rrule probe = *rule;
    int64_t wall_s = zone_wall(to->zone, wall_div(after_ms, 1000));
    struct recur_order order = {.rule = &probe, .zone = to->zone};
    probe.interval = 1;
    order.start.s = wall_div(wall_s, WALL_DAY_S) * WALL_DAY_S;
    if (!first_of(to, &order, after_ms, &out->first_ms)) {
        return never(out);
    }
    resolve_start(to, rule, out);
    return true;
}

/* ---- Rules that step by the clock ---- */

/* When "every 4 hours" begins: at the time said, or one step from now. */
static bool anchor(struct draft *d, int64_t *instant_s)
{
    const struct said *said = d->said;
    struct said at = said->start != NULL ? *said->start : said_nothing();
    if (at.clocks_count == 0) {
        at.clocks[0] = said->clocks[0];
        at.clocks_count = MIN(said->clocks_count, 1);
    }
    if (said_has_day(&at) || at.clocks_count > 0) {
        struct resolved once = {.kind = ENGLISH_REFUSED};
        if (!resolve_once(d->to, &at, &once)) {
            return resolve_refuse(d->out, once.field, once.reason);
        }
        *instant_s = wall_div(once.first_ms, 1000);
        return true;
    }
    int64_t step = (int64_t)d->rule.interval * unit_s[d->rule.freq];
    *instant_s = wall_div(d->to->now_ms, 1000) + step;
    return true;
}

static bool is_anchored(const struct said *said)
{
    return said->start != NULL || said->clocks_count > 0;
}

bool draft_elapsed(struct draft *d)
{
    const struct said *said = d->said;
    int64_t instant_s;
    struct rrule *rule = &d->rule;
    if (said->parts != 0 || said->clocks_count > 1) {
        return resolve_refuse(d->out, "rrule",
                              STR("from when to when? Say for example from 9am to 5pm"));
    }
    if (!anchor(d, &instant_s)) {
        return false;
    }
    if (said->minutes != 0 && rule->freq == RRULE_HOURLY) {
        rule->minutes = said->minutes;
        rule->has |= RRULE_BYMINUTE;
        int64_t after = is_anchored(said) ? instant_s * 1000 - 1 : d->to->now_ms;
        return resolve_first(d->to, rule, after, d->out);
    }
    if (instant_s > WALL_MAX_S - WALL_DAY_S) {
        return never(d->out);
    }
    d->out->first_ms = instant_s * 1000;
    if (rule->has != 0) {
        struct recur_order order = {{true, instant_s}, rule, d->to->zone, 0, 0, NULL, NULL, 0, 0};
        if (!first_of(d->to, &order, instant_s * 1000 - 1, &d->out->first_ms)) {
            return never(d->out);
        }
    }
    resolve_start(d->to, rule, d->out);
    return true;
}

/* ---- Until when ---- */

static void set_until(struct draft *d, int64_t utc_s)
{
    d->rule.until = RRULE_UNTIL_UTC;
    d->rule.until_s = utc_s;
}

static int64_t month_start(int64_t year, int64_t month) /* month from 0, any */
{
    return time_days_of(year + wall_div(month, 12), (unsigned)wall_mod(month, 12) + 1, 1);
}

/* "until December" ends before it begins, "through December" with it. */
static int64_t month_end(const struct draft *d, const struct said *until, bool through)
{
    int64_t year, day = wall_div(d->first_wall_s, WALL_DAY_S);
    unsigned month, of_month;
    int64_t named = (int64_t)bits_first(until->months) - 1;
    time_date_of(day, &year, &month, &of_month);
    if (until->year != 0) {
        year = until->year;
    } else if (through ? month_start(year, named + 1) <= day : month_start(year, named) <= day) {
        year++;
    }
    return month_start(year, through ? named + 1 : named) - 1;
}

static bool is_month_alone(const struct said *until)
{
    uint32_t days = until->month_days | until->month_days_last | until->set_nth |
                    until->set_nth_last | until->weekdays;
    for (size_t i = 0; i < 7; i++) {
        days |= until->nth[i] | until->nth_last[i];
    }
    return until->months != 0 && days == 0;
}

/* Next week, next month, a year: before they begin, or with them. */
static bool period_end(const struct draft *d, const struct said *until, int64_t *day)
{
    bool through = d->said->through;
    struct said next = said_nothing();
    bool period = until->of_week != OF_NONE || until->of_month == OF_NEXT ||
                  until->of_month == OF_THIS || until->of_year != OF_NONE || until->year != 0;
    if (!period || said_has_days(until) || until->has_offset || until->has_in) {
        return false;
    }
    next.of_week = until->of_week;
    next.of_month = until->of_month;
    next.of_year = until->of_year;
    next.year = until->year;
    if (!resolve_day(d->to, &next, 0, day, d->out)) {
        return false;
    }
    int64_t year;
    unsigned month, of_month;
    time_date_of(*day, &year, &month, &of_month);
    int64_t after = until->of_week != OF_NONE    ? *day + 7
                    : until->of_month != OF_NONE ? month_start(year, month)
                                                 : month_start(year + 1, 0);
    bool this =
        until->of_week == OF_THIS || until->of_month == OF_THIS || until->of_year == OF_THIS;
    *day = (through || this ? after : *day) - 1;
    return true;
}

static bool until_day(struct draft *d, const struct said *said, int64_t *day)
{
    struct said until = *said;
    struct resolver later = *d->to;
    if (is_month_alone(&until)) {
        *day = month_end(d, &until, d->said->through);
        return true;
    }
    if (period_end(d, &until, day)) {
        return true;
    }
    until.of_month = until.of_month == OF_EVERY ? OF_THIS : until.of_month;
    until.of_year = until.of_year == OF_EVERY ? OF_THIS : until.of_year;
    until.of_quarter = until.of_quarter == OF_EVERY ? OF_THIS : until.of_quarter;
    if (until.dated) { /* without a year: the next one after the first occurrence */
        later.now_ms = d->out->first_ms - 1;
        later.today = wall_div(d->first_wall_s, WALL_DAY_S);
    }
    return resolve_day(&later, &until, WALL_DAY_S - 1, day, d->out);
}

static bool end_at_time(struct draft *d, const struct said *until)
{
    struct resolved once = {.kind = ENGLISH_REFUSED};
    if (!resolve_once(d->to, until, &once)) {
        return resolve_refuse(d->out, once.field, once.reason);
    }
    set_until(d, wall_div(once.first_ms, 1000));
    return true;
}

static bool end_until(struct draft *d, const struct said *until)
{
    struct zone_answer answer;
    int64_t day;
    bool ok;
    if (until->clocks_count > 0 || (until->has_in && until->in.seconds > 0)) {
        ok = end_at_time(d, until);
    } else {
        ok = until_day(d, until, &day);
        if (ok) {
            zone_resolve(d->to->zone, day * WALL_DAY_S + WALL_DAY_S - 1, &answer);
            set_until(d, answer.first_s);
        }
    }
    if (ok && d->rule.until_s * 1000 < d->out->first_ms) {
        return resolve_refuse(d->out, "rrule", STR("it would end before it begins"));
    }
    return ok;
}

/* "for 6 weeks": so many as fall into six weeks from the first on. */
static bool end_after(struct draft *d, const struct amount *lasting)
{
    SCOPED(recur_free_at) struct recur *recur = NULL;
    struct zone_answer answer;
    struct recur_order order = {.start = d->out->start, .rule = &d->rule, .zone = d->to->zone};
    int64_t day = wall_div(d->first_wall_s, WALL_DAY_S);
    int64_t end_day = resolve_add(day, lasting);
    if (end_day > day + LASTING_DAYS_MAX || !recur_new(&order, &recur, NULL)) {
        return resolve_refuse(d->out, "rrule", STR("that is too long"));
    }
    zone_resolve(d->to->zone, d->first_wall_s + (end_day - day) * WALL_DAY_S, &answer);
    int64_t upto_ms = (answer.first_s + lasting->seconds) * 1000 - 1;
    if (d->rule.freq < CLOCK_UNITS && d->rule.has == 0) {
        int64_t step = unit_s[d->rule.freq] * d->rule.interval;
        int64_t span = (upto_ms + 1 - d->out->first_ms) / 1000;
        d->rule.count = (uint32_t)MAX(1, (span + step - 1) / step);
        return true;
    }
    d->rule.count = (uint32_t)MAX(1, recur_count(recur, d->out->first_ms - 1, upto_ms));
    return true;
}

static bool end(struct draft *d)
{
    const struct said *said = d->said;
    int ends = (said->until != NULL) + (said->count > 0) + said->has_lasting;
    if (ends > 1) {
        return resolve_refuse(d->out, "rrule", STR("it ends in two ways; say one of them"));
    }
    if (said->count > 0) {
        d->rule.count = (uint32_t)said->count;
    }
    return (said->until == NULL || end_until(d, said->until)) &&
           (!said->has_lasting || end_after(d, &said->lasting));
}

/* ---- What is left out ---- */

/* The occurrences on one day become exceptions. */
static bool leave_out_day(struct draft *d, struct recur *recur, int64_t day)
{
    int64_t from_ms, to_ms, at_ms;
    struct zone_answer answer;
    zone_resolve(d->to->zone, day * WALL_DAY_S, &answer);
    from_ms = answer.first_s * 1000;
    zone_resolve(d->to->zone, (day + 1) * WALL_DAY_S, &answer);
    to_ms = answer.first_s * 1000;
    for (at_ms = from_ms - 1; recur_next(recur, at_ms, &at_ms) && at_ms < to_ms;) {
        if (d->out->exdates_count == EXDATES_MAX) {
            return resolve_refuse(d->out, "rrule", STR("that leaves out too many"));
        }
        d->out->exdates[d->out->exdates_count++] =
            (struct when){.s = zone_wall(d->to->zone, wall_div(at_ms, 1000))};
    }
    return true;
}

/* A week, a month or one day: "except next week", "except tomorrow". */
static bool days_left_out(struct draft *d, const struct said *left, int64_t *from, int64_t *upto)
{
    bool week = left->of_week != OF_NONE && left->weekdays == 0;
    bool month = (left->of_month == OF_THIS || left->of_month == OF_NEXT) && !said_has_days(left);
    if (!resolve_day(d->to, left, WALL_DAY_S - 1, from, d->out)) {
        return false;
    }
    struct amount length = {.days = week ? 7 : month ? 0 : 1, .months = month};
    *upto = resolve_add(*from, &length);
    return true;
}

static bool leave_out(struct draft *d)
{
    SCOPED(recur_free_at) struct recur *all = NULL, *rest = NULL;
    const struct said *said = d->said;
    struct recur_order order = {.start = d->out->start, .rule = &d->rule, .zone = d->to->zone};
    if (said->except_days_count == 0) {
        return true;
    }
    if (!recur_new(&order, &all, NULL)) {
        return never(d->out);
    }
    d->out->exdates = arena_array(d->to->arena, struct when, EXDATES_MAX);
    for (unsigned i = 0; i < said->except_days_count; i++) {
        int64_t from, upto;
        if (!days_left_out(d, said->except_days[i], &from, &upto)) {
            return false;
        }
        for (; from < upto; from++) {
            if (!leave_out_day(d, all, from)) {
                return false;
            }
        }
    }
    order.exdates = d->out->exdates;
    order.exdates_count = d->out->exdates_count;
    int64_t was_ms = d->out->first_ms;
    if (!recur_new(&order, &rest, NULL) || !recur_next(rest, d->to->now_ms, &d->out->first_ms)) {
        return never(d->out);
    }
    /* It begins with the first that is not left out; those before it have been counted. */
    if (d->rule.count > 0 && d->out->first_ms > was_ms) {
        d->rule.count -= (uint32_t)recur_count(all, was_ms - 1, d->out->first_ms - 1);
    }
    resolve_start(d->to, &d->rule, d->out);
    return true;
}

/* ---- All of it ---- */

bool resolve_recurring(const struct resolver *to, const struct said *said, struct resolved *out)
{
    struct draft d = {.to = to, .said = said, .out = out};
    if (!start_day(&d) || !draft_rule(&d)) {
        return false;
    }
    if (d.rule.freq < CLOCK_UNITS ? !draft_elapsed(&d)
                                  : !resolve_first(to, &d.rule, d.after_ms, out)) {
        return false;
    }
    d.first_wall_s = zone_wall(to->zone, wall_div(out->first_ms, 1000));
    if (!end(&d) || !leave_out(&d)) {
        return false;
    }
    out->rule = d.rule;
    out->kind = ENGLISH_RECURRING;
    return true;
}

/* ---- Why not ---- */

/* The words that are to blame are quoted before the reason. */
static const struct {
    const char *field, *reason;
} faults[] = {
    [FAULT_VAGUE] = {"dtstart", "that is too vague; name a day and a time, or how often"},
    [FAULT_EVENT] = {"dtstart", "it depends on something that has no known time; name the time"},
    [FAULT_ALTERNATIVE] = {"dtstart", "there is a choice in it; say which one"},
    [FAULT_IMPOSSIBLE] = {"dtstart", "there is no such time, day or number"},
    [FAULT_PAST] = {"dtstart", "that time is in the past"},
    [FAULT_MISSING] = {"text", "the sentence breaks off; something is missing"},
    [FAULT_AMBIGUOUS] = {"rrule", "that word has two meanings; say how often in other words"},
    [FAULT_CONFLICT] = {"dtstart", "it contradicts itself; say one of the two"},
    [FAULT_ZONE] = {"timezone", "it names another time zone than the one given"},
    [FAULT_HOLIDAYS] = {"rrule", "whose holidays? Name the days that are left out"},
    [FAULT_WHICH_DAYS] = {"rrule", "at which times, on which days? Name them"},
    [FAULT_PLACE] = {"timezone", "no time zone is called so; name a large city, for example "
                                 "\"Chicago time\""},
    [FAULT_ZONES] = {"timezone", "that name has several meanings; name a city, for example "
                                 "\"Dublin time\""},
    [FAULT_DASHED] = {"dtstart", "is the day or the month first? Write 2027-03-01 or 1 March 2027"},
    [FAULT_NO_HOLIDAY] = {"dtstart", "that holiday is not the same day everywhere; give the date"},
    [FAULT_EASTER] = {"rrule", "no rule gives Easter and what follows it; give the date"},
    [FAULT_UNPLACED] = {"text", "it looks like a part of when, and has no place; say it in other "
                                "words, or in quotes if it belongs to the task"},
    [FAULT_SPAN] = {"rrule", "how often is that? Say for example every day or every 2 weeks"},
    [FAULT_LANGUAGE] = {"text", "English only; or use the fields dtstart, rrule and timezone"},
    [FAULT_RULE] = {"text", "a rule is not a sentence; give it as rrule"},
    [FAULT_CRON] = {"text", "a cron expression is not a sentence; give it as cron"},
    [FAULT_QUESTION] = {"text", "that is a question; say what to do and when"},
    [FAULT_NEGATION] = {"text", "that says what not to do; say what to do and when"},
    [FAULT_CONDITION] = {"text", "a condition cannot be scheduled; name the days"},
    [FAULT_TWO] = {"text", "these are two schedules; say one of them"},
};

void resolve(struct resolver *to, const struct said *said, struct resolved *out)
{
    *out = (struct resolved){.kind = ENGLISH_REFUSED};
    if (said->fault != FAULT_NONE) {
        out->fault = said->fault;
        (void)resolve_refuse(out, faults[said->fault].field, str_of(faults[said->fault].reason));
    } else if (said_recurs(said)) {
        (void)resolve_recurring(to, said, out);
    } else {
        (void)resolve_once(to, said, out);
    }
}
