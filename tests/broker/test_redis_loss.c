/* tests/broker/test_redis_loss.c: Redis freezes, stops, is flushed, is full: what nodes do then.
 *
 * SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "node.h"
#include "test.h"

/* What reconciliation does, with one task in the store. */
static void refill(struct broker *broker, uint64_t number)
{
    CHECK(broker_empty(broker));
    broker_fill(broker);
    offer(broker, number, TASK_NORMAL, STR_NONE);
    broker_filled(broker);
}

static void on_ready(void *arg, struct str queue, struct str type)
{
    (void)queue;
    (void)type;
    ++*(size_t *)arg;
}

TEST(a_redis_that_is_not_there_is_no_reason_not_to_start)
{
    struct broker *broker;
    struct err err = ERR_INIT;
    size_t ready = 0;
    CHECK_OK(broker_open(&(struct broker_options){.url = STR("redis://127.0.0.1:1"),
                                                  .ready = on_ready,
                                                  .arg = &ready},
                         &broker, &err));
    struct hint hint = hint_of(1, TASK_NORMAL, STR("d"));
    struct broker_lock lock = {.hint = &hint, .lock = STR("lease")};
    CHECK(asks_rows(broker) && !broker_empty(broker));
    CHECK(is_degraded(broker));
    broker_offer(broker, &hint);
    broker_flush(broker);
    broker_lock(broker, &lock, 1);
    CHECK(lock.granted && has(broker) && ready == 1);
    broker_close(broker);
}

TEST(a_bad_address_is_refused_without_its_password)
{
    struct broker *broker;
    struct err err = ERR_INIT;
    const char *const bad[] = {"rediss://:secret@h:1/x", "redis://:secret@h:1/x", "valkey:secret"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK(!broker_open(&(struct broker_options){.url = str_of(bad[i])}, &broker, &err));
        CHECK(err.kind == ERR_INVALID && strstr(err.text, "secret") == NULL);
    }
    struct broker_options braces = {.url = STR("redis://h:1"), .prefix = STR("a{b}:")};
    CHECK(!broker_open(&braces, &broker, &err));
}

TEST(a_frozen_redis_is_away_and_comes_back_to_be_filled)
{
    FLEET(f);
    fleet_init(&f);
    offer(f.a, 1, TASK_NORMAL, STR_NONE);
    redis_server_freeze(&f.server);
    CHECK_STR(take(&f, f.a, 1), "");
    CHECK(asks_rows(f.a) && is_degraded(f.a) && has(f.a));
    f.ready = 0;
    offer(f.a, 2, TASK_NORMAL, STR_NONE); /* lost, but whoever waits here is told */
    CHECK_EQ(f.ready, 1);
    redis_server_thaw(&f.server);
    until(broker_empty, f.a, true);
    CHECK_STR(take(&f, f.b, 9), ""); /* it knows nothing of the loss, and learns of it so */
    CHECK(asks_rows(f.b));
    refill(f.b, 3);
    CHECK(!asks_rows(f.a) && !asks_rows(f.b));
    CHECK(knows(f.a, 3));
    CHECK(!is_degraded(f.a));
}

TEST(a_flushed_redis_answers_nothing_until_it_is_filled_again)
{
    FLEET(f);
    fleet_init(&f);
    offer(f.a, 1, TASK_NORMAL, STR_NONE);
    ask(&f, "FLUSHALL");
    CHECK_STR(take(&f, f.a, 9), "");
    CHECK(asks_rows(f.a) && broker_empty(f.a));
    offer(f.b, 1, TASK_NORMAL, STR_NONE); /* half of it is not enough */
    CHECK_STR(take(&f, f.a, 9), "");
    CHECK(asks_rows(f.a) && asks_rows(f.b));
    offer(f.b, 2, TASK_HIGH, STR_NONE);
    broker_filled(f.a);
    CHECK(!asks_rows(f.b));
    CHECK_STR(take(&f, f.b, 9), "2 1");
}

TEST(a_flush_noticed_by_sending_counts_too)
{
    FLEET(f);
    fleet_init(&f);
    ask(&f, "FLUSHALL");
    offer(f.a, 1, TASK_NORMAL, STR_NONE);
    CHECK(is_degraded(f.a) && f.ready == 1);
}

TEST(a_flush_during_the_filling_makes_it_worthless)
{
    FLEET(f);
    fleet_init(&f);
    ask(&f, "FLUSHALL");
    CHECK(broker_empty(f.a));
    broker_fill(f.a);
    offer(f.a, 1, TASK_NORMAL, STR_NONE);
    ask(&f, "FLUSHALL");
    CHECK(broker_empty(f.a)); /* which says nothing of what was offered */
    offer(f.a, 2, TASK_NORMAL, STR_NONE);
    broker_filled(f.a);
    CHECK(asks_rows(f.a));
    refill(f.a, 3);
    CHECK(!asks_rows(f.a));
}

TEST(nodes_that_fill_at_once_do_not_spoil_it_for_each_other)
{
    FLEET(f);
    fleet_init(&f);
    ask(&f, "FLUSHALL");
    broker_fill(f.a);
    offer(f.a, 1, TASK_NORMAL, STR_NONE);
    broker_fill(f.b);
    CHECK(broker_empty(f.b) && broker_empty(f.a));
    broker_filled(f.a);
    CHECK(!asks_rows(f.a) && !asks_rows(f.b));
    broker_filled(f.b);
    CHECK_STR(take(&f, f.b, 9), "1");
}

TEST(a_node_that_waits_for_the_first_filling_is_not_degraded)
{
    FLEET(f);
    fleet_init(&f);
    struct broker *late;
    struct err err = ERR_INIT;
    ask(&f, "FLUSHALL");
    CHECK_OK(broker_open(
        &(struct broker_options){.url = str_of(f.server.url), .command_ms = REDIS_PATIENCE_MS},
        &late, &err));
    CHECK(asks_rows(late) && !is_degraded(late)); /* claims ask the store meanwhile */
    CHECK_STR(take(&f, f.a, 9), "");
    CHECK(is_degraded(f.a)); /* this one has lost something */
    refill(f.a, 1);
    CHECK(!asks_rows(late) && !is_degraded(late));
    ask(&f, "FLUSHALL");
    CHECK_STR(take(&f, late, 9), "");
    CHECK(is_degraded(late));
    broker_close(late);
}

/* Of two layouts before this one. */
#define OLDER_KEYS "KEYS errand:{dispatch[2}]*:*"

TEST(keys_of_an_older_layout_are_removed_in_pieces_and_nothing_else_is)
{
    FLEET(f);
    fleet_init_two(&f);
    struct buf many = BUF_INIT(MIB);
    buf_c(&many, "MSET errand:leader x errand:doclock:{d} y");
    for (int i = 0; i < 3000; i++) {
        buf_printf(&many, " errand:{dispatch%s}:behind:%d x", i % 2 == 0 ? "" : "2", i);
    }
    ask(&f, arena_str(&f.arena, buf_view(&many)).ptr);
    buf_fini(&many);
    redis_server_ask(&f.low, &f.arena, "HSET errand:{dispatch}:hints a b");
    offer(f.a, 1, TASK_HIGH, STR("d"));
    offer(f.a, 2, TASK_LOW, STR_NONE);
    size_t calls = 1;
    CHECK(broker_tidy(f.a) && ask(&f, OLDER_KEYS).len > 0);
    while (broker_tidy(f.a)) {
        calls++;
    }
    CHECK(calls >= 3);
    CHECK_STR(ask(&f, OLDER_KEYS), "");
    CHECK_STR(redis_server_ask(&f.low, &f.arena, OLDER_KEYS), "");
    CHECK_STR(ask(&f, "EXISTS errand:leader errand:doclock:{d}"), "2");
    CHECK_STR(take(&f, f.b, 9), "1 2");
}

TEST(a_restarted_redis_is_filled_again)
{
    FLEET(f);
    fleet_init(&f);
    offer(f.a, 1, TASK_NORMAL, STR_NONE);
    redis_server_stop(&f.server);
    CHECK_STR(take(&f, f.a, 9), "");
    redis_server_start(&f.server);
    until(broker_empty, f.a, true);
    refill(f.a, 1);
    until(asks_rows, f.b, false);
    CHECK_STR(take(&f, f.b, 9), "1");
}

TEST(the_end_of_a_lock_is_told_after_an_outage)
{
    FLEET(f);
    fleet_init(&f);
    broker_hold(f.a, STR("d"), number_id(1), STR("lease"));
    broker_flush(f.a);
    redis_server_freeze(&f.server);
    broker_let_go(f.a, STR("d"), number_id(1), STR("lease"));
    broker_flush(f.a);
    CHECK(is_degraded(f.a));
    redis_server_thaw(&f.server);
    until(broker_empty, f.a, true);
    CHECK_STR(ask(&f, "EXISTS errand:doclock:{d}"), "0");
}

TEST(a_redis_that_is_full_is_away_until_there_is_room)
{
    FLEET(f);
    fleet_init(&f);
    ask(&f, "CONFIG SET maxmemory 1");
    offer(f.a, 1, TASK_NORMAL, STR_NONE);
    CHECK(asks_rows(f.a) && f.ready == 1);
    ask(&f, "CONFIG SET maxmemory 0");
    until(broker_empty, f.a, true);
    refill(f.a, 1);
    CHECK_STR(take(&f, f.b, 9), "1");
}

/* maxmemory-policy allkeys-*: any key may vanish. */
TEST(keys_that_were_thrown_away_are_lost_hints_and_no_error)
{
    const char *const keys[] = {"hints",       "heads",      "lane:q t",   "queue:q",  "all",
                                "type:t",      "held",       "row:q t\nd", "row:q\nd", "parked:d",
                                "doclane:q t", "docqueue:q", "doctype:t",  "docall"};
    FLEET(f);
    fleet_init(&f);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        for (uint64_t n = 1; n <= 6; n++) {
            offer(f.a, n, TASK_NORMAL, n % 2 == 0 ? STR("d") : STR_NONE);
        }
        redis_server_delete(&f.server, arena_printf(&f.arena, "errand:{dispatch3}:%s", keys[i]));
        take(&f, f.a, 9);
        withdraw(f.a, 4);
        CHECK(broker_empty(f.a) || !is_degraded(f.a)); /* Redis itself is well */
        broker_let_go(f.a, STR("d"), number_id(2), STR("lease"));
        ask(&f, "FLUSHALL");
        CHECK(broker_empty(f.a));
        broker_fill(f.a);
        for (uint64_t n = 1; n <= 3; n++) {
            offer(f.a, n, TASK_NORMAL, STR_NONE);
        }
        broker_filled(f.a);
        CHECK_STR(take(&f, f.a, 9), "1 2 3");
    }
}

TEST(an_offer_repeated_mends_what_was_thrown_away)
{
    FLEET(f);
    fleet_init(&f);
    for (int round = 0; round < 2; round++) {
        offer(f.a, 1, TASK_NORMAL, STR_NONE);
        offer(f.a, 2, TASK_NORMAL, STR("d"));
        redis_server_delete(&f.server, round == 0 ? STR("errand:{dispatch3}:lane:q t")
                                                  : STR("errand:{dispatch3}:docqueue:q"));
        offer(f.a, 1, TASK_NORMAL, STR_NONE);
        offer(f.a, 2, TASK_NORMAL, STR("d"));
        CHECK_STR(take(&f, f.b, 9), "1 2");
        broker_let_go(f.b, STR("d"), number_id(2), STR("lease"));
        broker_flush(f.b);
    }
}

/* ---- Two ---- */

TEST(urgent_hints_live_on_the_first_and_the_rest_on_the_second)
{
    FLEET(f);
    fleet_init_two(&f);
    for (uint64_t i = 1; i <= 4; i++) {
        offer(f.a, i, (enum task_priority)i, STR_NONE);
    }
    CHECK_STR(ask(&f, "ZCARD errand:{dispatch3}:type:t"), "1");
    CHECK_STR(redis_server_ask(&f.low, &f.arena, "ZCARD errand:{dispatch3}:type:t"), "1");
    CHECK_STR(take(&f, f.b, 9), "4 3 2 1");
}

TEST(a_document_is_held_on_both)
{
    FLEET(f);
    fleet_init_two(&f);
    offer(f.a, 1, TASK_LOW, STR("d"));
    offer(f.a, 2, TASK_HIGH, STR("d"));
    CHECK_STR(take(&f, f.a, 9), "2");
    broker_flush(f.a);
    CHECK(!has(f.b));
    broker_let_go(f.b, STR("d"), number_id(2), STR("lease"));
    CHECK_STR(take(&f, f.b, 9), "1");
    broker_flush(f.b);
    offer(f.a, 3, TASK_HIGH, STR("d"));
    CHECK(!has(f.a));
}

static void check_one_fails(struct fleet *f, struct redis_server *server, enum task_priority other)
{
    offer(f->a, 1, other, STR_NONE);
    redis_server_freeze(server);
    CHECK_STR(take(f, f->a, 9), "1");            /* what the other has */
    CHECK(asks_rows(f->a) && is_degraded(f->a)); /* and a claim must still ask the store */
    offer(f->a, 2, other, STR_NONE);
    CHECK(knows(f->a, 2));
    redis_server_thaw(server);
    until(broker_empty, f->a, true);
    refill(f->a, 3);
    CHECK(!asks_rows(f->a) && !asks_rows(f->b));
}

TEST(the_second_fails_alone)
{
    FLEET(f);
    fleet_init_two(&f);
    check_one_fails(&f, &f.low, TASK_CRITICAL);
}

TEST(the_first_fails_alone)
{
    FLEET(f);
    fleet_init_two(&f);
    check_one_fails(&f, &f.server, TASK_NORMAL);
}
