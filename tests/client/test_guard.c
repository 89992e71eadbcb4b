/* tests/client/test_guard.c: where a URL that somebody else chose may lead.
 *
 * SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "client/guard.h"
#include "test.h"

/* N: never; p: with allow_private; y: yes. */
static const struct {
    const char *address;
    char may;
} cases[] = {
    {"8.8.8.8", 'y'},
    {"9.255.255.255", 'y'},
    {"11.0.0.0", 'y'},
    {"100.63.255.255", 'y'},
    {"100.128.0.0", 'y'},
    {"126.255.255.255", 'y'},
    {"128.0.0.1", 'y'},
    {"169.253.255.255", 'y'},
    {"169.255.0.0", 'y'},
    {"172.15.255.255", 'y'},
    {"172.32.0.0", 'y'},
    {"192.167.255.255", 'y'},
    {"192.169.0.0", 'y'},
    {"198.17.255.255", 'y'},
    {"198.20.0.0", 'y'},
    {"223.255.255.255", 'y'},
    {"10.0.0.0", 'p'},
    {"10.255.255.255", 'p'},
    {"100.64.0.1", 'p'},
    {"100.127.255.255", 'p'},
    {"127.0.0.1", 'p'},
    {"127.255.255.254", 'p'},
    {"172.16.0.1", 'p'},
    {"172.31.255.255", 'p'},
    {"192.0.0.8", 'p'},
    {"192.0.2.1", 'p'},
    {"192.168.1.1", 'p'},
    {"198.18.0.1", 'p'},
    {"198.19.255.255", 'p'},
    {"198.51.100.7", 'p'},
    {"203.0.113.7", 'p'},
    {"0.0.0.0", 'N'},
    {"0.1.2.3", 'N'},
    {"100.100.100.200", 'N'},
    {"169.254.0.1", 'N'},
    {"169.254.169.254", 'N'},
    {"192.88.99.1", 'N'},
    {"224.0.0.1", 'N'},
    {"239.255.255.255", 'N'},
    {"240.0.0.1", 'N'},
    {"255.255.255.255", 'N'},
    {"2606:4700:4700::1111", 'y'},
    {"2a00:1450:4001::1", 'y'},
    {"2001:4860:4860::8888", 'y'},
    {"2003::1", 'y'},
    {"::ffff:8.8.8.8", 'y'},
    {"64:ff9b::8.8.8.8", 'y'},
    {"::1", 'p'},
    {"fc00::1", 'p'},
    {"fdff:ffff::1", 'p'},
    {"2001:db8::1", 'p'},
    {"3fff:fff::1", 'p'},
    {"2001:2::1", 'p'},
    {"::ffff:127.0.0.1", 'p'},
    {"::ffff:10.1.2.3", 'p'},
    {"64:ff9b::192.168.0.1", 'p'},
    {"::", 'N'},
    {"::2", 'N'},
    {"::127.0.0.1", 'N'},
    {"::8.8.8.8", 'N'},
    {"::ffff:169.254.169.254", 'N'},
    {"::ffff:0.0.0.0", 'N'},
    {"64:ff9b::169.254.169.254", 'N'},
    {"64:ff9b:1::8.8.8.8", 'N'},
    {"fd00:ec2::254", 'N'},
    {"fe80::1", 'N'},
    {"febf::1", 'N'},
    {"fec0::1", 'N'},
    {"ff02::1", 'N'},
    {"100::1", 'N'},
    {"2001::1", 'N'},
    {"2001:10::1", 'N'},
    {"2002:7f00:1::1", 'N'},
    {"4000::1", 'N'},
};

static char may(const char *text)
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } address = {.any = {.sa_family = AF_INET}};
    if (inet_pton(AF_INET, text, &address.in.sin_addr) != 1) {
        address.in6 = (struct sockaddr_in6){.sin6_family = AF_INET6};
        CHECK_EQ(inet_pton(AF_INET6, text, &address.in6.sin6_addr), 1);
    }
    bool outside = guard_refuses(&address.any, false) == NULL;
    bool allowed = guard_refuses(&address.any, true) == NULL;
    return outside && allowed ? 'y' : allowed ? 'p' : outside ? '?' : 'N';
}

TEST(each_kind_of_address_is_let_through_or_not_up_to_its_edges)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char got = may(cases[i].address);
        if (got != cases[i].may) {
            fail_msg("%s: '%c' instead of '%c'", cases[i].address, got, cases[i].may);
        }
    }
}

TEST(what_is_no_internet_address_is_never_let_through)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    CHECK(guard_refuses((struct sockaddr *)&local, true) != NULL);
}

static bool may_host(const char *host, bool allow_private)
{
    struct err err = ERR_INIT;
    bool fine = guard_check_host(str_of(host), allow_private, &err);
    CHECK(fine || err.kind == ERR_REFUSED);
    return fine;
}

TEST(a_host_that_shows_where_it_leads_is_refused_in_every_notation)
{
    static const char *const inside[] = {
        "127.0.0.1", "127.1",     "2130706433",      "0x7f000001",       "0177.0.0.1",   "::1",
        "localhost", "LocalHost", "api.localhost",   "localhost.",       "10.0.0.1",     "fd00::1",
        "0x7f.1",    "0xa.1.2.3", "192.168.000.001", "::ffff:127.0.0.1", "0:0:0:0::0:1",
    };
    for (size_t i = 0; i < ARRAY_LEN(inside); i++) {
        if (may_host(inside[i], false) || !may_host(inside[i], true)) {
            fail_msg("%s", inside[i]);
        }
    }
}

TEST(a_host_that_is_never_allowed_is_refused_with_allow_private_too)
{
    CHECK(!may_host("169.254.169.254", true));
    CHECK(!may_host("2852039166", true)); /* the same as one number */
    CHECK(!may_host("0", true));
    CHECK(!may_host("fe80::1", true));
}

TEST(names_are_left_to_the_moment_of_connecting)
{
    CHECK(may_host("example.org", false));
    CHECK(may_host("localhost.example.org", false));
    CHECK(may_host("mylocalhost", false));
    CHECK(may_host("8.8.8.8", false));
}
