/* wire/uri.c: paths, queries and addresses. See uri.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/uri.h"

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool decode(struct str text, bool plus_is_space, struct arena *arena, struct str *out,
                   struct err *err)
{
    bool plain = text.len == 0 || (memchr(text.ptr, '%', text.len) == NULL &&
                                   (!plus_is_space || memchr(text.ptr, '+', text.len) == NULL));
    char *room = plain ? NULL : arena_alloc(arena, text.len);
    struct str decoded = plain ? text : (struct str){room, 0};
    for (struct str rest = text; !plain && rest.len > 0;) {
        bool escape = rest.ptr[0] == '%';
        int high = escape && rest.len >= 3 ? str_hex(rest.ptr[1]) : -1;
        int low = high >= 0 ? str_hex(rest.ptr[2]) : -1;
        if (escape && (low < 0 || high + low == 0)) { /* %00 would end a C text */
            return err_set(err, ERR_INVALID, "the address has a bad %%-escape");
        }
        room[decoded.len++] = escape                                ? (char)(high * 16 + low)
                              : rest.ptr[0] == '+' && plus_is_space ? ' '
                                                                    : rest.ptr[0];
        rest = str_from(rest, escape ? 3 : 1);
    }
    if (!str_is_utf8(decoded)) {
        return err_set(err, ERR_INVALID, "the address is not UTF-8");
    }
    *out = decoded;
    return true;
}

bool uri_decode(struct str text, struct arena *arena, struct str *out, struct err *err)
{
    return decode(text, false, arena, out, err);
}

void uri_encode(struct buf *buf, struct str text)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (is_alnum((char)c) || c == '-' || c == '.' || c == '_' || c == '~') {
            buf_char(buf, (char)c);
        } else {
            buf_add(buf, (char[]){'%', hex[c >> 4], hex[c & 15]}, 3);
        }
    }
}

struct str uri_segment(struct str *path)
{
    if (str_absent(*path)) {
        return STR_NONE;
    }
    if (path->len > 0 && path->ptr[0] == '/') {
        *path = str_from(*path, 1);
    }
    const char *slash = path->len == 0 ? NULL : memchr(path->ptr, '/', path->len);
    struct str segment = {path->ptr, slash == NULL ? path->len : (size_t)(slash - path->ptr)};
    *path = slash == NULL ? STR_NONE : str_from(*path, segment.len);
    return segment;
}

bool uri_pair(struct str *query, struct arena *arena, struct str *key, struct str *value,
              struct err *err)
{
    struct str rest = *query, pair = {"", 0};
    while (pair.len == 0 && !str_absent(rest)) { /* "a=1&&b=2" has two pairs */
        pair = str_cut(&rest, '&');
    }
    if (pair.len == 0) {
        *query = STR_NONE;
        return false;
    }
    struct str name = str_cut(&pair, '=');
    struct str content = str_absent(pair) ? (struct str){"", 0} : pair;
    if (!decode(name, true, arena, key, err) || !decode(content, true, arena, value, err)) {
        return false;
    }
    *query = rest;
    return true;
}

static bool is_host(struct str host, bool bracketed)
{
    if (host.len == 0 || host.len > URI_HOST_MAX) {
        return false;
    }
    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];
        bool fits = bracketed ? str_hex(c) >= 0 || c == ':' || c == '.'
                              : is_alnum(c) || c == '-' || c == '.' || c == '_';
        if (!fits) {
            return false;
        }
    }
    return true;
}

/* Cuts "[::1]" or a name off the front; what is left is empty or begins with ':'. */
static bool take_host(struct str *rest, struct str *host)
{
    bool bracketed = rest->len > 0 && rest->ptr[0] == '[';
    struct str text = str_from(*rest, bracketed);
    const char *end = text.len == 0 ? NULL : memchr(text.ptr, bracketed ? ']' : ':', text.len);
    if (bracketed && end == NULL) {
        return false;
    }
    *host = (struct str){text.ptr, end == NULL ? text.len : (size_t)(end - text.ptr)};
    *rest = str_from(text, host->len + bracketed);
    return is_host(*host, bracketed);
}

bool uri_parse_address(struct str text, uint16_t default_port, struct str *host, uint16_t *port,
                       struct err *err)
{
    struct str rest = text, name;
    uint64_t number = default_port;
    bool fine = take_host(&rest, &name) &&
                (rest.len == 0 || (rest.ptr[0] == ':' && rest.len <= sizeof ":65535" - 1 &&
                                   str_u64(str_from(rest, 1), &number) && number <= UINT16_MAX));
    if (!fine) {
        return err_set(err, ERR_INVALID, "must be an address like 127.0.0.1:8001 or [::1]:8001");
    }
    *host = name;
    *port = (uint16_t)number;
    return true;
}

static const struct {
    const char *scheme;
    uint16_t port;
} known_ports[] = {
    {"http", 80},       {"https", 443},       {"redis", 6379}, {"rediss", 6379},
    {"postgres", 5432}, {"postgresql", 5432}, {"smtp", 25},    {"smtps", 465},
};

static uint16_t port_of(struct str scheme)
{
    for (size_t i = 0; i < ARRAY_LEN(known_ports); i++) {
        if (str_eq_nocase(scheme, str_of(known_ports[i].scheme))) {
            return known_ports[i].port;
        }
    }
    return 0;
}

static bool take_scheme(struct str *rest, struct str *scheme)
{
    size_t n = 0;
    while (n < rest->len && (is_alnum(rest->ptr[n]) || strchr("+-.", rest->ptr[n]) != NULL) &&
           rest->ptr[n] != '\0') {
        n++;
    }
    *scheme = (struct str){rest->ptr, n};
    *rest = str_from(*rest, n);
    if (n == 0 || !str_starts(*rest, STR("://"))) {
        return false;
    }
    *rest = str_from(*rest, 3);
    return true;
}

bool uri_parse(struct str text, struct uri *out, struct err *err)
{
    struct uri uri = {.userinfo = STR_NONE};
    bool clean = true;
    /* Visible ASCII only, and no fragment: it is never sent to a server. */
    for (size_t i = 0; i < text.len; i++) {
        clean = clean && text.ptr[i] > ' ' && text.ptr[i] < 0x7F && text.ptr[i] != '#';
    }
    if (!clean || !take_scheme(&text, &uri.scheme)) {
        return err_set(err, ERR_INVALID, "must be an address like http://127.0.0.1:8001/path");
    }
    size_t end = 0;
    while (end < text.len && text.ptr[end] != '/' && text.ptr[end] != '?') {
        end++;
    }
    struct str authority = {text.ptr, end};
    const char *at = end == 0 ? NULL : memrchr(authority.ptr, '@', end);
    if (at != NULL) {
        uri.userinfo = (struct str){authority.ptr, (size_t)(at - authority.ptr)};
        authority = str_from(authority, uri.userinfo.len + 1);
    }
    if (!uri_parse_address(authority, port_of(uri.scheme), &uri.host, &uri.port, err)) {
        return false;
    }
    text = str_from(text, end);
    uri.path = str_cut(&text, '?');
    uri.query = text;
    if (uri.path.len == 0) {
        uri.path = STR("/");
    }
    *out = uri;
    return true;
}

struct str uri_socket_path(struct str text)
{
    return str_starts(text, STR("unix:")) ? str_from(text, 5) : STR_NONE;
}
