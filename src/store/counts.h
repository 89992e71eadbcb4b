/* store/counts.h: how many tasks of each state each queue has, kept in memory and never counted.
 *
 * A transaction collects what it changes in a struct count_change; only a commit lets it into the
 * counts, so that readers never see what may yet be rolled back.
 *
 * Thread: counts_list() from any; the rest from the engine's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_COUNTS_H
#define ERRAND_STORE_COUNTS_H

#include <pthread.h>

#include "base/list.h"
#include "base/map.h"
#include "store/store.h"

/* Queues that have nothing but ended tasks and are counted each for itself. Where the store can
 * tell the counts of a queue again, those beyond are only part of a sum. */
#define COUNTS_HISTORY_MAX 10000

struct counts {
    pthread_mutex_t lock;    /* guards `at`, what it points to, and `count` */
    struct count_queue **at; /* by slot; NULL: free */
    size_t count, room;
    size_t *spare; /* free slots */
    size_t spare_count, spare_room;
    struct map by_name;
    struct list history; /* count_queue.history: the one that changed longest ago first */
    size_t history_count;
    bool folds;                  /* set by a store that calls counts_recall() */
    int64_t others[TASK_STATES]; /* the sum of those that were folded; under the lock */
    size_t others_count;         /* so many queues, about; 0: none */
};

/* What a transaction changes in one queue. */
struct count_delta {
    int64_t tasks[TASK_STATES];
    bool touched;
    bool settings; /* the queue got settings */
};
struct count_change {
    struct count_delta *at; /* by slot; those beyond `room` are unchanged */
    size_t room;
    size_t *touched; /* slots, each once */
    size_t touched_count, touched_room;
};

void counts_init(struct counts *counts);
void counts_fini(struct counts *counts);

/* The slot of a queue, made if it is new. Slots are small numbers. A queue that a change touched
 * and that has neither tasks nor settings after it loses its slot with the end of that change. */
size_t counts_slot(struct counts *counts, struct str queue);
/* The same where others may have been folded: false if there is no slot yet. Then the store says
 * what the queue has, as of the last commit, and it gets one. */
bool counts_find(const struct counts *counts, struct str queue, size_t *slot);
size_t counts_recall(struct counts *counts, struct str queue, const int64_t tasks[TASK_STATES]);
struct str counts_name(const struct counts *counts, size_t slot);
int64_t counts_tasks(const struct counts *counts, size_t slot, enum task_state state);

void count_change_fini(struct count_change *change);
void count_change_add(struct count_change *change, size_t slot, enum task_state state, int64_t n);
void count_change_settings(struct count_change *change, size_t slot);

/* It is committed: lets the change in, and clears it. */
void counts_apply(struct counts *counts, struct count_change *change);
/* It came to nothing: clears it. */
void counts_abandon(struct counts *counts, struct count_change *change);

/* Every queue that has tasks or settings, and the sum of what was folded. */
void counts_list(struct counts *counts, struct arena *arena, struct store_counts *out);

#endif
