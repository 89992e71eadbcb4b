/* english/digits.c: digits read as what they look like: 9am, 18:30, 0900, 1st, 7/4/2027, 27.10.,
 * 2027-03-01, 20min. See token.h.
 *
 * SPDX-License-Identifier: MIT */
#include "english/cut.h"

#define DIGITS_MAX 9 /* longer numbers are plain words */

size_t cut_digits_len(const struct cutter *c, size_t from)
{
    size_t n = 0;
    while (is_digit(peek(c, from + n))) {
        n++;
    }
    return n;
}

static int number_at(const struct cutter *c, size_t from, size_t len)
{
    int n = 0;
    for (size_t i = 0; i < len && i < DIGITS_MAX; i++) {
        n = n * 10 + (peek(c, from + i) - '0');
    }
    return n;
}

static struct token *add_date(struct cutter *c, size_t len, int year, int month, int day)
{
    struct token *token = cut_add(c, len);
    cut_mean(token, WORD_DATE, 0);
    token->number = year;
    token->month = month;
    token->day = day;
    return token;
}

static bool ends_number(char ch)
{
    return !is_digit(ch) && !is_letter(ch);
}

/* 2027-03-01, 2027/3/1, 20270301; the time of the day may follow a T. */
static bool cut_year_first(struct cutter *c, size_t len)
{
    int year = number_at(c, 0, MIN(len, 4));
    if (len == 8 && year >= 1900 && year < 2100 && ends_number(peek(c, 8))) {
        int month = number_at(c, 4, 2), day = number_at(c, 6, 2);
        add_date(c, 8, year, month, day);
        return true;
    }
    char mark = peek(c, 4);
    size_t month_len = cut_digits_len(c, 5), day_len = cut_digits_len(c, 6 + month_len);
    if (len != 4 || (mark != '-' && mark != '/' && mark != '.') || month_len < 1 || month_len > 2 ||
        peek(c, 5 + month_len) != mark || day_len < 1 || day_len > 2) {
        return false;
    }
    int month = number_at(c, 5, month_len), day = number_at(c, 6 + month_len, day_len);
    add_date(c, 6 + month_len + day_len, year, month, day);
    if (lower(peek(c, 0)) == 't' && is_digit(peek(c, 1))) {
        c->at++;
    }
    return true;
}

static int full_year(int year, size_t digits)
{
    return digits == 2 ? 2000 + year : year;
}

/* 7/4, 7/4/2027, 25/12: month first, unless it can only be the day. 24/7 is no date. */
static bool cut_slash_date(struct cutter *c, size_t len)
{
    size_t second = peek(c, len) == '/' ? cut_digits_len(c, len + 1) : 0;
    if (len > 2 || second == 0 || second > 2) {
        return false;
    }
    size_t end = len + 1 + second;
    size_t third = peek(c, end) == '/' ? cut_digits_len(c, end + 1) : 0;
    int year = number_at(c, end + 1, third);
    int month = number_at(c, 0, len), day = number_at(c, len + 1, second);
    bool always = month == 24 && day == 7 && third == 0;
    if ((third != 0 && third != 2 && third != 4) || is_letter(peek(c, end)) || always) {
        return false;
    }
    if (month > 12 && day <= 12) {
        int swap = month;
        month = day;
        day = swap;
    }
    add_date(c, end + (third > 0 ? third + 1 : 0), full_year(year, third), month, day);
    return true;
}

/* 27.10., 27.10.2027, 15.9.25: day first. Without the second dot it is a time. */
static bool cut_dotted_date(struct cutter *c, size_t len)
{
    size_t second = peek(c, len) == '.' ? cut_digits_len(c, len + 1) : 0, end = len + 1 + second;
    if (len > 2 || second == 0 || second > 2 || peek(c, end) != '.') {
        return false;
    }
    size_t third = cut_digits_len(c, end + 1);
    int day = number_at(c, 0, len), month = number_at(c, len + 1, second);
    int year = number_at(c, end + 1, third);
    size_t all = end + 1 + third;
    bool more = peek(c, all) == '.' && is_digit(peek(c, all + 1)); /* 10.0.0.1 */
    if (month < 1 || month > 12 || day < 1 || (third != 0 && third != 2 && third != 4) || more ||
        !ends_number(peek(c, all))) {
        return false;
    }
    add_date(c, all, full_year(year, third), month, day);
    return true;
}

/* 10-11-2026: the day or the month first? */
static bool cut_dashed_date(struct cutter *c, size_t len)
{
    size_t second = peek(c, len) == '-' ? cut_digits_len(c, len + 1) : 0, end = len + 1 + second;
    size_t third = peek(c, end) == '-' ? cut_digits_len(c, end + 1) : 0;
    if (len > 2 || second == 0 || second > 2 || (third != 2 && third != 4) ||
        !ends_number(peek(c, end + 1 + third))) {
        return false;
    }
    add_date(c, end + 1 + third, 0, -1, -1);
    return true;
}

static void take_half_of_day(struct cutter *c, struct token *token)
{
    size_t half = cut_half_of_day_len(c, 0);
    if (half > 0) {
        token->half_of_day = lower(peek(c, 0)) == 'p';
        c->at += half;
        token->text.len += half;
    }
}

/* The offset of 14:30+02:00 and 15:00Z; a minus is one only after a date's T: 9:00-17:00. */
static void take_offset(struct cutter *c, struct token *token)
{
    char sign = peek(c, 0);
    bool after_date = c->out->count > 1 && token->glued &&
                      lower(c->text.ptr[(size_t)(token->text.ptr - c->text.ptr) - 1]) == 't';
    size_t hours = cut_digits_len(c, 1);
    size_t len = hours == 4 ? 5 : hours == 2 && peek(c, 3) == ':' ? 6 : 3;
    if (lower(sign) == 'z' && ends_number(peek(c, 1))) {
        len = 1;
    } else if ((sign != '+' && !(sign == '-' && after_date)) || (hours != 2 && hours != 4)) {
        return;
    } else {
        int minutes = hours == 4 ? number_at(c, 3, 2) : len == 6 ? number_at(c, 4, 2) : 0;
        token->offset_min = (number_at(c, 1, 2) * 60 + minutes) * (sign == '-' ? -1 : 1);
    }
    token->has_offset = true;
    c->at += len;
    token->text.len += len;
}

/* 9:30, 18:30:15, 9.30am. */
static bool cut_clock(struct cutter *c, size_t len)
{
    char sign = peek(c, len);
    size_t minutes = sign == ':' || sign == '.' ? cut_digits_len(c, len + 1) : 0;
    size_t end = len + 1 + minutes;
    size_t seconds = peek(c, end) == ':' ? cut_digits_len(c, end + 1) : 0;
    if (len > 2 || minutes != 2 || (seconds != 0 && seconds != 2) ||
        (sign == '.' && cut_half_of_day_len(c, end + (peek(c, end) == ' ')) == 0)) {
        return false;
    }
    int hour = number_at(c, 0, len), minute = number_at(c, len + 1, 2);
    int second = number_at(c, end + 1, seconds);
    bool is_24 = peek(c, 0) == '0';
    struct token *token = cut_add(c, end + (seconds > 0 ? 3 : 0));
    cut_mean(token, WORD_CLOCK, 0);
    token->hour = hour;
    token->minute = minute;
    token->second = second;
    token->is_24 = is_24;
    take_half_of_day(c, token);
    take_offset(c, token);
    return true;
}

/* 14h30, 8h05. */
static bool cut_french_clock(struct cutter *c, size_t len)
{
    if (len > 2 || lower(peek(c, len)) != 'h' || cut_digits_len(c, len + 1) != 2 ||
        is_letter(peek(c, len + 3))) {
        return false;
    }
    int hour = number_at(c, 0, len), minute = number_at(c, len + 1, 2);
    struct token *token = cut_add(c, len + 3);
    cut_mean(token, WORD_CLOCK, 0);
    token->hour = hour;
    token->minute = minute;
    token->is_24 = true;
    return true;
}

/* 1730h, 0900hrs. */
static bool cut_military_clock(struct cutter *c, size_t len)
{
    char word[TOKEN_WORD_MAX];
    size_t letters = cut_letters_len(c, len);
    struct str tail = cut_lower(c, len, letters, word);
    if (len != 4 || !(str_is(tail, "h") || str_is(tail, "hr") || str_is(tail, "hrs"))) {
        return false;
    }
    int hour = number_at(c, 0, 2), minute = number_at(c, 2, 2);
    struct token *token = cut_add(c, len + letters);
    cut_mean(token, WORD_CLOCK, 0);
    token->hour = hour;
    token->minute = minute;
    token->is_24 = true;
    return true;
}

static bool cut_ordinal(struct cutter *c, size_t len)
{
    static const char *const ends[] = {"st", "nd", "rd", "th"};
    char end[2] = {lower(peek(c, len)), lower(peek(c, len + 1))};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        if (memcmp(end, ends[i], 2) == 0 && !is_letter(peek(c, len + 2))) {
            int number = number_at(c, 0, len);
            struct token *token = cut_add(c, len + 2);
            cut_mean(token, WORD_ORDINAL, number);
            token->number = number;
            return true;
        }
    }
    return false;
}

/* 9am, 5p. */
static bool cut_hour(struct cutter *c, size_t len)
{
    size_t half = cut_half_of_day_len(c, len);
    bool packed = len == 3 || len == 4; /* 245pm */
    if ((len > 2 && !packed) || half < 1 + (size_t)packed) {
        return false;
    }
    int hour = number_at(c, 0, len), minute = packed ? hour % 100 : 0;
    hour = packed ? hour / 100 : hour;
    bool is_24 = peek(c, 0) == '0';
    struct token *token = cut_add(c, len);
    cut_mean(token, WORD_CLOCK, 0);
    token->hour = hour;
    token->minute = minute;
    token->is_24 = is_24;
    take_half_of_day(c, token);
    return true;
}

static void take_hundredths(struct cutter *c, struct token *token)
{
    size_t len = cut_digits_len(c, 1);
    if (peek(c, 0) == '.' && len > 0 && len <= 2) {
        token->hundredths = number_at(c, 1, len) * (len == 1 ? 10 : 1);
        c->at += len + 1;
        token->text.len += len + 1;
    }
}

/* The letters after digits: a unit (20min) or part of a plain word (3D, 24-hour). */
static bool is_plain_tail(const struct cutter *c, size_t len)
{
    char word[TOKEN_WORD_MAX];
    struct token token = {.count = 0};
    size_t letters = 0, from = len;
    if (peek(c, len) == '-' && is_letter(peek(c, len + 1))) {
        size_t piece = cut_letters_len(c, len + 1);
        return !cut_is_in_lexicon(c, len + 1, piece);
    }
    while (is_letter_at(c, from + letters)) {
        letters++;
    }
    if (letters == 0) {
        return false;
    }
    struct str tail = cut_lower(c, from, letters, word);
    lexicon_read(tail, &token);
    return !str_is(tail, "x") && !str_is(tail, "ish") &&
           (token.count == 0 || token.readings[0].is != WORD_UNIT);
}

void cut_number(struct cutter *c, size_t len, bool negative)
{
    if (len > DIGITS_MAX || is_plain_tail(c, len) ||
        (peek(c, len) == ':' && is_digit(peek(c, len + 1))) ||
        (peek(c, len) == '/' && is_digit(peek(c, len + 1)))) {
        cut_add(c, cut_joined_len(c, MAX(len, 1)));
        return;
    }
    int number = number_at(c, 0, len);
    bool is_24 = len == 4 || (len == 2 && peek(c, 0) == '0');
    struct token *token = cut_add(c, len);
    cut_mean(token, WORD_NUMBER, 0);
    token->digits = true;
    token->number = negative ? -number : number;
    token->is_24 = is_24;
    take_hundredths(c, token);
}

void cut_digits(struct cutter *c)
{
    size_t len = cut_digits_len(c, 0);
    if (!cut_year_first(c, len) && !cut_slash_date(c, len) && !cut_dotted_date(c, len) &&
        !cut_dashed_date(c, len) && !cut_clock(c, len) && !cut_french_clock(c, len) &&
        !cut_military_clock(c, len) && !cut_ordinal(c, len) && !cut_hour(c, len)) {
        cut_number(c, len, false);
    }
}

/* '26: a year. */
bool cut_short_year(struct cutter *c)
{
    size_t mark = apostrophe(c, 0);
    if (mark == 0 || cut_digits_len(c, mark) != 2 || !ends_number(peek(c, mark + 2))) {
        return false;
    }
    int year = 2000 + number_at(c, mark, 2);
    struct token *token = cut_add(c, mark + 2);
    cut_mean(token, WORD_NUMBER, 0);
    token->digits = token->is_year = true;
    token->number = year;
    return true;
}
