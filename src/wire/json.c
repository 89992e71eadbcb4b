/* wire/json.c: the verbs of reading JSON. See json.h; json_scan.c knows the letters.
 *
 * Thread: any; a scanner belongs to its caller. Keeps: outside of a verb `at` is at a value, at the
 * comma or bracket after one, or at the end; blanks before a value are passed already.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/json.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire/json_scan.h"

#define KEYS_AT_FIRST 24 /* a task with all its fields fits */
#define NAME_SHOWN    64 /* of a member's name, in messages */

/* One bracket that was entered. */
struct json_level {
    struct json_level *outer;
    struct str key; /* the member that is next, or in an array the one the array belongs to */
    struct str *keys;
    size_t count, room;
    uint64_t seen; /* a bit for each kind of key so far: most new keys need no search */
    bool object, due, begun;
};

void json_start(struct json *json, struct str text, struct arena *arena)
{
    const char *begin = text.ptr == NULL ? "" : text.ptr;
    *json = (struct json){.start = begin, .end = begin + text.len, .arena = arena};
    json->at = json_scan_blank(json->start, json->end);
}

static bool bad(struct json *json, const struct json_fault *fault, struct err *err)
{
    json->failed = true;
    return err_set(err, ERR_INVALID, "invalid JSON at byte %zu: %s",
                   (size_t)(fault->at - json->start), fault->what);
}

static bool bad_here(struct json *json, const char *what, struct err *err)
{
    return bad(json, &(struct json_fault){json->at, what}, err);
}

static void name_value(const struct json *json, char field[NAME_SHOWN], char label[2 * NAME_SHOWN])
{
    const struct json_level *level = json->level;
    struct str key = level == NULL ? STR_NONE : level->key;
    key.len = MIN(key.len, NAME_SHOWN - 1);
    snprintf(field, NAME_SHOWN, STR_FMT, STR_ARG(key));
    if (str_absent(key)) {
        snprintf(label, 2 * NAME_SHOWN, level == NULL ? "the body" : "each item");
    } else {
        snprintf(label, 2 * NAME_SHOWN, "%s%s", level->object ? "" : "each of ", field);
    }
}

bool json_refuse(struct json *json, struct err *err, const char *format, ...)
{
    char field[NAME_SHOWN], label[2 * NAME_SHOWN], text[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    json->failed = true;
    name_value(json, field, label);
    return err_field(err, field, "%s %s", label, text);
}

enum json_type json_peek(const struct json *json)
{
    switch (json->at < json->end ? *json->at : '\0') {
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '"':
        return JSON_STRING;
    case 't':
    case 'f':
        return JSON_BOOL;
    case 'n':
        return JSON_NULL;
    case '-':
    case '0' ... '9':
        return JSON_NUMBER;
    default:
        return JSON_NONE;
    }
}

const char *json_type_name(enum json_type type)
{
    static const char *const names[] = {
        [JSON_NONE] = "nothing",    [JSON_NULL] = "null",       [JSON_BOOL] = "true or false",
        [JSON_NUMBER] = "a number", [JSON_STRING] = "a string", [JSON_ARRAY] = "an array",
        [JSON_OBJECT] = "an object"};
    return names[type];
}

/* Whether the next value is of that type; the complaint is about the text if it is no value. */
static bool expect(struct json *json, enum json_type type, struct err *err)
{
    if (json->failed) {
        return false;
    }
    enum json_type found = json_peek(json);
    if (found == type) {
        return true;
    }
    if (found == JSON_NONE) {
        return bad_here(json, json->at < json->end ? "expected a value" : "the text ends too early",
                        err);
    }
    return json_refuse(json, err, "must be %s", json_type_name(type));
}

/* A value ended at `after`, or `fault` says why not. */
static bool took(struct json *json, const char *after, const struct json_fault *fault,
                 struct err *err)
{
    if (after == NULL) {
        return bad(json, fault, err);
    }
    json->at = after;
    if (json->level != NULL) {
        json->level->due = false;
    }
    return true;
}

static bool enter(struct json *json, bool object, struct err *err)
{
    if (json->depth == JSON_DEPTH_MAX) {
        return bad_here(json, "nested too deeply", err);
    }
    struct json_level *level = json->spare, *outer = json->level;
    if (level == NULL) {
        level = arena_new(json->arena, struct json_level);
    } else {
        json->spare = level->outer;
    }
    *level = (struct json_level){.outer = outer,
                                 .key = object || outer == NULL ? STR_NONE : outer->key,
                                 .keys = level->keys,
                                 .room = level->room,
                                 .object = object};
    json->level = level;
    json->depth++;
    json->at = json_scan_blank(json->at + 1, json->end);
    return true;
}

bool json_enter_object(struct json *json, struct err *err)
{
    return expect(json, JSON_OBJECT, err) && enter(json, true, err);
}

bool json_enter_array(struct json *json, struct err *err)
{
    return expect(json, JSON_ARRAY, err) && enter(json, false, err);
}

static void leave(struct json *json)
{
    struct json_level *level = json->level;
    json->level = level->outer;
    level->outer = json->spare;
    json->spare = level;
    json->depth--;
    json->at++;
    if (json->level != NULL) {
        json->level->due = false;
    }
}

/* Goes on to the next member or item. False when the bracket closes, which leaves it, or when the
 * scanner failed. */
static bool advance(struct json *json, char closing, struct err *err)
{
    struct json_level *level = json->level;
    if (json->failed || (level->due && !json_skip(json, err))) {
        return false;
    }
    json->at = json_scan_blank(json->at, json->end);
    char c = json->at < json->end ? *json->at : '\0';
    if (c == closing) {
        leave(json);
        return false;
    }
    if (level->begun && c != ',') {
        return bad_here(json, closing == '}' ? "expected ',' or '}'" : "expected ',' or ']'", err);
    }
    if (level->begun) {
        json->at = json_scan_blank(json->at + 1, json->end);
    }
    level->begun = level->due = true;
    return true;
}

bool json_item(struct json *json, struct err *err)
{
    assert(json->failed || (json->level != NULL && !json->level->object));
    return advance(json, ']', err);
}

static struct str decode(struct json *json, const char *begin, const char *after, bool escaped)
{
    struct str inner = {begin + 1, (size_t)(after - begin) - 2};
    if (!escaped) {
        return inner;
    }
    char *text = arena_alloc(json->arena, inner.len);
    return (struct str){text, json_unescape(inner, text)};
}

static bool was_seen(const struct json_level *level, struct str key)
{
    for (size_t i = 0; i < level->count; i++) {
        if (str_eq(level->keys[i], key)) {
            return true;
        }
    }
    return false;
}

static void grow_keys(struct json *json, struct json_level *level)
{
    size_t room = MAX(KEYS_AT_FIRST, level->room * 2);
    struct str *keys = arena_alloc(json->arena, room * sizeof *keys);
    if (level->count > 0) {
        memcpy(keys, level->keys, level->count * sizeof *keys);
    }
    level->keys = keys;
    level->room = room;
}

/* Notes the key, or refuses it if the object had it before. */
static bool note_key(struct json *json, struct str key, struct err *err)
{
    struct json_level *level = json->level;
    unsigned kind = (unsigned)key.len * 7;
    if (key.len > 0) {
        kind += (unsigned char)key.ptr[0] + (unsigned char)key.ptr[key.len - 1] * 3u;
    }
    uint64_t bit = (uint64_t)1 << (kind % 64);
    level->key = key;
    if ((level->seen & bit) != 0 && was_seen(level, key)) {
        return json_refuse(json, err, "is given twice");
    }
    if (level->count == JSON_MEMBERS_MAX) {
        return bad_here(json, "too many members", err);
    }
    if (level->count == level->room) {
        grow_keys(json, level);
    }
    level->seen |= bit;
    level->keys[level->count++] = key;
    return true;
}

bool json_member(struct json *json, struct str *key, struct err *err)
{
    struct json_fault fault = {0};
    bool escaped = false;
    assert(json->failed || (json->level != NULL && json->level->object));
    if (!advance(json, '}', err)) {
        return false;
    }
    const char *after = json_scan_string(json->at, json->end, &escaped, &fault);
    if (after == NULL) {
        return bad(json, &fault, err);
    }
    struct str name = decode(json, json->at, after, escaped);
    if (!note_key(json, name, err)) {
        return false;
    }
    json->at = json_scan_blank(after, json->end);
    if (json->at == json->end || *json->at != ':') {
        return bad_here(json, "expected ':'", err);
    }
    json->at = json_scan_blank(json->at + 1, json->end);
    *key = name;
    return true;
}

bool json_raw(struct json *json, struct str *out, struct err *err)
{
    struct json_fault fault = {0};
    const char *begin = json->at;
    if (json->failed) {
        return false;
    }
    const char *after = json_scan_value(begin, json->end, json->depth, &fault);
    if (!took(json, after, &fault, err)) {
        return false;
    }
    *out = (struct str){begin, (size_t)(after - begin)};
    return true;
}

bool json_skip(struct json *json, struct err *err)
{
    struct str ignored;
    return json_raw(json, &ignored, err);
}

bool json_str(struct json *json, struct str *out, struct err *err)
{
    struct json_fault fault = {0};
    bool escaped = false;
    const char *begin = json->at;
    if (!expect(json, JSON_STRING, err)) {
        return false;
    }
    const char *after = json_scan_string(begin, json->end, &escaped, &fault);
    if (!took(json, after, &fault, err)) {
        return false;
    }
    *out = decode(json, begin, after, escaped);
    return true;
}

/* The text of the number that is next, without taking it. */
static bool number(struct json *json, struct str *out, bool *whole, struct err *err)
{
    struct json_fault fault = {0};
    if (!expect(json, JSON_NUMBER, err)) {
        return false;
    }
    const char *after = json_scan_number(json->at, json->end, whole, &fault);
    if (after == NULL) {
        return bad(json, &fault, err);
    }
    *out = (struct str){json->at, (size_t)(after - json->at)};
    return true;
}

bool json_i64(struct json *json, int64_t *out, struct err *err)
{
    struct str text;
    bool whole;
    int64_t value;
    if (!number(json, &text, &whole, err)) {
        return false;
    }
    if (!whole) {
        return json_refuse(json, err, "must be a whole number");
    }
    if (!str_i64(text, &value)) {
        return json_refuse(json, err, "is out of range");
    }
    *out = value;
    return took(json, text.ptr + text.len, NULL, err);
}

/* strtod() reads the locale's decimal point; the process stays in the "C" locale for it. */
static double to_f64(struct json *json, struct str text, bool whole)
{
    char small[64];
    int64_t exact;
    if (whole && text.len <= 16 && text.ptr[0] != '-' && str_i64(text, &exact)) {
        return (double)exact;
    }
    if (text.len >= sizeof small) {
        return strtod(arena_c_text(json->arena, text), NULL);
    }
    memcpy(small, text.ptr, text.len);
    small[text.len] = '\0';
    return strtod(small, NULL);
}

bool json_f64(struct json *json, double *out, struct err *err)
{
    struct str text = STR_NONE; /* gcc 12 at -O3 does not see that number() fills it */
    bool whole = false;
    if (!number(json, &text, &whole, err)) {
        return false;
    }
    double value = to_f64(json, text, whole);
    if (!isfinite(value)) {
        return json_refuse(json, err, "is out of range");
    }
    *out = value;
    return took(json, text.ptr + text.len, NULL, err);
}

bool json_bool(struct json *json, bool *out, struct err *err)
{
    bool truth = json->at < json->end && *json->at == 't';
    if (!expect(json, JSON_BOOL, err) || !json_skip(json, err)) {
        return false;
    }
    *out = truth;
    return true;
}

bool json_take_null(struct json *json)
{
    return !json->failed && json->end - json->at >= 4 && memcmp(json->at, "null", 4) == 0 &&
           took(json, json->at + 4, NULL, NULL);
}

bool json_ok(const struct json *json)
{
    return !json->failed;
}

bool json_end(struct json *json, struct err *err)
{
    if (json->failed) {
        return false;
    }
    json->at = json_scan_blank(json->at, json->end);
    return json->at == json->end ? true : bad_here(json, "expected the end", err);
}

bool json_valid(struct str text, struct err *err)
{
    struct json json;
    json_start(&json, text, NULL);
    return json_skip(&json, err) && json_end(&json, err);
}

struct str json_find(struct str object, const char *key, struct arena *arena)
{
    struct json json;
    struct str name, value;
    json_start(&json, object, arena);
    if (!json_enter_object(&json, NULL)) {
        return STR_NONE;
    }
    while (json_member(&json, &name, NULL)) {
        if (str_is(name, key)) {
            return json_raw(&json, &value, NULL) ? value : STR_NONE;
        }
    }
    return STR_NONE;
}

struct str json_find_str(struct str object, const char *key, struct arena *arena)
{
    struct json json;
    struct str text;
    json_start(&json, json_find(object, key, arena), arena);
    return json_str(&json, &text, NULL) ? text : STR_NONE;
}

struct str json_plain(struct str value, struct arena *arena)
{
    struct json json;
    struct str text;
    if (str_absent(value)) {
        return STR("");
    }
    json_start(&json, value, arena);
    return json_str(&json, &text, NULL) ? text : value;
}
