/* english/token_is.c: what a token may be. See token.h.
 *
 * SPDX-License-Identifier: MIT */
#include "english/token.h"

bool token_is(const struct tokens *tokens, size_t at, enum word_class class)
{
    if (at >= tokens->count) {
        return false;
    }
    const struct token *token = &tokens->at[at];
    for (size_t i = 0; i < token->count; i++) {
        if (token->readings[i].is == class) {
            return true;
        }
    }
    return false;
}

int token_value(const struct tokens *tokens, size_t at, enum word_class class)
{
    const struct token *token = &tokens->at[MIN(at, tokens->count)];
    for (size_t i = 0; i < token->count; i++) {
        if (token->readings[i].is == class) {
            return token->readings[i].value;
        }
    }
    return 0;
}

bool token_is_unit(const struct tokens *tokens, size_t at, enum word_unit unit)
{
    return token_is(tokens, at, WORD_UNIT) &&
           (token_value(tokens, at, WORD_UNIT) & ~TOKEN_PLURAL) == (int)unit;
}

/* Most words differ in their first letter already. */
static bool begins(struct str text, const char *word)
{
    return text.len > 0 && ((text.ptr[0] ^ word[0]) & ~0x20) == 0;
}

bool token_is_word(const struct tokens *tokens, size_t at, const char *word)
{
    return at < tokens->count && begins(tokens->at[at].text, word) &&
           str_eq_nocase(tokens->at[at].text, str_of(word));
}

size_t token_spells(const struct tokens *tokens, size_t at, const char *words)
{
    if (at >= tokens->count || !begins(tokens->at[at].text, words)) {
        return at;
    }
    struct str rest = str_of(words);
    size_t to = at;
    while (!str_absent(rest)) {
        struct str word = str_cut(&rest, ' ');
        if (to >= tokens->count || !str_eq_nocase(tokens->at[to].text, word)) {
            return at;
        }
        to++;
    }
    return to;
}

bool token_is_mark(const struct tokens *tokens, size_t at)
{
    return token_is(tokens, at, WORD_COMMA) || token_is(tokens, at, WORD_DASH) ||
           token_is(tokens, at, WORD_SLASH) || token_is(tokens, at, WORD_STOP);
}

bool token_is_particle(const struct tokens *tokens, size_t at)
{
    static const char *const verbs[] = {"turn", "switch", "put", "keep", "leave", "try"};
    if (!token_is(tokens, at, WORD_ON)) {
        return false;
    }
    for (size_t back = 1; back <= MIN(at, 5); back++) {
        for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
            if (token_is_word(tokens, at - back, verbs[i])) {
                return true;
            }
        }
    }
    return false;
}

bool token_is_plain(const struct tokens *tokens, size_t at)
{
    return at < tokens->count && tokens->at[at].count == 0;
}
