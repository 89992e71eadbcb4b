/* wire/base64.h: RFC 4648, standard alphabet, padding required, nothing else let through.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_BASE64_H
#define ERRAND_WIRE_BASE64_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

void base64_write(struct buf *buf, struct str bytes);
MUST_CHECK bool base64_decode(struct str text, struct arena *arena, struct str *out,
                              struct err *err);

#endif
