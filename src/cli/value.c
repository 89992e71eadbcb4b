/* cli/value.c: what people write on a command line or in a file. See value.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/value.h"

#include <ctype.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "wire/time.h"

#define REAL_TEXT_MAX 32 /* longer than any number a person means */

static const struct unit {
    const char *name;
    int64_t bytes;
} units[] = {
    {"", 1},
    {"b", 1},
    {"k", 1024},
    {"kib", 1024},
    {"kb", 1000},
    {"m", 1024 * 1024},
    {"mib", 1024 * 1024},
    {"mb", 1000 * 1000},
    {"g", 1024 * 1024 * 1024},
    {"gib", 1024 * 1024 * 1024},
    {"gb", 1000 * 1000 * 1000},
};

static bool refuse(struct str text, const char *what, struct err *err)
{
    return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is not %s", (int)MIN(text.len, 80u), text.ptr,
                   what);
}

static bool read_unit(struct str name, int64_t *bytes)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (str_eq_nocase(name, str_of(units[i].name))) {
            *bytes = units[i].bytes;
            return true;
        }
    }
    return false;
}

static bool read_size(struct str text, int64_t *out, struct err *err)
{
    size_t digits = 0;
    int64_t number, bytes;
    while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9') {
        digits++;
    }
    if (!str_i64((struct str){text.ptr, digits}, &number) ||
        !read_unit(str_trim(str_from(text, digits)), &bytes) ||
        __builtin_mul_overflow(number, bytes, out)) {
        return refuse(text, "a size; write for example 1MiB, 4k or 4096", err);
    }
    return true;
}

static bool read_real(struct str text, double *out, struct err *err)
{
    char copy[REAL_TEXT_MAX] = "";
    char *end = copy;
    if (text.len > 0 && text.len < sizeof copy) {
        memcpy(copy, text.ptr, text.len);
        *out = strtod(copy, &end);
    }
    bool plain = strspn(copy, "0123456789.") == text.len; /* no nan, inf, hex or sign */
    return (plain && text.len > 0 && *end == '\0') ||
           refuse(text, "a number such as 10 or 0.5", err);
}

static bool read_bool(struct str text, bool *out, struct err *err)
{
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_eq_nocase(text, str_of(words[i]))) {
            *out = i % 2 == 1;
            return true;
        }
    }
    return refuse(text, "yes or no", err);
}

static bool read_choice(const char *choices, struct str text, int64_t *out, struct err *err)
{
    struct str rest = str_of(choices);
    for (int64_t i = 0; !str_absent(rest); i++) {
        if (str_eq_nocase(str_cut(&rest, '|'), text)) {
            *out = i;
            return true;
        }
    }
    return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is not one of %s", (int)MIN(text.len, 80u),
                   text.ptr, choices);
}

/* A day begins at midnight where the machine is. */
static bool read_date(struct str text, int64_t *out_ms)
{
    struct tm day = {.tm_isdst = -1};
    char copy[TIME_TEXT_LEN + 1] = "";
    if (text.len != strlen("2027-03-01")) {
        return false;
    }
    memcpy(copy, text.ptr, text.len);
    char *end = strptime(copy, "%Y-%m-%d", &day);
    *out_ms = (int64_t)mktime(&day) * SECOND_MS;
    return end != NULL && *end == '\0';
}

static bool read_time(struct str text, bool past, int64_t *out_ms)
{
    int64_t span_ms, now_ms = clock_real_wall_ms();
    bool ago = str_ends(text, STR(" ago"));
    struct str span = ago ? str_trim((struct str){text.ptr, text.len - strlen(" ago")}) : text;
    if (duration_parse(span, &span_ms, NULL)) {
        *out_ms = ago || past ? now_ms - span_ms : now_ms + span_ms;
        return true;
    }
    return time_parse(text, out_ms, NULL) || read_date(text, out_ms);
}

void value_send(const struct value_rule *rule, struct str text, struct buf *out)
{
    int64_t at_ms;
    for (size_t i = 0; rule->kind == VALUE_CAPITALS && i < text.len; i++) {
        buf_char(out, (char)toupper((unsigned char)text.ptr[i]));
    }
    if (rule->kind == VALUE_WALL && read_date(text, &at_ms)) {
        /* A day begins where the schedule is, not where the machine is. */
        buf_printf(out, STR_FMT "T00:00:00", STR_ARG(text));
    } else if (rule->kind == VALUE_TEXT ||
               (rule->kind == VALUE_WALL &&
                (time_parse(text, &at_ms, NULL) || !read_time(text, false, &at_ms)))) {
        buf_str(out, text);
    } else if (rule->kind != VALUE_CAPITALS && read_time(text, rule->kind == VALUE_PAST, &at_ms)) {
        time_write(out, at_ms);
    }
}

static void write_quantity(struct buf *buf, enum value_kind kind, int64_t value)
{
    if (kind == VALUE_DURATION) {
        duration_write(buf, value);
    } else if (kind == VALUE_SIZE && value >= (int64_t)MIB && value % (int64_t)MIB == 0) {
        buf_printf(buf, "%lldMiB", (long long)(value / (int64_t)MIB));
    } else {
        buf_i64(buf, value);
    }
}

static bool in_bounds(const struct value_rule *rule, int64_t value, struct err *err)
{
    bool any = rule->least == 0 && rule->most == 0;
    int64_t most = any ? INT64_MAX : rule->most;
    if (value >= rule->least && value <= most) {
        return true;
    }
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    buf_c(&text, "must be ");
    write_quantity(&text, rule->kind, rule->least);
    if (most == INT64_MAX) {
        buf_c(&text, " or more");
    } else {
        buf_c(&text, " to ");
        write_quantity(&text, rule->kind, most);
    }
    return err_set(err, ERR_INVALID, "%s", buf_c_text(&text));
}

bool value_is_text(enum value_kind kind)
{
    return kind == VALUE_TEXT || kind == VALUE_TIME || kind == VALUE_PAST || kind == VALUE_WALL ||
           kind == VALUE_CAPITALS;
}

bool value_read(const struct value_rule *rule, struct str text, void *out, struct err *err)
{
    int64_t quantity = 0;
    bool ok = false;
    switch (rule->kind) {
    case VALUE_TIME:
    case VALUE_PAST:
        *(struct str *)out = text;
        return read_time(text, false, &quantity) ||
               refuse(text,
                      "a time; write for example 2027-03-01T09:00:00Z, 2027-03-01, 10m or "
                      "\"2h ago\"",
                      err);
    case VALUE_TEXT:
    case VALUE_WALL:
    case VALUE_CAPITALS:
        if (text.len == 0) {
            return err_set(err, ERR_INVALID, "the value is empty");
        }
        *(struct str *)out = text;
        return true;
    case VALUE_REAL:
        return read_real(text, out, err);
    case VALUE_BOOL:
        return read_bool(text, out, err);
    case VALUE_CHOICE:
        return read_choice(rule->choices, text, out, err);
    case VALUE_NUMBER:
        ok = str_i64(text, &quantity) || refuse(text, "a whole number", err);
        break;
    case VALUE_SIZE:
        ok = read_size(text, &quantity, err);
        break;
    case VALUE_DURATION:
        ok = duration_parse(text, &quantity, NULL) ||
             refuse(text, "a duration; write for example 30s, 10m, 1h30m or 30d", err);
        break;
    }
    if (!ok || !in_bounds(rule, quantity, err)) {
        return false;
    }
    *(int64_t *)out = quantity;
    return true;
}

/* ---- Guessing ---- */
