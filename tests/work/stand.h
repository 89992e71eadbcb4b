/* tests/work/stand.h: a real engine with its thread, a memory store, and the workforce on top.
 *
 *     SCOPED(stand_close) struct stand s;
 *     stand_open(&s, &(struct stand_options){.workers = 2});
 *     struct task_id id = stand_create(&s, "echo", .payload = "[1]");
 *     stand_until(&s, id, TASK_COMPLETED);
 *     CHECK_STR(stand_task(&s, id).task.result, "[1]");
 *
 * Nothing sleeps: a test waits for what the engine tells, and gives up after STAND_PATIENCE_S.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_WORK_STAND_H
#define ERRAND_TESTS_WORK_STAND_H

#include <semaphore.h>

#include "test.h"
#include "work/starter.h"
#include "work/workforce.h"

#define STAND_PATIENCE_S 60
#define STAND_START_MS   INT64_C(1800000000000) /* of the hand-wound clock */

struct stand_options {
    size_t workers;   /* 0: 3 */
    int64_t grace_ms; /* 0: 10 s */
    bool by_hand;     /* a clock that stands still until stand_wind() */
    const struct exec_command *commands;
    size_t commands_count;
    const char *const *handlers;
    size_t handlers_count;
    const struct str *queues;
    size_t queues_count;
    struct push_settings push;
    const struct llm_options *llm; /* with it there is a lead, and a crew */
};

struct stand {
    struct store *store;
    struct broker *broker;
    struct engine *engine;
    struct clock clock;
    struct rand rand;
    struct starter *starter; /* NULL: no commands */
    struct workforce *work;
    struct lead *lead; /* NULL: no teams */
    struct guest *guest;
    struct stand_options with;
    struct arena arena;
    char folder[64]; /* the data folder, removed at the end */
    struct channel answers, events;
    sem_t answered, happened, rested;
    struct list seen; /* event batches that were taken */
};

void stand_open(struct stand *s, const struct stand_options *options);
void stand_close(struct stand *s); /* for SCOPED */

struct stand_order {
    const char *type, *payload, *document, *queue, *metadata;
    int64_t timeout_ms;  /* 0: the default */
    int32_t max_retries; /* 0: none */
    int64_t backoff_ms;  /* of the first retry; 0: 1 ms */
    bool raw;
};
struct task_id stand_create_one(struct stand *s, struct stand_order order);
#define stand_create(s, name, ...)                                                                 \
    stand_create_one((s), (struct stand_order){.type = (name), __VA_ARGS__})

struct command *stand_command(struct stand *s, enum command_kind kind);
enum err_kind stand_try(struct stand *s, struct command *command); /* given and waited for */
void stand_run(struct stand *s, struct command *command);          /* likewise; must succeed */
void stand_cancel(struct stand *s, struct task_id id);
struct document_view stand_document(struct stand *s, const char *document);
void stand_wind(struct stand *s, int64_t ms);

void stand_until(struct stand *s, struct task_id id, enum task_state state); /* it was, or is */
void stand_until_log(struct stand *s, struct task_id id, const char *text); /* a line that has it */
void stand_until_percent(struct stand *s, struct task_id id, double percent); /* or more */
bool stand_saw(struct stand *s, struct task_id id, enum task_state state);    /* told so far */
void stand_rested(struct stand *s); /* waits until the workers say that they rest */

struct task_detail stand_task(struct stand *s, struct task_id id);
struct str stand_log(struct stand *s, struct task_id id); /* of its last attempt */
/* Runs one task to its end and answers with it. */
struct task stand_do(struct stand *s, struct stand_order order, enum task_state end);

#endif
