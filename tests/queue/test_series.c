/* tests/queue/test_series.c: claims about the figures of the last minutes.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "queue/series.h"
#include "test.h"

#define NOON ((int64_t)43200000) /* where all steps begin */

struct bench {
    struct series *series;
    struct arena arena;
    struct series_view view;
};

static void bench_close(struct bench *bench)
{
    mem_free(bench->series);
    arena_fini(&bench->arena);
}

static struct bench bench_open(int64_t now_ms)
{
    struct bench bench = {.series = mem_new(struct series), .arena = ARENA_INIT};
    series_begin(bench.series, false, now_ms);
    return bench;
}

/* The point `back` steps before the last finished one. */
static struct series_point look(struct bench *bench, int64_t minutes, size_t back)
{
    series_look(bench->series, minutes, &bench->arena, &bench->view);
    return bench->view.points[bench->view.count - 1 - back];
}

static void run_one(struct bench *bench, int64_t wait_ms, enum task_state end)
{
    series_born(bench->series, TASK_QUEUED);
    series_moved(bench->series, TASK_QUEUED, TASK_RUNNING);
    bench->series->own.started++;
    histogram_add(&bench->series->own.wait, wait_ms);
    histogram_add(&bench->series->own.run, 10 * wait_ms);
    series_moved(bench->series, TASK_RUNNING, end);
}

TEST(a_step_is_shown_when_it_has_ended)
{
    SCOPED(bench_close) struct bench bench = bench_open(NOON);
    run_one(&bench, 100, TASK_COMPLETED);
    run_one(&bench, 100, TASK_TIMEOUT);
    series_born(bench.series, TASK_QUEUED);
    series_pass(bench.series, NOON + 999);
    CHECK(!look(&bench, 5, 0).known);
    series_pass(bench.series, NOON + 1000);
    struct series_point point = look(&bench, 5, 0);
    CHECK(point.known);
    CHECK_EQ(point.created, 3);
    CHECK_EQ(point.started, 2);
    CHECK_EQ(point.completed, 1);
    CHECK_EQ(point.failed, 1);
    CHECK_EQ(point.queued, 1);
    CHECK_EQ(point.running, 0);
    CHECK(point.wait_p95_ms > 50 && point.wait_p95_ms <= 100);
    CHECK(point.run_p95_ms > 500 && point.run_p95_ms <= 1000);
    CHECK_EQ(bench.view.from_ms, NOON + 1000 - 300 * SECOND_MS);
    CHECK(!look(&bench, 5, 1).known);
    CHECK(!look(&bench, 60, 0).known); /* its step is 15 seconds long */
}

TEST(steps_are_as_long_as_300_points_need)
{
    static const struct {
        int64_t minutes, step_s;
    } cases[] = {{5, 1},   {6, 2},    {10, 2},   {15, 5},    {25, 5},    {60, 15},
                 {75, 15}, {120, 30}, {300, 60}, {360, 120}, {601, 300}, {1440, 300}};
    SCOPED(bench_close) struct bench bench = bench_open(NOON);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        series_look(bench.series, cases[i].minutes, &bench.arena, &bench.view);
        CHECK_EQ(bench.view.step_ms, cases[i].step_s * SECOND_MS);
        CHECK_EQ(bench.view.count, (size_t)(cases[i].minutes * 60 / cases[i].step_s));
        CHECK(bench.view.count <= SERIES_POINTS);
    }
}

TEST(nothing_is_lost_between_steps_of_any_length)
{
    SCOPED(bench_close) struct bench bench = bench_open(NOON + 123);
    int64_t now_ms = NOON + 123, total = 0;
    for (int i = 0; i < 2000; i++) {
        now_ms += 137 * (i % 29);
        series_pass(bench.series, now_ms);
        for (int n = 0; n < i % 4; n++, total++) {
            run_one(&bench, i, TASK_COMPLETED);
        }
    }
    series_pass(bench.series, now_ms + HOUR_MS);
    static const int64_t minutes[] = {150, 300, 600, 1440};
    for (size_t i = 0; i < ARRAY_LEN(minutes); i++) {
        int64_t created = 0, completed = 0;
        series_look(bench.series, minutes[i], &bench.arena, &bench.view);
        for (size_t at = 0; at < bench.view.count; at++) {
            created += bench.view.points[at].created;
            completed += bench.view.points[at].completed;
            CHECK(bench.view.points[at].known || bench.view.points[at].created == 0);
        }
        CHECK_EQ(created, total);
        CHECK_EQ(completed, total);
    }
}

TEST(a_time_without_anything_is_known_to_be_empty)
{
    SCOPED(bench_close) struct bench bench = bench_open(NOON);
    series_born(bench.series, TASK_QUEUED);
    series_pass(bench.series, NOON + DAY_MS);
    struct series_point point = look(&bench, 1440, 0);
    CHECK(point.known);
    CHECK_EQ(point.created, 0);
    CHECK_EQ(point.queued, 1);
    CHECK(point.wait_p95_ms < 0);
    CHECK_EQ(look(&bench, 1440, 287).created, 1);
    series_pass(bench.series, NOON + 400 * DAY_MS);
    CHECK(look(&bench, 5, 299).known);
    CHECK_EQ(look(&bench, 5, 299).queued, 1);
}

TEST(a_clock_that_is_set_back_begins_anew)
{
    SCOPED(bench_close) struct bench bench = bench_open(NOON);
    series_born(bench.series, TASK_QUEUED);
    series_pass(bench.series, NOON + MINUTE_MS);
    series_pass(bench.series, NOON - HOUR_MS);
    CHECK(!look(&bench, 5, 0).known);
    series_pass(bench.series, NOON - HOUR_MS + 1000);
    CHECK(look(&bench, 5, 0).known);
    CHECK_EQ(look(&bench, 5, 0).queued, 1);
    CHECK(!look(&bench, 5, 1).known);
}
