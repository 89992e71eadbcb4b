/* queue/propose.c: which tasks a claim could start: the broker's hints, or the rows where it cannot
 * tell, within the limits of their queues.
 *
 * Proposals are made before the batch is loaded; claim.c decides what becomes of them.
 *
 * Thread: engine. Keeps: G4 (strict priority), and the queues' hard limits.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>

#include "base/array.h"
#include "queue/engine.h"
#include "store/fleet.h"

static const struct str default_queue = {"default", 7};

const struct str *claim_queues(const struct command_claim *claim, size_t *count)
{
    *count = claim->queues_count == 0 ? 1 : claim->queues_count;
    return claim->queues_count == 0 ? &default_queue : claim->queues;
}

/* Every queue there is: those with a limit are named with the room they have, also when it is none.
 */
static void want_any(struct batch *batch, struct want *want)
{
    struct lanes *lanes = &batch->engine->lanes;
    size_t count = 0;
    LIST_EACH(&lanes->limited, it)
    {
        count++;
    }
    struct want_queue *queues = arena_array(&batch->arena, struct want_queue, count);
    count = 0;
    LIST_EACH(&lanes->limited, it)
    {
        struct lane *lane = HOLDER(it, struct lane, limited);
        queues[count++] = (struct want_queue){lane->settings.name, lane_room(lane, batch->now)};
    }
    want->queues = queues;
    want->queues_count = count;
    want->any_queue = true;
}

/* What the claim may take now, by its queues' limits. False: nothing at all. */
static bool want_of(struct batch *batch, const struct command_claim *claim, struct want *want)
{
    size_t count, open = 0;
    *want = (struct want){.types = claim->types, .types_count = claim->types_count};
    if (claim->any_queue) {
        want_any(batch, want);
        return true;
    }
    const struct str *names = claim_queues(claim, &count);
    struct want_queue *queues = arena_array(&batch->arena, struct want_queue, count);
    for (size_t i = 0; i < count; i++) {
        struct lane *lane = lane_find(&batch->engine->lanes, names[i]);
        size_t unseen = batch->engine->shared ? SIZE_MAX : 0; /* another node may have seen it */
        size_t room = lane == NULL ? unseen : lane_room(lane, batch->now);
        if (room > 0) {
            queues[open++] = (struct want_queue){names[i], room};
        }
    }
    want->queues = queues;
    want->queues_count = open;
    return open > 0;
}

void claim_reserve(struct batch *batch, const struct hint *hint, int64_t by)
{
    struct lane *lane = lane_get(&batch->engine->lanes, hint->queue);
    lane->pending += by;
    assert(lane->pending >= 0);
    lane_settle(&batch->engine->lanes, lane);
}

static uint64_t want_hash(const struct command_claim *claim)
{
    uint64_t hash = claim->any_queue ? 7 : claim->in_order ? 3 : 5;
    for (size_t i = 0; i < claim->types_count; i++) {
        hash = hash * 31 + str_hash(claim->types[i]);
    }
    for (size_t i = 0; i < claim->queues_count; i++) {
        hash = hash * 37 + str_hash(claim->queues[i]);
    }
    return hash;
}

/* A thousand claims that wait for the same would each ask the store, and each get nothing. */
static bool found_nothing(const struct batch *batch, const struct command_claim *claim)
{
    uint64_t hash = batch->nothing_count == 0 ? 0 : want_hash(claim);
    for (size_t i = 0; i < batch->nothing_count; i++) {
        if (batch->nothing[i] == hash) {
            return true;
        }
    }
    return false;
}

/* From the broker's hints; from the rows when it cannot tell. Both end in the same tx_save(). */
static size_t take(struct batch *batch, const struct want *want, size_t max, struct hint *out)
{
    struct broker *broker = batch->engine->broker;
    struct err err = ERR_INIT;
    const struct engine *engine = batch->engine;
    size_t n = relies_on_broker(engine) ? broker_take(broker, want, max, out, &batch->arena) : 0;
    if (n > 0 || relies_on_broker(engine) || !batch_begin(batch)) {
        return n;
    }
    batch->asked_rows = true;
    if (!tx_propose(batch->tx, want, max, &batch->arena, out, &n, &err)) {
        batch_fail_store(batch, &err);
        return 0;
    }
    return n;
}

/* A broker in this process is asked before room is made for its answer; one that is a round trip
 * away only once, and the rows likewise. */
static bool knows_at_once(const struct engine *engine)
{
    return !engine->shared && relies_on_broker(engine);
}

static bool may_have(const struct engine *engine, const struct want *want)
{
    return !knows_at_once(engine) || broker_has(engine->broker, want);
}

static bool is_quick(const struct command_claim *claim, struct str type)
{
    for (size_t i = 0; i < claim->types_count; i++) {
        if (str_eq(claim->types[i], type)) {
            return claim->quick[i];
        }
    }
    return false;
}

/* One by one, each by the room that is left: what comes behind a quick task is still the most
 * urgent there is. Among nodes each would be a question to another machine. */
static size_t take_behind_quick(struct batch *batch, const struct command_claim *claim, size_t max,
                                struct hint *hints, size_t n)
{
    struct want want;
    while (n > 0 && n < max && !batch->engine->shared && is_quick(claim, hints[n - 1].type) &&
           want_of(batch, claim, &want) && take(batch, &want, 1, &hints[n]) > 0) {
        claim_reserve(batch, &hints[n++], 1);
    }
    return n;
}

/* ---- Claims that want the same ---- */

/* A broker that is a round trip away is asked once for all claims of a batch that want the same. */
struct pool {
    struct pool *next;
    uint64_t want;
    struct hint *hints;
    size_t at, count; /* given to claims so far, taken in all */
};

/* What is set aside and not used was kept from claims that want other things: who takes quick tasks
 * is given one here, see claim_propose(). */
static size_t places(const struct command *command, uint64_t want)
{
    bool same = command->kind == COMMAND_CLAIM && want_hash(&command->claim) == want;
    size_t most = command->claim.quick == NULL ? command->claim.max : MIN(command->claim.max, 1u);
    return same ? most : 0;
}

/* How many tasks all claims of this want could take together. */
static size_t wanted(const struct batch *batch, uint64_t want)
{
    size_t n = 0;
    LIST_EACH(&batch->commands, it)
    {
        n += places(HOLDER(it, struct command, link), want);
    }
    LIST_EACH(&batch->engine->claims.waiting, it)
    {
        n += places(HOLDER(it, struct command, claim.waiting), want);
    }
    return n;
}

/* `all`: of the claims that want the same; `hash`: of what they are asked for now. */
static struct pool *pool_fill(struct batch *batch, const struct want *want, uint64_t all,
                              uint64_t hash, size_t max)
{
    struct pool *pool = arena_new(&batch->arena, struct pool);
    size_t most = MIN(MAX(wanted(batch, all), max), (size_t)CLAIM_MAX);
    *pool = (struct pool){.next = batch->pools, .want = hash};
    pool->hints = arena_array(&batch->arena, struct hint, most);
    pool->count = take(batch, want, most, pool->hints);
    for (size_t i = 0; i < pool->count; i++) {
        claim_reserve(batch, &pool->hints[i], 1);
    }
    batch->pools = pool;
    return pool;
}

static size_t take_for(struct batch *batch, const struct command_claim *claim,
                       const struct want *want, size_t max, struct hint *out)
{
    if (!batch->engine->shared) {
        size_t n = take(batch, want, max, out);
        for (size_t i = 0; i < n; i++) {
            claim_reserve(batch, &out[i], 1);
        }
        return n;
    }
    uint64_t all = want_hash(claim), hash = all;
    if (claim->in_order) { /* one of its queues at a time */
        hash = all * 31 + str_hash(want->queues[0].name);
    }
    struct pool *pool = batch->pools;
    while (pool != NULL && pool->want != hash) {
        pool = pool->next;
    }
    pool = pool == NULL ? pool_fill(batch, want, all, hash, max) : pool;
    size_t n = MIN(max, pool->count - pool->at);
    for (size_t i = 0; i < n; i++) {
        out[i] = pool->hints[pool->at++];
    }
    return n;
}

void claims_return_pools(struct batch *batch)
{
    for (struct pool *pool = batch->pools; pool != NULL; pool = pool->next) {
        for (; pool->at < pool->count; pool->at++) {
            claim_reserve(batch, &pool->hints[pool->at], -1);
            broker_give_back(batch->engine->broker, &pool->hints[pool->at]);
        }
    }
}

bool claim_may_find(struct batch *batch, const struct command_claim *claim)
{
    struct want want;
    return want_of(batch, claim, &want) && may_have(batch->engine, &want);
}

/* The queues in the order in which they are named: nothing of the second while the first has any.
 */
static size_t take_in_order(struct batch *batch, const struct command_claim *claim,
                            const struct want *want, size_t max, struct hint *out)
{
    size_t n = 0;
    for (size_t i = 0; i < want->queues_count && n < max; i++) {
        struct want one = *want;
        one.queues = &want->queues[i];
        one.queues_count = 1;
        n += may_have(batch->engine, &one) ? take_for(batch, claim, &one, max - n, out + n) : 0;
    }
    return n;
}

/* Asks for proposals. Returns how many; they are loaded with the rest of the batch. */
size_t claim_propose(struct batch *batch, struct command *command)
{
    struct want want;
    struct command_claim *claim = &command->claim;
    if (batch->engine->ground.holds || found_nothing(batch, claim) ||
        !shared_load_rooms(batch, claim) || !want_of(batch, claim, &want) ||
        !may_have(batch->engine, &want)) {
        return 0;
    }
    size_t max = knows_at_once(batch->engine)
                     ? MIN(claim->max, broker_ready_count(batch->engine->broker))
                     : claim->max;
    struct hint *hints = arena_array(&batch->arena, struct hint, max);
    size_t n = claim->in_order ? take_in_order(batch, claim, &want, max, hints)
                               : take_for(batch, claim, &want,
                                          claim->quick == NULL ? max : MIN(max, 1u), hints);
    n = claim->quick == NULL ? n : take_behind_quick(batch, claim, max, hints, n);
    if (n == 0) {
        if (batch->engine->shared && batch->nothing_count < NOTHING_MAX) {
            batch->nothing[batch->nothing_count++] = want_hash(claim);
        }
        return 0;
    }
    struct proposal *proposal =
        ARRAY_PUSH(batch->proposals, batch->proposals_count, batch->proposals_room);
    *proposal = (struct proposal){.claim = command, .hints = hints, .count = n};
    claim->proposal = batch->proposals_count;
    for (size_t i = 0; i < n; i++) {
        if (str_absent(hints[i].document)) {
            batch_need_start(batch, &hints[i]);
        } else {
            batch_need(batch, hints[i].id, true);
        }
    }
    return n;
}

/* ---- Claims that wait ---- */

static bool has_anything(struct batch *batch, struct lane *lane)
{
    if (!knows_at_once(batch->engine)) {
        return true; /* what the store said of its limits in the last batch is no longer so */
    }
    struct want_queue queue = {lane->settings.name, lane_room(lane, batch->now)};
    return queue.room > 0 &&
           broker_has(batch->engine->broker, &(struct want){.queues = &queue, .queues_count = 1});
}

static void propose_to_line(struct batch *batch, struct lane *lane, struct list *line)
{
    LIST_EACH(line, it)
    {
        struct command *command = HOLDER(it, struct claim_place, link)->claim;
        if (!has_anything(batch, lane)) {
            return;
        }
        if (batch->proposals_count >= BATCH_COMMANDS_MAX) {
            lane_wake(&batch->engine->lanes, lane); /* the rest of the line in the next batch */
            return;
        }
        if (command->claim.proposal == 0) {
            claim_propose(batch, command);
        }
    }
}

void claims_propose(struct batch *batch)
{
    struct lanes *lanes = &batch->engine->lanes;
    struct list ready; /* apart, because a lane may be woken again for the next batch */
    list_init(&ready);
    if (engine_paused(batch->engine, batch->now)) {
        return;
    }
    LIST_EACH(&lanes->limited, it)
    { /* a token may have dropped into the bucket meanwhile */
        lane_wake(lanes, HOLDER(it, struct lane, limited));
    }
    LIST_EACH(&lanes->ready, it)
    {
        list_remove(it);
        list_append(&ready, it);
    }
    LIST_EACH(&ready, it)
    {
        struct lane *lane = HOLDER(it, struct lane, ready);
        list_remove(it);
        propose_to_line(batch, lane, &lane->waiting);
        propose_to_line(batch, lane, &lanes->any);
    }
}
