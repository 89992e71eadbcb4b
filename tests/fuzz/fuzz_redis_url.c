/* tests/fuzz/fuzz_redis_url.c: an address of Redis is taken whole or refused without its password.
 *
 * SPDX-License-Identifier: MIT */
#include "client/redis.h"
#include "fuzz.h"

void fuzz_one(struct str text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct redis_url url;
    struct err err = ERR_INIT;
    if (!redis_url_parse(text, &arena, &url, &err)) {
        FUZZ_CLAIM(err.kind == ERR_INVALID && err.text[0] != '\0');
        return;
    }
    FUZZ_CLAIM(url.tls ==
               str_eq_nocase((struct str){text.ptr, MIN(text.len, (size_t)7)}, STR("rediss:")));
    FUZZ_CLAIM(url.host.len > 0 && url.host.ptr[url.host.len] == '\0');
    FUZZ_CLAIM(str_absent(url.user) || !str_absent(url.password));
    FUZZ_CLAIM(str_absent(url.password) || url.password.ptr[url.password.len] == '\0');
}
