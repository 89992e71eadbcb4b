/* tests/fuzz/fuzz_redis_moved.c: a redirection names a slot and a server, or is none; every key has
 * a slot.
 *
 * SPDX-License-Identifier: MIT */
#include "client/redis_cluster.h"
#include "fuzz.h"

void fuzz_one(struct str text)
{
    struct redis_moved moved;
    FUZZ_CLAIM(redis_slot(text) < REDIS_SLOTS);
    if (redis_moved_parse(text, &moved)) {
        FUZZ_CLAIM(moved.slot < REDIS_SLOTS && moved.port > 0);
        FUZZ_CLAIM(moved.host.ptr >= text.ptr &&
                   moved.host.ptr + moved.host.len < text.ptr + text.len);
    }
}
