/* work/exec.h: workers inside the server: run functions, commands and the built-in types.
 *
 * A pool of slots, each running one task at a time. An idle slot has one claim waiting in the
 * engine and costs nothing. The pool's own thread starts, stops and reports attempts; a run
 * function has a thread of its slot to itself. HTTP push has a pool of its own.
 *
 * Commands are started and ended by processes of their own (starter.h).
 *
 * Thread: any may call. Keeps: G3 (the end of an attempt is told after its work has stopped).
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_EXEC_H
#define ERRAND_WORK_EXEC_H

#include "queue/queue.h"
#include "queue/service.h"

#define EXEC_WORKERS_DEFAULT 3
#define EXEC_WORKERS_MAX     256
#define EXEC_GRACE_DEFAULT   (10 * SECOND_MS)

struct exec; /* opaque */
struct starter;

/* One `env.NAME = VALUE` line. */
struct exec_env {
    struct str name, value;
};

/* One section [handler.TYPE] that has `exec = …`. */
struct exec_command {
    struct str type;
    struct str line;   /* `exec`: words as a shell splits them, quotes included; no shell runs it */
    struct str folder; /* of the configuration file: the command's working folder */
    const struct exec_env *env;
    size_t env_count;
    int64_t memory_max; /* limits.memory, bytes of address space; 0: none */
    int64_t cpu_max_ms; /* limits.cpu, rounded up to seconds; 0: none */
    int64_t files_max;  /* limits.files, open at once; 0: none */
};

struct exec_options {
    struct engine *engine; /* borrowed; started before and stopped after the pool */
    size_t workers;        /* 0: nothing runs */
    const struct str *queues;
    size_t queues_count;         /* none: every queue */
    const char *const *handlers; /* shared objects: --handlers FILE.so */
    size_t handlers_count;
    const struct exec_command *commands;
    size_t commands_count;
    struct starter *starter;        /* of commands; borrowed. NULL: there are none */
    const struct service *services; /* what the server's own rooms do (queue/service.h); borrowed */
    size_t services_count;
    int64_t grace_ms;
    struct str data;           /* the data folder: document.append writes below it */
    void (*rested)(void *arg); /* on the pool's thread: quiet, and nothing runs. May be NULL */
    void *rested_arg;
};

/* What the options point to is copied. Handler files are loaded here: an error names the file. */
MUST_CHECK bool exec_start(const struct exec_options *options, struct exec **out, struct err *err);

/* For engine_host.abort: an attempt should stop. Attempts of others are passed over. */
void exec_abort(struct exec *exec, struct task_id id, int32_t attempt, enum abort_why why);

/* No more claims. What runs may finish within the grace period and is then stopped and given back;
 * `rested` is called at the end. */
void exec_quiet(struct exec *exec);

/* Stops and gives back what still runs, at once, and waits for it. NULL is welcome. */
void exec_stop(struct exec *exec);

struct exec_health {
    size_t workers, busy;
    size_t lost; /* of the busy ones: their run function ignores that it should stop */
};
struct exec_health exec_health(const struct exec *exec);

/* The types this pool runs, for as long as it lives. */
const struct str *exec_types(const struct exec *exec, size_t *count);

#endif
