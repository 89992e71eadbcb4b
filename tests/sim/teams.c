/* tests/sim/teams.c: the world of teams: the lead beside the engine. See teams.h.
 *
 * SPDX-License-Identifier: MIT */
#include "teams.h"

#include "base/mem.h"

struct crew *teams_find(struct teams *all, struct task_id id)
{
    for (size_t i = 0; i < all->count; i++) {
        if (id_eq(all->crews[i].id, id)) {
            return &all->crews[i];
        }
    }
    return NULL;
}

/* ---- Life ---- */

static void close_world(struct sim *sim)
{
    mem_free(teams_of(sim));
    sim->guests = NULL;
}

static void build(struct sim *sim, struct engine_options *options)
{
    struct teams *all = teams_of(sim);
    all->lead = lead_new(&(struct lead_options){.retention_ms = HOUR_MS});
    all->guest = lead_guest(all->lead);
    options->guests = &all->guest;
    options->guests_count = 1;
}

static void tear_down(struct sim *sim)
{
    lead_free(teams_of(sim)->lead);
}

/* ---- Tasks ---- */

static bool learn(struct sim *sim, struct known *known, const struct task *task)
{
    (void)sim;
    known->team = task->team;
    known->is_turn = task_is_turn(task);
    return !id_none(task->team);
}

/* A team that is over cancels what is left of it, and what somebody retries. */
static bool explain(struct sim *sim, struct known *known)
{
    const struct seen *was = &known->seen, *now = &known->next;
    const struct crew *crew = id_none(known->team) ? NULL : teams_find(teams_of(sim), known->team);
    bool over = crew != NULL && (crew->next_gone || crew->next.status != TEAM_RUNNING);
    bool stopped =
        was->state != TASK_COMPLETED && now->attempt == was->attempt &&
        (now->state == TASK_CANCELLED || (now->state == TASK_RUNNING && now->cancel_requested));
    known->gives_up = known->gives_up ||
                      (over && stopped && was->kind == WORKER_RUN && now->state != TASK_RUNNING &&
                       known->stop_at_ms != 0 && known->stop_at_ms <= sim_now_ms(sim));
    bool came = known->is_turn && was->state == TASK_QUEUED && now->state == TASK_COMPLETED;
    return came || (over && stopped);
}

/* ---- The end ---- */

static void last(struct sim *sim)
{
    world_settle(sim);
}

static bool done(struct sim *sim)
{
    const struct teams *all = teams_of(sim);
    for (size_t i = 0; i < all->count; i++) {
        if (!all->crews[i].gone && all->crews[i].seen.status == TEAM_RUNNING) {
            return false;
        }
    }
    return true;
}

static size_t queues(struct sim *sim, struct str *out)
{
    const struct teams *all = teams_of(sim);
    size_t n = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (!all->crews[i].gone && all->crews[i].seen.status == TEAM_RUNNING) {
            out[n++] = str_of(all->crews[i].queue);
        }
    }
    return n;
}

struct guests *teams_open(struct sim *sim)
{
    struct teams *all = mem_new(struct teams);
    /* One machine asks its broker alone whether a document is free; one that forgets has rows to
     * ask. */
    sim->whole = sim->seed % 2 == 1;
    all->guests = (struct guests){.acts = teams_acts,
                                  .acts_count = teams_acts_count,
                                  .close = close_world,
                                  .build = build,
                                  .tear_down = tear_down,
                                  .learn = learn,
                                  .explain = explain,
                                  .look = teams_look,
                                  .check = teams_check,
                                  .settle = teams_settle,
                                  .quiet = teams_quiet,
                                  .restart = teams_restart,
                                  .last = last,
                                  .done = done,
                                  .queues = queues};
    return &all->guests;
}
