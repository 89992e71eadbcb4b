/* queue/return.c: proposals that go back undecided, and whoever was proposed less for their sake.
 *
 * What a claim is proposed is kept from the others of its batch. When it goes back (claim_ends.c:
 * something more urgent is about to become ready), a claim that came behind it may hold something
 * less urgent: that goes back as well, and both are proposed anew in the next batch.
 *
 * Thread: engine. Keeps: G4 (strict priority).
 *
 * SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "queue/engine.h"

bool proposal_lets_others(struct batch *batch, struct str queue, struct str document,
                          const struct hint *last)
{
    struct engine *engine = batch->engine;
    const struct lane *lane = lane_find(&engine->lanes, queue);
    /* A broker that is not asked for proposals does not know who stands in line either. */
    return (lane != NULL && link_in_list(&lane->limited)) ||
           (!str_absent(document) &&
            (batch->asked_rows || broker_waits_before(engine->broker, document, last)));
}

void claim_look_again(struct batch *batch, struct command *command)
{
    if (command->claim.proposal != 0) {
        *ARRAY_PUSH(batch->returns, batch->returns_count, batch->returns_room) =
            command->claim.proposal;
    }
    command->claim.proposal = 0;
    batch_defer(batch, command);
}

static bool is_before(const struct hint *a, const struct hint *b)
{
    return a->priority != b->priority     ? a->priority > b->priority
           : a->queued_ms != b->queued_ms ? a->queued_ms < b->queued_ms
                                          : a->id.hi < b->id.hi;
}

static bool comes_before(struct batch *batch, const struct proposal *returned,
                         const struct command_claim *claim, const struct hint *last)
{
    for (size_t i = 0; i < returned->count; i++) {
        const struct hint *hint = &returned->hints[i];
        if ((is_before(hint, last) && claim_wants(claim, hint->queue, hint->type)) ||
            proposal_lets_others(batch, hint->queue, hint->document, last)) {
            return true;
        }
    }
    return false;
}

/* Where the broker is lost in the midst of a batch the rows do not know what it has proposed, and
 * propose it once more, or another of its document. The store would refuse the second of a document
 * each time the batch is decided anew; and a task that is counted twice uses up a place below its
 * queue's limit that belongs to another, which may come before what else this claim holds. */
static bool is_taken_twice(const struct batch *batch, const struct item *item)
{
    if (item->claim != NULL || str_absent(item->now.document)) {
        return item->claim != NULL;
    }
    for (size_t i = 0; i < batch->all_count; i++) {
        const struct item *other = batch->all[i];
        if (other == item || other->claim == NULL) {
            continue;
        }
        bool family = !id_none(item->now.family) && id_eq(item->now.family, other->now.family);
        if (!family && str_eq(other->now.document, item->now.document)) {
            return true;
        }
    }
    return false;
}

bool claim_overtaken(struct batch *batch, const struct command *command)
{
    const struct command_claim *claim = &command->claim;
    if (claim->proposal == 0) {
        return false;
    }
    const struct proposal *own = &batch->proposals[claim->proposal - 1];
    for (size_t i = 0; i < batch->returns_count; i++) {
        if (comes_before(batch, &batch->proposals[batch->returns[i] - 1], claim,
                         &own->hints[own->count - 1])) {
            return true;
        }
    }
    for (size_t i = 0; batch->asked_rows && i < own->count; i++) {
        const struct item *item = batch_peek(batch, own->hints[i].id);
        if (item != NULL && is_taken_twice(batch, item)) {
            return true;
        }
    }
    return false;
}
