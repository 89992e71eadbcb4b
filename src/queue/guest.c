/* queue/guest.c: rooms that live on the engine without its knowing them. See guest.h.
 *
 * Thread: engine. Keeps: I6 (what a change implies is written in its transaction).
 *
 * SPDX-License-Identifier: MIT */
#include "queue/guests.h"

#include <assert.h>

#include "queue/create.h"
#include "queue/decide.h"
#include "queue/engine.h"
#include "queue/publish.h"
#include "store/fleet.h"
#include "task/reserved.h"

/* ---- The engine's side ---- */

void on_guest(struct batch *batch, struct command *command)
{
    assert(command->guest.decide != NULL);
    command->guest.later = false;
    command->guest.decide(command->guest.guest, batch, command);
    if (command->guest.later && batch_ok(batch)) {
        batch_defer(batch, command);
    } else {
        batch_answer(batch, command);
    }
}

int64_t guests_in_ms(const struct engine *engine, struct now now)
{
    int64_t in = NEVER_MS;
    for (size_t i = 0; i < engine->with.guests_count; i++) {
        struct guest *guest = engine->with.guests[i];
        in = MIN(in, guest->due_in_ms(guest, now));
    }
    return in;
}

/* What a late leader still wants to write is refused: another has its place. */
static bool may_act(struct batch *batch)
{
    struct engine *engine = batch->engine;
    struct err err = ERR_INIT;
    bool leads = true;
    if (!engine->shared) {
        return true;
    }
    if (engine->epoch == 0 || !batch_begin(batch)) {
        return false;
    }
    if (!tx_leads(batch->tx, engine->with.node, engine->epoch, &leads, &err)) {
        batch_fail_store(batch, &err);
        return false;
    }
    return leads;
}

void guests_act(struct batch *batch)
{
    const struct engine_options *with = &batch->engine->with;
    for (size_t i = 0; batch_ok(batch) && !batch->lost && i < with->guests_count; i++) {
        struct guest *guest = with->guests[i];
        if (guest->act != NULL && !engine_paused(batch->engine, batch->now) &&
            guest->due_in_ms(guest, batch->now) == 0 && may_act(batch)) {
            guest->act(guest, batch);
        }
    }
}

static bool belongs_to_guest(const struct task *task)
{
    return !id_none(task->schedule) || !id_none(task->team) || task_is_cloud(task);
}

static void tell_guests(struct batch *batch, const struct task *was, const struct task *now)
{
    const struct engine_options *with = &batch->engine->with;
    if (!belongs_to_guest(now)) {
        return;
    }
    for (size_t i = 0; i < with->guests_count; i++) {
        if (with->guests[i]->changed != NULL && batch_ok(batch)) {
            with->guests[i]->changed(with->guests[i], batch, was, now);
        }
    }
}

/* What a worker said on its way; with the end of its attempt `progress` stays as it was. */
static void tell_progress(struct batch *batch, struct item *item)
{
    const struct engine_options *with = &batch->engine->with;
    const struct task *was = &item->was, *now = &item->now;
    bool same =
        was->progress == now->progress && str_eq(was->progress_message, now->progress_message);
    if (!belongs_to_guest(now) || same || item->told_progress || now->attempt != was->attempt) {
        return;
    }
    item->told_progress = true;
    for (size_t i = 0; i < with->guests_count; i++) {
        if (with->guests[i]->progressed != NULL && batch_ok(batch)) {
            with->guests[i]->progressed(with->guests[i], batch, now);
        }
    }
}

bool guests_may_revive(struct batch *batch, const struct task *task, struct err *err)
{
    const struct engine_options *with = &batch->engine->with;
    bool ours = belongs_to_guest(task);
    for (size_t i = 0; ours && task_state_terminal(task->state) && i < with->guests_count; i++) {
        struct guest *guest = with->guests[i];
        if (guest->may_revive != NULL && !guest->may_revive(guest, batch, task, err)) {
            return false;
        }
    }
    return true;
}

void guests_ending(struct batch *batch, struct task *task, const struct task_error *error)
{
    const struct engine_options *with = &batch->engine->with;
    for (size_t i = 0; belongs_to_guest(task) && i < with->guests_count; i++) {
        if (with->guests[i]->ending != NULL) {
            with->guests[i]->ending(with->guests[i], batch, task, error);
        }
    }
}

static bool follow_items(struct batch *batch)
{
    bool any = false;
    for (size_t i = 0; i < batch->all_count; i++) {
        struct item *item = batch->all[i];
        if (item->order != NULL) {
            continue; /* told as an order */
        }
        if (item->found && item->owner != NULL && !item->removed) {
            tell_progress(batch, item);
        }
        bool changed = item->found && item->owner != NULL && !item->removed &&
                       item->now.state != item->was.state;
        bool asked = item->found && item->owner != NULL && task_is_hold(&item->now) &&
                     item->now.cancel_requested && !item->was.cancel_requested && item->told == 0;
        if (asked || (changed && item->told != 1 + (int)item->now.state)) {
            item->told = 1 + (int)item->now.state;
            tell_guests(batch, &item->was, &item->now);
            any = true;
        }
    }
    return any;
}

bool guests_follow(struct batch *batch)
{
    if (batch->engine->with.guests_count == 0 || !batch_ok(batch) || batch->lost) {
        return false;
    }
    bool any = follow_items(batch);
    while (batch->orders_told < batch->orders_count) { /* grows on the way */
        tell_guests(batch, NULL, &batch->orders[batch->orders_told++]->task);
        any = true;
    }
    return any;
}

void guests_settle(struct batch *batch, bool committed)
{
    const struct engine_options *with = &batch->engine->with;
    for (size_t i = 0; i < with->guests_count; i++) {
        if (with->guests[i]->settled != NULL) {
            with->guests[i]->settled(with->guests[i], batch, committed);
        }
    }
}

/* Who leads; and in any case they look again, because others have written meanwhile. */
void guests_look_again(struct engine *engine)
{
    for (size_t i = 0; i < engine->with.guests_count; i++) {
        if (engine->with.guests[i]->leads != NULL) {
            engine->with.guests[i]->leads(engine->with.guests[i], engine->epoch != 0);
        }
    }
}

/* ---- The guest's side ---- */

struct tx *guest_tx(struct batch *batch)
{
    return batch_begin(batch) ? batch->tx : NULL;
}

struct now guest_now(const struct batch *batch)
{
    return batch->now;
}

struct arena *guest_arena(struct batch *batch)
{
    return &batch->arena;
}

struct rand *guest_rand(const struct batch *batch)
{
    return batch->engine->with.rand;
}

struct task_id guest_make_id(struct batch *batch)
{
    return id_make(&batch->engine->ids, clock_true_ms(batch->engine->with.clock));
}

void guest_store_failed(struct batch *batch, const struct err *err)
{
    batch_fail_store(batch, err);
}

void guest_lost(struct batch *batch)
{
    batch->lost = true;
}

void guest_wrote(struct batch *batch)
{
    batch->writes = true;
}

/* ---- Records ---- */

bool guest_load_records(struct batch *batch, struct record_load *loads, size_t count,
                        struct arena *arena)
{
    struct err err = ERR_INIT;
    if (count == 0) {
        return batch_ok(batch);
    }
    if (batch_begin(batch) && !tx_records_load(batch->tx, loads, count, arena, &err)) {
        batch_fail_store(batch, &err);
    }
    return batch_ok(batch);
}

bool guest_load_record(struct batch *batch, struct record_load *load, struct arena *arena)
{
    return guest_load_records(batch, load, 1, arena);
}

bool guest_try_records(struct batch *batch, struct record_save *saves, size_t count)
{
    struct err err = ERR_INIT;
    if (count == 0 || !batch_begin(batch)) {
        return batch_ok(batch);
    }
    if (!tx_records_save(batch->tx, saves, count, &err)) {
        batch_fail_store(batch, &err);
        return false;
    }
    batch->writes = true;
    return true;
}

bool guest_save_records(struct batch *batch, const struct record *records, size_t count)
{
    struct record_save *saves = arena_array(&batch->arena, struct record_save, count);
    for (size_t i = 0; i < count; i++) {
        saves[i].record = &records[i];
    }
    if (!guest_try_records(batch, saves, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        batch->lost = batch->lost || !saves[i].applied;
    }
    return !batch->lost;
}

bool guest_save_record(struct batch *batch, const struct record *record)
{
    return guest_save_records(batch, record, 1);
}

bool guest_delete_records(struct batch *batch, enum record_kind kind, const struct task_id *ids,
                          size_t count)
{
    struct err err = ERR_INIT;
    if (count == 0 || !batch_begin(batch)) {
        return batch_ok(batch);
    }
    if (!tx_records_delete(batch->tx, kind, ids, count, &err)) {
        batch_fail_store(batch, &err);
        return false;
    }
    batch->writes = true;
    return true;
}

/* ---- Tasks ---- */

bool guest_create(struct batch *batch, struct order *orders, size_t count, struct err *err)
{
    assert(orders != NULL && count > 0);
    struct command command = {.kind = COMMAND_CREATE,
                              .arena = &batch->arena,
                              .create = {.orders = orders, .count = count}};
    switch (create_orders(batch, &command)) {
    case CREATE_DONE:
        return true;
    case CREATE_LATER:
        guest_lost(batch);
        return err_set(err, ERR_CONFLICT, "an earlier change is in the way");
    default:
        *err = batch_ok(batch) ? command.err : batch->err;
        return false;
    }
}

bool guest_cancel(struct batch *batch, struct task_id id, struct str reason, struct err *err)
{
    struct item *item;
    if (!batch_find(batch, id, &item, err)) {
        return false;
    }
    if (!task_cancel(&item->now, reason, batch->now.wall_ms, err)) {
        return false;
    }
    batch_change(batch, item, item->owner == NULL ? batch : item->owner);
    batch_abort_cancelled(batch, item);
    return true;
}

bool guest_finds_free(struct batch *batch, struct str document, enum task_priority priority)
{
    return turn_is_now(batch, document, priority);
}

/* It is written once, as it is now: nobody sees it QUEUED. */
void guest_open(struct batch *batch, struct order *hold)
{
    struct err refused;
    assert(task_is_hold(&hold->task));
    struct item *item = batch_peek(batch, hold->task.id);
    item = item != NULL ? item : batch_new_item(batch, &hold->task);
    item->order = NULL;
    if (task_open(&item->now, batch->now.wall_ms, &refused)) {
        item->fresh = item->taken = true;
        batch->met++;
        batch_change(batch, item, batch);
    }
}

/* A run function that was given up may still work on the document: then it is not given on yet. */
void guest_close(struct batch *batch, struct task_id id)
{
    struct err refused;
    struct item *item = batch_item(batch, id);
    if (item == NULL || !task_close(&item->now, STR_NONE, batch->now.wall_ms, &refused)) {
        return;
    }
    item->strays = stray_holds(&batch->engine->strays, id);
    for (size_t i = 0; i < batch->all_count; i++) {
        const struct item *member = batch->all[i];
        item->strays = item->strays || (member->strays && id_eq(member->now.family, id));
    }
    batch_change(batch, item, item->owner == NULL ? batch : item->owner);
}

void guest_review(struct batch *batch, struct task_id id)
{
    struct item *item = batch_item(batch, id);
    if (item != NULL) {
        shared_review_item(batch, item);
    }
}

bool guest_start(struct batch *batch, struct task_id id, struct str worker, struct arena *arena,
                 struct task *out, bool *later, struct err *err)
{
    struct engine *engine = batch->engine;
    int64_t now_ms = batch->now.wall_ms;
    struct item *item;
    if (engine->draining) {
        return err_set(err, ERR_UNAVAILABLE, "the server is stopping and starts no more tasks");
    }
    batch_need(batch, id, true);
    if (!batch_load(batch) || !batch_find(batch, id, &item, err)) {
        *err = batch_ok(batch) ? *err : batch->err;
        return false;
    }
    *later = item->owner != NULL;
    struct task *task = &item->now;
    struct task_claim lease = {.worker = claim_worker_name(engine, worker, &batch->arena),
                               .lease_ms = OWN_LEASE_MS,
                               .token = rand_u64(engine->with.rand) | 1};
    if (*later || !str_absent(task->document)) {
        return err_set(err, ERR_CONFLICT, "it must wait for its turn");
    }
    if (task->state == TASK_SCHEDULED || task->state == TASK_RETRYING) {
        task->scheduled_ms = now_ms;
    }
    if ((task->state != TASK_QUEUED && !task_due(task, now_ms, err)) ||
        !task_start(task, &lease, now_ms, err)) {
        *task = item->was;
        return false;
    }
    item->renewed = true;
    batch_change(batch, item, batch);
    *out = task_copy(arena, task);
    return true;
}

bool guest_hurry(struct batch *batch, struct task_id id, bool *later, struct err *err)
{
    const struct task to = {.scheduled_ms = batch->now.wall_ms};
    const struct task_patch patch = {.given = TASK_BIT(scheduled_ms), .to = &to};
    struct item *item;
    if (!batch_find(batch, id, &item, err)) {
        return false;
    }
    *later = item->owner != NULL;
    if (*later || !task_change(&item->now, &patch, batch->now.wall_ms, err)) {
        return false;
    }
    item->renewed = true;
    batch_change(batch, item, batch);
    return true;
}

bool guest_creates(const struct batch *batch, struct task_id id)
{
    for (size_t i = 0; i < batch->orders_count; i++) {
        if (id_eq(batch->orders[i]->task.id, id)) {
            return true;
        }
    }
    return false;
}

bool guest_busy(struct batch *batch, struct task_id id)
{
    const struct item *item = batch_item(batch, id);
    return item != NULL && item->owner != NULL;
}

const struct task *guest_task(struct batch *batch, struct task_id id)
{
    struct item *item = batch_item(batch, id);
    return item == NULL || !item->found || item->removed ? NULL : &item->now;
}

const struct task *guest_peek(struct batch *batch, struct task_id id)
{
    struct item *item = batch_peek(batch, id);
    return item == NULL || !item->found || item->removed ? NULL : &item->now;
}

bool guest_queue(struct batch *batch, struct str name, struct store_queue *out)
{
    const struct command_claim asks = {.queues = &name, .queues_count = 1};
    if (!shared_load_rooms(batch, &asks)) {
        return false;
    }
    *out = queue_settings(batch, name);
    return batch_ok(batch);
}

bool guest_load_queues(struct batch *batch)
{
    return shared_load_rooms(batch, &(struct command_claim){.any_queue = true});
}

bool guest_set_queue(struct batch *batch, struct command_queue *change, struct err *err)
{
    const struct command_claim asks = {.queues = &change->name, .queues_count = 1};
    if (!shared_load_rooms(batch, &asks)) {
        *err = batch->err;
        return false;
    }
    return queue_change(batch, change, err);
}

void guest_stop_waiting(struct batch *batch, struct str queue)
{
    struct lane *lane = lane_find(&batch->engine->lanes, queue);
    if (lane == NULL) {
        return;
    }
    LIST_EACH(&lane->waiting, it)
    {
        struct command *waiting = HOLDER(it, struct claim_place, link)->claim;
        if (waiting->claim.queues_count == 1) {
            claim_stop_waiting(batch, waiting);
        }
    }
}

void guest_tell(struct batch *batch, struct str topic, struct str name, struct str json)
{
    struct task none = {.id = TASK_ID_NONE};
    struct event *event = publish_event(batch, EVENT_TOPIC, &none);
    if (event != NULL) {
        struct arena *arena = &batch->events->arena;
        event->topic = arena_str(arena, topic);
        event->name = arena_str(arena, name);
        event->text = arena_str(arena, json);
    }
}
