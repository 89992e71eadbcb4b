/* english/summary_lists.c: see summary_lists.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "english/summary_lists.h"

#include "time/bits.h"
#include "time/wall.h"
#include "wire/time.h"

#define RUN_MIN 3 /* so many in a row are written "9 to 17" */

const char *const english_months[13] = {"",        "January",  "February", "March",  "April",
                                        "May",     "June",     "July",     "August", "September",
                                        "October", "November", "December"};
const char *const english_weekdays[7] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                         "Friday", "Saturday", "Sunday"};

void english_item(struct english_list *list)
{
    if (list->written > 0) {
        buf_c(list->out, list->written + 1 == list->total ? " and " : ", ");
    }
    list->written++;
}

static unsigned run_len(const uint64_t *words, unsigned from, unsigned max)
{
    unsigned len = 0;
    while (from + len <= max && bits_has(words, from + len)) {
        len++;
    }
    return len;
}

/* Walks numbers and runs of them; writes when told to, and tells how many items there are. */
static unsigned walk_numbers(struct buf *out, const uint64_t *words, unsigned max, unsigned total)
{
    struct english_list list = {out, total, 0};
    unsigned items = 0;
    for (unsigned n = bits_next(words, 0, max + 1); n <= max; n = bits_next(words, n, max + 1)) {
        unsigned len = run_len(words, n, max);
        len = len >= RUN_MIN ? len : 1;
        items++;
        if (out != NULL) {
            english_item(&list);
            buf_u64(out, n);
            if (len > 1) {
                buf_printf(out, " to %u", n + len - 1);
            }
        }
        n += len;
    }
    return items;
}

void english_numbers(struct buf *out, const uint64_t *words, unsigned max)
{
    walk_numbers(out, words, max, walk_numbers(NULL, words, max, 0));
}

void english_names(struct buf *out, uint64_t set, const char *const *names)
{
    struct english_list list = {out, (unsigned)__builtin_popcountll(set), 0};
    for (; set != 0; set &= set - 1) {
        english_item(&list);
        buf_c(out, names[bits_first(set)]);
    }
}

static void number_th(struct buf *out, unsigned n)
{
    static const char *const ends[] = {"th", "st", "nd", "rd"};
    bool teen = n % 100 >= 11 && n % 100 <= 13;
    buf_printf(out, "%u%s", n, teen || n % 10 > 3 ? "th" : ends[n % 10]);
}

void english_ordinal(struct buf *out, unsigned n)
{
    static const char *const words[] = {"", "first", "second", "third", "fourth", "fifth"};
    if (n < ARRAY_LEN(words)) {
        buf_c(out, words[n]);
    } else {
        number_th(out, n);
    }
}

void english_last(struct buf *out, unsigned n)
{
    if (n > 1) {
        english_ordinal(out, n);
        buf_c(out, " to ");
    }
    buf_c(out, "last");
}

unsigned english_places_count(const uint64_t *words, const uint64_t *last_words, unsigned max)
{
    return bits_count(words, 1, max + 1) + bits_count(last_words, 1, max + 1);
}

void english_places(struct buf *out, const uint64_t *words, const uint64_t *last_words,
                    unsigned max)
{
    struct english_list list = {out, english_places_count(words, last_words, max), 0};
    for (unsigned n = bits_next(words, 1, max + 1); n <= max;
         n = bits_next(words, n + 1, max + 1)) {
        english_item(&list);
        number_th(out, n);
    }
    for (unsigned n = bits_back(last_words, max); n > 0; n = bits_back(last_words, n - 1)) {
        english_item(&list);
        english_last(out, n);
    }
}

void english_date(struct buf *out, int64_t day)
{
    int64_t year;
    unsigned month, of_month;
    time_date_of(day, &year, &month, &of_month);
    buf_printf(out, "%u %s %lld", of_month, english_months[month], (long long)year);
}

void english_clock(struct buf *out, int64_t wall_s)
{
    unsigned tod = (unsigned)wall_mod(wall_s, WALL_DAY_S);
    buf_printf(out, "%02u:%02u", tod / 3600, tod / 60 % 60);
    if (tod % 60 != 0) {
        buf_printf(out, ":%02u", tod % 60);
    }
}
