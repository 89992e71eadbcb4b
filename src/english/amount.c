/* english/amount.c: numbers and spans of time: "twenty five", "2 hours and 30 minutes".
 *
 * SPDX-License-Identifier: MIT */
#include "english/phrase.h"

#define AMOUNT_MAX 10000000 /* days, months, years: beyond any time we handle */

static const int64_t unit_s[] = {
    [UNIT_SECOND] = 1,  [UNIT_MINUTE] = 60,      [UNIT_HOUR] = 3600,
    [UNIT_DAY] = 86400, [UNIT_WEEK] = 7 * 86400, [UNIT_FORTNIGHT] = 14 * 86400,
};

size_t phrase_separator(const struct tokens *t, size_t at)
{
    size_t from = at;
    if (token_is(t, at, WORD_COMMA) || token_is(t, at, WORD_SLASH)) {
        at++;
    }
    if (token_is(t, at, WORD_AND)) {
        at++;
    }
    return at > from && !token_is(t, from, WORD_STOP) ? at : from;
}

size_t phrase_number(const struct tokens *t, size_t at, int *n)
{
    if (!token_is(t, at, WORD_NUMBER) || t->at[at].hundredths != 0) {
        return at;
    }
    *n = t->at[at].number;
    bool tens = !t->at[at].digits && *n >= 20 && *n < 100 && *n % 10 == 0;
    size_t next = at + 1 + (tens && token_is(t, at + 1, WORD_DASH));
    if (tens && token_is(t, next, WORD_NUMBER) && !t->at[next].digits && t->at[next].number > 0 &&
        t->at[next].number < 10) {
        *n += t->at[next].number;
        return next + 1;
    }
    if (token_is_word(t, at + 1, "hundred") && *n > 0 && *n < 10) {
        *n *= 100;
        return at + 2;
    }
    return at + 1;
}

void amount_add(struct amount *out, int n, int hundredths, int unit)
{
    if (out->unit == UNIT_NONE) {
        out->unit = unit;
        out->n = n;
    }
    n = unit > UNIT_HOUR ? MIN(n, AMOUNT_MAX) : n;
    switch (unit) {
    case UNIT_MONTH:
        out->months += n;
        out->days += hundredths * 30 / 100;
        break;
    case UNIT_QUARTER:
        out->months += 3 * n;
        break;
    case UNIT_YEAR:
        out->months += 12 * n + hundredths * 12 / 100;
        break;
    case UNIT_DAY:
    case UNIT_WEEK:
    case UNIT_FORTNIGHT:
        out->days += n * (int)(unit_s[unit] / 86400);
        out->seconds += hundredths * unit_s[unit] / 100;
        break;
    default:
        out->seconds += n * unit_s[unit] + hundredths * unit_s[unit] / 100;
    }
}

static int unit_at(const struct tokens *t, size_t at)
{
    return token_is(t, at, WORD_UNIT) ? token_value(t, at, WORD_UNIT) & ~TOKEN_PLURAL : UNIT_NONE;
}

/* "1/2 hour": the cutter takes it for a date. */
static size_t slashed(const struct tokens *t, size_t at, struct amount *out)
{
    if (!token_is(t, at, WORD_DATE) || t->at[at].month != 1 || t->at[at].number != 0 ||
        (t->at[at].day != 2 && t->at[at].day != 4)) {
        return at;
    }
    size_t to = at + 1 + token_is(t, at + 1, WORD_OF);
    to += token_is(t, to, WORD_A);
    if (unit_at(t, to) != UNIT_HOUR) {
        return at;
    }
    amount_add(out, 0, t->at[at].day == 2 ? 50 : 25, UNIT_HOUR);
    return to + 1;
}

/* "3 business days": those from Monday to Friday. */
static size_t working_days(const struct tokens *t, size_t at, struct amount *out)
{
    int n = 1;
    size_t from = at;
    at = token_is(t, at, WORD_A) ? at + 1 : phrase_number(t, at, &n);
    bool two_words = token_is(t, at, WORD_WORK) && token_is_unit(t, at + 1, UNIT_DAY);
    bool one_word = token_is(t, at, WORD_DAYSET) &&
                    (token_value(t, at, WORD_DAYSET) & 0x7f) == (int)SAID_WORKDAYS &&
                    !token_is(t, at, WORD_PART);
    if (at == from || n < 0 || n > 10000 || (!two_words && !one_word)) {
        return from;
    }
    *out = (struct amount){.days = n, .unit = UNIT_DAY, .n = n, .workdays = true};
    return at + 1 + two_words;
}

static bool and_a_half(const struct tokens *t, size_t at)
{
    return token_is(t, at, WORD_AND) && token_is(t, at + 1, WORD_A) &&
           token_is(t, at + 2, WORD_HALF);
}

/* "half an hour", "a half hour", "a quarter of an hour", "three quarters of an hour". */
static size_t fraction(const struct tokens *t, size_t at, struct amount *out)
{
    int n = 1;
    size_t from = at;
    at = token_is(t, at, WORD_A) ? at + 1 : phrase_number(t, at, &n);
    bool quarter = token_is(t, at, WORD_QUARTER);
    if (!quarter && !token_is(t, at, WORD_HALF)) {
        return from;
    }
    bool joined = token_is(t, at + 1, WORD_OF) || token_is(t, at + 1, WORD_A);
    at += 1 + token_is(t, at + 1, WORD_OF);
    at += token_is(t, at, WORD_A);
    int unit = unit_at(t, at);
    /* "a quarter" by itself is three months. */
    if (unit == UNIT_NONE || (quarter && unit != UNIT_HOUR) || (n > 1 && !joined)) {
        return from;
    }
    amount_add(out, 0, quarter ? 25 * n : 50, unit);
    return at + 1;
}

/* "a few minutes", "2 or 3 days". */
static size_t unsure(const struct tokens *t, size_t at, struct amount *out)
{
    int n;
    size_t from = at, next = phrase_number(t, at, &n);
    if (next > at && (token_is(t, next, WORD_OR) || token_is(t, next, WORD_DASH) ||
                      token_is(t, next, WORD_TO))) {
        at = phrase_number(t, next + 1, &n);
        at = at > next + 1 ? at : from;
    } else {
        at += token_is(t, at, WORD_A);
        if (!token_is(t, at, WORD_FEW)) {
            return from;
        }
        at += 1 + token_is(t, at + 1, WORD_OF);
    }
    if (at == from || unit_at(t, at) == UNIT_NONE) {
        return from;
    }
    amount_add(out, 0, 0, unit_at(t, at));
    out->vague = true;
    return at + 1;
}

/* "an hour", "3 weeks", "1.5 hours", "two and a half hours". */
static size_t whole(const struct tokens *t, size_t at, struct amount *out)
{
    int n = 1, hundredths = 0;
    size_t from = at;
    size_t couple = at + token_is(t, at, WORD_A);
    if (token_is_word(t, couple, "couple")) { /* two */
        n = 2;
        at = couple + 1 + token_is(t, couple + 1, WORD_OF);
    } else if (token_is(t, at, WORD_A)) {
        at++;
    } else if (token_is(t, at, WORD_NUMBER) && t->at[at].hundredths > 0) {
        n = t->at[at].number;
        hundredths = t->at[at].hundredths;
        at++;
    } else {
        at = phrase_number(t, at, &n);
    }
    if (at > from && and_a_half(t, at)) {
        hundredths = 50;
        at += 3;
    }
    int unit = unit_at(t, at);
    if (at == from || unit == UNIT_NONE) {
        return from;
    }
    at++;
    if (and_a_half(t, at)) {
        hundredths = 50;
        at += 3;
    }
    amount_add(out, n, hundredths, unit);
    return at;
}

static size_t part(const struct tokens *t, size_t at, struct amount *out)
{
    size_t to = unsure(t, at, out);
    to = to > at ? to : slashed(t, at, out);
    to = to > at ? to : fraction(t, at, out);
    return to > at ? to : whole(t, at, out);
}

size_t phrase_amount(const struct tokens *t, size_t at, struct amount *out)
{
    *out = (struct amount){.unit = UNIT_NONE};
    size_t to = working_days(t, at, out);
    if (to > at) {
        return to;
    }
    to = part(t, at, out);
    while (to > at) {
        int n;
        size_t next = phrase_separator(t, to), number = phrase_number(t, next, &n);
        /* Only a smaller unit goes on: "in 2 hours 15 minutes". */
        if (number == next || unit_at(t, number) >= out->unit) {
            break;
        }
        to = whole(t, next, out);
    }
    return to;
}
