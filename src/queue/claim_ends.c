/* queue/claim_ends.c: claims that end attempts first: a worker in its rhythm.
 *
 * Both happen in one commit wherever that is the same as one after the other. What an end sets free
 * (the next of its document, a place below a limit, a dependent, the task itself) is ready only
 * once it is published, and may have to come first (G4): then, and when there is nothing to take,
 * the claim goes on in the next batch, while the ends are on disk with this one.
 *
 * Thread: engine. Keeps: G1 (ends never wait for the claim), G4 (as if the ends had been a request
 * of their own before it).
 *
 * SPDX-License-Identifier: MIT */
#include "queue/engine.h"

/* Tasks that have become ready in this batch: no claim was proposed them. */
struct risen {
    struct item **at;
    size_t count;
};

static struct risen list_risen(struct batch *batch)
{
    struct risen risen = {arena_array(&batch->arena, struct item *, batch->all_count), 0};
    for (size_t i = 0; i < batch->all_count; i++) {
        struct item *item = batch->all[i];
        if (item->owner != NULL && item->now.state == TASK_QUEUED) {
            risen.at[risen.count++] = item;
        }
    }
    return risen;
}

/* What the claim was proposed may no longer be the most urgent there is. */
static bool must_look_again(struct batch *batch, const struct command *command,
                            const struct risen *risen)
{
    const struct command_claim *claim = &command->claim;
    if (claim->proposal == 0 || command_ends(command) == NULL) {
        return false;
    }
    const struct proposal *proposal = &batch->proposals[claim->proposal - 1];
    for (size_t i = 0; i < claim->finish.count; i++) {
        const struct item *item = batch_peek(batch, claim->finish.items[i].id);
        if (item != NULL && item->owner == command &&
            (!id_none(item->now.family) ||
             proposal_lets_others(batch, item->now.queue, item->now.document,
                                  &proposal->hints[proposal->count - 1]))) {
            return true;
        }
    }
    for (size_t i = 0; i < risen->count; i++) {
        const struct task *task = &risen->at[i]->now;
        if (claim_wants(claim, task->queue, task->type)) {
            return true;
        }
    }
    return false;
}

void claims_after_ends(struct batch *batch)
{
    if (list_empty(&batch->commands)) {
        return;
    }
    flow_follow(batch);
    struct risen risen = list_risen(batch);
    LIST_EACH(&batch->commands, it)
    {
        struct command *command = HOLDER(it, struct command, link);
        if (!batch_ok(batch)) {
            return;
        }
        if (must_look_again(batch, command, &risen)) {
            claim_look_again(batch, command);
        } else {
            claim_settle(batch, command);
        }
    }
}

void claims_ends_saved(struct batch *batch)
{
    LIST_EACH(&batch->deferred, it)
    {
        struct command *command = HOLDER(it, struct command, link);
        if (command->kind == COMMAND_CLAIM && command->claim.ending == ENDING_DECIDED) {
            command->claim.ending = ENDING_SAVED;
        }
    }
}
