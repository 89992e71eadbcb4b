/* tests/conformance/test_broker_memory.c: the broker suite for memory:, and what only it promises.
 *
 * SPDX-License-Identifier: MIT */
#include "broker_suite.h"
#include "test.h"

#define MANY                200000
#define BYTES_PER_READY_MAX 110
#define NAMES               30000

void broker_suite_options(struct broker_options *options)
{
    options->url = STR("memory:");
}

TEST(an_unknown_url_is_refused_and_named)
{
    struct broker *broker = NULL;
    struct err err = ERR_INIT;
    CHECK(!broker_open(&(struct broker_options){.url = STR("carrier-pigeon:")}, &broker, &err));
    CHECK_EQ(err.kind, ERR_INVALID);
    CHECK(strstr(err.text, "carrier-pigeon") != NULL);
}

TEST(a_ready_task_without_a_document_costs_little_memory)
{
    SCOPED(stand_fini) struct stand s;
    stand_init(&s);
    size_t before = broker_memory(s.broker);
    for (uint64_t i = 1; i <= MANY; i++) {
        stand_offer(&s, i, .queued_ms = (int64_t)i);
    }
    CHECK_EQ(broker_ready_count(s.broker), MANY);
    CHECK(broker_memory(s.broker) - before <= (size_t)MANY * BYTES_PER_READY_MAX);
}

TEST(tasks_out_of_order_cost_little_more)
{
    SCOPED(stand_fini) struct stand s;
    stand_init(&s);
    stand_offer(&s, 1, .queued_ms = 1);
    stand_offer(&s, 2, .queued_ms = MANY * 2);
    size_t before = broker_memory(s.broker);
    for (uint64_t i = 0; i < MANY; i++) {
        stand_offer(&s, i + 3, .queued_ms = MANY - (int64_t)i + 1);
    }
    CHECK(broker_memory(s.broker) - before <= (size_t)MANY * BYTES_PER_READY_MAX);
}

/* A client that makes up a queue for each task must not fill the memory with names. */
TEST(names_that_are_no_longer_used_are_forgotten)
{
    SCOPED(stand_fini) struct stand s;
    stand_init(&s);
    struct hint taken;
    size_t half = 0;
    for (uint64_t i = 1; i <= NAMES; i++) {
        s.calls_count = 0;
        stand_offer(&s, i, .queue = arena_printf(&s.arena, "q%05d", (int)i));
        CHECK_EQ(broker_take(s.broker, &ANY_QUEUE, 1, &taken, &s.arena), 1);
        half = i == NAMES / 2 ? broker_memory(s.broker) : half;
    }
    CHECK(broker_memory(s.broker) <= half + 4096);
}

/* ... also when they all end at once and nobody names another. */
TEST(names_that_end_together_are_forgotten)
{
    SCOPED(stand_fini) struct stand s;
    stand_init(&s);
    for (uint64_t i = 1; i <= NAMES; i++) {
        s.calls_count = 0;
        stand_offer(&s, i, .type = arena_printf(&s.arena, "t%05d", (int)i));
    }
    size_t all = broker_memory(s.broker);
    for (uint64_t i = 1; i <= NAMES; i++) {
        stand_withdraw(&s, i);
    }
    CHECK(broker_memory(s.broker) < all / 2); /* a third of the names, and no tasks */
}

TEST(documents_that_are_no_longer_used_are_forgotten)
{
    SCOPED(stand_fini) struct stand s;
    stand_init(&s);
    struct hint taken;
    size_t first = 0;
    for (uint64_t i = 1; i <= 1000; i++) {
        s.calls_count = 0;
        stand_offer(&s, i, .document = arena_printf(&s.arena, "d%d", (int)i));
        CHECK_EQ(broker_take(s.broker, &ANY_QUEUE, 1, &taken, &s.arena), 1);
        broker_let_go(s.broker, taken.document, taken.id, STR("lock"));
        first = i == 1 ? broker_memory(s.broker) : first;
    }
    CHECK_EQ(broker_memory(s.broker), first);
}
