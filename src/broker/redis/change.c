/* broker/redis/change.c: what a batch changes, gathered until somebody asks or flushes.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "broker/redis/dispatch.h"

#define LEVEL_MS     ((int64_t)1 << 44) /* room for queued_ms below the priority */
#define PRIORITY_MAX 4

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

/* Many changes without a question between them: the walk of a reconciliation. */
static void send_if_many(struct dispatch *d)
{
    for (size_t i = 0; i < d->count; i++) {
        if (d->halves[i].count >= CHANGES_MAX) {
            dispatch_send(d, &d->halves[i]);
        }
    }
}

/* The half where it does not live hears nothing of a task, unless it may still hold its document.
 */
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

/* Nobody holds it, says the reconciliation: then whoever has the lock lost it. */
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
    dispatch_wake_others(d);
}
