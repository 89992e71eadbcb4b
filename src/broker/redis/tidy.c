/* broker/redis/tidy.c: keys of an older layout, removed a piece at a time.
 *
 * The layout of the hints is part of their keys' name: {dispatch2}, once {dispatch}. A version with
 * another layout fills its own from the store, and what the older one left is removed when no node
 * uses it any more; the leader of the fleet knows.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/buf.h"
#include "broker/redis/dispatch.h"

#define TIDY_KEYS "500" /* looked at with each call, whosever they are */

/* MATCH takes a pattern, and a prefix of keys may have anything in it but braces. */
struct str dispatch_older_keys(struct str prefix, struct arena *arena)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(KIB);
    for (size_t i = 0; i < prefix.len; i++) {
        if (memchr("*?[]^\\", prefix.ptr[i], 6) != NULL) {
            buf_char(&out, '\\');
        }
        buf_char(&out, prefix.ptr[i]);
    }
    buf_c(&out, "{dispatch}:*");
    return arena_str(arena, buf_view(&out));
}

/* Redis frees what is unlinked in the background, however much it is. */
static void remove_keys(struct half *half, const struct redis_reply *keys, struct arena *arena)
{
    struct redis_reply *replies;
    for (int64_t i = 0; i < keys->number; i++) {
        REDIS_ADD(half->redis, STR("UNLINK"), keys->items[i].text);
    }
    (void)!redis_run(half->redis, arena, &replies, NULL);
}

static void tidy_piece(struct dispatch *d, struct half *half)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct redis_reply *replies;
    struct str at = half->cursor[0] == '\0' ? STR("0") : str_of(half->cursor);
    REDIS_ADD(half->redis, STR("SCAN"), at, STR("MATCH"), d->older_keys, STR("COUNT"),
              STR(TIDY_KEYS));
    if (!redis_run(half->redis, &arena, &replies, NULL) || replies->kind != REDIS_LIST ||
        replies->number != 2) {
        return; /* it goes on from here when Redis is back */
    }
    struct str next = arena_str(&arena, replies->items[0].text);
    remove_keys(half, &replies->items[1], &arena);
    half->tidy = str_is(next, "0");
    snprintf(half->cursor, sizeof half->cursor, STR_FMT, STR_ARG(next));
}

bool dispatch_tidy(struct broker *broker)
{
    struct dispatch *d = dispatch_of(broker);
    bool more = false;
    for (size_t i = 0; i < d->count; i++) {
        struct half *half = &d->halves[i];
        if (!half->tidy && !redis_away(half->redis)) {
            tidy_piece(d, half);
        }
        more = more || !half->tidy;
    }
    return more;
}
