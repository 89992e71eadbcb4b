/* schedule/planner_upkeep.c: what is old goes, and schedules follow the zone data of the machine.
 *
 * - Executions, notifications and costs go when their time is over.
 * - The history of a schedule that was removed goes in small pieces: it may have a million entries,
 *   and removing them in one transaction would hold up everybody else. The first ones go with the
 *   schedule; where there are more, a record remembers whose they are until the last one is gone,
 *   so that a crash in between leaves nothing behind for ever.
 * - When the zone data has changed, or may have while the server was down, all active schedules are
 *   walked through in pieces beside the other work. One whose zone is not the one it was planned
 *   with is planned again.
 *
 * Thread: engine; in a fleet the leader's.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/planner_data.h"

#define EXPIRE_CHUNK    100       /* executions that one batch removes */
#define EXPIRE_MANY     1000      /* notifications and costs that one batch removes */
#define EXPIRE_PAUSE_MS MINUTE_MS /* between two such batches, at least */
#define CLEAR_CHUNK     500       /* entries of a removed schedule's history */
#define CLEAR_PAUSE_MS  10
#define CLEAR_LOOK_MS   MINUTE_MS /* a shared store: another node may have removed one */
#define SURVEY_CHUNK    100       /* schedules looked at in one batch */
#define SURVEY_PAUSE_MS 10

static bool delete_found(struct batch *batch, enum record_kind kind, const struct records *found)
{
    struct task_id *ids = arena_array(guest_arena(batch), struct task_id, found->count);
    for (size_t i = 0; i < found->count; i++) {
        ids[i] = found->at[i].id;
    }
    return guest_delete_records(batch, kind, ids, found->count);
}

/* ---- Executions ---- */

/* A run that still goes on stays for another while. */
static bool keep_longer(struct planner *planner, struct batch *batch, const struct record *record)
{
    struct err err = ERR_INIT;
    struct execution run;
    if (!execution_load(record, guest_arena(batch), &run, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    run.expires_ms = planner_expiry_ms(planner, guest_now(batch).wall_ms);
    struct record kept = execution_record(&run, guest_arena(batch));
    return planner_save(planner, batch, &kept, 1);
}

static void expire_executions(struct planner *planner, struct batch *batch)
{
    struct records old;
    struct err err = ERR_INIT;
    struct tx *tx = guest_tx(batch);
    size_t n = 0;
    if (tx == NULL) {
        return;
    }
    if (!tx_records_due(tx, RECORD_EXECUTION, guest_now(batch).wall_ms, EXPIRE_CHUNK,
                        guest_arena(batch), &old, &planner->draft.expire_ms, &err)) {
        guest_store_failed(batch, &err);
        return;
    }
    struct task_id *ids = arena_array(guest_arena(batch), struct task_id, old.count);
    for (size_t i = 0; i < old.count; i++) {
        if (old.at[i].mark != EXECUTION_RUNNING) {
            ids[n++] = old.at[i].id;
        } else if (!keep_longer(planner, batch, &old.at[i])) {
            return;
        }
    }
    (void)!guest_delete_records(batch, RECORD_EXECUTION, ids, n);
}

/* ---- Notifications and costs ---- */

/* *next_ms: when the first of the rest is due. */
static bool expire_kind(struct batch *batch, enum record_kind kind, int64_t *next_ms)
{
    struct err err = ERR_INIT;
    struct records old;
    struct tx *tx = guest_tx(batch);
    struct arena *arena = guest_arena(batch);
    if (tx == NULL || !tx_records_due(tx, kind, guest_now(batch).wall_ms, EXPIRE_MANY, arena, &old,
                                      next_ms, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    return delete_found(batch, kind, &old);
}

static void expire_others(struct planner *planner, struct batch *batch)
{
    int64_t notification_ms, usage_ms, now_ms = guest_now(batch).wall_ms;
    if (expire_kind(batch, RECORD_NOTIFICATION, &notification_ms) &&
        expire_kind(batch, RECORD_USAGE, &usage_ms)) {
        /* What is saved from now on is due days later: looking once a day finds it in time. */
        int64_t next_ms = MIN(MIN(notification_ms, usage_ms), now_ms + DAY_MS);
        planner->draft.expire_at_ms = MAX(next_ms, now_ms + EXPIRE_PAUSE_MS);
    }
}

/* ---- The history of removed schedules ---- */

/* Removes a piece; *more: others are left. */
static bool clear_piece(struct batch *batch, struct task_id schedule, bool *more)
{
    struct err err = ERR_INIT;
    struct arena *arena = guest_arena(batch);
    struct tx *tx = guest_tx(batch);
    struct records found;
    const struct record_filter filter = {
        .kind = RECORD_EXECUTION, .parent = schedule, .oldest_first = true, .limit = CLEAR_CHUNK};
    if (tx == NULL || !tx_records_list(tx, &filter, arena, &found, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    *more = found.more;
    return delete_found(batch, RECORD_EXECUTION, &found);
}

static void clear_again_in(struct planner *planner, struct batch *batch, int64_t in_ms)
{
    planner->draft.cleared = true;
    planner->draft.clear_at_mono_ms =
        in_ms == PLANNER_NEVER ? PLANNER_NEVER : guest_now(batch).mono_ms + in_ms;
}

bool upkeep_clear_history(struct planner *planner, struct batch *batch, struct task_id schedule)
{
    struct record left = {.kind = RECORD_REMOVED,
                          .id = schedule,
                          .due_ms = MAX(guest_now(batch).wall_ms, (int64_t)1)};
    bool more;
    if (!clear_piece(batch, schedule, &more)) {
        return false;
    }
    if (more) {
        clear_again_in(planner, batch, CLEAR_PAUSE_MS);
    }
    return !more || guest_save_record(batch, &left);
}

static void clear_next(struct planner *planner, struct batch *batch)
{
    struct err err = ERR_INIT;
    struct records found;
    int64_t next_ms;
    bool more;
    struct tx *tx = guest_tx(batch);
    if (tx == NULL) {
        return;
    }
    if (!tx_records_due(tx, RECORD_REMOVED, INT64_MAX - 1, 1, guest_arena(batch), &found, &next_ms,
                        &err)) {
        guest_store_failed(batch, &err);
        return;
    }
    if (found.count == 0) {
        clear_again_in(planner, batch, planner->with.shared ? CLEAR_LOOK_MS : PLANNER_NEVER);
        return;
    }
    if (clear_piece(batch, found.at[0].id, &more) &&
        (more || guest_delete_records(batch, RECORD_REMOVED, &found.at[0].id, 1))) {
        clear_again_in(planner, batch, CLEAR_PAUSE_MS);
    }
}

/* ---- Zone data ---- */

static void look_at_zones(struct planner *planner, struct now now)
{
    uint64_t stamp = zones_stamp(planner->with.zones);
    if (stamp != planner->zones_stamp) {
        planner->zones_stamp = stamp;
        planner->survey = (struct survey){.under_way = true, .at_mono_ms = now.mono_ms};
    }
    planner->zones_at_mono_ms = planner->with.zones_every_ms == 0
                                    ? PLANNER_NEVER
                                    : now.mono_ms + planner->with.zones_every_ms;
}

/* Plans a schedule again whose zone has other data than it was planned with. One that cannot be
 * read or planned is passed over: that is found out when it is due. */
static bool replan(struct planner *planner, struct batch *batch, const struct record *record)
{
    struct schedule schedule;
    SCOPED(plan_close) struct plan plan = {0};
    struct arena *arena = guest_arena(batch);
    if (!schedule_load(record, arena, &schedule, NULL)) {
        return true;
    }
    int64_t next_ms = schedule.next_ms, version = schedule.zone_version;
    if (!plan_open(&schedule, planner->with.zones, arena, &plan, NULL) ||
        (int64_t)zone_version(plan.zone) == version) {
        return true;
    }
    plan_next(&plan, &schedule, planner->with.limits.horizon_ms, guest_now(batch).wall_ms);
    if (schedule.next_ms == next_ms && schedule.zone_version == version) {
        return true;
    }
    struct record changed = schedule_record(&schedule, arena);
    return planner_save(planner, batch, &changed, 1);
}

static void survey_next(struct planner *planner, struct batch *batch)
{
    struct err err = ERR_INIT;
    struct records found;
    struct tx *tx = guest_tx(batch);
    const struct record_filter filter = {.kind = RECORD_SCHEDULE,
                                         .marks = schedule_marks(1u << SCHEDULE_ACTIVE, 0),
                                         .after = planner->survey.after,
                                         .oldest_first = true,
                                         .limit = SURVEY_CHUNK};
    if (tx == NULL) {
        return;
    }
    if (!tx_records_list(tx, &filter, guest_arena(batch), &found, &err)) {
        guest_store_failed(batch, &err);
        return;
    }
    for (size_t i = 0; i < found.count; i++) {
        if (!replan(planner, batch, &found.at[i])) {
            return;
        }
    }
    planner->draft.surveyed = true;
    planner->draft.survey = (struct survey){
        .under_way = found.count == SURVEY_CHUNK,
        .after = found.count == 0 ? TASK_ID_NONE : found.at[found.count - 1].id,
        .at_mono_ms = guest_now(batch).mono_ms + SURVEY_PAUSE_MS,
    };
}

/* ---- When ---- */

int64_t upkeep_due_in_ms(const struct planner *planner, struct now now)
{
    int64_t in = planner_until(MIN(planner->expire_ms, planner->expire_at_ms), now.wall_ms);
    in = MIN(in, planner_until(planner->zones_at_mono_ms, now.mono_ms));
    in = MIN(in, planner_until(planner->clear_at_mono_ms, now.mono_ms));
    if (planner->survey.under_way) {
        in = MIN(in, planner_until(planner->survey.at_mono_ms, now.mono_ms));
    }
    return in;
}

void upkeep_act(struct planner *planner, struct batch *batch)
{
    struct now now = guest_now(batch);
    if (planner->zones_at_mono_ms <= now.mono_ms) {
        look_at_zones(planner, now);
    }
    if (planner->expire_ms <= now.wall_ms) {
        expire_executions(planner, batch);
    }
    if (planner->expire_at_ms <= now.wall_ms) {
        expire_others(planner, batch);
    }
    if (planner->survey.under_way && planner->survey.at_mono_ms <= now.mono_ms) {
        survey_next(planner, batch);
    }
    if (planner->clear_at_mono_ms <= now.mono_ms) {
        clear_next(planner, batch);
    }
}
