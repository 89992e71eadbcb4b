/* english/clock.c: times of the day: one, several, from one to another.
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
    out->is_24 = half_of_day < 0 && !out->open;
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
    int hour, minute = 0, half = -1, part;
    const struct token *token = &t->at[at];
    size_t to = phrase_number(t, at, &hour), after;
    bool whole = token->digits && token->hundredths == 0 && !token->is_year;
    bool four = whole && (token->text.len == 4 || token->text.len == 3); /* 0900, 730 */
    bool is_24 = token->is_24 && !(four && token->text.len == 3);
    if (to == at || token->text.ptr[0] == '-') {
        bool dotted =
            token->digits && token->text.len > 3 && token->text.ptr[token->text.len - 3] == '.';
        bool apart = token_is(t, at + 1, WORD_UNIT) || token_is_word(t, at + 1, "%");
        if (!dotted || !led || token->number > 23 || token->hundredths > 59 || apart) {
            return at;
        }
        hour = token->number; /* "at 9.30" */
        minute = token->hundredths;
        to = at + 1;
    }
    if (four) {
        minute = hour % 100;
        hour /= 100;
        if (token->text.len == 3 && hour == 0) {
            return at;
        }
    } else if (!token->digits) {
        to = spoken_minutes(t, to, &minute);
    }
    if (token->digits && token_is_word(t, to, "h") && t->at[to].glued && !four) { /* 9h */
        to++;
        is_24 = true;
    }
    after = half_of_day(t, to, &half);
    size_t oclock = token_is(t, to, WORD_OCLOCK) ? to + 1 : token_spells(t, to, "o clock");
    bool said = after > to || oclock > to || (part_after(t, to, &part) > to && hour <= 12);
    bool unit_follows = (token_is(t, to, WORD_UNIT) && !token_is_word(t, to - 1, "h")) ||
                        token_is(t, to, WORD_PAST) || token_is(t, to, WORD_TIMES) ||
                        token_is(t, to, WORD_TIME) || token_is_word(t, to, "%") ||
                        (token_is_word(t, to, "x") && t->at[to].glued);
    /* "at 25" is impossible, "at 25 Main Street" a place. */
    bool place = token_is_plain(t, to) || four || !token->digits;
    if ((!said && (!led || unit_follows)) || (hour > 23 && !said && place) ||
        (four && minute > 59)) {
        return at;
    }
    set_clock(out, hour, minute, half, is_24, fault);
    return after == to && oclock > to ? oclock : after;
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
    /* "from 9 to 5" and "10 to 5" are no times before five; "ten to five" and "20 to 5" are. */
    bool from = at > 0 && (token_is(t, at - 1, WORD_FROM) || token_is(t, at - 1, WORD_BETWEEN));
    bool spoken = quarter || !t->at[at].digits || token_is(t, to - 1, WORD_UNIT) || minutes >= 20;
    bool before = !half && led && !from && token_is(t, to, WORD_TO) && spoken &&
                  (quarter || minutes % 5 == 0 || token_is(t, to - 1, WORD_UNIT));
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
    bool dashed = token_is(t, to, WORD_DASH) && token_is_word(t, to + 1, "ish"); /* 9pm-ish */
    to += dashed ? 2 : token_is(t, to, WORD_SHARP);
    to = part_after(t, to, &part);
    settle(out, part);
    return to;
}

static int of_day(const struct day_time *clock)
{
    return clock->hour * 60 + clock->minute;
}

/* "at 8 and 10pm": 8 is in the evening too; "at 9 and 5pm": 9 is not, it would come later. One on
 * the 24-hour clock puts all of them there: "at 6 and 18". */
static void inherit(struct said *said, unsigned from)
{
    bool is_24 = false;
    for (unsigned i = from; i < said->clocks_count; i++) {
        is_24 |= said->clocks[i].is_24;
    }
    for (unsigned i = from; is_24 && i < said->clocks_count; i++) {
        said->clocks[i].open = false;
    }
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

/* 9am to 5pm: the first takes am or pm, or the 24-hour clock, from the second when it then comes
 * earlier. */
void phrase_settle_window(struct said *said)
{
    struct day_time moved = said->from;
    moved.hour = moved.hour % 12 + (said->to.hour >= 12 ? 12 : 0);
    if (said->to.is_24 && said->from.open) {
        said->from.open = false;
    } else if (said->from.is_24 && said->to.open) {
        said->to.open = false;
    } else if (said->from.open && !said->to.open && of_day(&moved) < of_day(&said->to)) {
        said->from = moved;
        said->from.open = false;
    }
}

size_t phrase_clock_range(const struct tokens *t, size_t at, bool led, struct said *said)
{
    enum said_fault fault = FAULT_NONE;
    struct day_time from, to;
    size_t mark = phrase_clock(t, at, led, &from, &fault), end;
    bool joined = token_is(t, mark, WORD_DASH) || token_is(t, mark, WORD_TO) ||
                  token_is(t, mark, WORD_UNTIL) || token_is(t, mark, WORD_THROUGH);
    if (mark == at) { /* "10-11am": the number alone is none until the second is seen */
        int n;
        mark = phrase_number(t, at, &n);
        end = mark > at && token_is(t, mark, WORD_DASH) && n >= 0 && n <= 23
                  ? phrase_clock(t, mark + 1, false, &to, &fault)
                  : 0;
        mark = end > mark + 1 ? phrase_clock(t, at, true, &from, &fault) : at;
        joined = mark > at;
    }
    if (mark == at || !joined) {
        return at;
    }
    end = phrase_clock(t, mark + 1, true, &to, &fault);
    bool glued_number = token_is(t, mark, WORD_DASH) && t->at[mark].glued;
    bool counted =
        token_is(t, end, WORD_UNIT) || token_is(t, end, WORD_MONTH) || token_is(t, end, WORD_TIMES);
    /* "at 9 to 5 people", "at 10 until 5 nov" */
    bool people = token_is(t, mark + 1, WORD_NUMBER) && end == mark + 2 && !glued_number &&
                  !token_is(t, mark, WORD_UNTIL) && token_is_plain(t, end) && !led;
    if (end == mark + 1 || counted || people) {
        return at;
    }
    said->fault = said->fault == FAULT_NONE ? fault : said->fault;
    said->has_window = true;
    said->from = from;
    said->to = to;
    phrase_settle_window(said);
    return end;
}

/* Is a bare number here one more time of the day, or how many of something? */
static bool counts_something(const struct tokens *t, size_t at, size_t to)
{
    return token_is(t, at, WORD_NUMBER) && to == at + 1 && token_is_plain(t, to);
}

/* 6am 2pm 10pm, 0700 1500: what can be nothing else needs no comma. */
static bool is_plain_clock(const struct tokens *t, size_t at)
{
    bool four = at < t->count && t->at[at].digits && t->at[at].text.len == 4 &&
                t->at[at].hundredths == 0 && t->at[at].number < 2400;
    return token_is(t, at, WORD_CLOCK) || four;
}

size_t phrase_clocks(const struct tokens *t, size_t at, bool led, struct said *said)
{
    unsigned first = said->clocks_count;
    size_t to = at;
    while (said->clocks_count < SAID_CLOCKS_MAX) {
        bool other = token_is(t, to, WORD_OR) && to > at;
        size_t next = to == at ? at : other ? to + 1 : phrase_separator(t, to);
        bool more_led = led || token_is(t, next, WORD_AT);
        bool listed = to > at && is_plain_clock(t, to - 1) && is_plain_clock(t, to);
        if (to > at && next == to && !listed) {
            break;
        }
        /* "and again at 6pm" */
        bool again = to > at && (token_is_word(t, next, "again") || token_is_word(t, next, "also"));
        next += again;
        more_led = more_led || token_is(t, next, WORD_AT);
        next += to > at && token_is(t, next, WORD_AT);
        bool comma = to > at && token_is(t, to, WORD_COMMA) && !token_is(t, to + 1, WORD_AND);
        size_t end =
            phrase_clock(t, next, more_led, &said->clocks[said->clocks_count], &said->fault);
        bool counts = to > at && counts_something(t, next, end);
        bool dated = token_is(t, end, WORD_MONTH) && token_is(t, next, WORD_NUMBER);
        if (end == next || (counts && (!led || comma || again)) || (dated && to > at)) {
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
