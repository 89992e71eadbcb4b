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
#include <stdio.h>

#include "base/array.h"
#include "broker/redis/dispatch.h"

#define MESSAGE_MAX  (64 * KIB)
#define LEVEL_MS     ((int64_t)1 << 44) /* room for queued_ms below the priority */
#define PRIORITY_MAX 4
#define SCORE_TEXT   24
#define CALL_WORDS   4 /* of a call of the script before its changes */
#define CHANGE_HEAD                                                                                \
    2 /* words before the arguments of a change: its verb, and how many they are                   \
       */

static const char offer_verb[] = "offer", offer_of_document_verb[] = "offer_of_document",
                  withdraw_verb[] = "withdraw";

/* ---- Waking ---- */

static void wake_here(struct dispatch *d, struct str queue, struct str type)
{
    if (d->broker.ready != NULL) {
        d->broker.ready(d->broker.arg, queue, type);
    }
}

static void wake_all(struct dispatch *d, struct str queue, struct str type)
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
    wake_here(d, queue, type);
}

/* Everything that was offered counts as better than before. Tasks of one make come in rows: each
 * row is told once. */
static void wake_offered(struct dispatch *d, const struct half *half)
{
    const struct str *last = NULL;
    for (size_t i = 0; i < half->count; i++) {
        const struct change *change = &half->changes[i];
        bool alone = change->verb == offer_of_document_verb;
        const struct str *lane = alone ? change->words + 2 : change->words;
        if ((alone || change->verb == offer_verb) &&
            (last == NULL || !str_eq(last[0], lane[0]) || !str_eq(last[1], lane[1]))) {
            wake_all(d, lane[0], lane[1]);
            last = lane;
        }
    }
}

/* Of what the script itself has not told them. */
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

/* One call of the script, with as many of the changes from `from` on as it may carry. The script
 * wakes other nodes itself, if it runs where they listen. Returns how many it carries. */
static size_t add_call(struct dispatch *d, struct half *half, size_t from, bool missed,
                       struct arena *arena)
{
    size_t n = 0, work = 0, count = CALL_WORDS;
    while (from + n < half->count &&
           (n == 0 || work + half->changes[from + n].work <= WORK_PER_CALL)) {
        work += half->changes[from + n].work;
        count += CHANGE_HEAD + half->changes[from + n].count;
        n++;
    }
    struct str *words = arena_array(arena, struct str, count), *at = words;
    *at++ = STR("change");
    *at++ = missed ? STR("1") : STR("0");
    *at++ = is_first(d, half) ? d->channel : STR("");
    *at++ = d->node;
    for (size_t i = from; i < from + n; i++) {
        const struct change *change = &half->changes[i];
        *at++ = str_of(change->verb);
        *at++ = arena_printf(arena, "%zu", change->count);
        memcpy(at, change->words, change->count * sizeof *at);
        at += change->count;
    }
    redis_add_script(half->redis, &d->script, d->base, words, count);
    return n;
}

/* As many as one run may carry, from `*from` on. Returns how many scripts that are. */
static size_t add_changes(struct dispatch *d, struct half *half, size_t *from, struct arena *arena)
{
    size_t calls = 0;
    bool missed = half->health == BROKER_MISSED && *from == 0;
    if (half->unproven && *from == 0) {
        const struct str words[] = {STR("health"), str_of(half->identity)};
        redis_add_script(half->redis, &d->script, d->base, words, ARRAY_LEN(words));
        calls++;
    }
    while (calls < CALLS_PER_RUN && (*from < half->count || missed)) {
        *from += add_call(d, half, *from, missed, arena);
        missed = false;
        calls++;
    }
    return calls;
}

static void changes_over(struct half *half)
{
    half->count = half->work = 0;
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
            (is_first(d, half) ? wake_here : wake_all)(d, queue, type);
        }
    }
}

/* The lanes of a document that was let go come back in pieces, if there are thousands of them. */
static void finish_changes(struct dispatch *d, struct half *half, struct arena *arena)
{
    struct redis_reply *replies;
    while (half->more) {
        half->more = false;
        (void)add_call(d, half, half->count, false, arena);
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
        half->unproven = false;
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

/* A new connection may lead to another server. What was filled there is known by that one's name,
 * and a filling that was begun elsewhere is none. */
static void meet_server(struct half *half)
{
    struct str identity;
    if (redis_connected(half->redis, &identity)) {
        bool other = !str_is(identity, half->identity);
        snprintf(half->identity, sizeof half->identity, STR_FMT, STR_ARG(identity));
        half->unproven = true;
        if (other && half->token[0] != '\0') {
            snprintf(half->token, sizeof half->token, "elsewhere");
        }
    }
}

/* A question that failed may have been carried out: what it took is lost like a change. One that
 * was not sent, because the circuit was open, has done nothing. */
bool dispatch_ask(struct dispatch *d, struct half *half, const struct str *words, size_t count,
                  size_t least, struct arena *arena, struct redis_reply *out)
{
    bool unsent = redis_away(half->redis);
    meet_server(half);
    if (unsent || !run_all(d, half, words, count, arena, out)) {
        half->health = health_next(half->health,
                                   unsent && half->count == 0 ? BROKER_LOST : BROKER_LOST_CHANGES);
        wake_offered(d, half); /* whoever waits on this node asks the store meanwhile */
        changes_over(half);
        return false;
    }
    finish_changes(d, half, arena);
    changes_over(half);
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

static struct str score_word(const struct hint *hint, struct arena *arena)
{
    char text[SCORE_TEXT];
    int64_t queued_ms = MAX(0, MIN(hint->queued_ms, LEVEL_MS - 1));
    int64_t score = (PRIORITY_MAX - (int64_t)hint->priority) * LEVEL_MS + queued_ms;
    int len = snprintf(text, sizeof text, "%lld", (long long)score);
    return arena_str(arena, (struct str){text, (size_t)len});
}

void dispatch_read_score(int64_t score, struct hint *hint)
{
    hint->priority = (enum task_priority)(PRIORITY_MAX - score / LEVEL_MS);
    hint->queued_ms = score % LEVEL_MS;
}

static void add_word(struct half *half, struct change *change, struct str word)
{
    change->words =
        arena_grow(&half->texts, change->words, change->count, &change->room, sizeof word);
    change->words[change->count++] = word;
}

static struct change *add_change(struct half *half, const char *verb)
{
    struct change *change = ARRAY_PUSH(half->changes, half->count, half->room);
    *change = (struct change){.verb = verb};
    return change;
}

static void add_work(struct half *half, struct change *change, size_t work)
{
    change->work += work;
    half->work += work;
}

void dispatch_change(struct half *half, const char *verb, const struct str *args, size_t count)
{
    struct change *change = add_change(half, verb);
    for (size_t i = 0; i < count; i++) {
        add_word(half, change, args[i]);
    }
    add_work(half, change, DOCUMENT_WORK);
}

/* Tasks of one lane go together: QUEUE TYPE and then what is said of each. The order in which tasks
 * of several lanes are offered, or withdrawn, means nothing, so the last few changes of the same
 * kind are open to more. */
static struct change *run_of(struct half *half, const char *verb, const struct hint *hint)
{
    for (size_t i = half->count; i > 0 && half->count - i < RUNS_OPEN; i--) {
        struct change *change = &half->changes[i - 1];
        if (change->verb != verb) {
            break;
        }
        if (change->work < RUN_MAX && str_eq(change->words[0], hint->queue) &&
            str_eq(change->words[1], hint->type)) {
            return change;
        }
    }
    struct change *change = add_change(half, verb);
    add_word(half, change, arena_str(&half->texts, hint->queue));
    add_word(half, change, arena_str(&half->texts, hint->type));
    return change;
}

void dispatch_change_offer(struct half *half, const struct hint *hint)
{
    struct arena *texts = &half->texts;
    struct str id = id_word(hint->id, texts), score = score_word(hint, texts);
    if (!str_absent(hint->document)) {
        const struct str words[] = {id, score, arena_str(texts, hint->queue),
                                    arena_str(texts, hint->type), arena_str(texts, hint->document)};
        dispatch_change(half, offer_of_document_verb, words, ARRAY_LEN(words));
        return;
    }
    struct change *run = run_of(half, offer_verb, hint);
    add_word(half, run, score);
    add_word(half, run, id);
    add_work(half, run, 1);
}

static void change_withdraw(struct half *half, const struct hint *hint)
{
    struct change *run = run_of(half, withdraw_verb, hint);
    add_word(half, run, id_word(hint->id, &half->texts));
    add_work(half, run, str_absent(hint->document) ? 1 : DOCUMENT_WORK);
}

/* A reconciliation makes many changes and asks nothing in between. */
static void send_if_many(struct dispatch *d)
{
    for (size_t i = 0; i < d->count; i++) {
        if (d->halves[i].work >= WORK_MAX) {
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
    dispatch_change_offer(home, hint);
    for (size_t i = 0; i < d->count && !str_absent(hint->document); i++) {
        struct half *half = &d->halves[i];
        if (half != home) {
            const struct str args[] = {arena_str(&half->texts, hint->document),
                                       id_word(hint->id, &half->texts), STR("")};
            dispatch_change(half, "let_go", args, ARRAY_LEN(args));
        }
    }
    send_if_many(d);
}

/* A node that died between the two steps of a changed priority has left the task on both halves. */
void dispatch_offer_again(struct broker *broker, const struct hint *hints, size_t count)
{
    struct dispatch *d = dispatch_of(broker);
    for (size_t i = 0; i < count; i++) {
        dispatch_offer(broker, &hints[i]);
    }
    for (size_t i = 0; i < count && d->count > 1; i++) {
        const struct half *home = dispatch_half_of(d, hints[i].priority);
        change_withdraw(&d->halves[home == &d->halves[0] ? 1 : 0], &hints[i]);
    }
    send_if_many(d);
}

void dispatch_withdraw(struct broker *broker, const struct hint *hint)
{
    struct dispatch *d = dispatch_of(broker);
    change_withdraw(dispatch_half_of(d, hint->priority), hint);
    send_if_many(d);
}

static void change_document(struct dispatch *d, const char *verb, struct str document,
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
    change_document(d, "hold", document, holder, STR_NONE);
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
    change_document(d, "let_go", document, holder, lock);
}

void dispatch_flush(struct broker *broker)
{
    struct dispatch *d = dispatch_of(broker);
    for (size_t i = 0; i < d->count; i++) {
        dispatch_send(d, &d->halves[i]);
    }
    wake_others(d);
}
