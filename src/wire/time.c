/* wire/time.c: points in time and durations as text. See time.h.
 *
 * Thread: any. Keeps nothing, asks no clock.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/time.h"

#include <stdio.h>

/* A date and time without zone, as texts spell it. */
struct moment {
    int64_t year;
    unsigned month, day, hour, minute, second, ms;
};

/* Days are counted in 400-year eras that begin on a first of March, so that the leap day is the
 * last of its year and the lengths of the months follow one formula. */
int64_t time_days_of(int64_t year, unsigned month, unsigned day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * ((int64_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + (int64_t)day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

void time_date_of(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t in_era = days - era * 146097;
    int64_t of_era = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t of_year = in_era - (365 * of_era + of_era / 4 - of_era / 100);
    int64_t shifted = (5 * of_year + 2) / 153;
    *day = (unsigned)(of_year - (153 * shifted + 2) / 5 + 1);
    *month = (unsigned)(shifted < 10 ? shifted + 3 : shifted - 9);
    *year = of_era + era * 400 + (*month <= 2);
}

unsigned time_month_days(int64_t year, unsigned month)
{
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 ? (leap ? 29 : 28) : 30 + ((month + (month > 7)) & 1);
}

static int64_t moment_ms(const struct moment *m)
{
    return time_days_of(m->year, m->month, m->day) * DAY_MS + m->hour * HOUR_MS +
           m->minute * MINUTE_MS + m->second * SECOND_MS + m->ms;
}

static struct moment moment_of(int64_t ms)
{
    struct moment m;
    ms = MAX(TIME_MIN_MS, MIN(ms, TIME_MAX_MS));
    int64_t days = (ms - (ms < 0 ? DAY_MS - 1 : 0)) / DAY_MS;
    unsigned of_day = (unsigned)(ms - days * DAY_MS);
    time_date_of(days, &m.year, &m.month, &m.day);
    m.hour = of_day / (unsigned)HOUR_MS;
    m.minute = of_day / (unsigned)MINUTE_MS % 60;
    m.second = of_day / (unsigned)SECOND_MS % 60;
    m.ms = of_day % (unsigned)SECOND_MS;
    return m;
}

static bool is_real(const struct moment *m)
{
    return m->year >= 1 && m->month >= 1 && m->month <= 12 && m->day >= 1 &&
           m->day <= time_month_days(m->year, m->month) && m->hour <= 23 && m->minute <= 59 &&
           m->second <= 59;
}

/* Takes exactly `count` digits off the front. */
static bool take_number(struct str *rest, size_t count, unsigned *out)
{
    uint64_t value;
    if (rest->len < count || !str_u64((struct str){rest->ptr, count}, &value)) {
        return false;
    }
    *out = (unsigned)value;
    *rest = str_from(*rest, count);
    return true;
}

static bool take_char(struct str *rest, char c)
{
    bool there = rest->len > 0 && (rest->ptr[0] == c || (c >= 'A' && rest->ptr[0] == (c | 0x20)));
    *rest = str_from(*rest, there);
    return there;
}

static bool take_clock(struct str *rest, struct moment *m)
{
    return take_number(rest, 2, &m->hour) && take_char(rest, ':') &&
           take_number(rest, 2, &m->minute) && take_char(rest, ':') &&
           take_number(rest, 2, &m->second);
}

static bool take_fraction(struct str *rest, unsigned *ms)
{
    size_t digits = 0;
    *ms = 0;
    if (!take_char(rest, '.')) {
        return true;
    }
    for (; digits < rest->len && rest->ptr[digits] >= '0' && rest->ptr[digits] <= '9'; digits++) {
        if (digits < 3) {
            *ms = *ms * 10 + (unsigned)(rest->ptr[digits] - '0');
        }
    }
    for (size_t i = digits; i < 3; i++) {
        *ms *= 10;
    }
    *rest = str_from(*rest, digits);
    return digits > 0;
}

static bool take_offset(struct str *rest, int64_t *offset_ms)
{
    unsigned hours, minutes;
    *offset_ms = 0;
    if (take_char(rest, 'Z')) {
        return true;
    }
    bool west = take_char(rest, '-');
    if ((!west && !take_char(rest, '+')) || !take_number(rest, 2, &hours) ||
        !take_char(rest, ':') || !take_number(rest, 2, &minutes) || hours > 23 || minutes > 59) {
        return false;
    }
    *offset_ms = (hours * HOUR_MS + minutes * MINUTE_MS) * (west ? -1 : 1);
    return true;
}

static bool take_date(struct str *rest, struct moment *m)
{
    unsigned year;
    if (!take_number(rest, 4, &year) || !take_char(rest, '-') || !take_number(rest, 2, &m->month) ||
        !take_char(rest, '-') || !take_number(rest, 2, &m->day)) {
        return false;
    }
    m->year = year;
    return true;
}

bool time_parse(struct str text, int64_t *out_ms, struct err *err)
{
    struct moment m;
    int64_t offset_ms;
    if (!take_date(&text, &m) || !take_char(&text, 'T') || !take_clock(&text, &m) ||
        !take_fraction(&text, &m.ms) || !take_offset(&text, &offset_ms) || text.len > 0) {
        return err_set(err, ERR_INVALID, "must be a time like 2027-03-01T09:00:00Z");
    }
    if (!is_real(&m)) {
        return err_set(err, ERR_INVALID, "is not a real date and time");
    }
    int64_t ms = moment_ms(&m) - offset_ms;
    if (ms < TIME_MIN_MS || ms > TIME_MAX_MS) {
        return err_set(err, ERR_INVALID, "is outside of the years 0001 to 9999");
    }
    *out_ms = ms;
    return true;
}

static inline void put_two(char *out, unsigned value)
{
    out[0] = (char)('0' + value / 10);
    out[1] = (char)('0' + value % 10);
}

void time_text(int64_t ms, char out[TIME_TEXT_LEN + 1])
{
    struct moment m = moment_of(ms);
    memcpy(out, "0000-00-00T00:00:00.000Z", TIME_TEXT_LEN + 1);
    put_two(out, (unsigned)m.year / 100);
    put_two(out + 2, (unsigned)m.year % 100);
    put_two(out + 5, m.month);
    put_two(out + 8, m.day);
    put_two(out + 11, m.hour);
    put_two(out + 14, m.minute);
    put_two(out + 17, m.second);
    out[20] = (char)('0' + m.ms / 100);
    put_two(out + 21, m.ms % 100);
}

void time_write(struct buf *buf, int64_t ms)
{
    char text[TIME_TEXT_LEN + 1];
    time_text(ms, text);
    buf_add(buf, text, TIME_TEXT_LEN);
}

static const char weekdays[] = "MonTueWedThuFriSatSun";
static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

static unsigned weekday_of(const struct moment *m) /* Monday is 0; 1970 began on a Thursday */
{
    int64_t days = time_days_of(m->year, m->month, m->day);
    return (unsigned)(((days + 3) % 7 + 7) % 7);
}

void time_write_http(struct buf *buf, int64_t ms)
{
    struct moment m = moment_of(ms);
    buf_printf(buf, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT", weekdays + weekday_of(&m) * 3, m.day,
               months + (m.month - 1) * 3, (unsigned)m.year, m.hour, m.minute, m.second);
}

/* Takes one of the three-letter names; *out counts from 0. */
static bool take_name(struct str *rest, const char *names, unsigned *out)
{
    for (unsigned i = 0; names[i * 3] != '\0'; i++) {
        if (rest->len >= 3 && memcmp(rest->ptr, names + i * 3, 3) == 0) {
            *out = i;
            *rest = str_from(*rest, 3);
            return true;
        }
    }
    return false;
}

bool time_parse_http(struct str text, int64_t *out_ms, struct err *err)
{
    struct moment m = {0};
    unsigned weekday, month, year;
    bool shaped = take_name(&text, weekdays, &weekday) && take_char(&text, ',') &&
                  take_char(&text, ' ') && take_number(&text, 2, &m.day) && take_char(&text, ' ') &&
                  take_name(&text, months, &month) && take_char(&text, ' ') &&
                  take_number(&text, 4, &year) && take_char(&text, ' ') && take_clock(&text, &m) &&
                  str_is(text, " GMT");
    if (!shaped) {
        return err_set(err, ERR_INVALID, "must be a date like Mon, 01 Mar 2027 09:00:00 GMT");
    }
    m.year = year;
    m.month = month + 1;
    if (!is_real(&m) || weekday_of(&m) != weekday) {
        return err_set(err, ERR_INVALID, "is not a real date and time");
    }
    *out_ms = moment_ms(&m);
    return true;
}

/* ---- Durations ---- */

static const struct unit {
    const char *name;
    int64_t ms;
    bool written; /* weeks are read only: "9d" says more than "1w 2d" */
} units[] = {
    {"w", 7 * DAY_MS, false}, {"d", DAY_MS, true},    {"h", HOUR_MS, true},
    {"m", MINUTE_MS, true},   {"s", SECOND_MS, true}, {"ms", 1, true},
};

static bool malformed(struct err *err)
{
    return err_set(err, ERR_INVALID, "must be a duration like 500ms, 30s, 10m, 1h30m or 2d");
}

static bool too_long(struct err *err)
{
    return err_set(err, ERR_INVALID, "is too long a duration");
}

static size_t count_in(struct str text, bool digits)
{
    size_t n = 0;
    while (n < text.len && (text.ptr[n] >= '0' && text.ptr[n] <= '9') == digits &&
           text.ptr[n] != ' ') {
        n++;
    }
    return n;
}

/* The unit of that name among those not used up; units used come in falling order. */
static bool find_unit(struct str name, size_t *next, int64_t *ms)
{
    for (size_t i = *next; i < ARRAY_LEN(units); i++) {
        if (str_is(name, units[i].name)) {
            *ms = units[i].ms;
            *next = i + 1;
            return true;
        }
    }
    return false;
}

static struct str take(struct str *rest, size_t len)
{
    struct str piece = {rest->ptr, len};
    *rest = str_from(*rest, len);
    return piece;
}

/* One "30m" off the front, added to *sum. */
static bool take_part(struct str *rest, size_t *next, int64_t *sum, struct err *err)
{
    struct str digits = take(rest, count_in(*rest, true));
    struct str name = take(rest, count_in(*rest, false));
    int64_t count, unit_ms;
    if (digits.len == 0 || !find_unit(name, next, &unit_ms)) {
        return malformed(err);
    }
    if (!str_i64(digits, &count) || __builtin_mul_overflow(count, unit_ms, &count) ||
        __builtin_add_overflow(*sum, count, sum)) {
        return too_long(err);
    }
    if (rest->len > 1 && rest->ptr[0] == ' ') {
        *rest = str_from(*rest, 1);
    }
    return true;
}

bool duration_parse(struct str text, int64_t *out_ms, struct err *err)
{
    int64_t sum = 0;
    size_t next = 0;
    if (text.len == 0) {
        return malformed(err);
    }
    if (count_in(text, true) == text.len) { /* a plain number is of seconds */
        return (str_i64(text, &sum) && !__builtin_mul_overflow(sum, SECOND_MS, out_ms)) ||
               too_long(err);
    }
    while (text.len > 0) {
        if (!take_part(&text, &next, &sum, err)) {
            return false;
        }
    }
    *out_ms = sum;
    return true;
}

void duration_write(struct buf *buf, int64_t ms)
{
    uint64_t left = ms < 0 ? 0 - (uint64_t)ms : (uint64_t)ms;
    const char *between = ms < 0 ? "-" : "";
    if (ms == 0) {
        buf_c(buf, "0s");
    }
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        uint64_t count = units[i].written ? left / (uint64_t)units[i].ms : 0;
        if (count > 0) {
            buf_printf(buf, "%s%llu%s", between, (unsigned long long)count, units[i].name);
            between = " ";
            left %= (uint64_t)units[i].ms;
        }
    }
}
