/* broker/redis/wake.c: who should look again: this node at once, the others when all is sent.
 *
 * What the others hear is one message "NODE QUEUE…" for each batch; "*" stands for every queue.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/redis/dispatch.h"

#define MESSAGE_MAX (64 * KIB)
#define OFFERED     3 /* the queue's place among the words of an offer; the type is next */

static bool known(const struct dispatch *d, struct str queue)
{
    for (size_t i = 0; i < d->woken_count; i++) {
        if (str_eq(d->woken[i], queue)) {
            return true;
        }
    }
    return false;
}

void dispatch_wake(struct dispatch *d, struct str queue, struct str type)
{
    if (d->woken_count == WAKE_QUEUES_MAX) {
        d->woken_all = true;
    } else if (!known(d, queue)) {
        d->woken[d->woken_count++] = arena_str(&d->wake_texts, queue);
    }
    if (d->broker.ready != NULL) {
        d->broker.ready(d->broker.arg, queue, type);
    }
}

/* Everything that was offered counts as better than before. Tasks of one make come in rows: each
 * row is told once. */
void dispatch_wake_offered(struct dispatch *d, const struct half *half)
{
    const struct str *last = NULL;
    for (size_t i = 0; i < half->count; i++) {
        const struct str *words = half->words + i * CHANGE_WORDS;
        if (str_is(words[0], "offer") && (last == NULL || !str_eq(last[OFFERED], words[OFFERED]) ||
                                          !str_eq(last[OFFERED + 1], words[OFFERED + 1]))) {
            dispatch_wake(d, words[OFFERED], words[OFFERED + 1]);
            last = words;
        }
    }
}

static void write_message(const struct dispatch *d, struct buf *out)
{
    buf_str(out, d->node);
    for (size_t i = 0; i < d->woken_count && !d->woken_all; i++) {
        buf_char(out, ' ');
        buf_str(out, d->woken[i]);
    }
    buf_c(out, d->woken_all ? " *" : "");
}

void dispatch_wake_others(struct dispatch *d)
{
    SCOPED(buf_fini) struct buf message = BUF_INIT(MESSAGE_MAX);
    if (d->woken_count == 0) {
        return;
    }
    write_message(d, &message);
    if (!redis_away(d->halves[0].redis)) { /* else they look for themselves */
        (void)!redis_publish(d->halves[0].redis, d->channel, buf_view(&message), NULL);
    }
    d->woken_count = 0;
    d->woken_all = false;
    arena_clear(&d->wake_texts);
}
