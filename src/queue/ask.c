/* queue/ask.c: answers about the present: why a task does not run, documents, queues, workers,
 * figures.
 *
 * They are asked of the engine because the engine's memory is the present; nothing here writes, but
 * for a queue's settings.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "queue/engine.h"
#include "queue/kin.h"
#include "store/fleet.h"

/* ---- Why ---- */

static const char *const why_names[WHY_CODES] = {
    [WHY_DOCUMENT_LOCKED] = "document_locked",
    [WHY_DEPENDENCIES] = "dependencies",
    [WHY_PARENT] = "parent",
    [WHY_NOT_DUE] = "not_due",
    [WHY_RETRY_BACKOFF] = "retry_backoff",
    [WHY_QUEUE_PAUSED] = "queue_paused",
    [WHY_QUEUE_LIMIT] = "queue_limit",
    [WHY_WORKERS_BUSY] = "workers_busy",
    [WHY_NO_WORKER] = "no_worker",
};

const char *why_code_name(enum why_code code)
{
    return why_names[code];
}

static struct why_reason *add_reason(struct command *command, enum why_code code,
                                     struct str message)
{
    struct why_reason *reason = &command->why.reasons[command->why.count++];
    *reason = (struct why_reason){.code = code, .message = message, .ahead = -1};
    return reason;
}

static void why_later(struct command *command, const struct task *task)
{
    bool retry = task->state == TASK_RETRYING;
    struct str message = retry
                             ? arena_printf(command->arena, "retry %d of %d waits for its backoff",
                                            task->retries, task->max_retries)
                             : STR("it is not due yet");
    add_reason(command, retry ? WHY_RETRY_BACKOFF : WHY_NOT_DUE, message)->until_ms =
        task->scheduled_ms;
}

/* A turn has nobody who asks for it: it lets go first what stands before it (turn.h). */
static void why_line(struct command *command, const struct document_view *free,
                     const struct task *turn)
{
    char text[TASK_ID_TEXT];
    size_t ahead = 0;
    while (ahead < free->waiting_count && !id_eq(free->waiting[ahead], turn->id)) {
        ahead++;
    }
    if (ahead > 0) {
        struct why_reason *reason = add_reason(
            command, WHY_DOCUMENT_LOCKED,
            arena_printf(command->arena,
                         "its document " STR_FMT " goes to task %s first, %zu stand before it",
                         STR_ARG(turn->document), id_text(free->waiting[0], text).ptr, ahead));
        reason->task = free->waiting[0];
        reason->ahead = (int64_t)ahead;
    }
}

static void why_document(struct batch *batch, struct command *command, const struct task *task)
{
    struct document_view held;
    char text[TASK_ID_TEXT];
    if (str_absent(task->document) ||
        !document_look(batch, task->document, WAITING_MAX, &batch->arena, &held)) {
        return;
    }
    if (!held.locked && task_is_turn(task)) {
        why_line(command, &held, task);
    }
    if (!held.locked || (!id_none(task->family) && id_eq(held.task, task->family))) {
        return; /* nobody has it, or those do to whom the task belongs */
    }
    size_t ahead = document_ahead(batch, &held, task->id);
    struct why_reason *reason = add_reason(
        command, WHY_DOCUMENT_LOCKED,
        arena_printf(command->arena,
                     "its document " STR_FMT " is held by task %s%s" STR_FMT
                     ", %zu more ahead of it",
                     STR_ARG(task->document), id_text(held.task, text).ptr,
                     str_absent(held.worker) ? "" : " on worker ", STR_ARG(held.worker), ahead));
    reason->task = held.task;
    reason->worker = arena_str(command->arena, held.worker);
    reason->since_ms = held.since_ms;
    reason->ahead = (int64_t)ahead;
}

static void why_queue(struct batch *batch, struct command *command, const struct task *task)
{
    const struct command_claim asks = {.queues = &task->queue, .queues_count = 1};
    struct lane *lane =
        rooms_load(batch, &asks) ? lane_find(&batch->engine->lanes, task->queue) : NULL;
    if (lane == NULL) {
        return;
    }
    if (lane->settings.paused) {
        add_reason(
            command, WHY_QUEUE_PAUSED,
            arena_printf(command->arena, "queue " STR_FMT " is paused", STR_ARG(task->queue)));
    } else if (lane_limited(lane, batch->now)) {
        add_reason(command, WHY_QUEUE_LIMIT,
                   arena_printf(command->arena, "queue " STR_FMT " is at its limit",
                                STR_ARG(task->queue)));
    }
}

bool somebody_takes(struct batch *batch, const struct task *task)
{
    LIST_EACH(&batch->engine->workers.recent, it)
    {
        const struct worker *worker = HOLDER(it, struct worker, recent);
        if (worker_present(worker, batch->now) && worker_takes(worker, task->type, task->queue)) {
            return true;
        }
    }
    for (size_t i = 0; i < batch->engine->elsewhere_count; i++) { /* asked of other nodes */
        if (wanted_takes(&batch->engine->elsewhere[i], task->type, task->queue)) {
            return true;
        }
    }
    return false;
}

static void why_workers(struct batch *batch, struct command *command, const struct task *task)
{
    if (!somebody_takes(batch, task)) {
        add_reason(command, WHY_NO_WORKER,
                   arena_printf(command->arena,
                                "no worker asked for type " STR_FMT " in queue " STR_FMT
                                " in the last 60 s",
                                STR_ARG(task->type), STR_ARG(task->queue)));
    } else if (command->why.count == 0) {
        add_reason(command, WHY_WORKERS_BUSY, STR("every worker that takes it is busy"));
    }
}

static void why_parent(struct command *command, const struct task *task)
{
    char text[TASK_ID_TEXT];
    struct why_reason *reason =
        add_reason(command, WHY_PARENT,
                   arena_printf(command->arena, "it waits for its turn among the children of %s",
                                id_text(task->parent, text).ptr));
    reason->task = task->parent;
}

static void why_dependencies(struct batch *batch, struct command *command, const struct task *task)
{
    struct task_dependency *on;
    size_t count;
    if (!kin_results(batch, task->id, &batch->arena, &on, &count)) {
        return;
    }
    struct why_reason *reason = add_reason(
        command, WHY_DEPENDENCIES,
        arena_printf(command->arena, "it waits for %d of %zu dependencies", task->unmet, count));
    reason->tasks = arena_array(command->arena, struct task_id, count);
    for (size_t i = 0; i < count; i++) {
        if (task->runs_anyway ? !task_state_terminal(on[i].state) : on[i].state != TASK_COMPLETED) {
            reason->tasks[reason->tasks_count++] = on[i].id;
        }
    }
}

/* What a task of a team waits for before the team has its document; NULL: it does not. */
static const struct task *turn_before(struct batch *batch, const struct task *task)
{
    struct task_dependency *on;
    size_t count;
    if (id_none(task->team) || !kin_results(batch, task->id, &batch->arena, &on, &count) ||
        count != 1) {
        return NULL;
    }
    const struct item *item = batch_peek(batch, on[0].id);
    return item != NULL && item->found && task_is_turn(&item->now) ? &item->now : NULL;
}

/* The turn that stands in line for this hold; the hold itself: there is none. */
static const struct task *turn_of(struct batch *batch, const struct task *hold)
{
    struct task_id *ids;
    size_t count;
    struct err err = ERR_INIT;
    struct task_filter filter = {.team = hold->team, .type = STR(TASK_TURN_TYPE), .limit = 1};
    if (!batch_begin(batch) || !tx_select(batch->tx, &filter, &batch->arena, &ids, &count, &err) ||
        count == 0) {
        return hold;
    }
    const struct item *item = batch_item(batch, ids[0]);
    return item == NULL || !item->found ? hold : &item->now;
}

/* A container that has begun waits for what the next below it waits for, a hold for its turn. */
static const struct task *who_waits(struct batch *batch, struct item *item)
{
    if (task_is_hold(&item->now)) {
        return turn_of(batch, &item->now);
    }
    const struct item *next = kin_next(batch, item);
    return next == NULL ? &item->now : &next->now;
}

static void why_queued(struct batch *batch, struct command *command, const struct task *task)
{
    why_queue(batch, command, task);
    why_document(batch, command, task);
    if (!task_is_turn(task)) {
        why_workers(batch, command, task);
    }
}

static void why(struct batch *batch, struct command *command, const struct task *task)
{
    const struct task *turn = task->state == TASK_WAITING ? turn_before(batch, task) : NULL;
    if (task->state == TASK_SCHEDULED || task->state == TASK_RETRYING) {
        why_later(command, task);
    } else if (task->state == TASK_QUEUED) {
        why_queued(batch, command, task);
    } else if (turn != NULL) {
        why(batch, command, turn);
    } else if (task->state == TASK_WAITING && !id_none(task->parent)) {
        why_parent(command, task);
    } else if (task->state == TASK_WAITING) {
        why_dependencies(batch, command, task);
    }
}

void on_why(struct batch *batch, struct command *command)
{
    struct item *item;
    command->why.count = 0;
    command->why.reasons = arena_array(command->arena, struct why_reason, WHY_CODES);
    if (batch_find(batch, command->why.id, &item, &command->err)) {
        command->why.state = item->now.state;
        why(batch, command, item->now.state == TASK_QUEUED ? who_waits(batch, item) : &item->now);
    }
    batch_answer(batch, command);
}

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
        memcpy(view->outcomes, lane->outcomes, sizeof view->outcomes);
        view->wait = lane->wait;
        view->run = lane->run;
    }
    view->settings.name = arena_str(arena, count->queue);
}

static struct store_count count_of(const struct store_counts *counts, struct str name)
{
    for (size_t i = 0; i < counts->count; i++) {
        if (str_eq(counts->at[i].queue, name)) {
            return counts->at[i];
        }
    }
    return (struct store_count){.queue = name};
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

/* It has no tasks and no settings, but somebody waits for it, or something happened there. */
static bool has_figures(const struct lane *lane)
{
    return lane->enqueued > 0 || lane->run.count > 0 || !list_empty(&lane->waiting);
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
        if (!lane->listed && has_figures(lane)) {
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

static struct store_queue changed_settings(struct batch *batch, const struct command_queue *change)
{
    struct lane *lane = lane_find(&batch->engine->lanes, change->name);
    struct store_queue settings = lane == NULL ? (struct store_queue){0} : lane->settings;
    /* An earlier command of this batch may have changed the same queue. */
    for (size_t i = 0; i < batch->queue_changes_count; i++) {
        if (str_eq(batch->queue_changes[i]->name, change->name)) {
            settings = batch->queue_changes[i]->view.settings;
        }
    }
    settings.name = change->name;
    settings.paused = change->has_paused ? change->set.paused : settings.paused;
    settings.max_concurrent =
        change->has_max_concurrent ? change->set.max_concurrent : settings.max_concurrent;
    settings.rate_per_second =
        change->has_rate ? change->set.rate_per_second : settings.rate_per_second;
    settings.burst = change->has_burst ? change->set.burst : settings.burst;
    return settings;
}

void on_queue(struct batch *batch, struct command *command)
{
    struct command_queue *change = &command->queue;
    struct lanes *lanes = &batch->engine->lanes;
    struct store_counts counts;
    if (lanes_admit(lanes, &change->name, 1, &command->err) &&
        counts_of(batch, &counts, &command->err)) {
        struct store_count count = count_of(&counts, change->name);
        view_queue(batch, lane_find(lanes, change->name), &count, command->arena, &change->view);
        change->view.settings = changed_settings(batch, change);
        batch->queue_changes[batch->queue_changes_count++] = change;
        batch->writes = true;
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

static bool is_told(const uint64_t *hashes, size_t count, uint64_t hash)
{
    for (size_t i = 0; i < count; i++) {
        if (hashes[i] == hash) {
            return true;
        }
    }
    return false;
}

/* What workers that are here or were lately would take, each of the same kind once. */
static void list_wanted(struct batch *batch, struct arena *arena, struct queue_load *load)
{
    uint64_t hashes[LOAD_WANTED_MAX];
    load->wanted = arena_array(arena, struct wanted, LOAD_WANTED_MAX);
    LIST_EACH(&batch->engine->workers.recent, it)
    {
        const struct worker *worker = HOLDER(it, struct worker, recent);
        if (worker->asked_hash == 0 || worker->signal != SIGNAL_NONE ||
            !worker_present(worker, batch->now) || load->wanted_count == LOAD_WANTED_MAX ||
            is_told(hashes, load->wanted_count, worker->asked_hash)) {
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
        .waiting_claims = (int64_t)batch->engine->waiting_count,
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
        if (!task_worker_reserved(worker->id) || is_own(batch->engine, worker->id)) {
            view_worker(worker, command->arena,
                        &command->workers.workers[command->workers.count++]);
        } /* else another node shows it */
    }
    batch_answer(batch, command);
}

static bool find_worker(struct batch *batch, struct str id, struct worker **out, struct err *err)
{
    if (task_worker_reserved(id)) {
        return err_set(err, ERR_CONFLICT, "workers inside the server are not told to stop");
    }
    *out = worker_find(&batch->engine->workers, id);
    return (*out != NULL && worker_present(*out, batch->now)) ||
           err_set(err, ERR_NOT_FOUND, "no worker of this name was seen lately");
}

void on_worker(struct batch *batch, struct command *command)
{
    struct worker *worker = NULL;
    if (find_worker(batch, command->worker.id, &worker, &command->err)) {
        worker->signal = command->worker.signal;
        claims_signal(batch, worker);
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
                                  .waiting_claims = engine->waiting_count,
                                  .strays = engine->strays.by_id.count,
                                  .batches = engine->batches,
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
        struct rates *rates = &engine->rates;
        stats->created_per_second = rates_per_second(rates->created, rates, batch->now);
        stats->started_per_second = rates_per_second(rates->started, rates, batch->now);
        stats->finished_per_second = rates_per_second(rates->finished, rates, batch->now);
        store_health(engine->store, &stats->store);
    }
    batch_answer(batch, command);
}
