/* work/words.c: a line of words as a shell splits it, without a shell. See words.h.
 *
 * SPDX-License-Identifier: MIT */
#include "work/words.h"

struct reader {
    struct str line;
    size_t at;
    char *out; /* the word so far */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void skip_blanks(struct reader *reader)
{
    while (reader->at < reader->line.len && is_blank(reader->line.ptr[reader->at])) {
        reader->at++;
    }
}

/* Is this backslash one that keeps the next character? */
static bool escapes(const struct reader *reader, char quote)
{
    const char *p = reader->line.ptr + reader->at;
    if (*p != '\\' || quote == '\'' || reader->at + 1 >= reader->line.len) {
        return false;
    }
    return quote == 0 || p[1] == '"' || p[1] == '\\';
}

static bool read_word(struct reader *reader, struct err *err)
{
    char quote = 0;
    for (; reader->at < reader->line.len; reader->at++) {
        char c = reader->line.ptr[reader->at];
        if (quote == 0 && is_blank(c)) {
            break;
        }
        if (escapes(reader, quote)) {
            *reader->out++ = reader->line.ptr[++reader->at];
        } else if (quote == 0 && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == quote && quote != 0) {
            quote = 0;
        } else {
            *reader->out++ = c;
        }
    }
    *reader->out++ = '\0';
    return quote == 0 || err_set(err, ERR_INVALID, "a quote %c is not closed", quote);
}

bool words_split(struct arena *arena, struct str line, char ***out, size_t *count, struct err *err)
{
    char *text = arena_alloc(arena, 2 * line.len + 1); /* a word and its end need no more */
    char **words = arena_array(arena, char *, line.len / 2 + 2);
    struct reader reader = {.line = line, .out = text};
    size_t n = 0;
    for (skip_blanks(&reader); reader.at < line.len; skip_blanks(&reader)) {
        words[n++] = reader.out;
        if (!read_word(&reader, err)) {
            return false;
        }
    }
    *out = words;
    *count = n;
    return true;
}
