/* tests/wire/test_json.c: the claims of wire/json.h about reading.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "test.h"
#include "wire/json.h"

/* --- What is JSON and what is not. */

static const char *const good[] = {
    "{}",
    "[]",
    " \t\r\n[ ] \n",
    "0",
    "-0",
    "-0.0e-0",
    "1E+2",
    "10.25e3",
    "true",
    "false",
    "null",
    "\"\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
    "\"\\ud83d\\ude00\"",
    "\"\\uD83D\\uDE00\"",
    "\"\x7f\"",
    "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
    "{\"a\":1,\"a\":2}",
    "[1,[2,{\"x\":[{}]},[]],3]",
    "{\"\":\"\"}",
    "123456789012345678901234567890",
};

static const struct {
    const char *text;
    size_t at;
    const char *what;
} bad[] = {
    {"", 0, "ends too early"},
    {"  ", 2, "ends too early"},
    {"\xEF\xBB\xBF{}", 0, "expected a value"},
    {"{", 1, "expected a string"},
    {"[", 1, "ends too early"},
    {"[1", 2, "expected ',' or ']'"},
    {"[1,", 3, "ends too early"},
    {"[1,]", 3, "expected a value"},
    {"[,1]", 1, "expected a value"},
    {"[1 2]", 3, "expected ',' or ']'"},
    {"[1}", 2, "expected ',' or ']'"},
    {"{\"a\":1]", 6, "expected ',' or '}'"},
    {"{\"a\"}", 4, "expected ':'"},
    {"{\"a\" 1}", 5, "expected ':'"},
    {"{\"a\":}", 5, "expected a value"},
    {"{\"a\":1,}", 7, "expected a string"},
    {"{a:1}", 1, "expected a string"},
    {"{'a':1}", 1, "expected a string"},
    {"{1:1}", 1, "expected a string"},
    {"01", 0, "does not begin with 0"},
    {"-01", 1, "does not begin with 0"},
    {"+1", 0, "expected a value"},
    {".5", 0, "expected a value"},
    {"1.", 2, "expected a digit"},
    {"1.e3", 2, "expected a digit"},
    {"1e", 2, "expected a digit"},
    {"1e+", 3, "expected a digit"},
    {"-", 1, "expected a digit"},
    {"-a", 1, "expected a digit"},
    {"NaN", 0, "expected a value"},
    {"Infinity", 0, "expected a value"},
    {"tru", 0, "expected a value"},
    {"truex", 4, "expected the end"},
    {"nul", 0, "expected a value"},
    {"1 2", 2, "expected the end"},
    {"{} x", 3, "expected the end"},
    {"\"", 1, "does not end"},
    {"\"abcdefghijkl", 13, "does not end"},
    {"\"\\", 1, "does not end"},
    {"\"\\x\"", 1, "unknown escape"},
    {"\"\\u12\"", 1, "four hex digits"},
    {"\"\\u12g4\"", 1, "four hex digits"},
    {"\"\\ud800\"", 1, "surrogate"},
    {"\"\\udc00\"", 1, "surrogate"},
    {"\"\\ud800\\ud800\"", 1, "surrogate"},
    {"\"\\ud800x\"", 1, "surrogate"},
    {"\"\\ud800\\n\"", 1, "surrogate"},
    {"\"a\nb\"", 2, "control character"},
    {"\"12345678\tb\"", 9, "control character"},
    {"\"\x1f\"", 1, "control character"},
    {"\"\x80\"", 1, "not UTF-8"},
    {"\"\xc0\xaf\"", 1, "not UTF-8"},
    {"\"\xed\xa0\x80\"", 1, "not UTF-8"},
    {"\"\xf4\x90\x80\x80\"", 1, "not UTF-8"},
    {"\"\xe2\x82\"", 1, "not UTF-8"},
    {"/* no */ 1", 0, "expected a value"},
    {"[1] // no", 4, "expected the end"},
};

TEST(what_the_standard_allows_is_valid)
{
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct err err = ERR_INIT;
        CHECK_OK(json_valid(str_of(good[i]), &err));
    }
}

TEST(anything_else_is_refused_with_its_place)
{
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = ERR_INIT;
        char want[64];
        snprintf(want, sizeof want, "invalid JSON at byte %zu: ", bad[i].at);
        bool refused = !json_valid(str_of(bad[i].text), &err) && err.kind == ERR_INVALID &&
                       strncmp(err.text, want, strlen(want)) == 0 &&
                       strstr(err.text, bad[i].what) != NULL;
        if (!refused) {
            print_error("<%s>: %s\n", bad[i].text, err.text);
        }
        CHECK(refused);
    }
}

TEST(a_nul_byte_in_the_text_is_not_its_end)
{
    CHECK(!json_valid((struct str){"1\0", 2}, NULL));
    CHECK(!json_valid((struct str){"\"\0\"", 3}, NULL));
    CHECK(!json_valid((struct str){"\"\\\0\"", 4}, NULL));
}

static struct str nested(struct arena *arena, size_t depth, bool objects)
{
    const char *open = objects ? "{\"a\":" : "[";
    size_t width = strlen(open), len = depth * (width + 1) + 1;
    char *text = arena_alloc(arena, len);
    for (size_t i = 0; i < depth; i++) {
        memcpy(text + i * width, open, width);
    }
    text[depth * width] = '1';
    memset(text + depth * width + 1, objects ? '}' : ']', depth);
    return (struct str){text, len};
}

TEST(depth_256_is_fine_and_257_is_not)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    for (int objects = 0; objects < 2; objects++) {
        CHECK_OK(json_valid(nested(&arena, JSON_DEPTH_MAX, objects), &err));
        CHECK(!json_valid(nested(&arena, JSON_DEPTH_MAX + 1, objects), &err));
        CHECK(strstr(err.text, "nested too deeply") != NULL);
    }
}

TEST(levels_entered_count_towards_the_depth)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    for (size_t entered = 0; entered <= JSON_DEPTH_MAX; entered += 64) {
        for (size_t extra = 0; extra < 2; extra++) {
            struct json json;
            json_start(&json, nested(&arena, JSON_DEPTH_MAX + extra, false), &arena);
            for (size_t i = 0; i < entered; i++) {
                CHECK(json_enter_array(&json, NULL) && json_item(&json, NULL));
            }
            struct str raw;
            CHECK_EQ(json_raw(&json, &raw, NULL), extra == 0);
        }
    }
}

TEST(ten_megabytes_of_open_brackets_are_refused_at_the_limit)
{
    size_t len = 10 * MIB;
    char *text = mem_alloc(len);
    memset(text, '[', len);
    CHECK(!json_valid((struct str){text, len}, NULL));
    mem_free(text);
}

TEST(ten_megabytes_of_one_string_are_read)
{
    size_t len = 10 * MIB;
    char *text = mem_alloc(len);
    memset(text, '\\', len);
    text[0] = text[len - 1] = '"';
    CHECK(json_valid((struct str){text, len}, NULL));
    mem_free(text);
}

/* --- Taking values. */

static struct json scan(const char *text, struct arena *arena)
{
    struct json json;
    json_start(&json, str_of(text), arena);
    return json;
}

TEST(members_come_in_order_with_their_values)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct json json =
        scan(" { \"s\" : \"x\", \"i\":-12,\"f\": 1.5e1 ,\"b\":true, \"n\":null, \"r\": [ 1, {} ] "
             ", \"u\\u0041\": 0 } ",
             &arena);
    struct str key, text;
    int64_t whole;
    double real;
    bool truth;
    CHECK_EQ(json_peek(&json), JSON_OBJECT);
    CHECK_OK(json_enter_object(&json, &err));
    CHECK(json_member(&json, &key, &err) && str_is(key, "s"));
    CHECK_EQ(json_peek(&json), JSON_STRING);
    CHECK_OK(json_str(&json, &text, &err));
    CHECK_STR(text, "x");
    CHECK(json_member(&json, &key, &err) && str_is(key, "i"));
    CHECK_EQ(json_peek(&json), JSON_NUMBER);
    CHECK_OK(json_i64(&json, &whole, &err));
    CHECK_EQ(whole, -12);
    CHECK(json_member(&json, &key, &err) && str_is(key, "f"));
    CHECK_OK(json_f64(&json, &real, &err));
    CHECK(real == 15.0);
    CHECK(json_member(&json, &key, &err) && str_is(key, "b"));
    CHECK_EQ(json_peek(&json), JSON_BOOL);
    CHECK_OK(json_bool(&json, &truth, &err));
    CHECK(truth);
    CHECK(json_member(&json, &key, &err) && str_is(key, "n"));
    CHECK(json_take_null(&json));
    CHECK(json_member(&json, &key, &err) && str_is(key, "r"));
    CHECK_EQ(json_peek(&json), JSON_ARRAY);
    CHECK_OK(json_raw(&json, &text, &err));
    CHECK_STR(text, "[ 1, {} ]");
    CHECK(json_member(&json, &key, &err) && str_is(key, "uA"));
    CHECK(!json_take_null(&json));
    CHECK_OK(json_skip(&json, &err));
    CHECK(!json_member(&json, &key, &err));
    CHECK_OK(json_end(&json, &err));
}

TEST(values_nobody_took_are_skipped)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct json json = scan("[[1,2],{\"a\":[3]},\"x\"]", &arena);
    size_t items = 0;
    CHECK_OK(json_enter_array(&json, &err));
    while (json_item(&json, &err)) {
        items++;
    }
    CHECK_EQ(items, 3);
    CHECK_OK(json_end(&json, &err));
}

TEST(levels_nest_and_are_left_one_by_one)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct json json = scan("{\"a\":[{\"a\":1},{\"a\":2},{}],\"b\":[[],[5]]}", &arena);
    struct str key;
    int64_t value, sum = 0;
    CHECK_OK(json_enter_object(&json, &err));
    CHECK(json_member(&json, &key, &err));
    CHECK_OK(json_enter_array(&json, &err));
    while (json_item(&json, &err)) {
        CHECK_OK(json_enter_object(&json, &err));
        while (json_member(&json, &key, &err)) {
            CHECK_OK(json_i64(&json, &value, &err));
            sum += value;
        }
    }
    CHECK(json_member(&json, &key, &err) && str_is(key, "b"));
    CHECK_OK(json_enter_array(&json, &err));
    while (json_item(&json, &err)) {
        CHECK_OK(json_enter_array(&json, &err));
        while (json_item(&json, &err)) {
            CHECK_OK(json_i64(&json, &value, &err));
            sum += value;
        }
    }
    CHECK(!json_member(&json, &key, &err));
    CHECK_OK(json_end(&json, &err));
    CHECK_EQ(sum, 8);
}

TEST(a_broken_text_is_found_wherever_the_loop_is)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    static const char *const texts[] = {
        "{\"a\":1,}", "{\"a\":1 \"b\":2}", "{,}",       "{\"a\":1",
        "{\"a\"",     "{\"a\":",           "{\"a\":1]", "{\"a\":[1,}",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct err err = ERR_INIT;
        struct json json = scan(texts[i], &arena);
        struct str key;
        CHECK_OK(json_enter_object(&json, &err));
        while (json_member(&json, &key, &err)) {
        }
        CHECK(!json_end(&json, &err));
        CHECK_EQ(err.kind, ERR_INVALID);
        CHECK(strstr(err.text, "invalid JSON at byte") != NULL);
    }
}

TEST(a_key_given_twice_is_refused_by_name)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct json json = scan("{\"queue\":1,\"x\":2,\"q\\u0075eue\":3}", &arena);
    struct str key;
    CHECK_OK(json_enter_object(&json, &err));
    while (json_member(&json, &key, &err)) {
    }
    CHECK(!json_ok(&json));
    CHECK_EQ(err.kind, ERR_INVALID);
    CHECK_STR(str_of(err.field), "queue");
    CHECK_STR(str_of(err.text), "queue is given twice");
}

TEST(a_key_may_return_in_another_object_and_inside_raw_values)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct json json = scan("[{\"a\":1},{\"a\":{\"b\":1,\"b\":2}}]", &arena);
    struct str key, raw = STR_NONE;
    CHECK_OK(json_enter_array(&json, &err));
    while (json_item(&json, &err)) {
        CHECK_OK(json_enter_object(&json, &err));
        while (json_member(&json, &key, &err)) {
            CHECK_OK(json_raw(&json, &raw, &err));
        }
    }
    CHECK_OK(json_end(&json, &err));
    CHECK_STR(raw, "{\"b\":1,\"b\":2}");
}

static size_t count_members(size_t count, struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(buf_fini) struct buf buf = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&buf);
    char name[16];
    json_open_object(&w);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "k%zu", i);
        json_put_i64(&w, name, (int64_t)i);
    }
    json_close_object(&w);
    struct json json;
    struct str key;
    size_t seen = 0;
    json_start(&json, buf_view(&buf), &arena);
    CHECK(json_enter_object(&json, err));
    while (json_member(&json, &key, err)) {
        seen++;
    }
    return json_end(&json, err) ? seen : 0;
}

TEST(an_entered_object_has_a_limit_of_members)
{
    struct err err = ERR_INIT;
    CHECK_EQ(count_members(JSON_MEMBERS_MAX, &err), JSON_MEMBERS_MAX);
    CHECK_EQ(count_members(JSON_MEMBERS_MAX + 1, &err), 0);
    CHECK(strstr(err.text, "too many members") != NULL);
}

TEST(strings_without_escapes_are_not_copied)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    const char *text = "\"caf\xc3\xa9 au lait\"";
    struct json json = scan(text, &arena);
    struct str got;
    CHECK(json_str(&json, &got, NULL));
    CHECK(got.ptr == text + 1);
    CHECK_EQ(got.len, strlen(text) - 2);
}

TEST(escapes_are_decoded)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00z\"", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"},
        {"\"\\u007f\\u0080\\u07ff\\u0800\\uffff\"", "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf"},
        {"\"\\ud800\\udc00\\udbff\\udfff\"", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
        {"\"\\\\u0041\"", "\\u0041"},
    };
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json json = scan(cases[i].text, &arena);
        struct str got;
        CHECK(json_str(&json, &got, NULL));
        CHECK_STR(got, cases[i].want);
    }
}

TEST(an_escaped_nul_is_part_of_the_string)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct json json = scan("\"a\\u0000b\"", &arena);
    struct str got;
    CHECK(json_str(&json, &got, NULL));
    CHECK(str_eq(got, (struct str){"a\0b", 3}));
    CHECK(str_has_control(got));
}

static bool take_i64(const char *text, int64_t *out, struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct json json = scan(text, &arena);
    struct str key;
    return json_enter_object(&json, err) && json_member(&json, &key, err) &&
           json_i64(&json, out, err) && !json_member(&json, &key, err) && json_end(&json, err);
}

TEST(whole_numbers_are_strict)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"{\"max\":1.0}", "max must be a whole number"},
        {"{\"max\":1e3}", "max must be a whole number"},
        {"{\"max\":9223372036854775808}", "max is out of range"},
        {"{\"max\":-9223372036854775809}", "max is out of range"},
        {"{\"max\":99999999999999999999999}", "max is out of range"},
        {"{\"max\":\"1\"}", "max must be a number"},
        {"{\"max\":null}", "max must be a number"},
        {"{\"max\":[1]}", "max must be a number"},
    };
    int64_t value = 7;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT;
        CHECK(!take_i64(cases[i].text, &value, &err));
        CHECK_STR(str_of(err.text), cases[i].want);
        CHECK_STR(str_of(err.field), "max");
        CHECK_EQ(value, 7);
    }
    CHECK(take_i64("{\"max\":9223372036854775807}", &value, NULL));
    CHECK(value == INT64_MAX);
    CHECK(take_i64("{\"max\":-9223372036854775808}", &value, NULL));
    CHECK(value == INT64_MIN);
    CHECK(take_i64("{\"max\":-0}", &value, NULL));
    CHECK(value == 0);
}

TEST(wrong_types_say_what_was_wanted)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct str text;
    bool truth;
    struct json json = scan("7", &arena);
    CHECK(!json_enter_object(&json, &err));
    CHECK_STR(str_of(err.text), "the body must be an object");
    CHECK_STR(str_of(err.field), "");
    json = scan("[7]", &arena);
    CHECK(json_enter_array(&json, &err) && json_item(&json, &err));
    CHECK(!json_bool(&json, &truth, &err));
    CHECK_STR(str_of(err.text), "each item must be true or false");
    json = scan("{\"tags\":[\"a\",2]}", &arena);
    CHECK(json_enter_object(&json, &err) && json_member(&json, &text, &err));
    CHECK(json_enter_array(&json, &err) && json_item(&json, &err) && json_str(&json, &text, &err));
    CHECK(json_item(&json, &err));
    CHECK(!json_str(&json, &text, &err));
    CHECK_STR(str_of(err.text), "each of tags must be a string");
    CHECK_STR(str_of(err.field), "tags");
    CHECK(!json_end(&json, &err));
}

TEST(a_caller_can_refuse_in_its_own_words)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct str key;
    struct json json = scan("{\"colour\":1}", &arena);
    CHECK(json_enter_object(&json, &err) && json_member(&json, &key, &err));
    CHECK(!json_refuse(&json, &err, "is not a known %s", "field"));
    CHECK_STR(str_of(err.text), "colour is not a known field");
    CHECK_STR(str_of(err.field), "colour");
    CHECK(!json_member(&json, &key, &err));
}

TEST(a_very_long_key_is_cut_in_messages)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(buf_fini) struct buf buf = BUF_INIT(MIB);
    struct err err = ERR_INIT;
    struct str key;
    buf_c(&buf, "{\"");
    for (int i = 0; i < 10000; i++) {
        buf_char(&buf, 'k');
    }
    buf_c(&buf, "\":1}");
    struct json json = scan(buf_c_text(&buf), &arena);
    CHECK(json_enter_object(&json, &err) && json_member(&json, &key, &err));
    CHECK(!json_refuse(&json, &err, "is too long"));
    CHECK_EQ(strlen(err.field), 63);
    CHECK(strstr(err.text, "kkk is too long") != NULL);
}

TEST(real_numbers_are_read_to_the_last_bit)
{
    static const struct {
        const char *text;
        double want;
    } cases[] = {
        {"0", 0.0},
        {"-1", -1.0},
        {"0.1", 0.1},
        {"1e308", 1e308},
        {"5e-324", 5e-324},
        {"1e-999", 0.0},
        {"123456789012345678", 123456789012345678.0},
        {"3.141592653589793238462643383279502884197169399375105820974944592307816406286", M_PI},
    };
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    double value;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json json = scan(cases[i].text, &arena);
        CHECK(json_f64(&json, &value, NULL));
        CHECK(value == cases[i].want);
    }
    struct json json = scan("1e999", &arena);
    CHECK(!json_f64(&json, &value, NULL));
    json = scan("-0", &arena);
    CHECK(json_f64(&json, &value, NULL) && signbit(value));
}

TEST(a_member_can_be_found_at_a_glance)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct str answer = STR("{\"id\":\"7\\u0041\",\"error\":{\"message\":\"no\"},\"n\":12}");
    CHECK_STR(json_find_str(answer, "id", &arena), "7A");
    CHECK_STR(json_find(answer, "n", &arena), "12");
    CHECK_STR(json_find_str(json_find(answer, "error", &arena), "message", &arena), "no");
    CHECK(str_absent(json_find(answer, "absent", &arena)));
    CHECK(str_absent(json_find_str(answer, "n", &arena)));
    CHECK(str_absent(json_find(STR("[1]"), "n", &arena)));
    CHECK(str_absent(json_find(STR_NONE, "n", &arena)));
}

TEST(a_value_is_shown_to_people_as_its_text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_STR(json_plain(STR("\"a\\nb\""), &arena), "a\nb");
    CHECK_STR(json_plain(STR("{\"n\":1}"), &arena), "{\"n\":1}");
    CHECK_STR(json_plain(STR_NONE, &arena), "");
}
