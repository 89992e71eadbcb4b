/* tests/broker/test_redis_take.c: claims of many tasks: their order, where the lanes are read by
 * the piece, and what Redis may answer.
 *
 * SPDX-License-Identifier: MIT */
#include <hiredis/hiredis.h>

#include "node.h"
#include "test.h"

/* Lanes take turns after 1, 2, 3, … tasks: 1 to 903 are in 42 rows. */
static void offer_in_turns(struct fleet *f, size_t lanes)
{
    static const char *const types[] = {"t", "u", "v"};
    uint64_t number = 1;
    for (size_t row = 1; row <= 42; row++) {
        for (size_t i = 0; i < row; i++, number++) {
            struct hint hint = hint_of(number, TASK_NORMAL, number % 97 == 0 ? STR("d") : STR_NONE);
            hint.type = str_of(types[row % lanes]);
            hint.queued_ms = 1000 + (int64_t)number / 5; /* then by id */
            broker_offer(f->a, &hint);
        }
    }
    broker_flush(f->a);
}

/* Takes by `most` all but those behind document d, and compares them with what was offered. */
static void take_in_turns(struct fleet *f, const struct want *want, size_t most)
{
    struct hint *hints = arena_array(&f->arena, struct hint, most);
    uint64_t number = 1;
    for (size_t n = most; n == most;) {
        n = broker_take(f->b, want, most, hints, &f->arena);
        for (size_t i = 0; i < n; i++, number++) {
            number += number > 97 && number % 97 == 0;
            CHECK(id_eq(hints[i].id, number_id(number)));
            CHECK(hints[i].queued_ms == 1000 + (int64_t)number / 5 && str_is(hints[i].queue, "q"));
            CHECK(hints[i].priority == TASK_NORMAL &&
                  str_is(hints[i].document, number == 97 ? "d" : ""));
        }
    }
    CHECK_EQ(number, 904);
}

TEST(hundreds_of_tasks_of_lanes_that_take_turns_come_in_the_order_of_all)
{
    struct str types[] = {STR("t"), STR("u"), STR("v")};
    struct want_queue queue = {.name = STR("q"), .room = 5000};
    const struct want wants[] = {
        {.any_queue = true},
        {.any_queue = true, .types = types, .types_count = 3},
        {.queues = &queue, .queues_count = 1},
        {.queues = &queue, .queues_count = 1, .types = types, .types_count = 3}};
    const size_t most[] = {1, 16, 17, 100, 902, 5000};
    FLEET(f);
    fleet_init(&f);
    for (size_t i = 0; i < ARRAY_LEN(wants) * ARRAY_LEN(most); i++) {
        offer_in_turns(&f, 1 + i % 3);
        take_in_turns(&f, &wants[i / ARRAY_LEN(most)], most[i % ARRAY_LEN(most)]);
        ask(&f, "FLUSHALL");
        CHECK(broker_empty(f.a));
        broker_filled(f.a);
        CHECK(!asks_rows(f.a) && !asks_rows(f.b));
    }
}

TEST(of_a_queue_with_little_room_no_more_is_taken_and_the_rest_is_still_there)
{
    FLEET(f);
    fleet_init(&f);
    struct want_queue queue = {.name = STR("q"), .room = 20};
    struct want want = {.queues = &queue, .queues_count = 1};
    struct hint hints[500];
    offer_in_turns(&f, 3);
    CHECK_EQ(broker_take(f.b, &want, ARRAY_LEN(hints), hints, &f.arena), 20);
    CHECK(id_eq(hints[19].id, number_id(20)));
    CHECK_EQ(broker_ready_count(f.b), 883);
    CHECK_STR(take(&f, f.b, 3), "21 22 23");
}

/* Others may write there what they like. */
TEST(what_is_no_task_in_a_lane_is_passed_over)
{
    static const char *const garbage[][2] = {
        {"-5", "00000000-0000-0063-0000-000000000063"},
        {"-inf", "00000000-0000-0064-0000-000000000064"},
        {"1.5", "00000000-0000-0065-0000-000000000065"},
        {"90000000000000", "00000000-0000-0066-0000-000000000066"}, /* below LOW */
        {"1e300", "00000000-0000-0067-0000-000000000067"},
        {"inf", "00000000-0000-0068-0000-000000000068"},
        {"1", ""},
        {"2", " "},
        {"3", "one two three four"},
        {"4", "00000000-0000-0000-0000-000000000000"},
        {"35184372090001", "00000000-0000-0069-0000-00000000006"},
        {"35184372090002", "zzzzzzzz-zzzz-zzzz-zzzz-zzzzzzzzzzzz"}};
    FLEET(f);
    fleet_init(&f);
    struct want_queue queue = {.name = STR("q"), .room = SIZE_MAX};
    struct str type = STR("t");
    struct want want = {.queues = &queue, .queues_count = 1, .types = &type, .types_count = 1};
    struct hint hints[99];
    redisContext *other = redisConnect("127.0.0.1", f.server.port);
    offer(f.a, 1, TASK_CRITICAL, STR_NONE);
    offer(f.a, 2, TASK_NORMAL, STR_NONE);
    offer(f.a, 3, TASK_LOW, STR_NONE);
    for (size_t i = 0; i < ARRAY_LEN(garbage); i++) {
        freeReplyObject(redisCommand(other, "ZADD %s %s %s", "errand:{dispatch3}:lane:q t",
                                     garbage[i][0], garbage[i][1]));
    }
    redisFree(other);
    CHECK_EQ(broker_take(f.b, &want, ARRAY_LEN(hints), hints, &f.arena), 3);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK(id_eq(hints[i].id, number_id(i + 1)) && hints[i].queued_ms == 1001 + (int64_t)i);
    }
    CHECK_EQ(broker_ready_count(f.b), 0);
}
