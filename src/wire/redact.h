/* wire/redact.h: hides the values of certain keys in what is shown: "•••" instead of a password.
 *
 * In JSON a key counts in any case and at any depth of what came from outside (payload, result,
 * metadata, error, log, …: the table in redact.c); Errand's own fields around it are left alone. In
 * texts, log lines above all, it is `key=value`, `key: value` and `"key":"value"`. Whatever is not
 * hidden stays as it is, byte for byte.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_REDACT_H
#define ERRAND_WIRE_REDACT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define REDACT_KEYS_MAX 64 /* in one list */
#define REDACT_KEY_MAX  64 /* bytes of each */
#define REDACT_DEFAULT  "password, token, secret, authorization"
#define REDACTED        "•••"

struct redact_keys {
    struct str at[REDACT_KEYS_MAX];
    size_t count;
};

/* Reads "password, token": names separated by commas, which live as long as `list`. */
MUST_CHECK bool redact_parse(struct str list, struct redact_keys *out, struct err *err);

/* Appends the text without what is to be hidden. */
void redact_text(struct buf *out, const struct redact_keys *keys, struct str text);

/* The same for an answer of the API: one well formed JSON value. */
void redact_json(struct buf *out, const struct redact_keys *keys, struct str json);

#endif
