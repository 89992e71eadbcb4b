/* english/often.c: phrases for how often: "every other Friday", "twice a day", "weekly".
 *
 * SPDX-License-Identifier: MIT */
#include "english/phrase.h"

#define INTERVAL_MAX 100000000

static void set_unit(struct said *said, int unit, int interval)
{
    said->unit = unit == UNIT_QUARTER ? UNIT_MONTH : unit == UNIT_FORTNIGHT ? UNIT_WEEK : unit;
    said->interval = MIN(interval, INTERVAL_MAX) * (unit == UNIT_QUARTER     ? 3
                                                    : unit == UNIT_FORTNIGHT ? 2
                                                                             : 1);
    if (interval < 1 || interval > INTERVAL_MAX) {
        said->fault = FAULT_IMPOSSIBLE;
        said->interval = 1;
    }
}

/* "of the week" after "every day" adds nothing; "of June" does. */
static size_t of_what(const struct tokens *t, size_t at, struct said *said)
{
    if (token_is(t, at, WORD_OF)) {
        size_t the = at + 1 + (token_is(t, at + 1, WORD_THE) || token_is(t, at + 1, WORD_EVERY));
        if (token_is(t, the, WORD_UNIT) && the > at + 1) {
            return the + 1;
        }
    }
    return token_is(t, at, WORD_OF) && token_is(t, at + 1, WORD_MONTH) ? phrase_of(t, at, said)
                                                                       : at;
}

/* ---- After "every" ---- */

/* every 90 minutes, every half hour, every hour and a half, every few days */
static size_t every_amount(const struct tokens *t, size_t at, struct said *said)
{
    struct amount amount;
    size_t to = phrase_amount(t, at, &amount);
    if (to == at) {
        return at;
    }
    if (amount.vague || amount.workdays) {
        said->fault = amount.vague || amount.n != 1 ? FAULT_VAGUE : FAULT_NONE;
        said->weekdays = amount.workdays ? SAID_WORKDAYS : 0;
        return to;
    }
    if (amount.unit <= UNIT_HOUR && amount.seconds > 0) {
        int unit = amount.seconds % 3600 == 0 && amount.unit == UNIT_HOUR   ? UNIT_HOUR
                   : amount.seconds % 60 == 0 && amount.unit >= UNIT_MINUTE ? UNIT_MINUTE
                                                                            : UNIT_SECOND;
        int64_t by = unit == UNIT_HOUR ? 3600 : unit == UNIT_MINUTE ? 60 : 1;
        set_unit(said, unit, (int)MIN(amount.seconds / by, INT32_MAX));
    } else if (amount.unit > UNIT_HOUR && amount.seconds > 0) {
        said->fault = FAULT_IMPOSSIBLE; /* a day and a half: not on the calendar */
    } else {
        set_unit(said, amount.unit, amount.n);
    }
    return to;
}

/* every half hour, every quarter of an hour */
static size_t every_fraction(const struct tokens *t, size_t at, struct said *said)
{
    bool half = token_is(t, at, WORD_HALF), quarter = token_is(t, at, WORD_QUARTER);
    size_t to = at + 1 + token_is(t, at + 1, WORD_OF);
    to += token_is(t, to, WORD_A);
    if ((half || quarter) && token_is_unit(t, to, UNIT_HOUR)) {
        set_unit(said, UNIT_MINUTE, half ? 30 : 15);
        return to + 1;
    }
    if (half && token_is_unit(t, to, UNIT_YEAR)) {
        set_unit(said, UNIT_MONTH, 6);
        return to + 1;
    }
    return at;
}

static size_t every_unit(const struct tokens *t, size_t at, int interval, struct said *said)
{
    if (!token_is(t, at, WORD_UNIT) || t->at[at].possessive) {
        return at;
    }
    int unit = token_value(t, at, WORD_UNIT) & ~TOKEN_PLURAL;
    bool half_more = token_is(t, at + 1, WORD_AND) && token_is(t, at + 2, WORD_A) &&
                     token_is(t, at + 3, WORD_HALF) && unit == UNIT_HOUR;
    set_unit(said, half_more ? UNIT_MINUTE : unit, half_more ? 90 : interval);
    return of_what(t, half_more ? at + 4 : at + 1, said);
}

/* Days of the week, with an interval in weeks. */
static size_t every_weekday(const struct tokens *t, size_t at, int interval, struct said *said)
{
    size_t to = phrase_weekdays(t, at, said);
    if (to > at && interval != 1) {
        set_unit(said, UNIT_WEEK, interval);
    }
    return to > at ? of_what(t, to, said) : at;
}

/* every third day: an interval. every 3rd Tuesday, every 27th: of the month. */
static size_t every_ordinal(const struct tokens *t, size_t at, struct said *said)
{
    int n = token_value(t, at, WORD_ORDINAL);
    if (!token_is(t, at, WORD_ORDINAL)) {
        return at;
    }
    bool numbers_days = token_is_unit(t, at + 1, UNIT_DAY) && token_is(t, at + 2, WORD_OF);
    bool week_day = token_is_unit(t, at + 1, UNIT_WEEK) && token_is_unit(t, at + 2, UNIT_DAY);
    if (n > 1 && token_is(t, at + 1, WORD_UNIT) && !numbers_days && !week_day) {
        return every_unit(t, at + 1, n, said);
    }
    size_t to = phrase_ordinals(t, at, said);
    if (to > at && said->months == 0 && said->of_quarter == OF_NONE && said->unit == UNIT_NONE) {
        said->of_month = said->of_month == OF_NONE ? OF_EVERY : said->of_month;
    }
    return to;
}

/* every 2 weeks, every 2 Fridays, every 0 days */
static size_t every_number(const struct tokens *t, size_t at, struct said *said)
{
    int n;
    size_t to = every_amount(t, at, said), next;
    if (to > at) {
        return to;
    }
    next = phrase_number(t, at, &n);
    if (next == at) {
        return at;
    }
    to = token_is(t, next, WORD_WEEKDAY) ? every_weekday(t, next, n, said) : next;
    if (to > next) {
        return to;
    }
    if (next >= t->count || token_is_mark(t, next) || token_is(t, next, WORD_AT)) {
        said->fault = FAULT_MISSING;
        return next;
    }
    return at;
}

/* every morning, every noon, every 9am */
static size_t every_time(const struct tokens *t, size_t at, struct said *said)
{
    size_t to = at;
    while (token_is(t, to, WORD_PART)) {
        said->parts |= 1u << (token_value(t, to, WORD_PART) & ~TOKEN_PLURAL);
        to = token_is(t, to + 1, WORD_AND) && token_is(t, to + 2, WORD_PART) ? to + 2 : to + 1;
    }
    if (to == at) {
        to = phrase_clocks(t, at, false, said);
    }
    if (to > at) {
        set_unit(said, UNIT_DAY, 1);
    }
    return to;
}

/* every July 4th, every June and December, every 12/25 */
static size_t every_date(const struct tokens *t, size_t at, struct said *said)
{
    size_t to = phrase_holiday(t, at, said);
    if (to > at) {
        return to;
    }
    size_t end = at + (token_is(t, at, WORD_END) || token_spells(t, at, "month end") > at ||
                       token_is_word(t, at, "month-end"));
    if (end > at) { /* every end of month */
        to = phrase_single_day(t, at, said);
        return to > at && said->of_month != OF_NONE ? to : at;
    }
    to = phrase_date(t, at, said);
    return to > at ? to : phrase_months(t, at, said);
}

/* every now and then, every so often, every once in a while, every time, every Christmas */
static size_t every_unclear(const struct tokens *t, size_t at, struct said *said)
{
    bool so = token_is_word(t, at, "so") && token_is(t, at + 1, WORD_VAGUE);
    bool now = token_is(t, at, WORD_NOW) && token_is(t, at + 1, WORD_AND);
    bool once = token_is(t, at, WORD_ONCE) && token_is(t, at + 1, WORD_IN);
    bool event = token_is(t, at, WORD_TIME) || token_is(t, at, WORD_EVENT);
    if (token_is(t, at, WORD_FEW) || so || now || once || event) {
        said->fault = event ? FAULT_EVENT : FAULT_VAGUE;
        return MIN(at + (once ? 4 : now ? 3 : so ? 2 : 1), t->count);
    }
    return at;
}

static bool lacks_its_noun(const struct tokens *t, size_t at)
{
    return at >= t->count || token_is(t, at, WORD_AT) || token_is(t, at, WORD_STOP) ||
           token_is(t, at, WORD_ON);
}

/* "every second week", not "every second". */
static bool numbers_something(const struct tokens *t, size_t at)
{
    return token_is(t, at, WORD_ORDINAL) &&
           (token_is(t, at + 1, WORD_UNIT) || token_is(t, at + 1, WORD_WEEKDAY) ||
            token_is(t, at + 1, WORD_DAYSET) || token_is(t, at + 1, WORD_WORK) ||
            token_is(t, at + 1, WORD_AND) || token_is(t, at + 1, WORD_TO));
}

static size_t after_every(const struct tokens *t, size_t at, struct said *said)
{
    int interval = 1;
    size_t from = at;
    at += token_is(t, at, WORD_SINGLE);
    if (token_is(t, at, WORD_OTHER)) {
        interval = 2;
        at++;
    }
    size_t start = at, to = interval == 1 ? every_date(t, at, said) : at;
    if (to > at && said->holiday == 0 && said->month_days_last == 0 && said->fault == FAULT_NONE) {
        *said = said_nothing(); /* dates are tried in their turn */
        to = at;
    }
    to = to > at ? to : every_unclear(t, at, said);
    to = to > at ? to : every_fraction(t, at, said);
    if (to == at && interval == 1 && numbers_something(t, at)) {
        to = every_ordinal(t, at, said);
    }
    to = to > at ? to : every_weekday(t, at, interval, said);
    to = to > at ? to : every_unit(t, at, interval, said);
    if (to == start && interval == 1) {
        to = every_number(t, at, said);
        to = to > at ? to : every_date(t, at, said);
        to = to > at ? to : every_ordinal(t, at, said);
        to = to > at ? to : every_time(t, at, said);
    }
    if (to == start && lacks_its_noun(t, at)) {
        said->fault = FAULT_MISSING;
        return MAX(at, from);
    }
    return to > start ? to : from;
}

static size_t every(const struct tokens *t, size_t at, struct said *said)
{
    size_t next = at + 1;
    if (!token_is(t, at, WORD_EVERY)) {
        return at;
    }
    if (token_is(t, next, WORD_AND) && token_is(t, next + 1, WORD_EVERY)) { /* each and every */
        next += 2;
    }
    struct said found = *said;
    size_t to = after_every(t, next, &found);
    if (to == next && found.fault == FAULT_NONE) {
        return at; /* "check every file" */
    }
    found.every = true;
    *said = found;
    return to;
}

/* ---- So many times in a unit ---- */

static size_t how_many_times(const struct tokens *t, size_t at, int *n, bool *vague)
{
    *vague = false;
    if (token_is(t, at, WORD_ONCE)) {
        *n = token_value(t, at, WORD_ONCE);
        return at + 1;
    }
    size_t to = phrase_number(t, at, n);
    if (to > at && token_is(t, to, WORD_TIMES)) {
        return to + 1;
    }
    to = at + token_is(t, at, WORD_A);
    if (token_is(t, to, WORD_FEW) || token_is_word(t, to, "many")) {
        to += 1 + token_is(t, to + 1, WORD_OF);
        *vague = true;
        return token_is(t, to, WORD_TIMES) ? to + 1 : at;
    }
    return at;
}

/* once a week, twice daily, three times per month, once every 3 days */
static size_t times_per(const struct tokens *t, size_t at, struct said *said)
{
    int n = 0;
    bool vague;
    size_t to = how_many_times(t, at, &n, &vague), end;
    if (to == at) {
        return at;
    }
    if (token_is(t, to, WORD_FREQ) && token_value(t, to, WORD_FREQ) < FREQ_NIGHTLY) {
        set_unit(said, token_value(t, to, WORD_FREQ) / 16, token_value(t, to, WORD_FREQ) % 16);
        end = to + 1;
    } else if (token_is(t, to, WORD_EVERY)) {
        end = every(t, to, said);
    } else {
        size_t per = to + (token_is(t, to, WORD_A) || token_is(t, to, WORD_PER));
        end = per > to ? every_unit(t, per, 1, said) : per;
        end = end > per ? end : to;
    }
    if (end == to) {
        return at;
    }
    said->every = true;
    said->per = n;
    said->fault = vague ? FAULT_VAGUE : n < 1 ? FAULT_IMPOSSIBLE : said->fault;
    return end;
}

/* ---- daily, weekly … ---- */

static bool goes_on(const struct tokens *t, size_t at)
{
    return token_is_plain(t, at) && !token_is_word(t, at, "remind") &&
           !token_is_word(t, at, "please");
}

/* "a monthly report" is a thing, "remind me daily to stretch" is an order. */
static enum phrase_force force_of_word(const struct tokens *t, size_t at)
{
    if (at > 0 && (token_is(t, at - 1, WORD_THE) || token_is(t, at - 1, WORD_MY) ||
                   token_is(t, at - 1, WORD_THIS) || token_is(t, at - 1, WORD_NEXT))) {
        return FORCE_THING;
    }
    if (at > 0 && token_is(t, at - 1, WORD_A)) {
        return FORCE_MAYBE;
    }
    if (!goes_on(t, at + 1)) {
        return FORCE_LED;
    }
    return at == 0 ? FORCE_BARE : FORCE_MAYBE;
}

static size_t by_word(const struct tokens *t, size_t at, struct phrase *out)
{
    if (!token_is(t, at, WORD_FREQ) || t->at[at].possessive) {
        return at;
    }
    int value = token_value(t, at, WORD_FREQ);
    struct said *said = &out->said;
    out->force = force_of_word(t, at);
    said->every = true;
    if (value == FREQ_AMBIGUOUS) {
        said->fault = FAULT_AMBIGUOUS;
    } else if (value == FREQ_NIGHTLY) {
        set_unit(said, UNIT_DAY, 1);
        said->parts |= 1u << PART_NIGHT;
    } else {
        set_unit(said, value / 16, value % 16);
    }
    return at + 1;
}

/* "mornings", "in the evenings": each day's. */
static size_t plural_parts(const struct tokens *t, size_t at, struct said *said)
{
    size_t from = at + (token_is(t, at, WORD_IN) && token_is(t, at + 1, WORD_THE) ? 2 : 0);
    size_t to = from;
    while (token_is(t, to, WORD_PART) && token_value(t, to, WORD_PART) & TOKEN_PLURAL &&
           !token_is(t, to, WORD_DAYSET)) {
        said->parts |= 1u << (token_value(t, to, WORD_PART) & ~TOKEN_PLURAL);
        said->every = said->plural = true;
        to = token_is(t, to + 1, WORD_AND) && token_is(t, to + 2, WORD_PART) ? to + 2 : to + 1;
    }
    return to > from ? to : at;
}

/* "alternate Fridays" */
static size_t alternate(const struct tokens *t, size_t at, struct said *said)
{
    struct said found = *said;
    if (!token_is(t, at, WORD_OTHER) || token_is_word(t, at, "other")) {
        return at;
    }
    size_t to = every_weekday(t, at + 1, 2, &found);
    if (to == at + 1) {
        to = every_unit(t, at + 1, 2, &found);
    }
    if (to == at + 1) {
        return at;
    }
    found.every = true;
    *said = found;
    return to;
}

size_t phrase_often(const struct tokens *t, size_t at, struct phrase *out)
{
    out->kind = PHRASE_OFTEN;
    out->force = FORCE_EVERY;
    size_t lead =
        (token_is(t, at, WORD_ON) && !token_is_particle(t, at)) || token_is(t, at, WORD_FOR);
    if (token_is_word(t, at, "all") &&
        (token_spells(t, at, "all days") > at || token_spells(t, at, "all weekdays") > at)) {
        out->said.every = true;
        out->said.unit = token_is(t, at + 1, WORD_DAYSET) ? UNIT_NONE : UNIT_DAY;
        out->said.weekdays = token_is(t, at + 1, WORD_DAYSET) ? SAID_WORKDAYS : 0;
        return at + 2;
    }
    size_t to = alternate(t, at + lead, &out->said);
    to = to > at + lead ? to : every(t, at + lead, &out->said);
    if (to > at + lead) {
        return to;
    }
    to = times_per(t, at, &out->said);
    to = to > at ? to : plural_parts(t, at, &out->said);
    return to > at ? to : by_word(t, at, out);
}
