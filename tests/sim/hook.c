/* tests/sim/hook.c: bad days, and the seeded bugs, put into the tables of store and broker.
 *
 * A bad day is something that can happen to a correct system: a commit fails, a crash cuts it off,
 * a hint is lost, doubled or stale, another node was faster. A seeded bug is a mistake that the
 * checks must find; it is made here and not in src/.
 *
 * SPDX-License-Identifier: MIT */
#include "sim.h"

#include "schedule/execution.h"
#include "schedule/usage.h"
#include "team/team.h"

const char *bug_name(enum bug bug)
{
    static const char *const names[BUGS] = {[BUG_NONE] = "none",
                                            [BUG_LOST_HINT] = "lost-hint",
                                            [BUG_DOUBLE_CLAIM] = "double-claim",
                                            [BUG_EARLY_ANSWER] = "early-answer",
                                            [BUG_STALE_FINISH] = "stale-finish",
                                            [BUG_FORGOTTEN_UNLOCK] = "forgotten-unlock",
                                            [BUG_UNTOLD_LOSS] = "untold-loss",
                                            [BUG_TRUSTED_EMPTY] = "trusted-empty",
                                            [BUG_LOST_END] = "lost-end",
                                            [BUG_LOST_SUM] = "lost-sum",
                                            [BUG_LOST_TIME] = "lost-time",
                                            [BUG_LOST_MESSAGE] = "lost-message",
                                            [BUG_ENDLESS_TEAM] = "endless-team"};
    return names[bug];
}

enum world bug_world(enum bug bug)
{
    return bug >= BUG_LOST_MESSAGE ? WORLD_TEAMS
           : bug >= BUG_LOST_END   ? WORLD_SCHEDULES
                                   : WORLD_TASKS;
}

/* ---- The store ---- */

static struct store_hook *hook_of(const struct tx *tx)
{
    return HOLDER(tx->ops, struct store_hook, ops);
}

/* As it was before its attempt began: what a node reads that was overtaken by another. */
static void grow_younger(struct task *task)
{
    if (task->state == TASK_RUNNING) {
        task->state = TASK_QUEUED;
        task->attempt--;
        task->lease_until_ms = 0;
    }
}

static bool on_load(struct tx *tx, struct task_load *loads, size_t n, struct err *err)
{
    struct store_hook *hook = hook_of(tx);
    struct sim *sim = hook->sim;
    bool ok = hook->inner->load(tx, loads, n, err);
    for (size_t i = 0; ok && i < n; i++) {
        if (loads[i].found && id_eq(loads[i].id, sim->age)) {
            grow_younger(&loads[i].task);
            sim->age = TASK_ID_NONE;
        }
    }
    return ok;
}

/* Bug: whatever the row says now is what the change expects. */
static bool forge(struct store_hook *hook, struct tx *tx, struct task_change *change,
                  struct err *err)
{
    struct task_load load = {.id = change->was->id, .arena = &hook->sim->arena, .whole = true};
    if (!hook->inner->load(tx, &load, 1, err)) {
        return false;
    }
    struct task *was = arena_new(&hook->sim->arena, struct task);
    *was = load.task;
    change->was = was;
    return true;
}

static bool on_save(struct tx *tx, struct task_change *changes, size_t n, struct err *err)
{
    struct store_hook *hook = hook_of(tx);
    for (size_t i = 0; hook->sim->bug == BUG_DOUBLE_CLAIM && i < n; i++) {
        if (changes[i].now->state == TASK_RUNNING && changes[i].was->state == TASK_QUEUED &&
            !forge(hook, tx, &changes[i], err)) {
            return false;
        }
    }
    return hook->inner->save(tx, changes, n, err);
}

static bool is_swallowed(enum bug bug, const struct record *record)
{
    return (bug == BUG_LOST_MESSAGE && record->kind == RECORD_MESSAGE) ||
           (bug == BUG_ENDLESS_TEAM && record->kind == RECORD_TEAM &&
            record->mark == TEAM_COMPLETED) ||
           (bug == BUG_LOST_END && record->kind == RECORD_EXECUTION &&
            record->mark == EXECUTION_SUCCESS) ||
           (bug == BUG_LOST_SUM && record->kind == RECORD_USAGE && record->mark == USAGE_DAY &&
            record->version > 3);
}

void hook_lose_save(struct sim *sim)
{
    sim->lose_save = true;
    sim_trace(sim, "another node is faster with the next record");
}

/* The batch is decided anew then. */
static bool is_overtaken(struct sim *sim, const struct record *record)
{
    bool overtaken =
        sim->lose_save && (record->kind == RECORD_SCHEDULE || record->kind == RECORD_TEAM);
    sim->lose_save = sim->lose_save && !overtaken;
    for (size_t i = 0; overtaken && i < sim->calls_count; i++) {
        sim->calls[i]->in_line = false; /* a claim that was awake then may have to look again */
    }
    return overtaken;
}

/* Bug: what is not written is said to be. */
static bool on_records_save(struct tx *tx, struct record_save *saves, size_t n, struct err *err)
{
    struct store_hook *hook = hook_of(tx);
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        struct record record = *saves[i].record;
        struct record_save save = {.record = &record};
        if (hook->sim->bug == BUG_LOST_TIME && record.kind == RECORD_SCHEDULE &&
            record.due_ms != 0 && record.version > 1) {
            record.due_ms += MINUTE_MS;
        }
        bool swallowed = is_swallowed(hook->sim->bug, &record);
        if (is_overtaken(hook->sim, &record)) {
            saves[i].applied = false;
            continue;
        }
        ok = swallowed || hook->inner->records_save(tx, &save, 1, err);
        saves[i].applied = swallowed || save.applied;
    }
    return ok;
}

static bool on_commit(struct tx *tx, struct err *err)
{
    struct store_hook *hook = hook_of(tx);
    struct sim *sim = hook->sim;
    enum memory_fault fault = sim->fault;
    sim->fault = MEMORY_FINE;
    if (fault == MEMORY_FULL && sim->bug == BUG_EARLY_ANSWER) {
        hook->inner->abandon(tx);
        return true;
    }
    memory_disk_fail_next(sim->disk, fault);
    bool ok = hook->inner->commit(tx, err);
    sim->commit_failed = !ok;
    sim->cut_off = fault == MEMORY_CRASH_AFTER;
    return ok;
}

void hook_store(struct sim *sim)
{
    sim->store_hook = (struct store_hook){*sim->store->ops, sim->store->ops, sim};
    sim->store_hook.ops.load = on_load;
    sim->store_hook.ops.save = on_save;
    sim->store_hook.ops.commit = on_commit;
    sim->store_hook.ops.records_save = on_records_save;
    sim->store->ops = &sim->store_hook.ops;
}

/* ---- The broker ---- */

static struct broker_hook *hook_of_broker(const struct broker *broker)
{
    return HOLDER(broker->ops, struct broker_hook, ops);
}

void hook_lose(struct sim *sim, struct task_id id)
{
    if (sim->lost_count < TASKS_MAX) {
        sim->lost[sim->lost_count++] = id;
    }
}

static void on_offer(struct broker *broker, const struct hint *hint)
{
    struct broker_hook *hook = hook_of_broker(broker);
    struct sim *sim = hook->sim;
    if (sim->bug == BUG_LOST_HINT && hint->id.lo % 16 == 3) {
        return;
    }
    if (sim->lose_offer) {
        sim->lose_offer = false;
        hook_lose(sim, hint->id);
        return;
    }
    outage_offer(broker, hint);
    if (sim->double_offer) {
        sim->double_offer = false;
        outage_offer(broker, hint);
    }
}

static void on_let_go(struct broker *broker, struct str document, struct task_id holder,
                      struct str lock)
{
    struct broker_hook *hook = hook_of_broker(broker);
    if (hook->sim->bug != BUG_FORGOTTEN_UNLOCK || holder.lo % 8 != 1) {
        outage_let_go(broker, document, holder, lock);
    }
}

void hook_broker(struct sim *sim)
{
    sim->broker_hook = (struct broker_hook){*sim->broker->ops, sim->broker->ops, sim};
    sim->broker_hook.ops.offer = on_offer;
    sim->broker_hook.ops.let_go = on_let_go;
    outage_hook(sim);
    sim->broker->ops = &sim->broker_hook.ops;
}
