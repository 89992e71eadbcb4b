/* wire/duration.c: durations as people write them. See time.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/time.h"

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

static bool parse_seconds(struct str text, int64_t *out_ms, struct err *err)
{
    int64_t seconds;
    return str_i64(text, &seconds) && !__builtin_mul_overflow(seconds, SECOND_MS, out_ms)
               ? true
               : too_long(err);
}

bool duration_parse(struct str text, int64_t *out_ms, struct err *err)
{
    int64_t sum = 0;
    size_t next = 0;
    if (text.len == 0) {
        return malformed(err);
    }
    if (count_in(text, true) == text.len) {
        return parse_seconds(text, out_ms, err);
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
