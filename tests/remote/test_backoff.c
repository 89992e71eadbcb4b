/* tests/remote/test_backoff.c: pauses grow, are bounded, and leave something to chance.
 *
 * SPDX-License-Identifier: MIT */
#include "remote/backoff.h"
#include "test.h"

TEST(pauses_double_from_the_least_to_the_most)
{
    struct backoff backoff = {.min_ms = 100, .max_ms = 1000};
    const int64_t most[] = {100, 200, 400, 800, 1000, 1000};
    struct rand rand;
    rand_init_seed(&rand, 7);
    for (size_t i = 0; i < ARRAY_LEN(most); i++) {
        int64_t ms = backoff_next(&backoff, &rand, 0);
        CHECK(ms >= most[i] / 2 && ms <= most[i]);
    }
}

TEST(a_thousand_failures_in_a_row_do_not_overflow)
{
    struct backoff backoff = {.min_ms = 1, .max_ms = INT64_MAX / 4};
    struct rand rand;
    int64_t ms = 0;
    rand_init_seed(&rand, 7);
    for (int i = 0; i < 1000; i++) {
        ms = backoff_next(&backoff, &rand, 0);
    }
    CHECK(ms >= INT64_MAX / 8 && ms <= INT64_MAX / 4);
}

TEST(a_success_begins_anew)
{
    struct backoff backoff = {.min_ms = 100, .max_ms = 100000};
    struct rand rand;
    rand_init_seed(&rand, 7);
    for (int i = 0; i < 8; i++) {
        (void)backoff_next(&backoff, &rand, 0);
    }
    backoff_reset(&backoff);
    CHECK(backoff_next(&backoff, &rand, 0) <= 100);
}

TEST(a_server_that_names_a_time_is_left_alone_that_long)
{
    struct backoff backoff = {.min_ms = 10, .max_ms = 20};
    struct rand rand;
    rand_init_seed(&rand, 7);
    int64_t ms = backoff_next(&backoff, &rand, 3000);
    CHECK(ms >= 3000 && ms <= 3020);
}

TEST(two_clients_do_not_come_back_at_the_same_time)
{
    struct backoff backoff = {.min_ms = 1000000, .max_ms = 1000000};
    struct rand one, other;
    rand_init_seed(&one, 1);
    rand_init_seed(&other, 2);
    CHECK(backoff_next(&backoff, &one, 0) != backoff_next(&backoff, &other, 0));
}
