/* net/auth.c: who may do what, and from where. See auth.h.
 *
 * A page on a foreign site can make a browser send requests to a server on the same machine, by its
 * address (then Origin is foreign) or by a name of its own that it lets point here (then Host is
 * foreign). Hence both are checked, token or not. A page of another port of this machine is foreign
 * too: what is served there is not ours.
 *
 * SPDX-License-Identifier: MIT */
#include "net/auth.h"

#include <arpa/inet.h>

#include "wire/cookie.h"
#include "wire/uri.h"

#define HTTP_PORT  80 /* of an address that names none */
#define HTTPS_PORT 443

/* Rows: roles. Columns: what a route asks for. */
static const bool allowed[ROLES][ACCESSES] = {
    [ROLE_NONE] = {[OPEN] = true},
    [ROLE_READ] = {[OPEN] = true, [MAY_READ] = true, [MAY_READ_TASKS] = true},
    [ROLE_PRODUCE] =
        {[OPEN] = true, [MAY_READ] = true, [MAY_READ_TASKS] = true, [MAY_PRODUCE] = true},
    [ROLE_WORK] = {[OPEN] = true, [MAY_READ_TASKS] = true, [MAY_WORK] = true},
    [ROLE_ADMIN] = {[OPEN] = true,
                    [MAY_READ] = true,
                    [MAY_READ_TASKS] = true,
                    [MAY_PRODUCE] = true,
                    [MAY_WORK] = true,
                    [MAY_ADMIN] = true},
};

bool auth_role_allows(enum role role, enum access access)
{
    return allowed[role][access];
}

/* ---- Names ---- */

struct address {
    int family; /* 0: a name */
    unsigned char bytes[16];
};

static struct address address_of(struct str host)
{
    struct address address = {0};
    char text[INET6_ADDRSTRLEN];
    if (host.len >= sizeof text) {
        return address;
    }
    memcpy(text, host.ptr, host.len);
    text[host.len] = '\0';
    if (inet_pton(AF_INET, text, address.bytes) == 1) {
        address.family = AF_INET;
    } else if (inet_pton(AF_INET6, text, address.bytes) == 1) {
        address.family = AF_INET6;
    }
    return address;
}

/* Listening on every address, any address is ours; a name is not, for it could be made to point
 * here by anybody. */
static bool host_is_listened_on(const struct auth *auth, struct str host,
                                const struct address *address)
{
    static const unsigned char zeros[16];
    struct str listen;
    uint16_t port;
    if (!uri_parse_address(auth->listen, 0, &listen, &port, NULL)) {
        return false;
    }
    struct address listens = address_of(listen);
    bool on_all = listens.family != 0 && memcmp(listens.bytes, zeros, sizeof zeros) == 0;
    return str_eq_nocase(host, listen) || (address->family != 0 && on_all);
}

static bool host_is_configured(const struct auth *auth, struct str host)
{
    for (size_t i = 0; i < auth->hosts_count; i++) {
        if (str_eq_nocase(host, auth->hosts[i])) {
            return true;
        }
    }
    return false;
}

bool auth_host_ours(const struct auth *auth, struct str host)
{
    static const unsigned char loopback6[16] = {[15] = 1};
    struct str name;
    uint16_t port;
    if (!uri_parse_address(host, 0, &name, &port, NULL)) {
        return false;
    }
    struct address address = address_of(name);
    bool local = str_eq_nocase(name, STR("localhost")) ||
                 (address.family == AF_INET && address.bytes[0] == 127) ||
                 (address.family == AF_INET6 && memcmp(address.bytes, loopback6, 16) == 0);
    return local || host_is_listened_on(auth, name, &address) || host_is_configured(auth, name);
}

/* The name that the request came by: the page it came from has the same one, port and all. */
static bool origin_is_host(struct str name, uint16_t port, bool tls, struct str host)
{
    struct str asked;
    uint16_t asked_port;
    return !str_absent(host) &&
           uri_parse_address(host, tls ? HTTPS_PORT : HTTP_PORT, &asked, &asked_port, NULL) &&
           str_eq_nocase(name, asked) && port == asked_port;
}

/* The address that is listened on, or localhost with its port. Another port of this machine, and
 * another of its addresses, may be somebody else's. */
static bool origin_is_listened_on(const struct auth *auth, struct str name, uint16_t port)
{
    struct str listen;
    uint16_t listen_port;
    return uri_parse_address(auth->listen, 0, &listen, &listen_port, NULL) && port == listen_port &&
           (str_eq_nocase(name, listen) || str_eq_nocase(name, STR("localhost")));
}

bool auth_origin_ours(const struct auth *auth, struct str origin, struct str host)
{
    bool tls = str_starts(origin, STR("https://")), plain = str_starts(origin, STR("http://"));
    struct str name;
    uint16_t port;
    if ((!tls && !plain) || !uri_parse_address(str_from(origin, tls ? 8 : 7),
                                               tls ? HTTPS_PORT : HTTP_PORT, &name, &port, NULL)) {
        return false;
    }
    if (host_is_configured(auth, name)) { /* a proxy may stand before us, with TLS of its own */
        return port == (tls ? HTTPS_PORT : HTTP_PORT) || origin_is_host(name, port, tls, host);
    }
    return tls == auth->tls &&
           (origin_is_host(name, port, tls, host) || origin_is_listened_on(auth, name, port));
}

/* ---- Tokens ---- */

static struct str bearer_in_query(struct str query, struct arena *arena)
{
    struct str key, value;
    while (uri_pair(&query, arena, &key, &value, NULL)) {
        if (str_is(key, "access_token")) {
            return value;
        }
    }
    return STR_NONE;
}

static struct str bearer_of(const struct http_request *request, unsigned how, struct arena *arena)
{
    struct str header = http_header(&request->headers, "authorization");
    struct str scheme = str_cut(&header, ' ');
    if (!str_absent(header) && str_eq_nocase(scheme, STR("Bearer"))) {
        return str_trim(header);
    }
    if (how & AUTH_API_KEY) {
        return http_header(&request->headers, "x-goog-api-key");
    }
    return how & AUTH_IN_QUERY ? bearer_in_query(request->query, arena) : STR_NONE;
}

bool auth_has_own_header(const struct http_request *request)
{
    return str_is(http_header(&request->headers, AUTH_OWN_HEADER), "1");
}

bool auth_cookie_alone(const struct http_request *request, struct str *out)
{
    return str_absent(http_header(&request->headers, "authorization")) &&
           cookie_find(&request->headers, SESSION_COOKIE, out);
}

bool auth_identify(const struct auth *auth, const struct http_request *request, unsigned how,
                   int64_t now_ms, struct arena *arena, struct token_who *who, struct err *err)
{
    struct str cookie, bearer = bearer_of(request, how, arena);
    struct session session;
    if (!str_absent(bearer)) {
        return auth->book != NULL ? token_check(auth->book, now_ms, bearer, who, err)
                                  : err_set(err, ERR_DENIED, "this token is not known");
    }
    if (auth->sessions == NULL || auth->book == NULL || !auth_cookie_alone(request, &cookie)) {
        return err_set(err, ERR_DENIED, "a bearer token is needed");
    }
    if (!session_check(auth->sessions, auth->book, now_ms, cookie, &session)) {
        return err_set(err, ERR_DENIED, "this session is over: sign in again");
    }
    *who = session.who;
    return (how & AUTH_CHANGES) == 0 || auth_has_own_header(request) ||
           err_set(err, ERR_FORBIDDEN,
                   "a change that comes with a cookie alone needs the header " AUTH_OWN_HEADER
                   ": 1");
}

static bool comes_from_us(const struct auth *auth, const struct http_request *request, unsigned how,
                          struct err *err)
{
    struct str origin = http_header(&request->headers, "origin");
    bool any = (how & AUTH_ANY_HOST) != 0;
    if (!any && !str_absent(request->host) && !auth_host_ours(auth, request->host)) {
        return err_set(err, ERR_FORBIDDEN,
                       "this server is not known by that Host: name it in [http] hosts");
    }
    if (!str_absent(origin) && !auth_origin_ours(auth, origin, request->host)) {
        return err_set(err, ERR_FORBIDDEN, "pages of that Origin may not use this server");
    }
    return true;
}

bool auth_on(const struct auth *auth, int64_t now_ms)
{
    return auth->required || (auth->book != NULL && token_book_on(auth->book, now_ms));
}

bool auth_check(const struct auth *auth, const struct http_request *request, enum access access,
                unsigned how, int64_t now_ms, struct arena *arena, struct token_who *who,
                struct err *err)
{
    *who = (struct token_who){.role = ROLE_ADMIN};
    if (!comes_from_us(auth, request, how, err)) {
        return false;
    }
    if (!auth_on(auth, now_ms)) {
        return true;
    }
    who->role = ROLE_NONE;
    if (access == OPEN) {
        return true;
    }
    if (!auth_identify(auth, request, how, now_ms, arena, who, err)) {
        who->role = ROLE_NONE;
        return false;
    }
    return auth_role_allows(who->role, access) ||
           err_set(err, ERR_FORBIDDEN, "a token of the role %s may not do this",
                   role_name(who->role));
}
