/* tests/wire/test_cookie.c: claims about the Cookie header.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"
#include "wire/cookie.h"

/* What is found for the cookie `s` in up to two headers; "-": nothing. */
static struct str found(const char *first, const char *second)
{
    struct http_header list[] = {{STR("Cookie"), str_of(first)}, {STR("cookie"), str_of(second)}};
    struct http_headers headers = {list, second == NULL ? 1 : 2};
    struct str out;
    return cookie_find(&headers, "s", &out) ? out : STR("-");
}

TEST(a_cookie_is_found_by_its_whole_name_wherever_it_stands)
{
    CHECK_STR(found("s=1", NULL), "1");
    CHECK_STR(found("a=b; s=1; c=d", NULL), "1");
    CHECK_STR(found("a=b;s=1", NULL), "1");
    CHECK_STR(found("a=b", "s=1"), "1");
    CHECK_STR(found(" s = 1 ", NULL), "1");
    CHECK_STR(found("s=a=b", NULL), "a=b");
    CHECK_STR(found("s=\"1\"", NULL), "1");
    CHECK_STR(found("s=", NULL), "");
    CHECK_STR(found("ss=1; S=2; as=3", NULL), "-");
    CHECK_STR(found("s", NULL), "-");
    CHECK_STR(found("", ";;=;"), "-");
}

TEST(two_cookies_of_a_name_are_one_only_if_they_say_the_same)
{
    CHECK_STR(found("s=1; s=1", NULL), "1");
    CHECK_STR(found("s=1; s=2", NULL), "-");
    CHECK_STR(found("s=1", "s=2"), "-");
}
