/* tests/sim/teams.h: the world of teams: the lead beside the engine, and agents made of dice.
 *
 * There is no language model: the tasks are given, agents outside claim them from the team's queue,
 * say something, complete and fail. What is known of a team is what stood on the disk after the
 * last batch.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_SIM_TEAMS_H
#define ERRAND_TESTS_SIM_TEAMS_H

#include "guests.h"
#include "team/lead.h"

#define TEAM_TASKS_OF_SIM 5
#define MESSAGES_OF_SIM   400

struct team_seen {
    int64_t version;
    int status;
    bool has_result;
};

struct crew { /* a team */
    struct task_id id, tasks[TEAM_TASKS_OF_SIM];
    size_t count;
    int policy;
    char queue[24];
    struct team_seen seen, next;
    bool gone, next_gone;
    size_t said; /* messages of it that are on the disk */
};

struct said { /* a message */
    struct task_id id, team, task;
    bool gone, next_gone, is_new;
};

struct teams {
    struct guests guests;
    struct lead *lead;
    struct guest *guest;
    struct crew crews[TEAMS_MAX];
    size_t count;
    struct said said[MESSAGES_OF_SIM];
    size_t said_count;
};

static inline struct teams *teams_of(const struct sim *sim)
{
    return HOLDER(sim->guests, struct teams, guests);
}

struct crew *teams_find(struct teams *all, struct task_id id);

/* teams_step.c */
extern const struct act teams_acts[];
extern const size_t teams_acts_count;

/* teams_check.c */
void teams_look(struct sim *sim);
void teams_check(struct sim *sim);
void teams_settle(struct sim *sim);
void teams_quiet(struct sim *sim);
void teams_restart(struct sim *sim, bool kept);

#endif
