/* net/on_metrics.c: GET /metrics: some questions to the engine and the readers, one page of
 * numbers.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include <sys/statvfs.h>

#include "net/call.h"
#include "net/metrics.h"
#include "net/on.h"
#include "task/reserved.h"

/* What the readers count. */
enum { SCHEDULES, TEAMS, WAITING, COUNTS = WAITING + SCHEDULE_CHANNELS };

struct scrape {
    struct command *queues, *stats, *workers;
    struct planner_figures planner;
    struct lead_figures lead;
    struct query_count counts[COUNTS];
};

static void write_page(struct call *call, const struct metrics_answers *answers)
{
    const struct api *api = call->api;
    const struct fleet_status fleet = api_fleet_status(api);
    struct json_writer w = call_writer(call);
    struct str accept = http_header(&call->exchange->request.headers, "accept");
    struct str open = STR("application/openmetrics-text");
    struct statvfs disk = {0};
    if (!str_absent(api->options.data)) {
        (void)!statvfs(api->options.data.ptr, &disk); /* where that fails there is no space */
    }
    uint64_t commands[COMMAND_KINDS];
    for (int kind = 0; kind < COMMAND_KINDS; kind++) {
        commands[kind] = api_commands_given(api, kind);
    }
    struct metrics metrics = {
        .open_metrics =
            accept.len > 0 && memmem(accept.ptr, accept.len, open.ptr, open.len) != NULL,
        .answers = answers,
        .connections = server_connections(api->parts.server),
        .commands = commands,
        .version = api->options.version,
        .started_ms = api->options.started_ms,
        .leads = fleet.leads,
        .nodes = fleet.nodes,
        .broker_up = !health_rule(fleet.health)->degraded,
        .clock_offset_ms = fleet.clock.known ? fleet.clock.offset_ms : 0,
        .data_free = (double)disk.f_bavail * (double)disk.f_frsize,
        .data_size = (double)disk.f_blocks * (double)disk.f_frsize,
    };
    if (api->options.spans != NULL) {
        metrics.otel = api->options.spans(api->options.spans_arg);
    }
    metrics_write(w.buf, &metrics);
    call_answer_with(call, 200, metrics.open_metrics ? METRICS_OPEN_TYPE : METRICS_TYPE, STR(""));
}

static void answer_metrics(struct call *call)
{
    const struct scrape *scrape = call->own;
    struct metrics_answers answers = {
        .queues = scrape->queues->queues.views,
        .queues_count = scrape->queues->queues.count,
        .stats = &scrape->stats->stats.stats,
        .workers = scrape->workers->workers.workers,
        .workers_count = scrape->workers->workers.count,
        .planner = call->api->parts.planner == NULL ? NULL : &scrape->planner,
        .lead = call->api->parts.lead == NULL ? NULL : &scrape->lead,
        .schedules_active = scrape->counts[SCHEDULES].count,
        .teams_running = scrape->counts[TEAMS].count,
    };
    for (int channel = 0; channel < SCHEDULE_CHANNELS; channel++) {
        answers.deliveries_waiting[channel] = scrape->counts[WAITING + channel].count;
    }
    write_page(call, &answers);
}

/* What the node can say without its store is just what an operator wants to know then. */
static void answer_without_store(struct call *call)
{
    write_page(call, NULL);
}

/* One reader answers all of them. A delivery that has not ended is rare, unless something is wrong.
 */
static void ask_counts(struct call *call)
{
    struct scrape *scrape = call->own;
    struct query *query = call_query(call, QUERY_COUNTS);
    scrape->counts[SCHEDULES] = (struct query_count){
        .kind = RECORD_SCHEDULE, .marks = schedule_marks(1u << SCHEDULE_ACTIVE, 0)};
    scrape->counts[TEAMS] = (struct query_count){.kind = RECORD_TEAM, .marks = 1u << TEAM_RUNNING};
    for (int channel = 0; channel < SCHEDULE_CHANNELS; channel++) {
        scrape->counts[WAITING + channel].filter =
            (struct task_filter){.type = metrics_delivery_type((enum schedule_channel)channel),
                                 .queue = STR(RESERVED_DELIVERY_QUEUE),
                                 .states = (1u << TASK_COMPLETED) - 1,
                                 .omit_over = 1,
                                 .limit = METRICS_WAITING_MAX};
    }
    query->counts = scrape->counts;
    query->counts_count = COUNTS;
    call->done = answer_metrics;
    call_ask(call, query);
}

bool on_metrics(struct call *call, struct err *err)
{
    struct scrape *scrape = arena_new(call->arena, struct scrape);
    const struct api_parts *parts = &call->api->parts;
    (void)err;
    scrape->queues = call_command(call, COMMAND_QUEUES);
    scrape->stats = call_command(call, COMMAND_STATS);
    scrape->workers = call_command(call, COMMAND_WORKERS);
    if (parts->planner != NULL) {
        planner_ask_figures(parts->planner, call_command(call, COMMAND_GUEST), &scrape->planner);
    }
    if (parts->lead != NULL) {
        lead_ask_figures(parts->lead, call_command(call, COMMAND_GUEST), &scrape->lead);
    }
    call->own = scrape;
    call->done = ask_counts; /* after the engine: both write into the call's arena */
    call->failed = answer_without_store;
    return true;
}
