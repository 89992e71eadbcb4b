/* queue/meet.c: a new task meets a worker that waits for it: created and started in one commit.
 *
 * A task is usually offered once its creation is on disk, and a claim that waits starts it in the
 * batch after that: two commits in a row before the worker has it. Where nothing else could come
 * first both are one. Whatever needs a second look goes the usual way: limits, documents,
 * relations, and every batch in which something else becomes ready too.
 *
 * Thread: engine. Keeps: G1 (both are on disk before either is answered), G4 (the most urgent of
 * the new ones first, and only for claims that nothing else is there for).
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "queue/engine.h"

#define LOOK_MAX 64 /* claims in line that are asked for one task; then it is offered to all */

/* Something that was there before becomes ready in this batch, and may have to come first. */
static bool others_queue(const struct batch *batch)
{
    for (size_t i = 0; i < batch->all_count; i++) {
        if (batch->all[i]->owner != NULL && batch->all[i]->now.state == TASK_QUEUED) {
            return true;
        }
    }
    return batch->returned_count > 0;
}

/* ---- The new tasks ---- */

static int by_urgency(const void *left, const void *right)
{
    const struct task *a = &(*(struct order *const *)left)->task;
    const struct task *b = &(*(struct order *const *)right)->task;
    if (a->priority != b->priority) {
        return a->priority > b->priority ? -1 : 1;
    }
    if (a->queued_ms != b->queued_ms) {
        return a->queued_ms < b->queued_ms ? -1 : 1;
    }
    return (a->id.hi > b->id.hi) - (a->id.hi < b->id.hi);
}

static size_t list_plain(struct batch *batch, struct order **out)
{
    size_t n = 0;
    for (size_t i = 0; i < batch->orders_count; i++) {
        struct task *task = &batch->orders[i]->task;
        /* The start of a plain task touches nothing but the task itself. */
        bool plain = task->state == TASK_QUEUED && !task->container && str_absent(task->document) &&
                     id_none(task->parent) && id_none(task->family) && id_none(task->team) &&
                     id_none(task->schedule) && task->depends_count == 0;
        struct lane *lane = plain ? lane_find(&batch->engine->lanes, task->queue) : NULL;
        if (lane != NULL && !link_in_list(&lane->limited) && !batch_knows(batch, task->id)) {
            out[n++] = batch->orders[i];
        }
    }
    qsort(out, n, sizeof(struct order *), by_urgency);
    return n;
}

/* ---- Who takes them ---- */

static bool names(const struct str *list, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(list[i], name)) {
            return true;
        }
    }
    return false;
}

bool claim_wants(const struct command_claim *claim, struct str queue, struct str type)
{
    size_t count;
    const struct str *queues = claim_queues(claim, &count);
    return (claim->types_count == 0 || names(claim->types, claim->types_count, type)) &&
           (claim->any_queue || names(queues, count, queue));
}

static bool is_limited(const struct batch *batch, const struct task *task)
{
    return link_in_list(&lane_find(&batch->engine->lanes, task->queue)->limited);
}

/* Among nodes a claim that waits found nothing when it asked, and whatever a node has offered since
 * wakes its lane; what the queue allows is asked of the store, as for any claim. */
static bool nothing_comes_first(struct batch *batch, const struct command_claim *claim,
                                const struct task *task)
{
    return batch->engine->shared ? shared_load_rooms(batch, claim) && !is_limited(batch, task)
                                 : !claim_may_find(batch, claim);
}

static struct command *first_in(struct batch *batch, const struct list *line,
                                const struct task *task)
{
    size_t looked = 0;
    LIST_EACH(line, it)
    {
        struct command *command = HOLDER(it, struct claim_place, link)->claim;
        if (looked++ == LOOK_MAX) {
            break;
        }
        const struct command_claim *claim = &command->claim;
        /* Workers inside the server take quick tasks by the dozen: they ask the broker. */
        bool is_free = claim->wait && claim->proposal == 0 && claim->count == 0 &&
                       claim->signal == SIGNAL_NONE && claim->quick == NULL;
        if (is_free && claim_wants(claim, task->queue, task->type) &&
            nothing_comes_first(batch, claim, task)) {
            return command;
        }
    }
    return NULL;
}

/* ---- Meeting ---- */

static bool start(struct batch *batch, const struct task *task, struct command *command)
{
    struct command_claim *claim = &command->claim;
    struct item *item = batch_new_item(batch, task);
    if (!claim_start(batch, item, command)) {
        return false;
    }
    item->fresh = true;
    batch->met++;
    claim->tasks[claim->count++] = task_copy(command->arena, &item->now);
    return true;
}

/* The claim takes as many of them as it wants; those that are taken leave the list. It stays in
 * line until they are on disk. */
static void serve(struct batch *batch, struct command *command, struct order **orders, size_t n)
{
    struct command_claim *claim = &command->claim;
    size_t most = MIN(claim->max, n);
    claim->count = 0;
    claim->tasks = arena_array(command->arena, struct task, most);
    claim->facts = arena_array(command->arena, struct claim_facts, most);
    for (size_t i = 0; i < n && claim->count < most; i++) {
        if (orders[i] != NULL && claim_wants(claim, orders[i]->task.queue, orders[i]->task.type) &&
            !is_limited(batch, &orders[i]->task) && start(batch, &orders[i]->task, command)) {
            orders[i] = NULL;
        }
    }
}

/* Nodes that share a store meet only while the broker tells all that others offer, and nobody was
 * told to look again. */
static bool hears_all(const struct engine *engine)
{
    return !engine->shared ||
           (relies_on_broker(engine) && list_empty(&engine->lanes.ready) && !engine->ground.holds);
}

void claims_meet(struct batch *batch)
{
    const struct engine *engine = batch->engine;
    const struct lanes *lanes = &engine->lanes;
    if (batch->orders_count == 0 || list_empty(&engine->claims.waiting) || !hears_all(engine) ||
        engine->draining || engine_paused(engine, batch->now) || !batch_ok(batch) || batch->lost ||
        batch->queue_changes_count > 0 || others_queue(batch)) {
        return;
    }
    struct order **orders = arena_array(&batch->arena, struct order *, batch->orders_count);
    size_t n = list_plain(batch, orders);
    for (size_t i = 0; i < n && !list_empty(&engine->claims.waiting); i++) {
        if (orders[i] == NULL) {
            continue;
        }
        const struct task *task = &orders[i]->task;
        struct command *command = first_in(batch, &lane_find(lanes, task->queue)->waiting, task);
        command = command != NULL ? command : first_in(batch, &lanes->any, task);
        if (command != NULL) {
            serve(batch, command, &orders[i], n - i);
        }
    }
}

void claims_met(struct batch *batch, bool committed)
{
    for (size_t i = 0; batch->met > 0 && i < batch->all_count; i++) {
        struct command *command = batch->all[i]->fresh ? batch->all[i]->claim : NULL;
        if (command == NULL || !link_in_list(&command->claim.waiting)) {
            continue; /* or it was answered with an earlier one */
        }
        if (committed) {
            claim_unpark(batch->engine, command);
            list_append(&batch->answered, &command->link);
        } else {
            command->claim.count = 0;
        }
    }
}
