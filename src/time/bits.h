/* time/bits.h: sets of small numbers as bits of 64-bit words. Private to this folder.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TIME_BITS_H
#define ERRAND_TIME_BITS_H

#include "base/def.h"

#define BIT(n) ((uint64_t)1 << (n))

static inline void bits_add(uint64_t *words, unsigned n)
{
    words[n / 64] |= BIT(n % 64);
}

static inline bool bits_has(const uint64_t *words, unsigned n)
{
    return words[n / 64] >> (n % 64) & 1;
}

static inline unsigned bits_below(uint64_t word, unsigned n) /* how many are < n; n up to 63 */
{
    return (unsigned)__builtin_popcountll(word & (BIT(n) - 1));
}

static inline unsigned bits_first(uint64_t word) /* of a word that is not 0 */
{
    return (unsigned)__builtin_ctzll(word);
}

static inline unsigned bits_nth(uint64_t word, unsigned n) /* the n-th, from 0; it is there */
{
    while (n-- > 0) {
        word &= word - 1;
    }
    return bits_first(word);
}

/* The first in [from, end), or end. */
static inline unsigned bits_next(const uint64_t *words, unsigned from, unsigned end)
{
    for (unsigned at = from; at < end; at = (at | 63) + 1) {
        uint64_t word = words[at / 64] >> (at % 64);
        if (word != 0) {
            return MIN(at + bits_first(word), end);
        }
    }
    return end;
}

/* The last in [1, from], or 0. */
static inline unsigned bits_back(const uint64_t *words, unsigned from)
{
    for (;; from = from / 64 * 64 - 1) {
        uint64_t word = words[from / 64] << (63 - from % 64);
        if (word != 0) {
            return from - (unsigned)__builtin_clzll(word);
        }
        if (from < 64) {
            return 0;
        }
    }
}

static inline unsigned bits_count(const uint64_t *words, unsigned from, unsigned end)
{
    unsigned count = 0;
    for (unsigned at = from; at < end; at = (at | 63) + 1) {
        uint64_t word = words[at / 64] >> (at % 64);
        unsigned width = MIN(64 - at % 64, end - at);
        count += (unsigned)__builtin_popcountll(width == 64 ? word : word & (BIT(width) - 1));
    }
    return count;
}

#endif
