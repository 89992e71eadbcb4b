/* client/guard.h: which addresses a URL that somebody else chose may lead to.
 *
 * Asked with the address a connection is about to be made to, after the name was resolved: a name
 * that points inside, or that changes between a check and its use, gains nothing.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_GUARD_H
#define ERRAND_CLIENT_GUARD_H

#include <sys/socket.h>

#include "base/err.h"
#include "base/str.h"

/* NULL: the address is fine. Else what it is, for people: "a private address". With allow_private
 * this machine and private networks are fine too; link-local addresses, where clouds keep their
 * keys, and what is no host at all never are. */
const char *guard_refuses(const struct sockaddr *address, bool allow_private);

/* The same of a URL's host (without brackets) as far as it shows by itself: addresses in every
 * notation that a resolver takes for one, and localhost. ERR_REFUSED; other names are fine. */
MUST_CHECK bool guard_check_host(struct str host, bool allow_private, struct err *err);

#endif
