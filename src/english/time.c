/* english/time.c: phrases for a time of the day.
 *
 * SPDX-License-Identifier: MIT */
#include "english/phrase.h"

static bool fits(int hour, int minute, int second, int half_of_day)
{
    bool halves = half_of_day < 0 || (hour >= 1 && hour <= 12) || (hour == 0 && half_of_day == 0);
    return hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second <= 59 && halves;
}

static bool set_clock(struct day_time *out, int hour, int minute, int half_of_day, bool is_24,
                      enum said_fault *fault)
{
    if (!fits(hour, minute, out->second, half_of_day)) {
        *fault = FAULT_IMPOSSIBLE;
        hour = minute = 0;
    }
    out->open = half_of_day < 0 && !is_24 && hour >= 1 && hour <= 12;
    if (half_of_day >= 0 && hour <= 12) {
        hour = hour % 12 + 12 * half_of_day;
    }
    out->hour = hour;
    out->minute = minute;
    return true;
}

/* am or pm that stands apart: "9 pm", "9 p.m.". */
static size_t half_of_day(const struct tokens *t, size_t at, int *half)
{
    if (token_is(t, at, WORD_HALF_OF_DAY)) {
        *half = token_value(t, at, WORD_HALF_OF_DAY);
        return at + 1;
    }
    return at;
}

/* "in the morning", "at night", said of an hour. */
static size_t part_after(const struct tokens *t, size_t at, int *part)
{
    size_t to = at;
    if (token_is(t, to, WORD_IN) && token_is(t, to + 1, WORD_THE)) {
        to += 2;
    } else if (token_is(t, to, WORD_AT)) {
        to++;
    } else {
        return at;
    }
    if (!token_is(t, to, WORD_PART)) {
        return at;
    }
    *part = token_value(t, to, WORD_PART) & ~TOKEN_PLURAL;
    return to + 1;
}

static void settle(struct day_time *clock, int part)
{
    if (!clock->open || part == PART_NONE) {
        return;
    }
    bool small_hours = part == PART_NIGHT && (clock->hour == 12 || clock->hour < 5);
    bool pm = part != PART_MORNING && !small_hours;
    clock->hour = clock->hour % 12 + (pm ? 12 : 0);
    clock->open = false;
}

/* 9:30, 9am. */
static size_t digital(const struct tokens *t, size_t at, struct day_time *out,
                      enum said_fault *fault)
{
    const struct token *token = &t->at[at];
    int half = token->half_of_day;
    size_t to = half < 0 ? half_of_day(t, at + 1, &half) : at + 1;
    out->second = token->second;
    set_clock(out, token->hour, token->minute, half, token->is_24, fault);
    return to;
}

/* The minutes after an hour in words: "nine thirty", "six oh five". */
static size_t spoken_minutes(const struct tokens *t, size_t at, int *minute)
{
    size_t from = at + (token_is_word(t, at, "oh") || token_is_word(t, at, "o"));
    size_t to = t->at[MIN(at, t->count)].digits ? at : phrase_number(t, from, minute);
    bool right = to > from && *minute < 60 && (*minute >= 10 || from > at);
    /* "nine twenty minutes": those are not of the clock. */
    return right && !token_is(t, to, WORD_UNIT) ? to : at;
}

/* 9, 0900, nine, nine thirty; with am, pm or o'clock, or after "at". */
static size_t number_clock(const struct tokens *t, size_t at, bool led, struct day_time *out,
                           enum said_fault *fault)
{
    int hour, minute = 0, half = -1;
    const struct token *token = &t->at[at];
    size_t to = phrase_number(t, at, &hour), after;
    bool four = token->digits && token->text.len == 4 && token->hundredths == 0;
    if (to == at || token->text.ptr[0] == '-') {
        bool dotted = token->digits && token->hundredths > 0 && token->text.len > 3;
        if (!dotted || !led || token->number > 23 || token->hundredths > 59) {
            return at;
        }
        hour = token->number; /* "at 9.30" */
        minute = token->hundredths;
        to = at + 1;
    }
    if (four) {
        minute = hour % 100;
        hour /= 100;
    } else if (!token->digits) {
        to = spoken_minutes(t, to, &minute);
    }
    after = half_of_day(t, to, &half);
    bool said = after > to || token_is(t, to, WORD_OCLOCK);
    bool unit_follows = token_is(t, to, WORD_UNIT) || token_is(t, to, WORD_PAST) ||
                        token_is(t, to, WORD_TIMES) || token_is(t, to, WORD_TIME) ||
                        token_is_word(t, to, "%");
    /* "at 25" is impossible, "at 25 Main Street" a place. */
    bool place = token_is_plain(t, to) || four || !token->digits;
    if ((!said && (!led || unit_follows)) || (hour > 23 && !said && place) ||
        (four && minute > 59)) {
        return at;
    }
    set_clock(out, hour, minute, half, token->is_24, fault);
    return after + (after == to && said);
}

/* The hour after "past" or "to". */
static size_t hour_after(const struct tokens *t, size_t at, struct day_time *out,
                         enum said_fault *fault)
{
    if (token_is(t, at, WORD_MOMENT)) {
        out->hour = token_value(t, at, WORD_MOMENT);
        return at + 1;
    }
    return token_is(t, at, WORD_CLOCK) ? digital(t, at, out, fault)
                                       : number_clock(t, at, true, out, fault);
}

static void minutes_before(struct day_time *clock, int minutes)
{
    int hour = clock->hour;
    clock->minute = 60 - minutes;
    clock->hour = clock->open && hour == 1 ? 12 : (hour + 23) % 24;
}

/* half past six, quarter to nine, ten past nine. */
static size_t relative(const struct tokens *t, size_t at, bool led, struct day_time *out,
                       enum said_fault *fault)
{
    int minutes = 0;
    size_t to = at + (token_is(t, at, WORD_A) && token_is(t, at + 1, WORD_QUARTER)), hour;
    bool half = token_is(t, to, WORD_HALF), quarter = token_is(t, to, WORD_QUARTER);
    if (half || quarter) {
        minutes = half ? 30 : 15;
        to++;
    } else {
        to = phrase_number(t, to, &minutes);
        to += to > at && token_is(t, to, WORD_UNIT) &&
              (token_value(t, to, WORD_UNIT) & ~TOKEN_PLURAL) == UNIT_MINUTE;
    }
    bool past = token_is(t, to, WORD_PAST) || (!half && token_is(t, to, WORD_AFTER));
    /* "from 9 to 5" is no time before five. */
    bool from = at > 0 && (token_is(t, at - 1, WORD_FROM) || token_is(t, at - 1, WORD_BETWEEN));
    bool before =
        !half && led && !from && (token_is(t, to, WORD_TO) || token_is(t, to, WORD_UNTIL));
    if (to == at || (!past && !before) || minutes < 1 || minutes > 59) {
        return at;
    }
    hour = hour_after(t, to + 1, out, fault);
    if (hour == to + 1 || out->minute != 0) {
        return at;
    }
    out->minute = minutes;
    if (before) {
        minutes_before(out, minutes);
    }
    return hour;
}

/* noon, 12 noon, the end of the day, close of business. */
static size_t moment(const struct tokens *t, size_t at, struct day_time *out)
{
    size_t to = at + token_is(t, at, WORD_THE);
    bool close = token_is_word(t, to, "close") && token_is(t, to + 1, WORD_OF) &&
                 token_is_word(t, to + 2, "business");
    if (close) {
        out->hour = 17;
        return to + 3;
    }
    if (token_is(t, to, WORD_END) && token_is(t, to + 1, WORD_OF)) {
        size_t day = to + 2 + token_is(t, to + 2, WORD_THE);
        if (token_is(t, day, WORD_UNIT) && token_value(t, day, WORD_UNIT) == UNIT_DAY) {
            out->hour = 17;
            return day + 1;
        }
    }
    to = at + (token_is(t, at, WORD_NUMBER) && t->at[at].number == 12);
    if (token_is(t, to, WORD_MOMENT) && !t->at[to].possessive) {
        out->hour = token_value(t, to, WORD_MOMENT);
        return to + 1;
    }
    return at;
}

size_t phrase_clock(const struct tokens *t, size_t at, bool led, struct day_time *out,
                    enum said_fault *fault)
{
    int part = PART_NONE;
    *out = (struct day_time){.open = false};
    size_t to = moment(t, at, out);
    to = to > at ? to : relative(t, at, led, out, fault);
    if (to == at) {
        *out = (struct day_time){.open = false};
        to = token_is(t, at, WORD_CLOCK) ? digital(t, at, out, fault)
                                         : number_clock(t, at, led, out, fault);
    }
    if (to == at || t->at[at].possessive) {
        return at;
    }
    to += token_is(t, to, WORD_OCLOCK);
    to += token_is(t, to, WORD_SHARP);
    to = part_after(t, to, &part);
    settle(out, part);
    return to;
}

static int64_t of_day(const struct day_time *clock)
{
    return clock->hour * 60 + clock->minute;
}

/* "at 8 and 10pm": 8 is in the evening too; "at 9 and 5pm": 9 is not, it would come later. */
static void inherit(struct said *said, unsigned from)
{
    for (unsigned i = said->clocks_count - 1; i > from; i--) {
        struct day_time *earlier = &said->clocks[i - 1], *later = &said->clocks[i];
        struct day_time moved = *earlier;
        moved.hour = moved.hour % 12 + (later->hour >= 12 ? 12 : 0);
        if (earlier->open && !later->open && later->hour <= 23 && of_day(&moved) < of_day(later)) {
            *earlier = moved;
            earlier->open = false;
        }
    }
}

/* Is a bare number here one more time of the day, or how many of something? */
static bool counts_something(const struct tokens *t, size_t at, size_t to)
{
    return token_is(t, at, WORD_NUMBER) && to == at + 1 && token_is_plain(t, to);
}

size_t phrase_clocks(const struct tokens *t, size_t at, bool led, struct said *said)
{
    unsigned first = said->clocks_count;
    size_t to = at;
    while (said->clocks_count < SAID_CLOCKS_MAX) {
        bool other = token_is(t, to, WORD_OR) && to > at;
        size_t next = to == at ? at : other ? to + 1 : phrase_separator(t, to);
        bool more_led = led || token_is(t, next, WORD_AT);
        if (to > at && next == to) {
            break;
        }
        next += to > at && token_is(t, next, WORD_AT);
        size_t end =
            phrase_clock(t, next, more_led, &said->clocks[said->clocks_count], &said->fault);
        if (end == next || (to > at && counts_something(t, next, end) && !led)) {
            break;
        }
        said->fault = other ? FAULT_ALTERNATIVE : said->fault;
        said->clocks_count++;
        to = end;
    }
    if (to > at) {
        inherit(said, first);
    }
    return to;
}

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

size_t phrase_time(const struct tokens *t, size_t at, struct phrase *out)
{
    struct said *said = &out->said;
    out->kind = PHRASE_TIME;
    out->force = FORCE_LED;
    size_t to = minutes_named(t, at, said);
    to = to > at ? to : part_led(t, at, said);
    if (to > at) {
        return to;
    }
    bool led = token_is(t, at, WORD_AT), loose = token_is(t, at, WORD_BY) ||
                                                 token_is(t, at, WORD_FOR) ||
                                                 token_is(t, at, WORD_ABOUT);
    size_t lead = led || loose;
    lead += led && token_is(t, at + 1, WORD_ABOUT);
    to = phrase_clocks(t, at + lead, led, said);
    if (to > at + lead) {
        out->force = lead > 0 ? FORCE_LED : FORCE_BARE;
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
