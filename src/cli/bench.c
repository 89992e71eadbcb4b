/* cli/bench.c: `errand bench`: measures throughput and latency of a running server.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/human.h"
#include "cli/remote.h"
#include "cli/verb.h"
#include "wire/faktory.h"
#include "wire/uri.h"

#define MODES         "create|bulk|claim|life|latency"
#define FILL_BATCH    500
#define LATENCY_RATE  100.0 /* a second: the server is idle in between */
#define LATENCY_COUNT 1000
#define COUNT_DEFAULT 10000

struct bench_options {
    struct remote_options remote;
    int64_t mode, connections, workers, batch, payload, count, documents, pipeline;
    double duration_s, rate;
    struct str type, queue, worker_url, faktory;
    bool no_fill, apart, i_know;
};

static const struct bench_options bench_defaults = {
    .connections = 16, .payload = 200, .pipeline = 1};

/* ---- From options to a plan ---- */

static bool is_loopback(struct str host)
{
    return str_is(host, "localhost") || str_is(host, "::1") || str_starts(host, STR("127."));
}

static bool check_server(const struct bench_options *options, struct str url,
                         struct bench_server *out, struct err *err)
{
    struct uri uri;
    *out = (struct bench_server){STR("localhost"), 80, uri_socket_path(url)};
    if (!str_absent(out->socket)) {
        return true;
    }
    if (!uri_parse(url, &uri, err)) {
        return false;
    }
    *out = (struct bench_server){uri.host, uri.port, STR_NONE};
    if (!str_is(uri.scheme, "http")) {
        return err_set(err, ERR_INVALID, "bench speaks plain http only");
    }
    return is_loopback(uri.host) || options->i_know ||
           err_set(err, ERR_INVALID,
                   "bench floods the server; for another machine than this one add --i-know");
}

static bool find_server(const struct bench_options *options, struct bench_plan *plan,
                        struct err *err)
{
    const char *variable = getenv("ERRAND_URL");
    struct str url = !str_absent(options->remote.url) ? options->remote.url
                     : variable != NULL               ? str_of(variable)
                                                      : STR(REMOTE_URL_DEFAULT);
    struct str worker_url = str_absent(options->worker_url) ? url : options->worker_url;
    if (!check_server(options, url, &plan->server, err) ||
        !check_server(options, worker_url, &plan->worker_server, err)) {
        return false;
    }
    if (!str_absent(options->faktory)) {
        struct bench_server *server = &plan->server;
        *server = (struct bench_server){0};
        plan->faktory = true;
        if (!uri_parse_address(options->faktory, FAKTORY_PORT, &server->host, &server->port, err)) {
            return false;
        }
        plan->worker_server = *server;
        if (!is_loopback(server->host) && !options->i_know) {
            return err_set(err, ERR_INVALID,
                           "bench floods the server; for another machine than this one add "
                           "--i-know");
        }
    }
    plan->token =
        str_absent(options->remote.token) ? str_of(getenv("ERRAND_TOKEN")) : options->remote.token;
    return true;
}

static void plan_amount(const struct bench_options *options, struct bench_plan *plan)
{
    bool latency = options->mode == BENCH_LATENCY;
    plan->duration_us = (int64_t)(options->duration_s * 1e6);
    plan->count = options->count > 0                          ? (uint64_t)options->count
                  : plan->duration_us > 0 || options->no_fill ? UINT64_MAX
                  : latency                                   ? LATENCY_COUNT
                                                              : COUNT_DEFAULT;
    plan->rate = options->rate > 0 ? options->rate : latency ? LATENCY_RATE : 0;
}

static void plan_lanes(const struct bench_options *options, struct bench_plan *plan)
{
    size_t connections = (size_t)options->connections;
    size_t workers = options->workers > 0 ? (size_t)options->workers : connections;
    switch ((enum bench_mode)options->mode) {
    case BENCH_CREATE:
    case BENCH_BULK:
        plan->producers = connections;
        break;
    case BENCH_CLAIM:
        plan->workers = connections;
        break;
    case BENCH_LIFE:
        plan->producers = connections;
        plan->workers = workers;
        plan->wait = true;
        break;
    case BENCH_LATENCY:
        plan->producers = 1;
        plan->workers = options->workers > 0 ? workers : 1;
        plan->wait = true;
        break;
    }
}

static bool make_plan(const struct bench_options *options, struct bench_plan *plan, struct err *err)
{
    int64_t batch = options->batch > 0 ? options->batch : options->mode == BENCH_BULK ? 100 : 1;
    *plan = (struct bench_plan){
        .batch = options->mode == BENCH_CREATE ? 1 : (size_t)batch,
        .payload = (size_t)options->payload,
        .documents = (size_t)options->documents,
        .apart = options->apart,
        .depth = (size_t)options->pipeline,
        .type = !str_absent(options->type)       ? options->type
                : options->mode == BENCH_LATENCY ? STR("bench-latency") /* no backlog before it */
                                                 : STR("bench"),
        .queue = str_absent(options->queue) ? STR("bench") : options->queue,
    };
    plan_amount(options, plan);
    plan_lanes(options, plan);
    if (!str_absent(options->faktory) && plan->workers > 0 && plan->batch > 1) {
        return err_set(err, ERR_INVALID, "workers of Faktory fetch one job at a time: no --batch");
    }
    return find_server(options, plan, err);
}

/* Creates what claims are to take, without measuring. */
static bool fill(const struct bench_plan *plan, struct err *err)
{
    SCOPED(mem_free_at) struct bench_result *unused = mem_new(struct bench_result);
    struct bench_plan filling = *plan;
    filling.producers = 4;
    filling.workers = 0;
    filling.batch = FILL_BATCH;
    filling.duration_us = 0;
    filling.count = plan->count == UINT64_MAX ? COUNT_DEFAULT : plan->count;
    return bench_run(&filling, unused, err) || err_wrap(err, "create tasks to claim");
}

/* ---- The report ---- */

static const struct {
    const char *name;
    double at;
} quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}};

static void put_times(struct json_writer *w, const char *key, const struct bench_times *times)
{
    if (times->count > 0) {
        json_put_object(w, key);
        for (size_t i = 0; i < ARRAY_LEN(quantiles); i++) {
            json_put_f64(w, quantiles[i].name, bench_times_ms(times, quantiles[i].at));
        }
        json_put_f64(w, "max", (double)times->max_us / 1000);
        json_close_object(w);
    }
}

static void print_times(const char *what, const struct bench_times *times)
{
    if (times->count > 0) {
        printf("%-22s", what);
        for (size_t i = 0; i < ARRAY_LEN(quantiles); i++) {
            printf(" %s %.2f", quantiles[i].name, bench_times_ms(times, quantiles[i].at));
        }
        printf(" max %.2f ms\n", (double)times->max_us / 1000);
    }
}

static double per_second(uint64_t n, const struct bench_result *result)
{
    return (double)n / (double)MAX(result->wall_us, 1) * 1e6;
}

static double per_request(int64_t us, const struct bench_result *result)
{
    return (double)us / (double)MAX(result->requests, 1u);
}

static const char *mode_name(const struct bench_options *options)
{
    static const char *const names[] = {"create", "bulk", "claim", "life", "latency"};
    return names[options->mode];
}

static void print_json(const struct bench_options *options, const struct bench_plan *plan,
                       const struct bench_result *result, uint64_t tasks)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64 * KIB);
    struct json_writer w = JSON_WRITER(&text);
    json_open_object(&w);
    json_put_c(&w, "mode", mode_name(options));
    json_put_i64(&w, "producers", (int64_t)plan->producers);
    json_put_i64(&w, "workers", (int64_t)plan->workers);
    json_put_i64(&w, "batch", (int64_t)plan->batch);
    json_put_i64(&w, "pipeline", (int64_t)plan->depth);
    json_put_i64(&w, "payload", (int64_t)plan->payload);
    json_put_i64(&w, "documents", (int64_t)plan->documents);
    json_put_i64(&w, "tasks", (int64_t)tasks);
    json_put_i64(&w, "created", (int64_t)result->created);
    json_put_i64(&w, "completed", (int64_t)result->completed);
    json_put_i64(&w, "requests", (int64_t)result->requests);
    json_put_i64(&w, "errors", (int64_t)result->errors);
    json_put_f64(&w, "seconds", (double)result->wall_us / 1e6);
    json_put_f64(&w, "tasksPerSecond", per_second(tasks, result));
    json_put_f64(&w, "requestsPerSecond", per_second(result->requests, result));
    json_put_f64(&w, "clientUserUs", per_request(result->user_us, result));
    json_put_f64(&w, "clientSystemUs", per_request(result->system_us, result));
    put_times(&w, "createMs", &result->create);
    put_times(&w, "workMs", &result->work);
    put_times(&w, "startMs", &result->start);
    json_close_object(&w);
    puts(buf_c_text(&text));
}

static void print_report(const struct bench_options *options, const struct bench_plan *plan,
                         const struct bench_result *result, uint64_t tasks)
{
    printf("%-22s %s: %zu producers, %zu workers, batches of %zu, payloads of %zu bytes\n", "mode",
           mode_name(options), plan->producers, plan->workers, plan->batch, plan->payload);
    printf("%-22s %llu in %.2f s: %.0f/s\n", "tasks", (unsigned long long)tasks,
           (double)result->wall_us / 1e6, per_second(tasks, result));
    printf("%-22s %llu: %.0f/s; client CPU for each %.1f us, and %.1f us in the kernel\n",
           "requests", (unsigned long long)result->requests, per_second(result->requests, result),
           per_request(result->user_us, result), per_request(result->system_us, result));
    print_times("create answered", &result->create);
    print_times("claimed and finished", &result->work);
    print_times("created to started", &result->start);
    if (result->errors > 0) {
        printf("%-22s %llu, the first: %s\n", "errors", (unsigned long long)result->errors,
               result->first_error);
    }
}

static enum exit_status run_bench(const void *options, const struct words *words)
{
    const struct bench_options *given = options;
    SCOPED(mem_free_at) struct bench_result *result = mem_new(struct bench_result);
    struct bench_plan plan;
    struct err err = ERR_INIT;
    (void)words;
    if (!make_plan(given, &plan, &err)) {
        return verb_usage(&err);
    }
    if ((given->mode == BENCH_CLAIM && !given->no_fill && !fill(&plan, &err)) ||
        !bench_run(&plan, result, &err)) {
        return verb_fail(&err);
    }
    uint64_t tasks = plan.workers > 0 ? result->completed : result->created;
    if (given->remote.json) {
        print_json(given, &plan, result, tasks);
    } else {
        print_report(given, &plan, result, tasks);
    }
    return result->errors == 0 ? EXIT_OK : EXIT_FAILED;
}

static const struct option bench_options[] = {
    {"mode", "MODE", MODES " (default create)", OPTION_CHOICE(struct bench_options, mode, MODES)},
    {"connections", "N", "connections of producers; in mode claim of workers (default 16)",
     OPTION_NUMBER(struct bench_options, connections, 1, BENCH_LANES_MAX)},
    {"workers", "N", "connections of workers (life: as many as connections; latency: 1)",
     OPTION_NUMBER(struct bench_options, workers, 1, BENCH_LANES_MAX)},
    {"batch", "N", "tasks in one request (default 1; bulk 100)",
     OPTION_NUMBER(struct bench_options, batch, 1, BENCH_BATCH_MAX)},
    {"pipeline", "N", "requests that each producer has under way at once (default 1)",
     OPTION_NUMBER(struct bench_options, pipeline, 1, BENCH_DEPTH_MAX)},
    {"apart", NULL, "workers finish in a request of its own, not with their next claim",
     OPTION_SET(struct bench_options, apart)},
    {"payload", "BYTES", "size of each payload (default 200)",
     OPTION_SIZE(struct bench_options, payload, 0, 16 * (int64_t)MIB)},
    {"count", "N", "tasks (default 10000; latency 1000)",
     OPTION_NUMBER(struct bench_options, count, 1, INT64_MAX)},
    {"duration", "SECONDS", "create for this long instead",
     OPTION_REAL(struct bench_options, duration_s)},
    {"rate", "R", "tasks a second, whatever the answers (default as fast as they come)",
     OPTION_REAL(struct bench_options, rate)},
    {"documents", "N", "spread the tasks over this many documents (default none)",
     OPTION_NUMBER(struct bench_options, documents, 0, INT64_MAX)},
    {"type", "T", "task type (default bench; latency bench-latency)",
     OPTION_TEXT(struct bench_options, type)},
    {"worker-url", "URL", "another node of the same fleet, for the workers",
     OPTION_TEXT(struct bench_options, worker_url)},
    {"queue", "Q", "queue (default bench)", OPTION_TEXT(struct bench_options, queue)},
    {"faktory", "HOST:PORT", "speak Faktory's work protocol to this listener instead of HTTP",
     OPTION_TEXT(struct bench_options, faktory)},
    {"no-fill", NULL, "mode claim: take what is there, create nothing before",
     OPTION_SET(struct bench_options, no_fill)},
    {"i-know", NULL, "the server may be on another machine",
     OPTION_SET(struct bench_options, i_know)},
    REMOTE_OPTIONS(struct bench_options),
    OPTION_END,
};

const struct verb bench_verb = {
    .name = "bench",
    .arguments = "",
    .summary = "measure throughput and latency of a server",
    .about = "Drives a running server over many connections and prints what it did: tasks and\n"
             "requests a second, and latencies at p50, p90, p99, p99.9 and the worst.\n\n"
             "Modes: create (one task a request), bulk (arrays of --batch), claim (tasks are\n"
             "created first, then claimed and completed, one by one or in batches), life\n"
             "(producers and workers together), latency (from creating a task to a waiting\n"
             "worker having it, on an idle server). Workers complete what they have done with\n"
             "their next claim.\n\n"
             "With --rate the load does not wait for answers: latency counts from the time a\n"
             "request was due, so a stalled server cannot hide behind a slow client. The tasks\n"
             "stay on the server; use one that nobody needs.",
    .examples = "# creates, 64 at once\nerrand bench --connections 64 --count 100000\n"
                "# how soon does a waiting worker have it?\nerrand bench --mode latency\n"
                "# whole lives in batches\nerrand bench --mode life --batch 100 --count 1000000",
    .options = bench_options,
    .defaults = &bench_defaults,
    .size = sizeof(struct bench_options),
    .run = run_bench,
};
