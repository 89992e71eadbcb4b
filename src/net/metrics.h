/* net/metrics.h: numbers for Prometheus, in its text format or as OpenMetrics.
 *
 * Each family has HELP and TYPE before its samples; times are in seconds. No label ever holds a
 * task's id or what a client wrote freely, but for queue names, which have a narrow alphabet, and
 * types of tasks, of which there is a bounded number (queue/type_book.h).
 *
 * Counters count what this process has done since its start; what is told of queues, schedules and
 * teams as they are now is the same on every node that shares the store.
 *
 * Thread: any; it only writes.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_METRICS_H
#define ERRAND_NET_METRICS_H

#include "base/buf.h"
#include "client/otlp.h"
#include "queue/queue.h"
#include "schedule/planner.h"
#include "team/lead.h"

#define METRICS_WAITING_MAX 1000 /* deliveries of one channel that are counted */

/* What the store and the engine were asked for. */
struct metrics_answers {
    const struct queue_view *queues;
    size_t queues_count;
    const struct queue_stats *stats;
    const struct worker_view *workers;
    size_t workers_count;
    const struct planner_figures *planner; /* NULL: there are no schedules here */
    int64_t schedules_active;
    int64_t deliveries_waiting[SCHEDULE_CHANNELS];
    const struct lead_figures *lead; /* NULL: there are no teams here */
    int64_t teams_running;
};

struct metrics {
    bool open_metrics;
    const struct metrics_answers *answers; /* NULL: the store did not answer */
    size_t connections;
    const uint64_t *commands; /* COMMAND_KINDS of them */
    struct str version;
    int64_t started_ms; /* UTC */
    bool leads;         /* this node, or it is alone */
    size_t nodes;
    bool broker_up;
    int64_t clock_offset_ms;     /* beside the store's, in a fleet */
    double data_free, data_size; /* bytes */
    struct otlp_figures otel;
};

/* The type of the tasks that deliver by this channel. */
struct str metrics_delivery_type(enum schedule_channel channel);

void metrics_write(struct buf *buf, const struct metrics *metrics);

#define METRICS_TYPE      "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_OPEN_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

#endif
