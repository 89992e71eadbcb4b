/* net/metrics.c: numbers for Prometheus. See metrics.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "net/metrics_text.h"
#include "task/reserved.h"

struct out {
    struct metrics_text text;
    const struct metrics *metrics;
    const struct metrics_answers *answers;
};

static const char *const outcome_labels[TASK_OUTCOMES] = {
    [OUTCOME_COMPLETED] = "completed", [OUTCOME_FAILED] = "failed",
    [OUTCOME_TIMEOUT] = "timeout",     [OUTCOME_LOST] = "lost",
    [OUTCOME_RELEASED] = "released",   [OUTCOME_CANCELLED] = "cancelled",
};

/* A family of one sample. */
static void put(struct out *out, enum metric metric, double number)
{
    metrics_begin(&out->text, metric);
    metrics_put(&out->text, number);
}

/* ---- Queues ---- */

#define EACH_QUEUE(out, view)                                                                      \
    for (const struct queue_view *view = (out)->answers->queues,                                   \
                                 *end = view + (out)->answers->queues_count;                       \
         view != end; view++)
#define OF_QUEUE(view) LABEL("queue", (view)->settings.name)

static double enqueued(const struct out *out, const struct queue_view *view)
{
    (void)out;
    return (double)view->enqueued;
}

static double completed(const struct out *out, const struct queue_view *view)
{
    (void)out;
    return (double)view->completed;
}

static double failed(const struct out *out, const struct queue_view *view)
{
    (void)out;
    return (double)view->failed;
}

static double oldest_seconds(const struct out *out, const struct queue_view *view)
{
    int64_t now_ms = out->answers->stats->now_ms;
    return view->oldest_ms == INT64_MAX ? 0 : (double)MAX(now_ms - view->oldest_ms, 0) / 1000;
}

static double paused(const struct out *out, const struct queue_view *view)
{
    (void)out;
    return view->settings.paused;
}

static double running(const struct out *out, const struct queue_view *view)
{
    (void)out;
    return (double)view->counts[TASK_RUNNING];
}

static void queues(struct out *out)
{
    static const struct {
        enum metric metric;
        double (*of)(const struct out *out, const struct queue_view *view);
    } rows[] = {
        {METRIC_TASKS_ENQUEUED, enqueued}, {METRIC_TASKS_COMPLETED, completed},
        {METRIC_TASKS_FAILED, failed},     {METRIC_QUEUE_OLDEST, oldest_seconds},
        {METRIC_QUEUE_PAUSED, paused},     {METRIC_DISPATCH_IN_FLIGHT, running},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        metrics_begin(&out->text, rows[i].metric);
        EACH_QUEUE(out, view)
        {
            metrics_put_for(&out->text, OF_QUEUE(view), rows[i].of(out, view));
        }
    }
    metrics_begin(&out->text, METRIC_TASK_ATTEMPTS);
    EACH_QUEUE(out, view)
    {
        for (int outcome = OUTCOME_COMPLETED; outcome < TASK_OUTCOMES; outcome++) {
            metrics_put_two(&out->text, OF_QUEUE(view),
                            LABEL("outcome", str_of(outcome_labels[outcome])),
                            (double)view->outcomes[outcome]);
        }
    }
    metrics_begin(&out->text, METRIC_TASKS);
    EACH_QUEUE(out, view)
    {
        for (int state = 0; state < TASK_STATES; state++) {
            metrics_put_two(&out->text, OF_QUEUE(view),
                            LABEL("state", str_of(task_state_name((enum task_state)state))),
                            (double)view->counts[state]);
        }
    }
    metrics_begin(&out->text, METRIC_TASK_WAIT);
    EACH_QUEUE(out, view)
    {
        metrics_put_histogram(&out->text, OF_QUEUE(view), &view->wait);
    }
    metrics_begin(&out->text, METRIC_TASK_RUN);
    EACH_QUEUE(out, view)
    {
        metrics_put_histogram(&out->text, OF_QUEUE(view), &view->run);
    }
}

/* ---- Types of tasks ---- */

#define EACH_TYPE(out, figures)                                                                    \
    for (const struct type_figures *figures = (out)->answers->stats->types,                        \
                                   *end = figures + (out)->answers->stats->types_count;            \
         figures != end; figures++)
#define OF_TYPE(figures) LABEL("type", (figures)->type)

static void types(struct out *out)
{
    static const struct {
        enum metric metric;
        size_t at; /* in struct type_figures */
    } rows[] = {
        {METRIC_TYPE_ENQUEUED, offsetof(struct type_figures, enqueued)},
        {METRIC_TYPE_COMPLETED, offsetof(struct type_figures, completed)},
        {METRIC_TYPE_FAILED, offsetof(struct type_figures, failed)},
        {METRIC_TYPE_RETRIES, offsetof(struct type_figures, retried)},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        metrics_begin(&out->text, rows[i].metric);
        EACH_TYPE(out, figures)
        {
            uint64_t count = *(const uint64_t *)((const char *)figures + rows[i].at);
            metrics_put_for(&out->text, OF_TYPE(figures), (double)count);
        }
    }
    metrics_begin(&out->text, METRIC_TYPE_ATTEMPTS);
    EACH_TYPE(out, figures)
    {
        for (int outcome = OUTCOME_COMPLETED; outcome < TASK_OUTCOMES; outcome++) {
            metrics_put_two(&out->text, OF_TYPE(figures),
                            LABEL("outcome", str_of(outcome_labels[outcome])),
                            (double)figures->outcomes[outcome]);
        }
    }
    metrics_begin(&out->text, METRIC_TYPE_WAIT);
    EACH_TYPE(out, figures)
    {
        metrics_put_histogram(&out->text, OF_TYPE(figures), &figures->wait);
    }
    metrics_begin(&out->text, METRIC_TYPE_RUN);
    EACH_TYPE(out, figures)
    {
        metrics_put_histogram(&out->text, OF_TYPE(figures), &figures->run);
    }
}

/* ---- Schedules and their deliveries ---- */

static void schedules(struct out *out)
{
    const struct planner_figures *figures = out->answers->planner;
    struct metrics_text *text = &out->text;
    put(out, METRIC_SCHEDULES_ACTIVE, (double)out->answers->schedules_active);
    put(out, METRIC_SCHEDULE_RUNS, (double)figures->runs);
    put(out, METRIC_SCHEDULE_FAILURES, (double)figures->failed);
    metrics_begin(text, METRIC_SCHEDULE_SKIPPED);
    metrics_put_for(text, LABEL("reason", STR("missed")), (double)figures->missed);
    metrics_put_for(text, LABEL("reason", STR("overlap")), (double)figures->overlapped);
    metrics_begin(text, METRIC_SCHEDULE_LATENESS);
    metrics_put_histogram(text, NO_LABEL, &figures->lateness);
}

#define DELIVERY(channel)                                                                          \
    {                                                                                              \
        RESERVED_DELIVERY_TYPE channel, sizeof(RESERVED_DELIVERY_TYPE channel) - 1                 \
    }
static const struct str delivery_types[SCHEDULE_CHANNELS] = {
    [CHANNEL_EMAIL] = DELIVERY("email"),
    [CHANNEL_WEB] = DELIVERY("web"),
    [CHANNEL_MOBILE] = DELIVERY("mobile"),
};

struct str metrics_delivery_type(enum schedule_channel channel)
{
    return delivery_types[channel];
}

/* A delivery is a task like any other: what became of those of a channel is told by their type. */
static struct type_figures channel_figures(const struct out *out, int channel)
{
    EACH_TYPE(out, figures)
    {
        if (str_eq(figures->type, delivery_types[channel])) {
            return *figures;
        }
    }
    return (struct type_figures){0};
}

static void deliveries(struct out *out)
{
    static const enum metric metrics[] = {METRIC_DELIVERIES_SENT, METRIC_DELIVERIES_FAILED,
                                          METRIC_DELIVERY_RETRIES, METRIC_DELIVERIES_WAITING};
    for (size_t i = 0; i < ARRAY_LEN(metrics); i++) {
        metrics_begin(&out->text, metrics[i]);
        for (int channel = 0; channel < SCHEDULE_CHANNELS; channel++) {
            const struct type_figures figures = channel_figures(out, channel);
            struct str name = str_from(delivery_types[channel], strlen(RESERVED_DELIVERY_TYPE));
            const double numbers[] = {(double)figures.completed, (double)figures.failed,
                                      (double)figures.retried,
                                      (double)out->answers->deliveries_waiting[channel]};
            metrics_put_for(&out->text, LABEL("channel", name), numbers[i]);
        }
    }
}

/* ---- Teams ---- */

static void teams(struct out *out)
{
    const struct lead_figures *figures = out->answers->lead;
    put(out, METRIC_TEAMS_RUNNING, (double)out->answers->teams_running);
    metrics_begin(&out->text, METRIC_TEAMS_ENDED);
    for (int status = TEAM_RUNNING + 1; status < TEAM_STATUSES; status++) {
        metrics_put_for(&out->text, LABEL("status", str_of(team_statuses[status])),
                        (double)figures->ended[status]);
    }
    put(out, METRIC_TEAM_TURNS, (double)figures->turns);
    put(out, METRIC_TEAM_TOKENS, figures->tokens);
}

/* ---- The server ---- */

static void commands(struct out *out)
{
    metrics_begin(&out->text, METRIC_COMMANDS);
    for (int kind = 0; kind < COMMAND_KINDS; kind++) {
        const struct command_row *row = command_row((enum command_kind)kind);
        if ((row->senders & (BY_CLIENT | BY_OPERATOR)) != 0) {
            metrics_put_two(&out->text, LABEL("protocol", STR("http")),
                            LABEL("command", str_of(row->name)),
                            (double)out->metrics->commands[kind]);
        }
    }
}

static void workers(struct out *out)
{
    size_t busy = 0, all = out->answers->workers_count;
    for (size_t i = 0; i < all; i++) {
        busy += out->answers->workers[i].tasks_count > 0;
    }
    metrics_begin(&out->text, METRIC_WORKERS);
    metrics_put_for(&out->text, LABEL("state", STR("busy")), (double)busy);
    metrics_put_for(&out->text, LABEL("state", STR("idle")), (double)(all - busy));
    put(out, METRIC_WAITING_CLAIMS, (double)out->answers->stats->waiting_claims);
    put(out, METRIC_WORKERS_LOST, (double)out->answers->stats->strays);
}

static void store(struct out *out)
{
    const struct store_health *health = &out->answers->stats->store;
    metrics_begin(&out->text, METRIC_WAL_FSYNC);
    metrics_put_summary(&out->text, (double)health->commit_us_sum / 1e6, (double)health->commits);
    put(out, METRIC_SLOW_COMMITS, (double)out->answers->stats->slow_commits);
    put(out, METRIC_LOST_COMMITS, (double)health->lost_commits);
    put(out, METRIC_WAL_BYTES, (double)health->wal_bytes);
    put(out, METRIC_STORE_BYTES, (double)health->file_bytes);
}

/* What a node can say by itself. */
static void node(struct out *out)
{
    const struct metrics *metrics = out->metrics;
    metrics_begin(&out->text, METRIC_CONNECTIONS);
    metrics_put_for(&out->text, LABEL("protocol", STR("http")), (double)metrics->connections);
    put(out, METRIC_LEADER, metrics->leads);
    put(out, METRIC_NODES, (double)metrics->nodes);
    put(out, METRIC_BROKER_UP, metrics->broker_up);
    put(out, METRIC_STORE_UP, metrics->answers != NULL);
    put(out, METRIC_CLOCK_OFFSET, (double)metrics->clock_offset_ms / 1000);
    put(out, METRIC_OTEL_SENT, (double)metrics->otel.sent);
    put(out, METRIC_OTEL_DROPPED, (double)metrics->otel.dropped);
    put(out, METRIC_OTEL_WAITING, (double)metrics->otel.waiting);
    put(out, METRIC_DATA_FREE_BYTES, metrics->data_free);
    put(out, METRIC_DATA_SIZE_BYTES, metrics->data_size);
    metrics_begin(&out->text, METRIC_BUILD_INFO);
    metrics_put_for(&out->text, LABEL("version", metrics->version), 1);
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
    put(out, METRIC_PROCESS_CPU, (double)used.tv_sec + (double)used.tv_nsec / 1e9);
    put(out, METRIC_PROCESS_MEMORY, resident_bytes());
    put(out, METRIC_PROCESS_FDS, open_fds());
    put(out, METRIC_PROCESS_MAX_FDS, (double)files.rlim_cur);
    put(out, METRIC_PROCESS_START, (double)out->metrics->started_ms / 1000);
}

void metrics_write(struct buf *buf, const struct metrics *metrics)
{
    struct out out = {{buf, metrics->open_metrics, NULL}, metrics, metrics->answers};
    if (out.answers != NULL) {
        queues(&out);
        types(&out);
        deliveries(&out);
        workers(&out);
        store(&out);
    }
    if (out.answers != NULL && out.answers->planner != NULL) {
        schedules(&out);
    }
    if (out.answers != NULL && out.answers->lead != NULL) {
        teams(&out);
    }
    commands(&out);
    node(&out);
    process(&out);
    if (metrics->open_metrics) {
        buf_c(buf, "# EOF\n");
    }
}
