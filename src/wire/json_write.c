/* wire/json_write.c: JSON out. See json.h.
 *
 * One bit of state is enough: a comma is due after a value, and not after a bracket or a colon.
 *
 * Thread: any; a writer belongs to its caller.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire/base64.h"
#include "wire/json.h"
#include "wire/json_scan.h"
#include "wire/time.h"

static void begin_value(struct json_writer *w)
{
    if (w->comma) {
        buf_char(w->buf, ',');
    }
    w->comma = true;
}

static void open_bracket(struct json_writer *w, char bracket)
{
    begin_value(w);
    buf_char(w->buf, bracket);
    w->comma = false;
}

static void close_bracket(struct json_writer *w, char bracket)
{
    buf_char(w->buf, bracket);
    w->comma = true;
}

void json_open_object(struct json_writer *w)
{
    open_bracket(w, '{');
}

void json_close_object(struct json_writer *w)
{
    close_bracket(w, '}');
}

void json_open_array(struct json_writer *w)
{
    open_bracket(w, '[');
}

void json_close_array(struct json_writer *w)
{
    close_bracket(w, ']');
}

/* The key with its comma, quotes and colon in one go: a list of tasks is mostly keys. */
void json_key(struct json_writer *w, const char *key)
{
    size_t len = strlen(key), comma = w->comma ? 1 : 0;
    char *room = buf_room(w->buf, len + 3 + comma);
    w->comma = false;
    if (room == NULL) {
        return;
    }
    memcpy(room, ",", comma);
    room[comma] = '"';
    memcpy(room + comma + 1, key, len);
    memcpy(room + comma + 1 + len, "\":", 2);
    buf_used(w->buf, len + 3 + comma);
}

static void add_escape(struct buf *buf, unsigned char c)
{
    static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    const char *found = c == '\0' ? NULL : strchr(named, c);
    if (found != NULL) {
        buf_add(buf, (char[]){'\\', names[found - named]}, 2);
    } else {
        buf_printf(buf, "\\u%04x", c);
    }
}

/* One character that cannot be copied blindly; returns how many bytes of the text it was. */
static size_t add_special(struct buf *buf, struct str rest)
{
    unsigned char c = (unsigned char)rest.ptr[0];
    if (c < 0x80) {
        add_escape(buf, c);
        return 1;
    }
    size_t len = str_utf8_len(rest);
    buf_add(buf, len > 0 ? rest.ptr : "\xEF\xBF\xBD", len > 0 ? len : 3);
    return MAX(len, (size_t)1);
}

static void add_text(struct buf *buf, struct str text)
{
    const char *p = text.ptr, *end = text.ptr + text.len;
    buf_char(buf, '"');
    while (p < end) {
        const char *after = json_scan_plain(p, end);
        buf_add(buf, p, (size_t)(after - p));
        p = after;
        if (p < end) {
            p += add_special(buf, (struct str){p, (size_t)(end - p)});
        }
    }
    buf_char(buf, '"');
}

void json_key_str(struct json_writer *w, struct str key)
{
    begin_value(w);
    add_text(w->buf, key);
    buf_char(w->buf, ':');
    w->comma = false;
}

void json_add_str(struct json_writer *w, struct str text)
{
    begin_value(w);
    if (text.len == 0) {
        buf_add(w->buf, "\"\"", 2);
    } else {
        add_text(w->buf, text);
    }
}

void json_add_raw(struct json_writer *w, struct str json)
{
    begin_value(w);
    buf_str(w->buf, json);
}

void json_add_i64(struct json_writer *w, int64_t value)
{
    begin_value(w);
    buf_i64(w->buf, value);
}

#define WHOLE_MAX 1e15 /* below it a whole number is written as one, without the search below */

/* Fifteen digits are always kept by a double and seventeen always tell it apart. */
void json_add_f64(struct json_writer *w, double value)
{
    char text[40];
    if (!isfinite(value)) {
        json_add_null(w);
        return;
    }
    if (fabs(value) < WHOLE_MAX && value == (double)(int64_t)value) {
        json_add_i64(w, (int64_t)value);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    json_add_raw(w, str_of(text));
}

void json_add_bool(struct json_writer *w, bool value)
{
    json_add_raw(w, value ? STR("true") : STR("false"));
}

void json_add_null(struct json_writer *w)
{
    json_add_raw(w, STR("null"));
}

_Static_assert(sizeof((struct json_writer){0}.time) == TIME_TEXT_LEN + 2, "with its quotes");

void json_add_time(struct json_writer *w, int64_t ms)
{
    int64_t second = ms < SECOND_MS || ms > TIME_MAX_MS ? 0 : ms / SECOND_MS;
    if (second != 0 && second == w->second) {
        unsigned of_second = (unsigned)(ms % SECOND_MS);
        w->time[21] = (char)('0' + of_second / 100);
        w->time[22] = (char)('0' + of_second / 10 % 10);
        w->time[23] = (char)('0' + of_second % 10);
    } else {
        char text[TIME_TEXT_LEN + 1];
        time_text(ms, text);
        w->second = second;
        w->time[0] = w->time[TIME_TEXT_LEN + 1] = '"';
        memcpy(w->time + 1, text, TIME_TEXT_LEN);
    }
    json_add_raw(w, (struct str){w->time, TIME_TEXT_LEN + 2});
}

void json_add_base64(struct json_writer *w, struct str bytes)
{
    begin_value(w);
    buf_char(w->buf, '"');
    base64_write(w->buf, bytes);
    buf_char(w->buf, '"');
}

void json_put_object(struct json_writer *w, const char *key)
{
    json_key(w, key);
    json_open_object(w);
}

void json_put_array(struct json_writer *w, const char *key)
{
    json_key(w, key);
    json_open_array(w);
}

void json_put_str(struct json_writer *w, const char *key, struct str text)
{
    json_key(w, key);
    json_add_str(w, text);
}

void json_put_c(struct json_writer *w, const char *key, const char *c_text)
{
    json_put_str(w, key, str_of(c_text));
}

void json_put_raw(struct json_writer *w, const char *key, struct str json)
{
    json_key(w, key);
    json_add_raw(w, json);
}

void json_put_i64(struct json_writer *w, const char *key, int64_t value)
{
    json_key(w, key);
    json_add_i64(w, value);
}

void json_put_f64(struct json_writer *w, const char *key, double value)
{
    json_key(w, key);
    json_add_f64(w, value);
}

void json_put_bool(struct json_writer *w, const char *key, bool value)
{
    json_key(w, key);
    json_add_bool(w, value);
}

void json_put_null(struct json_writer *w, const char *key)
{
    json_key(w, key);
    json_add_null(w);
}

void json_put_time(struct json_writer *w, const char *key, int64_t ms)
{
    json_key(w, key);
    json_add_time(w, ms);
}
