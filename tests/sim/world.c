/* tests/sim/world.c: the engine and what it stands on: built, stepped, crashed and built again.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "guests.h"

#define START_MS    INT64_C(1800000000000)
#define REST_MS     200 /* how long the engine leaves a failed store alone */
#define WAITING_MAX 6
#define GRACE_MS    10000
#define BATCHES_MAX 1000 /* an engine that has work for longer never comes to rest */

static void on_answers(void *arg)
{
    struct sim *sim = arg;
    struct list commands;
    list_init(&commands);
    channel_take(&sim->answers, &commands);
    LIST_EACH(&commands, it)
    {
        struct call *call = HOLDER(HOLDER(it, struct command, link), struct call, command);
        list_remove(it);
        call->answered = true;
        if (call->command.kind == COMMAND_FINISH) {
            call->command.finish.items[0].lease = call->said;
        }
    }
}

static void on_happened(void *arg, struct event_batch *events)
{
    struct sim *sim = arg;
    event_batch_free(sim->events);
    sim->events = events;
}

/* Whoever runs it in the server is told; the dice decide whether it listens. */
static void on_abort(void *arg, struct task_id id, int32_t attempt, enum abort_why why)
{
    struct sim *sim = arg;
    struct known *known = know_find(sim, id);
    (void)why;
    if (known != NULL && known->claimed_attempt <= attempt && known->stop_at_ms == 0) {
        known->stop_at_ms = sim_now_ms(sim) + GRACE_MS;
    }
}

static void on_failed(void *arg, const struct err *err)
{
    struct sim *sim = arg;
    (void)err;
    sim->dead = true;
}

static void must(bool ok, const struct err *err)
{
    if (!ok) {
        fprintf(stderr, "sim: %s\n", err->text);
        abort();
    }
}

static void build(struct sim *sim)
{
    struct err err = ERR_INIT;
    must(memory_disk_open(sim->disk, &sim->store, &err), &err);
    hook_store(sim);
    must(broker_open(&(struct broker_options){.url = STR("memory:"),
                                              .ready = engine_ready,
                                              .arg = &sim->engine},
                     &sim->broker, &err),
         &err);
    hook_broker(sim);
    struct engine_options options = {.store = sim->store,
                                     .broker = sim->broker,
                                     .clock = &sim->clock,
                                     .rand = &sim->engine_rand,
                                     .host = {.arg = sim,
                                              .happened = on_happened,
                                              .failed = on_failed,
                                              .abort = on_abort,
                                              .abort_arg = sim},
                                     .retention_ms = HOUR_MS,
                                     .waiting_max = WAITING_MAX,
                                     .grace_ms = GRACE_MS,
                                     .doubts_memory = true};
    if (sim->guests != NULL) {
        sim->guests->build(sim, &options);
    }
    must(engine_new(&options, &sim->engine, &err), &err);
    sim->store_hook.ops.fleet = &outage_rows; /* the engine has seen that the store is its own */
}

static void tear_down(struct sim *sim)
{
    engine_free(sim->engine);
    sim->engine = NULL;
    if (sim->guests != NULL) {
        sim->guests->tear_down(sim);
    }
    broker_close(sim->broker);
    store_close(sim->store);
    event_batch_free(sim->events);
    sim->events = NULL;
    sim->calls_count = 0; /* all were answered: nothing lives past the engine */
}

static struct guests *(*const openers[WORLDS])(struct sim *sim) = {
    [WORLD_SCHEDULES] = schedules_open,
    [WORLD_TEAMS] = teams_open,
};

const char *world_name(enum world world)
{
    static const char *const names[WORLDS] = {
        [WORLD_TASKS] = "tasks", [WORLD_SCHEDULES] = "schedules", [WORLD_TEAMS] = "teams"};
    return names[world];
}

void world_open(struct sim *sim)
{
    sim->disk = memory_disk_new();
    clock_init_by_hand(&sim->clock, START_MS);
    list_init(&sim->given);
    channel_init(&sim->answers, on_answers, sim);
    sim->queues = PLAIN_QUEUES;
    if (openers[sim->world] != NULL) {
        sim->guests = openers[sim->world](sim);
    }
    build(sim);
}

void world_close(struct sim *sim)
{
    tear_down(sim);
    if (sim->guests != NULL) {
        sim->guests->close(sim);
    }
    memory_disk_free(sim->disk);
    arena_fini(&sim->arena);
}

/* The machine stops. What clients had not been answered they may believe either way. */
void world_crash(struct sim *sim)
{
    bool kept = sim->cut_off;
    sim_trace(sim, "crash%s", kept ? " behind a commit" : "");
    LIST_EACH(&sim->given, it)
    {
        list_remove(it);
    }
    tear_down(sim);
    sim->lose_offer = sim->double_offer = sim->lose_save = sim->dead = sim->commit_failed = false;
    sim->stale_hints = false;
    sim->stale_documents = 0;
    sim->lost_count = 0;
    sim->age = TASK_ID_NONE;
    sim->fault = MEMORY_FINE;
    sim->paused_until_ms = 0;
    build(sim);
    rule_restart(sim);
    know_look_after_crash(sim, kept);
    if (sim->guests != NULL) {
        sim->guests->restart(sim, kept);
    }
    sim->cut_off = false;
}

/* ---- Commands ---- */

struct call *world_call(struct sim *sim, enum command_kind kind)
{
    struct call *call = arena_new(&sim->arena, struct call);
    call->command.kind = kind;
    call->command.arena = &sim->arena;
    return call;
}

void world_give(struct sim *sim, struct call *call)
{
    while (sim->calls_count == CALLS_MAX && !sim->failed) {
        world_settle(sim);
    }
    if (!sim->failed) {
        sim->calls[sim->calls_count++] = call;
        call->command.reply_to = &sim->answers;
        list_append(&sim->given, &call->command.link);
    }
}

static void drop_answered(struct sim *sim)
{
    size_t kept = 0;
    for (size_t i = 0; i < sim->calls_count; i++) {
        if (!sim->calls[i]->answered) {
            sim->calls[kept++] = sim->calls[i];
        }
    }
    sim->calls_count = kept;
}

static void trace_answers(struct sim *sim)
{
    for (size_t i = 0; sim->trace && i < sim->calls_count; i++) {
        const struct call *call = sim->calls[i];
        if (call->answered) {
            sim_trace(sim, "  answered %s: %s", command_row(call->command.kind)->name,
                      call->command.err.kind == ERR_NONE ? "ok" : call->command.err.text);
        }
    }
}

bool world_batch(struct sim *sim)
{
    if (sim->failed) {
        return false;
    }
    sim->commit_failed = sim->cut_off = false;
    sim->proposed = (struct proposed){{false}, {false}};
    bool more = engine_step(sim->engine, &sim->given);
    trace_answers(sim);
    if (sim->dead) {
        world_crash(sim);
        return !sim->failed;
    }
    if (sim->commit_failed) {
        sim->paused_until_ms = sim_now_ms(sim) + REST_MS;
    }
    check_batch(sim);
    drop_answered(sim);
    return more && !sim->failed;
}

void world_settle(struct sim *sim)
{
    size_t batches = 0;
    while (world_batch(sim)) {
        if (++batches == BATCHES_MAX) {
            sim_fail(sim, "the engine never comes to rest");
        }
    }
    if (!sim->failed) {
        check_quiet(sim);
    }
}
