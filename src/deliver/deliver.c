/* deliver/deliver.c: the guest: what ends in a batch, and what follows from it. See deliver.h.
 *
 * SPDX-License-Identifier: MIT */
#include "deliver/deliver.h"

#include "base/mem.h"
#include "deliver/delivery.h"
#include "deliver/save.h"
#include "deliver/usage.h"

struct deliver {
    struct guest guest;
    struct deliver_options with;
    bool leads;
    int64_t expire_at_ms; /* when to look for old records next; 0: at once */
    struct {              /* of this batch */
        bool acted;
        int64_t expire_at_ms;
        struct spent { /* runs that were let through and whose tasks are not created yet */
            struct str user;
            double queries;
        } * spent;
        size_t count, room;
    } draft;
};

static struct deliver *deliver_of(struct guest *guest)
{
    return HOLDER(guest, struct deliver, guest);
}

/* ---- Old records ---- */

static int64_t due_in_ms(struct guest *guest, struct now now)
{
    const struct deliver *deliver = deliver_of(guest);
    return deliver->leads ? MAX(deliver->expire_at_ms - now.wall_ms, 0) : INT64_MAX;
}

/* *next_ms: when the first of the rest is due. */
static bool expire(struct batch *batch, enum record_kind kind, int64_t *next_ms)
{
    struct err err = ERR_INIT;
    struct records old;
    struct tx *tx = guest_tx(batch);
    struct arena *arena = guest_arena(batch);
    if (tx == NULL || !tx_records_due(tx, kind, guest_now(batch).wall_ms, DELIVER_EXPIRE_MAX, arena,
                                      &old, next_ms, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    struct task_id *ids = arena_array(arena, struct task_id, old.count);
    for (size_t i = 0; i < old.count; i++) {
        ids[i] = old.at[i].id;
    }
    if (old.count > 0 && !tx_records_delete(tx, kind, ids, old.count, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    if (old.count > 0) {
        guest_wrote(batch);
    }
    return true;
}

static void act(struct guest *guest, struct batch *batch)
{
    struct deliver *deliver = deliver_of(guest);
    int64_t notification_ms, usage_ms, now_ms = guest_now(batch).wall_ms;
    if (!expire(batch, RECORD_NOTIFICATION, &notification_ms) ||
        !expire(batch, RECORD_USAGE, &usage_ms)) {
        return;
    }
    /* What is saved from now on is due days later: looking once a day finds it in time. */
    int64_t next_ms = MIN(MIN(notification_ms, usage_ms), now_ms + DAY_MS);
    deliver->draft.acted = true;
    deliver->draft.expire_at_ms = MAX(next_ms, now_ms + DELIVER_EXPIRE_MS);
}

static void settled(struct guest *guest, struct batch *batch, bool committed)
{
    struct deliver *deliver = deliver_of(guest);
    (void)batch;
    if (deliver->draft.acted && committed) {
        deliver->expire_at_ms = deliver->draft.expire_at_ms;
    }
    deliver->draft.acted = false;
    deliver->draft.count = 0;
}

static void leads(struct guest *guest, bool leads)
{
    deliver_of(guest)->leads = leads;
}

/* ---- The daily limit ---- */

static double spent_here(const struct deliver *deliver, struct str user)
{
    double queries = 0;
    for (size_t i = 0; i < deliver->draft.count; i++) {
        queries += str_eq(deliver->draft.spent[i].user, user) ? deliver->draft.spent[i].queries : 0;
    }
    return queries;
}

static void spend_here(struct deliver *deliver, struct str user, double queries)
{
    if (deliver->draft.count == deliver->draft.room) {
        deliver->draft.room = MAX(deliver->draft.room * 2, (size_t)16);
        deliver->draft.spent =
            mem_array(deliver->draft.spent, deliver->draft.room, sizeof *deliver->draft.spent);
    }
    deliver->draft.spent[deliver->draft.count++] = (struct spent){user, queries};
}

static bool may_run(void *arg, struct batch *batch, const struct schedule *schedule,
                    struct str *reason, int64_t *until_ms)
{
    struct deliver *deliver = arg;
    int64_t now_ms = guest_now(batch).wall_ms, most = deliver->with.queries_max;
    double used;
    if (most == 0 || !usage_of_day(batch, schedule->user, now_ms, &used)) {
        return true; /* without a limit; or the batch is over anyway */
    }
    if (used + spent_here(deliver, schedule->user) + schedule->query_cost <= (double)most) {
        spend_here(deliver, schedule->user, schedule->query_cost);
        return true;
    }
    *reason = arena_printf(guest_arena(batch),
                           "the limit of %lld queries per user and day is reached; it goes on at "
                           "the next day, UTC",
                           (long long)most);
    *until_ms = now_ms / DAY_MS * DAY_MS + DAY_MS;
    return false;
}

/* A run's task was created: it counts from now on. */
static void count_run(struct deliver *deliver, struct batch *batch, const struct task *task)
{
    struct record_load load = {.kind = RECORD_EXECUTION, .id = task->id};
    if (deliver->with.queries_max == 0 || task->cost.estimated <= 0 ||
        !deliver_load(batch, &load) || !load.found) {
        return;
    }
    (void)!usage_add_to_day(batch, load.record.owner, task->created_ms, task->cost.estimated);
}

/* ---- The end of a run ---- */

static void run_ended(void *arg, struct batch *batch, const struct schedule *schedule,
                      struct execution *execution, const struct task *task)
{
    const struct deliver *deliver = arg;
    if (!usage_note(batch, execution, task)) {
        return;
    }
    double differs = execution_queries(task) - MAX(task->cost.estimated, 0);
    if (deliver->with.queries_max > 0 && differs != 0 &&
        !usage_add_to_day(batch, execution->user, task->created_ms, differs)) {
        return;
    }
    if (execution->status == EXECUTION_SUCCESS) {
        deliveries_create(batch, schedule, execution, deliver->with.retention_ms);
    } else if (task->state != TASK_CANCELLED) { /* whoever cancelled it knows */
        deliveries_tell_failure(batch, schedule, execution, deliver->with.retention_ms);
    }
}

static void changed(struct guest *guest, struct batch *batch, const struct task *was,
                    const struct task *now)
{
    struct deliver *deliver = deliver_of(guest);
    struct delivery delivery;
    if (id_none(now->schedule)) {
        return;
    }
    if (!delivery_of(now, &delivery)) {
        if (was == NULL) {
            count_run(deliver, batch, now);
        }
    } else if (was != NULL) {
        delivery_changed(batch, &delivery, was, now, deliver->with.retention_ms);
    }
}

/* ---- Wishes ---- */

static void decide_read(struct guest *guest, struct batch *batch, struct command *command)
{
    struct notification_order *order = command->guest.what;
    struct notification *notification = &order->notification;
    struct record_load load = {.kind = RECORD_NOTIFICATION, .id = order->id};
    (void)guest;
    if (!deliver_load(batch, &load)) {
        return;
    }
    if (!load.found || !(str_absent(order->owner) || str_eq(order->owner, load.record.owner))) {
        err_set(&command->err, ERR_NOT_FOUND, "there is no such notification");
        return;
    }
    load.record.body = arena_str(command->arena, load.record.body);
    if (!notification_load(&load.record, command->arena, notification, &command->err) ||
        notification->read) {
        return;
    }
    notification->read = true;
    notification->read_ms = guest_now(batch).wall_ms;
    struct record record = notification_record(notification, guest_arena(batch));
    (void)!deliver_save(batch, &record);
}

void notification_ask(struct deliver *deliver, struct command *command,
                      struct notification_order *order)
{
    command->kind = COMMAND_GUEST;
    command->guest =
        (struct command_guest){.guest = &deliver->guest, .decide = decide_read, .what = order};
}

/* ---- Life ---- */

struct deliver *deliver_new(const struct deliver_options *options)
{
    struct deliver *deliver = mem_new(struct deliver);
    deliver->with = *options;
    deliver->guest = (struct guest){
        .due_in_ms = due_in_ms, .act = act, .changed = changed, .settled = settled, .leads = leads};
    return deliver;
}

void deliver_free(struct deliver *deliver)
{
    if (deliver != NULL) {
        mem_free(deliver->draft.spent);
        mem_free(deliver);
    }
}

struct guest *deliver_guest(struct deliver *deliver)
{
    return &deliver->guest;
}

struct planner_hooks deliver_hooks(struct deliver *deliver)
{
    return (struct planner_hooks){.arg = deliver, .run_ended = run_ended, .may_run = may_run};
}
