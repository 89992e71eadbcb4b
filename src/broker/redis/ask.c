/* broker/redis/ask.c: one round trip: gathered changes first, then a question.
 *
 * A pipeline of the first half begins with the locks, so that a lock is gone before the next task
 * of its document comes forward. When a pipeline fails nobody knows how much of it was carried out:
 * the half is then filled anew.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/redis/dispatch.h"

static bool is_first(const struct dispatch *d, const struct half *half)
{
    return half == &d->halves[0];
}

static size_t add_locks(struct dispatch *d, struct half *half)
{
    size_t n = is_first(d, half) ? d->locks_count : 0;
    for (size_t i = 0; i < n; i++) {
        const struct lock_change *lock = &d->locks[i];
        const struct str words[] = {lock->value, STR(LOCK_MS)};
        redis_add_script(half->redis, lock->script, lock->key, words, ARRAY_LEN(words));
    }
    return n;
}

static void add_piece(struct dispatch *d, struct half *half, size_t from, size_t n, bool lost,
                      struct arena *arena)
{
    struct str *words = arena_array(arena, struct str, 2 + n * CHANGE_WORDS);
    words[0] = STR("change");
    words[1] = lost ? STR("1") : STR("0");
    for (size_t i = 0; i < n * CHANGE_WORDS; i++) {
        words[2 + i] = half->words[from * CHANGE_WORDS + i];
    }
    redis_add_script(half->redis, &d->script, d->base, words, 2 + n * CHANGE_WORDS);
}

/* Returns how many scripts carry them. */
static size_t add_changes(struct dispatch *d, struct half *half, struct arena *arena)
{
    size_t calls = 0, from = 0;
    while (from < half->count || (half->lost && calls == 0)) {
        size_t n = MIN(half->count - from, CHANGES_PER_CALL);
        add_piece(d, half, from, n, half->lost && calls == 0, arena);
        from += n;
        calls++;
    }
    return calls;
}

static void changes_over(struct half *half)
{
    half->count = 0;
    arena_clear(&half->texts);
}

static void locks_over(struct dispatch *d, struct half *half)
{
    if (is_first(d, half)) {
        d->locks_count = 0;
        arena_clear(&d->lock_texts);
    }
}

/* Whoever waits here asks the store meanwhile. */
static void gone(struct dispatch *d, struct half *half)
{
    half->filled = false;
    dispatch_wake_offered(d, half);
    changes_over(half);
}

static bool read_filled(struct half *half, const struct redis_reply *reply)
{
    half->filled = reply->kind == REDIS_LIST && reply->number > 0 &&
                   reply->items[0].kind == REDIS_NUMBER && reply->items[0].number == 1;
    return half->filled;
}

static void hear_changes(struct dispatch *d, struct half *half, const struct redis_reply *replies,
                         size_t calls)
{
    for (size_t i = 0; i < calls; i++) {
        bool filled = read_filled(half, &replies[i]);
        for (int64_t j = 1; j < replies[i].number && filled; j++) {
            struct str type = replies[i].items[j].text, queue = str_cut(&type, ' ');
            dispatch_wake(d, queue, type);
        }
    }
    if (calls > 0 && !half->filled) { /* what is first there says little about what is ready */
        dispatch_wake_offered(d, half);
    }
    half->lost = false;
    changes_over(half);
}

bool dispatch_ask(struct dispatch *d, struct half *half, const struct str *words, size_t count,
                  size_t least, struct arena *arena, struct redis_reply *out)
{
    struct redis_reply *replies;
    if (redis_away(half->redis)) {
        half->lost = half->lost || half->count > 0;
        gone(d, half);
        return false;
    }
    size_t locks = add_locks(d, half), calls = add_changes(d, half, arena);
    if (count > 0) {
        redis_add_script(half->redis, &d->script, d->base, words, count);
    }
    if (!redis_run(half->redis, arena, &replies, NULL)) { /* logged by whoever opens the circuit */
        half->lost = true;
        gone(d, half);
        return false;
    }
    locks_over(d, half);
    hear_changes(d, half, replies + locks, calls);
    if (count == 0) {
        return true;
    }
    *out = replies[locks + calls];
    read_filled(half, out);
    out->items++;
    out->number--;
    return out->kind == REDIS_LIST && out->number >= (int64_t)least;
}

void dispatch_send(struct dispatch *d, struct half *half)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct redis_reply none;
    bool locks = is_first(d, half) && d->locks_count > 0;
    if (half->count > 0 || locks || half->lost) {
        (void)!dispatch_ask(d, half, NULL, 0, 0, &arena, &none);
    }
}
