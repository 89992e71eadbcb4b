/* cli/node_guests.c: the rooms that live on the engine of a server: schedules, teams, queues of the
 * Cloud Tasks API.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/node.h"
#include "store/fleet.h"

bool node_has_crew(const struct node *node)
{
    return node->services.has_llm && node->config->workers_count > 0;
}

/* Teams. Without a language model, or without workers in here, agents outside do all the work. */
static struct guest *seat_lead(struct node *node)
{
    bool shared = store_shared(node->store);
    node->lead = lead_new(&(struct lead_options){
        .decides = node_has_crew(node) || (node->services.has_llm && shared),
        .retention_ms = node->config->retention_finished_ms,
        .shared = shared,
        .is_told = node->options.test_clock,
        .news = node_has_crew(node) ? workforce_news(node->work) : NULL,
    });
    return lead_guest(node->lead);
}

static void on_started(void *arg, const struct task *task)
{
    workforce_run(((struct node *)arg)->work, task);
}

static void on_queues(void *arg)
{
    workforce_send_cloud(((struct node *)arg)->work);
}

/* Queues of the Cloud Tasks API. Without workers in here other nodes send their tasks. */
static struct guest *seat_cloud(struct node *node)
{
    bool sends = node->config->workers_count > 0;
    if (sends && store_shared(node->store)) {
        workforce_send_cloud(node->work); /* other nodes may make queues at any time */
    }
    node->cloud = cloud_new(&(struct cloud_options){
        .google_limits = node->config->cloud_google_limits,
        .tombstone_ms = node->config->cloud_tombstone_ms,
        .shared = store_shared(node->store),
        .is_told = node->options.test_clock,
        .run = sends ? on_started : NULL,
        .wake = sends ? on_queues : NULL,
        .arg = node,
    });
    return cloud_guest(node->cloud);
}

size_t node_seat_guests(struct node *node)
{
    const struct config *config = node->config;
    bool by_hand = node->options.test_clock; /* files do not change by that clock */
    const struct planner_options planner = {
        .zones = node->zones = zones_new(NULL),
        .limits = {.horizon_ms = config->schedule_horizon_ms,
                   .min_lead_ms = config->schedule_min_lead_ms},
        .misfire_after_ms = config->schedule_misfire_ms,
        .retention_ms = config->retention_executions_ms,
        .zones_every_ms = by_hand ? 0 : NODE_ZONES_MS,
        .default_type = str_absent(config->llm_base_url) ? STR("remind") : STR("prompt"),
        .shared = store_shared(node->store),
        .is_told = by_hand,
        .queries_max = config->limits_queries,
    };
    size_t count = 0;
    node->planner = planner_new(&planner);
    node->guests[count++] = planner_guest(node->planner);
    node->guests[count++] = seat_lead(node);
    node->guests[count++] = seat_cloud(node);
    return count;
}
