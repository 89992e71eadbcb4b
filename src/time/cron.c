/* time/cron.c: reads cron expressions as rules. See cron.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "time/cron.h"

#include "time/bits.h"

enum field_index { MINUTE, HOUR, MONTH_DAY, MONTH, WEEKDAY, FIELDS };

static const char *const month_names[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                          "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
static const char *const weekday_names[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

static const struct field {
    const char *name;
    unsigned min, max; /* what may be written */
    const char *const *names;
    unsigned names_count;
    uint64_t full; /* all there is; Sunday is 0 only */
} fields[FIELDS] = {
    [MINUTE] = {"minute", 0, 59, NULL, 0, BIT(60) - 1},
    [HOUR] = {"hour", 0, 23, NULL, 0, BIT(24) - 1},
    [MONTH_DAY] = {"day of the month", 1, 31, NULL, 0, BIT(32) - 2},
    [MONTH] = {"month", 1, 12, month_names, 12, BIT(13) - 2},
    [WEEKDAY] = {"day of the week", 0, 7, weekday_names, 7, BIT(7) - 1},
};

/* What L, W and # say of the days; a rule counts them in the month. */
struct special {
    uint32_t month_days_last;         /* L, L-3 */
    bool first_workday, last_workday; /* 1W, LW */
    uint64_t nth[7], nth_last[7];     /* MON#2, FRIL; from Monday */
};

static bool wrong(const struct field *field, struct str text, const char *why, struct err *err)
{
    return err_set(err, ERR_INVALID, "cron: the %s \"%.*s\" %s", field->name,
                   (int)MIN(text.len, (size_t)40), text.ptr, why);
}

static bool parse_number(const struct field *field, struct str text, unsigned *out)
{
    uint64_t number;
    for (unsigned i = 0; i < field->names_count; i++) {
        if (str_eq_nocase(text, str_of(field->names[i]))) {
            *out = i + field->min;
            return true;
        }
    }
    if (text.len > 2 || !str_u64(text, &number) || number < field->min || number > field->max) {
        return false;
    }
    *out = (unsigned)number;
    return true;
}

/* "*", "5", "1-5"; a number before a step goes on to the end. */
static bool parse_range(const struct field *field, struct str text, bool has_step, unsigned *first,
                        unsigned *last, struct err *err)
{
    struct str rest = text, from = str_cut(&rest, '-');
    unsigned top = field->names == weekday_names ? 6 : field->max;
    if (str_is(text, "*") || (str_is(text, "?") && field >= &fields[MONTH_DAY])) {
        *first = field->min;
        *last = top;
        return true;
    }
    if (!parse_number(field, from, first) ||
        (!str_absent(rest) && !parse_number(field, rest, last))) {
        return wrong(field, text, "is not a number, range or name it may have", err);
    }
    if (str_absent(rest)) {
        *last = has_step ? MAX(top, *first) : *first;
    }
    if (*first > *last && field->names == weekday_names) {
        *last += 7; /* Fri-Sun, Sat-Mon */
    }
    return *first <= *last || wrong(field, text, "runs backwards; write two ranges", err);
}

/* L, L-3, LW, 1W in the days of the month. False without an error: none of them. */
static bool parse_month_day(struct str text, struct special *out, struct err *err)
{
    const struct field *field = &fields[MONTH_DAY];
    uint64_t back = 0;
    char last = text.len == 0 ? '\0' : text.ptr[text.len - 1];
    if (str_eq_nocase(text, STR("L"))) {
        out->month_days_last |= 2;
    } else if (str_eq_nocase(text, STR("LW")) || str_eq_nocase(text, STR("WL"))) {
        out->last_workday = true;
    } else if (str_eq_nocase(text, STR("1W"))) {
        out->first_workday = true;
    } else if (text.len > 2 && (text.ptr[0] == 'L' || text.ptr[0] == 'l') && text.ptr[1] == '-') {
        if (!str_u64(str_from(text, 2), &back) || back > 30) {
            return wrong(field, text, "counts back further than a month has days", err);
        }
        out->month_days_last |= (uint32_t)1 << (back + 1);
    } else if (last == 'W' || last == 'w') {
        return wrong(field, text,
                     "is the working day nearest to it, which no one rule can say; only "
                     "1W and LW are",
                     err);
    } else {
        return false;
    }
    return true;
}

/* MON#2, 5L, FRIL in the days of the week. False without an error: none of them. */
static bool parse_weekday(struct str text, struct special *out, struct err *err)
{
    const struct field *field = &fields[WEEKDAY];
    struct str number = text, day = str_cut(&number, '#');
    bool last = str_absent(number) && text.len > 1 &&
                (text.ptr[text.len - 1] == 'L' || text.ptr[text.len - 1] == 'l');
    uint64_t nth = 1;
    unsigned weekday;
    if (str_absent(number) && !last) {
        return false;
    }
    day.len -= last;
    if (!parse_number(field, day, &weekday) ||
        (!last && (!str_u64(number, &nth) || nth < 1 || nth > 5))) {
        return wrong(field, text, "is not one of the first five, or the last, of a month", err);
    }
    *(last ? &out->nth_last[(weekday + 6) % 7] : &out->nth[(weekday + 6) % 7]) |= BIT(nth);
    return true;
}

static bool parse_special(const struct field *field, struct str text, struct special *out,
                          struct err *err)
{
    return (field == &fields[MONTH_DAY] && parse_month_day(text, out, err)) ||
           (field == &fields[WEEKDAY] && parse_weekday(text, out, err));
}

static bool parse_item(const struct field *field, struct str text, uint64_t *set, struct err *err)
{
    struct str step_text = text, range = str_cut(&step_text, '/');
    bool has_step = !str_absent(step_text);
    uint64_t step = 1;
    unsigned first, last;
    if (has_step && (step_text.len > 2 || !str_u64(step_text, &step) || step == 0)) {
        return wrong(field, text, "has a step that is not a number from 1 on", err);
    }
    if (!parse_range(field, range, has_step, &first, &last, err)) {
        return false;
    }
    for (unsigned n = first; n <= last; n += (unsigned)step) {
        *set |= BIT(field->names == weekday_names ? n % 7 : n);
    }
    return true;
}

static bool parse_field(const struct field *field, struct str text, uint64_t *set,
                        struct special *special, struct err *err)
{
    *set = 0;
    while (!str_absent(text)) {
        struct str item = str_cut(&text, ',');
        if (!parse_special(field, item, special, err) &&
            (err->kind != ERR_NONE || !parse_item(field, item, set, err))) {
            return false;
        }
    }
    return true;
}

/* ---- From sets to a rule ---- */

/* Cron counts weekdays from Sunday, rules from Monday. */
static uint32_t from_monday(uint64_t weekdays)
{
    return (uint32_t)(weekdays >> 1 | (weekdays & 1) << 6);
}

static enum rrule_freq choose_freq(const bool *given)
{
    if (!given[MINUTE]) {
        return RRULE_MINUTELY;
    }
    if (!given[HOUR]) {
        return RRULE_HOURLY;
    }
    if (given[MONTH_DAY] && !given[WEEKDAY]) {
        return given[MONTH] ? RRULE_YEARLY : RRULE_MONTHLY;
    }
    return given[WEEKDAY] && !given[MONTH_DAY] ? RRULE_WEEKLY : RRULE_DAILY;
}

static void make_rule(const uint64_t *sets, struct rrule *out)
{
    static const unsigned parts[FIELDS] = {RRULE_BYMINUTE, RRULE_BYHOUR, RRULE_BYMONTHDAY,
                                           RRULE_BYMONTH, RRULE_BYDAY};
    bool given[FIELDS];
    *out = (struct rrule){.interval = 1, .seconds = 1, .has = RRULE_BYSECOND};
    for (size_t i = 0; i < FIELDS; i++) {
        given[i] = sets[i] != fields[i].full;
        out->has |= given[i] ? parts[i] : 0;
    }
    out->freq = choose_freq(given);
    out->minutes = given[MINUTE] ? sets[MINUTE] : 0;
    out->hours = given[HOUR] ? (uint32_t)sets[HOUR] : 0;
    out->month_days = given[MONTH_DAY] ? (uint32_t)sets[MONTH_DAY] : 0;
    out->months = given[MONTH] ? (uint32_t)sets[MONTH] : 0;
    out->weekdays = given[WEEKDAY] ? from_monday(sets[WEEKDAY]) : 0;
}

static bool has_nth(const struct special *special)
{
    uint64_t any = 0;
    for (size_t i = 0; i < 7; i++) {
        any |= special->nth[i] | special->nth_last[i];
    }
    return any != 0;
}

/* Days that are counted in the month: the rule is a monthly one. */
static bool add_special(const struct special *special, const uint64_t *sets, struct rrule *rule,
                        struct err *err)
{
    bool workday = special->first_workday || special->last_workday, nth = has_nth(special);
    bool days = sets[MONTH_DAY] != 0 && sets[MONTH_DAY] != fields[MONTH_DAY].full;
    if (!workday && !nth && special->month_days_last == 0) {
        return true;
    }
    bool by_day = sets[WEEKDAY] != 0 && sets[WEEKDAY] != fields[WEEKDAY].full;
    if (workday + nth + (days || special->month_days_last != 0) + by_day > 1 ||
        rule->freq < RRULE_DAILY) {
        return err_set(err, ERR_INVALID,
                       "cron: L, W and # beside other days, or with every hour, "
                       "are more than one rule can say");
    }
    rule->freq = rule->has & RRULE_BYMONTH && !workday ? RRULE_YEARLY : RRULE_MONTHLY;
    rule->has &= ~(unsigned)(RRULE_BYDAY | RRULE_BYMONTHDAY);
    if (workday) {
        rule->weekdays = 0x1f;
        rule->positions[0] = special->first_workday ? 2 : 0;
        rule->positions_last[0] = special->last_workday ? 2 : 0;
        rule->has |= RRULE_BYDAY | RRULE_BYSETPOS;
    } else if (nth) {
        memcpy(rule->nth, special->nth, sizeof rule->nth);
        memcpy(rule->nth_last, special->nth_last, sizeof rule->nth_last);
        rule->weekdays = 0;
        rule->has |= RRULE_BYDAY;
    } else {
        rule->month_days = days ? (uint32_t)sets[MONTH_DAY] : 0;
        rule->month_days_last = special->month_days_last;
        rule->has |= RRULE_BYMONTHDAY;
    }
    return true;
}

/* Takes the next word; blanks around it are skipped. */
static struct str take_word(struct str *rest)
{
    struct str text = str_trim(*rest);
    size_t len = 0;
    while (len < text.len && text.ptr[len] != ' ' && text.ptr[len] != '\t') {
        len++;
    }
    *rest = str_trim(str_from(text, len));
    return (struct str){text.ptr, len};
}

static bool expand_name(struct str *text, struct err *err)
{
    static const struct {
        const char *name;
        struct str fields;
    } names[] = {
        {"@hourly", {"0 * * * *", 9}},   {"@daily", {"0 0 * * *", 9}},
        {"@midnight", {"0 0 * * *", 9}}, {"@weekly", {"0 0 * * 0", 9}},
        {"@monthly", {"0 0 1 * *", 9}},  {"@yearly", {"0 0 1 1 *", 9}},
        {"@annually", {"0 0 1 1 *", 9}},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq_nocase(*text, str_of(names[i].name))) {
            *text = names[i].fields;
            return true;
        }
    }
    return err_set(err, ERR_INVALID,
                   "cron: names are @hourly, @daily, @weekly, @monthly and @yearly");
}

static bool is_starred(struct str text)
{
    return text.ptr[0] == '*' || text.ptr[0] == '?';
}

/* Cron runs on either day when both are given, unless one begins with a star. Where one of them is
 * every day, "1-31", either is every day. */
static bool check_days(uint64_t *sets, const struct str *texts, struct err *err)
{
    bool either = !is_starred(texts[MONTH_DAY]) && !is_starred(texts[WEEKDAY]);
    if (either &&
        (sets[MONTH_DAY] == fields[MONTH_DAY].full || sets[WEEKDAY] == fields[WEEKDAY].full)) {
        sets[MONTH_DAY] = fields[MONTH_DAY].full;
        sets[WEEKDAY] = fields[WEEKDAY].full;
        return true;
    }
    return !either || err_set(err, ERR_INVALID,
                              "cron: a day of the month or a day of the week is more than one rule "
                              "can say; give one of them, or make two schedules");
}

bool cron_parse(struct str text, struct rrule *out, struct err *err)
{
    struct str texts[FIELDS], rest = str_trim(text);
    uint64_t sets[FIELDS];
    struct special special = {0};
    struct err why = ERR_INIT;
    err = err != NULL ? err : &why;
    if (rest.len > 0 && rest.ptr[rest.len - 1] == ';') {
        rest = str_trim((struct str){rest.ptr, rest.len - 1});
    }
    if (rest.len > 0 && rest.ptr[0] == '@' && !expand_name(&rest, err)) {
        return false;
    }
    for (size_t i = 0; i < FIELDS; i++) {
        texts[i] = take_word(&rest);
        if (texts[i].len == 0) {
            return err_set(err, ERR_INVALID,
                           "cron: the %s is missing; five fields are needed, like 0 9 * * 1-5",
                           fields[i].name);
        }
        if (!parse_field(&fields[i], texts[i], &sets[i], &special, err)) {
            return false;
        }
    }
    if (rest.len > 0) {
        return err_set(
            err, ERR_INVALID,
            "cron: more than five fields; a field of seconds at the beginning or of years "
            "at the end must go: 0 9 * * 1-5 is weekdays at 9:00");
    }
    if (!check_days(sets, texts, err)) {
        return false;
    }
    make_rule(sets, out);
    return add_special(&special, sets, out, err);
}
