/* tests/fleet/test_load.c: how busy a node is, told and heard; and whose clock is off.
 *
 * SPDX-License-Identifier: MIT */
#include "fleet/fleet.h"
#include "fleet/load.h"
#include "test.h"

TEST(a_load_comes_out_as_it_went_in)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64 * KIB);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct str types[] = {STR("letter"), STR("mail")}, queues[] = {STR("q")};
    struct wanted wanted[] = {
        {.types = types, .types_count = 2, .queues = queues, .queues_count = 1},
        {.any_queue = true}};
    struct queue_load load = {.created_per_second = 1.5,
                              .started_per_second = 1,
                              .finished_per_second = 0.5,
                              .waiting_claims = 3,
                              .hints_layout = 2,
                              .line = LINE_OPEN,
                              .wanted = wanted,
                              .wanted_count = 2},
                      got;
    load_write(&text, &load);
    CHECK_OK(load_read(buf_view(&text), &arena, &got, &err));
    CHECK(got.created_per_second == 1.5 && got.started_per_second == 1 &&
          got.finished_per_second == 0.5);
    CHECK(got.waiting_claims == 3 && got.hints_layout == 2 && got.line == LINE_OPEN);
    CHECK_EQ(got.wanted_count, 2);
    CHECK(got.wanted[0].types_count == 2 && got.wanted[0].queues_count == 1);
    CHECK_STR(got.wanted[0].types[1], "mail");
    CHECK(!got.wanted[0].any_queue && got.wanted[1].any_queue && got.wanted[1].types_count == 0);
}

TEST(what_another_version_says_is_passed_over)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct queue_load got;
    CHECK_OK(load_read(STR("{\"waiting\":2,\"mood\":{\"a\":[1]},\"wants\":[{\"colour\":\"red\"}]}"),
                       &arena, &got, &err));
    CHECK(got.waiting_claims == 2 && got.hints_layout == 0 && got.wanted_count == 1);
    CHECK(!load_read(STR("[]"), &arena, &got, &err));
    CHECK(!load_read(STR("{\"wants\":3}"), &arena, &got, &err));
}

TEST(a_worker_with_too_many_names_takes_any)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64 * KIB);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct str names[LOAD_NAMES_MAX + 1];
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        names[i] = STR("n");
    }
    struct wanted wanted = {.types = names,
                            .types_count = ARRAY_LEN(names),
                            .queues = names,
                            .queues_count = ARRAY_LEN(names)};
    struct queue_load load = {.wanted = &wanted, .wanted_count = 1}, got;
    load_write(&text, &load);
    CHECK_OK(load_read(buf_view(&text), &arena, &got, &err));
    CHECK(got.wanted[0].types_count == 0 && got.wanted[0].queues_count == 0);
    CHECK(got.wanted[0].any_queue);
}

TEST(a_clock_that_is_off_follows_the_stores_and_one_that_is_right_does_not)
{
    struct clock clock = {0};
    struct fleet_clock near = {.known = true, .offset_ms = FLEET_CLOCK_MS, .error_ms = 1};
    struct fleet_clock far = {.known = true, .offset_ms = 5000, .error_ms = 1, .off = true};
    CHECK(!fleet_clock_follow(&near, &clock));
    CHECK(fleet_clock_follow(&far, &clock));
    CHECK_EQ(clock.ahead_ms, 5000);
    CHECK(!fleet_clock_follow(&far,
                              &clock)); /* each measurement has its error: it must not tremble */
    near.offset_ms = 0;
    CHECK(fleet_clock_follow(&near, &clock));
    CHECK_EQ(clock.ahead_ms, 0);
}
