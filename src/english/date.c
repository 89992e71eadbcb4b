/* english/date.c: months and dates: "June 20", "20 June 2027", "27.10.", "5 Nov 27".
 *
 * SPDX-License-Identifier: MIT */
#include "english/phrase.h"

#define MONTH_DAY_MAX   31
#define SHORT_YEAR_FROM 25 /* "5 Nov 27" is in 2027; a smaller number may be an hour */

/* 2027, '27, 27; "of next year". */
size_t phrase_year(const struct tokens *t, size_t at, struct said *said)
{
    size_t year = at + token_is(t, at, WORD_COMMA);
    year += token_is(t, year, WORD_OF) && year + 1 < t->count && t->at[year + 1].digits;
    if (year < t->count && t->at[year].digits && t->at[year].hundredths == 0 &&
        !token_is(t, year + 1, WORD_UNIT)) {
        const struct token *token = &t->at[year];
        bool full = (token->text.len == 4 && token->number >= 1000) || token->is_year;
        bool two = year == at && token->text.len == 2 && token->number >= SHORT_YEAR_FROM &&
                   !token_is(t, year + 1, WORD_TIMES);
        if (full || two) {
            said->year = full ? token->number : 2000 + token->number;
            return year + 1;
        }
    }
    size_t of = at + token_is(t, at, WORD_OF);
    if ((token_is(t, of, WORD_NEXT) || token_is(t, of, WORD_THIS)) &&
        token_is_unit(t, of + 1, UNIT_YEAR)) {
        said->of_year = token_is(t, of, WORD_NEXT) ? OF_NEXT : OF_THIS;
        return of + 2;
    }
    return at;
}

size_t phrase_months(const struct tokens *t, size_t at, struct said *said)
{
    size_t to = at;
    for (;;) {
        size_t next = to == at ? at : phrase_separator(t, to);
        /* "March 5 and April": the second has no day, and "1 March": it has one. */
        if (!token_is(t, next, WORD_MONTH) || (to > at && next == to) || t->at[next].possessive) {
            return to;
        }
        unsigned month = (unsigned)token_value(t, next, WORD_MONTH), last = month;
        to = next + 1;
        if ((token_is(t, to, WORD_TO) || token_is(t, to, WORD_THROUGH) ||
             token_is(t, to, WORD_DASH)) &&
            token_is(t, to + 1, WORD_MONTH)) {
            last = (unsigned)token_value(t, to + 1, WORD_MONTH);
            to += 2;
        }
        for (; month != last; month = month % 12 + 1) {
            said->months |= 1u << month;
        }
        said->months |= 1u << last;
    }
}

static void set_date(struct said *said, int month, int day)
{
    said->dated = true;
    if (month < 1 || month > 12 || day < 1 || day > MONTH_DAY_MAX) {
        said->fault = month < 0 ? FAULT_DASHED : FAULT_IMPOSSIBLE;
        return;
    }
    said->months |= 1u << month;
    said->month_days |= (uint32_t)1 << day;
}

static size_t day_number(const struct tokens *t, size_t at, int *day)
{
    bool digits;
    if (token_is(t, at, WORD_NUMBER) && t->at[at].digits && t->at[at].hundredths == 0 &&
        t->at[at].text.len <= 2) {
        *day = t->at[at].number;
        return at + 1;
    }
    size_t from = at + token_is(t, at, WORD_THE);
    size_t to = phrase_ordinal(t, from, day, &digits);
    return to > from && *day > 0 ? to : at;
}

/* June 20, June the 20th; 20 June, the 20th of June, 07-Mar. */
static size_t month_and_day(const struct tokens *t, size_t at, struct said *said)
{
    int day;
    if (token_is(t, at, WORD_MONTH)) {
        size_t from = at + 1 + token_is(t, at + 1, WORD_DASH), to = day_number(t, from, &day);
        /* "June 9 am" is no date, nor is "in March 9-5". */
        if (to == from || token_is(t, to, WORD_HALF_OF_DAY) || token_is(t, to, WORD_UNIT)) {
            return at;
        }
        set_date(said, token_value(t, at, WORD_MONTH), day);
        return to;
    }
    size_t to = day_number(t, at, &day);
    size_t month =
        to + (token_is(t, to, WORD_OF) || (token_is(t, to, WORD_DASH) && t->at[to].glued));
    if (to == at || !token_is(t, month, WORD_MONTH)) {
        return at;
    }
    set_date(said, token_value(t, month, WORD_MONTH), day);
    return month + 1;
}

size_t phrase_date(const struct tokens *t, size_t at, struct said *said)
{
    struct said found = *said;
    if (token_is(t, at, WORD_DATE)) {
        set_date(&found, t->at[at].month, t->at[at].day);
        found.year = t->at[at].number;
        *said = found;
        return at + 1;
    }
    size_t to = month_and_day(t, at, &found);
    if (to == at || t->at[to - 1].possessive) {
        return at;
    }
    size_t dashed = to + (token_is(t, to, WORD_DASH) && t->at[to].glued);
    size_t year = phrase_year(t, dashed, &found);
    *said = found;
    return year > dashed ? year : to;
}

/* ---- Several dates ---- */

/* "24" of "24 and 25 October": the month stands behind the last of them. */
static size_t month_behind(const struct tokens *t, size_t at)
{
    int day;
    for (size_t n = 0; n < SAID_EXCEPT_MAX; n++) {
        size_t to = day_number(t, at, &day);
        if (to == at) {
            return 0;
        }
        size_t month = to + token_is(t, to, WORD_OF);
        if (token_is(t, month, WORD_MONTH)) {
            return month;
        }
        at = phrase_separator(t, to);
        at = at > to ? at
                     : to + (token_is(t, to, WORD_TO) || token_is(t, to, WORD_DASH) ||
                             token_is(t, to, WORD_OR));
        if (at == to) {
            return 0;
        }
    }
    return 0;
}

size_t phrase_listed_date(const struct tokens *t, size_t at, const struct said *before,
                          struct said *out)
{
    int day;
    *out = said_nothing();
    size_t to = phrase_date(t, at, out);
    if (to > at) {
        return to;
    }
    size_t number = day_number(t, at, &day), month = month_behind(t, at);
    if (number > at && month > 0) {
        set_date(out, token_value(t, month, WORD_MONTH), day);
        (void)phrase_year(t, month + 1, out);
        return number;
    }
    /* "Dec 24 and 25" */
    bool goes_on = before != NULL && before->dated && before->months != 0;
    if (number > at && goes_on && !token_is(t, number, WORD_UNIT) &&
        !token_is(t, number, WORD_HALF_OF_DAY)) {
        set_date(out, __builtin_ctz(before->months), day);
        out->year = before->year;
        return number;
    }
    return at;
}
