/* queue/stats.h: what an operator and /metrics can know about the queues.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_STATS_H
#define ERRAND_QUEUE_STATS_H

#include "base/clock.h"
#include "store/store.h"

/* Upper bounds of the buckets in milliseconds; the last bucket has none. */
#define HISTOGRAM_BOUNDS                                                                           \
    {                                                                                              \
        1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000, 120000, 300000, \
            600000, 1800000, 3600000                                                               \
    }
#define HISTOGRAM_BUCKETS 21

struct histogram {
    uint64_t buckets[HISTOGRAM_BUCKETS]; /* not cumulative */
    uint64_t count;
    int64_t sum_ms;
};

extern const int64_t histogram_bounds_ms[HISTOGRAM_BUCKETS - 1];
void histogram_add(struct histogram *histogram, int64_t ms);
void histogram_merge(struct histogram *into, const struct histogram *from);
double histogram_quantile_ms(const struct histogram *histogram, double q); /* 0 when empty */

#define RATE_SECONDS 60

struct rates { /* one slot a second, over the last minute */
    int64_t second[RATE_SECONDS];
    uint32_t created[RATE_SECONDS], started[RATE_SECONDS], finished[RATE_SECONDS];
};
void rates_add(uint32_t *slots, struct rates *rates, struct now now, uint32_t n);
double rates_per_second(const uint32_t *slots, const struct rates *rates, struct now now);

struct queue_view {
    struct store_queue settings;
    int64_t counts[TASK_STATES];
    int64_t oldest_ms; /* queued_ms of the oldest ready task; INT64_MAX: none */
    /* Since the start of this process: */
    uint64_t enqueued, completed, failed, outcomes[TASK_OUTCOMES];
    struct histogram wait, run; /* queued → started, started → ended */
};

/* What became of the tasks of one type since the start of this process. */
struct type_figures {
    struct str type;
    uint64_t enqueued, completed, outcomes[TASK_OUTCOMES];
    uint64_t failed;  /* for good: FAILED or TIMEOUT */
    uint64_t retried; /* attempts that ended badly and were followed by another */
    struct histogram wait, run;
};

struct queue_stats {
    int64_t counts[TASK_STATES];
    double created_per_second, started_per_second, finished_per_second; /* over the last minute */
    struct histogram wait, run;
    int64_t oldest_ms;
    int64_t now_ms;
    int64_t running_here; /* attempts that this node minds */
    size_t waiting_claims;
    size_t strays; /* run functions that ignored their abort and have not returned */
    uint64_t batches, commands;
    uint64_t slow_commits;      /* told in the log: journal.h */
    struct type_figures *types; /* type_book.h */
    size_t types_count;
    struct store_health store;
};

#endif
