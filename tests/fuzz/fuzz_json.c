/* tests/fuzz/fuzz_json.c: the scanner and the writer agree with themselves on any text.
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "wire/json.h"

/* What a string was is what is read back after writing it. */
static void check_string(struct str text, struct arena *arena)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(64 * MIB);
    struct json_writer w = JSON_WRITER(&buf);
    struct json json;
    struct str back;
    FUZZ_CLAIM(str_is_utf8(text));
    json_add_str(&w, text);
    json_start(&json, buf_view(&buf), arena);
    FUZZ_CLAIM(json_str(&json, &back, NULL) && json_end(&json, NULL));
    FUZZ_CLAIM(str_eq(text, back));
}

static void check_f64(double value, struct arena *arena)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&buf);
    struct json json;
    double back;
    json_add_f64(&w, value);
    json_start(&json, buf_view(&buf), arena);
    FUZZ_CLAIM(json_f64(&json, &back, NULL) && json_end(&json, NULL));
    FUZZ_CLAIM(back == value);
}

static bool take_number(struct json *json, struct arena *arena, struct err *err)
{
    struct json twin = *json;
    double real;
    int64_t whole;
    if (json_i64(&twin, &whole, NULL)) {
        return json_i64(json, &whole, err);
    }
    if (!json_f64(json, &real, err)) {
        return false;
    }
    check_f64(real, arena);
    return true;
}

/* Takes a value that is no bracket; false when the scanner refused it. */
static bool take_scalar(struct json *json, struct arena *arena, struct err *err)
{
    struct str text;
    bool truth;
    switch (json_peek(json)) {
    case JSON_STRING:
        if (!json_str(json, &text, err)) {
            return false;
        }
        check_string(text, arena);
        return true;
    case JSON_NUMBER:
        return take_number(json, arena, err);
    case JSON_BOOL:
        return json_bool(json, &truth, err);
    default:
        return json_take_null(json) || json_skip(json, err);
    }
}

/* Enters everything there is; the path of open brackets is ours to remember. */
static bool walk(struct json *json, struct arena *arena, struct err *err)
{
    bool objects[JSON_DEPTH_MAX + 1];
    size_t depth = 0;
    struct str key;
    do {
        enum json_type type = json_peek(json);
        bool ok = type == JSON_OBJECT  ? json_enter_object(json, err)
                  : type == JSON_ARRAY ? json_enter_array(json, err)
                                       : take_scalar(json, arena, err);
        if (!ok) {
            return false;
        }
        if (type == JSON_OBJECT || type == JSON_ARRAY) {
            objects[depth++] = type == JSON_OBJECT;
        }
        while (depth > 0 &&
               !(objects[depth - 1] ? json_member(json, &key, err) : json_item(json, err))) {
            if (!json_ok(json)) {
                return false;
            }
            depth--;
        }
    } while (depth > 0);
    return json_end(json, err);
}

void fuzz_one(struct str text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct json json;
    struct str raw;
    bool valid = json_valid(text, NULL);

    json_start(&json, text, &arena);
    bool taken = json_raw(&json, &raw, &err) && json_end(&json, &err);
    FUZZ_CLAIM(taken == valid);
    FUZZ_CLAIM(!taken || json_valid(raw, NULL));

    /* Walking may refuse more: equal keys, too many members, numbers past a double. */
    json_start(&json, text, &arena);
    bool walked = walk(&json, &arena, &err);
    FUZZ_CLAIM(!walked || valid);
    FUZZ_CLAIM(walked || !valid || strstr(err.text, "is given twice") != NULL ||
               strstr(err.text, "too many members") != NULL ||
               strstr(err.text, "is out of range") != NULL);
    json_find_str(text, "id", &arena);
}
