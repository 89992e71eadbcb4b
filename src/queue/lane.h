/* queue/lane.h: what the engine knows of each queue: its limits, who waits for it, its figures.
 *
 * A lane that nobody needs is kept for its figures as long as there is room (lanes_trim).
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

/* Queues that are in use: with tasks that have not ended, settings, or claims that wait. A new name
 * beyond them is refused. The engine remembers as many in all: of those that are no longer in use
 * the one that was used last is forgotten last. */
#define LANES_MAX 10000

struct lane {
    struct map_node node;
    struct store_queue settings; /* its name is owned by the lane */
    int64_t live;     /* tasks that have not ended; not counted where others use the store too */
    struct link idle; /* in lanes.idle while nobody needs it */
    bool listed;      /* ask.c: it is in the list that is being made */
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
    uint64_t enqueued, completed, failed, outcomes[TASK_OUTCOMES];
    struct histogram wait, run;
};

/* A waiting claim's place in one queue's line. */
struct claim_place {
    struct link link;
    struct lane *lane; /* NULL: it takes from every queue */
    struct command *claim;
};

struct lanes {
    struct map by_name;
    struct list all, ready, limited;
    bool shared;              /* limits are the store's to judge */
    struct list any;          /* claims that take from every queue: claim_place.link */
    struct list idle;         /* lanes that can be forgotten, the one used longest ago first */
    struct lane *common;      /* of the queue `default`, which is always there */
    struct lane *last;        /* the one that was last asked for: the next task is often of its
                                 queue, too. NULL: it was forgotten */
    size_t count, idle_count; /* besides the common one */
    struct histogram gone_wait, gone_run; /* of lanes that were forgotten */
};

void lanes_init(struct lanes *lanes, bool shared);
void lanes_fini(struct lanes *lanes);
struct lane *lane_find(const struct lanes *lanes, struct str name); /* NULL: not seen yet */
struct lane *lane_get(struct lanes *lanes, struct str name);        /* made when it is not there */

/* May these queues be used, or are too many others in use? */
MUST_CHECK bool lanes_admit(const struct lanes *lanes, const struct str *names, size_t count,
                            struct err *err);
/* What the lane holds has changed: says whether it can be forgotten. After each such change. */
void lane_settle(struct lanes *lanes, struct lane *lane);
/* Forgets idle lanes while there are more than LANES_MAX. Nobody may hold on to one. */
void lanes_trim(struct lanes *lanes);

/* How many more of its tasks may start now; SIZE_MAX: no limit. */
size_t lane_room(struct lane *lane, struct now now);
bool lane_limited(struct lane *lane, struct now now); /* not paused, but no room */
void lane_configure(struct lanes *lanes, struct lane *lane, const struct store_queue *settings,
                    bool at_boot, struct now now);
void lane_started(struct lane *lane, struct now now); /* an attempt was committed */
void lane_wake(struct lanes *lanes, struct lane *lane);
void lanes_wake(struct lanes *lanes, struct str name); /* also one that was not seen yet */
void lanes_wake_all(struct lanes *lanes);

/* Until a rate limit lets the next task of a queue that somebody waits for start. */
int64_t lanes_in_ms(struct lanes *lanes, struct now now);

#endif
