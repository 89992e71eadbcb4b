/* broker/redis/take.c: claims. The first half is asked, then the second for the rest.
 *
 * Thread: engine. Keeps: G3, G4.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/redis/dispatch.h"

#define HINT_WORDS 5

struct question {
    struct str *words;
    size_t count;
};

static struct str number(size_t value, struct arena *arena)
{
    return arena_printf(arena, "%zu", value);
}

/* VERB MAX ANY QUEUES [QUEUE ROOM]… [TYPE]… */
static struct question question_of(struct str verb, const struct want *want, size_t max,
                                   struct arena *arena)
{
    struct question q = {.count = 4};
    q.words = arena_array(arena, struct str, 4 + 2 * want->queues_count + want->types_count);
    q.words[0] = verb;
    q.words[1] = number(max, arena);
    q.words[2] = want->any_queue ? STR("1") : STR("0");
    q.words[3] = number(want->queues_count, arena);
    for (size_t i = 0; i < want->queues_count; i++) {
        q.words[q.count++] = want->queues[i].name;
        q.words[q.count++] = number(MIN(want->queues[i].room, max), arena);
    }
    for (size_t i = 0; i < want->types_count; i++) {
        q.words[q.count++] = want->types[i];
    }
    return q;
}

static bool read_hint(const struct redis_reply *items, struct hint *out)
{
    int64_t score;
    struct str document = items[4].text;
    *out = (struct hint){.queue = items[2].text, .type = items[3].text};
    out->document = document.len == 0 ? STR_NONE : str_from(document, 1);
    if (!id_parse(items[0].text, &out->id) || !str_i64(items[1].text, &score)) {
        return false;
    }
    dispatch_read_score(score, out);
    return true;
}

/* What one half has given leaves less room in its queue, and holds its document for the other. */
static void note_taken(struct dispatch *d, const struct half *from, const struct hint *hint,
                       struct want_queue *queues, size_t queues_count)
{
    char id[TASK_ID_TEXT];
    for (size_t i = 0; i < queues_count; i++) {
        if (queues[i].room != SIZE_MAX && str_eq(queues[i].name, hint->queue)) {
            queues[i].room--;
        }
    }
    for (size_t i = 0; i < d->count && !str_absent(hint->document); i++) {
        struct half *half = &d->halves[i];
        if (half != from) {
            const struct str args[] = {arena_str(&half->texts, hint->document),
                                       arena_str(&half->texts, id_text(hint->id, id))};
            dispatch_change(half, STR("hold"), args, ARRAY_LEN(args));
        }
    }
}

/* One call. *more: it has taken all that one call may, or passed over so many held documents that
 * it left off looking. */
static size_t take_from(struct dispatch *d, struct half *half, const struct want *want, size_t max,
                        struct hint *out, bool *more, struct arena *arena)
{
    size_t most = MIN(max, (size_t)TAKES_PER_CALL), n = 0;
    struct question q = question_of(STR("take"), want, most, arena);
    struct redis_reply reply;
    *more = false;
    if (!dispatch_ask(d, half, q.words, q.count, 1, arena, &reply)) {
        return 0;
    }
    for (int64_t i = 1; i + HINT_WORDS <= reply.number && n < most; i += HINT_WORDS) {
        n += read_hint(&reply.items[i], &out[n]);
    }
    *more = reply.items[0].number == 1 || n == most;
    return n;
}

size_t dispatch_take(struct broker *broker, const struct want *want, size_t max, struct hint *out,
                     struct arena *arena)
{
    struct dispatch *d = dispatch_of(broker);
    struct want left = *want;
    struct want_queue *queues = arena_array(arena, struct want_queue, want->queues_count);
    size_t n = 0;
    for (size_t i = 0; i < want->queues_count; i++) {
        queues[i] = want->queues[i];
    }
    left.queues = queues;
    for (size_t i = 0; i < d->count; i++) {
        bool more = true;
        while (more && n < max) {
            size_t got = take_from(d, &d->halves[i], &left, max - n, out + n, &more, arena);
            for (size_t j = 0; j < got; j++) {
                note_taken(d, &d->halves[i], &out[n + j], queues, want->queues_count);
            }
            n += got;
        }
    }
    return n;
}

/* Who cannot say, says yes: the claim then finds out. */
bool dispatch_has(struct broker *broker, const struct want *want)
{
    struct dispatch *d = dispatch_of(broker);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct question q = question_of(STR("has"), want, 1, &arena);
    for (size_t i = 0; i < d->count; i++) {
        struct redis_reply reply;
        bool more = true;
        while (more) {
            if (!dispatch_ask(d, &d->halves[i], q.words, q.count, 2, &arena, &reply) ||
                !half_complete(&d->halves[i]) || reply.items[1].number == 1) {
                return true;
            }
            more = reply.items[0].number == 1;
        }
    }
    return false;
}
