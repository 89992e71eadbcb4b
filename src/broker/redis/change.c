/* broker/redis/change.c: what a batch changes: gathered, sent with the next question, and told to
 * those who wait.
 *
 * Gathered changes go first, then the question: one round trip if they are not many. Redis carries
 * out what it has read of a pipeline before it answers the first of it, and each answer has its
 * time limit: so many changes go in several runs. What is sent to the first half begins with the
 * locks, so that a lock is gone before the next task of its document comes forward. When a pipeline
 * fails nobody knows how much of it was carried out: the half is then filled anew.
 *
 * Claims that wait on this node are woken at once, those of other nodes when all is sent, by one
 * message "NODE QUEUE…" for each batch; "*" stands for every queue.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "broker/redis/dispatch.h"

#define MESSAGE_MAX  (64 * KIB)
#define OFFERED      3 /* the queue's place among the words of an offer; the type is next */
#define LEVEL_MS     ((int64_t)1 << 44) /* room for queued_ms below the priority */
#define PRIORITY_MAX 4

/* ---- Waking ---- */

static void wake(struct dispatch *d, struct str queue, struct str type)
{
    size_t at = 0;
    while (at < d->woken_count && !str_eq(d->woken[at], queue)) {
        at++;
    }
    if (d->woken_count == WAKE_QUEUES_MAX) {
        d->woken_all = true;
    } else if (at == d->woken_count) {
        d->woken[d->woken_count++] = arena_str(&d->wake_texts, queue);
    }
    if (d->broker.ready != NULL) {
        d->broker.ready(d->broker.arg, queue, type);
    }
}

/* Everything that was offered counts as better than before. Tasks of one make come in rows: each
 * row is told once. */
static void wake_offered(struct dispatch *d, const struct half *half)
{
    const struct str *last = NULL;
    for (size_t i = 0; i < half->count; i++) {
        const struct str *words = half->words + i * CHANGE_WORDS;
        if (str_is(words[0], "offer") && (last == NULL || !str_eq(last[OFFERED], words[OFFERED]) ||
                                          !str_eq(last[OFFERED + 1], words[OFFERED + 1]))) {
            wake(d, words[OFFERED], words[OFFERED + 1]);
            last = words;
        }
    }
}

static void wake_others(struct dispatch *d)
{
    SCOPED(buf_fini) struct buf message = BUF_INIT(MESSAGE_MAX);
    if (d->woken_count == 0) {
        return;
    }
    buf_str(&message, d->node);
    for (size_t i = 0; i < d->woken_count && !d->woken_all; i++) {
        buf_char(&message, ' ');
        buf_str(&message, d->woken[i]);
    }
    buf_c(&message, d->woken_all ? " *" : "");
    if (!redis_away(d->halves[0].redis)) { /* else other nodes look for themselves */
        (void)!redis_publish(d->halves[0].redis, d->channel, buf_view(&message), NULL);
    }
    d->woken_count = 0;
    d->woken_all = false;
    arena_clear(&d->wake_texts);
}

/* ---- Sending ---- */

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

static void add_piece(struct dispatch *d, struct half *half, size_t from, size_t n, bool missed,
                      struct arena *arena)
{
    struct str *words = arena_array(arena, struct str, 2 + n * CHANGE_WORDS);
    words[0] = STR("change");
    words[1] = missed ? STR("1") : STR("0");
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
            wake(d, queue, type);
        }
    }
}

/* The lanes of a document that was let go come back in pieces, if there are thousands of them. */
static void finish_changes(struct dispatch *d, struct half *half, struct arena *arena)
{
    const struct str words[] = {STR("change"), STR("0")};
    struct redis_reply *replies;
    while (half->more) {
        half->more = false;
        redis_add_script(half->redis, &d->script, d->base, words, ARRAY_LEN(words));
        if (redis_run(half->redis, arena, &replies, NULL)) {
            hear_changes(d, half, replies, 1);
        } /* else anybody's next change brings back the rest */
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
            d->locks_count = 0;
            arena_clear(&d->lock_texts);
        }
        hear_changes(d, half, replies + locks, calls);
        sent += calls;
        if (last && count > 0) {
            *out = replies[locks + calls];
        }
    }
    if (sent > 0 && !half_complete(half)) {
        /* The script names lanes whose first task has changed, which says little while hints are
         * missing: claims ask the rows, where everything that was offered is news. */
        wake_offered(d, half);
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
        wake_offered(d, half); /* whoever waits on this node asks the store meanwhile */
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

/* ---- Gathering ---- */

struct half *dispatch_half_of(struct dispatch *d, enum task_priority priority)
{
    return &d->halves[priority >= TASK_HIGH ? 0 : d->count - 1];
}

static struct str id_word(struct task_id id, struct arena *arena)
{
    char text[TASK_ID_TEXT];
    return arena_str(arena, id_text(id, text));
}

struct hint_words dispatch_hint_words(const struct hint *hint, struct arena *arena)
{
    int64_t queued_ms = MAX(0, MIN(hint->queued_ms, LEVEL_MS - 1));
    int64_t score = (PRIORITY_MAX - (int64_t)hint->priority) * LEVEL_MS + queued_ms;
    return (struct hint_words){
        {id_word(hint->id, arena), arena_printf(arena, "%lld", (long long)score),
         arena_str(arena, hint->queue), arena_str(arena, hint->type),
         str_absent(hint->document) ? STR("")
                                    : arena_printf(arena, "=" STR_FMT, STR_ARG(hint->document))}};
}

void dispatch_read_score(int64_t score, struct hint *hint)
{
    hint->priority = (enum task_priority)(PRIORITY_MAX - score / LEVEL_MS);
    hint->queued_ms = score % LEVEL_MS;
}

void dispatch_change(struct half *half, struct str verb, const struct str *args, size_t count)
{
    if (half->count == half->room) {
        half->room = MAX(2 * half->room, 64);
        half->words = mem_array(half->words, half->room * CHANGE_WORDS, sizeof *half->words);
    }
    struct str *words = half->words + half->count++ * CHANGE_WORDS;
    words[0] = verb;
    for (size_t i = 1; i < CHANGE_WORDS; i++) {
        words[i] = i <= count ? args[i - 1] : STR("");
    }
}

/* A reconciliation makes many changes and asks nothing in between. */
static void send_if_many(struct dispatch *d)
{
    for (size_t i = 0; i < d->count; i++) {
        if (d->halves[i].count >= CHANGES_MAX) {
            dispatch_send(d, &d->halves[i]);
        }
    }
}

/* A task lives on one half. The other one hears nothing of it, unless it has a document, of which
 * both know who holds it: a task that is offered does not. */
void dispatch_offer(struct broker *broker, const struct hint *hint)
{
    struct dispatch *d = dispatch_of(broker);
    struct half *home = dispatch_half_of(d, hint->priority);
    struct hint_words words = dispatch_hint_words(hint, &home->texts);
    dispatch_change(home, STR("offer"), words.at, ARRAY_LEN(words.at));
    for (size_t i = 0; i < d->count && !str_absent(hint->document); i++) {
        struct half *half = &d->halves[i];
        if (half != home) {
            const struct str args[] = {arena_str(&half->texts, hint->document),
                                       id_word(hint->id, &half->texts)};
            dispatch_change(half, STR("let_go"), args, ARRAY_LEN(args));
        }
    }
    send_if_many(d);
}

/* A node that died between the two steps of a changed priority has left the task on both halves. */
static void say_elsewhere(struct dispatch *d, struct half *half, const struct hint *hints,
                          size_t count)
{
    struct str ids[ELSEWHERE_MAX];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (dispatch_half_of(d, hints[i].priority) != half) {
            ids[n++] = id_word(hints[i].id, &half->texts);
        }
        if (n == ELSEWHERE_MAX || (n > 0 && i + 1 == count)) {
            dispatch_change(half, STR("elsewhere"), ids, n);
            n = 0;
        }
    }
}

void dispatch_offer_again(struct broker *broker, const struct hint *hints, size_t count)
{
    struct dispatch *d = dispatch_of(broker);
    for (size_t i = 0; i < count; i++) {
        dispatch_offer(broker, &hints[i]);
    }
    for (size_t i = 0; i < d->count && d->count > 1; i++) {
        say_elsewhere(d, &d->halves[i], hints, count);
    }
    send_if_many(d);
}

void dispatch_withdraw(struct broker *broker, struct task_id id, enum task_priority priority)
{
    struct dispatch *d = dispatch_of(broker);
    for (size_t i = 0; i < d->count; i++) {
        struct half *half = &d->halves[i];
        if (priority == 0 || half == dispatch_half_of(d, priority)) {
            struct str word = id_word(id, &half->texts);
            dispatch_change(half, STR("withdraw"), &word, 1);
        }
    }
    send_if_many(d);
}

static void change_document(struct dispatch *d, struct str verb, struct str document,
                            struct task_id holder, struct str lock)
{
    for (size_t i = 0; i < d->count; i++) {
        struct half *half = &d->halves[i];
        const struct str args[] = {arena_str(&half->texts, document), id_word(holder, &half->texts),
                                   str_absent(lock) ? STR("") : arena_str(&half->texts, lock)};
        dispatch_change(half, verb, args, ARRAY_LEN(args));
    }
    send_if_many(d);
}

void dispatch_hold(struct broker *broker, struct str document, struct task_id holder,
                   struct str lock)
{
    struct dispatch *d = dispatch_of(broker);
    if (!str_absent(lock)) {
        dispatch_lock_change(d, &d->renew, document, lock);
    }
    change_document(d, STR("hold"), document, holder, STR_NONE);
}

/* The reconciliation lets a document go that no task holds: whoever still has its lock has lost it.
 */
static void release_foreign(struct dispatch *d, struct str document)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct redis_reply reply;
    if (DISPATCH_ASK(d, &d->halves[0], 1, &arena, &reply, STR("holder"), document) &&
        str_starts(reply.items[0].text, STR("?"))) {
        dispatch_lock_change(d, &d->release, document, str_from(reply.items[0].text, 1));
    }
}

void dispatch_let_go(struct broker *broker, struct str document, struct task_id holder,
                     struct str lock)
{
    struct dispatch *d = dispatch_of(broker);
    if (!str_absent(lock)) {
        dispatch_lock_change(d, &d->release, document, lock);
    } else if (id_none(holder)) {
        release_foreign(d, document);
    }
    change_document(d, STR("let_go"), document, holder, lock);
}

void dispatch_flush(struct broker *broker)
{
    struct dispatch *d = dispatch_of(broker);
    for (size_t i = 0; i < d->count; i++) {
        dispatch_send(d, &d->halves[i]);
    }
    wake_others(d);
}
