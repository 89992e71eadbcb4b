/* tests/sim/outage.c: a broker that can be lost, flushed, doubted and filled again, in one process.
 *
 * The memory broker plays the server that nodes share; this file plays the connection to it, the
 * fleet's thread and the rows that claims ask instead. What is known of the server moves by the
 * real table (broker/health.h), and what the engine does in each state is the engine's own. A
 * server that has missed changes is filled from scratch: stale hints are another bad day.
 *
 * SPDX-License-Identifier: MIT */
#include "sim.h"

static struct sim *sim_of(const struct broker *broker)
{
    return HOLDER(broker->ops, struct broker_hook, ops)->sim;
}

static const struct broker_ops *server(const struct sim *sim)
{
    return sim->broker_hook.inner;
}

static void happens(struct sim *sim, enum broker_event event)
{
    enum broker_health was = sim->outage.health;
    sim->outage.health = health_next(was, event);
    if (sim->walked != NULL) {
        sim->walked->times[was][event]++;
    }
    if (was != sim->outage.health) {
        sim_trace(sim, "  the broker is %s: %s", health_rule(sim->outage.health)->name,
                  health_event_name(event));
    }
}

bool outage_relied_on(const struct sim *sim)
{
    return health_rule(sim->outage.health)->asks_broker;
}

/* Its hints and holds are those of the rows, unless a bad day says otherwise. That it was lost or
 * flushed is noticed by whoever asks it next. */
bool outage_complete(const struct sim *sim)
{
    return !sim->outage.cut && !sim->outage.empty &&
           (sim->outage.health == BROKER_WHOLE || sim->outage.health == BROKER_DOUBTED);
}

/* False: the server does not answer. The first word after missed changes empties it. */
static bool reaches(struct sim *sim, bool with_changes)
{
    if (with_changes && sim->outage.cut_next) {
        sim->outage.cut = true;
        sim->outage.cut_next = false;
    }
    if (sim->outage.cut) {
        bool told = with_changes && sim->bug != BUG_UNTOLD_LOSS;
        happens(sim, told ? BROKER_LOST_CHANGES : BROKER_LOST);
        return false;
    }
    if (sim->outage.health == BROKER_MISSED) {
        sim->outage.empty = true;
    }
    bool whole = !sim->outage.empty || sim->bug == BUG_TRUSTED_EMPTY;
    happens(sim, whole ? BROKER_SAID_WHOLE : BROKER_SAID_EMPTY);
    return true;
}

/* ---- What the engine calls ---- */

void outage_offer(struct broker *broker, const struct hint *hint)
{
    struct sim *sim = sim_of(broker);
    if (reaches(sim, true)) {
        server(sim)->offer(broker, hint);
    }
    if (!outage_relied_on(sim)) {
        broker->ready(broker->arg, hint->queue, hint->type);
    }
}

static void on_withdraw(struct broker *broker, const struct hint *hint)
{
    if (reaches(sim_of(broker), true)) {
        server(sim_of(broker))->withdraw(broker, hint);
    }
}

static void on_give_back(struct broker *broker, const struct hint *hint)
{
    struct sim *sim = sim_of(broker);
    if (reaches(sim, true)) {
        server(sim)->give_back(broker, hint);
    }
    if (!outage_relied_on(sim)) {
        broker->ready(broker->arg, hint->queue, hint->type);
    }
}

static size_t on_take(struct broker *broker, const struct want *want, size_t max, struct hint *out,
                      struct arena *arena)
{
    struct sim *sim = sim_of(broker);
    return reaches(sim, true) && (!sim->outage.empty || sim->bug == BUG_TRUSTED_EMPTY)
               ? server(sim)->take(broker, want, max, out, arena)
               : 0;
}

static void on_hold(struct broker *broker, struct str document, struct task_id holder,
                    struct str lock)
{
    if (reaches(sim_of(broker), true)) {
        server(sim_of(broker))->hold(broker, document, holder, lock);
    }
}

void outage_let_go(struct broker *broker, struct str document, struct task_id holder,
                   struct str lock)
{
    if (reaches(sim_of(broker), true)) {
        server(sim_of(broker))->let_go(broker, document, holder, lock);
    }
}

static void on_document(struct broker *broker, struct str document, size_t most,
                        struct arena *arena, struct broker_document *out)
{
    if (reaches(sim_of(broker), false)) {
        server(sim_of(broker))->document(broker, document, most, arena, out);
    }
}

/* Who cannot say, says yes: the claim then finds out. */
static bool on_has(struct broker *broker, const struct want *want)
{
    struct sim *sim = sim_of(broker);
    return !reaches(sim, false) || !outage_complete(sim) || server(sim)->has(broker, want);
}

static size_t on_ready_count(struct broker *broker)
{
    struct sim *sim = sim_of(broker);
    return reaches(sim, false) && outage_complete(sim) ? server(sim)->ready_count(broker)
                                                       : SIZE_MAX;
}

static enum broker_health on_health(struct broker *broker)
{
    struct sim *sim = sim_of(broker);
    if (sim->outage.cut) {
        happens(sim, BROKER_LOST);
    }
    return sim->outage.health;
}

static enum broker_health on_check(struct broker *broker)
{
    (void)!reaches(sim_of(broker), false);
    return sim_of(broker)->outage.health;
}

static void on_doubt(struct broker *broker, bool doubts)
{
    happens(sim_of(broker), doubts ? BROKER_DOUBT : BROKER_TRUST);
}

void outage_hook(struct sim *sim)
{
    struct broker_ops *ops = &sim->broker_hook.ops;
    bool late = sim->seed % 4 == 0; /* a node that starts before anybody has filled the broker */
    sim->outage = (struct outage){.health = late ? BROKER_FILLING : BROKER_WHOLE, .empty = late};
    ops->withdraw = on_withdraw;
    ops->give_back = on_give_back;
    ops->take = on_take;
    ops->hold = on_hold;
    ops->document = on_document;
    ops->has = on_has;
    ops->ready_count = on_ready_count;
    ops->health = on_health;
    ops->check = on_check;
    ops->doubt = on_doubt;
}

/* ---- The rows, for claims that do not ask the broker ---- */

static bool wants(const struct want *want, const struct known *known, const size_t *taken)
{
    struct str queue = know_queue(known), type = sim_types[known->seen.type];
    bool asked = want->any_queue, typed = want->types_count == 0;
    for (size_t i = 0; i < want->queues_count; i++) {
        if (str_eq(want->queues[i].name, queue)) {
            asked = taken[MIN(known->seen.queue, QUEUES)] < want->queues[i].room;
        }
    }
    for (size_t i = 0; i < want->types_count; i++) {
        typed = typed || str_eq(want->types[i], type);
    }
    return asked && typed;
}

/* As tx_propose() of a shared store promises: see store/fleet.h. */
static bool propose(struct tx *tx, const struct want *want, size_t max, struct arena *arena,
                    struct hint *out, size_t *count, struct err *err)
{
    struct sim *sim = HOLDER(tx->ops, struct store_hook, ops)->sim;
    struct proposed *proposed = &sim->proposed;
    size_t taken[QUEUES + 1] = {0}; /* the last for queues of teams */
    (void)arena;
    (void)err;
    *count = 0;
    while (*count < max) {
        const struct known *best = NULL;
        for (size_t i = 0; i < sim->known_count; i++) {
            const struct known *known = &sim->known[i];
            int document = known->seen.document;
            if (!proposed->tasks[i] && order_offered(sim, known) && wants(want, known, taken) &&
                (document < 0 || !proposed->documents[document]) &&
                (best == NULL || order_better(known, best))) {
                best = known;
            }
        }
        if (best == NULL) {
            return true;
        }
        proposed->tasks[best - sim->known] = true;
        taken[MIN(best->seen.queue, QUEUES)]++;
        if (best->seen.document >= 0) {
            proposed->documents[best->seen.document] = true;
        }
        out[(*count)++] = know_hint(best);
    }
    return true;
}

const struct fleet_ops outage_rows = {.propose = propose};

/* ---- Fate ---- */

static void forget_all(struct sim *sim)
{
    struct broker_document found;
    for (size_t i = 0; i < sim->known_count; i++) {
        server(sim)->withdraw(sim->broker, &(struct hint){.id = sim->known[i].id});
    }
    for (int i = 0; i < DOCUMENTS; i++) {
        found = (struct broker_document){.document = sim_documents[i]};
        server(sim)->document(sim->broker, sim_documents[i], 0, &sim->arena, &found);
        if (found.held) {
            server(sim)->let_go(sim->broker, sim_documents[i], found.holder, STR_NONE);
        }
    }
    sim->outage.empty = true;
}

/* What the leader's walk does: documents first, then what is QUEUED, then the sentinel. */
static void refill(struct sim *sim)
{
    world_settle(sim);
    if (sim->failed || sim->outage.cut || !sim->outage.empty) {
        return;
    }
    sim_trace(sim, "the broker is filled again");
    forget_all(sim);
    for (int i = 0; i < DOCUMENTS; i++) {
        struct task_id holder = memory_disk_holder(sim->disk, sim_documents[i]);
        if (!id_none(holder)) {
            server(sim)->hold(sim->broker, sim_documents[i], holder, STR_NONE);
        }
    }
    struct call *call = world_call(sim, COMMAND_REVIEW);
    struct task_id *ids = arena_array(&sim->arena, struct task_id, sim->known_count + 1);
    for (size_t i = 0; i < sim->known_count; i++) {
        if (!sim->known[i].gone && sim->known[i].seen.state == TASK_QUEUED) {
            ids[call->command.review.count++] = sim->known[i].id;
            sim->known[i].hint_lost = sim->known[i].hint_stale = false;
        }
    }
    call->command.review.ids = ids;
    sim->lost_count = 0;
    sim->lose_offer = sim->double_offer = sim->stale_hints = false;
    sim->stale_documents = 0;
    world_give(sim, call);
    while (!call->answered && !sim->failed && !sim->outage.cut) {
        world_batch(sim);
    }
    sim->outage.empty = call->answered && call->command.err.kind == ERR_NONE ? false : true;
}

static void tell_doubt(struct sim *sim, bool doubts)
{
    struct call *call = world_call(sim, COMMAND_DOUBT);
    call->command.doubt.doubts = doubts;
    sim_trace(sim, doubts ? "another node is blind" : "all nodes see the broker");
    world_give(sim, call);
}

/* What comes next: something bad, or the next step on the way back. */
void outage_step(struct sim *sim)
{
    if (sim->whole) {
        return;
    }
    if (sim->outage.cut) {
        sim_trace(sim, "the broker is back");
        sim->outage.cut = false;
    } else if (sim->outage.empty && sim_chance(sim, 70)) {
        refill(sim);
    } else if (sim->outage.health == BROKER_DOUBTED && sim_chance(sim, 70)) {
        tell_doubt(sim, false);
    } else if (sim_chance(sim, 40)) {
        sim_trace(sim, "the broker is lost");
        *(sim_chance(sim, 50) ? &sim->outage.cut : &sim->outage.cut_next) = true;
    } else if (sim_chance(sim, 50)) {
        sim_trace(sim, "the broker is flushed");
        forget_all(sim);
    } else {
        tell_doubt(sim, true);
    }
}
