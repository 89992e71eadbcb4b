/* broker/redis/dispatch.c: the broker of a fleet: opening, closing, is it there, is it filled, keys
 * of older layouts, its table of verbs.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/redis/dispatch.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rand.h"

#define OPEN_WAIT_MS 1000 /* a Redis that is there answers sooner */
#define PREFIX_MAX   64
#define TIDY_KEYS    "500" /* looked at with each call, whosever they are */

extern const char lua_dispatch[], lua_renew[], lua_release[];

/* ---- Is it there? ---- */

/* One half that cannot answer is enough: claims would miss what is ready there. */
static enum broker_health dispatch_health(struct broker *broker)
{
    struct dispatch *d = dispatch_of(broker);
    enum broker_health worst = BROKER_NONE;
    for (size_t i = 0; i < d->count; i++) {
        struct half *half = &d->halves[i];
        if (redis_away(half->redis)) { /* noticed by whoever asked it last, for whatever */
            half->health = health_next(half->health, BROKER_LOST);
        }
        worst = health_worse(worst, half->health);
    }
    return worst;
}

static enum broker_health dispatch_check(struct broker *broker)
{
    struct dispatch *d = dispatch_of(broker);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct redis_reply reply;
    for (size_t i = 0; i < d->count; i++) {
        (void)!DISPATCH_ASK(d, &d->halves[i], 0, &arena, &reply, STR("health"));
    }
    return dispatch_health(broker);
}

static void dispatch_doubt(struct broker *broker, bool doubts)
{
    struct dispatch *d = dispatch_of(broker);
    for (size_t i = 0; i < d->count; i++) {
        struct half *half = &d->halves[i];
        half->health = health_next(half->health, doubts ? BROKER_DOUBT : BROKER_TRUST);
    }
}

static bool dispatch_empty(struct broker *broker)
{
    struct dispatch *d = dispatch_of(broker);
    bool empty = false;
    (void)dispatch_check(broker);
    for (size_t i = 0; i < d->count; i++) {
        empty = empty || health_rule(d->halves[i].health)->fills;
    }
    return empty;
}

/* The token tells whether something was lost once more while it was being filled. */
static void dispatch_fill(struct broker *broker)
{
    struct dispatch *d = dispatch_of(broker);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct redis_reply reply;
    struct rand rand;
    char token[TOKEN_TEXT];
    rand_init(&rand);
    snprintf(token, sizeof token, "%016llx", (unsigned long long)rand_u64(&rand));
    for (size_t i = 0; i < d->count; i++) {
        struct half *half = &d->halves[i];
        bool there = DISPATCH_ASK(d, half, 1, &arena, &reply, STR("fill"), str_of(token));
        snprintf(half->token, sizeof half->token, STR_FMT,
                 STR_ARG(there ? reply.items[0].text : str_of(token)));
    }
}

static void dispatch_filled(struct broker *broker)
{
    struct dispatch *d = dispatch_of(broker);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct redis_reply reply;
    for (size_t i = 0; i < d->count; i++) {
        struct half *half = &d->halves[i];
        (void)!DISPATCH_ASK(d, half, 0, &arena, &reply, STR("filled"), str_of(half->token),
                            str_of(half->identity));
        half->token[0] = '\0';
    }
}

/* ---- What an older version has left ----
 *
 * The layout of the hints is part of their keys' name: {dispatch3}, once {dispatch2} and
 * {dispatch}. A version with another layout fills its own from the store, and what the older one
 * left is removed a piece at a time when no node uses it any more; the leader of the fleet knows.
 */

/* MATCH takes a pattern, and a prefix of keys may have anything in it but braces. */
static struct str any_keys(struct str prefix, struct arena *arena)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(KIB);
    for (size_t i = 0; i < prefix.len; i++) {
        if (memchr("*?[]^\\", prefix.ptr[i], 6) != NULL) {
            buf_char(&out, '\\');
        }
        buf_char(&out, prefix.ptr[i]);
    }
    buf_c(&out, "{dispatch*}:*");
    return arena_str(arena, buf_view(&out));
}

static void tidy_piece(struct dispatch *d, struct half *half)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct redis_reply *replies;
    struct str at = half->cursor[0] == '\0' ? STR("0") : str_of(half->cursor);
    REDIS_ADD(half->redis, STR("SCAN"), at, STR("MATCH"), d->any_keys, STR("COUNT"),
              STR(TIDY_KEYS));
    if (!redis_run(half->redis, &arena, &replies, NULL) || replies->kind != REDIS_LIST ||
        replies->number != 2) {
        return; /* it goes on from here when Redis is back */
    }
    struct str next = arena_str(&arena, replies->items[0].text);
    struct redis_reply keys = replies->items[1];
    for (int64_t i = 0; i < keys.number; i++) {
        if (!str_starts(keys.items[i].text, d->base)) {
            /* Freed in the background, however much it is. */
            REDIS_ADD(half->redis, STR("UNLINK"), keys.items[i].text);
        }
    }
    (void)!redis_run(half->redis, &arena, &replies, NULL);
    half->tidy = str_is(next, "0");
    snprintf(half->cursor, sizeof half->cursor, STR_FMT, STR_ARG(next));
}

static bool dispatch_tidy(struct broker *broker)
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

/* ---- Life ---- */

static void dispatch_close(struct broker *broker)
{
    struct dispatch *d = dispatch_of(broker);
    for (size_t i = 0; i < d->count; i++) {
        redis_close(d->halves[i].redis);
        arena_fini(&d->halves[i].texts);
        mem_free(d->halves[i].changes);
    }
    arena_fini(&d->lock_texts);
    arena_fini(&d->wake_texts);
    arena_fini(&d->texts);
    mem_free(d->locks);
    mem_free(d);
}

static size_t dispatch_memory(const struct broker *broker)
{
    const struct dispatch *d = HOLDER(broker, const struct dispatch, broker);
    size_t bytes = sizeof *d + d->locks_room * sizeof *d->locks;
    for (size_t i = 0; i < d->count; i++) {
        bytes += d->halves[i].room * sizeof(struct change);
    }
    return bytes;
}

static struct str base_of(struct str prefix, struct arena *arena)
{
    return arena_printf(arena, STR_FMT "{dispatch%d}:",
                        STR_ARG(str_absent(prefix) ? STR("errand:") : prefix), BROKER_LAYOUT);
}

struct str broker_home_key(struct str prefix, struct arena *arena)
{
    return arena_printf(arena, STR_FMT "probe", STR_ARG(base_of(prefix, arena)));
}

static void name_keys(struct dispatch *d, const struct broker_options *options)
{
    struct str prefix = str_absent(options->prefix) ? STR("errand:") : options->prefix;
    struct str node = str_absent(options->node) ? STR("-") : options->node;
    d->prefix = arena_str(&d->texts, prefix);
    d->node = arena_str(&d->texts, node);
    d->base = base_of(prefix, &d->texts);
    d->any_keys = any_keys(prefix, &d->texts);
    d->channel = arena_printf(&d->texts, STR_FMT "wake", STR_ARG(prefix));
    redis_script_init(&d->script, str_of(lua_dispatch));
    d->script.many_keys = true;
    redis_script_init(&d->renew, str_of(lua_renew));
    redis_script_init(&d->release, str_of(lua_release));
}

static bool open_half(struct dispatch *d, struct str url, const struct broker_options *options,
                      struct err *err)
{
    struct half *half = &d->halves[d->count];
    const struct redis_options redis = {.url = url,
                                        .tls = options->tls,
                                        .probe_key = broker_home_key(d->prefix, &d->texts),
                                        .command_ms = options->command_ms};
    if (!redis_open(&redis, &half->redis, err)) {
        return false;
    }
    half->health = BROKER_FILLING;
    d->count++;
    return true;
}

static const struct broker_ops dispatch_ops = {
    .kind = "redis",
    .close = dispatch_close,
    .offer = dispatch_offer,
    .offer_again = dispatch_offer_again,
    .withdraw = dispatch_withdraw,
    .take = dispatch_take,
    .give_back = dispatch_offer, /* which lets its document go */
    .lock = dispatch_lock,
    .hold = dispatch_hold,
    .let_go = dispatch_let_go,
    .flush = dispatch_flush,
    .health = dispatch_health,
    .check = dispatch_check,
    .doubt = dispatch_doubt,
    .empty = dispatch_empty,
    .fill = dispatch_fill,
    .filled = dispatch_filled,
    .tidy = dispatch_tidy,
    .document = dispatch_document,
    .held = dispatch_held,
    .knows = dispatch_knows,
    .ready_count = dispatch_ready_count,
    .has = dispatch_has,
    .memory = dispatch_memory,
};

/* A Redis that does not answer is no reason not to start: it is away, and comes back by itself. */
bool dispatch_open(const struct broker_options *options, struct broker **out, struct err *err)
{
    struct str prefix = options->prefix;
    bool braces = prefix.len > 0 && (memchr(prefix.ptr, '{', prefix.len) != NULL ||
                                     memchr(prefix.ptr, '}', prefix.len) != NULL);
    if (braces || prefix.len > PREFIX_MAX) {
        return err_field(err, "broker", "a prefix of keys has at most %d characters and no braces",
                         PREFIX_MAX);
    }
    struct dispatch *d = mem_new(struct dispatch);
    d->broker.ops = &dispatch_ops;
    name_keys(d, options);
    bool two = !str_absent(options->low_url) && !str_eq(options->low_url, options->url);
    if (!open_half(d, options->url, options, err) ||
        (two && !open_half(d, options->low_url, options, err))) {
        dispatch_close(&d->broker);
        return false;
    }
    for (size_t i = 0; i < d->count; i++) {
        redis_wait(d->halves[i].redis, OPEN_WAIT_MS);
    }
    *out = &d->broker;
    return true;
}
