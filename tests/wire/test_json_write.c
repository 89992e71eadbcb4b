/* tests/wire/test_json_write.c: the claims of wire/json.h about writing.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "test.h"
#include "wire/json.h"
#include "wire/time.h"

TEST(the_writer_sets_its_own_commas)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&buf);
    json_open_object(&w);
    json_put_str(&w, "s", STR("x"));
    json_put_c(&w, "c", "y");
    json_put_i64(&w, "i", INT64_MIN);
    json_put_bool(&w, "b", false);
    json_put_null(&w, "n");
    json_put_raw(&w, "r", STR("[ 1 ]"));
    json_put_time(&w, "t", 0);
    json_put_array(&w, "a");
    json_add_i64(&w, 1);
    json_open_array(&w);
    json_close_array(&w);
    json_add_base64(&w, STR("hi"));
    json_add_str(&w, STR_NONE);
    json_close_array(&w);
    json_put_object(&w, "o");
    json_close_object(&w);
    json_key_str(&w, STR("q\""));
    json_add_bool(&w, true);
    json_close_object(&w);
    CHECK_STR(buf_view(&buf),
              "{\"s\":\"x\",\"c\":\"y\",\"i\":-9223372036854775808,\"b\":false,\"n\":null,"
              "\"r\":[ 1 ],\"t\":\"1970-01-01T00:00:00.000Z\",\"a\":[1,[],\"aGk=\",\"\"],\"o\":{},"
              "\"q\\\"\":true}");
    CHECK(json_valid(buf_view(&buf), NULL));
}

TEST(times_of_one_second_and_of_another_are_each_their_own)
{
    static const int64_t times[] = {
        5,  0,    1700000000007, 1700000000120, 1700000000999, 1700000001000, 1700000000120,
        -1, -500, 999,           1000,          TIME_MAX_MS,   INT64_MAX,     TIME_MAX_MS - 1};
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB), want = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&buf);
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        json_add_time(&w, times[i]);
        buf_c(&want, i == 0 ? "\"" : ",\"");
        time_write(&want, times[i]);
        buf_char(&want, '"');
    }
    CHECK(str_eq(buf_view(&buf), buf_view(&want)));
}

static void check_written(struct str text, const char *want)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&buf);
    json_add_str(&w, text);
    CHECK_STR(buf_view(&buf), want);
    CHECK(json_valid(buf_view(&buf), NULL));
}

TEST(strings_are_escaped_where_they_must_be)
{
    check_written(STR("plain text longer than eight"), "\"plain text longer than eight\"");
    check_written(STR("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
    check_written(STR("\b\f\n\r\t\x01\x1f\x7f"), "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
    check_written((struct str){"\0", 1}, "\"\\u0000\"");
    check_written(STR("caf\xc3\xa9 \xf0\x9f\x98\x80"), "\"caf\xc3\xa9 \xf0\x9f\x98\x80\"");
}

TEST(bad_utf8_is_replaced_when_written)
{
    check_written(STR("a\xff"
                      "b\xc3"),
                  "\"a\xef\xbf\xbd"
                  "b\xef\xbf\xbd\"");
    check_written(STR("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void check_f64(double value, const char *want)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&buf);
    json_add_f64(&w, value);
    CHECK_STR(buf_view(&buf), want);
    CHECK(json_valid(buf_view(&buf), NULL));
}

TEST(real_numbers_are_written_short)
{
    check_f64(0.1, "0.1");
    check_f64(3.0, "3");
    check_f64(1.0 / 3, "0.3333333333333333");
    check_f64(1e300, "1e+300");
    check_f64(0.1 + 0.2, "0.30000000000000004");
    check_f64(NAN, "null");
    check_f64(-INFINITY, "null");
}

TEST(a_writer_that_meets_the_ceiling_says_so_and_stays_below_it)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(20);
    struct json_writer w = JSON_WRITER(&buf);
    json_open_object(&w);
    json_put_str(&w, "a-long-key-that-does-not-fit", STR("x"));
    json_close_object(&w);
    CHECK(buf.full);
    CHECK(buf.len <= 20);
}

TEST(what_was_written_reads_back)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct json_writer w = JSON_WRITER(&buf);
    char all[256];
    for (int i = 0; i < 128; i++) {
        all[i] = (char)i;
    }
    json_add_str(&w, (struct str){all, 128});
    struct json json;
    struct str got;
    json_start(&json, buf_view(&buf), &arena);
    CHECK(json_str(&json, &got, NULL));
    CHECK(str_eq(got, (struct str){all, 128}));
}
