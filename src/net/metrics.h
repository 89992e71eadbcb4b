/* net/metrics.h: numbers for Prometheus, in its text format or as OpenMetrics.
 *
 * Each family has HELP and TYPE before its samples; times are in seconds. No label ever holds a
 * task's id or what a client wrote freely, but for queue names, which have a narrow alphabet.
 *
 * Thread: any; it only writes.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_METRICS_H
#define ERRAND_NET_METRICS_H

#include "base/buf.h"
#include "queue/queue.h"

struct metrics {
    bool open_metrics;
    const struct queue_view *queues;
    size_t queues_count;
    const struct queue_stats *stats;
    const struct worker_view *workers;
    size_t workers_count;
    size_t connections;
    const uint64_t *commands; /* COMMAND_KINDS of them */
    struct str version;
    int64_t started_ms; /* UTC */
    bool leads;         /* this node, or it is alone */
    bool broker_up;
    bool clock_known; /* beside the store's, in a fleet */
    int64_t clock_offset_ms;
};

void metrics_write(struct buf *buf, const struct metrics *metrics);

#define METRICS_TYPE      "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_OPEN_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

#endif
