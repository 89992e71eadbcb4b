/* tests/sim/order.c: strict priority, then first come, first served (G3, G4), and nobody forgotten.
 *
 * SPDX-License-Identifier: MIT */
#include "sim.h"

bool order_better(const struct known *a, const struct known *b)
{
    if (a->seen.priority != b->seen.priority) {
        return a->seen.priority > b->seen.priority;
    }
    if (a->seen.queued_ms != b->seen.queued_ms) {
        return a->seen.queued_ms < b->seen.queued_ms;
    }
    return a->id.hi < b->id.hi;
}

static bool among(struct str name, const struct str *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(name, names[i])) {
            return true;
        }
    }
    return false;
}

static bool asked_for(const struct command_claim *claim, const struct known *known)
{
    const struct seen *seen = &known->seen;
    bool queue = claim->queues_count == 0
                     ? seen->queue == 0
                     : among(know_queue(known), claim->queues, claim->queues_count);
    return queue && (claim->types_count == 0 ||
                     among(sim_types[seen->type], claim->types, claim->types_count));
}

/* Whoever of the same document runs, stands in its line for a team, or moved in this batch, may
 * have been in the way. */
static bool document_free(const struct sim *sim, const struct known *known)
{
    int document = known->seen.document;
    if (document < 0) {
        return true;
    }
    if ((sim->stale_documents & 1u << document) != 0 || relate_strays(sim, document)) {
        return false;
    }
    for (size_t i = 0; i < sim->known_count; i++) {
        const struct known *other = &sim->known[i];
        if (other != known && !other->gone && other->seen.document == document &&
            (other->dirty || (other->is_turn && other->seen.state == TASK_QUEUED) ||
             (other->seen.state == TASK_RUNNING && !other->seen.container))) {
            return false;
        }
    }
    struct task_id holder = memory_disk_holder(sim->disk, sim_documents[document]);
    return id_none(holder) || id_eq(holder, relate_holder(&known->seen, known->id));
}

/* What a store would propose: QUEUED, and its document free or its family's. */
bool order_offered(const struct sim *sim, const struct known *known)
{
    if (known->gone || known->seen.state != TASK_QUEUED || known->seen.container || known->strays) {
        return false;
    }
    if (known->seen.document < 0) {
        return true;
    }
    struct task_id holder = memory_disk_holder(sim->disk, sim_documents[known->seen.document]);
    return !relate_strays(sim, known->seen.document) &&
           (id_none(holder) || id_eq(holder, relate_holder(&known->seen, known->id)));
}

static bool could_start(struct sim *sim, const struct command_claim *claim,
                        const struct known *known)
{
    return !known->gone && !known->dirty && known->seen.state == TASK_QUEUED &&
           !known->seen.container && !known->hint_lost && !known->strays &&
           asked_for(claim, known) && rule_open(sim, known->seen.queue) &&
           document_free(sim, known);
}

const struct known *order_ready(struct sim *sim, const struct command_claim *claim)
{
    for (size_t i = 0; i < sim->known_count; i++) {
        if (could_start(sim, claim, &sim->known[i])) {
            return &sim->known[i];
        }
    }
    return NULL;
}

/* The broker may know the task at a place of long ago. */
static bool is_misplaced(const struct known *known)
{
    return known->hint_lost || known->hint_stale;
}

static void check_taken(struct sim *sim, const struct command_claim *claim,
                        const struct known *taken)
{
    if (!asked_for(claim, taken)) {
        sim_fail(sim, "a claim got task #%d, which it did not ask for", know_number(sim, taken));
    }
    for (size_t i = 0; !is_misplaced(taken) && i < sim->known_count; i++) {
        const struct known *other = &sim->known[i];
        if (could_start(sim, claim, other) && order_better(other, taken)) {
            sim_fail(sim, "G4: task #%d was started before task #%d", know_number(sim, taken),
                     know_number(sim, other));
        }
    }
}

static void check_filled(struct sim *sim, const struct call *call)
{
    const struct command_claim *claim = &call->command.claim;
    const struct known *ready = claim->count == 0 ? order_ready(sim, claim) : NULL;
    if (ready != NULL && !call->waits) {
        sim_fail(sim, "a claim got nothing though task #%d is ready", know_number(sim, ready));
    }
}

void order_check(struct sim *sim, const struct call *call)
{
    const struct command_claim *claim = &call->command.claim;
    const struct known *last = NULL;
    check_filled(sim, call);
    for (size_t i = 0; i < claim->count; i++) {
        const struct known *taken = know_find(sim, claim->tasks[i].id);
        if (taken == NULL) {
            sim_fail(sim, "a claim got a task that nobody was told of");
            return;
        }
        if (last != NULL && !is_misplaced(last) && !is_misplaced(taken) &&
            order_better(taken, last)) {
            sim_fail(sim, "G4: a claim got its tasks in the wrong order");
        }
        check_taken(sim, claim, taken);
        last = taken;
    }
}
