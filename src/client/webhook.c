/* client/webhook.c: signatures of what is sent. See webhook.h.
 *
 * SPDX-License-Identifier: MIT */
#include "client/webhook.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "wire/base64.h"

static const struct str prefix = {"whsec_", 6};

bool webhook_read_keys(struct str secrets, struct arena *arena, struct webhook_keys *out,
                       struct err *err)
{
    struct webhook_keys keys = {.count = 0};
    while (!str_absent(secrets)) {
        struct str secret = str_trim(str_cut(&secrets, ' '));
        if (secret.len == 0) {
            continue;
        }
        if (keys.count == WEBHOOK_KEYS_MAX) {
            return err_set(err, ERR_INVALID, "at most %d secrets", WEBHOOK_KEYS_MAX);
        }
        struct err ignored = ERR_INIT; /* its text might show the secret */
        struct str *key = &keys.key[keys.count++];
        if (!str_starts(secret, prefix) ||
            !base64_decode(str_from(secret, prefix.len), arena, key, &ignored) || key->len == 0 ||
            key->len > WEBHOOK_KEY_MAX) {
            return err_set(err, ERR_INVALID, "a secret is whsec_ and the base64 of %d to %d bytes",
                           WEBHOOK_KEY_GOOD, WEBHOOK_KEY_MAX);
        }
    }
    *out = keys;
    return true;
}

void webhook_sign(const struct webhook_keys *keys, struct str id, int64_t unix_s, struct str body,
                  struct buf *out)
{
    SCOPED(buf_fini) struct buf content = BUF_INIT(SIZE_MAX / 2);
    buf_printf(&content, STR_FMT ".%" PRId64 ".", STR_ARG(id), unix_s);
    buf_str(&content, body);
    for (size_t i = 0; i < keys->count; i++) {
        unsigned char mac[EVP_MAX_MD_SIZE];
        unsigned len = 0;
        HMAC(EVP_sha256(), keys->key[i].ptr, (int)keys->key[i].len,
             (const unsigned char *)content.ptr, content.len, mac, &len);
        buf_c(out, i == 0 ? "v1," : " v1,");
        base64_write(out, (struct str){(const char *)mac, len});
    }
}
