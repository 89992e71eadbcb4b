/* queue/boot.c: how the engine's memory and the broker's hints are rebuilt from the store at start.
 *
 * Thread: engine, before it runs. Keeps: the broker holds exactly the documents that the store
 * holds.
 *
 * SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "queue/engine.h"
#include "queue/publish.h"

/* Members of families are few and need to know who holds their document: they come last. */
struct boot {
    struct engine *engine;
    struct arena arena;
    struct task *members;
    size_t count, room;
    size_t live, running; /* for the log */
};

static bool boot_queue(void *arg, const struct store_queue *queue, struct err *err)
{
    struct boot *boot = arg;
    struct engine *engine = boot->engine;
    (void)err;
    lane_configure(&engine->lanes, lane_get(&engine->lanes, queue->name), queue, true,
                   clock_now(engine->with.clock));
    return true;
}

/* Attempts of this server's own workers ended with the last process: they are taken over at once.
 */
static void boot_running(struct engine *engine, const struct task *task)
{
    struct due_entry *entry = due_find(&engine->due, task->id);
    lane_get(&engine->lanes, task->queue)->running++;
    publish_hold(engine, task);
    if (entry->kind != WORKER_REMOTE) {
        engine->in_server++; /* until the janitor has said so, in the first batch */
        due_lose(&engine->due, entry);
    }
}

static bool boot_task(void *arg, const struct task *task, struct err *err)
{
    struct boot *boot = arg;
    struct engine *engine = boot->engine;
    (void)err;
    boot->live++;
    boot->running += task->state == TASK_RUNNING && !task->container;
    if (task->state != TASK_QUEUED || task->expires_ms != 0) {
        publish_set_due(engine, task, DUE_WRITTEN, clock_now(engine->with.clock));
    }
    if (task->state == TASK_RUNNING && !task->container) {
        boot_running(engine, task);
    } else if (task->container || !id_none(task->family)) {
        *ARRAY_PUSH(boot->members, boot->count, boot->room) = task_copy(&boot->arena, task);
    } else if (task->state == TASK_QUEUED) {
        publish_offer(engine, task);
    }
    return true;
}

/* The broker holds exactly what the store holds: also what a family keeps while none of its members
 * runs. */
static bool boot_document(void *arg, struct str document, struct task_id holder, struct err *err)
{
    struct boot *boot = arg;
    char lock[LOCK_TEXT];
    (void)err;
    broker_hold(boot->engine->broker, document, holder, id_text(holder, lock));
    return true;
}

/* Of queues that have only a history as many are remembered as there is room for. */
static bool boot_lanes(struct boot *boot, struct err *err)
{
    struct lanes *lanes = &boot->engine->lanes;
    struct store_counts counts;
    if (!store_counts(boot->engine->store, &boot->arena, &counts, err)) {
        return false;
    }
    int64_t queued = counts.others[TASK_QUEUED], running = counts.others[TASK_RUNNING];
    for (size_t i = 0; i < counts.count; i++) {
        queued += counts.at[i].tasks[TASK_QUEUED];
        running += counts.at[i].tasks[TASK_RUNNING];
    }
    series_begin(&boot->engine->series, boot->engine->shared,
                 clock_now(boot->engine->with.clock).wall_ms);
    series_count(&boot->engine->series, queued, running);
    for (size_t i = 0; i < counts.count; i++) {
        int64_t live = 0;
        for (int state = 0; state < TASK_STATES; state++) {
            live += task_state_terminal((enum task_state)state) ? 0 : counts.at[i].tasks[state];
        }
        if (live > 0) {
            struct lane *lane = lane_get(lanes, counts.at[i].queue);
            lane->live = live;
            lane_settle(lanes, lane);
        }
    }
    for (size_t i = 0; i < counts.count && lanes->count < LANES_MAX; i++) {
        lane_get(lanes, counts.at[i].queue);
    }
    return true;
}

/* Where others use the store too, memory holds what went through our own hands: the fleet's thread
 * offers what the broker lacks. */
bool boot_engine(struct engine *engine, struct err *err)
{
    struct boot boot = {.engine = engine};
    bool ok = store_scan_queues(engine->store, boot_queue, &boot, err) &&
              (engine->shared || (store_scan_live(engine->store, boot_task, &boot, err) &&
                                  store_scan_held(engine->store, boot_document, &boot, err))) &&
              boot_lanes(&boot, err) && flow_boot(engine, err);
    for (size_t i = 0; ok && i < boot.count; i++) {
        if (boot.members[i].state == TASK_QUEUED) {
            publish_offer(engine, &boot.members[i]);
        }
    }
    if (ok) {
        journal_recovered(boot.live, boot.running);
    }
    mem_free(boot.members);
    arena_fini(&boot.arena);
    return ok;
}
