/* tests/sim/schedules.c: the world of schedules: the planner beside the engine. See schedules.h.
 *
 * SPDX-License-Identifier: MIT */
#include "schedules.h"

#include "base/mem.h"
#include "schedule/delivery.h"
#include "task/reserved.h"

const struct str schedules_users[USERS] = {{"ann", 3}, {"bob", 3}};

/* ---- Life ---- */

static void close_world(struct sim *sim)
{
    struct schedules *all = schedules_of(sim);
    zones_free(all->zones);
    mem_free(all);
    sim->guests = NULL;
}

static void build(struct sim *sim, struct engine_options *options)
{
    struct schedules *all = schedules_of(sim);
    all->planner = planner_new(
        &(struct planner_options){.zones = all->zones,
                                  .limits = {.horizon_ms = 30 * DAY_MS, .min_lead_ms = 0},
                                  .misfire_after_ms = MINUTE_MS,
                                  .retention_ms = 6 * HOUR_MS,
                                  .default_type = sim_types[0],
                                  .queries_max = all->queries_max});
    all->guest = planner_guest(all->planner);
    all->leads = true;
    options->guests = &all->guest;
    options->guests_count = 1;
}

static void tear_down(struct sim *sim)
{
    planner_free(schedules_of(sim)->planner);
}

/* ---- Tasks ---- */

/* A run has the id of its entry in the history; whatever else belongs to a schedule tells of one.
 */
static bool learn(struct sim *sim, struct known *known, const struct task *task)
{
    struct delivery delivery;
    (void)sim;
    if (id_none(task->schedule)) {
        return false;
    }
    known->schedule = task->schedule;
    if (delivery_of(task, &delivery)) {
        known->delivers = delivery.execution;
        known->channel = (int)delivery.channel;
    }
    if (!str_absent(task->key) && str_starts(task->key, STR(RESERVED_FAILURE_KEY))) {
        struct str rest = str_from(task->key, sizeof RESERVED_FAILURE_KEY - 1);
        (void)!id_parse(str_cut(&rest, ':'), &known->regrets);
    }
    known->is_run = known->seen.type < PLAIN_TYPES;
    return true;
}

/* The next run of its schedule ends it where that is wished; and so does a limit that leaves no
 * room for another attempt. */
static bool explain(struct sim *sim, struct known *known)
{
    struct schedules *all = schedules_of(sim);
    const struct seen *was = &known->seen, *now = &known->next;
    const struct planned *planned = schedules_find(all, known->schedule);
    bool stopped =
        was->state < TASK_COMPLETED && now->attempt == was->attempt &&
        (now->state == TASK_CANCELLED || (now->state == TASK_RUNNING && now->cancel_requested));
    if (!known->is_run || !stopped) {
        return false;
    }
    known->gives_up = was->kind == WORKER_RUN && now->state == TASK_CANCELLED &&
                      known->stop_at_ms != 0 && known->stop_at_ms <= sim_now_ms(sim);
    for (size_t i = 0; planned != NULL && i < all->past_count; i++) {
        if (all->past[i].is_new && id_eq(all->past[i].schedule, known->schedule) &&
            (planned->seen.overlap == OVERLAP_CANCEL || planned->next.overlap == OVERLAP_CANCEL)) {
            return true;
        }
    }
    return all->queries_max != 0 && was->state == TASK_RUNNING;
}

/* ---- The end ---- */

static void last(struct sim *sim)
{
    struct schedules *all = schedules_of(sim);
    if (!all->leads) {
        all->leads = true;
        all->guest->leads(all->guest, true);
    }
    world_settle(sim);
}

static bool done(struct sim *sim)
{
    struct schedules *all = schedules_of(sim);
    for (size_t i = 0; i < all->planned_count; i++) {
        if (!all->planned[i].gone && all->planned[i].seen.due_ms != 0) {
            return false;
        }
    }
    return true;
}

struct guests *schedules_open(struct sim *sim)
{
    struct schedules *all = mem_new(struct schedules);
    all->guests = (struct guests){.acts = schedules_acts,
                                  .acts_count = schedules_acts_count,
                                  .close = close_world,
                                  .build = build,
                                  .tear_down = tear_down,
                                  .learn = learn,
                                  .explain = explain,
                                  .look = schedules_look,
                                  .check = schedules_check,
                                  .settle = schedules_settle,
                                  .quiet = schedules_quiet,
                                  .restart = schedules_restart,
                                  .last = last,
                                  .done = done};
    all->zones = zones_new(NULL);
    all->queries_max = sim->seed % 3 == 0 ? 12 : 0;
    sim->queues = QUEUES;
    return &all->guests;
}
