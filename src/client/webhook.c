/* client/webhook.c: signatures of what is sent. See webhook.h.
 *
 * SPDX-License-Identifier: MIT */
#include "client/webhook.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "wire/base64.h"

static const struct str prefix = {"whsec_", 6};

static bool read_key(struct str secret, struct arena *arena, struct str *out, struct err *err)
{
    struct err ignored = ERR_INIT; /* its text might show the secret */
    bool good = str_starts(secret, prefix) &&
                base64_decode(str_from(secret, prefix.len), arena, out, &ignored) && out->len > 0 &&
                out->len <= WEBHOOK_KEY_MAX;
    return good || err_set(err, ERR_INVALID, "a secret is whsec_ and the base64 of %d to %d bytes",
                           WEBHOOK_KEY_GOOD, WEBHOOK_KEY_MAX);
}

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
        if (!read_key(secret, arena, &keys.key[keys.count], err)) {
            return false;
        }
        keys.count++;
    }
    *out = keys;
    return true;
}

static void sign(struct str key, struct str content, struct buf *out)
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    HMAC(EVP_sha256(), key.ptr, (int)key.len, (const unsigned char *)content.ptr, content.len, mac,
         &len);
    buf_c(out, "v1,");
    base64_write(out, (struct str){(const char *)mac, len});
}

void webhook_sign(const struct webhook_keys *keys, struct str id, int64_t unix_s, struct str body,
                  struct buf *out)
{
    SCOPED(buf_fini) struct buf content = BUF_INIT(SIZE_MAX / 2);
    buf_printf(&content, STR_FMT ".%" PRId64 ".", STR_ARG(id), unix_s);
    buf_str(&content, body);
    for (size_t i = 0; i < keys->count; i++) {
        buf_c(out, i == 0 ? "" : " ");
        sign(keys->key[i], buf_view(&content), out);
    }
}
