/* net/on_metrics.c: GET /metrics: three questions to the engine, one page of numbers.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/call.h"
#include "net/metrics.h"
#include "net/on.h"

struct scrape {
    struct command *queues, *stats, *workers;
};

static void answer_metrics(struct call *call)
{
    const struct scrape *scrape = call->own;
    const struct api *api = call->api;
    const struct fleet_status fleet = api_fleet_status(api);
    struct json_writer w = call_writer(call);
    struct str accept = http_header(&call->exchange->request.headers, "accept");
    struct str open = STR("application/openmetrics-text");
    struct metrics metrics = {
        .open_metrics =
            accept.len > 0 && memmem(accept.ptr, accept.len, open.ptr, open.len) != NULL,
        .queues = scrape->queues->queues.views,
        .queues_count = scrape->queues->queues.count,
        .stats = &scrape->stats->stats.stats,
        .workers = scrape->workers->workers.workers,
        .workers_count = scrape->workers->workers.count,
        .connections = server_connections(api->parts.server),
        .commands = api->commands_given,
        .version = api->options.version,
        .started_ms = api->options.started_ms,
        .leads = fleet.leads,
        .broker_up = !health_rule(fleet.health)->degraded,
        .clock_known = fleet.clock.known,
        .clock_offset_ms = fleet.clock.offset_ms,
    };
    metrics_write(w.buf, &metrics);
    call_answer_with(call, 200, metrics.open_metrics ? METRICS_OPEN_TYPE : METRICS_TYPE, STR(""));
}

bool on_metrics(struct call *call, struct err *err)
{
    struct scrape *scrape = arena_new(call->arena, struct scrape);
    (void)err;
    scrape->queues = call_command(call, COMMAND_QUEUES);
    scrape->stats = call_command(call, COMMAND_STATS);
    scrape->workers = call_command(call, COMMAND_WORKERS);
    call->own = scrape;
    call->done = answer_metrics;
    return true;
}
