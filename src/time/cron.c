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
    if (str_is(text, "*")) {
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
    return *first <= *last || wrong(field, text, "runs backwards; write two ranges", err);
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

static bool parse_field(const struct field *field, struct str text, uint64_t *set, struct err *err)
{
    *set = 0;
    while (!str_absent(text)) {
        if (!parse_item(field, str_cut(&text, ','), set, err)) {
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

/* Cron runs on either day when both are given, unless one begins with a star. */
static bool check_days(const uint64_t *sets, const struct str *texts, struct err *err)
{
    bool either = sets[MONTH_DAY] != fields[MONTH_DAY].full &&
                  sets[WEEKDAY] != fields[WEEKDAY].full && texts[MONTH_DAY].ptr[0] != '*' &&
                  texts[WEEKDAY].ptr[0] != '*';
    return !either || err_set(err, ERR_INVALID,
                              "cron: a day of the month or a day of the week is more than one rule "
                              "can say; give one of them, or make two schedules");
}

bool cron_parse(struct str text, struct rrule *out, struct err *err)
{
    struct str texts[FIELDS], rest = str_trim(text);
    uint64_t sets[FIELDS];
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
        if (!parse_field(&fields[i], texts[i], &sets[i], err)) {
            return false;
        }
    }
    if (rest.len > 0) {
        return err_set(err, ERR_INVALID,
                       "cron: more than five fields; seconds and years are not among them");
    }
    if (!check_days(sets, texts, err)) {
        return false;
    }
    make_rule(sets, out);
    return true;
}
