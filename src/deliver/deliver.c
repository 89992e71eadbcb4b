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

/* The day's sum has it now: it must not count twice for what else this batch brings. */
static void unspend_here(struct deliver *deliver, struct str user, double queries)
{
    for (size_t i = 0; i < deliver->draft.count; i++) {
        struct spent *spent = &deliver->draft.spent[i];
        if (str_eq(spent->user, user)) {
            spent->queries = MAX(spent->queries - queries, 0);
            return;
        }
    }
}

/* Whether that user may still spend so much today; the batch may be over afterwards. */
static bool has_left(struct deliver *deliver, struct batch *batch, struct str user, int64_t at_ms,
                     double queries)
{
    double used;
    return !usage_of_day(batch, user, at_ms, &used) ||
           used + spent_here(deliver, user) + queries <= (double)deliver->with.queries_max;
}

static struct str limit_text(const struct deliver *deliver, struct batch *batch)
{
    return arena_printf(guest_arena(batch),
                        "the limit of %lld queries per user and day is reached; it goes on at "
                        "the next day, UTC",
                        (long long)deliver->with.queries_max);
}

static int64_t next_day(int64_t now_ms)
{
    return now_ms / DAY_MS * DAY_MS + DAY_MS;
}

static bool may_run(void *arg, struct batch *batch, const struct schedule *schedule, size_t count,
                    struct str *reason, int64_t *until_ms)
{
    struct deliver *deliver = arg;
    int64_t now_ms = guest_now(batch).wall_ms;
    double queries = schedule->query_cost * (double)count;
    if (deliver->with.queries_max == 0) {
        return true;
    }
    if (has_left(deliver, batch, schedule->user, now_ms, queries)) {
        spend_here(deliver, schedule->user, queries);
        return true;
    }
    *reason = limit_text(deliver, batch);
    *until_ms = next_day(now_ms);
    return false;
}

/* What a run stands for in the sum of its day. While it goes on: what its attempts have cost so far
 * and one estimate more, for the attempt that is under way or will be. */
static double counts_for(const struct task *task)
{
    return task_state_terminal(task->state)
               ? execution_queries(task)
               : MAX(task->cost.actual, 0) + MAX(task->cost.estimated, 0);
}

/* The run of a task. Not found: it is none, or its schedule was removed, or the batch is over. */
static bool find_run(struct batch *batch, const struct task *task, struct execution *out)
{
    struct record_load load = {.kind = RECORD_EXECUTION, .id = task->id};
    struct err err = ERR_INIT;
    if (!deliver_load(batch, &load) || !load.found) {
        return false;
    }
    if (!execution_load(&load.record, guest_arena(batch), out, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    return true;
}

/* A run that is retried by hand counts for the day of that retry from then on. */
static bool move_run(struct batch *batch, struct execution *run)
{
    run->counted_ms = guest_now(batch).wall_ms;
    struct record record = execution_record(run, guest_arena(batch));
    return deliver_save(batch, &record);
}

/* A run has begun, goes on with another attempt, or has ended. An attempt more that the day has no
 * room for is not made: the run ends here. */
static void count_run(struct deliver *deliver, struct batch *batch, const struct task *was,
                      const struct task *now)
{
    struct execution run;
    struct err refused = ERR_INIT;
    double differs = counts_for(now) - (was == NULL ? 0 : counts_for(was));
    bool revived =
        was != NULL && task_state_terminal(was->state) && !task_state_terminal(now->state);
    if (deliver->with.queries_max == 0 || (differs == 0 && !revived) ||
        !find_run(batch, now, &run) || (revived && !move_run(batch, &run))) {
        return;
    }
    int64_t day_ms = run.counted_ms != 0 ? run.counted_ms : now->created_ms;
    if (was == NULL || revived) {
        unspend_here(deliver, run.user, differs);
    } else if (now->state == TASK_RETRYING && differs > 0 &&
               !has_left(deliver, batch, run.user, day_ms, differs)) {
        (void)!guest_cancel(batch, now->id, limit_text(deliver, batch), &refused);
        return; /* what it has cost is counted with that end */
    }
    (void)!usage_add_to_day(batch, run.user, day_ms, differs);
}

static bool may_revive(struct guest *guest, struct batch *batch, const struct task *task,
                       struct err *err)
{
    struct deliver *deliver = deliver_of(guest);
    struct delivery delivery;
    struct execution run;
    double queries = MAX(task->cost.estimated, 0);
    int64_t now_ms = guest_now(batch).wall_ms;
    if (deliver->with.queries_max == 0 || id_none(task->schedule) || delivery_of(task, &delivery) ||
        !find_run(batch, task, &run)) {
        return true;
    }
    if (has_left(deliver, batch, run.user, now_ms, queries)) {
        spend_here(deliver, run.user, queries);
        return true;
    }
    err_set(err, ERR_BUSY, STR_FMT, STR_ARG(limit_text(deliver, batch)));
    if (err != NULL) {
        err->retry_after_ms = next_day(now_ms) - now_ms;
    }
    return false;
}

/* ---- The end of a run ---- */

static void run_ended(void *arg, struct batch *batch, const struct schedule *schedule,
                      struct execution *execution, const struct task *task)
{
    const struct deliver *deliver = arg;
    if (!usage_note(batch, execution, task)) {
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
        count_run(deliver, batch, was, now);
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
    deliver->guest = (struct guest){.due_in_ms = due_in_ms,
                                    .act = act,
                                    .changed = changed,
                                    .may_revive = may_revive,
                                    .settled = settled,
                                    .leads = leads};
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
