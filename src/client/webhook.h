/* client/webhook.h: signatures of what is sent, by Standard Webhooks 1.0.
 *
 * Thread: any; keys are constant once read.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_WEBHOOK_H
#define ERRAND_CLIENT_WEBHOOK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define WEBHOOK_KEYS_MAX 4
#define WEBHOOK_KEY_GOOD 24 /* bytes: what the standard asks for at least … */
#define WEBHOOK_KEY_MAX  64 /* … and at most */

struct webhook_keys {
    struct str key[WEBHOOK_KEYS_MAX]; /* the bytes themselves */
    size_t count;
};

/* `whsec_` and base64; several, separated by blanks, while a secret is being replaced. An absent
 * text has no keys. Errors never show the secret. */
MUST_CHECK bool webhook_read_keys(struct str secrets, struct arena *arena, struct webhook_keys *out,
                                  struct err *err);

/* "v1,…", one for each key, separated by blanks. */
void webhook_sign(const struct webhook_keys *keys, struct str id, int64_t unix_s, struct str body,
                  struct buf *out);

#endif
