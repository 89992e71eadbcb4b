/* schedule/planner.c: the planner as a guest of the engine: when it acts, and on what.
 *
 * What it knows between batches is when the next schedule is due, nothing else; it follows from
 * what was committed (planner_settled). See planner.h.
 *
 * Thread: engine. Keeps: no occurrence is lost or doubled.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/planner.h"

#include "base/log.h"
#include "base/mem.h"
#include "schedule/planner_data.h"

static struct planner *planner_of(struct guest *guest)
{
    return HOLDER(guest, struct planner, guest);
}

/* ---- When ---- */

int64_t planner_until(int64_t at_ms, int64_t now_ms)
{
    return at_ms == PLANNER_NEVER ? PLANNER_NEVER : MAX(at_ms - now_ms, 0);
}

static int64_t due_in_ms(struct guest *guest, struct now now)
{
    const struct planner *planner = planner_of(guest);
    if (!planner->leads) {
        return PLANNER_NEVER;
    }
    int64_t in = MIN(planner_until(planner->next_ms, now.wall_ms), upkeep_due_in_ms(planner, now));
    if (planner->with.shared && !planner->with.is_told) {
        in = MIN(in, planner_until(planner->looked_mono_ms + PLANNER_POLL_MS, now.mono_ms));
    }
    return in;
}

/* ---- Saving ---- */

/* A schedule that was saved, or an entry of its history. */
static void tell(struct batch *batch, const struct record *record)
{
    SCOPED(buf_fini) struct buf json = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&json);
    char text[TASK_ID_TEXT];
    bool run = record->kind == RECORD_EXECUTION;
    json_open_object(&w);
    json_put_str(&w, "scheduleId", id_text(run ? record->parent : record->id, text));
    if (run) {
        json_put_str(&w, "executionId", id_text(record->id, text));
        json_put_c(&w, "status", execution_statuses[record->mark]);
    }
    json_put_c(&w, "change", run ? "execution" : record->version == 0 ? "created" : "changed");
    json_close_object(&w);
    guest_tell(batch, schedule_topic(record->owner, guest_arena(batch)), STR("schedule"),
               buf_view(&json));
}

void planner_saved(struct planner *planner, struct batch *batch, const struct record *record)
{
    if (record->kind == RECORD_SCHEDULE || record->kind == RECORD_EXECUTION) {
        tell(batch, record);
    }
    int64_t *earliest =
        record->kind == RECORD_SCHEDULE ? &planner->draft.due_ms : &planner->draft.gone_ms;
    if (record->due_ms != 0) {
        *earliest = MIN(*earliest, record->due_ms);
    }
}

bool planner_save(struct planner *planner, struct batch *batch, const struct record *records,
                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        planner_saved(planner, batch, &records[i]);
    }
    return guest_save_records(batch, records, count);
}

bool planner_load_schedule(struct batch *batch, struct task_id id, bool *found,
                           struct schedule *out)
{
    struct err err = ERR_INIT;
    struct record_load load = {.kind = RECORD_SCHEDULE, .id = id};
    if (!guest_load_record(batch, &load, guest_arena(batch))) {
        return false;
    }
    if (load.found && !schedule_load(&load.record, guest_arena(batch), out, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    *found = load.found;
    return true;
}

/* ---- What is due ---- */

/* Many share a zone: it is looked for once in a row. */
static bool find_zone(struct round *round, const struct schedule *schedule, struct err *err)
{
    if (round->zone != NULL && str_is(schedule->timezone, zone_name(round->zone))) {
        return true;
    }
    zone_release_at(&round->zone);
    round->zone = NULL;
    return zones_get(round->planner->with.zones, schedule->timezone, &round->zone, err);
}

/* One schedule that is due. One that can no longer be planned is FAILED and says why; a record that
 * cannot be read is never due again: neither stops the others. */
static bool prepare(struct round *round, const struct record *record, struct firing *firing)
{
    struct err err = ERR_INIT;
    struct schedule *schedule = arena_new(round->arena, struct schedule);
    if (!schedule_load(record, round->arena, schedule, &err)) {
        struct record aside = *record;
        log_error("%s", err.text);
        aside.due_ms = 0;
        return planner_save(round->planner, round->batch, &aside, 1);
    }
    firing->schedule = schedule;
    if (!find_zone(round, schedule, &err) ||
        !plan_open_in(schedule, round->zone, round->arena, &firing->plan, &err)) {
        log_warn("a schedule can no longer be planned: %s", err.text);
        schedule->status = SCHEDULE_FAILED;
        schedule->paused_reason = arena_str(round->arena, str_of(err.text));
        schedule->next_ms = schedule->wake_ms = 0;
        schedule->updated_ms = round->now_ms;
    }
    return true;
}

static bool fire_all(struct round *round, const struct records *due)
{
    struct firing *firings = arena_array(round->arena, struct firing, due->count);
    struct firing **list = arena_array(round->arena, struct firing *, due->count);
    bool ok = true;
    for (size_t i = 0; ok && i < due->count; i++) {
        list[i] = &firings[i];
        ok = prepare(round, &due->at[i], &firings[i]);
    }
    ok = ok && round_look_back(round, list, due->count);
    for (size_t i = 0; ok && i < due->count; i++) {
        if (firings[i].schedule != NULL && firings[i].schedule->status != SCHEDULE_FAILED) {
            firing_due(round, &firings[i]);
        }
    }
    ok = ok && round_write(round, list, due->count);
    for (size_t i = 0; i < due->count; i++) {
        plan_close(&firings[i].plan);
    }
    zone_release_at(&round->zone);
    return ok;
}

/* Memory is bounded by bytes, not by how many there are: big ones are taken a few at a time. */
static size_t adapt_most(size_t most, const struct records *due)
{
    size_t bytes = 0;
    for (size_t i = 0; i < due->count; i++) {
        bytes += due->at[i].body.len;
    }
    if (bytes > PLANNER_DUE_BYTES) {
        return MAX(most / 4, (size_t)1);
    }
    bool small = due->count == most && bytes < PLANNER_DUE_BYTES / 4;
    return small ? MIN(most * 2, (size_t)PLANNER_DUE_MAX) : most;
}

static void act_on_schedules(struct planner *planner, struct batch *batch)
{
    struct round round;
    struct records due;
    struct err err = ERR_INIT;
    round_begin(&round, planner, batch);
    if (round.tx == NULL) {
        return;
    }
    if (!tx_records_due(round.tx, RECORD_SCHEDULE, round.now_ms, planner->due_most, round.arena,
                        &due, &planner->draft.next_ms, &err)) {
        guest_store_failed(batch, &err);
        return;
    }
    planner->due_most = adapt_most(planner->due_most, &due);
    planner->draft.acted = true;
    planner->draft.mono_ms = guest_now(batch).mono_ms;
    if (due.count > 0) {
        (void)!fire_all(&round, &due);
    }
}

static void act(struct guest *guest, struct batch *batch)
{
    struct planner *planner = planner_of(guest);
    upkeep_act(planner, batch);
    if (planner->next_ms <= guest_now(batch).wall_ms || planner->with.shared) {
        act_on_schedules(planner, batch);
    }
}

/* ---- What a commit means ---- */

static void draft_clear(struct planner *planner)
{
    planner->draft.acted = planner->draft.surveyed = planner->draft.cleared = false;
    planner->draft.next_ms = planner->draft.due_ms = planner->draft.gone_ms = PLANNER_NEVER;
    planner->draft.expire_ms = planner->draft.expire_at_ms = 0;
    planner->draft.figures = (struct planner_figures){0};
    usage_forget_reserved(&planner->limit);
}

static void count_figures(struct planner *planner)
{
    struct planner_figures *all = &planner->figures;
    const struct planner_figures *more = &planner->draft.figures;
    all->runs += more->runs;
    all->failed += more->failed;
    all->overlapped += more->overlapped;
    all->missed += more->missed;
    histogram_merge(&all->lateness, &more->lateness);
}

static void settled(struct guest *guest, struct batch *batch, bool committed)
{
    struct planner *planner = planner_of(guest);
    (void)batch;
    if (committed) {
        if (planner->draft.acted) {
            planner->next_ms = planner->draft.next_ms;
            planner->looked_mono_ms = planner->draft.mono_ms;
        }
        planner->expire_ms =
            planner->draft.expire_ms != 0 ? planner->draft.expire_ms : planner->expire_ms;
        planner->expire_at_ms =
            planner->draft.expire_at_ms != 0 ? planner->draft.expire_at_ms : planner->expire_at_ms;
        planner->next_ms = MIN(planner->next_ms, planner->draft.due_ms);
        planner->expire_ms = MIN(planner->expire_ms, planner->draft.gone_ms);
        planner->survey = planner->draft.surveyed ? planner->draft.survey : planner->survey;
        if (planner->draft.cleared) {
            planner->clear_at_mono_ms = planner->draft.clear_at_mono_ms;
        }
        count_figures(planner);
    }
    draft_clear(planner);
}

static void leads(struct guest *guest, bool leads)
{
    struct planner *planner = planner_of(guest);
    planner->leads = leads;
    planner->next_ms = planner->expire_ms = 0; /* others have changed it meanwhile */
    planner->clear_at_mono_ms = INT64_MIN / 2;
}

/* ---- Life ---- */

struct planner *planner_new(const struct planner_options *options)
{
    struct planner *planner = mem_new(struct planner);
    planner->guest = (struct guest){.due_in_ms = due_in_ms,
                                    .act = act,
                                    .changed = planner_changed,
                                    .progressed = planner_progressed,
                                    .may_revive = planner_may_revive,
                                    .settled = settled,
                                    .leads = leads};
    planner->with = *options;
    planner->limit.queries_max = options->queries_max;
    planner->leads = !options->shared;
    planner->looked_mono_ms = planner->clear_at_mono_ms = INT64_MIN / 2;
    planner->due_most = PLANNER_DUE_MIN;
    draft_clear(planner);
    return planner;
}

void planner_set_queries_max(struct planner *planner, int64_t queries)
{
    planner->limit.queries_max = queries;
}

void planner_free(struct planner *planner)
{
    if (planner != NULL) {
        usage_limit_fini(&planner->limit);
        mem_free(planner);
    }
}

struct guest *planner_guest(struct planner *planner)
{
    return &planner->guest;
}

struct zones *planner_zones(const struct planner *planner)
{
    return planner->with.zones;
}

const struct plan_limits *planner_limits(const struct planner *planner)
{
    return &planner->with.limits;
}
