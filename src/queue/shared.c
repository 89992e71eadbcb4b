/* queue/shared.c: what is different when other nodes use the store too.
 *
 * Memory then holds only what went through our own hands, and may be out of date: a deadline that
 * has come is compared with the row before anything is done about it, limits are asked of the
 * store, and claims that wait are woken by what other nodes say, or look for themselves once a
 * second while no broker can tell. An attempt inside this server has a lease like any other,
 * renewed long before it ends; if it cannot be renewed the work is stopped before the lease is over
 * (G3).
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/shared.h"

#include "base/log.h"
#include "base/mem.h"
#include "queue/decide.h"
#include "queue/engine.h"
#include "queue/guests.h"
#include "queue/publish.h"
#include "store/fleet.h"

bool shared_is_own(const struct engine *engine, struct str worker)
{
    return task_worker_kind(worker) != WORKER_REMOTE &&
           (!engine->shared || str_eq(task_worker_node(worker), engine->with.node));
}

bool shared_somebody_takes(struct batch *batch, const struct task *task)
{
    LIST_EACH(&batch->engine->workers.recent, it)
    {
        const struct worker *worker = HOLDER(it, struct worker, recent);
        if (worker_present(worker, batch->now) && worker_takes(worker, task->type, task->queue)) {
            return true;
        }
    }
    for (size_t i = 0; i < batch->engine->elsewhere.count; i++) { /* asked of other nodes */
        if (wanted_takes(&batch->engine->elsewhere.wanted[i], task->type, task->queue)) {
            return true;
        }
    }
    return false;
}

/* ---- Limits that hold for the whole fleet ---- */

static void set_room(struct batch *batch, const struct store_room *room)
{
    struct lanes *lanes = &batch->engine->lanes;
    struct lane *lane = lane_get(lanes, room->settings.name);
    const struct store_queue *was = &lane->settings, *is = &room->settings;
    if (was->paused != is->paused || was->max_concurrent != is->max_concurrent ||
        was->rate_per_second != is->rate_per_second || was->burst != is->burst) {
        lane_configure(lanes, lane, &room->settings, false, batch->now);
    }
    lane->fleet_room = room->room;
    lane->asked_in = batch->engine->batches + 1;
    lane->opens_mono_ms = room->opens_at_ms == 0
                              ? 0
                              : batch->now.mono_ms + MAX(room->opens_at_ms - batch->now.wall_ms, 1);
}

/* Its row says nothing of limits any more. */
static void set_free(struct batch *batch, struct lane *lane)
{
    struct store_queue open = {.name = lane->settings.name};
    if (link_in_list(&lane->limited)) {
        lane_configure(&batch->engine->lanes, lane, &open, false, batch->now);
    }
    lane->fleet_room = SIZE_MAX;
    lane->asked_in = batch->engine->batches + 1;
}

static bool was_asked(const struct batch *batch, const struct lane *lane)
{
    return lane != NULL && lane->asked_in == batch->engine->batches + 1;
}

static void free_others(struct batch *batch, const struct str *names, size_t count)
{
    struct lanes *lanes = &batch->engine->lanes;
    for (size_t i = 0; i < count; i++) {
        struct lane *lane = lane_get(lanes, names[i]);
        if (!was_asked(batch, lane)) {
            set_free(batch, lane);
        }
    }
    LIST_EACH(&lanes->limited, it)
    {
        struct lane *lane = HOLDER(it, struct lane, limited);
        if (count == 0 && !was_asked(batch, lane)) {
            set_free(batch, lane);
        }
    }
}

static bool ask_rooms(struct batch *batch, const struct str *names, size_t count)
{
    struct err err = ERR_INIT;
    struct store_room *rooms = NULL;
    size_t rooms_count = 0;
    if (!batch_begin(batch)) {
        return false;
    }
    if (!tx_rooms(batch->tx, names, count, batch->now.wall_ms, &batch->arena, &rooms, &rooms_count,
                  &err)) {
        batch_fail_store(batch, &err);
        return false;
    }
    for (size_t i = 0; i < rooms_count; i++) {
        set_room(batch, &rooms[i]);
    }
    free_others(batch, names, count);
    return true;
}

/* Queues that had no limit when they were last asked are taken to have none: the commit fails if
 * that has changed, and then they are asked. */
static bool expect_open(struct batch *batch, const struct str *names, size_t count)
{
    struct lanes *lanes = &batch->engine->lanes;
    bool known = batch->engine->losses == 0;
    for (size_t i = 0; known && i < count; i++) {
        const struct lane *lane = lane_find(lanes, names[i]);
        known = lane != NULL && lane->asked_in > 0 && !link_in_list(&lane->limited);
    }
    if (!known || !batch_begin(batch) || !tx_expect_open(batch->tx, names, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        lane_get(lanes, names[i])->asked_in = batch->engine->batches + 1;
    }
    return true;
}

/* Before a claim takes anything: what its queues allow. Rows that limit them are locked until the
 * commit. */
bool shared_load_rooms(struct batch *batch, const struct command_claim *claim)
{
    static const struct str by_default = {"default", 7};
    const struct str *names = claim->queues_count == 0 ? &by_default : claim->queues;
    size_t count = claim->queues_count == 0 ? 1 : claim->queues_count, known = 0;
    if (!batch->engine->shared || batch->rooms_known) {
        return true;
    }
    if (claim->any_queue) {
        batch->rooms_known = ask_rooms(batch, NULL, 0);
        return batch->rooms_known;
    }
    for (size_t i = 0; i < count; i++) {
        known += was_asked(batch, lane_find(&batch->engine->lanes, names[i]));
    }
    return known == count || expect_open(batch, names, count) || ask_rooms(batch, names, count);
}

/* ---- What other nodes say ---- */

void prepare_review(struct batch *batch, struct command *command)
{
    for (size_t i = 0; i < command->review.count; i++) {
        batch_need(batch, command->review.ids[i], false);
    }
}

void shared_review_item(struct batch *batch, struct item *item)
{
    struct engine *engine = batch->engine;
    const struct task *task = &item->now;
    struct due_entry *entry = due_find(&engine->due, item->id);
    if (item->owner != NULL) {
        return; /* this very batch changes it: publish.c remembers */
    }
    if (failover_runs_unknown(engine, entry, item->found ? task : NULL)) {
        batch_abort_attempt(batch, item->id, entry->attempt, ABORT_LOST);
        failover_stops(engine, batch->now);
    }
    if (!item->found || task_state_terminal(task->state)) {
        publish_clear_due(engine, item->id);
        return;
    }
    if (task->state == TASK_QUEUED) {
        publish_offer(engine, task);
    }
    if (task->state == TASK_RUNNING && task->cancel_requested &&
        shared_is_own(engine, task->worker) && (entry == NULL || entry->stop_at_ms == 0)) {
        batch_abort(batch, item, ABORT_CANCEL);
    }
    publish_set_due(engine, task, shared_is_own(engine, task->worker) ? DUE_SAME : DUE_READ,
                    batch->now);
}

void on_review(struct batch *batch, struct command *command)
{
    for (size_t i = 0; batch_ok(batch) && i < command->review.count; i++) {
        struct item *item = batch_item(batch, command->review.ids[i]);
        if (item != NULL) {
            shared_review_item(batch, item);
        }
    }
    batch_answer(batch, command);
}

void on_heard(struct batch *batch, struct command *command)
{
    struct lanes *lanes = &batch->engine->lanes;
    const struct command_heard *heard = &command->heard;
    for (size_t i = 0; i < heard->count; i++) {
        lanes_wake(lanes, heard->queues[i]);
        turns_ready(batch->engine, heard->queues[i]);
    }
    if (heard->count == 0 || heard->all) {
        lanes_wake_all(lanes);
        turns_ready(batch->engine, STR_NONE);
    }
    if (heard->settings) {
        batch->rooms_known = ask_rooms(batch, NULL, 0);
    }
    batch_answer(batch, command);
}

void on_lead(struct batch *batch, struct command *command)
{
    batch->engine->epoch = command->lead.epoch;
    guests_look_again(batch->engine);
    batch_answer(batch, command);
}

/* ---- Looking for oneself ---- */

bool relies_on_broker(const struct engine *engine)
{
    return health_rule(broker_health(engine->broker))->asks_broker;
}

/* Claims that wait have asked either the broker, which wakes only those that asked it, or the rows,
 * which wake nobody. When it is the other one's turn all of them ask again. */
static void watch_broker(struct engine *engine)
{
    const struct health_rule *rule = health_rule(broker_health(engine->broker));
    if (rule->fills || rule->degraded) { /* it may have come back, or been filled, meanwhile */
        rule = health_rule(broker_check(engine->broker));
    }
    if (engine->asked_broker != rule->asks_broker) {
        engine->asked_broker = rule->asks_broker;
        lanes_wake_all(&engine->lanes);
        turns_ready(engine, STR_NONE);
    }
}

/* What a node queues that cannot reach the broker is known to the store alone, so one such node is
 * enough to make everybody look there. */
void on_doubt(struct batch *batch, struct command *command)
{
    broker_doubt(batch->engine->broker, command->doubt.doubts);
    watch_broker(batch->engine);
    batch_answer(batch, command);
}

void on_elsewhere(struct batch *batch, struct command *command)
{
    struct engine *engine = batch->engine;
    const struct command_elsewhere *said = &command->elsewhere;
    arena_fini(&engine->elsewhere.arena);
    struct arena *arena = &engine->elsewhere.arena;
    struct wanted *kept = arena_array(arena, struct wanted, said->count + 1);
    for (size_t i = 0; i < said->count; i++) {
        kept[i] = wanted_copy(&said->wanted[i], arena);
    }
    engine->elsewhere.wanted = kept;
    engine->elsewhere.count = said->count;
    batch_answer(batch, command);
}

/* What the store refused is offered again; and claims that no broker will wake look for themselves.
 */
static bool polls(const struct engine *engine)
{
    return !list_empty(&engine->late_hints) ||
           (!list_empty(&engine->claims.waiting) && !relies_on_broker(engine));
}

static void offer_again(struct engine *engine)
{
    LIST_EACH(&engine->late_hints, it)
    {
        struct late_hint *late = HOLDER(it, struct late_hint, link);
        list_remove(it);
        broker_offer(engine->broker, &late->hint);
        arena_fini(&late->arena);
        mem_free(late);
    }
}

void shared_offer_later(struct engine *engine, const struct hint *hint)
{
    struct late_hint *late = mem_new(struct late_hint);
    late->hint = *hint;
    late->hint.type = arena_str(&late->arena, hint->type);
    late->hint.queue = arena_str(&late->arena, hint->queue);
    late->hint.document = arena_str(&late->arena, hint->document);
    list_append(&engine->late_hints, &late->link);
}

static void poll_now(struct engine *engine, int64_t now_ms)
{
    offer_again(engine);
    lanes_wake_all(&engine->lanes);
    turns_ready(engine, STR_NONE);
    engine->poll_at_mono_ms = now_ms + POLL_MS;
}

void shared_poll(struct engine *engine, struct now now)
{
    watch_broker(engine);
    if (engine->with.looks_in_real_time) {
        if (shared_look_in_ms(engine) == 0) {
            guests_look_again(engine);
            poll_now(engine, clock_real_mono_us() / 1000);
        }
    } else if (polls(engine) && now.mono_ms >= engine->poll_at_mono_ms) {
        poll_now(engine, now.mono_ms);
    }
}

int64_t shared_poll_in_ms(const struct engine *engine, struct now now)
{
    return polls(engine) && !engine->with.looks_in_real_time
               ? MAX(engine->poll_at_mono_ms - now.mono_ms, 0)
               : NEVER_MS;
}

/* Other nodes do not stand still with a clock that is wound by hand. To look at them is no event of
 * that clock either: winding it by a year would take a look for each second. */
int64_t shared_look_in_ms(const struct engine *engine)
{
    return engine->with.looks_in_real_time
               ? MAX(engine->poll_at_mono_ms - clock_real_mono_us() / 1000, 0)
               : NEVER_MS;
}

void shared_look(struct engine *engine)
{
    if (engine->with.looks_in_real_time) {
        guests_look_again(engine);
    }
}

void shared_fini(struct engine *engine)
{
    arena_fini(&engine->elsewhere.arena);
    LIST_EACH(&engine->late_hints, it)
    {
        struct late_hint *late = HOLDER(it, struct late_hint, link);
        list_remove(it);
        arena_fini(&late->arena);
        mem_free(late);
    }
}

/* ---- Deadlines that may be out of date ---- */

/* By its row, nothing is to be done about the task yet: another node has renewed its lease, put it
 * off, or ended it. An attempt of our own that the row no longer knows must stop. */
bool shared_is_stale(struct batch *batch, struct item *item, const struct due_entry *entry)
{
    struct engine *engine = batch->engine;
    const struct task *task = &item->now;
    bool unknown = failover_runs_unknown(engine, entry, item->found ? task : NULL);
    bool ours = entry->timeout_at_ms != 0 && entry->kind != WORKER_REMOTE;
    if (!engine->shared || (ours && !unknown)) {
        return false;
    }
    if (unknown) {
        batch_abort_attempt(batch, item->id, entry->attempt, ABORT_LOST);
        failover_stops(engine, batch->now);
    }
    if (!item->found || task_state_terminal(task->state)) {
        publish_clear_due(engine, item->id);
        return true;
    }
    if (task->state == TASK_RUNNING ? due_knows(entry, task)
                                    : due_by_row_ms(task) <= batch->now.wall_ms) {
        return false;
    }
    publish_set_due(engine, task, DUE_READ, batch->now);
    return true;
}

/* The lease of an attempt that runs in this server, seen by the others. */
bool shared_renew_own(struct batch *batch, struct item *item, struct due_entry *entry,
                      struct err *err)
{
    struct task_lease lease = {item->now.attempt, item->now.token};
    if (!task_renew(&item->now, lease, OWN_LEASE_MS, NEVER_MS, batch->now.wall_ms, err)) {
        return false;
    }
    if (item->now.cancel_requested && entry->stop_at_ms == 0) {
        batch_abort(batch, item, ABORT_CANCEL);
    }
    item->renewed = true;
    return true;
}

/* The store has been away for so long that others may soon take our attempts for lost: their work
 * must have stopped by then. */
void shared_guard_leases(struct batch *batch)
{
    struct engine *engine = batch->engine;
    struct engine_host *host = &engine->with.host;
    int64_t late_ms = MAX(OWN_LEASE_MS - OWN_RENEW_MS - engine->with.grace_ms, 0);
    for (size_t i = 0; engine->shared && host->abort != NULL && i < batch->fired_count; i++) {
        struct due_entry *entry = batch->fired[i];
        if (entry->kind == WORKER_REMOTE || entry->stop_at_ms != 0 ||
            entry->lease_at_ms + late_ms > batch->now.mono_ms) {
            continue;
        }
        log_warn("the store is away: stopping work whose lease would end");
        due_stop(entry, engine->with.grace_ms, batch->now);
        host->abort(host->abort_arg, entry->id, entry->attempt, ABORT_LOST);
    }
}
