/* wire/uri.h: paths, queries and addresses.
 *
 * Decoding is strict: a broken escape, %00 and anything that is not UTF-8 afterwards are errors.
 * A text without escapes is not copied.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_URI_H
#define ERRAND_WIRE_URI_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define URI_HOST_MAX 255

/* "a%20b" to "a b"; '+' stays '+'. */
MUST_CHECK bool uri_decode(struct str text, struct arena *arena, struct str *out, struct err *err);
void uri_encode(struct buf *buf, struct str text); /* all but unreserved characters, '/' too */

/* Takes the next segment off a path: of "/api/tasks/7" first "api", then "tasks", then "7", then
 * STR_NONE. Segments are still encoded, so that %2F stays inside one; "a//b" and "a/" have an
 * empty one. */
struct str uri_segment(struct str *path);

/* Takes the next pair off a query, both sides decoded and '+' a space. False at the end or on a
 * bad escape; then *query is STR_NONE or not. Equal keys come as often as they are there.
 *
 *     while (uri_pair(&query, arena, &key, &value, err)) …
 *     if (!str_absent(query)) return false; */
MUST_CHECK bool uri_pair(struct str *query, struct arena *arena, struct str *key, struct str *value,
                         struct err *err);

struct uri {
    struct str scheme;   /* as written: "http", "https", "redis", … */
    struct str userinfo; /* before '@', still encoded; STR_NONE if there is none */
    struct str host;     /* without the brackets of [::1] */
    uint16_t port;       /* 0 if none is given and the scheme has none we know */
    struct str path;     /* "/" if empty; without the query, still encoded */
    struct str query;    /* without '?'; STR_NONE if there is none */
};

/* "scheme://[userinfo@]host[:port][/path][?query]". A fragment is refused. */
MUST_CHECK bool uri_parse(struct str text, struct uri *out, struct err *err);

/* The path of "unix:PATH", a socket file; absent: it is something else. */
struct str uri_socket_path(struct str text);

/* "host:port", "[::1]:8001", or without port, which is then `default_port`. */
MUST_CHECK bool uri_parse_address(struct str text, uint16_t default_port, struct str *host,
                                  uint16_t *port, struct err *err);

#endif
