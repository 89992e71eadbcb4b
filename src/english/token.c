/* english/token.c: cuts a sentence into tokens. See token.h.
 *
 * A hyphen or slash stands between two words of a schedule (mon-fri, sat/sun) or is part of one
 * plain word (follow-up, and/or).
 *
 * SPDX-License-Identifier: MIT */
#include "english/token.h"

#include "english/cut.h"
#include "english/english.h"

/* ---- Tokens ---- */

struct token *cut_add(struct cutter *c, size_t len)
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

void cut_mean(struct token *token, enum word_class is, int value)
{
    token->readings[0] = (struct reading){is, value};
    token->count = 1;
}

static void add_mark(struct cutter *c, size_t len, enum word_class is)
{
    cut_mean(cut_add(c, len), is, 0);
}

/* ---- Words ---- */

size_t cut_letters_len(const struct cutter *c, size_t from)
{
    size_t n = from;
    while (is_letter_at(c, n) || is_digit(peek(c, n)) || peek(c, n) == '_') {
        n++;
    }
    return n - from;
}

struct str cut_lower(const struct cutter *c, size_t from, size_t len, char *to)
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

bool cut_is_in_lexicon(const struct cutter *c, size_t from, size_t len)
{
    char word[TOKEN_WORD_MAX];
    struct token token = {.count = 0};
    lexicon_read(cut_lower(c, from, len, word), &token);
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
size_t cut_joined_len(const struct cutter *c, size_t len)
{
    static const char inside[] = "-/.@:_&+'";
    for (;;) {
        char next = peek(c, len), then = peek(c, len + 1);
        if (is_letter_at(c, len) || is_digit(next)) {
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
        size_t piece = cut_letters_len(c, from);
        if (piece == 0 || !(is_digit(peek(c, from)) || cut_is_in_lexicon(c, from, piece))) {
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
    size_t len = cut_joined_len(c, first_len);
    if (len == first_len) {
        return false;
    }
    struct str compact = cut_lower(c, 0, len, word);
    if (memchr(c->text.ptr + c->at, '-', len) != NULL && lexicon_knows(compact)) {
        lexicon_read(compact, cut_add(c, len));
        return true;
    }
    if (splits(c, len)) {
        return false;
    }
    struct token *token = cut_add(c, len);
    if (str_eq_nocase(token->text, STR("and/or"))) {
        cut_mean(token, WORD_OR, 0);
    } else if (is_area(token->text)) {
        cut_mean(token, WORD_ZONE, 0);
    }
    return true;
}

/* a.m. and p.m., with or without the last dot. */
size_t cut_half_of_day_len(const struct cutter *c, size_t from)
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
    return is_letter_at(c, from + len) || is_digit(peek(c, from + len)) ? 0 : len;
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
    c->at -= len; /* cut_lower() counts from here */
    struct str text = cut_lower(c, 0, len, word);
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
    size_t half = cut_half_of_day_len(c, 0);
    if (half >= 3) {
        bool is_pm = lower(peek(c, 0)) == 'p';
        cut_mean(cut_add(c, half), WORD_HALF_OF_DAY, is_pm);
        return;
    }
    size_t len = cut_letters_len(c, 0), quote = apostrophe(c, len), tail = 0;
    if (quote > 0 && is_letter(peek(c, len + quote))) {
        tail = quote + cut_letters_len(c, len + quote);
    }
    if (tail == 0 && cut_joined(c, len)) {
        return;
    }
    bool possessive = tail == quote + 1 && lower(peek(c, len + quote)) == 's';
    struct token *token = cut_add(c, len + tail);
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
        cut_number(c, cut_digits_len(c, 0), true);
    } else if (len > 0) {
        add_mark(c, len, WORD_DASH);
    } else if (ch == '@' || ch == '&' || (ch == '+' && !is_digit(peek(c, 1)))) {
        add_mark(c, 1, ch == '@' ? WORD_AT : WORD_AND);
    } else {
        add_mark(c, 1, ch == ',' ? WORD_COMMA : ch == '/' ? WORD_SLASH : WORD_STOP);
    }
}

static void cut_one(struct cutter *c)
{
    if (is_blank(peek(c, 0))) {
        c->at++;
        return;
    }
    if (cut_short_year(c)) {
        return;
    }
    size_t quoted = quoted_len(c);
    if (quoted > 0) {
        cut_add(c, quoted)->quoted = true;
    } else if (is_digit(peek(c, 0))) {
        cut_digits(c);
    } else if (is_letter(peek(c, 0)) && dash(c) == 0) {
        if (is_after_number(c) && cut_half_of_day_len(c, 0) == 0 && c->at > 0 &&
            is_digit(c->text.ptr[c->at - 1])) {
            size_t len = 0;
            while (is_letter_at(c, len)) {
                len++;
            }
            read_word(c, cut_add(c, len), len);
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
    *out = (struct tokens){.text = text, .arena = arena};
    out->at = arena_array(arena, struct token, room + 1);
    while (c.at < text.len) {
        cut_one(&c);
    }
    return out->count < room;
}
