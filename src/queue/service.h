/* queue/service.h: task types that a room of the server itself does: prompts, deliveries.
 *
 * A service is a run function with what those of strangers lack: an argument of its own, a cost,
 * and a word about when to try again. Whoever wires the server gives a table of them to the worker
 * pool, which knows nothing of what they do.
 *
 * Thread: run() has a worker's thread to itself and may block; several may run at once, so what
 * `arg` points to must be constant or able to bear it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_SERVICE_H
#define ERRAND_QUEUE_SERVICE_H

#include "base/arena.h"
#include "task/task.h"

struct service_call {
    struct task_id id;
    int32_t attempt;
    struct str payload;  /* absent: none */
    const int *stop;     /* a descriptor: readable once it should stop */
    struct arena *arena; /* what the end points to lives here */
    /* Percent and a word about it; cheap, what comes too fast is thinned out. */
    void (*tell)(const struct service_call *call, double percent, struct str message);
};

struct service_end {
    bool completed;
    struct str result;       /* JSON; or absent */
    struct task_error error; /* when not completed */
    bool retry;
    int64_t retry_after_ms;
    double queries, tokens; /* what this attempt cost; negative: not known */
};

struct service {
    struct str type;
    void (*run)(void *arg, const struct service_call *call, struct service_end *end);
    void *arg;
};

#define SERVICE_DONE(json)                                                                         \
    ((struct service_end){.completed = true, .result = (json), .queries = -1, .tokens = -1})
#define SERVICE_FAIL(code_text, message_text, again)                                               \
    ((struct service_end){.error = {.code = STR(code_text), .message = (message_text)},            \
                          .retry = (again),                                                        \
                          .queries = -1,                                                           \
                          .tokens = -1})

#endif
