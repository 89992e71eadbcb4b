/* queue/worker.h: who works: seen through claims, known by name.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_WORKER_H
#define ERRAND_QUEUE_WORKER_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/map.h"
#include "queue/queue.h"
#include "task/task.h"

#define WORKERS_MAX    10000 /* remembered; the one idle for longest is forgotten first */
#define WORKER_SEEN_MS (60 * SECOND_MS) /* how long a worker that went silent still counts */

struct worker {
    struct map_node node;
    struct link recent; /* in workers.recent, the one seen last at the end */
    struct str id;      /* owned */
    int64_t seen_ms, seen_mono_ms;
    struct list attempts;      /* due_entry.of_worker */
    size_t waiting;            /* of its claims */
    enum worker_signal signal; /* what an operator asks of it */
    /* What it asked for last: */
    uint64_t asked_hash;
    struct arena asked;
    struct wanted wanted;
};

struct workers {
    struct map by_id;
    struct list recent;
    size_t count;
};

void workers_init(struct workers *workers);
void workers_fini(struct workers *workers);
struct worker *worker_get(struct workers *workers, struct str id);
struct worker *worker_seen(struct workers *workers, struct str id, struct now now);
void worker_asked(struct worker *worker, const struct str *types, size_t types_count,
                  const struct str *queues, size_t queues_count, bool any_queue);
struct worker *worker_find(const struct workers *workers, struct str id); /* NULL: not known */
bool worker_present(const struct worker *worker, struct now now); /* busy, waiting or seen lately */
bool worker_takes(const struct worker *worker, struct str type, struct str queue);
struct wanted wanted_copy(const struct wanted *wanted, struct arena *arena);
bool wanted_takes(const struct wanted *wanted, struct str type, struct str queue);
void workers_forget(struct workers *workers, struct now now); /* the idle ones of long ago */

#endif
