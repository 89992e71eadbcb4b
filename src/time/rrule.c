/* time/rrule.c: reads a rule, strictly; fills what it leaves unsaid; writes it in its one canonical
 * spelling. See rrule.h.
 *
 * Each part is one row of a table: its name, what its numbers may be, and where they go. What parts
 * may not stand together is a table too.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "time/rrule.h"
#include "time/bits.h"
#include "time/wall.h"
#include "wire/time.h"

const char *const rrule_freq_names[7] = {"SECONDLY", "MINUTELY", "HOURLY", "DAILY",
                                         "WEEKLY",   "MONTHLY",  "YEARLY"};
const char *const rrule_weekday_names[7] = {"MO", "TU", "WE", "TH", "FR", "SA", "SU"};

#define NTH_MAX 53

/* A value and where it stands, for the error. */
struct value {
    const char *part;
    struct str text;
};

static bool wrong(const struct value *value, const char *right, struct err *err)
{
    return err_set(err, ERR_INVALID, "%s=%.*s: %s", value->part,
                   (int)MIN(value->text.len, (size_t)40), value->text.ptr, right);
}

/* Finds a name among `count`; the answer is its index, or -1. */
static int find_name(struct str text, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (str_eq_nocase(text, str_of(names[i]))) {
            return i;
        }
    }
    return -1;
}

static bool parse_freq(struct rrule *rule, const struct value *value, struct err *err)
{
    int found = find_name(value->text, rrule_freq_names, ARRAY_LEN(rrule_freq_names));
    if (found < 0) {
        return wrong(value, "must be SECONDLY, MINUTELY, HOURLY, DAILY, WEEKLY, MONTHLY or YEARLY",
                     err);
    }
    rule->freq = (enum rrule_freq)found;
    return true;
}

static bool parse_positive(const struct value *value, uint64_t max, uint32_t *out, struct err *err)
{
    uint64_t number;
    if (!str_u64(value->text, &number) || number < 1 || number > max) {
        return wrong(value, "must be a number from 1 to 2147483647", err);
    }
    *out = (uint32_t)number;
    return true;
}

static bool parse_interval(struct rrule *rule, const struct value *value, struct err *err)
{
    return parse_positive(value, RRULE_INTERVAL_MAX, &rule->interval, err);
}

static bool parse_count(struct rrule *rule, const struct value *value, struct err *err)
{
    return parse_positive(value, RRULE_COUNT_MAX, &rule->count, err);
}

static bool parse_wkst(struct rrule *rule, const struct value *value, struct err *err)
{
    int found = find_name(value->text, rrule_weekday_names, ARRAY_LEN(rrule_weekday_names));
    if (found < 0) {
        return wrong(value, "must be MO, TU, WE, TH, FR, SA or SU", err);
    }
    rule->wkst = (unsigned)found;
    return true;
}

/* 20271231, 20271231T225959 or 20271231T225959Z, respelled for wall_parse(). */
static bool parse_until(struct rrule *rule, const struct value *value, struct err *err)
{
    char text[] = "0000-00-00T23:59:59";
    static const unsigned char places[14] = {0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18};
    struct str from = value->text;
    bool utc = from.len == 16 && (from.ptr[15] | 0x20) == 'z', date = from.len == 8;
    if ((!utc && !date && from.len != 15) || (!date && (from.ptr[8] | 0x20) != 't')) {
        return wrong(value, "must be a time like 20271231T225959Z", err);
    }
    for (size_t i = 0, place = 0; i < (date ? 8u : 15u); i++) {
        if (i != 8) {
            text[places[place++]] = from.ptr[i];
        }
    }
    rule->until = date ? RRULE_UNTIL_DATE : utc ? RRULE_UNTIL_UTC : RRULE_UNTIL_LOCAL;
    return wall_parse(str_of(text), &rule->until_s, NULL) ||
           wrong(value, "is not a real date and time like 20271231T225959Z", err);
}

/* ---- The lists of numbers ---- */

/* Where the numbers of a part go: `words` of 64 bits at an offset, or one of 32. */
struct number_list {
    unsigned bit; /* of rrule.has */
    int min, max; /* of what is written; zero is never allowed when min is 1 */
    bool is_signed, is_wide;
    size_t at, at_last;
    const char *right;
};

#define FIELD(name) offsetof(struct rrule, name)

static const struct number_list lists[] = {
    {RRULE_BYSECOND, 0, 60, false, true, FIELD(seconds), 0, "must be seconds from 0 to 59"},
    {RRULE_BYMINUTE, 0, 59, false, true, FIELD(minutes), 0, "must be minutes from 0 to 59"},
    {RRULE_BYHOUR, 0, 23, false, false, FIELD(hours), 0, "must be hours from 0 to 23, like 9,17"},
    {RRULE_BYMONTHDAY, 1, 31, true, false, FIELD(month_days), FIELD(month_days_last),
     "must be days from 1 to 31 or -31 to -1, like 1,-1"},
    {RRULE_BYYEARDAY, 1, 366, true, true, FIELD(year_days), FIELD(year_days_last),
     "must be days from 1 to 366 or -366 to -1"},
    {RRULE_BYWEEKNO, 1, 53, true, true, FIELD(weeks), FIELD(weeks_last),
     "must be weeks from 1 to 53 or -53 to -1"},
    {RRULE_BYMONTH, 1, 12, false, false, FIELD(months), 0, "must be months from 1 to 12"},
    {RRULE_BYSETPOS, 1, 366, true, true, FIELD(positions), FIELD(positions_last),
     "must be places from 1 to 366 or -366 to -1"},
};

static void list_add(struct rrule *rule, const struct number_list *list, unsigned number, bool last)
{
    char *at = (char *)rule + (last ? list->at_last : list->at);
    if (list->is_wide) {
        bits_add((uint64_t *)(void *)at, number);
    } else {
        *(uint32_t *)(void *)at |= (uint32_t)1 << number;
    }
}

static bool is_minus(struct str text)
{
    return text.len > 0 && text.ptr[0] == '-';
}

static bool is_sign(struct str text)
{
    return text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+');
}

static size_t digits_of(int number)
{
    return number > 99 ? 3 : 2;
}

/* All of `text` as a number in the list's range, with no more digits than the RFC has for it. */
static bool parse_number(struct str text, const struct number_list *list, unsigned *out)
{
    uint64_t number;
    struct str digits = list->is_signed && is_sign(text) ? str_from(text, 1) : text;
    if (digits.len > digits_of(list->max) || !str_u64(digits, &number) ||
        number < (uint64_t)list->min || number > (uint64_t)list->max) {
        return false;
    }
    *out = (unsigned)number;
    return true;
}

static bool parse_list(struct rrule *rule, const struct number_list *list,
                       const struct value *value, struct err *err)
{
    struct str rest = value->text;
    while (!str_absent(rest)) {
        struct str item = str_cut(&rest, ',');
        unsigned number;
        if (!parse_number(item, list, &number)) {
            return wrong(value, list->right, err);
        }
        if (list->bit == RRULE_BYSECOND) {
            number = MIN(number, 59u);
        }
        list_add(rule, list, number, list->is_signed && is_minus(item));
    }
    rule->has |= list->bit;
    return true;
}

/* MO, 1MO, +1MO or -1MO. */
static bool parse_weekday(struct rrule *rule, struct str item)
{
    static const struct number_list ordinals = {0, 1, NTH_MAX, true, true, 0, 0, ""};
    struct str name = str_from(item, item.len < 2 ? 0 : item.len - 2);
    struct str ordinal = {item.ptr, item.len - name.len};
    int weekday = find_name(name, rrule_weekday_names, ARRAY_LEN(rrule_weekday_names));
    unsigned number;
    if (weekday < 0) {
        return false;
    }
    if (ordinal.len == 0) {
        rule->weekdays |= (uint32_t)1 << weekday;
        return true;
    }
    if (!parse_number(ordinal, &ordinals, &number)) {
        return false;
    }
    (is_minus(ordinal) ? rule->nth_last : rule->nth)[weekday] |= BIT(number);
    return true;
}

static bool parse_byday(struct rrule *rule, const struct value *value, struct err *err)
{
    struct str rest = value->text;
    while (!str_absent(rest)) {
        if (!parse_weekday(rule, str_cut(&rest, ','))) {
            return wrong(value, "must be weekdays like MO,WE or numbered ones like 1MO,-1FR", err);
        }
    }
    rule->has |= RRULE_BYDAY;
    return true;
}

/* ---- The parts ---- */

static const struct part {
    const char *name;
    bool (*parse)(struct rrule *, const struct value *, struct err *);
    int list; /* or the index of its list, from 1 */
} parts[] = {
    {"FREQ", parse_freq, 0},   {"INTERVAL", parse_interval, 0}, {"COUNT", parse_count, 0},
    {"UNTIL", parse_until, 0}, {"WKST", parse_wkst, 0},         {"BYDAY", parse_byday, 0},
    {"BYSECOND", NULL, 1},     {"BYMINUTE", NULL, 2},           {"BYHOUR", NULL, 3},
    {"BYMONTHDAY", NULL, 4},   {"BYYEARDAY", NULL, 5},          {"BYWEEKNO", NULL, 6},
    {"BYMONTH", NULL, 7},      {"BYSETPOS", NULL, 8},
};

#define SEEN_FREQ 1u

static bool parse_part(struct rrule *rule, struct str text, unsigned *seen, struct err *err)
{
    struct str rest = text, name = str_cut(&rest, '=');
    for (unsigned i = 0; i < ARRAY_LEN(parts); i++) {
        const struct part *part = &parts[i];
        struct value value = {part->name, rest};
        if (!str_eq_nocase(name, str_of(part->name)) || str_absent(rest)) {
            continue;
        }
        if (*seen & 1u << i) {
            return err_set(err, ERR_INVALID, "%s is given twice", part->name);
        }
        *seen |= 1u << i;
        return part->parse != NULL ? part->parse(rule, &value, err)
                                   : parse_list(rule, &lists[part->list - 1], &value, err);
    }
    return err_set(err, ERR_INVALID,
                   "\"%.*s\" is not a part of a rule; parts are like FREQ=DAILY, joined by ;",
                   (int)MIN(text.len, (size_t)40), text.ptr);
}

static bool has_nth(const struct rrule *rule)
{
    uint64_t any = 0;
    for (size_t i = 0; i < 7; i++) {
        any |= rule->nth[i] | rule->nth_last[i];
    }
    return any != 0;
}

/* Which parts may not be with which frequencies: a bit for each frequency. */
static const struct {
    unsigned part, freqs;
    const char *why;
} forbidden[] = {
    {RRULE_BYWEEKNO, (1u << RRULE_YEARLY) - 1, "BYWEEKNO goes with FREQ=YEARLY only"},
    {RRULE_BYYEARDAY, 1u << RRULE_DAILY | 1u << RRULE_WEEKLY | 1u << RRULE_MONTHLY,
     "BYYEARDAY does not go with FREQ=DAILY, WEEKLY or MONTHLY"},
    {RRULE_BYMONTHDAY, 1u << RRULE_WEEKLY,
     "BYMONTHDAY does not go with FREQ=WEEKLY; use FREQ=MONTHLY or DAILY"},
};

static bool check_nth(const struct rrule *rule, struct err *err)
{
    if (!has_nth(rule)) {
        return true;
    }
    if (rule->freq < RRULE_MONTHLY) {
        return err_set(err, ERR_INVALID,
                       "BYDAY with a number (like 1MO) goes with FREQ=MONTHLY or YEARLY only");
    }
    return !(rule->has & RRULE_BYWEEKNO) ||
           err_set(err, ERR_INVALID, "BYDAY with a number (like 1MO) does not go with BYWEEKNO");
}

static bool check_together(const struct rrule *rule, unsigned seen, struct err *err)
{
    if (!(seen & SEEN_FREQ)) {
        return err_set(err, ERR_INVALID, "FREQ is missing; a rule is like FREQ=DAILY;BYHOUR=9");
    }
    if (rule->count > 0 && rule->until != RRULE_ENDLESS) {
        return err_set(err, ERR_INVALID, "COUNT and UNTIL do not go together; choose one");
    }
    if (rule->has == RRULE_BYSETPOS) {
        return err_set(err, ERR_INVALID, "BYSETPOS chooses among another BY part; add one");
    }
    for (size_t i = 0; i < ARRAY_LEN(forbidden); i++) {
        if (rule->has & forbidden[i].part && forbidden[i].freqs >> rule->freq & 1) {
            return err_set(err, ERR_INVALID, "%s", forbidden[i].why);
        }
    }
    return check_nth(rule, err);
}

bool rrule_parse(struct str text, struct rrule *out, struct err *err)
{
    struct rrule rule = {.interval = 1};
    unsigned seen = 0;
    if (text.len == 0 || text.len > RRULE_TEXT_MAX) {
        return err_set(err, ERR_INVALID, "a rule is like FREQ=DAILY;BYHOUR=9, of at most %d bytes",
                       RRULE_TEXT_MAX);
    }
    while (!str_absent(text)) {
        if (!parse_part(&rule, str_cut(&text, ';'), &seen, err)) {
            return false;
        }
    }
    if (!check_together(&rule, seen, err)) {
        return false;
    }
    *out = rule;
    return true;
}

/* ---- Filling: what is unsaid comes from the start (RFC 5545, 3.3.10) ---- */

#define BY_DATE (RRULE_BYDAY | RRULE_BYMONTHDAY | RRULE_BYYEARDAY | RRULE_BYWEEKNO)

static void add_weekday(struct rrule *rule, int64_t day)
{
    rule->weekdays = (uint32_t)1 << wall_weekday(day);
    rule->has |= RRULE_BYDAY;
}

static void add_month_day(struct rrule *rule, unsigned month_day)
{
    rule->month_days = (uint32_t)1 << month_day;
    rule->has |= RRULE_BYMONTHDAY;
}

static void fill_date(struct rrule *rule, int64_t day)
{
    int64_t year;
    unsigned month, month_day;
    time_date_of(day, &year, &month, &month_day);
    if ((rule->has & BY_DATE) == RRULE_BYWEEKNO) {
        add_weekday(rule, day); /* a week alone is its day that the start is on */
    }
    if (rule->has & BY_DATE || rule->freq < RRULE_WEEKLY) {
        return;
    }
    if (rule->freq == RRULE_WEEKLY) {
        add_weekday(rule, day);
        return;
    }
    add_month_day(rule, month_day);
    if (rule->freq == RRULE_YEARLY && !(rule->has & RRULE_BYMONTH)) {
        rule->months = (uint32_t)1 << month;
        rule->has |= RRULE_BYMONTH;
    }
}

/* A field of the clock: as given; else the start's where it is finer than the frequency, and any
 * where it is not. */
static uint64_t fill_field(const struct rrule *rule, unsigned part, uint64_t given,
                           enum rrule_freq own, int64_t of_start, unsigned all)
{
    if (rule->has & part) {
        return given;
    }
    return rule->freq > own ? BIT(of_start) : BIT(all) - 1;
}

void rrule_fill(struct rrule *rule, int64_t start_wall_s)
{
    int64_t tod = wall_mod(start_wall_s, WALL_DAY_S);
    fill_date(rule, wall_div(start_wall_s, WALL_DAY_S));
    rule->hours =
        (uint32_t)fill_field(rule, RRULE_BYHOUR, rule->hours, RRULE_HOURLY, tod / 3600, 24);
    rule->minutes =
        fill_field(rule, RRULE_BYMINUTE, rule->minutes, RRULE_MINUTELY, tod / 60 % 60, 60);
    rule->seconds = fill_field(rule, RRULE_BYSECOND, rule->seconds, RRULE_SECONDLY, tod % 60, 60);
}

/* ---- Writing ---- */

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

static void write_weekday(struct item_list *list, const char *prefix, unsigned number,
                          size_t weekday)
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
            write_weekday(&list, "", 0, day);
        }
        for (uint64_t set = rule->nth[day]; set != 0; set &= set - 1) {
            write_weekday(&list, "", bits_first(set), day);
        }
        for (unsigned n = 53; n > 0; n--) {
            if (rule->nth_last[day] >> n & 1) {
                write_weekday(&list, "-", n, day);
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
