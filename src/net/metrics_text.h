/* net/metrics_text.h: the lines of Prometheus' text format and of OpenMetrics.
 *
 * A family is begun by its row of metrics.def, which writes HELP and TYPE; its samples follow.
 *
 * Thread: any; it only writes.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_METRICS_TEXT_H
#define ERRAND_NET_METRICS_TEXT_H

#include "base/buf.h"
#include "queue/stats.h"

enum metric {
#define METRIC(id, name, type, meaning) METRIC_##id,
#include "net/metrics.def"
    METRICS
};

struct metrics_text {
    struct buf *buf;
    bool open_metrics;
    const char *name; /* of the family that was begun */
};

struct metrics_label {
    const char *name; /* NULL: there is none */
    struct str value; /* whatever it holds is escaped */
};
#define LABEL(name, value) ((struct metrics_label){(name), (value)})
#define NO_LABEL           ((struct metrics_label){0})

void metrics_begin(struct metrics_text *text, enum metric metric);

void metrics_put(struct metrics_text *text, double number);
void metrics_put_for(struct metrics_text *text, struct metrics_label label, double number);
void metrics_put_two(struct metrics_text *text, struct metrics_label one, struct metrics_label two,
                     double number);
void metrics_put_histogram(struct metrics_text *text, struct metrics_label label,
                           const struct histogram *histogram);
void metrics_put_summary(struct metrics_text *text, double sum, double count);

#endif
