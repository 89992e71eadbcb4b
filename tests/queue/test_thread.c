/* tests/queue/test_thread.c: the engine on its own thread, several others giving it commands.
 *
 * What is checked is that every answer comes back to its sender and that the sums are right; that
 * nothing is shared unguarded is for ThreadSanitizer to say.
 *
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "queue/queue.h"
#include "store_memory/memory.h"
#include "test.h"

#define PRODUCERS 3
#define WORKERS   2
#define EACH      200 /* tasks of one producer */

/* A sender waits for its own commands only. */
struct sender {
    struct plant *plant;
    pthread_t id;
    pthread_mutex_t lock;
    pthread_cond_t came;
    struct channel answers;
    size_t came_back;
    size_t done; /* tasks completed by this worker */
};

struct plant {
    struct store *store;
    struct broker *broker;
    struct engine *engine;
    struct clock clock;
    struct rand rand;
    struct sender senders[PRODUCERS + WORKERS];
    _Atomic size_t events;
};

static void on_answer(void *arg)
{
    struct sender *sender = arg;
    pthread_mutex_lock(&sender->lock);
    sender->came_back++;
    pthread_cond_signal(&sender->came);
    pthread_mutex_unlock(&sender->lock);
}

static void on_happened(void *arg, struct event_batch *events)
{
    struct plant *plant = arg;
    plant->events += events->count;
    event_batch_free(events);
}

static void on_failed(void *arg, const struct err *err)
{
    (void)arg;
    (void)err;
    abort();
}

static void ask(struct sender *sender, struct command *command)
{
    struct list one;
    list_init(&one);
    command->reply_to = &sender->answers;
    list_append(&one, &command->link);
    engine_give(sender->plant->engine, &one);
    pthread_mutex_lock(&sender->lock);
    while (sender->came_back == 0) {
        pthread_cond_wait(&sender->came, &sender->lock);
    }
    sender->came_back--;
    pthread_mutex_unlock(&sender->lock);
    CHECK(channel_take(&sender->answers, &one) && list_first(&one) == &command->link);
}

static void *produce(void *arg)
{
    struct arena arena = ARENA_INIT;
    for (int i = 0; i < EACH; i++) {
        struct order order = {.task = {.type = STR("t"),
                                       .queue = STR("default"),
                                       .document = i % 2 == 0 ? STR("d") : STR_NONE,
                                       .priority = TASK_NORMAL,
                                       .backoff = TASK_BACKOFF_DEFAULT},
                              .delay_ms = i % 10 == 0 ? 1 : -1};
        struct command command = {
            .kind = COMMAND_CREATE, .arena = &arena, .create = {.orders = &order, .count = 1}};
        ask(arg, &command);
        arena_clear(&arena);
    }
    arena_fini(&arena);
    return NULL;
}

static void complete(struct sender *sender, struct arena *arena, const struct command_claim *claim)
{
    struct finish *items = arena_array(arena, struct finish, claim->count);
    for (size_t i = 0; i < claim->count; i++) {
        items[i] = (struct finish){.id = claim->tasks[i].id,
                                   .lease = {claim->tasks[i].attempt, claim->tasks[i].token},
                                   .outcome = OUTCOME_COMPLETED};
    }
    struct command command = {
        .kind = COMMAND_FINISH, .arena = arena, .finish = {.items = items, .count = claim->count}};
    ask(sender, &command);
    for (size_t i = 0; i < claim->count; i++) {
        sender->done += items[i].err.kind == ERR_NONE;
    }
}

/* Works until the drain refuses it. */
static void *work(void *arg)
{
    struct sender *sender = arg;
    struct arena arena = ARENA_INIT;
    bool refused = false;
    while (!refused) {
        struct command command = {.kind = COMMAND_CLAIM,
                                  .arena = &arena,
                                  .claim = {.worker = STR("w"),
                                            .max = 5,
                                            .lease_ms = HOUR_MS,
                                            .wait = true,
                                            .serial = (uint64_t)(uintptr_t)sender}};
        ask(sender, &command);
        refused = command.err.kind != ERR_NONE;
        if (!refused && command.claim.count > 0) {
            complete(sender, &arena, &command.claim);
        }
        arena_clear(&arena);
    }
    arena_fini(&arena);
    return NULL;
}

static void open_plant(struct plant *plant)
{
    struct err err = ERR_INIT;
    clock_init_real(&plant->clock);
    rand_init_seed(&plant->rand, 1);
    plant->store = memory_store_new();
    CHECK_OK(broker_open(&(struct broker_options){.url = STR("memory:"),
                                                  .ready = engine_ready,
                                                  .arg = &plant->engine},
                         &plant->broker, &err));
    struct engine_options options = {
        .store = plant->store,
        .broker = plant->broker,
        .clock = &plant->clock,
        .rand = &plant->rand,
        .host = {.arg = plant, .happened = on_happened, .failed = on_failed},
        .waiting_max = 100,
        .grace_ms = 1000};
    CHECK_OK(engine_new(&options, &plant->engine, &err));
    CHECK_OK(engine_start(plant->engine, &err));
}

static void close_plant(struct plant *plant)
{
    engine_stop(plant->engine);
    engine_free(plant->engine);
    broker_close(plant->broker);
    store_close(plant->store);
    mem_free(plant);
}

static void init_sender(struct plant *plant, struct sender *sender)
{
    sender->plant = plant;
    pthread_mutex_init(&sender->lock, NULL);
    pthread_cond_init(&sender->came, NULL);
    channel_init(&sender->answers, on_answer, sender);
}

static void start(struct plant *plant, size_t i, void *(*run)(void *))
{
    struct sender *sender = &plant->senders[i];
    init_sender(plant, sender);
    CHECK_EQ(pthread_create(&sender->id, NULL, run, sender), 0);
}

/* The delayed tasks fall due by the real clock, so the end is waited for, not slept for: each
 * question is a turn of the engine. */
static void wait_until_done(struct plant *plant, struct sender *asker, int64_t tasks)
{
    struct arena arena = ARENA_INIT;
    int64_t completed = 0;
    while (completed < tasks) {
        struct command command = {.kind = COMMAND_STATS, .arena = &arena};
        ask(asker, &command);
        completed = command.stats.stats.counts[TASK_COMPLETED];
    }
    struct command drain = {.kind = COMMAND_DRAIN, .arena = &arena};
    ask(asker, &drain);
    arena_fini(&arena);
    (void)plant;
}

TEST(a_claim_waits_no_longer_than_its_time_on_a_thread_that_sleeps)
{
    struct arena arena = ARENA_INIT;
    struct plant *plant = mem_new(struct plant);
    open_plant(plant);
    init_sender(plant, &plant->senders[0]);
    struct command claim = {
        .kind = COMMAND_CLAIM,
        .arena = &arena,
        .claim = {.worker = STR("w"), .max = 1, .lease_ms = 1000, .wait = true, .wait_ms = 20}};
    int64_t before_us = clock_real_mono_us();
    ask(&plant->senders[0], &claim);
    CHECK_EQ(claim.err.kind, ERR_NONE);
    CHECK_EQ(claim.claim.count, 0);
    CHECK(clock_real_mono_us() - before_us >= 19000);
    close_plant(plant);
    arena_fini(&arena);
}

TEST(every_command_of_every_thread_is_answered_and_every_task_done_once)
{
    struct plant *plant = mem_new(struct plant);
    open_plant(plant);
    for (size_t i = 0; i < PRODUCERS + WORKERS; i++) {
        start(plant, i, i < PRODUCERS ? produce : work);
    }
    for (size_t i = 0; i < PRODUCERS; i++) {
        pthread_join(plant->senders[i].id, NULL);
    }
    wait_until_done(plant, &plant->senders[0], PRODUCERS * EACH);
    size_t done = 0;
    for (size_t i = PRODUCERS; i < PRODUCERS + WORKERS; i++) {
        pthread_join(plant->senders[i].id, NULL);
        done += plant->senders[i].done;
    }
    engine_stop(plant->engine);

    CHECK_EQ(done, PRODUCERS * EACH);
    CHECK(plant->events >= 3 * done);
    close_plant(plant);
}
