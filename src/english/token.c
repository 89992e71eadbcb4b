/* english/token.c: cuts a sentence into tokens. See token.h.
 *
 * Digits are read here as what they look like: 9am, 18:30, 0900, 1st, 7/4/2027, 2027-03-01, 20min.
 * A hyphen or slash stands between two words of a schedule (mon-fri, sat/sun) or is part of one
 * plain word (follow-up, and/or).
 *
 * SPDX-License-Identifier: MIT */
#include "english/token.h"

#include "english/english.h"

#define DIGITS_MAX 9 /* longer numbers are plain words */

struct cutter {
    struct str text;
    size_t at;
    struct tokens *out;
    size_t room;
};

/* ---- Characters ---- */

static char peek(const struct cutter *c, size_t ahead)
{
    return c->at + ahead < c->text.len ? c->text.ptr[c->at + ahead] : '\0';
}

static bool is_digit(char ch)
{
    return ch >= '0' && ch <= '9';
}

static bool is_letter(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (unsigned char)ch >= 0x80;
}

static bool is_blank(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r';
}

static char lower(char ch)
{
    return ch >= 'A' && ch <= 'Z' ? (char)(ch - 'A' + 'a') : ch;
}

static bool starts(const struct cutter *c, const char *bytes)
{
    return str_starts(str_from(c->text, c->at), str_of(bytes));
}

/* ’ is what a telephone writes for '. The answer is its length in bytes. */
static size_t apostrophe(const struct cutter *c, size_t ahead)
{
    struct str rest = str_from(c->text, c->at + ahead);
    return peek(c, ahead) == '\'' ? 1 : str_starts(rest, STR("\xe2\x80\x99")) ? 3 : 0;
}

static size_t dash(const struct cutter *c)
{
    return peek(c, 0) == '-' ? 1 : starts(c, "\xe2\x80\x93") || starts(c, "\xe2\x80\x94") ? 3 : 0;
}

/* ---- Tokens ---- */

static struct token *add(struct cutter *c, size_t len)
{
    struct tokens *out = c->out;
    if (out->count >= c->room) {
        c->at = c->text.len; /* too many: the caller looks at the count */
        return &out->at[out->count];
    }
    struct token *token = &out->at[out->count++];
    token->text = (struct str){c->text.ptr + c->at, len};
    token->glued = c->at > 0 && !is_blank(c->text.ptr[c->at - 1]);
    token->half_of_day = -1;
    c->at += len;
    return token;
}

static void mean(struct token *token, enum word_class is, int value)
{
    token->readings[0] = (struct reading){is, value};
    token->count = 1;
}

static void add_mark(struct cutter *c, size_t len, enum word_class is)
{
    mean(add(c, len), is, 0);
}

/* ---- Words ---- */

static size_t letters_len(const struct cutter *c, size_t from)
{
    size_t n = from;
    while (is_letter(peek(c, n)) || is_digit(peek(c, n)) || peek(c, n) == '_') {
        n++;
    }
    return n - from;
}

/* The word at `from`, in lower case and without apostrophes; the answer is its length there. */
static struct str lower_word(const struct cutter *c, size_t from, size_t len, char *to)
{
    size_t n = 0;
    for (size_t i = from; i < from + len && n < TOKEN_WORD_MAX; i++) {
        unsigned char ch = (unsigned char)peek(c, i);
        if (ch != '\'' && ch != '-' && ch < 0x80) {
            to[n++] = lower((char)ch);
        } else if (ch >= 0x80 && ch != 0xe2 && ch != 0x99) {
            return STR(""); /* not an English word */
        }
    }
    return len > TOKEN_WORD_MAX ? STR("") : (struct str){to, n};
}

static bool is_in_lexicon(const struct cutter *c, size_t from, size_t len)
{
    char word[TOKEN_WORD_MAX];
    struct token token = {.count = 0};
    lexicon_read(lower_word(c, from, len, word), &token);
    for (size_t i = 0; i < token.count; i++) {
        enum word_class is = token.readings[i].is;
        if (is == WORD_WEEKDAY || is == WORD_MONTH || is == WORD_NUMBER || is == WORD_ORDINAL ||
            is == WORD_MOMENT) {
            return true;
        }
    }
    return false;
}

/* How far a word with hyphens, slashes, dots or @ inside goes without a blank. */
static size_t joined_len(const struct cutter *c, size_t len)
{
    static const char inside[] = "-/.@:_&+'";
    for (;;) {
        char next = peek(c, len), then = peek(c, len + 1);
        if (is_letter(next) || is_digit(next)) {
            len++;
        } else if (next != '\0' && strchr(inside, next) != NULL &&
                   (is_letter(then) || is_digit(then) || (next == '/' && then == '/'))) {
            len++;
        } else if (next == '/' && peek(c, len - 1) == '/') {
            len++;
        } else {
            return len;
        }
    }
}

/* mon-fri, sat/sun, twenty-five: each side is a word of its own. */
static bool splits(const struct cutter *c, size_t len)
{
    size_t from = 0;
    while (from < len) {
        size_t piece = letters_len(c, from);
        if (piece == 0 || !(is_digit(peek(c, from)) || is_in_lexicon(c, from, piece))) {
            return false;
        }
        from += piece + 1;
    }
    return true;
}

static bool is_area(struct str word)
{
    static const char *const areas[] = {"Africa/", "America/",  "Antarctica/", "Arctic/",
                                        "Asia/",   "Atlantic/", "Australia/",  "Europe/",
                                        "Indian/", "Pacific/",  "Etc/"};
    for (size_t i = 0; i < ARRAY_LEN(areas); i++) {
        if (str_starts(word, str_of(areas[i]))) {
            return true;
        }
    }
    return false;
}

/* Reads one token of a word that goes on after `-`, `/`, `.` or `@`; false: it is two words. */
static bool cut_joined(struct cutter *c, size_t first_len)
{
    char word[TOKEN_WORD_MAX];
    size_t len = joined_len(c, first_len);
    if (len == first_len) {
        return false;
    }
    struct str compact = lower_word(c, 0, len, word);
    if (memchr(c->text.ptr + c->at, '-', len) != NULL && lexicon_knows(compact)) {
        lexicon_read(compact, add(c, len));
        return true;
    }
    if (splits(c, len)) {
        return false;
    }
    struct token *token = add(c, len);
    if (str_eq_nocase(token->text, STR("and/or"))) {
        mean(token, WORD_OR, 0);
    } else if (is_area(token->text)) {
        mean(token, WORD_ZONE, 0);
    }
    return true;
}

/* a.m. and p.m., with or without the last dot. */
static size_t half_of_day_len(const struct cutter *c, size_t from)
{
    char half = lower(peek(c, from));
    size_t len = 1;
    if (half != 'a' && half != 'p') {
        return 0;
    }
    if (lower(peek(c, from + 1)) == 'm') {
        len = 2;
    } else if (peek(c, from + 1) == '.' && lower(peek(c, from + 2)) == 'm') {
        len = peek(c, from + 3) == '.' ? 4 : 3;
    }
    char after = peek(c, from + len);
    return is_letter(after) || is_digit(after) ? 0 : len;
}

static bool is_after_number(const struct cutter *c)
{
    const struct tokens *out = c->out;
    return out->count > 0 && out->at[out->count - 1].digits;
}

/* Of short words the dot after them is theirs: "Mon." "hrs." */
static void take_dot(struct cutter *c, struct token *token)
{
    bool short_word = token->count > 0 && token->text.len <= 5 && token->text.len > 1;
    bool named = token->readings[0].is == WORD_WEEKDAY || token->readings[0].is == WORD_MONTH ||
                 token->readings[0].is == WORD_UNIT || token->readings[0].is == WORD_HALF_OF_DAY;
    if (short_word && named && peek(c, 0) == '.' && is_blank(peek(c, 1))) {
        c->at++;
        token->text.len++;
    }
}

static void read_word(struct cutter *c, struct token *token, size_t len)
{
    char word[TOKEN_WORD_MAX];
    c->at -= len; /* lower_word() counts from here */
    struct str text = lower_word(c, 0, len, word);
    c->at += len;
    bool glued_unit = token->glued && c->out->count > 1 && c->out->at[c->out->count - 2].digits;
    lexicon_read(text, token);
    if (token->count > 0 && token->readings[0].is == WORD_UNIT && text.len <= 2 && !glued_unit &&
        !str_is(text, "hr") && !str_is(text, "wk") && !str_is(text, "yr")) {
        token->count = 0; /* "m" is minutes in 30m only */
    }
}

static void cut_word(struct cutter *c)
{
    size_t half = half_of_day_len(c, 0);
    if (half >= 3) {
        bool is_pm = lower(peek(c, 0)) == 'p';
        mean(add(c, half), WORD_HALF_OF_DAY, is_pm);
        return;
    }
    size_t len = letters_len(c, 0), quote = apostrophe(c, len), tail = 0;
    if (quote > 0 && is_letter(peek(c, len + quote))) {
        tail = quote + letters_len(c, len + quote);
    }
    if (tail == 0 && cut_joined(c, len)) {
        return;
    }
    bool possessive = tail == quote + 1 && lower(peek(c, len + quote)) == 's';
    struct token *token = add(c, len + tail);
    token->possessive = possessive;
    if (possessive) {
        c->at -= tail;
        read_word(c, token, len);
        c->at += tail;
    } else {
        read_word(c, token, len + tail);
    }
    take_dot(c, token);
}

/* ---- Digits ---- */

static size_t digits_len(const struct cutter *c, size_t from)
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

static bool cut_iso_date(struct cutter *c)
{
    if (digits_len(c, 0) != 4 || peek(c, 4) != '-' || digits_len(c, 5) != 2 || peek(c, 7) != '-' ||
        digits_len(c, 8) != 2) {
        return false;
    }
    int year = number_at(c, 0, 4), month = number_at(c, 5, 2), day = number_at(c, 8, 2);
    struct token *token = add(c, 10);
    mean(token, WORD_DATE, 0);
    token->number = year;
    token->month = month;
    token->day = day;
    if (lower(peek(c, 0)) == 't' && is_digit(peek(c, 1))) {
        c->at++;
    }
    return true;
}

static bool cut_slash_date(struct cutter *c, size_t len)
{
    size_t second = peek(c, len) == '/' ? digits_len(c, len + 1) : 0;
    if (len > 2 || second == 0 || second > 2) {
        return false;
    }
    size_t end = len + 1 + second;
    size_t third = peek(c, end) == '/' ? digits_len(c, end + 1) : 0;
    int year = number_at(c, end + 1, third);
    int month = number_at(c, 0, len), day = number_at(c, len + 1, second);
    if ((third != 0 && third != 2 && third != 4) || is_letter(peek(c, end))) {
        return false;
    }
    struct token *token = add(c, end + (third > 0 ? third + 1 : 0));
    mean(token, WORD_DATE, 0);
    token->number = third == 2 ? 2000 + year : year;
    token->month = month;
    token->day = day;
    return true;
}

static void take_half_of_day(struct cutter *c, struct token *token)
{
    size_t half = half_of_day_len(c, 0);
    if (half > 0) {
        token->half_of_day = lower(peek(c, 0)) == 'p';
        c->at += half;
        token->text.len += half;
    }
}

/* 9:30, 18:30:15, 9.30am. */
static bool cut_clock(struct cutter *c, size_t len)
{
    char sign = peek(c, len);
    size_t minutes = sign == ':' || sign == '.' ? digits_len(c, len + 1) : 0;
    size_t end = len + 1 + minutes;
    size_t seconds = peek(c, end) == ':' ? digits_len(c, end + 1) : 0;
    if (len > 2 || minutes != 2 || (seconds != 0 && seconds != 2) ||
        (sign == '.' && half_of_day_len(c, end + (peek(c, end) == ' ')) == 0)) {
        return false;
    }
    int hour = number_at(c, 0, len), minute = number_at(c, len + 1, 2);
    int second = number_at(c, end + 1, seconds);
    bool is_24 = peek(c, 0) == '0';
    struct token *token = add(c, end + (seconds > 0 ? 3 : 0));
    mean(token, WORD_CLOCK, 0);
    token->hour = hour;
    token->minute = minute;
    token->second = second;
    token->is_24 = is_24;
    take_half_of_day(c, token);
    return true;
}

static bool cut_ordinal(struct cutter *c, size_t len)
{
    static const char *const ends[] = {"st", "nd", "rd", "th"};
    char end[2] = {lower(peek(c, len)), lower(peek(c, len + 1))};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        if (memcmp(end, ends[i], 2) == 0 && !is_letter(peek(c, len + 2))) {
            int number = number_at(c, 0, len);
            struct token *token = add(c, len + 2);
            mean(token, WORD_ORDINAL, number);
            token->number = number;
            return true;
        }
    }
    return false;
}

/* 9am, 5p. */
static bool cut_hour(struct cutter *c, size_t len)
{
    if (len > 2 || half_of_day_len(c, len) == 0) {
        return false;
    }
    int hour = number_at(c, 0, len);
    bool is_24 = peek(c, 0) == '0';
    struct token *token = add(c, len);
    mean(token, WORD_CLOCK, 0);
    token->hour = hour;
    token->is_24 = is_24;
    take_half_of_day(c, token);
    return true;
}

static void take_hundredths(struct cutter *c, struct token *token)
{
    size_t len = digits_len(c, 1);
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
        size_t piece = letters_len(c, len + 1);
        return !is_in_lexicon(c, len + 1, piece);
    }
    while (is_letter(peek(c, from + letters))) {
        letters++;
    }
    if (letters == 0) {
        return false;
    }
    lexicon_read(lower_word(c, from, letters, word), &token);
    return token.count == 0 || token.readings[0].is != WORD_UNIT;
}

static void cut_number(struct cutter *c, size_t len, bool negative)
{
    if (len > DIGITS_MAX || is_plain_tail(c, len) ||
        (peek(c, len) == ':' && is_digit(peek(c, len + 1))) ||
        (peek(c, len) == '/' && is_digit(peek(c, len + 1)))) {
        add(c, joined_len(c, MAX(len, 1)));
        return;
    }
    int number = number_at(c, 0, len);
    bool is_24 = len == 4 || (len == 2 && peek(c, 0) == '0');
    struct token *token = add(c, len);
    mean(token, WORD_NUMBER, 0);
    token->digits = true;
    token->number = negative ? -number : number;
    token->is_24 = is_24;
    take_hundredths(c, token);
}

static void cut_digits(struct cutter *c)
{
    size_t len = digits_len(c, 0);
    if (!cut_iso_date(c) && !cut_slash_date(c, len) && !cut_clock(c, len) && !cut_ordinal(c, len) &&
        !cut_hour(c, len)) {
        cut_number(c, len, false);
    }
}

/* ---- The rest ---- */

/* The bytes up to and with the closing quote; 0: there is none. */
static size_t quoted_len(const struct cutter *c)
{
    struct str rest = str_from(c->text, c->at);
    if (peek(c, 0) == '"') {
        const char *end = memchr(rest.ptr + 1, '"', rest.len - 1);
        return end == NULL ? 0 : (size_t)(end - rest.ptr) + 1;
    }
    if (starts(c, "\xe2\x80\x9c")) {
        const char *end = memmem(rest.ptr, rest.len, "\xe2\x80\x9d", 3);
        return end == NULL ? 0 : (size_t)(end - rest.ptr) + 3;
    }
    bool opens = peek(c, 0) == '\'' && (c->at == 0 || is_blank(c->text.ptr[c->at - 1]));
    for (size_t n = 1; opens && n < rest.len; n++) {
        if (rest.ptr[n] == '\'' && !is_letter(peek(c, n + 1)) && !is_digit(peek(c, n + 1))) {
            return n + 1;
        }
    }
    return 0;
}

static void cut_mark(struct cutter *c)
{
    size_t len = dash(c);
    char ch = peek(c, 0);
    bool alone = c->at == 0 || is_blank(c->text.ptr[c->at - 1]);
    if (ch == '-' && alone && is_digit(peek(c, 1))) {
        c->at++;
        cut_number(c, digits_len(c, 0), true);
    } else if (len > 0) {
        add_mark(c, len, WORD_DASH);
    } else if (ch == '@' || ch == '&') {
        add_mark(c, 1, ch == '@' ? WORD_AT : WORD_AND);
    } else {
        add_mark(c, 1, ch == ',' ? WORD_COMMA : ch == '/' ? WORD_SLASH : WORD_STOP);
    }
}

static void cut_one(struct cutter *c)
{
    size_t quoted = quoted_len(c);
    if (is_blank(peek(c, 0))) {
        c->at++;
    } else if (quoted > 0) {
        add(c, quoted)->quoted = true;
    } else if (is_digit(peek(c, 0))) {
        cut_digits(c);
    } else if (is_letter(peek(c, 0)) && dash(c) == 0) {
        if (is_after_number(c) && half_of_day_len(c, 0) == 0 && c->at > 0 &&
            is_digit(c->text.ptr[c->at - 1])) {
            size_t len = 0;
            while (is_letter(peek(c, len))) {
                len++;
            }
            read_word(c, add(c, len), len);
        } else {
            cut_word(c);
        }
    } else {
        cut_mark(c);
    }
}

bool tokens_cut(struct str text, struct arena *arena, struct tokens *out)
{
    size_t room = MIN(text.len + 1, ENGLISH_WORDS_MAX);
    struct cutter c = {.text = text, .out = out, .room = room};
    *out = (struct tokens){.text = text};
    out->at = arena_array(arena, struct token, room + 1);
    while (c.at < text.len) {
        cut_one(&c);
    }
    return out->count < room;
}
