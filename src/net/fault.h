/* net/fault.h: how a failure is told over HTTP.
 *
 * The kind of an err decides the status and the public code; its text is the message.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_FAULT_H
#define ERRAND_NET_FAULT_H

#include "base/err.h"
#include "wire/json.h"

int fault_status(enum err_kind kind);       /* 400, 404, … */
const char *fault_code(enum err_kind kind); /* "invalid_argument", "not_found", … */

/* Header lines that go with it: Retry-After, WWW-Authenticate; or "". */
const char *fault_headers(enum err_kind kind);

/* {"code","message","field"}: the value of "error". Mistakes of our own show no details. */
void fault_write(struct json_writer *w, const struct err *err);

/* ERR_TOO_LARGE with the field named. Returns false. */
bool fault_too_large(struct err *err, const char *field, size_t bytes, size_t limit);

#endif
