/* english/holiday.c: holidays: fixed dates, those that follow Easter, those that a rule gives.
 *
 * One row is one name. A name that is known to be a holiday and has no row with a date is refused:
 * whose is it, and when?
 *
 * SPDX-License-Identifier: MIT */
#include "english/phrase.h"
#include "time/bits.h"
#include "wire/time.h"

#define WORD_MAX 16

enum holiday_kind {
    FIXED,   /* month, day */
    EASTER,  /* days after Easter Sunday */
    NTH,     /* month, weekday, which one, days after it */
    UNKNOWN, /* it has no date that everybody shares */
};

struct holiday {
    const char *words; /* in lower case, without apostrophes; the longer name first */
    enum holiday_kind kind;
    int a, b, nth, after;
};

static const struct holiday holidays[] = {
    {"new years eve", FIXED, 12, 31, 0, 0},
    {"new year eve", FIXED, 12, 31, 0, 0},
    {"nye", FIXED, 12, 31, 0, 0},
    {"chinese new year", UNKNOWN, 0, 0, 0, 0},
    {"lunar new year", UNKNOWN, 0, 0, 0, 0},
    {"jewish new year", UNKNOWN, 0, 0, 0, 0},
    {"new years day", FIXED, 1, 1, 0, 0},
    {"new year day", FIXED, 1, 1, 0, 0},
    {"new years", FIXED, 1, 1, 0, 0},
    {"valentines day", FIXED, 2, 14, 0, 0},
    {"valentine day", FIXED, 2, 14, 0, 0},
    {"valentines", FIXED, 2, 14, 0, 0},
    {"saint patricks day", FIXED, 3, 17, 0, 0},
    {"st patricks day", FIXED, 3, 17, 0, 0},
    {"st . patricks day", FIXED, 3, 17, 0, 0},
    {"st paddys day", FIXED, 3, 17, 0, 0},
    {"st patricks", FIXED, 3, 17, 0, 0},
    {"halloween", FIXED, 10, 31, 0, 0},
    {"christmas eve", FIXED, 12, 24, 0, 0},
    {"xmas eve", FIXED, 12, 24, 0, 0},
    {"christmas break", UNKNOWN, 0, 0, 0, 0},
    {"christmas holidays", UNKNOWN, 0, 0, 0, 0},
    {"christmas day", FIXED, 12, 25, 0, 0},
    {"xmas day", FIXED, 12, 25, 0, 0},
    {"christmas", FIXED, 12, 25, 0, 0},
    {"xmas", FIXED, 12, 25, 0, 0},
    {"x-mas", FIXED, 12, 25, 0, 0},
    {"boxing day", FIXED, 12, 26, 0, 0},
    {"ash wednesday", EASTER, -46, 0, 0, 0},
    {"palm sunday", EASTER, -7, 0, 0, 0},
    {"good friday", EASTER, -2, 0, 0, 0},
    {"easter break", UNKNOWN, 0, 0, 0, 0},
    {"easter holidays", UNKNOWN, 0, 0, 0, 0},
    {"easter saturday", UNKNOWN, 0, 0, 0, 0},
    {"orthodox easter", UNKNOWN, 0, 0, 0, 0},
    {"easter sunday", EASTER, 0, 0, 0, 0},
    {"easter monday", EASTER, 1, 0, 0, 0},
    {"easter", EASTER, 0, 0, 0, 0},
    {"ascension day", EASTER, 39, 0, 0, 0},
    {"ascension thursday", EASTER, 39, 0, 0, 0},
    {"ascension", EASTER, 39, 0, 0, 0},
    {"pentecost monday", EASTER, 50, 0, 0, 0},
    {"pentecost sunday", EASTER, 49, 0, 0, 0},
    {"pentecost", EASTER, 49, 0, 0, 0},
    {"whit sunday", EASTER, 49, 0, 0, 0},
    {"whitsunday", EASTER, 49, 0, 0, 0},
    {"whit monday", EASTER, 50, 0, 0, 0},
    {"whitmonday", EASTER, 50, 0, 0, 0},
    {"canadian thanksgiving", UNKNOWN, 0, 0, 0, 0},
    {"thanksgiving weekend", UNKNOWN, 0, 0, 0, 0},
    {"thanksgiving day", NTH, 11, 3, 4, 0},
    {"thanksgiving", NTH, 11, 3, 4, 0},
    {"black friday", NTH, 11, 3, 4, 1},
    {"cyber monday", NTH, 11, 3, 4, 4},
    {"bank holiday monday", UNKNOWN, 0, 0, 0, 0},
    {"bank holidays", UNKNOWN, 0, 0, 0, 0},
    {"bank holiday", UNKNOWN, 0, 0, 0, 0},
    {"public holidays", UNKNOWN, 0, 0, 0, 0},
    {"public holiday", UNKNOWN, 0, 0, 0, 0},
    {"federal holidays", UNKNOWN, 0, 0, 0, 0},
    {"federal holiday", UNKNOWN, 0, 0, 0, 0},
    {"national holidays", UNKNOWN, 0, 0, 0, 0},
    {"national holiday", UNKNOWN, 0, 0, 0, 0},
    {"school holidays", UNKNOWN, 0, 0, 0, 0},
    {"summer holidays", UNKNOWN, 0, 0, 0, 0},
    {"school break", UNKNOWN, 0, 0, 0, 0},
    {"spring break", UNKNOWN, 0, 0, 0, 0},
    {"summer break", UNKNOWN, 0, 0, 0, 0},
    {"winter break", UNKNOWN, 0, 0, 0, 0},
    {"half term", UNKNOWN, 0, 0, 0, 0},
    {"labor day", UNKNOWN, 0, 0, 0, 0},
    {"labour day", UNKNOWN, 0, 0, 0, 0},
    {"memorial day", UNKNOWN, 0, 0, 0, 0},
    {"independence day", UNKNOWN, 0, 0, 0, 0},
    {"veterans day", UNKNOWN, 0, 0, 0, 0},
    {"presidents day", UNKNOWN, 0, 0, 0, 0},
    {"columbus day", UNKNOWN, 0, 0, 0, 0},
    {"mlk day", UNKNOWN, 0, 0, 0, 0},
    {"martin luther king day", UNKNOWN, 0, 0, 0, 0},
    {"canada day", UNKNOWN, 0, 0, 0, 0},
    {"australia day", UNKNOWN, 0, 0, 0, 0},
    {"anzac day", UNKNOWN, 0, 0, 0, 0},
    {"bastille day", UNKNOWN, 0, 0, 0, 0},
    {"mothers day", UNKNOWN, 0, 0, 0, 0},
    {"fathers day", UNKNOWN, 0, 0, 0, 0},
    {"earth day", UNKNOWN, 0, 0, 0, 0},
    {"groundhog day", UNKNOWN, 0, 0, 0, 0},
    {"april fools day", UNKNOWN, 0, 0, 0, 0},
    {"april fools", UNKNOWN, 0, 0, 0, 0},
    {"guy fawkes night", UNKNOWN, 0, 0, 0, 0},
    {"guy fawkes", UNKNOWN, 0, 0, 0, 0},
    {"bonfire night", UNKNOWN, 0, 0, 0, 0},
    {"burns night", UNKNOWN, 0, 0, 0, 0},
    {"pancake day", UNKNOWN, 0, 0, 0, 0},
    {"shrove tuesday", UNKNOWN, 0, 0, 0, 0},
    {"fat tuesday", UNKNOWN, 0, 0, 0, 0},
    {"mardi gras", UNKNOWN, 0, 0, 0, 0},
    {"maundy thursday", UNKNOWN, 0, 0, 0, 0},
    {"holy saturday", UNKNOWN, 0, 0, 0, 0},
    {"corpus christi", UNKNOWN, 0, 0, 0, 0},
    {"all saints day", UNKNOWN, 0, 0, 0, 0},
    {"all souls day", UNKNOWN, 0, 0, 0, 0},
    {"st nicholas day", UNKNOWN, 0, 0, 0, 0},
    {"st georges day", UNKNOWN, 0, 0, 0, 0},
    {"st andrews day", UNKNOWN, 0, 0, 0, 0},
    {"st davids day", UNKNOWN, 0, 0, 0, 0},
    {"giving tuesday", UNKNOWN, 0, 0, 0, 0},
    {"super bowl sunday", UNKNOWN, 0, 0, 0, 0},
    {"election day", UNKNOWN, 0, 0, 0, 0},
    {"tax day", UNKNOWN, 0, 0, 0, 0},
    {"cinco de mayo", UNKNOWN, 0, 0, 0, 0},
    {"yom kippur", UNKNOWN, 0, 0, 0, 0},
    {"rosh hashanah", UNKNOWN, 0, 0, 0, 0},
    {"hanukkah", UNKNOWN, 0, 0, 0, 0},
    {"chanukah", UNKNOWN, 0, 0, 0, 0},
    {"passover", UNKNOWN, 0, 0, 0, 0},
    {"ramadan", UNKNOWN, 0, 0, 0, 0},
    {"eid", UNKNOWN, 0, 0, 0, 0},
    {"diwali", UNKNOWN, 0, 0, 0, 0},
    {"holi", UNKNOWN, 0, 0, 0, 0},
    {"juneteenth", UNKNOWN, 0, 0, 0, 0},
    {"kwanzaa", UNKNOWN, 0, 0, 0, 0},
    {"epiphany", UNKNOWN, 0, 0, 0, 0},
    {"midsummer", UNKNOWN, 0, 0, 0, 0},
    {"whitsun", EASTER, 49, 0, 0, 0},
};

/* ---- When it is ---- */

/* Western Easter Sunday, by the anonymous Gregorian method. */
static int64_t easter(int64_t year)
{
    int64_t a = year % 19, b = year / 100, c = year % 100;
    int64_t h = (19 * a + b - b / 4 - (b - (b + 8) / 25 + 1) / 3 + 15) % 30;
    int64_t l = (32 + 2 * (b % 4) + 2 * (c / 4) - h - c % 4) % 7;
    int64_t m = (a + 11 * h + 22 * l) / 451, sum = h + l - 7 * m + 114;
    return time_days_of(year, (unsigned)(sum / 31), (unsigned)(sum % 31) + 1);
}

int64_t holiday_day(int holiday, int64_t year)
{
    const struct holiday *h = &holidays[holiday - 1];
    if (h->kind == EASTER) {
        return easter(year) + h->a;
    }
    if (h->kind == FIXED) {
        return time_days_of(year, (unsigned)h->a, (unsigned)h->b);
    }
    int64_t first = time_days_of(year, (unsigned)h->a, 1);
    int64_t to_weekday = (int64_t)wall_mod((int64_t)h->b - wall_weekday(first), 7);
    return first + to_weekday + 7 * ((int64_t)h->nth - 1) + h->after;
}

bool holiday_rule(int holiday, struct rrule *rule)
{
    const struct holiday *h = &holidays[holiday - 1];
    rule->freq = RRULE_YEARLY;
    if (h->kind == EASTER) {
        return false;
    }
    if (h->kind == FIXED) {
        rule->months = 1u << h->a;
        rule->month_days = (uint32_t)1 << h->b;
        rule->has |= RRULE_BYMONTH | RRULE_BYMONTHDAY;
        return true;
    }
    rule->has |= RRULE_BYDAY;
    if (h->after == 0) {
        rule->months = 1u << h->a;
        rule->has |= RRULE_BYMONTH;
        rule->nth[h->b] = 1u << h->nth;
        return true;
    }
    /* Some days after the fourth Thursday, which is one of the 22nd to the 28th. */
    rule->weekdays = 1u << ((unsigned)(h->b + h->after) % 7);
    unsigned first = 22 + (unsigned)h->after;
    if (first + 6 <= 30) {
        rule->months = 1u << h->a;
        rule->month_days = (uint32_t)0x7f << first;
        rule->has |= RRULE_BYMONTH | RRULE_BYMONTHDAY;
        return true;
    }
    /* Across the end of November: counted from the end of the year, where a leap day does not move
     * them. 22 November is the 40th from there. */
    for (unsigned i = 0; i < 7; i++) {
        bits_add(rule->year_days_last, 62 - first - i);
    }
    rule->has |= RRULE_BYYEARDAY;
    return true;
}

/* ---- The phrase ---- */

/* A token in lower case without its apostrophes. */
static struct str plain_word(const struct token *token, char *to)
{
    size_t n = 0;
    for (size_t i = 0; i < token->text.len; i++) {
        char ch = token->text.ptr[i];
        bool quote = ch == '\'' || (unsigned char)ch >= 0x80;
        if (quote) {
            continue;
        }
        if (n == WORD_MAX) {
            return STR("");
        }
        to[n++] = ch >= 'A' && ch <= 'Z' ? (char)(ch - 'A' + 'a') : ch;
    }
    return (struct str){to, n};
}

/* The tokens spell the name, each word perhaps with a letter missing or doubled. */
static size_t spells(const struct tokens *t, size_t at, const char *name)
{
    struct str rest = str_of(name);
    size_t to = at;
    while (!str_absent(rest)) {
        char word[WORD_MAX];
        struct str right = str_cut(&rest, ' ');
        if (to >= t->count || t->at[to].quoted) {
            return at;
        }
        struct str given = plain_word(&t->at[to], word);
        bool exact = str_eq(given, right) ||
                     (right.len > 6 && given.len > 4 && given.ptr[0] == right.ptr[0] &&
                      lexicon_is_nearly(given, right));
        if (!exact) {
            return at;
        }
        to++;
    }
    return to;
}

size_t phrase_holiday(const struct tokens *t, size_t at, struct said *said)
{
    if (at >= t->count || t->at[at].digits || t->at[at].quoted) {
        return at;
    }
    size_t best = at;
    char first = t->at[at].text.ptr[0];
    for (size_t i = 0; i < ARRAY_LEN(holidays); i++) {
        if (((first ^ holidays[i].words[0]) & ~0x20) != 0) {
            continue;
        }
        size_t to = spells(t, at, holidays[i].words);
        if (to > best) {
            best = to;
            said->holiday = holidays[i].kind == UNKNOWN ? 0 : (int)i + 1;
            said->fault = holidays[i].kind == UNKNOWN ? FAULT_NO_HOLIDAY : FAULT_NONE;
        }
    }
    if (best > at && best < t->count && t->at[best].digits &&
        (t->at[best].text.len == 4 || t->at[best].is_year) && t->at[best].number > 1900 &&
        t->at[best].number < 2200) {
        said->year = t->at[best++].number;
    }
    return best;
}
