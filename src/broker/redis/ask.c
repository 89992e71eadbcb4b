/* broker/redis/ask.c: gathered changes first, then a question: one round trip if they are not many.
 *
 * Redis carries out what it has read of a pipeline before it answers the first of it, and each
 * answer has its time limit: so many changes go in several runs. What is sent to the first half
 * begins with the locks, so that a lock is gone before the next task of its document comes forward.
 * When a pipeline fails nobody knows how much of it was carried out: the half is then filled anew.
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

/* As many as one run may carry, from `*from` on. Returns how many scripts that are. */
static size_t add_changes(struct dispatch *d, struct half *half, size_t *from, struct arena *arena)
{
    size_t calls = 0;
    bool missed = half->health == BROKER_MISSED && *from == 0;
    while (calls < CALLS_PER_RUN && (*from < half->count || (missed && calls == 0))) {
        size_t n = MIN(half->count - *from, CHANGES_PER_CALL);
        add_piece(d, half, *from, n, missed && calls == 0, arena);
        *from += n;
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

/* Every answer of the script begins with: does it have all hints? */
static bool hear_health(struct half *half, const struct redis_reply *reply)
{
    bool whole = reply->kind == REDIS_LIST && reply->number > 0 &&
                 reply->items[0].kind == REDIS_NUMBER && reply->items[0].number == 1;
    half->health = health_next(half->health, whole ? BROKER_SAID_WHOLE : BROKER_SAID_EMPTY);
    return whole;
}

static void hear_changes(struct dispatch *d, struct half *half, const struct redis_reply *replies,
                         size_t calls)
{
    for (size_t i = 0; i < calls; i++) {
        bool whole = hear_health(half, &replies[i]);
        half->more = replies[i].number > 1 && replies[i].items[1].number == 1;
        for (int64_t j = 2; j < replies[i].number && whole; j++) {
            struct str type = replies[i].items[j].text, queue = str_cut(&type, ' ');
            dispatch_wake(d, queue, type);
        }
    }
}

/* A document that thousands of types wait for comes back in pieces. */
static void finish_changes(struct dispatch *d, struct half *half, struct arena *arena)
{
    const struct str words[] = {STR("change"), STR("0")};
    struct redis_reply *replies;
    while (half->more) {
        half->more = false;
        redis_add_script(half->redis, &d->script, d->base, words, ARRAY_LEN(words));
        if (redis_run(half->redis, arena, &replies, NULL)) {
            hear_changes(d, half, replies, 1);
        } /* else another node brings back the rest, with its next change */
    }
}

/* Everything gathered, in as many runs as it takes, and the question with the last. */
static bool run_all(struct dispatch *d, struct half *half, const struct str *words, size_t count,
                    struct arena *arena, struct redis_reply *out)
{
    size_t from = 0, sent = 0;
    bool last = false;
    while (!last) {
        struct redis_reply *replies;
        size_t locks = from == 0 ? add_locks(d, half) : 0;
        size_t calls = add_changes(d, half, &from, arena);
        last = from == half->count;
        if (last && count > 0) {
            redis_add_script(half->redis, &d->script, d->base, words, count);
        }
        if (!redis_run(half->redis, arena, &replies, NULL)) { /* logged with the open circuit */
            return false;
        }
        if (locks > 0) {
            locks_over(d, half);
        }
        hear_changes(d, half, replies + locks, calls);
        sent += calls;
        if (last && count > 0) {
            *out = replies[locks + calls];
        }
    }
    if (sent > 0 &&
        !half_complete(half)) { /* what is first there says little about what is ready */
        dispatch_wake_offered(d, half);
    }
    return true;
}

/* A question that failed may have been carried out: what it took is lost like a change. One that
 * was not sent, because the circuit was open, has done nothing. */
bool dispatch_ask(struct dispatch *d, struct half *half, const struct str *words, size_t count,
                  size_t least, struct arena *arena, struct redis_reply *out)
{
    bool unsent = redis_away(half->redis);
    if (unsent || !run_all(d, half, words, count, arena, out)) {
        half->health = health_next(half->health,
                                   unsent && half->count == 0 ? BROKER_LOST : BROKER_LOST_CHANGES);
        dispatch_wake_offered(d, half); /* whoever waits on this node asks the store meanwhile */
        changes_over(half);
        return false;
    }
    changes_over(half);
    finish_changes(d, half, arena);
    if (count == 0) {
        return true;
    }
    hear_health(half, out);
    out->items++;
    out->number--;
    return out->kind == REDIS_LIST && out->number >= (int64_t)least;
}

void dispatch_send(struct dispatch *d, struct half *half)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct redis_reply none;
    bool locks = is_first(d, half) && d->locks_count > 0;
    if (half->count > 0 || locks || half->health == BROKER_MISSED) {
        (void)!dispatch_ask(d, half, NULL, 0, 0, &arena, &none);
    }
}
