/* english/time.c: phrases for a time of the day.
 *
 * SPDX-License-Identifier: MIT */
#include "english/phrase.h"

/* ---- Minutes of each hour ---- */

static size_t numbers(const struct tokens *t, size_t at, int max, uint64_t *out)
{
    size_t to = at;
    for (;;) {
        int n, last;
        size_t next = to == at ? at : phrase_separator(t, to);
        size_t end = phrase_number(t, next, &n);
        if (end == next || n < 0 || n > max || (to > at && next == to)) {
            return to;
        }
        last = n;
        if (token_is(t, end, WORD_TO)) {
            size_t range = phrase_number(t, end + 1, &last);
            end = range > end + 1 && last >= n && last <= max ? range : end;
            last = end == range ? last : n;
        }
        for (int i = n; i <= last; i++) {
            *out |= (uint64_t)1 << i;
        }
        to = end;
    }
}

/* "at :15 and :45" */
static size_t bare_minutes(const struct tokens *t, size_t at, struct said *said)
{
    size_t to = at + token_is(t, at, WORD_AT), end = at;
    while (to + 1 < t->count && str_is(t->at[to].text, ":") && t->at[to + 1].digits &&
           t->at[to + 1].glued && t->at[to + 1].text.len == 2 && t->at[to + 1].number <= 59) {
        said->minutes |= (uint64_t)1 << t->at[to + 1].number;
        end = to + 2;
        to = phrase_separator(t, end);
    }
    return end;
}

/* "at minute 0", "at minutes 0 and 30 of hours 9 to 17". */
static size_t minutes_named(const struct tokens *t, size_t at, struct said *said)
{
    uint64_t hours = 0;
    if (!token_is(t, at, WORD_AT) || !token_is_unit(t, at + 1, UNIT_MINUTE)) {
        return at;
    }
    size_t to = numbers(t, at + 2, 59, &said->minutes);
    if (to == at + 2) {
        return at;
    }
    if (token_is(t, to, WORD_OF) && token_is_unit(t, to + 1, UNIT_HOUR)) {
        size_t end = numbers(t, to + 2, 23, &hours);
        said->hours = (uint32_t)hours;
        to = end > to + 2 ? end : to;
    }
    return to;
}

static size_t the_hour(const struct tokens *t, size_t at)
{
    return token_is(t, at, WORD_THE) && token_is_unit(t, at + 1, UNIT_HOUR) ? at + 2 : at;
}

/* "on the hour", "on the half hour", "at half past", "at 20 past the hour". */
static size_t minutes_of_hour(const struct tokens *t, size_t at, struct said *said)
{
    int n = 0;
    size_t to = at + 1, end;
    if (token_is(t, at, WORD_ON) && token_is(t, at + 1, WORD_THE)) {
        bool half = token_is(t, at + 2, WORD_HALF);
        end = at + 2 + half;
        said->minutes = token_is_unit(t, end, UNIT_HOUR) ? (uint64_t)1 << (half ? 30 : 0) : 0;
        return said->minutes != 0 ? end + 1 : at;
    }
    if (!token_is(t, at, WORD_AT)) {
        return at;
    }
    to += token_is(t, to, WORD_A);
    bool half = token_is(t, to, WORD_HALF), quarter = token_is(t, to, WORD_QUARTER);
    end = half || quarter ? to + 1 : phrase_number(t, to, &n);
    end += end > to && token_is_unit(t, end, UNIT_MINUTE);
    bool past = token_is(t, end, WORD_PAST) || token_is(t, end, WORD_AFTER);
    bool named = the_hour(t, end + 1) > end + 1;
    if (end == to || (!past && !token_is(t, end, WORD_TO)) || n > 59 || n < 0 ||
        (!half && !quarter && !named)) {
        return at;
    }
    n = half ? 30 : quarter ? 15 : n;
    said->minutes = (uint64_t)1 << (past ? n : (60 - n) % 60);
    return named ? end + 3 : end + 1;
}

/* ---- The phrase ---- */

static size_t part_of_day(const struct tokens *t, size_t at, struct said *said)
{
    size_t to = at;
    while (token_is(t, to, WORD_PART) && !t->at[to].possessive) {
        said->parts |= 1u << (token_value(t, to, WORD_PART) & ~TOKEN_PLURAL);
        size_t next = token_is(t, to + 1, WORD_AND) ? to + 2 : to + 1;
        next += token_is(t, next, WORD_IN) && token_is(t, next + 1, WORD_THE) ? 2 : 0;
        to = token_is(t, next, WORD_PART) && next > to + 1 ? next : to + 1;
    }
    return to;
}

/* "in the morning", "at night", "first thing". */
static size_t part_led(const struct tokens *t, size_t at, struct said *said)
{
    size_t to = at;
    if (token_value(t, at, WORD_ORDINAL) == 1 && token_is_word(t, at + 1, "thing")) {
        said->parts |= 1u << PART_MORNING;
        return at + 2;
    }
    if (token_is(t, to, WORD_IN) && token_is(t, to + 1, WORD_THE)) {
        to += 2;
    } else if (token_is(t, to, WORD_AT) || token_is(t, to, WORD_BY)) {
        to++;
    } else {
        return at;
    }
    size_t end = part_of_day(t, to, said);
    return end > to ? end : at;
}

/* "this time", "same time": the minute of now. */
static size_t time_of_now(const struct tokens *t, size_t at, struct said *said)
{
    size_t from = at + token_is(t, at, WORD_AT);
    from += token_is(t, from, WORD_THE);
    if ((token_is(t, from, WORD_THIS) || token_is_word(t, from, "same")) &&
        token_is(t, from + 1, WORD_TIME) && !t->at[from + 1].possessive) {
        said->time_now = true;
        return from + 2;
    }
    return at;
}

/* "during business hours": Monday to Friday, 9 to 17. */
static size_t business_hours(const struct tokens *t, size_t at, struct said *said)
{
    bool led = token_is_word(t, at, "during") || token_is(t, at, WORD_IN);
    size_t to = at + 1 + (token_is(t, at + 1, WORD_THE) || token_is(t, at + 1, WORD_MY));
    bool work = token_is(t, to, WORD_WORK) || token_is_word(t, to, "office");
    if (!led || !work || !token_is_unit(t, to + 1, UNIT_HOUR)) {
        return at;
    }
    said->has_window = true;
    said->from = (struct day_time){.hour = 9};
    said->to = (struct day_time){.hour = 17};
    said->weekdays = SAID_WORKDAYS;
    return to + 2;
}

/* "at", "around", "by", "for", "at about": what leads a time of the day. */
static size_t clock_lead(const struct tokens *t, size_t at)
{
    size_t to =
        at + (token_is(t, at, WORD_AT) || token_is(t, at, WORD_BY) || token_is(t, at, WORD_FOR));
    to += token_is(t, to, WORD_ABOUT);
    to += to > at && token_is_word(t, to, "."); /* approx. */
    return to;
}

/* A list or a range of hours after whatever leads it. */
static size_t clocks_or_range(const struct tokens *t, size_t at, bool led, struct said *said)
{
    size_t range = phrase_clock_range(t, at, led, said);
    if (range > at) {
        return range;
    }
    return phrase_clocks(t, at, led, said);
}

/* "by 5", "around 5": a number after these is an hour when it counts nothing. */
static bool leads_hour(const struct tokens *t, size_t at, size_t lead)
{
    int n;
    bool at_word = token_is(t, at, WORD_AT);
    size_t number = at + lead, to = phrase_number(t, number, &n);
    bool loose = token_is(t, at, WORD_BY) || token_is(t, at, WORD_ABOUT);
    bool small = to > number && n >= 1 && n <= 23 && t->at[number].hundredths == 0;
    bool counts = token_is(t, to, WORD_UNIT) || token_is_word(t, to, "%") ||
                  token_is(t, to, WORD_OR) || token_is(t, to, WORD_DASH);
    /* "read about 7 dwarfs": only at the beginning, after a phrase, or before its end. */
    bool ends = to >= t->count || token_is_mark(t, to) || t->at[to].count > 0;
    bool begins = at == 0 || token_is_mark(t, at - 1) || t->at[at - 1].count > 0;
    return at_word || (loose && small && !counts && (ends || begins));
}

/* A bare number or list where a day stands before it: "Friday 7", "daily 8, 12 and 5pm". */
static size_t bare_hours(const struct tokens *t, size_t at, const struct place *place,
                         struct said *said)
{
    int n;
    size_t number = phrase_number(t, at, &n);
    bool clock = token_is(t, at, WORD_CLOCK);
    if (!clock && !(token_is(t, at, WORD_NUMBER) && t->at[at].text.ptr[0] != '-')) {
        return at;
    }
    size_t to = clocks_or_range(t, at, true, said);
    if (to == at || place->after_day || clock || said->has_window || said->clocks_count > 1) {
        return to;
    }
    bool sure = number == at || to > number || t->at[at].text.len >= 3 || t->at[at].is_24;
    bool ends = to >= t->count || !token_is_plain(t, to);
    return sure || (ends && n <= 23 && !token_is(t, to, WORD_UNIT)) ? to : at;
}

size_t phrase_time(const struct tokens *t, size_t at, const struct place *place, struct phrase *out)
{
    struct said *said = &out->said;
    out->kind = PHRASE_TIME;
    out->force = FORCE_LED;
    size_t to = minutes_named(t, at, said);
    to = to > at ? to : bare_minutes(t, at, said);
    to = to > at ? to : time_of_now(t, at, said);
    to = to > at ? to : business_hours(t, at, said);
    to = to > at ? to : part_led(t, at, said);
    if (to > at) {
        return to;
    }
    *said = said_nothing();
    size_t lead = clock_lead(t, at) - at;
    bool led = lead > 0 && leads_hour(t, at, lead);
    size_t minutes = minutes_of_hour(t, at, said);
    *said = said_nothing();
    if (lead == 0 && (place->after_day || place->after_often)) {
        to = bare_hours(t, at, place, said);
        if (to > at) {
            return to;
        }
    }
    *said = said_nothing();
    bool range_led = led || (place->apart && t->at[at].digits);
    to = phrase_clock_range(t, at + lead, range_led, said);
    to = to > at + lead ? to : phrase_clocks(t, at + lead, led, said);
    if (to == at + lead && lead == 0 && place->apart && !t->at[at].digits) { /* "ten to six" */
        struct day_time clock;
        to = phrase_clock(t, at, true, &clock, &said->fault);
        bool relative = token_is(t, at + 1, WORD_TO) || token_is(t, at + 2, WORD_TO);
        to = relative && to > at + 2 ? phrase_clocks(t, at, true, said) : at;
    }
    if (to > at + lead && to >= minutes) {
        out->force = lead > 0 || said->has_window ? FORCE_LED : FORCE_BARE;
        return to;
    }
    *said = said_nothing();
    to = minutes_of_hour(t, at, said);
    if (to > at) {
        return to;
    }
    out->force = FORCE_BARE;
    return part_of_day(t, at, said);
}
