/* tests/queue/test_stats.c: histograms and rates.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/engine.h"
#include "test.h"

TEST(an_empty_histogram_has_no_quantiles)
{
    struct histogram h = {0};
    CHECK(histogram_quantile_ms(&h, 0.99) == 0);
}

TEST(a_value_on_a_bound_belongs_below_it)
{
    struct histogram h = {0};
    histogram_add(&h, 10);
    histogram_add(&h, 11);
    CHECK_EQ(h.buckets[3], 1);
    CHECK_EQ(h.buckets[4], 1);
    CHECK_EQ(h.sum_ms, 21);
}

TEST(what_is_beyond_every_bound_is_counted_in_the_last_bucket)
{
    struct histogram h = {0};
    histogram_add(&h, INT64_C(1) << 40);
    histogram_add(&h, -5);
    CHECK_EQ(h.buckets[HISTOGRAM_BUCKETS - 1], 1);
    CHECK_EQ(h.buckets[0], 1);
    CHECK(histogram_quantile_ms(&h, 1) == 3600000);
}

TEST(quantiles_lie_between_the_bounds_of_their_bucket)
{
    struct histogram h = {0};
    for (int i = 0; i < 99; i++) {
        histogram_add(&h, 15);
    }
    histogram_add(&h, 700);
    double p50 = histogram_quantile_ms(&h, 0.5), p100 = histogram_quantile_ms(&h, 1);
    CHECK(p50 > 10 && p50 <= 20);
    CHECK(p100 > 500 && p100 <= 1000);
}

TEST(two_histograms_add_up)
{
    struct histogram a = {0}, b = {0};
    histogram_add(&a, 1);
    histogram_add(&b, 100);
    histogram_merge(&a, &b);
    CHECK_EQ(a.count, 2);
    CHECK_EQ(a.sum_ms, 101);
}

TEST(a_rate_forgets_what_is_older_than_a_minute)
{
    struct rates rates = {0};
    rates_add(rates.created, &rates, (struct now){.mono_ms = 1000}, 60);
    rates_add(rates.created, &rates, (struct now){.mono_ms = 30000}, 60);
    CHECK(rates_per_second(rates.created, &rates, (struct now){.mono_ms = 60999}) == 2);
    CHECK(rates_per_second(rates.created, &rates, (struct now){.mono_ms = 61000}) == 1);
    CHECK(rates_per_second(rates.created, &rates, (struct now){.mono_ms = 200000}) == 0);
}

TEST(a_second_that_comes_round_again_starts_from_nothing)
{
    struct rates rates = {0};
    rates_add(rates.created, &rates, (struct now){.mono_ms = 1000}, 600);
    rates_add(rates.created, &rates, (struct now){.mono_ms = 61000}, 60);
    CHECK(rates_per_second(rates.created, &rates, (struct now){.mono_ms = 61000}) == 1);
}
