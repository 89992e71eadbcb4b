/* tests/sim/schedules_look.c: schedules, their history and what runs cost, as the disk has them.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "schedule/usage.h"
#include "schedules.h"
#include "time/wall.h"

struct planned *schedules_find(struct schedules *all, struct task_id id)
{
    for (size_t i = 0; i < all->planned_count; i++) {
        if (id_eq(all->planned[i].id, id)) {
            return &all->planned[i];
        }
    }
    return NULL;
}

struct past *schedules_past(struct schedules *all, struct task_id id)
{
    for (size_t i = 0; i < all->past_count; i++) {
        if (id_eq(all->past[i].id, id)) {
            return &all->past[i];
        }
    }
    return NULL;
}

struct day *schedules_day(struct schedules *all, int user, int64_t at_ms)
{
    for (size_t i = 0; i < all->days_count; i++) {
        if (all->days[i].user == user && all->days[i].number == at_ms / DAY_MS) {
            return &all->days[i];
        }
    }
    all->days[all->days_count] = (struct day){.user = user, .number = at_ms / DAY_MS};
    return &all->days[all->days_count++];
}

static int user_of(struct str name)
{
    for (int i = 0; i < USERS; i++) {
        if (str_eq(name, schedules_users[i])) {
            return i;
        }
    }
    return -1;
}

/* ---- Times ---- */

int64_t rhythm_count(const struct rhythm *rhythm, int64_t after_ms, int64_t upto_ms)
{
    int64_t n = 0;
    for (int64_t i = 0; i < rhythm->count; i++) {
        int64_t at_ms = rhythm->start_ms + i * rhythm->every_ms;
        n += at_ms > after_ms && at_ms <= upto_ms;
    }
    return n;
}

static int64_t number_behind(struct str rule, const char *name, struct arena *arena)
{
    const char *found = str_absent(rule) ? NULL : strstr(arena_c_text(arena, rule), name);
    return found == NULL ? 1 : strtoll(found + strlen(name), NULL, 10);
}

static struct rhythm rhythm_of(const struct schedule *schedule, struct arena *arena)
{
    struct when start = {0};
    struct err err = ERR_INIT;
    (void)!when_parse(schedule->dtstart, &start, &err);
    return (struct rhythm){
        .start_ms = start.s * SECOND_MS,
        .every_ms = number_behind(schedule->rrule, "INTERVAL=", arena) * SECOND_MS *
                    (str_absent(schedule->rrule) || schedule->rrule.ptr[5] == 'S' ? 1 : 60),
        .count = number_behind(schedule->rrule, "COUNT=", arena)};
}

/* ---- Records ---- */

struct look {
    struct sim *sim;
    struct schedules *all;
    struct arena *arena;
};

static void look_at_schedule(struct look *look, const struct record *record)
{
    struct err err = ERR_INIT;
    struct schedule schedule;
    struct planned *planned = schedules_find(look->all, record->id);
    if (planned == NULL) {
        planned = &look->all->planned[look->all->planned_count++];
        *planned = (struct planned){.id = record->id};
    }
    planned->next_gone = false;
    if (planned->seen.version == record->version) {
        planned->next = planned->seen;
        return;
    }
    if (!schedule_load(record, look->arena, &schedule, &err)) {
        sim_fail(look->sim, "%s", err.text);
        return;
    }
    planned->next = (struct schedule_seen){.version = record->version,
                                           .status = schedule.status,
                                           .overlap = schedule.overlap,
                                           .misfire = schedule.misfire,
                                           .one_time = schedule.one_time,
                                           .next_ms = schedule.next_ms,
                                           .wake_ms = schedule.wake_ms,
                                           .jitter_ms = schedule.jitter_ms,
                                           .cursor_ms = schedule.cursor_ms,
                                           .due_ms = record->due_ms,
                                           .last_run = schedule.last_run,
                                           .delivery = schedule.delivery,
                                           .rhythm = rhythm_of(&schedule, look->arena)};
}

/* A key says which occurrence it is: "TIME@SCHEDULE", with ! for times left out, ~ for wake-ups. */
static enum entry_kind kind_of(const struct record *record)
{
    struct str key = record->key;
    if (str_absent(key) || memchr(key.ptr, '@', key.len) == NULL) {
        return ENTRY_BY_HAND;
    }
    char last = key.ptr[key.len - 1];
    return last == '!' ? ENTRY_LEFT_OUT : last == '~' ? ENTRY_WAKE_UP : ENTRY_TIMED;
}

static int state_named(struct str name)
{
    for (int state = 0; state < TASK_STATES && !str_absent(name); state++) {
        if (str_is(name, task_state_name((enum task_state)state))) {
            return state;
        }
    }
    return -1;
}

static void look_at_entry(struct look *look, const struct record *record)
{
    struct err err = ERR_INIT;
    struct execution run;
    struct past *past = schedules_past(look->all, record->id);
    if (past != NULL && past->seen.version == record->version) {
        past->next = past->seen;
        past->next_gone = false;
        return;
    }
    if (!execution_load(record, look->arena, &run, &err)) {
        sim_fail(look->sim, "%s", err.text);
        return;
    }
    if (past == NULL && look->all->past_count == ENTRIES_MAX) {
        sim_fail(look->sim, "the histories of schedules grow beyond all measure");
        return;
    }
    if (past == NULL) {
        past = &look->all->past[look->all->past_count++];
        *past = (struct past){.id = run.id,
                              .schedule = run.schedule,
                              .kind = kind_of(record),
                              .occurrence_ms = run.scheduled_ms,
                              .created_ms = run.created_ms,
                              .user = user_of(run.user),
                              .is_new = true};
    }
    past->next_gone = false;
    past->next = (struct entry_seen){.version = record->version,
                                     .status = run.status,
                                     .has_task = !id_none(run.task),
                                     .delivered = run.delivered,
                                     .count = run.count,
                                     .counted_ms = run.counted_ms,
                                     .expires_ms = run.expires_ms};
    for (int i = 0; i < SCHEDULE_CHANNELS; i++) {
        struct str entry = str_absent(run.deliveries)
                               ? STR_NONE
                               : json_find(run.deliveries, schedule_channels[i], look->arena);
        past->next.reported[i] =
            str_absent(entry) ? -1 : state_named(json_find_str(entry, "status", look->arena));
    }
}

static void look_at_notification(struct look *look, const struct record *record)
{
    struct err err = ERR_INIT;
    struct notification notification;
    if (!notification_load(record, look->arena, &notification, &err)) {
        sim_fail(look->sim, "%s", err.text);
        return;
    }
    struct past *past = schedules_past(look->all, notification.execution);
    if (past != NULL) {
        bool failed = str_starts(notification.title, STR("Failed: "));
        past->failures += failed;
        past->results += !failed;
    }
}

static void look_at_usage(struct look *look, const struct record *record)
{
    if (record->mark == USAGE_DAY) {
        int64_t number = strtoll(arena_c_text(look->arena, record->key) + strlen("day:"), NULL, 10);
        struct day *day = schedules_day(look->all, user_of(record->owner), number * DAY_MS);
        day->on_disk = true;
        day->found = usage_read(record, look->arena).queries;
    }
}

/* ---- All together ---- */

static void look_at_all(struct look *look, struct tx *tx, enum record_kind kind,
                        void (*each)(struct look *look, const struct record *record))
{
    struct records found;
    struct err err = ERR_INIT;
    const struct record_filter filter = {.kind = kind, .oldest_first = true};
    if (!look->sim->store_hook.inner->records_list(tx, &filter, look->arena, &found, &err)) {
        sim_fail(look->sim, "the records cannot be read: %s", err.text);
        return;
    }
    for (size_t i = 0; i < found.count && !look->sim->failed; i++) {
        each(look, &found.at[i]);
    }
}

static void note_wishes(struct sim *sim, struct schedules *all)
{
    for (size_t i = 0; i < sim->calls_count; i++) {
        const struct command *command = &sim->calls[i]->command;
        if (command->kind == COMMAND_GUEST && sim->calls[i]->answered &&
            command->err.kind == ERR_NONE) {
            const struct planner_order *order = command->guest.what;
            bool made = order->verb == PLANNER_CREATE;
            struct planned *planned = schedules_find(all, made ? order->schedule.id : order->id);
            if (planned != NULL) {
                planned->wishes++;
                planned->verbs |= 1u << order->verb;
            }
        }
    }
}

void schedules_look(struct sim *sim)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct tx *tx = NULL;
    struct schedules *all = schedules_of(sim);
    struct look look = {sim, all, &arena};
    for (size_t i = 0; i < all->planned_count; i++) {
        all->planned[i].next_gone = true;
        all->planned[i].wishes = all->planned[i].verbs = 0;
    }
    for (size_t i = 0; i < all->past_count; i++) {
        all->past[i].next_gone = true;
        all->past[i].results = all->past[i].failures = 0;
    }
    for (size_t i = 0; i < all->days_count; i++) {
        all->days[i].on_disk = false;
    }
    if (!sim->store_hook.inner->begin(sim->store, &tx, &err)) {
        sim_fail(sim, "the disk cannot be read: %s", err.text);
        return;
    }
    look_at_all(&look, tx, RECORD_SCHEDULE, look_at_schedule);
    look_at_all(&look, tx, RECORD_EXECUTION, look_at_entry);
    look_at_all(&look, tx, RECORD_NOTIFICATION, look_at_notification);
    look_at_all(&look, tx, RECORD_USAGE, look_at_usage);
    sim->store_hook.inner->abandon(tx);
    note_wishes(sim, all);
}

void schedules_settle(struct sim *sim)
{
    struct schedules *all = schedules_of(sim);
    for (size_t i = 0; i < all->planned_count; i++) {
        all->planned[i].seen = all->planned[i].next;
        all->planned[i].gone = all->planned[i].next_gone;
    }
    for (size_t i = 0; i < all->past_count; i++) {
        all->past[i].seen = all->past[i].next;
        all->past[i].gone = all->past[i].next_gone;
        all->past[i].is_new = false;
        all->past[i].regretted = all->past[i].regretted || all->past[i].failures > 0;
    }
}
