/* queue/failover.c: the store has failed over, and may have lost what it had acknowledged.
 *
 * What memory holds of waiting tasks are hints, compared with the rows before anything is done
 * about them. Work inside this server is more than a hint: it goes on whatever the rows say. So
 * each attempt of our own is compared with its row at once, and stopped if that does not know it.
 * Another node may run such work too, and until it has looked nobody may start what the rows call
 * ready: all nodes hold their starts until each has said, with its heartbeat, that it has looked
 * (fleet/roster.c), but no longer than leases inside servers last.
 *
 * Thread: engine. Keeps: G2 and G3 for work inside servers, as far as a lost tail allows.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/failover.h"

#include "base/log.h"
#include "queue/decide.h"
#include "queue/engine.h"
#include "queue/guests.h"
#include "store/fleet.h"

void failover_begin(struct engine *engine)
{
    if (engine->shared) {
        struct store_ground ground = store_ground(engine->store);
        engine->ground.history = ground.history;
        engine->ground.line = ground.line;
    }
}

/* Whether every attempt inside this server was compared with its row, after it was put in doubt. */
static bool is_certain(struct engine *engine, bool doubt, struct now now)
{
    bool certain = true;
    LIST_EACH(&engine->workers.recent, it)
    {
        struct worker *worker = HOLDER(it, struct worker, recent);
        bool own = task_worker_reserved(worker->id) && shared_is_own(engine, worker->id);
        LIST_EACH(&worker->attempts, at)
        {
            struct due_entry *entry = HOLDER(at, struct due_entry, of_worker);
            if (own && doubt) {
                due_doubt(&engine->due, entry, now);
            }
            certain = certain && !(own && entry->doubted);
        }
    }
    return certain;
}

static void hold(struct engine *engine, struct now now)
{
    engine->ground.line = LINE_OPEN;
    engine->ground.holds = true;
    engine->ground.holds_until_mono_ms = now.mono_ms + OWN_LEASE_MS;
    engine->ground.stopped_at_mono_ms = now.mono_ms;
    (void)!is_certain(engine, true, now);
    guests_look_again(engine);
}

static void resume(struct engine *engine)
{
    engine->ground.holds = false;
    lanes_wake_all(&engine->lanes);
    log_info("this node starts tasks again");
}

void failover_look(struct engine *engine, struct now now)
{
    struct store_ground ground;
    if (!engine->shared) {
        return;
    }
    ground = store_ground(engine->store);
    if (ground.history != engine->ground.history) {
        engine->ground.history = ground.history;
        hold(engine, now);
    }
    if (engine->ground.line == LINE_OPEN && now.mono_ms >= engine->ground.stopped_at_mono_ms &&
        is_certain(engine, false, now)) {
        engine->ground.line = ground.line;
    }
    if (engine->ground.holds && now.mono_ms >= engine->ground.holds_until_mono_ms) {
        log_warn("not every node has compared its work with the rows; going on without them");
        resume(engine);
    }
}

bool failover_runs_unknown(const struct engine *engine, const struct due_entry *entry,
                           const struct task *row)
{
    return engine->shared && entry != NULL && entry->timeout_at_ms != 0 &&
           entry->kind != WORKER_REMOTE &&
           !(row != NULL && row->state == TASK_RUNNING && row->attempt == entry->attempt &&
             row->token == entry->token);
}

/* It has its grace period; a run function that does not return cannot be waited for. */
void failover_stops(struct engine *engine, struct now now)
{
    if (engine->ground.holds) {
        engine->ground.stopped_at_mono_ms = now.mono_ms + engine->with.grace_ms;
    }
}

void on_resume(struct batch *batch, struct command *command)
{
    struct engine *engine = batch->engine;
    if (engine->ground.holds && engine->ground.line == command->resume.line) {
        resume(engine);
    }
    batch_answer(batch, command);
}
