/* tests/broker/node.c: nodes of a fleet that share a Redis. See node.h.
 *
 * SPDX-License-Identifier: MIT */
#include "node.h"

#include "base/buf.h"
#include "base/clock.h"
#include "test.h"

static void on_ready(void *arg, struct str queue, struct str type)
{
    (void)queue;
    (void)type;
    ++*(size_t *)arg;
}

static void nobody_asks(void *arg, struct str queue, struct str type)
{
    (void)arg;
    (void)queue;
    (void)type;
}

static void open_nodes(struct fleet *f)
{
    struct err err = ERR_INIT;
    struct broker_options options = {.url = str_of(f->server.url),
                                     .low_url = f->low.pid == 0 ? STR_NONE : str_of(f->low.url),
                                     .node = STR("node-a"),
                                     .command_ms = REDIS_PATIENCE_MS,
                                     .ready = on_ready,
                                     .arg = &f->ready};
    CHECK_OK(broker_open(&options, &f->a, &err));
    options.node = STR("node-b");
    options.ready = nobody_asks;
    CHECK_OK(broker_open(&options, &f->b, &err));
    CHECK(broker_empty(f->a) && asks_rows(f->a));
    broker_filled(f->a);
    CHECK(!asks_rows(f->a) && !asks_rows(f->b));
}

void fleet_init(struct fleet *f)
{
    *f = (struct fleet){0};
    redis_server_start(&f->server);
    open_nodes(f);
}

void fleet_init_two(struct fleet *f)
{
    *f = (struct fleet){0};
    redis_server_start(&f->server);
    redis_server_start(&f->low);
    open_nodes(f);
}

void fleet_fini(struct fleet *f)
{
    broker_close(f->a);
    broker_close(f->b);
    redis_server_stop(&f->server);
    redis_server_stop(&f->low);
    arena_fini(&f->arena);
}

struct task_id number_id(uint64_t number)
{
    return (struct task_id){number, number * 7 + 1};
}

struct hint hint_of(uint64_t number, enum task_priority priority, struct str document)
{
    return (struct hint){.id = number_id(number),
                         .queue = STR("q"),
                         .type = STR("t"),
                         .document = document,
                         .priority = priority,
                         .queued_ms = 1000 + (int64_t)number};
}

void offer(struct broker *broker, uint64_t number, enum task_priority priority, struct str document)
{
    struct hint hint = hint_of(number, priority, document);
    broker_offer(broker, &hint);
    broker_flush(broker);
}

void withdraw(struct broker *broker, uint64_t number)
{
    struct hint hint = hint_of(number, TASK_NORMAL, STR_NONE);
    broker_withdraw(broker, &hint);
}

bool knows(struct broker *broker, uint64_t number)
{
    struct hint hint = hint_of(number, TASK_NORMAL, STR_NONE);
    return broker_knows(broker, &hint);
}

struct str take(struct fleet *f, struct broker *broker, size_t max)
{
    struct hint *hints = arena_array(&f->arena, struct hint, max);
    struct want want = {.any_queue = true};
    size_t n = broker_take(broker, &want, max, hints, &f->arena);
    struct buf text = BUF_INIT(64 * KIB);
    for (size_t i = 0; i < n; i++) {
        buf_printf(&text, i == 0 ? "%llu" : " %llu", (unsigned long long)hints[i].id.hi);
    }
    struct str copy = arena_str(&f->arena, buf_view(&text));
    buf_fini(&text);
    return copy;
}

bool has(struct broker *broker)
{
    return broker_has(broker, &(struct want){.any_queue = true});
}

void until(bool (*is)(struct broker *broker), struct broker *broker, bool wanted)
{
    WAIT_FOR(is(broker) == wanted);
}

bool is_degraded(struct broker *broker)
{
    return health_rule(broker_health(broker))->degraded;
}

bool asks_rows(struct broker *broker)
{
    (void)broker_check(broker);
    broker_doubt(broker, false);
    return !health_rule(broker_health(broker))->asks_broker;
}

struct str ask(struct fleet *f, const char *command)
{
    return redis_server_ask(&f->server, &f->arena, command);
}
