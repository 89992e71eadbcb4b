/* net/metrics.c: numbers for Prometheus. See metrics.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct out {
    struct buf *buf;
    const struct metrics *metrics;
};

/* ---- Lines ---- */

/* In OpenMetrics a counter's family is named without _total; its samples have it in both. */
static void family(struct out *out, const char *name, const char *type, const char *help)
{
    size_t len = strlen(name);
    bool counter = len > 6 && strcmp(name + len - 6, "_total") == 0;
    int shown = (int)(counter && out->metrics->open_metrics ? len - 6 : len);
    buf_printf(out->buf, "# HELP %.*s %s\n# TYPE %.*s %s\n", shown, name, help, shown, name, type);
}

static void label_value(struct buf *buf, struct str value)
{
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (c == '\\' || c == '"') {
            buf_char(buf, '\\');
        }
        buf_c(buf, c == '\n' ? "\\n" : (char[]){c, '\0'});
    }
}

static void value(struct out *out, double number)
{
    buf_printf(out->buf, " %.17g\n", number);
}

static void sample(struct out *out, const char *name, double number)
{
    buf_c(out->buf, name);
    value(out, number);
}

static void labelled(struct out *out, const char *name, const char *label, struct str is,
                     double number)
{
    buf_printf(out->buf, "%s{%s=\"", name, label);
    label_value(out->buf, is);
    buf_c(out->buf, "\"}");
    value(out, number);
}

/* ---- Queues ---- */

static void outcomes(struct out *out, const struct queue_view *view)
{
    static const char *const names[TASK_OUTCOMES] = {
        [OUTCOME_COMPLETED] = "completed", [OUTCOME_FAILED] = "failed",
        [OUTCOME_TIMEOUT] = "timeout",     [OUTCOME_LOST] = "lost",
        [OUTCOME_RELEASED] = "released",   [OUTCOME_CANCELLED] = "cancelled",
    };
    for (int outcome = OUTCOME_COMPLETED; outcome < TASK_OUTCOMES; outcome++) {
        buf_c(out->buf, "errand_task_attempts_total{queue=\"");
        label_value(out->buf, view->settings.name);
        buf_printf(out->buf, "\",outcome=\"%s\"}", names[outcome]);
        value(out, (double)view->outcomes[outcome]);
    }
}

static void bucket(struct out *out, const char *name, struct str queue, const char *bound,
                   uint64_t count)
{
    buf_printf(out->buf, "%s_bucket{queue=\"", name);
    label_value(out->buf, queue);
    buf_printf(out->buf, "\",le=\"%s\"}", bound);
    value(out, (double)count);
}

static void histogram(struct out *out, const char *name, struct str queue,
                      const struct histogram *histogram)
{
    uint64_t below = 0;
    char part[64], bound[32];
    for (size_t i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
        below += histogram->buckets[i];
        snprintf(bound, sizeof bound, "%g", (double)histogram_bounds_ms[i] / 1000);
        bucket(out, name, queue, bound, below);
    }
    bucket(out, name, queue, "+Inf", histogram->count);
    snprintf(part, sizeof part, "%s_sum", name);
    labelled(out, part, "queue", queue, (double)histogram->sum_ms / 1000);
    snprintf(part, sizeof part, "%s_count", name);
    labelled(out, part, "queue", queue, (double)histogram->count);
}

#define EACH_QUEUE(out, view)                                                                      \
    for (const struct queue_view *view = (out)->metrics->queues,                                   \
                                 *end = view + (out)->metrics->queues_count;                       \
         view != end; view++)

static void queue_counters(struct out *out)
{
    family(out, "errand_tasks_enqueued_total", "counter", "Tasks created since the start.");
    EACH_QUEUE(out, view)
    {
        labelled(out, "errand_tasks_enqueued_total", "queue", view->settings.name,
                 (double)view->enqueued);
    }
    family(out, "errand_tasks_completed_total", "counter", "Tasks completed since the start.");
    EACH_QUEUE(out, view)
    {
        labelled(out, "errand_tasks_completed_total", "queue", view->settings.name,
                 (double)view->completed);
    }
    family(out, "errand_task_attempts_total", "counter", "Attempts ended since the start.");
    EACH_QUEUE(out, view)
    {
        outcomes(out, view);
    }
}

static void queue_gauges(struct out *out)
{
    int64_t now_ms = out->metrics->stats->now_ms;
    family(out, "errand_tasks", "gauge", "Tasks there are now, by state.");
    EACH_QUEUE(out, view)
    {
        for (int state = 0; state < TASK_STATES; state++) {
            buf_c(out->buf, "errand_tasks{queue=\"");
            label_value(out->buf, view->settings.name);
            buf_printf(out->buf, "\",state=\"%s\"}", task_state_name((enum task_state)state));
            value(out, (double)view->counts[state]);
        }
    }
    family(out, "errand_queue_oldest_task_age_seconds", "gauge",
           "How long the oldest ready task has waited.");
    EACH_QUEUE(out, view)
    {
        int64_t age_ms = view->oldest_ms == INT64_MAX ? 0 : MAX(now_ms - view->oldest_ms, 0);
        labelled(out, "errand_queue_oldest_task_age_seconds", "queue", view->settings.name,
                 (double)age_ms / 1000);
    }
    family(out, "errand_queue_paused", "gauge", "1 while the queue is paused.");
    EACH_QUEUE(out, view)
    {
        labelled(out, "errand_queue_paused", "queue", view->settings.name, view->settings.paused);
    }
    family(out, "errand_dispatch_in_flight", "gauge", "Attempts that run now.");
    EACH_QUEUE(out, view)
    {
        labelled(out, "errand_dispatch_in_flight", "queue", view->settings.name,
                 (double)view->counts[TASK_RUNNING]);
    }
}

static void queue_histograms(struct out *out)
{
    family(out, "errand_task_wait_seconds", "histogram", "From queued to started.");
    EACH_QUEUE(out, view)
    {
        histogram(out, "errand_task_wait_seconds", view->settings.name, &view->wait);
    }
    family(out, "errand_task_run_seconds", "histogram", "From started to ended.");
    EACH_QUEUE(out, view)
    {
        histogram(out, "errand_task_run_seconds", view->settings.name, &view->run);
    }
}

/* ---- The server ---- */

static void commands(struct out *out)
{
    family(out, "errand_commands_total", "counter", "Commands given to the engine.");
    for (int kind = 0; kind < COMMAND_KINDS; kind++) {
        const struct command_row *row = command_row((enum command_kind)kind);
        if ((row->senders & (BY_CLIENT | BY_OPERATOR)) != 0) {
            buf_printf(out->buf, "errand_commands_total{protocol=\"http\",command=\"%s\"}",
                       row->name);
            value(out, (double)out->metrics->commands[kind]);
        }
    }
}

static void workers(struct out *out)
{
    size_t busy = 0, all = out->metrics->workers_count;
    for (size_t i = 0; i < all; i++) {
        busy += out->metrics->workers[i].tasks_count > 0;
    }
    family(out, "errand_workers", "gauge", "Workers seen lately.");
    labelled(out, "errand_workers", "state", STR("busy"), (double)busy);
    labelled(out, "errand_workers", "state", STR("idle"), (double)(all - busy));
    family(out, "errand_waiting_claims", "gauge", "Claims that wait for a task.");
    sample(out, "errand_waiting_claims", (double)out->metrics->stats->waiting_claims);
    family(out, "errand_workers_lost", "gauge",
           "Run functions that ignored their abort and have not returned.");
    sample(out, "errand_workers_lost", (double)out->metrics->stats->strays);
    family(out, "errand_leader", "gauge", "1 where this node leads its fleet, or is alone.");
    sample(out, "errand_leader", out->metrics->leads);
    family(out, "errand_broker_up", "gauge", "0 while Redis is away and claims ask the store.");
    sample(out, "errand_broker_up", out->metrics->broker_up);
    if (out->metrics->clock_known) {
        family(out, "errand_clock_offset_seconds", "gauge",
               "How far this node's clock is ahead of the store's.");
        sample(out, "errand_clock_offset_seconds", (double)out->metrics->clock_offset_ms / 1000);
    }
    family(out, "errand_connections", "gauge", "Open connections.");
    labelled(out, "errand_connections", "protocol", STR("http"), (double)out->metrics->connections);
}

static void store(struct out *out)
{
    const struct store_health *health = &out->metrics->stats->store;
    family(out, "errand_wal_fsync_seconds", "summary", "Time spent in commits, fsync included.");
    sample(out, "errand_wal_fsync_seconds_sum", (double)health->commit_us_sum / 1e6);
    sample(out, "errand_wal_fsync_seconds_count", (double)health->commits);
    family(out, "errand_store_lost_commits_total", "counter",
           "Commits of this node that a standby lacked when it took over.");
    sample(out, "errand_store_lost_commits_total", (double)health->lost_commits);
    family(out, "errand_wal_bytes", "gauge", "Size of the write-ahead log.");
    sample(out, "errand_wal_bytes", (double)health->wal_bytes);
    family(out, "errand_store_bytes", "gauge", "Size of the database file.");
    sample(out, "errand_store_bytes", (double)health->file_bytes);
    family(out, "errand_build_info", "gauge", "1; the label tells the version.");
    labelled(out, "errand_build_info", "version", out->metrics->version, 1);
}

/* ---- The process ---- */

static double resident_bytes(void)
{
    unsigned long long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) {
        return 0;
    }
    int got = fscanf(file, "%llu %llu", &size, &resident);
    fclose(file);
    return got == 2 ? (double)resident * (double)sysconf(_SC_PAGESIZE) : 0;
}

static double open_fds(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) {
        return 0;
    }
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return (double)(count > 3 ? count - 3 : 0); /* without ".", ".." and the folder itself */
}

static void process(struct out *out)
{
    struct rlimit files = {0};
    struct timespec used = {0};
    getrlimit(RLIMIT_NOFILE, &files);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    family(out, "process_cpu_seconds_total", "counter", "Processor time used.");
    sample(out, "process_cpu_seconds_total", (double)used.tv_sec + (double)used.tv_nsec / 1e9);
    family(out, "process_resident_memory_bytes", "gauge", "Resident memory.");
    sample(out, "process_resident_memory_bytes", resident_bytes());
    family(out, "process_open_fds", "gauge", "Open file descriptors.");
    sample(out, "process_open_fds", open_fds());
    family(out, "process_max_fds", "gauge", "File descriptors there may be.");
    sample(out, "process_max_fds", (double)files.rlim_cur);
    family(out, "process_start_time_seconds", "gauge", "When it was started, since 1970.");
    sample(out, "process_start_time_seconds", (double)out->metrics->started_ms / 1000);
}

void metrics_write(struct buf *buf, const struct metrics *metrics)
{
    struct out out = {buf, metrics};
    queue_counters(&out);
    queue_gauges(&out);
    queue_histograms(&out);
    commands(&out);
    workers(&out);
    store(&out);
    process(&out);
    if (metrics->open_metrics) {
        buf_c(buf, "# EOF\n");
    }
}
