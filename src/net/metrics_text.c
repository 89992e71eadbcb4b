/* net/metrics_text.c: the lines of Prometheus' text format. See metrics_text.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/metrics_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define WHOLE_MAX 1e15 /* whole numbers up to here are written digit by digit */

static const struct {
    const char *name, *type, *meaning;
} families[METRICS] = {
#define METRIC(id, name, type, meaning) [METRIC_##id] = {name, type, meaning},
#include "net/metrics.def"
};

/* In OpenMetrics a counter's family is named without _total; its samples have it in both. */
void metrics_begin(struct metrics_text *text, enum metric metric)
{
    const char *name = families[metric].name;
    size_t len = strlen(name);
    bool counter = strcmp(families[metric].type, "counter") == 0;
    int shown = (int)(counter && text->open_metrics ? len - strlen("_total") : len);
    text->name = name;
    buf_printf(text->buf, "# HELP %.*s %s\n# TYPE %.*s %s\n", shown, name, families[metric].meaning,
               shown, name, families[metric].type);
}

static void label_value(struct buf *buf, struct str value)
{
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (c == '\\' || c == '"') {
            buf_char(buf, '\\');
        }
        if (c == '\n') {
            buf_c(buf, "\\n");
        } else {
            buf_char(buf, c);
        }
    }
}

static void sample(struct metrics_text *text, const char *part, const struct metrics_label *labels,
                   size_t count, double number)
{
    struct buf *buf = text->buf;
    const char *before = "{";
    buf_c(buf, text->name);
    buf_c(buf, part);
    for (size_t i = 0; i < count; i++) {
        if (labels[i].name != NULL) {
            buf_printf(buf, "%s%s=\"", before, labels[i].name);
            label_value(buf, labels[i].value);
            buf_char(buf, '"');
            before = ",";
        }
    }
    buf_c(buf, *before == ',' ? "} " : " ");
    if (fabs(number) < WHOLE_MAX && number == floor(number)) {
        buf_printf(buf, "%" PRId64 "\n", (int64_t)number);
    } else {
        buf_printf(buf, "%.17g\n", number);
    }
}

void metrics_put(struct metrics_text *text, double number)
{
    sample(text, "", NULL, 0, number);
}

void metrics_put_for(struct metrics_text *text, struct metrics_label label, double number)
{
    sample(text, "", &label, 1, number);
}

void metrics_put_two(struct metrics_text *text, struct metrics_label one, struct metrics_label two,
                     double number)
{
    const struct metrics_label labels[] = {one, two};
    sample(text, "", labels, 2, number);
}

void metrics_put_histogram(struct metrics_text *text, struct metrics_label label,
                           const struct histogram *histogram)
{
    uint64_t below = 0;
    char bound[32];
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        below += histogram->buckets[i];
        if (i < HISTOGRAM_BUCKETS - 1) {
            snprintf(bound, sizeof bound, "%g", (double)histogram_bounds_ms[i] / 1000);
        } else {
            snprintf(bound, sizeof bound, "+Inf");
        }
        const struct metrics_label labels[] = {label, LABEL("le", str_of(bound))};
        sample(text, "_bucket", labels, 2, (double)below);
    }
    sample(text, "_sum", &label, 1, (double)histogram->sum_ms / 1000);
    sample(text, "_count", &label, 1, (double)histogram->count);
}

void metrics_put_summary(struct metrics_text *text, double sum, double count)
{
    sample(text, "_sum", NULL, 0, sum);
    sample(text, "_count", NULL, 0, count);
}
