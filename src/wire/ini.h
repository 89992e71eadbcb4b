/* wire/ini.h: the lines of a settings file.
 *
 *     [section]
 *     key = value        ; a comment, behind white space; # begins one too
 *     ; a comment of its own
 *
 * Quotes are those of a shell: inside '…' and "…" a ; or # is a character like any other, and in
 * "…" a backslash keeps the next " or \. A quote opens at the beginning of a word or behind a =,
 * and only where another one closes it, so that an apostrophe stays one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_INI_H
#define ERRAND_WIRE_INI_H

#include "base/arena.h"
#include "base/err.h"

#define INI_LINE_MAX ((size_t)16 * 1024) /* bytes; room for any key, token or address */

struct ini {
    struct str rest;
    struct str section; /* "" until one is named */
    int line;           /* of what ini_next() read last, from 1 */
};

struct ini_pair {
    struct str section, key;
    struct str value; /* as it is written, without what is around it; see ini_unquote() */
};

struct ini ini_open(struct str text); /* `text` must outlast it */

/* The next pair, past comments, sections and empty lines. True with *out, false with an error that
 * says what is wrong with the line, false without one at the end. */
MUST_CHECK bool ini_next(struct ini *ini, struct ini_pair *out, struct err *err);

/* What a value that is quoted as a whole says; any other one as it is. */
struct str ini_unquote(struct arena *arena, struct str value);

#endif
