/* tests/cli/test_bench_times.c: quantiles are within two percent of the truth.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "cli/bench.h"
#include "test.h"

static bool near(double got, double want)
{
    return got >= want * 0.98 && got <= want * 1.02;
}

TEST(without_samples_every_quantile_is_zero)
{
    SCOPED(mem_free_at) struct bench_times *times = mem_new(struct bench_times);
    CHECK(bench_times_ms(times, 0.5) == 0 && bench_times_ms(times, 0.999) == 0);
}

TEST(quantiles_of_an_even_spread_are_near_the_truth)
{
    SCOPED(mem_free_at) struct bench_times *times = mem_new(struct bench_times);
    for (int64_t us = 1; us <= 1000000; us += 7) {
        bench_times_add(times, us);
    }
    CHECK(near(bench_times_ms(times, 0.5), 500));
    CHECK(near(bench_times_ms(times, 0.9), 900));
    CHECK(near(bench_times_ms(times, 0.99), 990));
}

TEST(small_values_are_exact_and_the_worst_is_kept)
{
    SCOPED(mem_free_at) struct bench_times *times = mem_new(struct bench_times);
    bench_times_add(times, -5); /* a clock's grain, not a time */
    bench_times_add(times, 63);
    CHECK(bench_times_ms(times, 1) == 0.063);
    CHECK(bench_times_ms(times, 0.5) == 0);
    bench_times_add(times, INT64_MAX);
    CHECK(times->max_us == INT64_MAX && bench_times_ms(times, 1) > 1e6);
}
