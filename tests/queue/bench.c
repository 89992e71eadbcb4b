/* tests/queue/bench.c: a workbench for the engine. See bench.h.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"

#include "test.h"

/* ---- What the engine tells ---- */

static void on_answers(void *arg)
{
    struct bench *b = arg;
    struct list commands;
    list_init(&commands);
    channel_take(&b->answers, &commands);
    LIST_EACH(&commands, it)
    {
        struct call *call = HOLDER(HOLDER(it, struct command, link), struct call, command);
        list_remove(it);
        CHECK(!call->answered);
        call->answered = true;
    }
}

static void on_happened(void *arg, struct event_batch *events)
{
    struct bench *b = arg;
    list_append(&b->events, &events->link);
}

static void on_failed(void *arg, const struct err *err)
{
    struct bench *b = arg;
    CHECK_EQ(err->kind, ERR_FATAL);
    b->failures++;
}

/* ---- Life ---- */

static void build(struct bench *b)
{
    struct err err = ERR_INIT;
    CHECK_OK(memory_disk_open(b->disk, &b->store, &err));
    CHECK_OK(broker_open(
        &(struct broker_options){.url = STR("memory:"), .ready = engine_ready, .arg = &b->engine},
        &b->broker, &err));
    b->with.store = b->store;
    b->with.broker = b->broker;
    b->with.clock = &b->clock;
    b->with.rand = &b->rand;
    b->with.doubts_memory = true;
    b->with.host = (struct engine_host){.arg = b, .happened = on_happened, .failed = on_failed};
    CHECK_OK(engine_new(&b->with, &b->engine, &err));
}

static void open_once(struct bench *b)
{
    if (b->disk != NULL) {
        return;
    }
    b->disk = memory_disk_new();
    clock_init_by_hand(&b->clock, BENCH_START_MS);
    rand_init_seed(&b->rand, 1);
    channel_init(&b->answers, on_answers, b);
    list_init(&b->given);
    list_init(&b->events);
    build(b);
}

static void tear_down(struct bench *b)
{
    engine_free(b->engine);
    broker_close(b->broker);
    store_close(b->store);
    b->engine = NULL;
}

void bench_restart(struct bench *b)
{
    open_once(b);
    tear_down(b);
    build(b);
}

void bench_fini(struct bench *b)
{
    if (b->disk == NULL) {
        return;
    }
    tear_down(b);
    channel_fini(&b->answers);
    memory_disk_free(b->disk);
    LIST_EACH(&b->events, it)
    {
        list_remove(it);
        event_batch_free(HOLDER(it, struct event_batch, link));
    }
    arena_fini(&b->arena);
}

/* ---- The engine's turn ---- */

struct call *bench_call(struct bench *b, enum command_kind kind)
{
    open_once(b);
    struct call *call = arena_new(&b->arena, struct call);
    call->command.kind = kind;
    call->command.arena = &b->arena;
    return call;
}

void bench_give(struct bench *b, struct call *call)
{
    call->command.reply_to = &b->answers;
    list_append(&b->given, &call->command.link);
}

bool bench_step(struct bench *b)
{
    open_once(b);
    return engine_step(b->engine, &b->given);
}

void bench_settle(struct bench *b)
{
    size_t steps = 0;
    while (bench_step(b)) {
        CHECK(++steps < BENCH_STEPS);
    }
}

struct call *bench_run(struct bench *b, struct call *call)
{
    bench_give(b, call);
    bench_settle(b);
    CHECK(call->answered);
    return call;
}

void bench_pass_ms(struct bench *b, int64_t ms)
{
    struct call *call = bench_call(b, COMMAND_CLOCK);
    call->command.clock.relative = true;
    call->command.clock.ms = ms;
    bench_run(b, call);
    CHECK_EQ(call->command.err.kind, ERR_NONE);
}

void bench_jump_ms(struct bench *b, int64_t ms)
{
    open_once(b);
    clock_set(&b->clock, b->clock.wall_ms + ms);
}

struct now bench_now(struct bench *b)
{
    open_once(b);
    return clock_now(&b->clock);
}

/* ---- Orders ---- */

struct order bench_order(struct bench *b, struct bench_order order)
{
    struct err err = ERR_INIT;
    struct task task = {
        .type = str_of(order.type),
        .queue = order.queue == NULL ? STR("default") : str_of(order.queue),
        .document = str_of(order.document),
        .key = str_of(order.key),
        .payload = str_of(order.payload),
        .priority = order.priority == 0 ? TASK_NORMAL : order.priority,
        .max_retries = order.max_retries == 0 ? TASK_MAX_RETRIES_DEFAULT : order.max_retries,
        .timeout_ms = order.timeout_ms == 0 ? TASK_TIMEOUT_DEFAULT_MS : order.timeout_ms,
        .backoff = TASK_BACKOFF_DEFAULT,
        .cost = TASK_COST_NONE};
    task.max_retries = order.max_retries == BENCH_NONE ? 0 : task.max_retries;
    task.timeout_ms = order.timeout_ms == BENCH_NONE ? 0 : task.timeout_ms;
    task.expires_ms = order.expires_in_ms == 0 ? 0 : bench_now(b).wall_ms + order.expires_in_ms;
    if (order.backoff_ms != 0) {
        task.backoff = (struct task_backoff){order.backoff_ms, order.backoff_ms, 1, 0};
    }
    CHECK_OK(task_check_order(&task, &err));
    return (struct order){.task = task, .delay_ms = order.delay_ms == 0 ? -1 : order.delay_ms};
}

struct call *bench_create_call(struct bench *b, const struct bench_order *orders, size_t n)
{
    struct call *call = bench_call(b, COMMAND_CREATE);
    call->command.create.orders = arena_array(&b->arena, struct order, n);
    call->command.create.count = n;
    for (size_t i = 0; i < n; i++) {
        call->command.create.orders[i] = bench_order(b, orders[i]);
    }
    return call;
}

struct task_id bench_create_one(struct bench *b, struct bench_order order)
{
    struct command *command = &bench_run(b, bench_create_call(b, &order, 1))->command;
    CHECK_EQ(command->err.kind, ERR_NONE);
    return command->create.orders[0].task.id;
}

void bench_create_many(struct bench *b, size_t n, struct bench_order order)
{
    while (n > 0) {
        size_t some = MIN(n, (size_t)CREATE_MAX);
        struct call *call = bench_call(b, COMMAND_CREATE);
        call->command.create.orders = arena_array(&b->arena, struct order, some);
        call->command.create.count = some;
        for (size_t i = 0; i < some; i++) {
            call->command.create.orders[i] = bench_order(b, order);
        }
        CHECK_EQ(bench_run(b, call)->command.err.kind, ERR_NONE);
        n -= some;
    }
}

/* ---- Claims ---- */

static struct str *names(struct bench *b, const char *first, const char *second, size_t *count)
{
    struct str *out = arena_array(&b->arena, struct str, 2);
    out[0] = str_of(first);
    out[1] = str_of(second);
    *count = (first != NULL) + (second != NULL);
    return out;
}

struct call *bench_claim_call(struct bench *b, struct bench_claim claim)
{
    struct call *call = bench_call(b, COMMAND_CLAIM);
    struct command_claim *to = &call->command.claim;
    to->worker = claim.worker == NULL ? STR("w") : str_of(claim.worker);
    to->types = names(b, claim.type, NULL, &to->types_count);
    to->queues = names(b, claim.queue, claim.queue2, &to->queues_count);
    to->max = claim.max == 0 ? 1 : claim.max;
    to->lease_ms = claim.lease_ms == 0 ? TASK_LEASE_DEFAULT_MS : claim.lease_ms;
    to->wait = claim.wait;
    to->serial = claim.serial;
    return call;
}

struct task bench_claim_one(struct bench *b, struct bench_claim claim)
{
    struct command *command = &bench_run(b, bench_claim_call(b, claim))->command;
    CHECK_EQ(command->err.kind, ERR_NONE);
    return command->claim.count == 0 ? (struct task){0} : command->claim.tasks[0];
}

struct call *bench_stop_call(struct bench *b, uint64_t serial)
{
    struct call *call = bench_call(b, COMMAND_CLAIM_STOP);
    call->command.claim_stop.serial = serial;
    return call;
}

/* ---- What a worker says ---- */

struct task_lease bench_lease(const struct task *task)
{
    return (struct task_lease){task->attempt, task->token};
}

struct call *bench_finish_call(struct bench *b, const struct task *task, enum task_outcome outcome)
{
    struct call *call = bench_call(b, COMMAND_FINISH);
    struct finish *finish = arena_new(&b->arena, struct finish);
    *finish = (struct finish){
        .id = task->id,
        .lease = bench_lease(task),
        .outcome = outcome,
        .result = outcome == OUTCOME_COMPLETED ? STR("{\"ok\":true}") : STR_NONE,
        .error = outcome == OUTCOME_FAILED
                     ? (struct task_error){.code = STR("oops"), .message = STR("it broke")}
                     : (struct task_error){0},
        .retry = true,
        .cost = TASK_COST_NONE};
    call->command.finish = (struct command_finish){finish, 1};
    return call;
}

enum err_kind bench_finish(struct bench *b, const struct task *task, enum task_outcome outcome)
{
    struct command *command = &bench_run(b, bench_finish_call(b, task, outcome))->command;
    return command->err.kind != ERR_NONE ? command->err.kind : command->finish.items[0].err.kind;
}

struct call *bench_heartbeat_call(struct bench *b, const struct task *task, int64_t extend_ms)
{
    struct call *call = bench_call(b, COMMAND_HEARTBEAT);
    call->command.heartbeat = (struct command_heartbeat){
        .id = task->id, .lease = bench_lease(task), .extend_ms = extend_ms, .progress = -1};
    return call;
}

enum err_kind bench_heartbeat(struct bench *b, const struct task *task, int64_t extend_ms)
{
    return bench_run(b, bench_heartbeat_call(b, task, extend_ms))->command.err.kind;
}

/* ---- Steering ---- */

struct call *bench_one_call(struct bench *b, enum command_kind kind, struct task_id id)
{
    struct call *call = bench_call(b, kind);
    call->command.one.id = id;
    call->command.one.reason = kind == COMMAND_CANCEL ? STR("changed my mind") : STR_NONE;
    return call;
}

enum err_kind bench_cancel(struct bench *b, struct task_id id)
{
    return bench_run(b, bench_one_call(b, COMMAND_CANCEL, id))->command.err.kind;
}

enum err_kind bench_revive(struct bench *b, struct task_id id)
{
    return bench_run(b, bench_one_call(b, COMMAND_REVIVE, id))->command.err.kind;
}

enum err_kind bench_remove(struct bench *b, struct task_id id)
{
    return bench_run(b, bench_one_call(b, COMMAND_REMOVE, id))->command.err.kind;
}

enum err_kind bench_change(struct bench *b, struct task_id id, struct task_patch patch)
{
    struct call *call = bench_one_call(b, COMMAND_CHANGE, id);
    call->command.one.patch = patch;
    return bench_run(b, call)->command.err.kind;
}

struct call *bench_bulk_call(struct bench *b, enum bulk_verb verb, struct task_filter filter)
{
    struct call *call = bench_call(b, COMMAND_BULK);
    call->command.bulk =
        (struct command_bulk){.verb = verb, .filter = filter, .reason = STR("all of them")};
    return call;
}

struct queue_view bench_queue(struct bench *b, const char *name, struct command_queue change)
{
    struct call *call = bench_call(b, COMMAND_QUEUE);
    call->command.queue = change;
    call->command.queue.name = str_of(name);
    CHECK_EQ(bench_run(b, call)->command.err.kind, ERR_NONE);
    return call->command.queue.view;
}
