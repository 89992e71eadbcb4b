/* tests/wire/test_http.c: the claims of wire/http.h.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "test.h"
#include "wire/feed.h"
#include "wire/http.h"

#define NOTES_MAX (4 * MIB)
#define BODY_MAX  64

static void check_same(struct str text, const struct buf *whole, struct buf *pieces, size_t at)
{
    bool same = str_eq(buf_view(whole), buf_view(pieces));
    if (!same) {
        print_error("cut at %zu <" STR_FMT ">\nwhole  <" STR_FMT ">\npieces <" STR_FMT ">\n", at,
                    STR_ARG(text), STR_ARG(buf_view(whole)), STR_ARG(buf_view(pieces)));
    }
    CHECK(same);
    buf_clear(pieces);
}

/* The notes of the whole text, after checking that every way to cut it gives the same. */
static void read_requests(struct str text, struct buf *notes)
{
    SCOPED(buf_fini) struct buf pieces = BUF_INIT(NOTES_MAX);
    size_t one = 1;
    feed_requests(text, BODY_MAX, feed_all, NULL, notes);
    feed_requests(text, BODY_MAX, feed_steps, &one, &pieces);
    check_same(text, notes, &pieces, 0);
    for (size_t at = 1; at < text.len; at++) {
        size_t first = at;
        feed_requests(text, BODY_MAX, feed_cut, &first, &pieces);
        check_same(text, notes, &pieces, at);
    }
}

static void check_request(const char *text, const char *want)
{
    SCOPED(buf_fini) struct buf notes = BUF_INIT(NOTES_MAX);
    read_requests(str_of(text), &notes);
    CHECK_STR(buf_view(&notes), want);
}

/* Answered with that status, and with words that say why. */
static void check_bad(const char *text, int status, const char *why)
{
    SCOPED(buf_fini) struct buf notes = BUF_INIT(NOTES_MAX);
    char begin[16];
    read_requests(str_of(text), &notes);
    snprintf(begin, sizeof begin, "bad %d ", status);
    const char *got = buf_c_text(&notes);
    if (strncmp(got, begin, strlen(begin)) != 0 || strstr(got, why) == NULL) {
        print_error("<%s>\ngot <%s>, want %d %s\n", text, got, status, why);
        fail();
    }
}

/* --- Requests that work. */

TEST(a_plain_get_is_read)
{
    check_request("GET /api/tasks?state=QUEUED&x= HTTP/1.1\r\nHost: a:80\r\nX-A:  b c\t\r\n\r\n",
                  "GET /api/tasks query=state=QUEUED&x= host=a:80 1.1 keep {Host=a:80;X-A=b c} "
                  "body= done\n0 left");
}

TEST(a_body_with_a_length_is_read)
{
    check_request("POST /t HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello",
                  "POST /t query=(none) host=a 1.1 keep has-body {host=a;content-length=5} "
                  "body=hello done\n0 left");
}

TEST(a_length_of_zero_is_a_body_too)
{
    check_request("POST /t HTTP/1.1\r\nHost: a\r\nContent-Length: 000\r\n\r\n",
                  "POST /t query=(none) host=a 1.1 keep has-body {Host=a;Content-Length=000} "
                  "body= done\n0 left");
}

TEST(chunks_with_extensions_and_trailers_become_one_body)
{
    check_request(
        "POST /t HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
        "5;name=\"va lue\"\r\nhello\r\n00A ;x\r\n, chunked!\r\n0\r\nSum: 1\r\nX: y\r\n\r\n",
        "POST /t query=(none) host=a 1.1 keep has-body "
        "{Host=a;Transfer-Encoding=Chunked} body=hello, chunked! done\n0 left");
}

TEST(chunks_may_hold_line_ends)
{
    check_request("POST /t HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "4\r\n\r\n\r\n\r\n0\r\n\r\n",
                  "POST /t query=(none) host=a 1.1 keep has-body "
                  "{Host=a;Transfer-Encoding=chunked} body=\r\n\r\n done\n0 left");
}

TEST(pipelined_requests_come_one_by_one)
{
    check_request(
        "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"
        "POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
        "POST /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"
        "DELETE /4 HTTP/1.1\r\nHost: a\r\n\r\nGET",
        "GET /1 query=(none) host=a 1.1 keep {Host=a} body= done\n"
        "POST /2 query=(none) host=a 1.1 keep has-body {Host=a;Content-Length=2} body=hi "
        "done\n"
        "POST /3 query=(none) host=a 1.1 keep has-body {Host=a;Transfer-Encoding=chunked} "
        "body=x done\n"
        "DELETE /4 query=(none) host=a 1.1 keep {Host=a} body= done\n3 left");
}

TEST(one_empty_line_before_a_request_is_forgiven)
{
    check_request("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
                  "GET / query=(none) host=a 1.1 keep {Host=a} body= done\n0 left");
    check_bad("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "method");
}

TEST(the_connection_is_kept_by_the_rules_of_the_version)
{
    static const struct {
        const char *version, *header;
        bool keep;
    } cases[] = {
        {"1.1", "X: y", true},
        {"1.1", "Connection: close", false},
        {"1.1", "Connection: Upgrade, CLOSE", false},
        {"1.1", "Connection: keep-alive", true},
        {"1.1", "Connection: keep-alive\r\nConnection: close", false},
        {"1.0", "X: y", false},
        {"1.0", "Connection: Keep-Alive", true},
        {"1.0", "Connection: keep-alive, close", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        SCOPED(buf_fini) struct buf notes = BUF_INIT(KIB);
        char text[256];
        snprintf(text, sizeof text, "GET / HTTP/%s\r\nHost: a\r\n%s\r\n\r\n", cases[i].version,
                 cases[i].header);
        read_requests(str_of(text), &notes);
        CHECK(strstr(buf_c_text(&notes), cases[i].keep ? " keep " : " close ") != NULL);
    }
}

TEST(http_1_0_needs_no_host)
{
    check_request("GET / HTTP/1.0\r\n\r\n",
                  "GET / query=(none) host=(none) 1.0 close {} body= done\n0 left");
}

TEST(an_expectation_is_shown)
{
    check_request("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\nx",
                  "PUT / query=(none) host=a 1.1 keep expect has-body "
                  "{Host=a;Expect=100-Continue;Content-Length=1} body=x done\n0 left");
    check_bad("PUT / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\n\r\n", 417, "expectation");
}

TEST(an_absolute_target_names_the_host_itself)
{
    check_request("GET http://b.example:81/p?q HTTP/1.1\r\nHost: a\r\n\r\n",
                  "GET /p query=q host=b.example:81 1.1 keep {Host=a} body= done\n0 left");
    check_request("GET HTTPS://b HTTP/1.1\r\nHost: a\r\n\r\n",
                  "GET / query=(none) host=b 1.1 keep {Host=a} body= done\n0 left");
    check_request("GET http://b?q HTTP/1.1\r\nHost: a\r\n\r\n",
                  "GET / query=q host=b 1.1 keep {Host=a} body= done\n0 left");
}

TEST(other_methods_and_a_star_are_read)
{
    check_request("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
                  "OPTIONS * query=(none) host=a 1.1 keep {Host=a} body= done\n0 left");
    check_request(
        "M-SEARCH /? HTTP/1.1\r\nHost: [::1]:8001\r\n\r\n",
        "M-SEARCH / query= host=[::1]:8001 1.1 keep {Host=[::1]:8001} body= done\n0 left");
}

TEST(values_may_hold_bytes_that_are_not_ascii)
{
    check_request(
        "GET / HTTP/1.1\r\nHost: a\r\nX: caf\xc3\xa9\r\nY:\r\n\r\n",
        "GET / query=(none) host=a 1.1 keep {Host=a;X=caf\xc3\xa9;Y=} body= done\n0 left");
}

/* --- Requests that are refused. */

TEST(malformed_first_lines_are_refused)
{
    static const struct {
        const char *text;
        int status;
        const char *why;
    } cases[] = {
        {"GET /\r\nHost: a\r\n\r\n", 400, "first line"},
        {"GET  / HTTP/1.1\r\n", 400, "first line"},
        {"GET /  HTTP/1.1\r\n", 400, "first line"},
        {"GET / HTTP/1.1 \r\n", 400, "first line"},
        {" GET / HTTP/1.1\r\n", 400, "not an HTTP request"},
        {"\x16\x03\x01\x02", 400, "not an HTTP request"},
        {"\n", 400, "not an HTTP request"},
        {"\rGET", 400, "not an HTTP request"},
        {"GET", 0, NULL},
        {"G(T / HTTP/1.1\r\n", 400, "method"},
        {"G\xc3\xa9T / HTTP/1.1\r\n", 400, "method"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG / HTTP/1.1\r\n", 400, "method"},
        {"GET / http/1.1\r\n", 400, "first line"},
        {"GET / HTTP/11\r\n", 400, "first line"},
        {"GET / HTTP/1.10\r\n", 400, "first line"},
        {"GET / HTTP/2.0\r\n", 505, "only HTTP/1.1"},
        {"GET / HTTP/1.2\r\n", 505, "only HTTP/1.1"},
        {"GET / HTTP/0.9\r\n", 505, "only HTTP/1.1"},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "only HTTP/1.1"},
        {"GET /a\tb HTTP/1.1\r\n", 400, "target is malformed"},
        {"GET /a#b HTTP/1.1\r\n", 400, "target is malformed"},
        {"GET /caf\xc3\xa9 HTTP/1.1\r\n", 400, "target is malformed"},
        {"GET /<a> HTTP/1.1\r\n", 400, "target is malformed"},
        {"GET / HTTP/1.1\nHost: a\r\n\r\n", 400, "CR LF"},
        {"GET /\r HTTP/1.1\r\nHost: a\r\n\r\n", 400, "target is malformed"},
        {"GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", 400, "first line"},
        {"GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400, "must be a path"},
        {"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "must be a path"},
        {"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "must be a path"},
        {"GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400, "must be a path"},
        {"GET http:///p HTTP/1.1\r\nHost: a\r\n\r\n", 400, "host is malformed"},
        {"GET http://u@b/ HTTP/1.1\r\nHost: a\r\n\r\n", 400, "host is malformed"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (cases[i].status == 0) {
            check_request(cases[i].text, "3 left");
        } else {
            check_bad(cases[i].text, cases[i].status, cases[i].why);
        }
    }
}

TEST(malformed_headers_are_refused)
{
    static const struct {
        const char *headers;
        int status;
        const char *why;
    } cases[] = {
        {"", 400, "Host is missing"},
        {"Host: a\r\nHost: a\r\n", 400, "Host is given twice"},
        {"Host:\r\n", 400, "host is malformed"},
        {"Host: a b\r\n", 400, "host is malformed"},
        {"Host: a/b\r\n", 400, "host is malformed"},
        {"Host: a, b\r\n", 400, "host is malformed"},
        {"Host: a:99999\r\n", 400, "host is malformed"},
        {"Host : a\r\n", 400, "followed by a blank"},
        {"Host\t: a\r\n", 400, "followed by a blank"},
        {" Host: a\r\n", 400, "folded"},
        {"Host: a\r\n b\r\n", 400, "folded"},
        {"Host: a\r\n\tb\r\n", 400, "folded"},
        {"Host: a\r\nX\r\n", 400, "name, a colon"},
        {"Host: a\r\n: x\r\n", 400, "name, a colon"},
        {"Host: a\r\nX(y): z\r\n", 400, "name, a colon"},
        {"Host: a\r\nX\xc3\xa9: z\r\n", 400, "name, a colon"},
        {"Host: a\r\nX: a\rb\r\n", 400, "control character"},
        {"Host: a\r\nX: a\r\r\n", 400, "control character"},
        {"Host: a\r\nX: \x01\r\n", 400, "control character"},
        {"Host: a\r\nX: \x7f\r\n", 400, "control character"},
        {"Host: a\r\nX: y\n", 400, "CR LF"},
        {"Host: a\n", 400, "CR LF"},
        {"Host: a\r\n\n", 400, "CR LF"},
        {"Host: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n", 400, "given twice"},
        {"Host: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n", 400, "given twice"},
        {"Host: a\r\nContent-Length: 5, 5\r\n", 400, "must be a number"},
        {"Host: a\r\nContent-Length: +38\r\n", 400, "must be a number"},
        {"Host: a\r\nContent-Length: -1\r\n", 400, "must be a number"},
        {"Host: a\r\nContent-Length: 0x10\r\n", 400, "must be a number"},
        {"Host: a\r\nContent-Length: 1 0\r\n", 400, "must be a number"},
        {"Host: a\r\nContent-Length:\r\n", 400, "must be a number"},
        {"Host: a\r\nContent-Length: 1_0\r\n", 400, "must be a number"},
        {"Host: a\r\nContent-Length: 65\r\n", 413, "larger than 64 bytes"},
        {"Host: a\r\nContent-Length: 18446744073709551616\r\n", 413, "larger than"},
        {"Host: a\r\nContent-Length: 99999999999999999999999999\r\n", 413, "larger than"},
        {"Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n", 400, "both"},
        {"Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n", 400, "both"},
        {"Host: a\r\nTransfer-Encoding: gzip, chunked\r\n", 501, "only the transfer coding"},
        {"Host: a\r\nTransfer-Encoding: chunked, gzip\r\n", 501, "only the transfer coding"},
        {"Host: a\r\nTransfer-Encoding: identity\r\n", 501, "only the transfer coding"},
        {"Host: a\r\nTransfer-Encoding: xchunked\r\n", 501, "only the transfer coding"},
        {"Host: a\r\nTransfer-Encoding: \"chunked\"\r\n", 501, "only the transfer coding"},
        {"Host: a\r\nTransfer-Encoding: chunked;q=1\r\n", 501, "only the transfer coding"},
        {"Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n", 501, "only"},
        {"Host: a\r\nTransfer-Encoding: chunked, chunked\r\n", 400, "malformed"},
        {"Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400,
         "malformed"},
        {"Host: a\r\nTransfer-Encoding:\r\n", 400, "malformed"},
        {"Host: a\r\nTransfer-Encoding: chunked,\r\n", 400, "malformed"},
        {"Host: a\r\nTransfer-Encoding\v: chunked\r\n", 400, "name, a colon"},
        {"Host: a\r\nTransfer-Encoding:\vchunked\r\n", 400, "control character"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, "POST / HTTP/1.1\r\n%s\r\n", cases[i].headers);
        check_bad(text, cases[i].status, cases[i].why);
    }
    check_bad("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "HTTP/1.0 has no");
}

TEST(a_nul_byte_anywhere_in_the_head_is_refused)
{
    static const char text[] = "GET /a HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n";
    for (size_t at = 0; at < sizeof text - 1; at++) {
        SCOPED(buf_fini) struct buf notes = BUF_INIT(KIB);
        char copy[sizeof text];
        memcpy(copy, text, sizeof text);
        copy[at] = '\0';
        feed_requests((struct str){copy, sizeof text - 1}, BODY_MAX, feed_all, NULL, &notes);
        bool last = at == sizeof text - 2; /* then the head does not end */
        CHECK(strncmp(buf_c_text(&notes), "bad 400", 7) == 0 || last);
    }
}

TEST(malformed_chunks_are_refused)
{
    static const struct {
        const char *body;
        int status;
        const char *why;
    } cases[] = {
        {"\r\n", 400, "must begin with its size"},
        {";x\r\n", 400, "must begin with its size"},
        {" 5\r\nhello\r\n", 400, "must begin with its size"},
        {"+5\r\nhello\r\n", 400, "must begin with its size"},
        {"-1\r\n", 400, "must begin with its size"},
        {"g\r\n", 400, "must begin with its size"},
        {"0x5\r\nhello\r\n", 400, "followed by something else"},
        {"5 \r\nhello\r\n", 400, "followed by something else"},
        {"5 x\r\nhello\r\n", 400, "followed by something else"},
        {"5,x\r\nhello\r\n", 400, "followed by something else"},
        {"5;a\x01\r\nhello\r\n", 400, "followed by something else"},
        {"5;a\rb\r\nhello\r\n", 400, "followed by something else"},
        {"5\nhello\r\n", 400, "CR LF"},
        {"5;x\nhello\r\n", 400, "CR LF"},
        {"5\r\nhello!\r\n", 400, "longer than its size"},
        {"5\r\nhello\n0\r\n\r\n", 400, "longer than its size"},
        {"5\r\nhello\r0\r\n\r\n", 400, "longer than its size"},
        {"0000000000000005\r\n", 400, "must begin with its size"},
        {"fffffffffffffffff\r\n", 400, "must begin with its size"},
        {"41\r\n", 413, "larger than 64 bytes"},
        {"7fffffffffffff\r\n", 413, "larger than 64 bytes"},
        {"20\r\n0123456789abcdef0123456789abcdef\r\n21\r\n", 413, "larger than 64 bytes"},
        {"0\r\nX : y\r\n\r\n", 400, "followed by a blank"},
        {"0\r\n x\r\n\r\n", 400, "folded"},
        {"0\r\nX: y\n\r\n", 400, "CR LF"},
        {"0\r\nX: \x01\r\n\r\n", 400, "control character"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n%s",
                 cases[i].body);
        check_bad(text, cases[i].status, cases[i].why);
    }
}

/* --- Limits. */

static void fill(struct buf *buf, char c, size_t count)
{
    char *room = buf_room(buf, count);
    memset(room, c, count);
    buf_used(buf, count);
}

/* Fed whole and in pieces of a prime size: cutting at every byte would take too long here. */
static void check_long(struct buf *text, const char *want)
{
    SCOPED(buf_fini) struct buf whole = BUF_INIT(NOTES_MAX), pieces = BUF_INIT(NOTES_MAX);
    size_t prime = 997;
    feed_requests(buf_view(text), BODY_MAX, feed_all, NULL, &whole);
    feed_requests(buf_view(text), BODY_MAX, feed_steps, &prime, &pieces);
    CHECK(strncmp(buf_c_text(&whole), want, strlen(want)) == 0);
    check_same(buf_view(text), &whole, &pieces, prime);
    buf_clear(text);
}

TEST(a_target_has_a_limit)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    for (size_t over = 0; over < 2; over++) {
        buf_c(&text, "GET /");
        fill(&text, 'a', HTTP_TARGET_MAX - 1 + over);
        buf_c(&text, " HTTP/1.1\r\nHost: a\r\n\r\n");
        check_long(&text, over == 0 ? "GET /aaa" : "bad 414");
    }
    buf_c(&text, "GET /");
    fill(&text, 'a', 100 * KIB);
    check_long(&text, "bad 414");
}

TEST(a_head_has_a_limit)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    for (size_t over = 0; over < 2; over++) {
        buf_c(&text, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
        fill(&text, 'a', HTTP_HEAD_MAX - text.len - 4 + over);
        buf_c(&text, "\r\n\r\n");
        check_long(&text, over == 0 ? "GET / " : "bad 431");
    }
    buf_c(&text, "GET / HTTP/1.1\r\nX: ");
    fill(&text, 'a', 100 * KIB);
    check_long(&text, "bad 431");
}

TEST(headers_have_a_limit)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    for (int over = 0; over < 2; over++) {
        buf_c(&text, "GET / HTTP/1.1\r\nHost: a\r\n");
        for (int i = 1; i < HTTP_HEADERS_MAX + over; i++) {
            buf_c(&text, "X: y\r\n");
        }
        buf_c(&text, "\r\n");
        check_long(&text, over == 0 ? "GET / " : "bad 431");
    }
}

static const char chunked_head[] =
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST(chunk_extensions_and_trailers_have_limits)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    buf_c(&text, chunked_head);
    for (int i = 0; i < 32; i++) {
        buf_c(&text, "1;");
        fill(&text, 'x', 900);
        buf_c(&text, "\r\ny\r\n");
    }
    check_long(&text, "bad 431");
    buf_c(&text, chunked_head);
    buf_c(&text, "1;");
    fill(&text, 'x', HTTP_CHUNK_LINE_MAX);
    check_long(&text, "bad 400");
    buf_c(&text, chunked_head);
    buf_c(&text, "0\r\n");
    for (int i = 0; i <= HTTP_HEADERS_MAX; i++) {
        buf_c(&text, "X: y\r\n");
    }
    check_long(&text, "bad 431");
    buf_c(&text, chunked_head);
    buf_c(&text, "0\r\nX: ");
    fill(&text, 'x', HTTP_HEAD_MAX);
    check_long(&text, "bad 431");
}

TEST(a_large_chunked_body_in_small_chunks_is_read_in_one_go)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64 * MIB);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(http_parser_fini) struct http_parser parser;
    struct http_request request;
    struct err err = ERR_INIT;
    size_t consumed, from = 0;
    buf_c(&text, chunked_head);
    for (size_t i = 0; i < MIB; i++) {
        buf_c(&text, "2\r\nab\r\n");
    }
    buf_c(&text, "0\r\n\r\n");
    http_parser_init(&parser, HTTP_BODY_MAX);
    CHECK_EQ(http_parse(&parser, buf_view(&text), &arena, &request, &from, &err), HTTP_GOT_HEAD);
    CHECK_EQ(
        http_parse(&parser, str_from(buf_view(&text), from), &arena, &request, &consumed, &err),
        HTTP_DONE);
    CHECK_EQ(request.body.len, 2 * MIB);
    CHECK_EQ(from + consumed, text.len);
}

TEST(a_body_with_a_length_is_not_copied_and_the_head_is)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(http_parser_fini) struct http_parser parser;
    struct http_request request;
    struct err err = ERR_INIT;
    char text[] = "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";
    struct str input = str_of(text);
    size_t consumed;
    http_parser_init(&parser, BODY_MAX);
    CHECK_EQ(http_parse(&parser, input, &arena, &request, &consumed, &err), HTTP_GOT_HEAD);
    CHECK_EQ(consumed, input.len - 2);
    CHECK_EQ(request.method, HTTP_POST);
    input = str_from(input, consumed);
    CHECK_EQ(http_parse(&parser, input, &arena, &request, &consumed, &err), HTTP_DONE);
    CHECK_EQ(consumed, 2);
    CHECK(request.body.ptr == input.ptr);
    memset(text, '-', sizeof text - 1);
    CHECK_STR(request.path, "/p");
    CHECK_STR(request.body, "--");
}

TEST(a_reader_that_refused_stays_bad)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(http_parser_fini) struct http_parser parser;
    struct http_request request;
    struct err err = ERR_INIT;
    size_t consumed;
    http_parser_init(&parser, BODY_MAX);
    CHECK_EQ(http_parse(&parser, STR("GET / HTTP/9.9\r\n"), &arena, &request, &consumed, &err),
             HTTP_BAD);
    CHECK_EQ(http_parse(&parser, STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), &arena, &request,
                        &consumed, &err),
             HTTP_BAD);
    CHECK_EQ(parser.status, 505);
    CHECK_EQ(consumed, 0);
}

TEST(headers_are_found_in_any_case)
{
    struct http_header list[] = {{STR("Accept"), STR("a")},
                                 {STR("ACCEPT"), STR("Text/HTML, text/event-stream")},
                                 {STR("X"), STR("")}};
    struct http_headers headers = {list, ARRAY_LEN(list)};
    CHECK_STR(http_header(&headers, "accept"), "a");
    CHECK_STR(http_header(&headers, "x"), "");
    CHECK(str_absent(http_header(&headers, "Y")));
    CHECK(http_has_token(&headers, "accept", "Text/Event-Stream"));
    CHECK(!http_has_token(&headers, "accept", "text"));
    CHECK(!http_has_token(&headers, "y", "a"));
}

/* --- Writing. */

TEST(a_response_head_is_written)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    http_write_status(&buf, 201);
    http_write_header(&buf, "Location", STR("/api/tasks/7"));
    http_write_length(&buf, 2);
    http_write_end(&buf);
    CHECK_STR(buf_view(&buf),
              "HTTP/1.1 201 Created\r\nLocation: /api/tasks/7\r\nContent-Length: 2\r\n\r\n");
    buf_clear(&buf);
    http_write_status(&buf, 299);
    CHECK_STR(buf_view(&buf), "HTTP/1.1 299 \r\n");
}

TEST(a_request_that_was_written_reads_back)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    http_write_request(&buf, "POST", STR("/t?x"), STR("a:1"));
    http_write_header(&buf, "Transfer-Encoding", STR("chunked"));
    http_write_end(&buf);
    http_write_chunk(&buf, STR("hello, chunks and more"));
    http_write_chunk(&buf, STR(""));
    check_request(buf_c_text(&buf), "POST /t query=x host=a:1 1.1 keep has-body "
                                    "{Host=a:1;Transfer-Encoding=chunked} "
                                    "body=hello, chunks and more done\n0 left");
}

TEST(a_written_value_cannot_begin_a_new_line)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    http_write_header(&buf, "X", STR("a\r\nSet-Cookie: b"));
    CHECK_STR(buf_view(&buf), "X: a  Set-Cookie: b\r\n");
}
