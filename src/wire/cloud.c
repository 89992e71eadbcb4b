/* wire/cloud.c: names and encodings of the Cloud Tasks REST API. See cloud.h.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/cloud.h"

#include <ctype.h>
#include <stdlib.h>

#include "wire/base64.h"
#include "wire/time.h"

#define DURATION_DIGITS 9
#define DURATION_MAX_S  (INT64_C(10) * 366 * 24 * 60 * 60) /* as long as a task's own durations */

/* ---- Names ---- */

static bool consists_of(struct str text, const char *others)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && (c == '\0' || strchr(others, c) == NULL)) {
            return false;
        }
    }
    return text.len > 0;
}

bool cloud_project_ok(struct str id)
{
    return id.len <= CLOUD_PARENT_MAX && consists_of(id, ":.-");
}

bool cloud_location_ok(struct str id)
{
    return id.len <= CLOUD_PARENT_MAX && consists_of(id, "-");
}

bool cloud_queue_ok(struct str id)
{
    return id.len <= CLOUD_QUEUE_ID_MAX && consists_of(id, "-");
}

bool cloud_task_ok(struct str id)
{
    return id.len <= CLOUD_TASK_ID_MAX && consists_of(id, "-_");
}

bool cloud_name_parse(struct str text, struct cloud_name *out)
{
    static const char *const words[] = {"projects", "locations", "queues", "tasks"};
    struct cloud_name name = {STR_NONE, STR_NONE, STR_NONE, STR_NONE};
    struct str *const parts[] = {&name.project, &name.location, &name.queue, &name.task};
    size_t n = 0;
    while (!str_absent(text)) {
        struct str word = str_cut(&text, '/');
        if (n == ARRAY_LEN(words) || !str_is(word, words[n]) || str_absent(text)) {
            return false;
        }
        *parts[n] = str_cut(&text, '/');
        if (parts[n++]->len == 0) {
            return false;
        }
    }
    *out = name;
    return n > 0;
}

/* ---- Values ---- */

bool cloud_duration_parse(struct str text, int64_t *out_ms, struct err *err)
{
    static const char rule[] = "must be a duration such as \"3.5s\"";
    if (text.len < 2 || text.ptr[text.len - 1] != 's') {
        return err_set(err, ERR_INVALID, rule);
    }
    struct str fraction = {text.ptr, text.len - 1}, whole = str_cut(&fraction, '.');
    if (whole.len > 0 && whole.ptr[0] == '-') {
        return err_set(err, ERR_INVALID, "must not be negative");
    }
    uint64_t seconds, rest = 0;
    bool dotted = !str_absent(fraction);
    if (!str_u64(whole, &seconds) ||
        (dotted && (fraction.len > DURATION_DIGITS || !str_u64(fraction, &rest)))) {
        return err_set(err, ERR_INVALID, rule);
    }
    if (seconds > (uint64_t)DURATION_MAX_S) {
        return err_set(err, ERR_INVALID, "must not be longer than ten years");
    }
    for (size_t i = fraction.len; dotted && i < DURATION_DIGITS; i++) {
        rest *= 10;
    }
    *out_ms = (int64_t)seconds * SECOND_MS + (int64_t)((rest + 999999) / 1000000);
    return true;
}

void cloud_duration_write(struct buf *buf, int64_t ms)
{
    buf_i64(buf, ms / SECOND_MS);
    if (ms % SECOND_MS != 0) {
        buf_printf(buf, ".%03d", (int)(ms % SECOND_MS));
    }
    buf_char(buf, 's');
}

void cloud_time_write(struct buf *buf, int64_t ms)
{
    char text[TIME_TEXT_LEN + 1];
    time_text(ms, text);
    bool whole = ms % SECOND_MS == 0;
    buf_add(buf, text, TIME_TEXT_LEN - (whole ? sizeof ".000Z" - 1 : 0));
    buf_c(buf, whole ? "Z" : "");
}

bool cloud_bytes_parse(struct str text, struct arena *arena, struct str *out, struct err *err)
{
    while (text.len > 0 && text.ptr[text.len - 1] == '=') {
        text.len--;
    }
    size_t pad = (4 - text.len % 4) % 4;
    char *plain = arena_alloc(arena, text.len + pad);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        plain[i] = c == '-' ? '+' : c == '_' ? '/' : c;
    }
    memset(plain + text.len, '=', pad);
    return base64_decode((struct str){plain, text.len + pad}, arena, out, err) ||
           err_set(err, ERR_INVALID, "must be base64");
}

/* ---- Rows ---- */

static void *place(const struct form_row *row, void *into)
{
    return (char *)into + row->at;
}

/* A number, or a text that holds one. */
static bool read_f64(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    struct str text;
    char number[64], *end;
    if (json_peek(json) != JSON_STRING) {
        return json_f64(json, place(row, into), err);
    }
    if (!json_str(json, &text, err)) {
        return false;
    }
    size_t len = MIN(text.len, sizeof number - 1);
    memcpy(number, text.ptr, len);
    number[len] = '\0';
    double value = strtod(number, &end);
    bool plain = len > 0 && len == text.len && strspn(number, "0123456789+-.eE") == len;
    if (!plain || *end != '\0' || !(value > -1e300 && value < 1e300)) {
        return json_refuse(json, err, "must be a number");
    }
    *(double *)place(row, into) = value;
    return true;
}

static bool read_i32(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    double value;
    struct form_row here = *row;
    here.at = 0;
    if (!read_f64(json, &here, &value, err)) {
        return false;
    }
    if (value < INT32_MIN || value > INT32_MAX || value != (double)(int32_t)value) {
        return json_refuse(json, err, "must be a whole number of 32 bits");
    }
    *(int32_t *)place(row, into) = (int32_t)value;
    return true;
}

static bool read_duration(struct json *json, const struct form_row *row, void *into,
                          struct err *err)
{
    struct str text;
    struct err why = ERR_INIT;
    return json_str(json, &text, err) && (cloud_duration_parse(text, place(row, into), &why) ||
                                          json_refuse(json, err, "%s", why.text));
}

static bool read_bytes(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    struct str text;
    return json_str(json, &text, err) &&
           (cloud_bytes_parse(text, json->arena, place(row, into), NULL) ||
            json_refuse(json, err, "must be base64"));
}

const struct form_hook cloud_i32 = {.read = read_i32}, cloud_f64 = {.read = read_f64},
                       cloud_duration = {.read = read_duration}, cloud_bytes = {.read = read_bytes};

/* ---- Messages ---- */

/* "max_burst_size" to "maxBurstSize"; a name without an underscore stays as it is. */
static struct str camel(struct str name, struct arena *arena)
{
    if (name.len == 0 || memchr(name.ptr, '_', name.len) == NULL) {
        return name;
    }
    char *out = arena_alloc(arena, name.len);
    size_t len = 0;
    bool up = false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool mark = c == '_' && i > 0;
        if (!mark) {
            out[len++] = up ? (char)toupper((unsigned char)c) : c;
        }
        up = mark;
    }
    return (struct str){out, len};
}

/* Recursion is bounded by JSON_DEPTH_MAX. */
static bool copy_message(struct json *json, struct json_writer *w, struct err *err)
{
    struct str key, raw;
    if (!json_enter_object(json, err)) {
        return false;
    }
    json_open_object(w);
    while (json_member(json, &key, err)) {
        struct str name = camel(key, json->arena);
        if (json_take_null(json)) {
            continue;
        }
        json_key_str(w, name);
        if (json_peek(json) == JSON_OBJECT && !str_is(name, "headers")) {
            if (!copy_message(json, w, err)) {
                return false;
            }
        } else if (json_raw(json, &raw, err)) {
            json_add_raw(w, raw);
        } else {
            return false;
        }
    }
    json_close_object(w);
    return json_ok(json);
}

bool cloud_message(struct str json, struct arena *arena, struct str *out, struct err *err)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(6 * json.len + KIB); /* escapes may be longer */
    struct json_writer w = JSON_WRITER(&text);
    struct json in;
    json_start(&in, json, arena);
    if (!copy_message(&in, &w, err) || !json_end(&in, err)) {
        return false;
    }
    *out = arena_str(arena, buf_view(&text));
    return true;
}

bool cloud_mask_parse(struct str mask, const struct form *form, struct arena *arena, uint64_t *out,
                      struct err *err)
{
    uint64_t bits = 0;
    while (!str_absent(mask)) {
        struct str path = str_trim(str_cut(&mask, ','));
        struct str name = camel(path, arena);
        uint64_t found = 0;
        for (size_t i = 0; i < form->count; i++) {
            struct str row = form->rows[i].name;
            bool inside = row.len > name.len && row.ptr[name.len] == '.';
            bool named = str_starts(row, name) && (row.len == name.len || inside);
            found |= named || str_is(name, "*") ? UINT64_C(1) << i : 0;
        }
        if (name.len == 0 || found == 0) {
            return err_field(err, "updateMask",
                             "updateMask: \"" STR_FMT "\" is not a field of this resource",
                             STR_ARG(str_head(path, 100)));
        }
        bits |= found;
    }
    *out = bits;
    return true;
}

/* ---- Headers ---- */

/* What the server says itself, what belongs to one connection only, and what receivers trust to
 * come from the server. A name that ends with - is a beginning. */
static bool is_ours(struct str name)
{
    static const char *const ours[] = {
        "Host",
        "Content-Length",
        "User-Agent",
        "Connection",
        "Keep-Alive",
        "Proxy-Authenticate",
        "Proxy-Connection",
        "Proxy-Authorization",
        "TE",
        "Trailer",
        "Transfer-Encoding",
        "Upgrade",
        "Expect",
        "X-CloudTasks-",
        "X-Google-",
        "X-AppEngine-",
    };
    for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
        struct str other = str_of(ours[i]);
        bool begins = other.ptr[other.len - 1] == '-' && name.len > other.len;
        if (str_eq_nocase(begins ? (struct str){name.ptr, other.len} : name, other)) {
            return true;
        }
    }
    return false;
}

static bool is_token(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (!isalnum(c) && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL)) {
            return false;
        }
    }
    return name.len > 0;
}

static bool is_value(struct str value)
{
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        if ((c < ' ' && c != '\t') || c == 0x7F) {
            return false;
        }
    }
    return true;
}

static bool copy_headers(struct json *json, struct json_writer *w, struct err *err)
{
    struct str name, value;
    size_t bytes = 0;
    if (!json_enter_object(json, err)) {
        return false;
    }
    while (json_member(json, &name, err)) {
        if (!is_token(name)) {
            return json_refuse(json, err, "is not the name of a header");
        }
        if (!json_str(json, &value, err)) {
            return false;
        }
        bytes += name.len + value.len;
        if (!is_value(value)) {
            return json_refuse(json, err, "must not hold control characters");
        }
        if (bytes >= CLOUD_HEADERS_MAX) {
            json->failed = true;
            return err_field(err, "headers", "headers must be less than %zu bytes",
                             CLOUD_HEADERS_MAX);
        }
        if (!is_ours(name)) {
            json_key_str(w, name);
            json_add_str(w, str_trim(value));
        }
    }
    return json_ok(json);
}

bool cloud_headers_read(struct str object, struct arena *arena, struct str *out, struct err *err)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(8 * CLOUD_HEADERS_MAX);
    struct json_writer w = JSON_WRITER(&text);
    struct json json;
    json_open_object(&w);
    if (!str_absent(object)) {
        json_start(&json, object, arena);
        if (!copy_headers(&json, &w, err) || !json_end(&json, err)) {
            return false;
        }
    }
    json_put_c(&w, "User-Agent", CLOUD_USER_AGENT);
    json_close_object(&w);
    *out = arena_str(arena, buf_view(&text));
    return true;
}
