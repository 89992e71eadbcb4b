/* client/guard.c: which addresses a URL that somebody else chose may lead to. See guard.h.
 *
 * One table for each family, the first row that fits counts. The rows follow the registries of
 * special-purpose addresses (RFC 6890 and its successors).
 *
 * SPDX-License-Identifier: MIT */
#include "client/guard.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>

#define HOST_MAX 255
#define IPV4_LEN 4
#define IPV6_LEN 16

enum verdict {
    NEVER,    /* whatever is configured */
    INSIDE,   /* with allow_private */
    OUTSIDE,  /* fine */
    EMBEDDED, /* its last four bytes are the IPv4 address it leads to */
};

struct range {
    unsigned char prefix[IPV6_LEN];
    unsigned bits;
    enum verdict verdict;
    const char *what;
};

#define METADATA "a metadata address"

static const struct range ipv4[] = {
    {{0}, 8, NEVER, "an unspecified address"},
    {{10}, 8, INSIDE, "a private address"},
    {{100, 100, 100, 200}, 32, NEVER, METADATA},
    {{100, 64}, 10, INSIDE, "a shared address of a provider"},
    {{127}, 8, INSIDE, "a loopback address"},
    {{169, 254}, 16, NEVER, "a link-local address"},
    {{172, 16}, 12, INSIDE, "a private address"},
    {{192, 0, 0}, 24, INSIDE, "an address for protocols"},
    {{192, 0, 2}, 24, INSIDE, "a documentation address"},
    {{192, 88, 99}, 24, NEVER, "a 6to4 relay"},
    {{192, 168}, 16, INSIDE, "a private address"},
    {{198, 18}, 15, INSIDE, "a benchmarking address"},
    {{198, 51, 100}, 24, INSIDE, "a documentation address"},
    {{203, 0, 113}, 24, INSIDE, "a documentation address"},
    {{224}, 4, NEVER, "a multicast address"},
    {{240}, 4, NEVER, "a reserved address"}, /* broadcast too */
    {{0}, 0, OUTSIDE, NULL},
};

static const struct range ipv6[] = {
    {{0}, 128, NEVER, "an unspecified address"},
    {{[15] = 1}, 128, INSIDE, "a loopback address"},
    {{[10] = 0xff, 0xff}, 96, EMBEDDED, NULL},
    {{0, 0x64, 0xff, 0x9b}, 96, EMBEDDED, NULL}, /* NAT64 */
    {{0xfd, 0, 0x0e, 0xc2, [14] = 0x02, 0x54}, 128, NEVER, METADATA},
    {{0xfc}, 7, INSIDE, "a unique local address"},
    {{0xfe, 0x80}, 10, NEVER, "a link-local address"},
    {{0xff}, 8, NEVER, "a multicast address"},
    {{0x20, 0x01, 0x0d, 0xb8}, 32, INSIDE, "a documentation address"},
    {{0x3f, 0xff}, 20, INSIDE, "a documentation address"},
    {{0x20, 0x01, 0, 0x02}, 48, INSIDE, "a benchmarking address"},
    {{0x20, 0x01}, 23, NEVER, "an address for protocols"}, /* Teredo too */
    {{0x20, 0x02}, 16, NEVER, "a 6to4 address"},
    {{0x20}, 3, OUTSIDE, NULL},
    /* All that is left: IPv4-compatible, NAT64 of one's own network, site-local, unassigned. */
    {{0}, 0, NEVER, "a reserved address"},
};

static bool covers(const struct range *range, const unsigned char *address)
{
    unsigned whole = range->bits / 8, rest = range->bits % 8;
    unsigned char mask = (unsigned char)(0xff << (8 - rest));
    return memcmp(range->prefix, address, whole) == 0 &&
           (rest == 0 || ((range->prefix[whole] ^ address[whole]) & mask) == 0);
}

/* The last row of a table covers everything. */
static const struct range *find(const struct range *range, const unsigned char *address)
{
    while (!covers(range, address)) {
        range++;
    }
    return range;
}

static const struct range *judge(const struct sockaddr *address)
{
    static const struct range other = {.verdict = NEVER, .what = "no internet address"};
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;
        return find(ipv4, (const unsigned char *)&in->sin_addr);
    }
    if (address->sa_family != AF_INET6) {
        return &other;
    }
    const unsigned char *bytes = ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr;
    const struct range *range = find(ipv6, bytes);
    return range->verdict == EMBEDDED ? find(ipv4, bytes + IPV6_LEN - IPV4_LEN) : range;
}

const char *guard_refuses(const struct sockaddr *address, bool allow_private)
{
    const struct range *range = judge(address);
    bool fine = range->verdict == OUTSIDE || (range->verdict == INSIDE && allow_private);
    return fine ? NULL : range->what;
}

/* ---- Hosts ---- */

static bool is_localhost(struct str host)
{
    host.len -= str_ends(host, STR(".")) ? 1 : 0;
    struct str last = host;
    while (memchr(last.ptr, '.', last.len) != NULL) {
        str_cut(&last, '.');
    }
    return str_eq_nocase(last, STR("localhost"));
}

bool guard_check_host(struct str host, bool allow_private, struct err *err)
{
    char name[HOST_MAX + 1];
    struct addrinfo numbers = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const char *what = is_localhost(host) && !allow_private ? "this machine" : NULL;
    snprintf(name, sizeof name, STR_FMT, STR_ARG(host));
    if (what == NULL && getaddrinfo(name, NULL, &numbers, &found) == 0) {
        what = guard_refuses(found->ai_addr, allow_private);
        freeaddrinfo(found);
    }
    return what == NULL || err_set(err, ERR_REFUSED, "%s is %s, which is refused", name, what);
}
