/* tests/sim/request.c: creates with relations, as the dice fall: trees to depth 3 whose members
 * share a document, dependencies inside and across, with all that a task may have besides.
 *
 * SPDX-License-Identifier: MIT */
#include "sim.h"

#define DEPTH_MAX 3

struct request {
    struct sim *sim;
    struct order *orders;
    size_t count, most;
};

static struct str maybe(struct sim *sim, const struct str *names, size_t count, unsigned percent)
{
    return sim_chance(sim, percent) ? names[sim_pick(sim, count)] : STR_NONE;
}

static size_t add(struct request *r, size_t parent)
{
    static const int64_t expiries[] = {0, 0, 0, 0, 0, -1, 500, 3000, 20000};
    struct sim *sim = r->sim;
    int64_t expires = expiries[sim_pick(sim, ARRAY_LEN(expiries))];
    const struct task *above = parent == 0 ? NULL : &r->orders[parent - 1].task;
    bool inherits = above != NULL && !str_absent(above->document);
    r->orders[r->count++] = (struct order){
        .task = {.type = sim_types[sim_pick(sim, PLAIN_TYPES)],
                 .queue = sim_queues[sim_pick(sim, PLAIN_QUEUES)],
                 .document = inherits ? above->document : maybe(sim, sim_documents, DOCUMENTS, 40),
                 .key = maybe(sim, sim_keys, KEYS, 10),
                 .priority = (enum task_priority)(TASK_LOW + sim_pick(sim, 4)),
                 .max_retries = (int32_t)sim_pick(sim, 2),
                 .timeout_ms = sim_chance(sim, 70) ? 0 : 3000,
                 .backoff = {1000, 60000, 2, 0},
                 .expires_ms = expires == 0 ? 0 : sim_now_ms(sim) + expires,
                 .continues = sim_chance(sim, 30),
                 .runs_anyway = sim_chance(sim, 25),
                 .cost = TASK_COST_NONE},
        .delay_ms = sim_chance(sim, 15) ? (int64_t)sim_pick(sim, 5000) : -1,
        .parent = parent};
    return r->count; /* 1 + its place, as orders name each other */
}

static void add_tree(struct request *r, size_t parent, int depth)
{
    size_t me = add(r, parent);
    size_t children = sim_chance(r->sim, depth == 1 ? 60 : 30) ? 1 + sim_pick(r->sim, 3) : 0;
    for (; children > 0 && depth < DEPTH_MAX && r->count < r->most; children--) {
        add_tree(r, me, depth + 1);
    }
}

/* A top-level task may wait for anything, known or of this request, also twice, also (rarely) in a
 * circle; a child for its elder siblings. What is wrong is refused, and leaves nothing. */
static struct order_need any_need(struct request *r, size_t me)
{
    struct sim *sim = r->sim;
    if (r->orders[me - 1].parent == 0 && sim->known_count > 0 && sim_chance(sim, 50)) {
        return (struct order_need){.id = sim->known[sim_pick(sim, sim->known_count)].id};
    }
    size_t other = 1 + sim_pick(sim, sim_chance(sim, 95) ? me : r->count);
    for (size_t tries = 0;
         tries < 4 && (other == me || r->orders[other - 1].parent != r->orders[me - 1].parent);
         tries++) {
        other = 1 + sim_pick(sim, me);
    }
    return (struct order_need){.order = other};
}

static void add_needs(struct request *r, size_t me)
{
    struct sim *sim = r->sim;
    if (me < 2 && sim->known_count == 0) {
        return;
    }
    size_t n = sim_chance(sim, r->orders[me - 1].parent == 0 ? 45 : 20) ? 1 + sim_pick(sim, 3) : 0;
    struct order_need *needs = arena_array(&sim->arena, struct order_need, n + 1);
    for (size_t i = 0; i < n; i++) {
        needs[i] = i > 0 && sim_chance(sim, 20) ? needs[0] : any_need(r, me);
    }
    r->orders[me - 1].needs = needs;
    r->orders[me - 1].needs_count = n;
}

bool step_request(struct sim *sim, struct call *call)
{
    struct request r = {.sim = sim,
                        .orders = arena_array(&sim->arena, struct order, REQUEST_MAX + DEPTH_MAX),
                        .most = REQUEST_MAX};
    for (size_t tops = 1 + sim_pick(sim, 3); tops > 0 && r.count < REQUEST_MAX; tops--) {
        add_tree(&r, 0, 1);
    }
    for (size_t me = 1; me <= r.count; me++) {
        add_needs(&r, me);
    }
    call->command.create = (struct command_create){r.orders, r.count};
    for (size_t i = 0; sim->trace && i < r.count; i++) {
        const struct order *order = &r.orders[i];
        sim_trace(sim, "  order %zu of %zu, document %d%s%s, %zu needs", i + 1, order->parent,
                  seen_of(&order->task).document, order->task.continues ? ", continues" : "",
                  order->task.runs_anyway ? ", runs anyway" : "", order->needs_count);
    }
    return true;
}
