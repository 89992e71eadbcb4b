/* tests/wire/test_uri.c: the claims of wire/uri.h.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"
#include "wire/uri.h"

TEST(escapes_are_decoded)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"a%20b", "a b"},
        {"a+b", "a+b"},
        {"%2F", "/"},
        {"%2f", "/"},
        {"caf%C3%A9", "caf\xc3\xa9"},
        {"%25", "%"},
        {"100%25", "100%"},
        {"%01", "\x01"},
    };
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT;
        struct str got;
        CHECK_OK(uri_decode(str_of(cases[i].text), &arena, &got, &err));
        CHECK_STR(got, cases[i].want);
    }
}

TEST(bad_escapes_are_refused)
{
    static const char *const cases[] = {
        "%",   "%2",    "a%",  "a%4", "%zz",       "%2z",  "%z2",
        "%00", "a%00b", "%ff", "%C3", "%ed%a0%80", "%%20",
    };
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT;
        struct str got;
        CHECK(!uri_decode(str_of(cases[i]), &arena, &got, &err));
        CHECK_EQ(err.kind, ERR_INVALID);
    }
}

TEST(a_text_without_escapes_is_not_copied)
{
    struct str text = STR("plain"), got;
    CHECK(uri_decode(text, NULL, &got, NULL));
    CHECK(got.ptr == text.ptr);
}

TEST(encoding_leaves_nothing_that_could_mean_something)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    uri_encode(&buf, STR("a/b?c=d&e f%+#\xc3\xa9-._~Z9"));
    CHECK_STR(buf_view(&buf), "a%2Fb%3Fc%3Dd%26e%20f%25%2B%23%C3%A9-._~Z9");
}

static void check_segments(const char *path, const char *const *want, size_t count)
{
    struct str rest = str_of(path);
    for (size_t i = 0; i < count; i++) {
        CHECK_STR(uri_segment(&rest), want[i]);
    }
    CHECK(str_absent(uri_segment(&rest)));
    CHECK(str_absent(uri_segment(&rest)));
}

TEST(a_path_is_cut_into_its_segments)
{
    check_segments("/api/tasks/7", (const char *[]){"api", "tasks", "7"}, 3);
    check_segments("/api/queues/a%2Fb/pause", (const char *[]){"api", "queues", "a%2Fb", "pause"},
                   4);
    check_segments("/", (const char *[]){""}, 1);
    check_segments("/a/", (const char *[]){"a", ""}, 2);
    check_segments("/a//b", (const char *[]){"a", "", "b"}, 3);
}

TEST(a_query_gives_its_pairs_in_order)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct str query = STR("state=A,B&tag=a+b&tag=c%26d&&empty=&flag&x=1=2&"), key, value;
    static const char *const want[][2] = {
        {"state", "A,B"}, {"tag", "a b"}, {"tag", "c&d"}, {"empty", ""}, {"flag", ""}, {"x", "1=2"},
    };
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        CHECK_OK(uri_pair(&query, &arena, &key, &value, &err));
        CHECK_STR(key, want[i][0]);
        CHECK_STR(value, want[i][1]);
    }
    CHECK(!uri_pair(&query, &arena, &key, &value, &err));
    CHECK(str_absent(query));
    CHECK_EQ(err.kind, ERR_NONE);
}

TEST(an_empty_query_has_no_pairs)
{
    struct str key, value, query = STR("");
    CHECK(!uri_pair(&query, NULL, &key, &value, NULL));
    CHECK(str_absent(query));
    CHECK(!uri_pair(&query, NULL, &key, &value, NULL));
}

TEST(a_bad_escape_in_a_query_is_told_from_its_end)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct str query = STR("a=1&b=%zz&c=2"), key, value;
    CHECK(uri_pair(&query, &arena, &key, &value, &err));
    CHECK(!uri_pair(&query, &arena, &key, &value, &err));
    CHECK(!str_absent(query));
    CHECK_EQ(err.kind, ERR_INVALID);
}

TEST(addresses_have_a_host_and_maybe_a_port)
{
    static const struct {
        const char *text, *host;
        uint16_t port;
    } cases[] = {
        {"127.0.0.1:8001", "127.0.0.1", 8001}, {"localhost", "localhost", 99},
        {"[::1]:8001", "::1", 8001},           {"[::1]", "::1", 99},
        {"0.0.0.0:0", "0.0.0.0", 0},           {"a_b-c.example:65535", "a_b-c.example", 65535},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT;
        struct str host;
        uint16_t port;
        CHECK_OK(uri_parse_address(str_of(cases[i].text), 99, &host, &port, &err));
        CHECK_STR(host, cases[i].host);
        CHECK_EQ(port, cases[i].port);
    }
}

TEST(other_addresses_are_refused)
{
    static const char *const cases[] = {
        "",         ":80",      "a:",      "a:65536", "a:-1",  "a:+1",   "a:80x",
        "a:000080", "::1",      "::1:80",  "[::1",    "[]:80", "a b:1",  "a/b:1",
        "[::1]80",  "[g::1]:1", "a:80:90", "u@a:1",   "a:80 ", "[::1]x",
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT;
        struct str host;
        uint16_t port;
        CHECK(!uri_parse_address(str_of(cases[i]), 99, &host, &port, &err));
        CHECK_EQ(err.kind, ERR_INVALID);
    }
}

TEST(a_uri_is_taken_apart)
{
    struct err err = ERR_INIT;
    struct uri uri;
    CHECK_OK(uri_parse(STR("https://u:p%40@example.org:8443/a/b?c=d&e"), &uri, &err));
    CHECK_STR(uri.scheme, "https");
    CHECK_STR(uri.userinfo, "u:p%40");
    CHECK_STR(uri.host, "example.org");
    CHECK_EQ(uri.port, 8443);
    CHECK_STR(uri.path, "/a/b");
    CHECK_STR(uri.query, "c=d&e");
    CHECK_OK(uri_parse(STR("http://[::1]"), &uri, &err));
    CHECK_STR(uri.host, "::1");
    CHECK_EQ(uri.port, 80);
    CHECK_STR(uri.path, "/");
    CHECK(str_absent(uri.query) && str_absent(uri.userinfo));
    CHECK_OK(uri_parse(STR("redis://h?x=1"), &uri, &err));
    CHECK_EQ(uri.port, 6379);
    CHECK_STR(uri.path, "/");
    CHECK_STR(uri.query, "x=1");
}

TEST(other_uris_are_refused)
{
    static const char *const cases[] = {
        "",
        "http",
        "http:",
        "http:/a",
        "//a",
        "://a",
        "http://",
        "http:///a",
        "http://a b/",
        "http://a/#f",
        "http://a/\n",
        "http://a:99999/",
        "ht tp://a",
        "http://a:b/",
        "http://\xc3\xa9/",
        "http://a%62/",
        "http://@/",
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT;
        struct uri uri;
        CHECK(!uri_parse(str_of(cases[i]), &uri, &err));
        CHECK_EQ(err.kind, ERR_INVALID);
    }
}
