/* queue/lane.h: what the engine knows of each queue: its limits, who waits for it, its figures.
 *
 * Limits are hard: `running` and the bucket count what was committed, `pending` what this batch has
 * proposed on top.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_LANE_H
#define ERRAND_QUEUE_LANE_H

#include "base/clock.h"
#include "base/list.h"
#include "base/map.h"
#include "queue/stats.h"

#define LANES_MAX 10000 /* distinct queues; a new name beyond them is refused */

struct lane {
    struct map_node node;
    struct store_queue settings; /* its name is owned by the lane */
    int64_t running, pending;
    /* In a fleet the store knows better: */
    bool shared;
    size_t fleet_room;     /* what it said in this batch */
    uint64_t asked_in;     /* the number of that batch */
    int64_t opens_mono_ms; /* the rate lets the next one start; 0: does not apply */
    double tokens;         /* of the rate limit */
    int64_t tokens_mono_ms;
    struct list waiting;      /* claims in line for this queue: claim_place.link */
    struct link ready;        /* in lanes.ready: somebody who waits should ask again */
    struct link all, limited; /* in lanes.all; in lanes.limited while it is paused or has a limit */
    uint64_t enqueued, completed, outcomes[TASK_OUTCOMES];
    struct histogram wait, run;
};

/* A waiting claim's place in one queue's line. */
struct claim_place {
    struct link link;
    struct command *claim;
};

struct lanes {
    struct map by_name;
    struct list all, ready, limited;
    bool shared;     /* limits are the store's to judge */
    struct list any; /* claims that take from every queue: claim_place.link */
    size_t count;
};

void lanes_init(struct lanes *lanes);
void lanes_fini(struct lanes *lanes);
struct lane *lane_find(const struct lanes *lanes, struct str name); /* NULL: not seen yet */
struct lane *lane_get(struct lanes *lanes, struct str name);        /* made when it is not there */

/* How many more of its tasks may start now; SIZE_MAX: no limit. */
size_t lane_room(struct lane *lane, struct now now);
bool lane_limited(struct lane *lane, struct now now); /* not paused, but no room */
void lane_configure(struct lanes *lanes, struct lane *lane, const struct store_queue *settings,
                    bool at_boot, struct now now);
void lane_started(struct lane *lane, struct now now); /* an attempt was committed */
void lane_wake(struct lanes *lanes, struct lane *lane);
void lanes_wake_all(struct lanes *lanes);

/* Until a rate limit lets the next task of a queue that somebody waits for start. */
int64_t lanes_in_ms(struct lanes *lanes, struct now now);

#endif
