/* tests/wire/test_http_response.c: the claims of wire/http_response.h.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"
#include "wire/feed.h"

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

static void read_responses(const char *text, bool head_only, const char *want)
{
    SCOPED(buf_fini) struct buf notes = BUF_INIT(NOTES_MAX), pieces = BUF_INIT(NOTES_MAX);
    struct str whole = str_of(text);
    size_t one = 1;
    feed_responses(whole, head_only, BODY_MAX, feed_all, NULL, &notes);
    CHECK_STR(buf_view(&notes), want);
    feed_responses(whole, head_only, BODY_MAX, feed_steps, &one, &pieces);
    check_same(whole, &notes, &pieces, 0);
    for (size_t at = 1; at < whole.len; at++) {
        size_t first = at;
        feed_responses(whole, head_only, BODY_MAX, feed_cut, &first, &pieces);
        check_same(whole, &notes, &pieces, at);
    }
}

#define BETWEEN "the connection was closed before an answer"
#define AMID    "the connection was closed in the middle of an answer"

TEST(responses_are_read_one_after_the_other)
{
    read_responses("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
                   "HTTP/1.1 204 No Content\r\n\r\n"
                   "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n"
                   "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
                   "HTTP/1.1 404 \r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                   false,
                   "200 1.1 keep OK {Content-Length=2} body=hi done\n"
                   "204 1.1 keep No Content {} body= done\n"
                   "201 1.1 keep Created {Transfer-Encoding=chunked} body=abc done\n"
                   "404 1.1 close  {Content-Length=0;Connection=close} body= done\n" BETWEEN);
}

TEST(a_body_without_a_length_ends_with_the_connection)
{
    read_responses("HTTP/1.0 200 OK\r\n\r\nall of it", false,
                   "200 1.0 close until-close OK {} body=all of it done at close");
    read_responses("HTTP/1.1 200\r\n\r\n", false,
                   "200 1.1 close until-close  {} body= done at close");
}

TEST(a_body_without_a_length_is_handed_out_up_to_the_limit)
{
#define FULL "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    read_responses("HTTP/1.1 200 OK\r\n\r\n" FULL, false,
                   "200 1.1 close until-close OK {} body=" FULL " done at close");
    read_responses("HTTP/1.1 200 OK\r\n\r\n" FULL "and more", false,
                   "200 1.1 close until-close OK {} body=" FULL
                   "bad 413 the body is larger than 64 bytes");
}

TEST(an_answer_to_head_has_no_body)
{
    read_responses("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n", true,
                   "200 1.1 keep OK {Content-Length=20} body= done\n" BETWEEN);
}

TEST(an_answer_cut_short_is_noticed)
{
    read_responses("HTTP/1.1 200 OK\r\nContent-Le", false, AMID);
    read_responses("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", false,
                   "200 1.1 keep OK {Content-Length=5} body=abc" AMID);
    read_responses("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", false,
                   "200 1.1 keep OK {Transfer-Encoding=chunked} body=ab" AMID);
}

TEST(malformed_answers_are_refused)
{
    static const char *const cases[] = {
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 +20 OK\r\n\r\n",
        "ICY 200 OK\r\n\r\n",
        "\r\n",
        "HTTP/1.1 200 OK\n\n",
        "HTTP/1.1 200 O\rK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 65\r\n\r\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        SCOPED(buf_fini) struct buf notes = BUF_INIT(NOTES_MAX);
        feed_responses(str_of(cases[i]), false, BODY_MAX, feed_all, NULL, &notes);
        if (strncmp(buf_c_text(&notes), "bad ", 4) != 0) {
            print_error("<%s>: <%s>\n", cases[i], buf_c_text(&notes));
            fail();
        }
    }
}
