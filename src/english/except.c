/* english/except.c: phrases for what is left out: "except Sundays", "but not on 24 December".
 *
 * SPDX-License-Identifier: MIT */
#include "english/phrase.h"

static size_t except_word(const struct tokens *t, size_t at)
{
    static const char *const words[] = {"apart from",
                                        "other than",
                                        "aside from",
                                        "with exception of",
                                        "save for",
                                        "but skip",
                                        "but skipping",
                                        "leaving out",
                                        "but without",
                                        "but never",
                                        "but leave out",
                                        "just not",
                                        "with the exception of",
                                        "outside of",
                                        "all but"};
    size_t best = at;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        best = MAX(best, token_spells(t, at, words[i]));
    }
    if (best > at) {
        return best;
    }
    size_t but = at + token_is_word(t, at, "but");
    if (token_is(t, but, WORD_NOT) &&
        (but > at || token_is(t, but + 1, WORD_ON) || token_is(t, but + 1, WORD_IN))) {
        return but + 1;
    }
    bool days = token_is(t, but, WORD_WEEKDAY) || token_is(t, but, WORD_DAYSET);
    if ((but > at || token_is_word(t, at, "besides")) && at > 0 && t->at[at - 1].count > 0 &&
        (days || token_is(t, at + 1, WORD_WEEKDAY))) { /* "every day but Sunday" */
        return at + 1;
    }
    if (token_is_word(t, at, "skip") && at > 0 && t->at[at - 1].count > 0) {
        return at + 1;
    }
    if (token_is_word(t, but, "except") || (but == at && token_is(t, at, WORD_EXCEPT))) {
        return but + 1 + token_is(t, but + 1, WORD_FOR);
    }
    return at;
}

/* "the last one of the month", "the first Monday of the month": which of the weekdays so named. */
static size_t except_nth(const struct tokens *t, size_t at, struct said *out)
{
    int n;
    bool digits;
    size_t from = at + token_is(t, at, WORD_THE), to = phrase_ordinal(t, from, &n, &digits);
    bool one = token_is_word(t, to, "one");
    if (to == from || (!one && !token_is(t, to, WORD_WEEKDAY)) || n > 5 || n < -5) {
        return at;
    }
    struct said of = said_nothing();
    size_t end = phrase_of(t, to + 1, &of);
    if ((end > to + 1 && of.of_month != OF_EVERY) || (end == to + 1 && one)) {
        return at; /* "the last one of November" is a day */
    }
    *(n < 0 ? &out->except_nth_last : &out->except_nth) |= (uint32_t)1 << (n < 0 ? -n : n);
    out->except_nth_days |= one ? 0 : 1u << (token_value(t, to, WORD_WEEKDAY) & 7);
    return end;
}

static bool is_single(const struct said *said)
{
    return said->has_offset || said->has_in || said->dated || said->holiday != 0 ||
           said->which != OF_NONE || said->of_week != OF_NONE || said->ahead != 0 ||
           said->of_month == OF_THIS || said->of_month == OF_NEXT || said->year != 0;
}

/* One thing that is left out: a day, days of the week or month, months. */
static size_t except_item(const struct tokens *t, size_t at, struct said *out)
{
    struct said left = said_nothing(), *before = NULL;
    size_t next =
        at + (token_is(t, at, WORD_ON) || token_is(t, at, WORD_IN) || token_is(t, at, WORD_FOR));
    next += token_is(t, next, WORD_THE) && token_is(t, next + 1, WORD_DAYSET);
    next += token_is(t, next, WORD_EVERY);
    if (token_is(t, next, WORD_EVENT)) {
        out->fault = FAULT_HOLIDAYS;
        return next + 1;
    }
    if (out->except_days_count > 0) {
        before = (struct said *)out->except_days[out->except_days_count - 1];
    }
    size_t to = except_nth(t, next, out);
    if (to > next) {
        return to;
    }
    to = phrase_listed_date(t, next, before, &left);
    to = to > next ? to : phrase_single_day(t, next, &left);
    for (size_t i = next; i < to; i++) {
        if (token_is(t, i, WORD_DAYSET) && (left.nth[5] | left.nth_last[5]) != 0) {
            return at; /* the last weekend: of its two days neither is surely the last of its name
                        */
        }
    }
    to = to > next ? to : phrase_months(t, next, &left);
    if (to == next) {
        return at;
    }
    out->fault = out->fault == FAULT_NONE ? left.fault : out->fault;
    if (is_single(&left)) {
        if (out->except_days_count == SAID_EXCEPT_MAX) {
            return at;
        }
        out->except_days[out->except_days_count++] = phrase_keep(t, &left);
        return to;
    }
    if (left.is_weekend) {
        left.weekdays = SAID_WEEKEND;
    }
    out->except_weekdays |= left.weekdays;
    out->except_months |= left.months;
    out->except_month_days |= left.month_days;
    out->except_month_days_last |= left.month_days_last;
    for (unsigned day = 0; day < 7; day++) {
        out->except_nth |= left.nth[day];
        out->except_nth_last |= left.nth_last[day];
        out->except_nth_days |= (left.nth[day] | left.nth_last[day]) != 0 ? 1u << day : 0;
    }
    return to;
}

size_t phrase_except(const struct tokens *t, size_t at, struct phrase *out)
{
    size_t next = except_word(t, at), to;
    if (next == at) {
        return at;
    }
    out->kind = PHRASE_EXCEPT;
    out->force = FORCE_LED;
    to = except_item(t, next, &out->said);
    if (to == next) {
        return at;
    }
    for (;;) {
        size_t more = phrase_separator(t, to);
        more = more > to ? more : to + token_is(t, to, WORD_OR);
        size_t end = more > to ? except_item(t, more, &out->said) : more;
        /* "except Sundays, at 9": a comma may end the list. */
        if (end == more) {
            return to;
        }
        to = end;
    }
}
