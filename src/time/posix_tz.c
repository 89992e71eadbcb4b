/* time/posix_tz.c: reads the footer rule of a TZif file. See posix_tz.h and RFC 8536, 3.3.1.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "time/posix_tz.h"

#include "wire/time.h"

#define NAME_MIN     3
#define OFFSET_HOURS 24
#define TIME_HOURS   167
#define DEFAULT_TIME (2 * 3600)

static bool take_char(struct str *rest, char c)
{
    bool there = rest->len > 0 && rest->ptr[0] == c;
    *rest = str_from(*rest, there);
    return there;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* One to three digits, at most `max`. */
static bool take_number(struct str *rest, int32_t max, int32_t *out)
{
    size_t len = 0;
    int32_t value = 0;
    for (; len < rest->len && len < 3 && is_digit(rest->ptr[len]); len++) {
        value = value * 10 + (rest->ptr[len] - '0');
    }
    *rest = str_from(*rest, len);
    *out = value;
    return len > 0 && value <= max;
}

/* "CET", or "<+0330>" where it is not made of letters. */
static bool take_name(struct str *rest)
{
    bool quoted = take_char(rest, '<');
    size_t len = 0;
    while (len < rest->len && (is_letter(rest->ptr[len]) ||
                               (quoted && (is_digit(rest->ptr[len]) || rest->ptr[len] == '+' ||
                                           rest->ptr[len] == '-')))) {
        len++;
    }
    *rest = str_from(*rest, len);
    return len >= NAME_MIN && (!quoted || take_char(rest, '>'));
}

/* [+-]hh[:mm[:ss]] */
static bool take_time(struct str *rest, int32_t max_hours, int32_t *out)
{
    int32_t hours, minutes = 0, seconds = 0;
    bool minus = take_char(rest, '-');
    if (!minus) {
        (void)take_char(rest, '+');
    }
    if (!take_number(rest, max_hours, &hours) ||
        (take_char(rest, ':') && (!take_number(rest, 59, &minutes) ||
                                  (take_char(rest, ':') && !take_number(rest, 59, &seconds))))) {
        return false;
    }
    *out = (hours * 3600 + minutes * 60 + seconds) * (minus ? -1 : 1);
    return true;
}

static bool take_date(struct str *rest, struct posix_turn *out)
{
    if (take_char(rest, 'M')) {
        out->kind = POSIX_MONTH;
        return take_number(rest, 12, &out->month) && out->month >= 1 && take_char(rest, '.') &&
               take_number(rest, 5, &out->week) && out->week >= 1 && take_char(rest, '.') &&
               take_number(rest, 6, &out->day);
    }
    out->kind = take_char(rest, 'J') ? POSIX_JULIAN : POSIX_ZERO;
    return take_number(rest, 365, &out->day) && (out->kind == POSIX_ZERO || out->day >= 1);
}

static bool take_turn(struct str *rest, struct posix_turn *out)
{
    out->time_s = DEFAULT_TIME;
    return take_char(rest, ',') && take_date(rest, out) &&
           (!take_char(rest, '/') || take_time(rest, TIME_HOURS, &out->time_s));
}

bool posix_tz_parse(struct str text, struct posix_tz *out)
{
    int32_t west;
    *out = (struct posix_tz){0};
    if (!take_name(&text) || !take_time(&text, OFFSET_HOURS, &west)) {
        return false;
    }
    out->std_s = -west;
    out->dst_s = out->std_s + 3600;
    if (text.len == 0) {
        return true;
    }
    out->has_dst = true;
    if (!take_name(&text)) {
        return false;
    }
    if (text.len > 0 && text.ptr[0] != ',') {
        if (!take_time(&text, OFFSET_HOURS, &west)) {
            return false;
        }
        out->dst_s = -west;
    }
    return take_turn(&text, &out->start) && take_turn(&text, &out->end) && text.len == 0;
}

/* Days are counted from Monday; 1970-01-01 was a Thursday. POSIX counts from Sunday. */
static int64_t month_day(const struct posix_turn *turn, int64_t year)
{
    unsigned month = (unsigned)turn->month;
    int64_t first = time_days_of(year, month, 1);
    int64_t weekday = ((first + 4) % 7 + 7) % 7;
    int64_t day = first + (turn->day - weekday + 7) % 7 + (turn->week - 1) * 7;
    return day - first >= time_month_days(year, month) ? day - 7 : day;
}

int64_t posix_turn_wall(const struct posix_turn *turn, int64_t year)
{
    int64_t day = time_days_of(year, 1, 1) + turn->day;
    if (turn->kind == POSIX_MONTH) {
        day = month_day(turn, year);
    } else if (turn->kind == POSIX_JULIAN) {
        /* Day 60 is always the first of March. */
        day -= 1 - (turn->day >= 60 && time_month_days(year, 2) == 29);
    }
    return day * 86400 + turn->time_s;
}
