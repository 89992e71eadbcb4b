/* broker/redis/look.c: questions that change nothing. A half that is away knows nothing.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/redis/dispatch.h"

/* Somebody's lock, of whom no more is known, is held by nobody that has a name. */
static void read_holder(struct str text, struct broker_document *out)
{
    out->held = text.len > 0;
    if (!id_parse(text, &out->holder)) {
        out->holder = TASK_ID_NONE;
    }
}

static void add_waiting(const struct redis_reply *reply, struct arena *arena,
                        struct broker_document *out)
{
    struct task_id *all =
        arena_array(arena, struct task_id, out->waiting_count + (size_t)reply->number);
    for (size_t i = 0; i < out->waiting_count; i++) {
        all[i] = out->waiting[i];
    }
    for (int64_t i = 2; i < reply->number; i++) {
        out->waiting_count += id_parse(reply->items[i].text, &all[out->waiting_count]);
    }
    out->waiting = all;
}

void dispatch_document(struct broker *broker, struct str document, size_t most, struct arena *arena,
                       struct broker_document *out)
{
    struct dispatch *d = dispatch_of(broker);
    *out = (struct broker_document){.document = arena_str(arena, document)};
    for (size_t i = 0; i < d->count; i++) { /* whatever is urgent waits on the first */
        struct redis_reply reply;
        struct str left = arena_printf(arena, "%zu", most - out->waiting_count);
        if (!DISPATCH_ASK(d, &d->halves[i], 2, arena, &reply, STR("document"), document, left)) {
            continue;
        }
        if (!out->held) {
            read_holder(reply.items[0].text, out);
        }
        add_waiting(&reply, arena, out);
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

/* All of the document that are more urgent than anything on a later half. */
static size_t waiting_before(struct dispatch *d, size_t half, struct str document,
                             struct arena *arena)
{
    struct redis_reply reply;
    size_t n = 0;
    for (size_t i = 0; i < half; i++) {
        if (DISPATCH_ASK(d, &d->halves[i], 2, arena, &reply, STR("document"), document, STR("0"))) {
            n += (size_t)reply.items[1].number;
        }
    }
    return n;
}

size_t dispatch_ahead(struct broker *broker, struct task_id id)
{
    struct dispatch *d = dispatch_of(broker);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    char text[TASK_ID_TEXT];
    for (size_t i = 0; i < d->count; i++) {
        struct redis_reply reply;
        if (DISPATCH_ASK(d, &d->halves[i], 3, &arena, &reply, STR("ahead"), id_text(id, text)) &&
            reply.items[0].number == 1) {
            struct str document = reply.items[1].text;
            return (size_t)reply.items[2].number +
                   (document.len == 0 ? 0 : waiting_before(d, i, str_from(document, 1), &arena));
        }
    }
    return 0;
}

bool dispatch_knows(struct broker *broker, struct task_id id)
{
    struct dispatch *d = dispatch_of(broker);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    char text[TASK_ID_TEXT];
    bool known = false;
    for (size_t i = 0; i < d->count && !known; i++) {
        struct redis_reply reply;
        known =
            DISPATCH_ASK(d, &d->halves[i], 1, &arena, &reply, STR("knows"), id_text(id, text)) &&
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

int64_t dispatch_oldest_ms(struct broker *broker, struct str queue)
{
    struct dispatch *d = dispatch_of(broker);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    int64_t oldest_ms = INT64_MAX, found_ms;
    for (size_t i = 0; i < d->count; i++) {
        struct redis_reply reply;
        if (DISPATCH_ASK(d, &d->halves[i], 1, &arena, &reply, STR("oldest"), queue) &&
            str_i64(reply.items[0].text, &found_ms)) {
            oldest_ms = MIN(oldest_ms, found_ms);
        }
    }
    return oldest_ms;
}
