/* queue/series.h: how many tasks came, started and ended, second by second, for the last day.
 *
 * The engine counts what it publishes; nothing is sampled and no timer runs. When a batch begins in
 * another second than the last one, what was counted is put into rings of SERIES_POINTS points, one
 * for each length of a step: what nobody did anything in is filled in afterwards, for without a
 * batch nothing changes. In a fleet each node counts its own, tells its sums to the others and adds
 * theirs; how many are queued and running its thread asks the store.
 *
 * Nothing is kept across a restart: steps before it are not known.
 *
 * Thread: engine. Time is given in.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_SERIES_H
#define ERRAND_QUEUE_SERIES_H

#include "queue/stats.h"

#define SERIES_POINTS      300
#define SERIES_MINUTES_MIN 5
#define SERIES_MINUTES_MAX 1440
#define SERIES_LEVELS      8 /* lengths of a step */

/* What happened in some time: of one node since its start, in a second, or in a step. */
struct series_sums {
    int64_t created, started, completed, failed;
    int64_t changed;            /* states of tasks, in whatever way */
    struct histogram wait, run; /* queued → started, started → ended */
};
void series_add(struct series_sums *into, const struct series_sums *from);
void series_take_away(struct series_sums *from, const struct series_sums *what);

struct series_point {
    bool known;
    int64_t created, started, completed, failed;
    int64_t queued, running;        /* at the end of the step */
    double wait_p95_ms, run_p95_ms; /* negative: nothing started, nothing ended */
};

struct series {
    struct series_sums own;   /* of this node since its start */
    struct series_sums noted; /* so much of them is in the rings */
    struct series_sums heard; /* of other nodes, not yet in the rings */
    int64_t queued, running;  /* in all, now */
    bool is_told;             /* how many these are: others change them too */
    int64_t second;           /* the one that is being counted */
    struct series_level {
        int64_t first, step; /* from which step on it knows; the one that is being counted */
        struct series_sums sums;
        struct series_point points[SERIES_POINTS]; /* by step % SERIES_POINTS */
    } levels[SERIES_LEVELS];
};

void series_begin(struct series *series, bool is_told, int64_t now_ms);
void series_count(struct series *series, int64_t queued, int64_t running); /* so many there are */

/* ---- Counting ---- */

void series_born(struct series *series, enum task_state state);
void series_moved(struct series *series, enum task_state from, enum task_state to);
/* It is now this time: before anything is counted that happens now. */
void series_pass(struct series *series, int64_t now_ms);

/* What a node hears of the others. */
struct series_news {
    struct series_sums others; /* what they have done since it was told last */
    bool counted;              /* so many there are in all: */
    int64_t queued, running;
};

/* ---- Asking ---- */

struct series_view {
    int64_t step_ms, from_ms;
    struct series_point *points;
    size_t count;
};
/* The finished steps of the last `minutes`, up to now: call series_pass() before. */
void series_look(const struct series *series, int64_t minutes, struct arena *arena,
                 struct series_view *out);

#endif
