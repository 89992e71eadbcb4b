/* base/str.c: text that is looked at. See str.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/str.h"

#include <limits.h>
#include <strings.h>
#include <sys/random.h>

int str_cmp(struct str a, struct str b)
{
    size_t shared = MIN(a.len, b.len);
    int order = shared == 0 ? 0 : memcmp(a.ptr, b.ptr, shared);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

bool str_eq_nocase(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

bool str_starts(struct str a, struct str prefix)
{
    return a.len >= prefix.len && str_eq((struct str){a.ptr, prefix.len}, prefix);
}

bool str_ends(struct str a, struct str suffix)
{
    return a.len >= suffix.len && str_eq(str_from(a, a.len - suffix.len), suffix);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct str str_chomp(struct str a)
{
    while (a.len > 0 && (a.ptr[a.len - 1] == '\n' || a.ptr[a.len - 1] == '\r')) {
        a.len--;
    }
    return a;
}

struct str str_trim(struct str a)
{
    while (a.len > 0 && is_blank(a.ptr[0])) {
        a = str_from(a, 1);
    }
    while (a.len > 0 && is_blank(a.ptr[a.len - 1])) {
        a.len--;
    }
    return a;
}

struct str str_from(struct str a, size_t at)
{
    at = MIN(at, a.len);
    return a.ptr == NULL ? a : (struct str){a.ptr + at, a.len - at};
}

struct str str_head(struct str a, size_t most)
{
    size_t len = MIN(a.len, most);
    while (len > 0 && len < a.len && ((unsigned char)a.ptr[len] & 0xC0) == 0x80) {
        len--; /* the byte behind the cut continues a character */
    }
    return (struct str){a.ptr, len};
}

struct str str_cut(struct str *rest, char sep)
{
    struct str piece = *rest;
    const char *found = piece.len == 0 ? NULL : memchr(piece.ptr, sep, piece.len);
    if (found == NULL) {
        *rest = STR_NONE;
        return piece;
    }
    piece.len = (size_t)(found - piece.ptr);
    *rest = str_from(*rest, piece.len + 1);
    return piece;
}

bool str_u64(struct str a, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < a.len; i++) {
        unsigned digit = (unsigned)(a.ptr[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return false;
        }
    }
    *out = value;
    return a.len > 0;
}

bool str_i64(struct str a, int64_t *out)
{
    bool negative = a.len > 0 && a.ptr[0] == '-';
    uint64_t size;
    if (!str_u64(str_from(a, negative ? 1 : 0), &size) ||
        size > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
        return false;
    }
    *out = negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}

size_t str_utf8_len(struct str a)
{
    static const unsigned char low[] = {0x80, 0xA0, 0x90}, high[] = {0xBF, 0x9F, 0x8F};
    const unsigned char *p = (const unsigned char *)a.ptr;
    size_t n = a.len == 0    ? 0
               : p[0] < 0x80 ? 1
               : p[0] < 0xC2 ? 0
               : p[0] < 0xE0 ? 2
               : p[0] < 0xF0 ? 3
               : p[0] < 0xF5 ? 4
                             : 0;
    if (n == 0 || n > a.len) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    /* The second byte rules out overlong forms, surrogates and values past U+10FFFF. */
    if ((p[0] == 0xE0 && p[1] < low[1]) || (p[0] == 0xED && p[1] > high[1]) ||
        (p[0] == 0xF0 && p[1] < low[2]) || (p[0] == 0xF4 && p[1] > high[2])) {
        return 0;
    }
    return n;
}

bool str_is_utf8(struct str a)
{
    while (a.len > 0) {
        size_t n = str_utf8_len(a);
        if (n == 0) {
            return false;
        }
        a = str_from(a, n);
    }
    return true;
}

bool str_has_control(struct str a)
{
    const unsigned char *p = (const unsigned char *)a.ptr;
    for (size_t i = 0; i < a.len; i++) {
        bool c1 = p[i] == 0xC2 && i + 1 < a.len && p[i + 1] < 0xA0;
        if (p[i] < 0x20 || p[i] == 0x7F || c1) {
            return true;
        }
    }
    return false;
}

/* A seed of its own for each process keeps a client from choosing names that collide. */
static uint64_t hash_seed(void)
{
    static uint64_t seed;
    if (__builtin_expect(__atomic_load_n(&seed, __ATOMIC_RELAXED) == 0, 0)) {
        uint64_t fresh = 0, none = 0;
        if (getrandom(&fresh, sizeof fresh, 0) != (ssize_t)sizeof fresh) {
            fresh = (uintptr_t)&seed;
        }
        __atomic_compare_exchange_n(&seed, &none, fresh | 1, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
    }
    return __atomic_load_n(&seed, __ATOMIC_RELAXED);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xD6E8FEB86659FD93u);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t str_hash(struct str a)
{
    uint64_t hash = hash_seed() ^ a.len;
    const char *p = a.ptr;
    size_t left = a.len;
    for (; left >= 8; p += 8, left -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        hash = mix(hash, word);
    }
    uint64_t tail = 0;
    if (left > 0) {
        memcpy(&tail, p, left);
    }
    return mix(hash, tail ^ ((uint64_t)left << 56));
}
