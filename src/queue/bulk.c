/* queue/bulk.c: cancel, retry or purge all that a filter selects, in atomic chunks.
 *
 * A bulk command acts on what existed when it began, newest first, a chunk per batch, while other
 * commands go on in between. It is answered after its last chunk.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/engine.h"
#include "queue/flow.h"

#define BIT(state) (1u << (state))

static const unsigned live = BIT(TASK_SCHEDULED) | BIT(TASK_WAITING) | BIT(TASK_QUEUED) |
                             BIT(TASK_RUNNING) | BIT(TASK_RETRYING);

/* Which states the verb can act on at all. */
static unsigned states_of(enum bulk_verb verb)
{
    switch (verb) {
    case BULK_REVIVE:
        return BIT(TASK_FAILED) | BIT(TASK_TIMEOUT) | BIT(TASK_CANCELLED);
    case BULK_PURGE:
        return live & ~BIT(TASK_RUNNING);
    default:
        return live;
    }
}

/* Behind every id that was made so far; those of other nodes by their clocks. */
static struct task_id behind_all(const struct engine *engine)
{
    uint64_t own = engine->ids.last_hi + 1;
    int64_t theirs_ms = clock_true_ms(engine->with.clock) + QUEUE_CLOCKS_APART_MS;
    return (struct task_id){engine->shared ? MAX(own, id_first_hi(theirs_ms)) : own, 0};
}

/* True when there is anything to select. */
static bool begin(struct batch *batch, struct command_bulk *bulk)
{
    if (!bulk->begun) {
        unsigned asked = bulk->filter.states == 0 ? ~0u : bulk->filter.states;
        bulk->begun = true;
        bulk->filter.before = behind_all(batch->engine);
        bulk->filter.limit = BULK_CHUNK;
        bulk->filter.states = asked & states_of(bulk->verb);
        bulk->count = 0;
    }
    bulk->chunk_before = bulk->filter.before;
    bulk->chunk_count = bulk->count;
    return bulk->filter.states != 0;
}

void bulk_undo_chunk(struct command *command)
{
    command->bulk.filter.before = command->bulk.chunk_before;
    command->bulk.count = command->bulk.chunk_count;
}

static bool act(struct batch *batch, struct item *item, const struct command *command)
{
    const struct command_bulk *bulk = &command->bulk;
    struct err refused;
    int64_t now_ms = batch->now.wall_ms;
    switch (bulk->verb) {
    case BULK_REVIVE:
        return !task_is_hold(&item->now) && guests_may_revive(batch, &item->now, &refused) &&
               flow_revive(batch, item, command, &refused);
    case BULK_PURGE:
        return item->now.state != TASK_RUNNING &&
               task_cancel(&item->now, STR("purged"), now_ms, &refused);
    default:
        return !item->now.cancel_requested &&
               task_cancel(&item->now, bulk->reason, now_ms, &refused);
    }
}

/* Acts on the tasks of a chunk. *busy: the newest that another command of this batch changed first;
 * it is looked at again in the next. */
static bool act_on_all(struct batch *batch, struct command *command, const struct task_id *ids,
                       size_t n, uint64_t *busy)
{
    for (size_t i = 0; i < n; i++) {
        batch_need(batch, ids[i], false);
    }
    if (!batch_load(batch)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        struct item *item = batch_item(batch, ids[i]);
        if (item_busy(item, command)) {
            *busy = MAX(*busy, item->id.hi);
        } else if (item->found && act(batch, item, command)) {
            batch_change(batch, item, command);
            tell_cancel(batch, item);
            command->bulk.count++;
        }
    }
    flow_follow(batch);
    return batch_ok(batch);
}

static void go_on(struct batch *batch, struct command *command, struct task_id before)
{
    command->bulk.filter.before = before;
    list_remove(&command->link);
    list_append(&batch->engine->jobs, &command->link);
}

void on_bulk(struct batch *batch, struct command *command)
{
    struct command_bulk *bulk = &command->bulk;
    struct err err = ERR_INIT;
    struct task_id *ids;
    size_t n = 0;
    uint64_t busy = 0;
    flow_follow(batch); /* a child that an earlier command started has opened its parent */
    if (begin(batch, bulk) && batch_begin(batch)) {
        if (!tx_select(batch->tx, &bulk->filter, &batch->arena, &ids, &n, &err)) {
            batch_fail_store(batch, &err);
        } else if (act_on_all(batch, command, ids, n, &busy) && (busy != 0 || n == BULK_CHUNK)) {
            /* What it acted on does not match again, or is not counted again. */
            go_on(batch, command, busy != 0 ? (struct task_id){busy + 1, 0} : ids[n - 1]);
            return;
        }
    }
    batch_answer(batch, command);
}
