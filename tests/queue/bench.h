/* tests/queue/bench.h: a workbench: real engine, memory store, memory broker, hand-wound clock.
 *
 *     SCOPED(bench_fini) struct bench b = BENCH_INIT;
 *     struct task_id id = bench_create(&b, "send-welcome", .document = "d");
 *     struct task task = bench_claim(&b, .worker = "w1", .lease_ms = 1000);
 *     bench_pass_ms(&b, 1001);
 *
 * The engine is built at the first use, so a test may set options in `b.with` before. A *call* is a
 * command of the test; the short verbs make one, give it and wait; bench_give() and bench_step()
 * put several into one batch.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_QUEUE_BENCH_H
#define ERRAND_TESTS_QUEUE_BENCH_H

#include "queue/queue.h"
#include "store_memory/memory.h"

#define BENCH_START_MS INT64_C(1800000000000) /* 2027-01-15T08:00:00Z */
#define BENCH_STEPS    10000                  /* an engine that has work for longer hangs */

struct call {
    struct command command;
    bool answered;
};

struct bench {
    struct engine_options with; /* store, broker, clock, rand and host are the bench's own */
    struct memory_disk *disk;
    struct store *store;
    struct broker *broker;
    struct engine *engine;
    struct clock clock;
    struct rand rand;
    struct arena arena; /* holds every call and answer */
    struct list given;  /* for the next batch */
    struct channel answers;
    struct list events; /* event_batch.link */
    size_t failures;    /* how often host.failed was called */
};

#define BENCH_INIT ((struct bench){.with = {.waiting_max = 2000, .grace_ms = 10000}})
void bench_fini(struct bench *b);
void bench_restart(struct bench *b); /* engine and broker forget all; the disk stays */

/* ---- Orders: zero means the default ---- */

#define BENCH_NONE (-1) /* of max_retries and timeout_ms: really none */

struct bench_order {
    const char *type, *queue, *document, *key, *payload;
    enum task_priority priority;
    int64_t delay_ms, expires_in_ms, timeout_ms;
    int32_t max_retries;
    int64_t backoff_ms; /* base; the factor is then 1 */
};
struct task_id bench_create_one(struct bench *b, struct bench_order order);
#define bench_create(b, name, ...)                                                                 \
    bench_create_one((b), (struct bench_order){.type = (name), __VA_ARGS__})
struct order bench_order(struct bench *b, struct bench_order order);
struct call *bench_create_call(struct bench *b, const struct bench_order *orders, size_t n);
void bench_create_many(struct bench *b, size_t n, struct bench_order order);

/* ---- Claims ---- */

struct bench_claim {
    const char *worker, *type, *queue, *queue2;
    size_t max;
    int64_t lease_ms;
    bool wait;
    uint64_t serial;
};
struct call *bench_claim_call(struct bench *b, struct bench_claim claim);
/* The first task it got; its id is none if it got none. */
struct task bench_claim_one(struct bench *b, struct bench_claim claim);
#define bench_claim(b, ...) bench_claim_one((b), (struct bench_claim){__VA_ARGS__})
struct call *bench_stop_call(struct bench *b, uint64_t serial);

/* ---- What a worker says. The short verbs answer with the error's kind. ---- */

struct call *bench_finish_call(struct bench *b, const struct task *task, enum task_outcome outcome);
enum err_kind bench_finish(struct bench *b, const struct task *task, enum task_outcome outcome);
struct call *bench_heartbeat_call(struct bench *b, const struct task *task, int64_t extend_ms);
enum err_kind bench_heartbeat(struct bench *b, const struct task *task, int64_t extend_ms);
struct task_lease bench_lease(const struct task *task);

/* ---- Steering ---- */

struct call *bench_one_call(struct bench *b, enum command_kind kind, struct task_id id);
enum err_kind bench_cancel(struct bench *b, struct task_id id);
enum err_kind bench_revive(struct bench *b, struct task_id id);
enum err_kind bench_remove(struct bench *b, struct task_id id);
enum err_kind bench_change(struct bench *b, struct task_id id, struct task_patch patch);
struct call *bench_bulk_call(struct bench *b, enum bulk_verb verb, struct task_filter filter);
struct queue_view bench_queue(struct bench *b, const char *name, struct command_queue change);

/* ---- The engine's turn ---- */

struct call *bench_call(struct bench *b, enum command_kind kind);
void bench_give(struct bench *b, struct call *call);        /* into the next batch */
bool bench_step(struct bench *b);                           /* one batch; true: it has more to do */
void bench_settle(struct bench *b);                         /* until it has nothing to do */
struct call *bench_run(struct bench *b, struct call *call); /* given, and waited for */
void bench_pass_ms(struct bench *b, int64_t ms);            /* from event to event */
void bench_jump_ms(struct bench *b, int64_t ms); /* at once, as a suspended machine does */
struct now bench_now(struct bench *b);

/* ---- Looking ---- */

struct task bench_task(struct bench *b, struct task_id id); /* as the store has it; must be there */
bool bench_has(struct bench *b, struct task_id id);
struct task_detail bench_detail(struct bench *b, struct task_id id);
struct call *bench_why(struct bench *b, struct task_id id);
struct document_view bench_document(struct bench *b, const char *document);
struct queue_stats bench_stats(struct bench *b);
int64_t bench_count(struct bench *b, enum task_state state); /* by the store's counters */
/* The states that events told of a task, as "QUEUED RUNNING …"; a removal as "removed". */
struct str bench_story(struct bench *b, struct task_id id);

#endif
