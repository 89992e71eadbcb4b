/* wire/cookie.h: what a browser says in its Cookie header (RFC 6265).
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_COOKIE_H
#define ERRAND_WIRE_COOKIE_H

#include "wire/http.h"

/* The value of the cookie of that name, in whichever Cookie header it stands; a value in quotes is
 * given without them. False: there is none, or there are two that differ. The second would be one
 * that another site of the same domain has set: nobody can tell which is meant. */
MUST_CHECK bool cookie_find(const struct http_headers *headers, const char *name, struct str *out);

#endif
