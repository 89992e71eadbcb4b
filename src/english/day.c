/* english/day.c: phrases for a day: "tomorrow", "next Friday", "on the 20th", "in 3 days".
 *
 * SPDX-License-Identifier: MIT */
#include "english/phrase.h"

static bool is_free(const struct tokens *t, size_t at)
{
    return at < t->count && !t->at[at].possessive;
}

/* today, tomorrow, tonight, the day after tomorrow, yesterday. */
static size_t by_name(const struct tokens *t, size_t at, struct said *said)
{
    size_t day = at + token_is(t, at, WORD_THE);
    if (token_is_unit(t, day, UNIT_DAY) && token_is(t, day + 1, WORD_AFTER) &&
        token_value(t, day + 2, WORD_TODAY) == 1 && is_free(t, day + 2)) {
        said->has_offset = true;
        said->offset = 2;
        return day + 3;
    }
    if (!is_free(t, at)) {
        return at;
    }
    if (token_is(t, at, WORD_TONIGHT)) {
        said->has_offset = said->tonight = true;
        said->parts |= 1u << PART_NIGHT;
        return at + 1;
    }
    if (!token_is(t, at, WORD_TODAY)) {
        return at;
    }
    said->has_offset = true;
    said->offset = token_value(t, at, WORD_TODAY);
    said->fault = said->offset < 0 ? FAULT_PAST : said->fault;
    return at + 1;
}

/* ---- In so much time ---- */

const struct said *phrase_keep(const struct tokens *t, const struct said *said)
{
    struct said *copy = arena_new(t->arena, struct said);
    *copy = *said;
    return copy;
}

static size_t one_day(const struct tokens *t, size_t at, bool in, struct said *said);

static bool is_direction(const struct tokens *t, size_t at)
{
    return token_is(t, at, WORD_FROM) || token_is(t, at, WORD_AFTER) ||
           token_is(t, at, WORD_BEFORE);
}

/* Days counted from one in each month: "two days before the last day of each month". */
static bool count_in_months(struct said *said, const struct said *anchor, int days)
{
    bool last = anchor->month_days_last != 0;
    uint32_t bits = last ? anchor->month_days_last : anchor->month_days;
    int day = bits == 0 ? 0 : __builtin_ctz(bits) + (last ? -days : days);
    if (!said_recurs(anchor) || day < 1 || day > 28 || (bits & (bits - 1)) != 0) {
        return false;
    }
    *said = *anchor;
    said->month_days = last ? 0 : (uint32_t)1 << day;
    said->month_days_last = last ? (uint32_t)1 << day : 0;
    return true;
}

/* The day after "from", "before" or "after" that is counted from. */
static size_t from_anchor(const struct tokens *t, size_t at, struct said *said)
{
    struct said anchor = said_nothing();
    bool before = token_is(t, at, WORD_BEFORE);
    if (!is_direction(t, at)) {
        return at;
    }
    if (token_is(t, at + 1, WORD_NOW) || token_is_word(t, at + 1, "today")) {
        said->fault = before ? FAULT_PAST : said->fault;
        return at + 2;
    }
    size_t to = one_day(t, at + 1, false, &anchor);
    if (to == at + 1) {
        return at;
    }
    if (said_recurs(&anchor)) {
        int days = (before ? -1 : 1) * said->in.days;
        bool fine = said->in.months == 0 && said->in.seconds == 0 && !said->in.workdays;
        struct said counted = said_nothing();
        if (!fine || !count_in_months(&counted, &anchor, days)) {
            said->fault = FAULT_VAGUE;
            return to;
        }
        *said = counted;
        return to;
    }
    said->fault = anchor.fault;
    if (said->in.seconds != 0) {
        said->fault = FAULT_EVENT;
    }
    said->anchor = phrase_keep(t, &anchor);
    said->in_before = before;
    return to;
}

/* "three Fridays from now": one time. */
static size_t weekdays_ahead(const struct tokens *t, size_t at, struct said *said)
{
    int n;
    size_t from = at + token_is(t, at, WORD_IN), to = phrase_number(t, from, &n);
    if (to == from || n < 1 || n > 100 || !token_is(t, to, WORD_WEEKDAY) ||
        token_spells(t, to + 1, "from now") == to + 1) {
        return at;
    }
    said->ahead = n;
    said->weekdays = 1u << (token_value(t, to, WORD_WEEKDAY) & 7);
    return to + 3;
}

/* "in 3 days", "3 days from now", "a week from Friday", "2 days before Christmas", "3 days ago". */
static size_t in_time(const struct tokens *t, size_t at, struct said *said)
{
    struct said found = *said;
    bool in = token_is(t, at, WORD_IN) || token_is(t, at, WORD_AFTER);
    size_t from = at + in;
    from += in && token_is(t, from, WORD_ABOUT);
    size_t to = phrase_amount(t, from, &found.in);
    if (to == from) {
        return weekdays_ahead(t, at, said);
    }
    bool vague = found.in.vague;
    size_t end = from_anchor(t, to, &found);
    bool week_on = !in && end == to && token_is(t, to, WORD_ON) &&
                   token_is(t, to + 1, WORD_WEEKDAY) &&
                   (found.in.unit == UNIT_WEEK || found.in.unit == UNIT_FORTNIGHT);
    if (week_on && !(token_value(t, to + 1, WORD_WEEKDAY) & TOKEN_PLURAL)) {
        struct said anchor = said_nothing(); /* a week on Friday */
        anchor.weekdays = 1u << token_value(t, to + 1, WORD_WEEKDAY);
        found.anchor = phrase_keep(t, &anchor);
        end = to + 2;
    }
    if (end > to && said_recurs(&found)) {
        *said = found;
        return end;
    }
    if (token_is(t, to, WORD_AGO)) {
        found.fault = FAULT_PAST;
        end = to + 1;
    } else if (in && end == to) {
        size_t noun = to + (to < t->count && str_is(t->at[to].text, "'") && t->at[to].glued);
        end = token_is(t, noun, WORD_TIME) ? noun + 1 : to; /* in 3 weeks' time */
    }
    bool clock_later = token_is_word(t, to, "later") && found.in.unit <= UNIT_HOUR && at == 0;
    if (!in && end == to && clock_later) {
        end = to + 1;
    }
    if (!in && end == to) {
        return at;
    }
    found.has_in = true;
    found.fault = vague ? FAULT_VAGUE : found.fault;
    if (found.in.months < 0 || found.in.days < 0 || found.in.seconds < 0) {
        found.fault = FAULT_PAST;
    }
    *said = found;
    return end;
}

/* "the day after Thanksgiving", "the Friday before Christmas", "the first Monday after Easter". */
static size_t beside_day(const struct tokens *t, size_t at, struct said *said)
{
    struct said found = *said;
    size_t to = at + token_is(t, at, WORD_THE);
    bool day = token_is_unit(t, to, UNIT_DAY);
    int which = token_is(t, to, WORD_ORDINAL) ? token_value(t, to, WORD_ORDINAL) : 0;
    to += which != 0;
    if ((!day && !token_is(t, to, WORD_WEEKDAY)) || !is_direction(t, to + 1) ||
        token_is(t, to + 1, WORD_FROM)) {
        return at;
    }
    bool before = token_is(t, to + 1, WORD_BEFORE);
    if (which != 0 && which != (before ? -1 : 1)) {
        return at;
    }
    found.in = (struct amount){.unit = UNIT_NONE};
    if (day) {
        amount_add(&found.in, 1, 0, UNIT_DAY);
    } else {
        found.near_weekdays = 1u << (token_value(t, to, WORD_WEEKDAY) & 7);
    }
    size_t end = from_anchor(t, to + 1, &found);
    if (end == to + 1 || (found.anchor == NULL && !said_recurs(&found))) {
        return at;
    }
    found.has_in = !said_recurs(&found);
    *said = found;
    return end;
}

/* "Monday week", "tomorrow fortnight": so long after the coming one. */
static size_t week_later(const struct tokens *t, size_t at, struct said *said)
{
    struct said anchor = said_nothing();
    size_t to = at;
    if (token_is(t, at, WORD_TODAY) && token_value(t, at, WORD_TODAY) >= 0) {
        anchor.has_offset = true;
        anchor.offset = token_value(t, at, WORD_TODAY);
        to++;
    } else if (token_is(t, at, WORD_WEEKDAY) &&
               !(token_value(t, at, WORD_WEEKDAY) & TOKEN_PLURAL)) {
        anchor.weekdays = 1u << token_value(t, at, WORD_WEEKDAY);
        to++;
    }
    bool week = token_is_word(t, to, "week") || token_is_unit(t, to, UNIT_FORTNIGHT);
    /* "the Monday week review" is a thing. */
    if (to == at || !week || t->at[at].possessive || token_is_plain(t, to + 1)) {
        return at;
    }
    amount_add(&said->in, 1, 0, token_is_word(t, to, "week") ? UNIT_WEEK : UNIT_FORTNIGHT);
    said->has_in = true;
    said->anchor = phrase_keep(t, &anchor);
    return to + 1;
}

/* ---- This and next ---- */

static size_t which(const struct tokens *t, size_t at, enum said_of *out)
{
    size_t to = at + token_is(t, at, WORD_THE);
    if (token_is(t, to, WORD_NEXT)) {
        *out = OF_NEXT;
        return to + 1;
    }
    if (token_is(t, to, WORD_THIS) || token_is(t, to, WORD_COMING)) {
        *out = OF_THIS;
        return to + 1 + (token_is(t, to, WORD_THIS) && token_is(t, to + 1, WORD_COMING));
    }
    return at;
}

/* A week, month or year that is named whole. */
static size_t period(const struct tokens *t, size_t at, enum said_of of, struct said *said)
{
    if (token_is_unit(t, at, UNIT_WEEK)) {
        said->of_week = of;
    } else if (token_is_unit(t, at, UNIT_MONTH)) {
        said->of_month = of;
    } else if (token_is_unit(t, at, UNIT_YEAR)) {
        said->of_year = of;
    } else if (token_is_unit(t, at, UNIT_QUARTER)) {
        said->of_quarter = of;
    } else {
        return at;
    }
    return at + 1;
}

static size_t weekend(const struct tokens *t, size_t at)
{
    if (token_is(t, at, WORD_DAYSET) && token_value(t, at, WORD_DAYSET) == SAID_WEEKEND &&
        is_free(t, at)) {
        return at + 1;
    }
    return token_is_unit(t, at, UNIT_WEEK) && token_is_word(t, at + 1, "end") ? at + 2 : at;
}

static size_t this_or_next(const struct tokens *t, size_t at, struct said *said)
{
    enum said_of of = OF_NONE;
    size_t to = which(t, at, &of), end;
    if (to == at || !is_free(t, to)) {
        return at;
    }
    end = weekend(t, to);
    if (end > to) {
        said->is_weekend = true;
        said->which = of;
        return end;
    }
    if (token_is(t, to, WORD_PART) && token_is(t, to - 1, WORD_THIS)) {
        said->has_offset = true;
        said->parts |= 1u << (token_value(t, to, WORD_PART) & ~TOKEN_PLURAL);
        said->tonight = said->parts == 1u << PART_NIGHT;
        return to + 1;
    }
    end = phrase_weekdays(t, to, said);
    if (end > to) {
        said->which = of;
        return end;
    }
    if (token_is(t, to, WORD_MONTH)) { /* next July, this December */
        end = phrase_date(t, to, said);
        end = end > to ? end : phrase_months(t, to, said);
        said->of_year = of == OF_NEXT ? OF_NEXT : OF_NONE;
        return end;
    }
    end = period(t, to, of, said);
    return end > to ? end : at;
}

/* "the week after next", "the Monday after next" */
static size_t after_next(const struct tokens *t, size_t at, struct said *said)
{
    size_t to = at + token_is(t, at, WORD_THE);
    if (token_is(t, to, WORD_WEEKDAY) && token_is(t, to + 1, WORD_AFTER) &&
        token_is(t, to + 2, WORD_NEXT) && !token_is(t, to + 3, WORD_UNIT)) {
        said->weekdays = 1u << (token_value(t, to, WORD_WEEKDAY) & 7);
        said->of_week = OF_AFTER_NEXT;
        return to + 3;
    }
    if (token_is(t, to, WORD_UNIT) && token_is(t, to + 1, WORD_AFTER) &&
        token_is(t, to + 2, WORD_NEXT)) {
        return period(t, to, OF_AFTER_NEXT, said) > to ? to + 3 : at;
    }
    return at;
}

/* "last night", "last September", "past Friday"; "last Friday" is an ordinal until more is known.
 */
static size_t gone(const struct tokens *t, size_t at, struct said *said)
{
    bool past = token_is_word(t, at, "past") || token_is_word(t, at, "previous");
    if ((!past && token_value(t, at, WORD_ORDINAL) != -1) || !is_free(t, at + 1)) {
        return at;
    }
    bool unit = token_is(t, at + 1, WORD_UNIT) && !token_is_unit(t, at + 1, UNIT_DAY) &&
                !(token_value(t, at + 1, WORD_UNIT) & TOKEN_PLURAL);
    bool weekday = past && token_is(t, at + 1, WORD_WEEKDAY);
    if (!token_is(t, at + 1, WORD_PART) && !unit && !token_is(t, at + 1, WORD_MONTH) && !weekday) {
        return at;
    }
    said->fault = FAULT_PAST;
    return at + 2;
}

/* ---- The end and the beginning ---- */

/* "the end of every month", "the beginning of July", "the end of the year". */
static size_t edge(const struct tokens *t, size_t at, struct said *said)
{
    struct said found = *said;
    size_t to = at + token_is(t, at, WORD_THE);
    bool end = token_is(t, to, WORD_END), begin = token_is(t, to, WORD_BEGIN);
    size_t month_end = token_spells(t, to, "month end");
    size_t year_end = token_spells(t, to, "year end");
    year_end = year_end > to ? year_end : to + token_is_word(t, to, "year-end");
    month_end = month_end > to ? month_end : to + token_is_word(t, to, "month-end");
    if (month_end > to) {
        said->month_days_last |= 2;
        said->of_month = OF_EVERY;
        return month_end;
    }
    if (year_end > to || token_spells(t, to, "end of year") > to) {
        said->month_days_last |= 2;
        said->months = 1u << 12;
        return year_end > to ? year_end : to + 3;
    }
    if ((!end && !begin) || !token_is(t, to + 1, WORD_OF)) {
        return at;
    }
    found.month_days |= begin ? 2 : 0; /* bit 1: the first day, or the last */
    found.month_days_last |= end ? 2 : 0;
    size_t after = phrase_of(t, to + 1, &found);
    if (token_is(t, to + 2, WORD_THE) && token_is_unit(t, to + 3, UNIT_WEEK)) {
        found.of_week = OF_THIS;
        after = to + 4;
    }
    if (after == to + 1) {
        return at;
    }
    if (found.of_week != OF_NONE) {
        found.month_days = found.month_days_last = 0;
        found.weekdays = end ? 1u << 6 : 1u;
        found.which = OF_NONE;
    }
    if (found.of_year != OF_NONE && found.months == 0) {
        found.months = end ? 1u << 12 : 1u << 1;
    }
    *said = found;
    return after;
}

/* ---- The phrase ---- */

static bool names_day(const struct said *said)
{
    return said->plural || said->listed || said->of_month == OF_EVERY ||
           said->of_quarter == OF_EVERY || said->every;
}

/* "last Friday" without "the" and of no month is gone. */
static bool is_bare_last(const struct tokens *t, size_t at, size_t to)
{
    return token_value(t, at, WORD_ORDINAL) == -1 && token_is(t, at + 1, WORD_WEEKDAY) &&
           to == at + 2;
}

/* "Thursday of next week", "Monday in the week after next" */
static size_t of_some_week(const struct tokens *t, size_t at, struct said *said)
{
    size_t of = at + (token_is(t, at, WORD_OF) || token_is(t, at, WORD_IN));
    struct said found = *said;
    size_t to = after_next(t, of, &found);
    if (to == of && (token_is(t, of, WORD_THIS) || token_is(t, of, WORD_NEXT)) &&
        token_is_unit(t, of + 1, UNIT_WEEK) && !t->at[of + 1].possessive) {
        found.of_week = token_is(t, of, WORD_NEXT) ? OF_NEXT : OF_THIS;
        to = of + 2;
    }
    if (of == at || to == of || found.of_week == OF_NONE || said->plural || said->listed) {
        return at;
    }
    *said = found;
    return to;
}

/* A day that is counted from no other. */
static size_t one_day(const struct tokens *t, size_t at, bool in, struct said *said)
{
    size_t to = by_name(t, at, said);
    to = to > at ? to : after_next(t, at, said);
    if (to > at) {
        return to;
    }
    size_t own = at + (token_is(t, at, WORD_THIS) || token_is(t, at, WORD_NEXT));
    to = phrase_holiday(t, own, said);
    if (to > own) {
        return to;
    }
    to = this_or_next(t, at, said);
    to = to > at ? to : gone(t, at, said);
    to = to > at ? to : edge(t, at, said);
    if (to > at) {
        return to;
    }
    struct said date = *said;
    size_t date_to = phrase_date(t, at, &date);
    to = phrase_ordinals(t, at, said);
    if (date_to > at && date_to >= to) { /* "the 1st of January and July" goes further */
        *said = date;
        return date_to;
    }
    if (to > at) {
        said->bare_last = is_bare_last(t, at, to);
        return to;
    }
    if (in && token_is(t, at, WORD_MONTH)) {
        return phrase_of(t, at, said);
    }
    size_t the = token_is(t, at, WORD_THE);
    to = weekend(t, at + the);
    if (to > at + the && the > 0) { /* "on the weekend" */
        said->is_weekend = true;
        said->which = OF_THIS;
        return to;
    }
    to = phrase_weekdays(t, at, said);
    return to > at ? of_some_week(t, to, said) : at;
}

static size_t with_lead(const struct tokens *t, size_t at, bool in, struct said *said)
{
    size_t to = week_later(t, at, said);
    to = to > at ? to : beside_day(t, at, said);
    return to > at ? to : one_day(t, at, in, said);
}

size_t phrase_single_day(const struct tokens *t, size_t at, struct said *said)
{
    return with_lead(t, at, false, said);
}

size_t phrase_day(const struct tokens *t, size_t at, struct phrase *out)
{
    bool in = token_is(t, at, WORD_IN);
    size_t lead = in || token_is(t, at, WORD_ON) || token_is(t, at, WORD_BY) ||
                  token_is(t, at, WORD_FOR) || token_is(t, at, WORD_AT);
    lead += lead > 0 && token_is(t, at + 1, WORD_ABOUT);
    bool is_condition = token_is(t, at, WORD_IF) && token_is_word(t, at + 1, "it") &&
                        token_is_word(t, at + 2, "is");
    if (is_condition) { /* if it is a Friday */
        lead = 3 + token_is(t, at + 3, WORD_A);
    }
    struct said *said = &out->said;
    out->kind = PHRASE_DAY;
    out->force = FORCE_LED;
    size_t to = in_time(t, at, said);
    if (to > at) {
        return to;
    }
    to = with_lead(t, at + lead, in, said);
    if (to == at + lead) {
        return at;
    }
    bool single_set = !said->plural && !said->listed && said->weekdays != 0 &&
                      (said->weekdays & (said->weekdays - 1)) != 0 && said->set_days == 0;
    if (single_set && !is_condition) { /* "weekday" alone names no day */
        return at;
    }
    bool bare = lead == 0 && !names_day(said) && !said->has_offset && said->which == OF_NONE;
    out->force = bare ? FORCE_BARE : FORCE_LED;
    return to;
}
