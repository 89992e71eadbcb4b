/* english/cut.h: what cuts a sentence into tokens: token.c the words, digits.c the numbers. Private
 * to them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_ENGLISH_CUT_H
#define ERRAND_ENGLISH_CUT_H

#include "english/token.h"

struct cutter {
    struct str text;
    size_t at;
    struct tokens *out;
    size_t room;
};

static inline char peek(const struct cutter *c, size_t ahead)
{
    return c->at + ahead < c->text.len ? c->text.ptr[c->at + ahead] : '\0';
}

static inline bool is_digit(char ch)
{
    return ch >= '0' && ch <= '9';
}

static inline bool is_letter(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (unsigned char)ch >= 0x80;
}

static inline bool is_blank(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r';
}

static inline char lower(char ch)
{
    return ch >= 'A' && ch <= 'Z' ? (char)(ch - 'A' + 'a') : ch;
}

static inline bool starts(const struct cutter *c, const char *bytes)
{
    return str_starts(str_from(c->text, c->at), str_of(bytes));
}

/* ’ is what a telephone writes for '. The answer is its length in bytes. */
static inline size_t apostrophe(const struct cutter *c, size_t ahead)
{
    struct str rest = str_from(c->text, c->at + ahead);
    return peek(c, ahead) == '\'' ? 1 : str_starts(rest, STR("\xe2\x80\x99")) ? 3 : 0;
}

static inline size_t dash(const struct cutter *c)
{
    return peek(c, 0) == '-' ? 1 : starts(c, "\xe2\x80\x93") || starts(c, "\xe2\x80\x94") ? 3 : 0;
}

/* A letter that is no dash: those are of several bytes, too. */
static inline bool is_letter_at(const struct cutter *c, size_t ahead)
{
    struct str rest = str_from(c->text, MIN(c->at + ahead, c->text.len));
    return is_letter(peek(c, ahead)) && !str_starts(rest, STR("\xe2\x80\x93")) &&
           !str_starts(rest, STR("\xe2\x80\x94"));
}

struct token *cut_add(struct cutter *c, size_t len);
void cut_mean(struct token *token, enum word_class is, int value);
/* The word at `from`, in lower case and without apostrophes and hyphens. */
struct str cut_lower(const struct cutter *c, size_t from, size_t len, char *to);
size_t cut_letters_len(const struct cutter *c, size_t from);
size_t cut_joined_len(const struct cutter *c, size_t len);
bool cut_is_in_lexicon(const struct cutter *c, size_t from, size_t len);
size_t cut_half_of_day_len(const struct cutter *c, size_t from); /* a.m. and p.m. */

void cut_digits(struct cutter *c); /* whatever begins with a digit */
void cut_number(struct cutter *c, size_t len, bool negative);
size_t cut_digits_len(const struct cutter *c, size_t from);
bool cut_short_year(struct cutter *c); /* '26 */

#endif
