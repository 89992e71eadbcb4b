/* tests/sim/guests.h: what a world has besides tasks: guests of the engine, what clients wish of
 * them, and what they promise.
 *
 * Each world is one table. The sim builds the guests with the engine and loses them in a crash, as
 * the machine does; what they keep is on the disk. A task that nobody ordered must be theirs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_SIM_GUESTS_H
#define ERRAND_TESTS_SIM_GUESTS_H

#include "sim.h"

#define TEAMS_MAX 12 /* of one seed */

struct act { /* something that can happen, and how often it does */
    unsigned weight;
    void (*act)(struct sim *sim);
};

struct guests {
    const struct act *acts;
    size_t acts_count;

    void (*close)(struct sim *sim);
    void (*build)(struct sim *sim, struct engine_options *options); /* their memory is empty */
    void (*tear_down)(struct sim *sim);

    /* A task that nobody was told of before: false: it is none of theirs. */
    bool (*learn)(struct sim *sim, struct known *known, const struct task *task);
    /* May they have changed the task so? */
    bool (*explain)(struct sim *sim, struct known *known);

    void (*look)(struct sim *sim);  /* at the disk, after a batch, before tasks are compared */
    void (*check)(struct sim *sim); /* the promises, after it */
    void (*settle)(struct sim *sim);
    void (*quiet)(struct sim *sim);
    void (*restart)(struct sim *sim, bool kept); /* after a crash */

    void (*last)(struct sim *sim); /* clients let them come to an end */
    bool (*done)(struct sim *sim); /* nothing will come of them any more */
    /* Queues of their own that must be worked off, at most TEAMS_MAX; NULL: none. */
    size_t (*queues)(struct sim *sim, struct str *out);
};

struct guests *schedules_open(struct sim *sim); /* WORLD_SCHEDULES: schedules.h */
struct guests *teams_open(struct sim *sim);     /* WORLD_TEAMS: teams.h */

#endif
