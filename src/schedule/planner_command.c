/* schedule/planner_command.c: what clients wish of schedules, decided in the engine's batches.
 *
 * Everything that stays in an answer is put into the command's arena; a batch may be lost and its
 * commands decided again, so what a wish brings is never overwritten before it is granted.
 *
 * Thread: engine, but for planner_ask().
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/planner_data.h"

struct wish {
    struct planner *planner;
    struct batch *batch;
    struct command *command;
    struct planner_order *order;
    struct arena *arena; /* the command's */
    struct err *err;
    int64_t now_ms;
    struct schedule schedule;
};

/* ---- Finding and saving ---- */

static bool find(struct wish *wish)
{
    struct record_load load = {.kind = RECORD_SCHEDULE, .id = wish->order->id};
    if (!guest_load_record(wish->batch, &load, wish->arena)) {
        return false;
    }
    bool theirs = load.found &&
                  (str_absent(wish->order->owner) || str_eq(wish->order->owner, load.record.owner));
    if (!theirs) {
        return err_set(wish->err, ERR_NOT_FOUND, "there is no such schedule");
    }
    return schedule_load(&load.record, wish->arena, &wish->schedule, wish->err);
}

static void save(struct wish *wish)
{
    struct record record = schedule_record(&wish->schedule, wish->arena);
    if (planner_save(wish->planner, wish->batch, &record, 1)) {
        wish->order->schedule = wish->schedule;
    }
}

static void touch(struct wish *wish)
{
    wish->schedule.updated_ms = wish->now_ms;
    save(wish);
}

/* ---- Creating and changing ---- */

static bool begin(struct wish *wish)
{
    SCOPED(plan_close) struct plan plan = {0};
    return plan_open(&wish->schedule, wish->planner->with.zones, wish->arena, &plan, wish->err) &&
           plan_begin(&plan, &wish->schedule, &wish->planner->with.limits, wish->now_ms, wish->err);
}

static void create(struct wish *wish)
{
    struct schedule *schedule = &wish->schedule;
    *schedule = wish->order->schedule;
    schedule->id = guest_make_id(wish->batch);
    schedule->version = 0;
    schedule->status = SCHEDULE_ACTIVE;
    schedule->created_ms = schedule->updated_ms = wish->now_ms;
    if (schedule->type.len == 0) {
        schedule->type = wish->planner->with.default_type;
    }
    if (begin(wish)) {
        save(wish);
    }
}

/* A paused one stays paused; one that had ended begins again when it gets new times. */
static bool retime(struct wish *wish)
{
    struct schedule *schedule = &wish->schedule;
    bool paused = schedule->status == SCHEDULE_PAUSED;
    if (!begin(wish)) {
        return false;
    }
    if (paused) {
        schedule->next_ms = schedule->wake_ms = 0;
    } else {
        schedule->status = SCHEDULE_ACTIVE;
        schedule->paused_reason = STR_NONE;
    }
    return true;
}

static void change(struct wish *wish)
{
    bool retimed = false;
    if (find(wish) &&
        schedule_change(&wish->schedule, wish->order->change, wish->planner->with.zones,
                        wish->now_ms, wish->arena, &retimed, wish->err) &&
        (!retimed || retime(wish))) {
        touch(wish);
    }
}

static void remove_it(struct wish *wish)
{
    if (find(wish) && guest_delete_records(wish->batch, RECORD_SCHEDULE, &wish->schedule.id, 1) &&
        upkeep_clear_history(wish->planner, wish->batch, wish->schedule.id)) {
        wish->order->schedule = wish->schedule;
        char id[TASK_ID_TEXT];
        guest_tell(wish->batch, schedule_topic(wish->schedule.user, wish->arena), STR("schedule"),
                   arena_printf(wish->arena, "{\"scheduleId\":\"%s\",\"change\":\"removed\"}",
                                id_text(wish->schedule.id, id).ptr));
    }
}

/* ---- Pausing ---- */

static bool refuse_ended(struct wish *wish, const char *verb)
{
    enum schedule_status status = wish->schedule.status;
    return (status != SCHEDULE_COMPLETED && status != SCHEDULE_FAILED) ||
           err_set(wish->err, ERR_CONFLICT, "a schedule that is %s cannot be %s",
                   schedule_statuses[status], verb);
}

static void pause_it(struct wish *wish)
{
    if (!find(wish) || !refuse_ended(wish, "paused")) {
        return;
    }
    struct schedule *schedule = &wish->schedule;
    SCOPED(plan_close) struct plan plan = {0};
    int64_t until_ms = wish->order->until_ms;
    if (until_ms != 0 && until_ms <= wish->now_ms) {
        err_field(wish->err, "until", "until must be in the future");
        return;
    }
    schedule->status = SCHEDULE_PAUSED;
    schedule->paused_reason = wish->order->reason;
    schedule->next_ms = schedule->wake_ms = 0;
    schedule->resume_ms = until_ms;
    if (until_ms != 0) { /* its first time after the pause can be seen */
        if (!plan_open(schedule, wish->planner->with.zones, wish->arena, &plan, wish->err)) {
            return;
        }
        schedule->next_ms =
            recur_next(plan.recur, until_ms - 1, &schedule->next_ms) ? schedule->next_ms : 0;
    }
    touch(wish);
}

/* Times that were missed are not made up: it goes on from now. */
static void resume(struct wish *wish)
{
    struct schedule *schedule = &wish->schedule;
    SCOPED(plan_close) struct plan plan = {0};
    if (!find(wish) || !refuse_ended(wish, "resumed")) {
        return;
    }
    if (schedule->status == SCHEDULE_ACTIVE) {
        wish->order->schedule = *schedule;
        return;
    }
    if (!plan_open(schedule, wish->planner->with.zones, wish->arena, &plan, wish->err)) {
        return;
    }
    schedule->cursor_ms = wish->now_ms;
    schedule->resume_ms = 0;
    schedule->paused_reason = STR_NONE;
    plan_next(&plan, schedule, wish->planner->with.limits.horizon_ms, wish->now_ms);
    schedule->status = schedule->next_ms == 0 ? SCHEDULE_COMPLETED : SCHEDULE_ACTIVE;
    touch(wish);
}

/* ---- Running ---- */

static bool look_back(struct wish *wish, struct round *round, struct firing *firing)
{
    struct firing *list[] = {firing};
    round_begin(round, wish->planner, wish->batch);
    firing->schedule = &wish->schedule;
    return round->tx != NULL && round_look_back(round, list, 1);
}

static bool write_down(struct wish *wish, struct round *round, struct firing *firing)
{
    struct firing *list[] = {firing};
    wish->schedule.updated_ms = wish->now_ms;
    if (!round_write(round, list, 1)) {
        return false;
    }
    wish->order->schedule = wish->schedule;
    return true;
}

static bool find_repeat(struct wish *wish, struct str key)
{
    struct err err = ERR_INIT;
    struct tx *tx = guest_tx(wish->batch);
    struct task_id first = TASK_ID_NONE;
    if (str_absent(key) || tx == NULL) {
        return false;
    }
    if (!tx_records_find(tx, RECORD_EXECUTION, &key, 1, &first, &err)) {
        guest_store_failed(wish->batch, &err);
        return true;
    }
    wish->order->execution = first;
    return !id_none(first);
}

/* Whether that many runs may begin on top of the schedule's own. */
static bool may_run(struct wish *wish, size_t count)
{
    const struct schedule *schedule = &wish->schedule;
    return count == 0 || usage_reserve(&wish->planner->limit, wish->batch, schedule->user,
                                       schedule->query_cost * (double)count, wish->err);
}

/* Somebody asks for it now: it is never left out, but it waits where runs wait for each other. */
static void run(struct wish *wish)
{
    struct round round;
    struct firing firing = {0};
    struct str key = STR_NONE;
    char text[TASK_ID_TEXT];
    if (!str_absent(wish->order->key)) {
        key = arena_printf(wish->arena, "%s=" STR_FMT, id_text(wish->order->id, text).ptr,
                           STR_ARG(wish->order->key));
    }
    if (!find(wish) || find_repeat(wish, key) || !look_back(wish, &round, &firing)) {
        return;
    }
    enum schedule_overlap overlap = wish->schedule.overlap;
    bool in_line =
        firing_is_open(&firing) && (overlap == OVERLAP_QUEUE || overlap == OVERLAP_CANCEL);
    if (in_line && firing.last_here) {
        wish->command->guest.later = true;
        return;
    }
    if (!may_run(wish, 1)) {
        return;
    }
    if (in_line && overlap == OVERLAP_CANCEL) {
        firing_cancel_last(&round, &firing);
    }
    struct entry *entry = firing_run(&round, &firing, wish->now_ms, in_line);
    entry->execution.key = key;
    entry->purpose = wish->order->purpose;
    if (!str_absent(wish->order->chat)) {
        entry->execution.chat = wish->order->chat;
    }
    wish->order->execution = entry->execution.id;
    (void)!write_down(wish, &round, &firing);
}

/* The run that each of these occurrences had already, where it had one. */
static bool find_made(struct wish *wish, struct round *round, const int64_t *times, size_t count,
                      struct task_id *out)
{
    struct err err = ERR_INIT;
    struct str *keys = arena_array(round->arena, struct str, count);
    for (size_t i = 0; i < count; i++) {
        keys[i] = execution_key(wish->schedule.id, times[i], round->arena);
    }
    if (count > 0 && !tx_records_find(round->tx, RECORD_EXECUTION, keys, count, out, &err)) {
        guest_store_failed(wish->batch, &err);
        return false;
    }
    return true;
}

/* A run that is made again is one by hand: the occurrence's own key stays with the first. */
static bool add_window(struct wish *wish, struct round *round, struct firing *firing)
{
    const struct planner_order *order = wish->order;
    int64_t *times = arena_array(round->arena, int64_t, PLANNER_BACKFILL_MAX + 1);
    size_t n = recur_list(firing->plan.recur, order->from_ms - 1, PLANNER_BACKFILL_MAX + 1, times);
    bool in_line = wish->schedule.overlap != OVERLAP_ALLOW;
    if (n > PLANNER_BACKFILL_MAX && times[PLANNER_BACKFILL_MAX] <= order->to_ms) {
        return err_field(wish->err, "to", "the window has more than %d runs", PLANNER_BACKFILL_MAX);
    }
    while (n > 0 && times[n - 1] > order->to_ms) {
        n--;
    }
    struct task_id *made = arena_array(round->arena, struct task_id, n);
    if (!find_made(wish, round, times, n, made)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        bool waits = in_line && (firing->count > 0 || firing_is_open(firing));
        if (id_none(made[i])) {
            firing_run_once(round, firing, times[i], waits)->execution.decides = false;
        } else if (order->again) {
            firing_run(round, firing, times[i], waits);
        }
    }
    return true;
}

static void backfill(struct wish *wish)
{
    struct round round;
    struct firing firing = {0};
    if (!find(wish) || !look_back(wish, &round, &firing)) {
        return;
    }
    if (wish->order->to_ms > wish->now_ms) {
        err_field(wish->err, "to", "to must not be in the future");
    } else if (firing.last_here) {
        wish->command->guest.later = true;
    } else if (plan_open(&wish->schedule, wish->planner->with.zones, wish->arena, &firing.plan,
                         wish->err) &&
               add_window(wish, &round, &firing) && may_run(wish, firing.count) &&
               write_down(wish, &round, &firing)) {
        wish->order->count = 0;
        for (size_t i = 0; i < round.count; i++) {
            wish->order->count += round.entries[i].applied;
        }
    }
    plan_close(&firing.plan);
}

/* An outside scheduler asks to plan again; what is due is fired as ever. */
static void replan(struct wish *wish)
{
    struct round round;
    struct firing firing = {0};
    if (!find(wish) || !look_back(wish, &round, &firing)) {
        return;
    }
    if (wish->schedule.status == SCHEDULE_ACTIVE && wish->schedule.next_ms != 0 &&
        plan_open(&wish->schedule, wish->planner->with.zones, wish->arena, &firing.plan,
                  wish->err)) {
        firing_wake(&round, &firing, wish->now_ms);
        (void)!write_down(wish, &round, &firing);
    }
    plan_close(&firing.plan);
}

/* ---- The table of wishes ---- */

static void (*const verbs[PLANNER_VERBS])(struct wish *wish) = {
    [PLANNER_CREATE] = create,     [PLANNER_CHANGE] = change, [PLANNER_REMOVE] = remove_it,
    [PLANNER_PAUSE] = pause_it,    [PLANNER_RESUME] = resume, [PLANNER_RUN] = run,
    [PLANNER_BACKFILL] = backfill, [PLANNER_REPLAN] = replan,
};

static void decide(struct guest *guest, struct batch *batch, struct command *command)
{
    struct wish wish = {.planner = HOLDER(guest, struct planner, guest),
                        .batch = batch,
                        .command = command,
                        .order = command->guest.what,
                        .arena = command->arena,
                        .err = &command->err,
                        .now_ms = guest_now(batch).wall_ms};
    command->err = ERR_INIT; /* of an earlier try */
    verbs[wish.order->verb](&wish);
}

void planner_ask(struct planner *planner, struct command *command, struct planner_order *order)
{
    command->kind = COMMAND_GUEST;
    command->guest =
        (struct command_guest){.guest = &planner->guest, .decide = decide, .what = order};
}

/* ---- Notifications ---- */

static void decide_read(struct guest *guest, struct batch *batch, struct command *command)
{
    struct notification_order *order = command->guest.what;
    struct notification *notification = &order->notification;
    struct record_load load = {.kind = RECORD_NOTIFICATION, .id = order->id};
    (void)guest;
    if (!guest_load_record(batch, &load, guest_arena(batch))) {
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
    (void)!guest_save_record(batch, &record);
}

void planner_ask_read(struct planner *planner, struct command *command,
                      struct notification_order *order)
{
    command->kind = COMMAND_GUEST;
    command->guest =
        (struct command_guest){.guest = &planner->guest, .decide = decide_read, .what = order};
}

static void decide_figures(struct guest *guest, struct batch *batch, struct command *command)
{
    (void)batch;
    *(struct planner_figures *)command->guest.what = HOLDER(guest, struct planner, guest)->figures;
}

void planner_ask_figures(struct planner *planner, struct command *command,
                         struct planner_figures *out)
{
    command->kind = COMMAND_GUEST;
    command->guest =
        (struct command_guest){.guest = &planner->guest, .decide = decide_figures, .what = out};
}
