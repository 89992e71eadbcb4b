/* tests/sim/schedules_step.c: what clients wish of schedules, as the dice fall.
 *
 * SPDX-License-Identifier: MIT */
#include "schedules.h"

#include "wire/time.h"

#define PROMISED_MAX 90 /* runs of one seed; each may be told of on several channels */
#define TIMES_MAX    6  /* of one rule */

static struct planned *any_schedule(struct sim *sim)
{
    struct schedules *all = schedules_of(sim);
    return all->planned_count == 0 ? NULL : &all->planned[sim_pick(sim, all->planned_count)];
}

/* Whether so many runs more may come; they are counted then. */
static bool promise(struct sim *sim, size_t runs)
{
    struct schedules *all = schedules_of(sim);
    bool may = all->promised + runs <= PROMISED_MAX;
    all->promised += may ? runs : 0;
    return may;
}

static void give(struct sim *sim, struct planner_order order)
{
    struct planner_order *asked = arena_new(&sim->arena, struct planner_order);
    struct call *call = world_call(sim, COMMAND_GUEST);
    *asked = order;
    planner_ask(schedules_of(sim)->planner, &call->command, asked);
    world_give(sim, call);
}

/* ---- Making and changing ---- */

static struct str when_text(struct sim *sim, int64_t ms)
{
    char text[TIME_TEXT_LEN + 1];
    time_text(ms, text);
    return arena_printf(&sim->arena, "%.19sZ", text);
}

/* Some seconds or minutes apart, from about now on. */
static void any_times(struct sim *sim, struct schedule *schedule, size_t times)
{
    static const int apart_s[] = {1, 2, 5, 10, 30, 60, 300};
    int64_t second_ms = sim_now_ms(sim) / SECOND_MS * SECOND_MS;
    int64_t in_ms = (int64_t)(1 + sim_pick(sim, 10)) * SECOND_MS;
    schedule->rrule = arena_printf(&sim->arena, "FREQ=SECONDLY;INTERVAL=%d;COUNT=%zu",
                                   apart_s[sim_pick(sim, ARRAY_LEN(apart_s))], times);
    schedule->dtstart = when_text(sim, second_ms + in_ms);
    schedule->one_time = false;
}

static unsigned any_channels(struct sim *sim)
{
    static const unsigned channels[] = {1u << CHANNEL_WEB, 1u << CHANNEL_WEB | 1u << CHANNEL_EMAIL,
                                        1u << CHANNEL_EMAIL, 0};
    return channels[sim_pick(sim, ARRAY_LEN(channels))];
}

static struct schedule any_order(struct sim *sim, size_t times)
{
    size_t user = sim_pick(sim, USERS + 1);
    struct schedule schedule = schedule_blank();
    schedule.title = STR("t");
    schedule.type = sim_types[sim_pick(sim, PLAIN_TYPES)];
    schedule.queue = sim_queues[sim_pick(sim, PLAIN_QUEUES)];
    schedule.document = sim_chance(sim, 50) ? sim_documents[sim_pick(sim, DOCUMENTS)] : STR_NONE;
    schedule.priority = (enum task_priority)(TASK_LOW + sim_pick(sim, 4));
    schedule.max_retries = (int64_t)sim_pick(sim, 3);
    schedule.timeout_ms = sim_chance(sim, 50) ? 0 : 3000;
    schedule.overlap = (enum schedule_overlap)sim_pick(sim, 4);
    schedule.misfire = (enum schedule_misfire)sim_pick(sim, 3);
    schedule.jitter_ms = sim_chance(sim, 70) ? 0 : 3000;
    schedule.delivery = any_channels(sim);
    schedule.deliver_to = STR("{\"EMAIL\":\"a@example.org\"}");
    schedule.query_cost = (double)sim_pick(sim, 3);
    schedule.user = user < USERS ? schedules_users[user] : STR_NONE;
    any_times(sim, &schedule, times);
    if (sim_chance(sim, 20)) {
        schedule.rrule = STR_NONE; /* once */
    }
    return schedule;
}

static void do_plan(struct sim *sim)
{
    struct err err = ERR_INIT;
    struct schedules *all = schedules_of(sim);
    size_t times = 1 + sim_pick(sim, TIMES_MAX);
    struct schedule schedule = any_order(sim, times);
    if (all->planned_count + sim->calls_count >= SCHEDULES_MAX || !promise(sim, times)) {
        return;
    }
    if (!schedule_settle(&schedule, STR_NONE, all->zones, sim_now_ms(sim), &sim->arena, &err)) {
        sim_fail(sim, "a schedule is refused: %s", err.text);
        return;
    }
    sim_trace(sim, "plan " STR_FMT " from " STR_FMT ", overlap %d, misfire %d",
              (int)schedule.rrule.len, str_absent(schedule.rrule) ? "" : schedule.rrule.ptr,
              STR_ARG(schedule.dtstart), (int)schedule.overlap, (int)schedule.misfire);
    give(sim, (struct planner_order){.verb = PLANNER_CREATE, .schedule = schedule});
}

static void do_edit(struct sim *sim)
{
    const struct planned *planned = any_schedule(sim);
    size_t times = 1 + sim_pick(sim, TIMES_MAX);
    bool retimes = sim_chance(sim, 40);
    if (planned == NULL || (retimes && !promise(sim, times))) {
        return;
    }
    struct schedule_change *change = arena_new(&sim->arena, struct schedule_change);
    change->schedule = any_order(sim, times);
    any_times(sim, &change->schedule, times);
    static const char *const fields[] = {"overlap", "misfire", "priority", "delivery"};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        change->given |= sim_chance(sim, 40) ? form_bit(&schedule_form, fields[i]) : 0;
    }
    if (retimes) {
        change->given |= form_bit(&schedule_form, "rrule") | form_bit(&schedule_form, "dtstart");
    }
    sim_trace(sim, "edit schedule %zu%s", (size_t)(planned - schedules_of(sim)->planned),
              retimes ? ", other times" : "");
    give(sim, (struct planner_order){.verb = PLANNER_CHANGE, .id = planned->id, .change = change});
}

/* ---- Steering ---- */

static void wish(struct sim *sim, struct planner_order order, const char *name)
{
    const struct planned *planned = any_schedule(sim);
    if (planned != NULL) {
        order.id = planned->id;
        sim_trace(sim, "%s schedule %zu", name, (size_t)(planned - schedules_of(sim)->planned));
        give(sim, order);
    }
}

static void do_pause(struct sim *sim)
{
    int64_t in_ms = sim_chance(sim, 50) ? 0 : 1 + (int64_t)sim_pick(sim, 60000);
    wish(sim,
         (struct planner_order){.verb = PLANNER_PAUSE,
                                .until_ms = in_ms == 0 ? 0 : sim_now_ms(sim) + in_ms},
         "pause");
}

static void do_resume(struct sim *sim)
{
    wish(sim, (struct planner_order){.verb = PLANNER_RESUME}, "resume");
}

static void do_remove(struct sim *sim)
{
    wish(sim, (struct planner_order){.verb = PLANNER_REMOVE}, "remove");
}

static void do_run(struct sim *sim)
{
    if (promise(sim, 1)) {
        struct str key = sim_chance(sim, 70) ? STR_NONE : sim_keys[sim_pick(sim, KEYS)];
        wish(sim, (struct planner_order){.verb = PLANNER_RUN, .key = key}, "run");
    }
}

static void do_backfill(struct sim *sim)
{
    if (promise(sim, TIMES_MAX)) {
        int64_t now_ms = sim_now_ms(sim), back_ms = 1 + (int64_t)sim_pick(sim, 5 * MINUTE_MS);
        wish(sim,
             (struct planner_order){.verb = PLANNER_BACKFILL,
                                    .from_ms = now_ms - back_ms,
                                    .to_ms = now_ms - (int64_t)sim_pick(sim, (size_t)back_ms),
                                    .again = sim_chance(sim, 40)},
             "backfill");
    }
}

static void do_replan(struct sim *sim)
{
    wish(sim, (struct planner_order){.verb = PLANNER_REPLAN}, "replan");
}

/* ---- Fate ---- */

static void pass(struct sim *sim, int64_t ms)
{
    sim_trace(sim, "%lld ms pass", (long long)ms);
    sim->passed_ms = ms;
    clock_set(&sim->clock, sim->clock.wall_ms + ms);
}

static void do_time(struct sim *sim)
{
    pass(sim, 500 * (int64_t)(1 + sim_pick(sim, 20)));
}

static void do_long_time(struct sim *sim)
{
    pass(sim, MINUTE_MS * (int64_t)(1 + sim_pick(sim, 10)));
}

static void do_night(struct sim *sim)
{
    pass(sim, HOUR_MS * (int64_t)(1 + sim_pick(sim, 30)));
}

/* Another node leads, or nobody does. */
static void do_lead(struct sim *sim)
{
    struct schedules *all = schedules_of(sim);
    all->leads = !all->leads;
    sim_trace(sim, "%s", all->leads ? "leads again" : "leads no more");
    all->guest->leads(all->guest, all->leads);
}

const struct act schedules_acts[] = {
    {14, do_plan},     {4, do_edit},     {4, do_pause},      {4, do_resume}, {1, do_remove},
    {8, do_run},       {3, do_backfill}, {1, do_replan},     {12, do_time},  {4, do_lead},
    {3, do_long_time}, {1, do_night},    {2, hook_lose_save}};
const size_t schedules_acts_count = ARRAY_LEN(schedules_acts);
