/* broker/redis/take.c: what is asked of Redis: claims, which take, and looks, which change nothing.
 * A claim asks the first half, then the second for the rest; a half that is away knows nothing.
 *
 * Thread: engine. Keeps: G3, G4.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/redis/dispatch.h"

#define RUN_ITEMS 3 /* lane, document, tasks */

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

/* What Redis holds others may have written: a score must be one of ours. */
static bool read_task(struct str id, struct str score, struct hint *out)
{
    int64_t number;
    if (!id_parse(id, &out->id) || !str_i64(score, &number)) {
        return false;
    }
    dispatch_read_score(number, out);
    return number >= 0 && out->priority >= TASK_LOW && out->priority <= TASK_CRITICAL;
}

/* A run: LANE DOCUMENT TASKS. The document is "" or "=DOCUMENT", the tasks are "ID SCORE ID
 * SCORE…". Returns how many hints it holds. */
static size_t read_run(const struct redis_reply *run, struct hint *out, size_t room)
{
    struct str type = run[0].text, queue = str_cut(&type, ' '), tasks = run[2].text;
    struct str document = run[1].text.len == 0 ? STR_NONE : str_from(run[1].text, 1);
    size_t n = 0;
    while (n < room && !str_absent(tasks)) {
        struct str id = str_cut(&tasks, ' '), score = str_cut(&tasks, ' ');
        out[n] = (struct hint){.queue = queue, .type = type, .document = document};
        n += read_task(id, score, &out[n]);
    }
    return n;
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
            dispatch_change(half, "hold", args, ARRAY_LEN(args));
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
    for (int64_t at = 1; at + RUN_ITEMS <= reply.number; at += RUN_ITEMS) {
        n += read_run(&reply.items[at], &out[n], most - n);
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

/* ---- Looking ---- */

/* Somebody's lock, of whom no more is known, is held by nobody that has a name. */
static void read_holder(struct str text, struct broker_document *out)
{
    out->held = text.len > 0;
    if (!id_parse(text, &out->holder)) {
        out->holder = TASK_ID_NONE;
    }
}

/* Who waits for it is not told: nodes that share a broker ask the rows. */
void dispatch_document(struct broker *broker, struct str document, size_t most, struct arena *arena,
                       struct broker_document *out)
{
    struct dispatch *d = dispatch_of(broker);
    struct redis_reply reply;
    (void)most;
    *out = (struct broker_document){.document = arena_str(arena, document)};
    if (DISPATCH_ASK(d, &d->halves[0], 1, arena, &reply, STR("holder"), document)) {
        read_holder(reply.items[0].text, out);
    }
}

size_t dispatch_held(struct broker *broker, uint64_t *cursor, size_t most, struct arena *arena,
                     struct broker_document **out)
{
    struct dispatch *d = dispatch_of(broker);
    struct redis_reply reply;
    struct str at = arena_printf(arena, "%llu", (unsigned long long)*cursor);
    *out = NULL;
    *cursor = 0;
    if (!DISPATCH_ASK(d, &d->halves[0], 1, arena, &reply, STR("held"), at,
                      arena_printf(arena, "%zu", MAX(most, (size_t)1))) ||
        !str_u64(reply.items[0].text, cursor)) {
        return 0;
    }
    size_t n = (size_t)(reply.number - 1) / 2;
    *out = arena_array(arena, struct broker_document, n);
    for (size_t i = 0; i < n; i++) {
        (*out)[i].document = reply.items[1 + 2 * i].text;
        read_holder(reply.items[2 + 2 * i].text, &(*out)[i]);
    }
    return n;
}

bool dispatch_knows(struct broker *broker, const struct hint *hint)
{
    struct dispatch *d = dispatch_of(broker);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    char text[TASK_ID_TEXT];
    bool known = false;
    for (size_t i = 0; i < d->count && !known; i++) {
        struct redis_reply reply;
        known = DISPATCH_ASK(d, &d->halves[i], 1, &arena, &reply, STR("knows"),
                             id_text(hint->id, text), hint->queue, hint->type) &&
                reply.items[0].number == 1;
    }
    return known;
}

size_t dispatch_ready_count(struct broker *broker)
{
    struct dispatch *d = dispatch_of(broker);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    size_t n = 0;
    for (size_t i = 0; i < d->count; i++) {
        struct redis_reply reply;
        if (!DISPATCH_ASK(d, &d->halves[i], 1, &arena, &reply, STR("count")) ||
            !half_complete(&d->halves[i])) {
            return SIZE_MAX; /* who knows? */
        }
        n += (size_t)reply.items[0].number;
    }
    return n;
}
