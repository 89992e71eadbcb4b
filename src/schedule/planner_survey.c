/* schedule/planner_survey.c: new time zone data: which schedules does it move?
 *
 * When the zone data of the machine has changed, or may have while the server was down, all active
 * schedules are walked through in small pieces beside the other work. One whose zone is not the one
 * it was planned with is planned again.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/planner_data.h"

void survey_begin(struct planner *planner, struct now now)
{
    planner->survey = (struct survey){.under_way = true, .at_mono_ms = now.mono_ms};
}

/* True: its record is to be saved. One that cannot be planned fails when it is due. */
static bool replan(struct planner *planner, struct batch *batch, struct schedule *schedule)
{
    SCOPED(plan_close) struct plan plan = {0};
    int64_t next_ms = schedule->next_ms, version = schedule->zone_version;
    if (!plan_open(schedule, planner->with.zones, guest_arena(batch), &plan, NULL) ||
        (int64_t)zone_version(plan.zone) == version) {
        return false;
    }
    plan_next(&plan, schedule, planner->with.limits.horizon_ms, guest_now(batch).wall_ms);
    return schedule->next_ms != next_ms || schedule->zone_version != version;
}

static bool look(struct planner *planner, struct batch *batch, const struct record *record)
{
    struct schedule schedule;
    if (!schedule_load(record, guest_arena(batch), &schedule, NULL) ||
        !replan(planner, batch, &schedule)) {
        return true; /* what cannot be read is found out when it is due */
    }
    struct record changed = schedule_record(&schedule, guest_arena(batch));
    return planner_save(planner, batch, &changed, 1);
}

void survey_step(struct planner *planner, struct batch *batch)
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
        if (!look(planner, batch, &found.at[i])) {
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
