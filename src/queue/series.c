/* queue/series.c: see series.h.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/series.h"

#include "queue/decide.h"
#include "queue/engine.h"

/* Each shows SERIES_POINTS steps of its length: 5 minutes, 10, 25, 75, 150, 300, 600, 1500. */
static const int64_t step_ms[SERIES_LEVELS] = {
    SECOND_MS,      2 * SECOND_MS, 5 * SECOND_MS, 15 * SECOND_MS,
    30 * SECOND_MS, MINUTE_MS,     2 * MINUTE_MS, 5 * MINUTE_MS,
};

/* ---- Sums ---- */

void series_add(struct series_sums *into, const struct series_sums *from)
{
    into->created += from->created;
    into->started += from->started;
    into->completed += from->completed;
    into->failed += from->failed;
    into->changed += from->changed;
    histogram_merge(&into->wait, &from->wait);
    histogram_merge(&into->run, &from->run);
}

static void histogram_take_away(struct histogram *from, const struct histogram *what)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        from->buckets[i] -= what->buckets[i];
    }
    from->count -= what->count;
    from->sum_ms -= what->sum_ms;
}

void series_take_away(struct series_sums *from, const struct series_sums *what)
{
    from->created -= what->created;
    from->started -= what->started;
    from->completed -= what->completed;
    from->failed -= what->failed;
    from->changed -= what->changed;
    histogram_take_away(&from->wait, &what->wait);
    histogram_take_away(&from->run, &what->run);
}

/* ---- Rings ---- */

static void start_levels(struct series *series, int64_t now_ms)
{
    series->second = now_ms / SECOND_MS;
    for (size_t i = 0; i < SERIES_LEVELS; i++) {
        struct series_level *level = &series->levels[i];
        level->first = level->step = now_ms / step_ms[i];
        level->sums = (struct series_sums){.created = 0};
    }
}

void series_begin(struct series *series, bool is_told, int64_t now_ms)
{
    series->is_told = is_told;
    start_levels(series, now_ms);
}

void series_count(struct series *series, int64_t queued, int64_t running)
{
    series->queued = queued;
    series->running = running;
}

static double p95_of(const struct histogram *histogram)
{
    return histogram->count == 0 ? -1 : histogram_quantile_ms(histogram, 0.95);
}

/* Ends the step that is being counted, and all that have passed since without anything. */
static void close_steps(const struct series *series, struct series_level *level, int64_t now_step)
{
    struct series_point idle = {.known = true,
                                .queued = series->queued,
                                .running = series->running,
                                .wait_p95_ms = -1,
                                .run_p95_ms = -1};
    struct series_point point = idle;
    point.created = level->sums.created;
    point.started = level->sums.started;
    point.completed = level->sums.completed;
    point.failed = level->sums.failed;
    point.wait_p95_ms = p95_of(&level->sums.wait);
    point.run_p95_ms = p95_of(&level->sums.run);
    level->points[level->step % SERIES_POINTS] = point;
    for (int64_t step = MAX(level->step + 1, now_step - SERIES_POINTS); step < now_step; step++) {
        level->points[step % SERIES_POINTS] = idle;
    }
    level->sums = (struct series_sums){.created = 0};
    level->step = now_step;
}

void series_pass(struct series *series, int64_t now_ms)
{
    if (now_ms / SECOND_MS == series->second) {
        return;
    }
    struct series_sums fresh = series->own;
    series_take_away(&fresh, &series->noted);
    series_add(&fresh, &series->heard);
    series->noted = series->own;
    series->heard = (struct series_sums){.created = 0};
    if (now_ms / SECOND_MS < series->second) { /* the clock was set back: what was, is ahead now */
        start_levels(series, now_ms);
        return;
    }
    for (size_t i = 0; i < SERIES_LEVELS; i++) {
        struct series_level *level = &series->levels[i];
        series_add(&level->sums, &fresh);
        if (now_ms / step_ms[i] > level->step) {
            close_steps(series, level, now_ms / step_ms[i]);
        }
    }
    series->second = now_ms / SECOND_MS;
}

/* ---- Counting ---- */

static void count_state(struct series *series, enum task_state state, int n)
{
    if (!series->is_told) {
        series->queued += state == TASK_QUEUED ? n : 0;
        series->running += state == TASK_RUNNING ? n : 0;
    }
}

static void count_end(struct series *series, enum task_state state)
{
    series->own.changed++;
    series->own.completed += state == TASK_COMPLETED;
    series->own.failed += state == TASK_FAILED || state == TASK_TIMEOUT;
}

void series_born(struct series *series, enum task_state state)
{
    series->own.created++;
    count_state(series, state, 1);
    count_end(series, state);
}

void series_moved(struct series *series, enum task_state from, enum task_state to)
{
    if (from != to) {
        count_state(series, from, -1);
        count_state(series, to, 1);
        count_end(series, to);
    }
}

/* ---- Asking ---- */

void series_look(const struct series *series, int64_t minutes, struct arena *arena,
                 struct series_view *out)
{
    size_t i = 0;
    while (i < SERIES_LEVELS - 1 && step_ms[i] * SERIES_POINTS < minutes * MINUTE_MS) {
        i++;
    }
    const struct series_level *level = &series->levels[i];
    int64_t count = minutes * MINUTE_MS / step_ms[i];
    *out = (struct series_view){.step_ms = step_ms[i],
                                .from_ms = (level->step - count) * step_ms[i],
                                .points = arena_array(arena, struct series_point, (size_t)count),
                                .count = (size_t)count};
    for (int64_t at = 0; at < count; at++) {
        int64_t step = level->step - count + at;
        if (step >= level->first) {
            out->points[at] = level->points[step % SERIES_POINTS];
        }
    }
}

void on_series(struct batch *batch, struct command *command)
{
    struct series *series = &batch->engine->series;
    const struct series_news *news = command->series.news;
    if (news == NULL) {
        series_look(series, command->series.minutes, command->arena, &command->series.view);
    } else {
        series_add(&series->heard, &news->others);
        if (news->counted) {
            series_count(series, news->queued, news->running);
        }
    }
    batch_answer(batch, command);
}
