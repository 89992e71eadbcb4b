/* time/rrule_text.c: writes a rule in its one canonical spelling. See rrule.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "time/bits.h"
#include "time/rrule.h"
#include "time/wall.h"
#include "wire/time.h"

/* Writes ";NAME=" before the first item and "," before every other. */
struct item_list {
    struct buf *buf;
    const char *name;
    bool begun;
};

static void add_item(struct item_list *list)
{
    if (list->begun) {
        buf_char(list->buf, ',');
    } else {
        buf_printf(list->buf, ";%s=", list->name);
    }
    list->begun = true;
}

/* The numbers of a set, rising; those from the end as -n, rising too. */
static void add_numbers(struct item_list *list, const uint64_t *words, const uint64_t *last_words,
                        unsigned max)
{
    for (unsigned n = 0; n <= max; n++) {
        if (bits_has(words, n)) {
            add_item(list);
            buf_u64(list->buf, n);
        }
    }
    for (unsigned n = max; n > 0 && last_words != NULL; n--) {
        if (bits_has(last_words, n)) {
            add_item(list);
            buf_printf(list->buf, "-%u", n);
        }
    }
}

static void write_list(struct buf *buf, const char *name, const uint64_t *words,
                       const uint64_t *last_words, unsigned max)
{
    struct item_list list = {buf, name, false};
    add_numbers(&list, words, last_words, max);
}

static void write_word(struct buf *buf, const char *name, uint64_t word, uint64_t last,
                       unsigned max)
{
    write_list(buf, name, &word, &last, max);
}

static void add_weekday(struct item_list *list, const char *prefix, unsigned number, size_t weekday)
{
    add_item(list);
    buf_c(list->buf, prefix);
    if (number > 0) {
        buf_u64(list->buf, number);
    }
    buf_c(list->buf, rrule_weekday_names[weekday]);
}

static void write_byday(struct buf *buf, const struct rrule *rule)
{
    struct item_list list = {buf, "BYDAY", false};
    for (size_t day = 0; day < 7; day++) {
        if (rule->weekdays >> day & 1) {
            add_weekday(&list, "", 0, day);
        }
        for (uint64_t set = rule->nth[day]; set != 0; set &= set - 1) {
            add_weekday(&list, "", bits_first(set), day);
        }
        for (unsigned n = 53; n > 0; n--) {
            if (rule->nth_last[day] >> n & 1) {
                add_weekday(&list, "-", n, day);
            }
        }
    }
}

static void write_until(struct buf *buf, const struct rrule *rule)
{
    char text[TIME_TEXT_LEN + 1];
    time_text(rule->until_s * 1000, text);
    buf_printf(buf, ";UNTIL=%.4s%.2s%.2s", text, text + 5, text + 8);
    if (rule->until != RRULE_UNTIL_DATE) {
        buf_printf(buf, "T%.2s%.2s%.2s%s", text + 11, text + 14, text + 17,
                   rule->until == RRULE_UNTIL_UTC ? "Z" : "");
    }
}

void rrule_write(struct buf *buf, const struct rrule *rule)
{
    buf_printf(buf, "FREQ=%s", rrule_freq_names[rule->freq]);
    if (rule->interval > 1) {
        buf_printf(buf, ";INTERVAL=%u", rule->interval);
    }
    if (rule->count > 0) {
        buf_printf(buf, ";COUNT=%u", rule->count);
    }
    if (rule->until != RRULE_ENDLESS) {
        write_until(buf, rule);
    }
    write_byday(buf, rule);
    write_word(buf, "BYHOUR", rule->hours, 0, 23);
    write_word(buf, "BYMINUTE", rule->minutes, 0, 59);
    write_word(buf, "BYMONTH", rule->months, 0, 12);
    write_word(buf, "BYMONTHDAY", rule->month_days, rule->month_days_last, 31);
    write_word(buf, "BYSECOND", rule->seconds, 0, 59);
    write_list(buf, "BYSETPOS", rule->positions, rule->positions_last, 366);
    write_word(buf, "BYWEEKNO", rule->weeks, rule->weeks_last, 53);
    write_list(buf, "BYYEARDAY", rule->year_days, rule->year_days_last, 366);
    if (rule->wkst > 0) {
        buf_printf(buf, ";WKST=%s", rrule_weekday_names[rule->wkst]);
    }
}
