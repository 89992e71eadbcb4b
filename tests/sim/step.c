/* tests/sim/step.c: what clients, workers and fate do, one thing at a time, as the dice fall.
 *
 * SPDX-License-Identifier: MIT */
#include "guests.h"
#include "queue/engine.h"

#define ROUNDS_MAX   1000 /* of working everything off at the end */
#define FINISHES_MAX 3    /* that one claim brings along */
#define GUESTS_TURN  35   /* steps of a hundred that are about guests, where there are any */

static struct str maybe(struct sim *sim, const struct str *names, size_t count, unsigned percent)
{
    return sim_chance(sim, percent) ? names[sim_pick(sim, count)] : STR_NONE;
}

/* Any task; NULL: there is none. */
static struct known *any_task(struct sim *sim)
{
    return sim->known_count == 0 ? NULL : &sim->known[sim_pick(sim, sim->known_count)];
}

/* ---- Clients ---- */

static struct order any_order(struct sim *sim)
{
    static const int64_t times[] = {0, 0, 0, 500, 20000};
    int64_t now_ms = sim_now_ms(sim), expires = times[sim_pick(sim, ARRAY_LEN(times))];
    return (struct order){.task = {.type = sim_types[sim_pick(sim, PLAIN_TYPES)],
                                   .queue = sim_queues[sim_pick(sim, PLAIN_QUEUES)],
                                   .document = maybe(sim, sim_documents, DOCUMENTS, 60),
                                   .key = maybe(sim, sim_keys, KEYS, 20),
                                   .priority = (enum task_priority)(TASK_LOW + sim_pick(sim, 4)),
                                   .max_retries = (int32_t)sim_pick(sim, 3),
                                   .timeout_ms = sim_chance(sim, 50) ? 0 : 3000,
                                   .backoff = {1000, 60000, 2, sim_chance(sim, 50) ? 0.5 : 0},
                                   .expires_ms = expires == 0 ? 0 : now_ms + expires,
                                   .cost = TASK_COST_NONE},
                          .delay_ms = sim_chance(sim, 25) ? (int64_t)sim_pick(sim, 5000) : -1};
}

static void do_create(struct sim *sim)
{
    size_t n = 1 + sim_pick(sim, 3);
    if (sim->known_count - sim->made + (sim->calls_count + 1) * (REQUEST_MAX + 3) > ORDERS_MAX) {
        return;
    }
    struct call *call = world_call(sim, COMMAND_CREATE);
    if (sim_chance(sim, 40)) {
        sim_trace(sim, "create with relations");
        step_request(sim, call);
        world_give(sim, call);
        return;
    }
    call->command.create.orders = arena_array(&sim->arena, struct order, n);
    call->command.create.count = n;
    for (size_t i = 0; i < n; i++) {
        call->command.create.orders[i] = any_order(sim);
    }
    sim_trace(sim, "create %zu", n);
    world_give(sim, call);
}

static void do_one(struct sim *sim, enum command_kind kind, const char *name)
{
    const struct known *known = any_task(sim);
    if (known != NULL) {
        struct call *call = world_call(sim, kind);
        call->command.one.id = known->id;
        call->command.one.reason = STR("so");
        struct task *to = arena_new(call->command.arena, struct task);
        uint64_t given = sim_chance(sim, 60) ? TASK_BIT(priority) : 0;
        to->priority = (enum task_priority)(TASK_LOW + sim_pick(sim, 4));
        given |= sim_chance(sim, 40) ? TASK_BIT(scheduled_ms) : 0;
        to->scheduled_ms = sim_now_ms(sim) + (int64_t)sim_pick(sim, 3) * 2000;
        given |= sim_chance(sim, 20) ? TASK_BIT(max_retries) : 0;
        to->max_retries = (int32_t)sim_pick(sim, 4);
        call->command.one.patch = (struct task_patch){given, to};
        sim_trace(sim, "%s #%d", name, know_number(sim, known));
        world_give(sim, call);
    }
}

static void do_cancel(struct sim *sim)
{
    do_one(sim, COMMAND_CANCEL, "cancel");
}

static void do_revive(struct sim *sim)
{
    do_one(sim, COMMAND_REVIVE, "revive");
}

static void do_change(struct sim *sim)
{
    do_one(sim, COMMAND_CHANGE, "change");
}

static void do_kill(struct sim *sim)
{
    do_one(sim, COMMAND_KILL, "kill");
}

static void do_remove(struct sim *sim)
{
    do_one(sim, COMMAND_REMOVE, "remove");
}

static void do_bulk(struct sim *sim)
{
    struct call *call = world_call(sim, COMMAND_BULK);
    call->command.bulk.verb = (enum bulk_verb)sim_pick(sim, 3);
    call->command.bulk.filter.queue = sim_queues[sim_pick(sim, sim->queues)];
    call->command.bulk.reason = STR("so");
    sim_trace(sim, "bulk %d", (int)call->command.bulk.verb);
    world_give(sim, call);
}

static void do_queue(struct sim *sim)
{
    struct call *call = world_call(sim, COMMAND_QUEUE);
    call->command.queue = (struct command_queue){
        .name = sim_queues[sim_pick(sim, sim->queues)],
        .has_paused = sim_chance(sim, 60),
        .set.paused = sim_chance(sim, 30),
        .has_max_concurrent = sim_chance(sim, 40),
        .set.max_concurrent = (int64_t)sim_pick(sim, 3),
        .has_rate = sim_chance(sim, 30),
        .set.rate_per_second = sim_chance(sim, 60) ? 0 : (double)(1 + sim_pick(sim, 20)),
        .has_burst = sim_chance(sim, 20),
        .set.burst = (int64_t)sim_pick(sim, 4)};
    sim_trace(sim, "change queue " STR_FMT, STR_ARG(call->command.queue.name));
    world_give(sim, call);
}

static void do_release(struct sim *sim)
{
    struct call *call = world_call(sim, COMMAND_RELEASE);
    size_t document = sim_pick(sim, DOCUMENTS);
    for (size_t i = 0; i < sim->known_count && sim_chance(sim, 98); i++) {
        const struct seen *seen = &sim->known[i].seen;
        bool holds = !sim->known[i].gone && seen->state == TASK_RUNNING && seen->document >= 0;
        document = holds ? (size_t)seen->document : document; /* mostly one that is held */
    }
    call->command.release.document = sim_documents[document];
    sim_trace(sim, "release document " STR_FMT, STR_ARG(call->command.release.document));
    world_give(sim, call);
}

static void do_ask(struct sim *sim)
{
    const struct known *known = any_task(sim);
    struct call *call = world_call(sim, sim_chance(sim, 50) ? COMMAND_WHY : COMMAND_STATS);
    if (known != NULL) {
        call->command.why.id = known->id;
        world_give(sim, call);
    }
}

/* Whatever is not over and does not run can say what it waits for. */
static void do_why(struct sim *sim)
{
    world_settle(sim);
    for (size_t i = 0; i < sim->known_count && !sim->failed; i++) {
        const struct known *known = &sim->known[i];
        if (known->gone || known->seen.state >= TASK_COMPLETED ||
            known->seen.state == TASK_RUNNING) {
            continue;
        }
        struct call *call = world_call(sim, COMMAND_WHY);
        call->command.why.id = known->id;
        world_give(sim, call);
        while (!call->answered && !sim->failed) {
            world_batch(sim);
        }
        if (!sim->failed && call->command.err.kind == ERR_NONE && call->command.why.count == 0 &&
            call->command.why.state < TASK_COMPLETED && call->command.why.state != TASK_RUNNING) {
            sim_fail(sim, "task #%d is %s and nothing says why", know_number(sim, known),
                     task_state_name(call->command.why.state));
        }
    }
}

/* ---- Workers ---- */

static struct call *any_claim(struct sim *sim)
{
    struct call *call = world_call(sim, COMMAND_CLAIM);
    size_t from = sim_pick(sim, sim->queues), many = sim_pick(sim, sim->queues - from + 1);
    call->command.claim = (struct command_claim){.worker = sim_workers[sim_pick(sim, WORKERS)],
                                                 .types = sim_types,
                                                 .types_count = sim_pick(sim, PLAIN_TYPES + 1),
                                                 .queues = &sim_queues[from],
                                                 .queues_count = many,
                                                 .max = 1 + sim_pick(sim, 3),
                                                 .lease_ms = 1000 + (int64_t)sim_pick(sim, 9000),
                                                 .serial = ++sim->serial};
    return call;
}

static void do_claim(struct sim *sim)
{
    struct call *call = any_claim(sim);
    call->waits = call->command.claim.wait = sim_chance(sim, 30);
    sim_trace(sim, "claim %zu%s", call->command.claim.max, call->waits ? ", waits" : "");
    world_give(sim, call);
}

static void do_stop(struct sim *sim)
{
    struct call *call = world_call(sim, COMMAND_CLAIM_STOP);
    call->command.claim_stop.serial = sim->serial - sim_pick(sim, 4);
    sim_trace(sim, "stop %llu", (unsigned long long)call->command.claim_stop.serial);
    world_give(sim, call);
}

/* The last lease of some task that ever had one, or now and then an older one. */
static struct known *any_lease(struct sim *sim, struct task_lease *lease)
{
    struct known *known = any_task(sim);
    for (int tries = 0; tries < 5 && known != NULL && known->leases_count == 0; tries++) {
        known = any_task(sim);
    }
    if (known == NULL || known->leases_count == 0) {
        return NULL;
    }
    size_t kept = MIN(known->leases_count, (size_t)LEASES_MAX);
    size_t back = sim_chance(sim, 25) ? sim_pick(sim, kept) : 0;
    *lease = known->leases[(known->leases_count - 1 - back) % LEASES_MAX];
    return known;
}

static void do_heartbeat(struct sim *sim)
{
    struct task_lease lease;
    const struct known *known = any_lease(sim, &lease);
    if (known != NULL) {
        struct call *call = world_call(sim, COMMAND_HEARTBEAT);
        call->command.heartbeat = (struct command_heartbeat){
            .id = known->id,
            .lease = lease,
            .extend_ms = sim_chance(sim, 50) ? -1 : 1000 + (int64_t)sim_pick(sim, 5000),
            .progress = sim_chance(sim, 50) ? -1 : (double)sim_pick(sim, 100)};
        sim_trace(sim, "heartbeat #%d attempt %d", know_number(sim, known), lease.attempt);
        world_give(sim, call);
    }
}

/* How some attempt ends, by its current lease or an old one; NULL: there is none. */
static const struct known *any_finish(struct sim *sim, struct finish *out)
{
    struct task_lease lease;
    const struct known *known = any_lease(sim, &lease);
    if (known != NULL) {
        *out = (struct finish){.id = known->id,
                               .lease = lease,
                               .outcome = sim_chance(sim, 50)   ? OUTCOME_COMPLETED
                                          : sim_chance(sim, 60) ? OUTCOME_FAILED
                                                                : OUTCOME_RELEASED,
                               .error = {.code = STR("oops"), .message = STR("it broke")},
                               .retry = sim_chance(sim, 80),
                               .delay_ms = sim_chance(sim, 50) ? 0 : 1500,
                               .cost = TASK_COST_NONE};
        if (sim->guests != NULL) {
            out->result = sim_chance(sim, 50) ? STR("\"said\"") : STR_NONE;
            out->cost.actual = sim_chance(sim, 50) ? -1 : (double)sim_pick(sim, 4);
        }
    }
    return known;
}

static void trace_finish(struct sim *sim, const struct known *known, const struct finish *finish)
{
    sim_trace(sim, "finish #%d attempt %d: %s", know_number(sim, known), finish->lease.attempt,
              task_outcome_name(finish->outcome));
}

static void do_finish(struct sim *sim)
{
    struct finish *finish = arena_new(&sim->arena, struct finish);
    const struct known *known = any_finish(sim, finish);
    if (known == NULL) {
        return;
    }
    struct call *call = world_call(sim, COMMAND_FINISH);
    trace_finish(sim, known, finish);
    call->said = finish->lease;
    if (sim->bug == BUG_STALE_FINISH && known->seen.state == TASK_RUNNING) {
        finish->lease = (struct task_lease){known->seen.attempt, known->seen.token};
    }
    call->command.finish = (struct command_finish){finish, 1};
    world_give(sim, call);
}

/* A worker in its rhythm: what it has done and what it will do, in one command. */
static void do_finish_and_claim(struct sim *sim)
{
    struct call *call = any_claim(sim);
    struct command_finish *ends = &call->command.claim.finish;
    ends->items = arena_array(&sim->arena, struct finish, FINISHES_MAX);
    for (size_t n = 1 + sim_pick(sim, FINISHES_MAX); n > 0; n--) {
        const struct known *known = any_finish(sim, &ends->items[ends->count]);
        if (known != NULL) {
            trace_finish(sim, known, &ends->items[ends->count++]);
        }
    }
    call->waits = call->command.claim.wait = sim_chance(sim, 50);
    sim_trace(sim, "... and claim %zu%s", call->command.claim.max, call->waits ? ", waits" : "");
    world_give(sim, call);
}

/* A run function that was given up comes back after all. */
static void do_return(struct sim *sim)
{
    world_settle(sim); /* a claim beside it could not know what becomes free */
    for (size_t i = 0; i < sim->known_count; i++) {
        struct known *known = &sim->known[i];
        if (known->strays) {
            struct call *call = world_call(sim, COMMAND_RETURNED);
            call->command.returned.id = known->id;
            sim_trace(sim, "#%zu returns", i);
            world_give(sim, call);
            world_settle(sim);
            return;
        }
    }
}

/* ---- Fate ---- */

static void do_time(struct sim *sim)
{
    static const int64_t steps_ms[] = {1, 10, 100, 200, 1000, 3000, 20000};
    int64_t due = engine_due_in_ms(sim->engine);
    int64_t ms =
        due > 0 && sim_chance(sim, 50) ? due : steps_ms[sim_pick(sim, ARRAY_LEN(steps_ms))];
    ms = MIN(ms, 2 * HOUR_MS);
    sim_trace(sim, "%lld ms pass", (long long)ms);
    sim->passed_ms = ms;
    clock_set(&sim->clock, sim->clock.wall_ms + ms);
}

static void do_full(struct sim *sim)
{
    sim->fault = MEMORY_FULL;
    sim_trace(sim, "the next commit fails");
}

static void do_cut_off(struct sim *sim)
{
    sim->fault = sim_chance(sim, 50) ? MEMORY_CRASH_BEFORE : MEMORY_CRASH_AFTER;
    sim_trace(sim, "the next commit is cut off");
}

static void do_lose_hint(struct sim *sim)
{
    const struct known *known = any_task(sim);
    if (sim->whole) {
        return;
    }
    if (sim_chance(sim, 50)) {
        sim->lose_offer = true;
        sim_trace(sim, "the next hint is lost");
    } else if (known != NULL) {
        sim_trace(sim, "the hint of #%d is lost", know_number(sim, known));
        broker_withdraw(sim->broker, &(struct hint){.id = known->id});
        hook_lose(sim, known->id);
        sim->known[know_number(sim, known)].hint_lost = true;
    }
}

static void do_double_hint(struct sim *sim)
{
    sim->double_offer = true;
}

static void offer(struct sim *sim, const struct known *known)
{
    struct hint hint = know_hint(known);
    sim->known[know_number(sim, known)].hint_stale = true;
    broker_offer(sim->broker, &hint);
}

static void do_stale_hint(struct sim *sim)
{
    const struct known *known = any_task(sim);
    if (sim->whole || known == NULL || known->gone || known->seen.state == TASK_QUEUED) {
        return; /* of a task that is gone the engine may not even know the queue */
    }
    sim_trace(sim, "a stale hint for #%d", know_number(sim, known));
    sim->stale_hints = true;
    sim->stale_documents |= known->seen.document < 0 ? 0 : 1u << known->seen.document;
    offer(sim, known);
}

/* Another node would have started a task that runs already, from what it read before. */
static void do_race(struct sim *sim)
{
    struct known *known = any_task(sim);
    if (sim->whole || known == NULL || known->gone || known->seen.state != TASK_RUNNING) {
        return;
    }
    world_settle(sim);
    if (sim->failed || known->seen.state != TASK_RUNNING || sim->fault != MEMORY_FINE) {
        return;
    }
    sim_trace(sim, "a race for #%d", know_number(sim, known));
    sim->stale_hints = true;
    sim->stale_documents |= known->seen.document < 0 ? 0 : 1u << known->seen.document;
    offer(sim, known);
    sim->age = known->id;
    hot_forget(&sim->engine->hot, known->id); /* that node has not got it at hand */
    struct call *call = any_claim(sim);
    struct str *queue = arena_new(&sim->arena, struct str);
    *queue = know_queue(known);
    call->command.claim.queues = queue;
    call->command.claim.queues_count = 1;
    call->command.claim.types_count = 0;
    world_give(sim, call);
    world_settle(sim);
    sim->age = TASK_ID_NONE;
}

static const struct act acts[] = {
    {20, do_create},     {14, do_claim},     {14, do_finish},  {8, do_finish_and_claim},
    {6, do_heartbeat},   {5, do_cancel},     {4, do_revive},   {4, do_change},
    {2, do_remove},      {1, do_bulk},       {3, do_queue},    {2, do_ask},
    {3, do_stop},        {1, do_why},        {2, do_return},   {18, do_time},
    {2, do_full},        {1, do_cut_off},    {1, world_crash}, {2, do_lose_hint},
    {1, do_double_hint}, {3, do_stale_hint}, {3, do_race},     {8, outage_step},
    {3, do_release},     {2, do_kill}};

static void act_any(struct sim *sim, const struct act *from, size_t count)
{
    unsigned sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += from[i].weight;
    }
    unsigned at = (unsigned)sim_pick(sim, sum);
    while (at >= from->weight) {
        at -= (from++)->weight;
    }
    from->act(sim);
}

void step_any(struct sim *sim)
{
    sim->passed_ms = 0;
    if (sim->guests != NULL && sim_chance(sim, GUESTS_TURN)) {
        act_any(sim, sim->guests->acts, sim->guests->acts_count);
    } else {
        act_any(sim, acts, ARRAY_LEN(acts));
    }
    if (sim_chance(sim, 50)) {
        world_settle(sim);
    } else if (sim_chance(sim, 40)) {
        world_batch(sim);
    }
}

/* ---- The end ---- */

static bool all_ended(struct sim *sim)
{
    if (sim->guests != NULL && !sim->guests->done(sim)) {
        return false;
    }
    for (size_t i = 0; i < sim->known_count; i++) {
        if (!sim->known[i].gone && sim->known[i].seen.state < TASK_COMPLETED) {
            return false;
        }
    }
    return true;
}

/* A task that was retried before its dependency waits for somebody to retry that, too. */
static void cancel_waiting(struct sim *sim)
{
    for (size_t i = 0; i < sim->known_count && !sim->failed; i++) {
        const struct known *known = &sim->known[i];
        if (!known->gone && known->seen.state == TASK_WAITING && id_none(known->seen.parent)) {
            struct call *call = world_call(sim, COMMAND_CANCEL);
            call->command.one.id = known->id;
            world_give(sim, call);
        }
    }
    world_settle(sim);
}

static void open_queues(struct sim *sim)
{
    for (size_t queue = 0; queue < sim->queues; queue++) {
        struct call *call = world_call(sim, COMMAND_QUEUE);
        call->command.queue = (struct command_queue){.name = sim_queues[queue],
                                                     .has_paused = true,
                                                     .has_max_concurrent = true,
                                                     .has_rate = true};
        world_give(sim, call);
    }
    world_settle(sim);
}

static void complete_all(struct sim *sim, const struct command_claim *claim)
{
    for (size_t i = 0; i < claim->count; i++) {
        struct call *call = world_call(sim, COMMAND_FINISH);
        struct finish *finish = arena_new(&sim->arena, struct finish);
        call->said = (struct task_lease){claim->tasks[i].attempt, claim->tasks[i].token};
        *finish = (struct finish){.id = claim->tasks[i].id,
                                  .lease = call->said,
                                  .outcome = OUTCOME_COMPLETED,
                                  .cost = TASK_COST_NONE};
        call->command.finish = (struct command_finish){finish, 1};
        world_give(sim, call);
    }
    world_settle(sim);
}

/* A worker that takes everything; when nothing is left, time goes on to the next event. */
static void work_off(struct sim *sim)
{
    struct call *call = world_call(sim, COMMAND_CLAIM);
    struct str *queues = arena_array(&sim->arena, struct str, QUEUES + TEAMS_MAX);
    size_t count = sim->queues;
    memcpy(queues, sim_queues, count * sizeof *queues);
    if (sim->guests != NULL && sim->guests->queues != NULL) {
        count += sim->guests->queues(sim, queues + count);
    }
    call->command.claim = (struct command_claim){.worker = sim_workers[0],
                                                 .queues = queues,
                                                 .queues_count = count,
                                                 .max = 10,
                                                 .lease_ms = 60000};
    world_give(sim, call);
    world_settle(sim);
    if (call->command.claim.count > 0) {
        complete_all(sim, &call->command.claim);
        return;
    }
    int64_t due = engine_due_in_ms(sim->engine);
    clock_set(&sim->clock, sim->clock.wall_ms + MAX(due, 1));
    world_settle(sim);
}

void step_last(struct sim *sim)
{
    world_settle(sim);
    if (!sim->failed) {
        world_crash(sim);
        open_queues(sim);
    }
    if (sim->guests != NULL && !sim->failed) {
        sim->guests->last(sim);
    }
    for (size_t round = 0; !sim->failed && !all_ended(sim); round++) {
        work_off(sim);
        if (round == ROUNDS_MAX / 2) {
            cancel_waiting(sim);
        }
        if (round == ROUNDS_MAX) {
            sim_fail(sim, "a task is never done though a worker asks, and after a restart");
        }
    }
}
