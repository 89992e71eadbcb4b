/* queue/ask.c: answers about the present: queues, workers, figures.
 *
 * They are asked of the engine because the engine's memory is the present; nothing here writes, but
 * for a queue's settings.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "queue/claim.h"
#include "queue/decide.h"
#include "queue/engine.h"
#include "queue/publish.h"
#include "store/fleet.h"

/* ---- Queues ---- */

/* The oldest ready task: by the broker's memory, or by the rows where it does not hold them all. */
static int64_t oldest_of(struct batch *batch, const struct store_count *count)
{
    struct err err = ERR_INIT;
    int64_t oldest_ms = NEVER_MS;
    if (count->tasks[TASK_QUEUED] == 0) {
        return NEVER_MS;
    }
    if (!batch->engine->shared) {
        return broker_oldest_ms(batch->engine->broker, count->queue);
    }
    if (batch_begin(batch) && !tx_oldest(batch->tx, count->queue, &oldest_ms, &err)) {
        batch_fail_store(batch, &err);
    }
    return oldest_ms;
}

/* `lane`: NULL if the queue is not remembered; then it has no settings either. */
static void view_queue(struct batch *batch, const struct lane *lane,
                       const struct store_count *count, struct arena *arena,
                       struct queue_view *view)
{
    *view = (struct queue_view){.oldest_ms = oldest_of(batch, count)};
    memcpy(view->counts, count->tasks, sizeof view->counts);
    if (lane != NULL) {
        view->settings = lane->settings;
        view->enqueued = lane->enqueued;
        view->completed = lane->completed;
        view->failed = lane->failed;
        memcpy(view->outcomes, lane->outcomes, sizeof view->outcomes);
        view->wait = lane->wait;
        view->run = lane->run;
    }
    view->settings.name = arena_str(arena, count->queue);
}

static bool counts_of(struct batch *batch, struct store_counts *counts, struct err *err)
{
    return store_counts(batch->engine->store, &batch->arena, counts, err);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct queue_view *)a)->settings.name,
                   ((const struct queue_view *)b)->settings.name);
}

/* Every queue that is in use, and of those with nothing but a history as many as are remembered. */
static void list_queues(struct batch *batch, const struct store_counts *counts,
                        struct command *command)
{
    struct lanes *lanes = &batch->engine->lanes;
    struct command_queues *queues = &command->queues;
    size_t others = LANES_MAX - MIN(lanes->count, (size_t)LANES_MAX);
    queues->views = arena_array(command->arena, struct queue_view, 1 + lanes->count + others);
    for (size_t i = 0; i < counts->count; i++) {
        struct lane *lane = lane_find(lanes, counts->at[i].queue);
        if (lane != NULL || others > 0) {
            view_queue(batch, lane, &counts->at[i], command->arena,
                       &queues->views[queues->count++]);
        }
        if (lane != NULL) {
            lane->listed = true;
        } else {
            others -= others > 0;
        }
    }
    LIST_EACH(&lanes->all, it)
    {
        struct lane *lane = HOLDER(it, struct lane, all);
        /* It has no tasks and no settings, but somebody waits for it, or something happened there.
         */
        bool figures = lane->enqueued > 0 || lane->run.count > 0 || !list_empty(&lane->waiting);
        if (!lane->listed && figures) {
            view_queue(batch, lane, &(struct store_count){.queue = lane->settings.name},
                       command->arena, &queues->views[queues->count++]);
        }
        lane->listed = false;
    }
    qsort(queues->views, queues->count, sizeof *queues->views, by_name);
}

void on_queues(struct batch *batch, struct command *command)
{
    struct store_counts counts;
    command->queues.count = 0;
    if (counts_of(batch, &counts, &command->err)) {
        list_queues(batch, &counts, command);
    }
    batch_answer(batch, command);
}

struct store_queue queue_settings(const struct batch *batch, struct str name)
{
    struct lane *lane = lane_find(&batch->engine->lanes, name);
    struct store_queue settings = lane == NULL ? (struct store_queue){0} : lane->settings;
    /* An earlier command of this batch may have changed the same queue. */
    for (size_t i = 0; i < batch->queue_changes_count; i++) {
        if (str_eq(batch->queue_changes[i]->name, name)) {
            settings = batch->queue_changes[i]->view.settings;
        }
    }
    settings.name = name;
    return settings;
}

static struct store_queue changed_settings(const struct batch *batch,
                                           const struct command_queue *change)
{
    struct store_queue settings = queue_settings(batch, change->name);
    settings.paused = change->has_paused ? change->set.paused : settings.paused;
    settings.max_concurrent =
        change->has_max_concurrent ? change->set.max_concurrent : settings.max_concurrent;
    settings.rate_per_second =
        change->has_rate ? change->set.rate_per_second : settings.rate_per_second;
    settings.burst = change->has_burst ? change->set.burst : settings.burst;
    return settings;
}

bool queue_change(struct batch *batch, struct command_queue *change, struct err *err)
{
    if (!lanes_admit(&batch->engine->lanes, &change->name, 1, err)) {
        return false;
    }
    change->view.settings = changed_settings(batch, change);
    batch->queue_changes[batch->queue_changes_count++] = change;
    batch->writes = true;
    return true;
}

void on_queue(struct batch *batch, struct command *command)
{
    struct command_queue *change = &command->queue;
    struct lanes *lanes = &batch->engine->lanes;
    struct store_counts counts;
    if (counts_of(batch, &counts, &command->err)) {
        struct store_count count = {.queue = change->name};
        for (size_t i = 0; i < counts.count; i++) {
            if (str_eq(counts.at[i].queue, change->name)) {
                count = counts.at[i];
                break;
            }
        }
        view_queue(batch, lane_find(lanes, change->name), &count, command->arena, &change->view);
        (void)!queue_change(batch, change, &command->err);
    }
    batch_answer(batch, command);
}

/* ---- Workers and figures ---- */

static void view_worker(const struct worker *worker, struct arena *arena, struct worker_view *view)
{
    size_t n = 0;
    *view = (struct worker_view){.id = arena_str(arena, worker->id),
                                 .kind = task_worker_kind(worker->id),
                                 .signal = worker->signal,
                                 .seen_ms = worker->seen_ms};
    LIST_EACH(&worker->attempts, it)
    {
        n++;
    }
    view->tasks = arena_array(arena, struct task_id, n);
    LIST_EACH(&worker->attempts, it)
    {
        view->tasks[view->tasks_count++] = HOLDER(it, struct due_entry, of_worker)->id;
    }
}

/* What workers that are here or were lately would take, each of the same kind once. */
static void list_wanted(struct batch *batch, struct arena *arena, struct queue_load *load)
{
    uint64_t hashes[LOAD_WANTED_MAX];
    load->wanted = arena_array(arena, struct wanted, LOAD_WANTED_MAX);
    LIST_EACH(&batch->engine->workers.recent, it)
    {
        const struct worker *worker = HOLDER(it, struct worker, recent);
        bool listed = false;
        for (size_t i = 0; i < load->wanted_count; i++) {
            listed = listed || hashes[i] == worker->asked_hash;
        }
        if (listed || worker->asked_hash == 0 || worker->signal != SIGNAL_NONE ||
            !worker_present(worker, batch->now) || load->wanted_count == LOAD_WANTED_MAX) {
            continue;
        }
        hashes[load->wanted_count] = worker->asked_hash;
        load->wanted[load->wanted_count++] = wanted_copy(&worker->wanted, arena);
    }
}

static void fill_load(struct batch *batch, struct arena *arena, struct queue_load *load)
{
    const struct rates *rates = &batch->engine->rates;
    *load = (struct queue_load){
        .created_per_second = rates_per_second(rates->created, rates, batch->now),
        .started_per_second = rates_per_second(rates->started, rates, batch->now),
        .finished_per_second = rates_per_second(rates->finished, rates, batch->now),
        .waiting_claims = (int64_t)batch->engine->claims.count,
        .series = batch->engine->series.own,
        .line = batch->engine->ground.line};
    list_wanted(batch, arena, load);
}

void on_workers(struct batch *batch, struct command *command)
{
    struct workers *workers = &batch->engine->workers;
    workers_forget(workers, batch->now);
    command->workers.broker = broker_check(batch->engine->broker);
    command->workers.holds = batch->engine->ground.holds;
    if (batch->engine->shared) {
        fill_load(batch, command->arena, &command->workers.load);
    }
    command->workers.count = 0;
    command->workers.workers = arena_array(command->arena, struct worker_view, workers->count);
    LIST_EACH(&workers->recent, it)
    {
        const struct worker *worker = HOLDER(it, struct worker, recent);
        if (!task_worker_reserved(worker->id) || shared_is_own(batch->engine, worker->id)) {
            view_worker(worker, command->arena,
                        &command->workers.workers[command->workers.count++]);
        } /* else another node shows it */
    }
    batch_answer(batch, command);
}

/* The connections of one worker may lie on several nodes: each is told. */
static void signal_worker(struct batch *batch, struct worker *worker, enum worker_signal signal,
                          bool heard)
{
    bool changes = worker->signal != signal;
    worker->signal = signal;
    claims_signal(batch, worker);
    if (changes && !heard && batch->engine->shared) {
        publish_signal(batch, worker->id, signal);
    }
}

void on_beat(struct batch *batch, struct command *command)
{
    struct command_beat *beat = &command->beat;
    struct worker *worker = worker_seen(&batch->engine->workers, beat->worker, batch->now);
    if (beat->left) { /* what it still holds keeps it on the list */
        worker->signal = SIGNAL_NONE;
        worker->seen_mono_ms = batch->now.mono_ms - WORKER_SEEN_MS - 1;
    } else if (beat->signal > worker->signal) {
        signal_worker(batch, worker, beat->signal, false);
    }
    beat->signal = worker->signal;
    batch_answer(batch, command);
}

void on_worker(struct batch *batch, struct command *command)
{
    struct worker *worker = worker_find(&batch->engine->workers, command->worker.id);
    if (task_worker_reserved(command->worker.id)) {
        err_set(&command->err, ERR_CONFLICT, "workers inside the server are not told to stop");
    } else if (worker == NULL || !worker_present(worker, batch->now)) {
        err_set(&command->err, ERR_NOT_FOUND, "no worker of this name was seen lately");
        if (batch->engine->shared && !command->worker.heard) { /* another node may know it */
            publish_signal(batch, command->worker.id, command->worker.signal);
        }
    } else {
        signal_worker(batch, worker, command->worker.signal, command->worker.heard);
        view_worker(worker, command->arena, &command->worker.view);
    }
    batch_answer(batch, command);
}

static void sum_lanes(struct batch *batch, struct queue_stats *stats)
{
    const struct lanes *lanes = &batch->engine->lanes;
    stats->wait = lanes->gone_wait;
    stats->run = lanes->gone_run;
    LIST_EACH(&lanes->all, it)
    {
        struct lane *lane = HOLDER(it, struct lane, all);
        histogram_merge(&stats->wait, &lane->wait);
        histogram_merge(&stats->run, &lane->run);
        stats->running_here += lane->running;
    }
}

void on_stats(struct batch *batch, struct command *command)
{
    struct engine *engine = batch->engine;
    struct queue_stats *stats = &command->stats.stats;
    struct store_counts counts;
    *stats = (struct queue_stats){.now_ms = batch->now.wall_ms,
                                  .oldest_ms = NEVER_MS,
                                  .waiting_claims = engine->claims.count,
                                  .strays = engine->strays.by_id.count,
                                  .batches = engine->batches,
                                  .slow_commits = engine->journal.slow_commits,
                                  .commands = engine->commands};
    if (counts_of(batch, &counts, &command->err)) {
        memcpy(stats->counts, counts.others, sizeof stats->counts);
        for (size_t i = 0; i < counts.count; i++) {
            for (int state = 0; state < TASK_STATES; state++) {
                stats->counts[state] += counts.at[i].tasks[state];
            }
            stats->oldest_ms = MIN(stats->oldest_ms, oldest_of(batch, &counts.at[i]));
        }
        sum_lanes(batch, stats);
        stats->types_count = type_book_list(&engine->types, command->arena, &stats->types);
        struct rates *rates = &engine->rates;
        stats->created_per_second = rates_per_second(rates->created, rates, batch->now);
        stats->started_per_second = rates_per_second(rates->started, rates, batch->now);
        stats->finished_per_second = rates_per_second(rates->finished, rates, batch->now);
        store_health(engine->store, &stats->store);
    }
    batch_answer(batch, command);
}
