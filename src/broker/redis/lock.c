/* broker/redis/lock.c: the lock of a document that everybody can see, under PREFIX doclock:{ID}.
 *
 * It only saves claims that the store would refuse. A hint whose document is locked by somebody
 * else is put in line behind it, in three steps: the lock was refused; the hint stands behind
 * "?LOCK"; is that lock still there? If not, its end may have come before the second step and found
 * nobody to bring forward, so it is brought forward here.
 *
 * Thread: engine. Keeps: G3 together with the store.
 *
 * SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "broker/redis/dispatch.h"

static struct str lock_key(const struct dispatch *d, struct str document, struct arena *arena)
{
    return arena_printf(arena, STR_FMT "doclock:{" STR_FMT "}", STR_ARG(d->prefix),
                        STR_ARG(document));
}

void dispatch_lock_change(struct dispatch *d, const struct redis_script *script,
                          struct str document, struct str value)
{
    if (d->locks_count == LOCKS_MAX) {
        return; /* it has been away for long; the lock ends by itself */
    }
    *ARRAY_PUSH(d->locks, d->locks_count, d->locks_room) =
        (struct lock_change){.script = script,
                             .key = lock_key(d, document, &d->lock_texts),
                             .value = arena_str(&d->lock_texts, value)};
}

/* A hint that was refused, and the value of the lock that is in its way. */
struct refused {
    struct broker_lock *lock;
    struct str other;
};

static void park(struct dispatch *d, const struct refused *refused)
{
    const struct hint *hint = refused->lock->hint;
    struct half *home = dispatch_half_of(d, hint->priority);
    char id[TASK_ID_TEXT];
    for (size_t i = 0; i < d->count; i++) {
        struct half *half = &d->halves[i];
        const struct str args[] = {arena_str(&half->texts, hint->document),
                                   arena_str(&half->texts, id_text(hint->id, id)),
                                   arena_str(&half->texts, refused->other)};
        dispatch_change(half, "yield", args, ARRAY_LEN(args));
        if (half == home) {
            dispatch_change_offer(half, hint);
        }
    }
}

static void unpark(struct dispatch *d, const struct refused *refused)
{
    for (size_t i = 0; i < d->count; i++) {
        struct half *half = &d->halves[i];
        const struct str args[] = {arena_str(&half->texts, refused->lock->hint->document), STR(""),
                                   arena_str(&half->texts, refused->other)};
        dispatch_change(half, "let_go", args, ARRAY_LEN(args));
    }
}

static void send_all(struct dispatch *d)
{
    for (size_t i = 0; i < d->count; i++) {
        dispatch_send(d, &d->halves[i]);
    }
}

/* Is what they wait for still there? */
static void look_again(struct dispatch *d, const struct refused *refused, size_t n,
                       struct arena *arena)
{
    struct redis *redis = d->halves[0].redis;
    struct redis_reply *replies;
    for (size_t i = 0; i < n; i++) {
        REDIS_ADD(redis, STR("GET"), lock_key(d, refused[i].lock->hint->document, arena));
    }
    if (!redis_run(redis, arena, &replies, NULL)) {
        return; /* it will be filled anew */
    }
    for (size_t i = 0; i < n; i++) {
        if (!str_eq(replies[i].text, refused[i].other)) {
            unpark(d, &refused[i]);
        }
    }
    send_all(d);
}

static size_t add_locks(struct dispatch *d, struct broker_lock *locks, size_t n,
                        struct arena *arena)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        locks[i].granted = true; /* without a document, or with Redis away */
        if (!str_absent(locks[i].hint->document)) {
            REDIS_ADD(d->halves[0].redis, STR("SET"), lock_key(d, locks[i].hint->document, arena),
                      locks[i].lock, STR("NX"), STR("GET"), STR("PX"), STR(LOCK_NEW_MS));
            count++;
        }
    }
    return count;
}

static size_t read_refused(struct broker_lock *locks, size_t n, const struct redis_reply *replies,
                           struct refused *out)
{
    size_t at = 0, count = 0;
    for (size_t i = 0; i < n; i++) {
        if (str_absent(locks[i].hint->document)) {
            continue;
        }
        const struct redis_reply *reply = &replies[at++];
        if (reply->kind == REDIS_TEXT && !str_eq(reply->text, locks[i].lock)) {
            locks[i].granted = false; /* the value that was there before is another's */
            out[count++] = (struct refused){&locks[i], reply->text};
        }
    }
    return count;
}

void dispatch_lock(struct broker *broker, struct broker_lock *locks, size_t n)
{
    struct dispatch *d = dispatch_of(broker);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct redis_reply *replies;
    send_all(d);
    if (add_locks(d, locks, n, &arena) == 0 ||
        !redis_run(d->halves[0].redis, &arena, &replies, NULL)) {
        return;
    }
    struct refused *refused = arena_array(&arena, struct refused, n);
    size_t count = read_refused(locks, n, replies, refused);
    if (count == 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        park(d, &refused[i]);
    }
    send_all(d);
    look_again(d, refused, count, &arena);
}
