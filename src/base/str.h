/* base/str.h: text that is looked at.
 *
 * A str borrows: pointer and length, valid as long as what it points into. It is not
 * NUL-terminated. `{NULL, 0}` means absent; a present empty text has a pointer.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_STR_H
#define ERRAND_BASE_STR_H

#include <endian.h>
#include <string.h>

#include "base/def.h"

struct str {
    const char *ptr;
    size_t len;
};

#define STR(literal)  ((struct str){"" literal, sizeof(literal) - 1})
#define STR_NONE      ((struct str){NULL, 0})
#define STR_FMT       "%.*s" /* printf("…" STR_FMT, STR_ARG(s)) */
#define STR_ARG(text) (int)(text).len, (text).ptr

static inline struct str str_of(const char *c_text) /* NULL gives STR_NONE */
{
    return c_text == NULL ? STR_NONE : (struct str){c_text, strlen(c_text)};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool str_is(struct str a, const char *c_text)
{
    return str_eq(a, str_of(c_text));
}

static inline bool str_absent(struct str a)
{
    return a.ptr == NULL;
}

static inline int str_hex(char c) /* the value of a hex digit, or -1 */
{
    int lower = c | 0x20;
    return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

#define HEX_U64 16
/* Sixteen hex digits, no NUL: all at once, each in a byte of its own. */
static inline void str_put_hex(char out[static HEX_U64], uint64_t value)
{
    for (int half = 0; half < 2; half++) {
        uint64_t digits = half == 0 ? value >> 32 : value & UINT32_MAX;
        digits = (digits | digits << 16) & UINT64_C(0x0000FFFF0000FFFF);
        digits = (digits | digits << 8) & UINT64_C(0x00FF00FF00FF00FF);
        digits = (digits | digits << 4) & UINT64_C(0x0F0F0F0F0F0F0F0F);
        uint64_t letters =
            ((digits + UINT64_C(0x0606060606060606)) >> 4) & UINT64_C(0x0101010101010101);
        digits += UINT64_C(0x3030303030303030) + letters * ('a' - '9' - 1);
        digits = htobe64(digits); /* the most significant digit first */
        memcpy(out + (size_t)half * 8, &digits, sizeof digits);
    }
}

int str_cmp(struct str a, struct str b);        /* bytewise order */
bool str_eq_nocase(struct str a, struct str b); /* ASCII letters only */
bool str_starts(struct str a, struct str prefix);
bool str_ends(struct str a, struct str suffix);
struct str str_chomp(struct str a);             /* without line ends behind it */
struct str str_trim(struct str a);              /* without spaces and tabs around it */
struct str str_from(struct str a, size_t at);   /* the rest from `at`; empty when past it */
struct str str_head(struct str a, size_t most); /* its first bytes, cut between characters */

/* Cuts *rest at the first `sep`: returns what is before it, leaves what is after it. The last
 * piece leaves STR_NONE, so `while (!str_absent(rest)) piece = str_cut(&rest, ',')` sees each. */
struct str str_cut(struct str *rest, char sep);

/* Reads all of `a` as a decimal number: no sign for u64, no blanks, no overflow. */
MUST_CHECK bool str_u64(struct str a, uint64_t *out);
MUST_CHECK bool str_i64(struct str a, int64_t *out);

size_t str_utf8_len(struct str a);  /* bytes of the first character; 0 if malformed or none */
bool str_is_utf8(struct str a);     /* well formed, no surrogates, no overlong */
bool str_has_control(struct str a); /* U+0000–001F, 007F, 0080–009F */

uint64_t str_hash(struct str a); /* not for secrets; seeded once per process */

#endif
