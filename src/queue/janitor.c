/* queue/janitor.c: what happens by itself when its time has come.
 *
 * Delays and retries become QUEUED, leases that ended are LOST, attempts that ran too long time
 * out, tasks that nobody started in time expire, finished ones are removed when they are old.
 *
 * Thread: engine. Keeps: G5 (on time, not on a tick), G7, G9.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/janitor.h"

#include "queue/engine.h"
#include "queue/guests.h"

#define SWEEP_CHUNK      500
#define SWEEP_PAUSE_MS   HOUR_MS /* between two walks through the history */
#define BATCH_BEHIND_MAX 16      /* so many batches do leases wait for commands that came before */

void janitor_collect(struct batch *batch)
{
    struct engine *engine = batch->engine;
    bool paused = engine_paused(engine, batch->now);
    if (paused && !engine->shared) {
        return;
    }
    batch->fired_count = due_collect(&engine->due, batch->now, batch->fired, BATCH_DUE_MAX);
    shared_guard_leases(batch);
    batch->fired_count = paused ? 0 : batch->fired_count;
    for (size_t i = 0; i < batch->fired_count; i++) {
        batch_need(batch, batch->fired[i]->id, false);
    }
}

/* A remote attempt is ended at once: its lease is void. The lease may end with the time-out; then
 * it is the time-out that counts. */
static bool end_remote(struct batch *batch, struct item *item, const struct due_entry *entry,
                       struct err *err)
{
    double chance = rand_unit(batch->engine->with.rand);
    int64_t now_ms = batch->now.wall_ms, mono_ms = batch->now.mono_ms;
    item->ended = true;
    guests_ending(batch, &item->now, NULL);
    if (entry->timeout_at_ms <= mono_ms) {
        return task_time_out(&item->now, chance, now_ms, err);
    }
    if (entry->stop_at_ms != 0 && entry->stop_at_ms <= mono_ms) {
        return task_cancel_now(&item->now, now_ms, err);
    }
    return task_lose(&item->now, chance, now_ms, err);
}

/* An attempt in the server is told to stop first, so that its document is given on only after its
 * work has stopped. Commands and pushes can be stopped by force (work/); a function cannot. */
static bool end_in_server(struct batch *batch, struct item *item, struct due_entry *entry,
                          struct err *err)
{
    if (entry->timeout_at_ms > batch->now.mono_ms && entry->lease_at_ms <= batch->now.mono_ms &&
        (entry->stop_at_ms == 0 || entry->stop_at_ms > batch->now.mono_ms)) {
        return shared_renew_own(batch, item, entry, err);
    }
    if (entry->stop_at_ms != 0 && entry->stop_at_ms <= batch->now.mono_ms) {
        if (entry->kind == WORKER_RUN) {
            /* It did not stop within its grace period: its task is finished without it, its
             * document stays held until it returns. */
            item->ended = item->strays = true;
            return item->now.cancel_requested
                       ? task_cancel_now(&item->now, batch->now.wall_ms, err)
                       : task_time_out(&item->now, rand_unit(batch->engine->with.rand),
                                       batch->now.wall_ms, err);
        }
        due_stop(entry, batch->engine->with.grace_ms, batch->now);
    } else {
        if (entry->stop_at_ms == 0) { /* a cancel's grace does not begin anew with the time-out */
            due_stop(entry, batch->engine->with.grace_ms, batch->now);
        }
        entry->timeout_at_ms = NEVER_MS;
        batch_abort(batch, item, ABORT_TIMEOUT);
    }
    due_set(&batch->engine->due, &item->now, DUE_SAME, batch->engine->with.grace_ms, batch->now);
    return false;
}

static bool settle(struct batch *batch, struct item *item, struct due_entry *entry, struct err *err)
{
    struct task *task = &item->now;
    int64_t now_ms = batch->now.wall_ms;
    switch (task->state) {
    case TASK_RUNNING:
        return entry->kind == WORKER_REMOTE ? end_remote(batch, item, entry, err)
                                            : end_in_server(batch, item, entry, err);
    case TASK_RETRYING:
        return task_due(task, now_ms, err);
    case TASK_SCHEDULED:
        if (due_expiry_ms(task) > now_ms) {
            return task_due(task, now_ms, err);
        }
        return task_cancel(task, STR("expired"), now_ms, err);
    default:
        return task_cancel(task, STR("expired"), now_ms, err);
    }
}

/* ---- Leases that end while their worker is waiting for an answer ----
 *
 * Commands queue up while a commit is under way, and a disk may take its time for it. What was said
 * meanwhile counts: a lease does not end beside a heartbeat that renews it, an attempt not beside
 * its own end. */

static void hear_one(struct batch *batch, struct task_id id, struct task_lease lease, bool finishes)
{
    struct err refused;
    struct item *item = batch_item(batch, id);
    if (item != NULL && item->found && task_holds(&item->now, lease, &refused)) {
        item->beats = item->beats || !finishes;
        item->finishes = item->finishes || finishes;
    }
}

static void hear_workers(struct batch *batch)
{
    LIST_EACH(&batch->commands, it)
    {
        const struct command *command = HOLDER(it, struct command, link);
        if (command->kind == COMMAND_HEARTBEAT) {
            hear_one(batch, command->heartbeat.id, command->heartbeat.lease, false);
        }
        const struct command_finish *ends = command_ends(command);
        for (size_t i = 0; ends != NULL && i < ends->count; i++) {
            const struct finish *finish = &ends->items[i];
            hear_one(batch, finish->id, finish->lease, true);
        }
    }
}

/* A heartbeat renews a lease and nothing else. After a stall there may be more commands than a
 * batch takes: those that wait may be the worker's too. */
static bool is_awaited(const struct batch *batch, const struct item *item,
                       const struct due_entry *entry)
{
    int behind = batch->engine->behind;
    bool may_come = behind > 0 && behind <= BATCH_BEHIND_MAX;
    bool by_lease = entry->timeout_at_ms > batch->now.mono_ms &&
                    (entry->stop_at_ms == 0 || entry->stop_at_ms > batch->now.mono_ms);
    bool orphaned = entry->lease_at_ms == INT64_MIN; /* nobody of the last process can speak */
    return item->now.state == TASK_RUNNING && entry->kind == WORKER_REMOTE && !orphaned &&
           (item->finishes || may_come || (item->beats && by_lease));
}

void janitor_decide(struct batch *batch)
{
    struct err refused;
    if (batch->fired_count > 0) {
        hear_workers(batch);
    }
    for (size_t i = 0; batch_ok(batch) && i < batch->fired_count; i++) {
        struct item *item = batch_item(batch, batch->fired[i]->id);
        if (item != NULL && item->owner == NULL && !shared_is_stale(batch, item, batch->fired[i]) &&
            item->found && !is_awaited(batch, item, batch->fired[i]) &&
            settle(batch, item, batch->fired[i], &refused)) {
            batch_change(batch, item, batch->fired);
        }
    }
}

/* ---- Retention ---- */

void retention_init(struct retention *retention, int64_t keep_ms)
{
    *retention = (struct retention){.at = {.oldest_ms = NEVER_MS}, .begins_at_ms = NEVER_MS};
    retention->under_way = keep_ms > 0; /* what grew old while nobody was there */
}

/* The history is walked at most once a pause; the first end sets the time of the next walk. */
void janitor_note_end(struct engine *engine, const struct task *ended)
{
    int64_t due_ms = ended->finished_ms + engine->with.retention_ms;
    engine->retention.begins_at_ms = MIN(engine->retention.begins_at_ms, due_ms);
}

int64_t janitor_sweep_in_ms(const struct engine *engine, struct now now)
{
    const struct retention *walk = &engine->retention;
    if (engine->with.retention_ms <= 0 || (!walk->under_way && walk->begins_at_ms == NEVER_MS)) {
        return NEVER_MS;
    }
    return walk->under_way ? 0 : MAX(walk->begins_at_ms - now.wall_ms, 0);
}

bool janitor_sweeps(const struct batch *batch)
{
    return janitor_sweep_in_ms(batch->engine, batch->now) == 0 &&
           !engine_paused(batch->engine, batch->now);
}

/* One chunk of the walk, behind what the batch saves: a task that is being revived must not be
 * swept away under it. */
bool janitor_sweep(struct batch *batch, struct err *err)
{
    const struct retention *walk = &batch->engine->retention;
    if (!janitor_sweeps(batch)) {
        return true;
    }
    batch->sweep = walk->under_way ? walk->at : (struct store_sweep){.oldest_ms = NEVER_MS};
    batch->sweep.before_ms = batch->now.wall_ms - batch->engine->with.retention_ms + 1;
    batch->sweep.most = SWEEP_CHUNK;
    batch->sweep.removed = 0;
    batch->swept = tx_sweep(batch->tx, &batch->sweep, err);
    batch->writes = batch->writes || batch->sweep.removed > 0;
    return batch->swept;
}

void janitor_swept(struct batch *batch)
{
    struct retention *walk = &batch->engine->retention;
    if (!batch->swept) {
        return;
    }
    walk->at = batch->sweep;
    walk->under_way = batch->sweep.cursor != 0;
    if (!walk->under_way) {
        int64_t oldest_ms = walk->at.oldest_ms, soonest_ms = batch->now.wall_ms + SWEEP_PAUSE_MS;
        walk->begins_at_ms = oldest_ms == NEVER_MS
                                 ? NEVER_MS
                                 : MAX(oldest_ms + batch->engine->with.retention_ms, soonest_ms);
    }
}
