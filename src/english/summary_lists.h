/* english/summary_lists.h: lists of numbers, days and times in English. Private to summary*.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_ENGLISH_SUMMARY_LISTS_H
#define ERRAND_ENGLISH_SUMMARY_LISTS_H

#include "base/buf.h"

extern const char *const english_months[13];  /* from 1 */
extern const char *const english_weekdays[7]; /* from Monday */

/* Puts ", " and " and " between items; `total` must be known before the first. */
struct english_list {
    struct buf *out;
    unsigned total, written;
};
void english_item(struct english_list *list); /* call before writing each */

void english_numbers(struct buf *out, const uint64_t *words, unsigned max); /* 0, 5 and 9 to 17 */
void english_names(struct buf *out, uint64_t set, const char *const *names);
void english_ordinal(struct buf *out, unsigned n); /* first … fifth, 6th */
void english_last(struct buf *out, unsigned n);    /* last, second to last, … */

/* "1st, 15th and last day", of bits from the beginning and from the end; with `words` of 64. */
void english_places(struct buf *out, const uint64_t *words, const uint64_t *last_words,
                    unsigned max);
unsigned english_places_count(const uint64_t *words, const uint64_t *last_words, unsigned max);

void english_date(struct buf *out, int64_t day);     /* 1 March 2027 */
void english_clock(struct buf *out, int64_t wall_s); /* 09:00, or 09:00:30 */

#endif
