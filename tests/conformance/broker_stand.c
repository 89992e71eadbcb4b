/* tests/conformance/broker_stand.c: a broker under test. See broker_suite.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "broker_suite.h"
#include "test.h"

static void on_ready(void *arg, struct str queue, struct str type)
{
    struct stand *s = arg;
    CHECK(s->calls_count < STAND_CALLS_MAX);
    s->calls[s->calls_count++] =
        arena_printf(&s->arena, STR_FMT "/" STR_FMT, STR_ARG(queue), STR_ARG(type));
}

void stand_init(struct stand *s)
{
    struct err err = ERR_INIT;
    *s = (struct stand){.arena = ARENA_INIT};
    struct broker_options options = {.ready = on_ready, .arg = s};
    broker_suite_options(&options);
    CHECK_OK(broker_open(&options, &s->broker, &err));
    broker_filled(s->broker); /* with nothing: there is no store behind it */
}

void stand_fini(struct stand *s)
{
    broker_close(s->broker);
    arena_fini(&s->arena);
}

struct task_id stand_id(uint64_t number)
{
    return (struct task_id){number, number * 7 + 1};
}

struct hint stand_hint(uint64_t number, struct hint hint)
{
    hint.id = stand_id(number);
    hint.type = str_absent(hint.type) ? STR("t") : hint.type;
    hint.queue = str_absent(hint.queue) ? STR("q") : hint.queue;
    hint.priority = hint.priority == 0 ? TASK_NORMAL : hint.priority;
    hint.queued_ms = hint.queued_ms == 0 ? 1000 : hint.queued_ms;
    return hint;
}

void stand_offer_hint(struct stand *s, struct hint hint)
{
    broker_offer(s->broker, &hint);
    broker_flush(s->broker);
}

void stand_withdraw_hint(struct stand *s, struct hint hint)
{
    broker_withdraw(s->broker, &hint);
}

bool stand_knows(struct stand *s, uint64_t number)
{
    struct hint hint = stand_hint(number, (struct hint){0});
    return broker_knows(s->broker, &hint);
}

struct str stand_take(struct stand *s, size_t max, struct want want)
{
    struct hint *hints = arena_array(&s->arena, struct hint, max);
    size_t count = broker_take(s->broker, &want, max, hints, &s->arena);
    struct buf text = BUF_INIT(KIB);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&text, i == 0 ? "%llu" : " %llu", (unsigned long long)hints[i].id.hi);
    }
    struct str copy = arena_str(&s->arena, buf_view(&text));
    buf_fini(&text);
    return copy;
}
