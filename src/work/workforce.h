/* work/workforce.h: everybody who works inside the server: run functions, commands, the built-in
 * types, HTTP push, and teammates that ask the language model.
 *
 * One thread claims, starts, stops and reports; an idle worker has one claim waiting in the engine
 * and costs nothing. A run function and a teammate have a thread to themselves, commands have
 * processes of their own that start and end them (starter.h). docs/design/work.md tells how it fits
 * together.
 *
 * Start: workforce_new(), the engine, workforce_start(). Stop: workforce_quiet(), workforce_stop(),
 * the engine, workforce_free(): the engine may speak of attempts until it has ended itself.
 *
 * Thread: any may call. Keeps: G3 (the end of an attempt is told after its work has stopped).
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_WORKFORCE_H
#define ERRAND_WORK_WORKFORCE_H

#include "queue/queue.h"
#include "queue/service.h"
#include "team/lead.h"
#include "work/push.h"

#define WORKERS_DEFAULT       3
#define WORKERS_MAX           256
#define WORKERS_GRACE_DEFAULT (10 * SECOND_MS)
#define CREW_SEATS            8 /* questions to the model under way at once, of all teams */

struct workforce; /* opaque */
struct llm_options;
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

struct workforce_options {
    struct engine *engine; /* borrowed */
    size_t workers;        /* of run functions, commands and built-in types */
    const struct str *queues;
    size_t queues_count;         /* none: every queue */
    const char *const *handlers; /* shared objects: --handlers FILE.so */
    size_t handlers_count;
    const struct exec_command *commands;
    size_t commands_count;
    struct starter *starter;        /* of commands; borrowed. NULL: there are none */
    const struct service *services; /* what the server's own rooms do (queue/service.h); borrowed */
    size_t services_count;
    struct push_settings push;
    const struct llm_options *llm; /* what teammates ask; borrowed. NULL: there are none */
    struct lead *lead;             /* of their teams; borrowed */
    int64_t grace_ms;
    bool traced;               /* spans of attempts are sent somewhere: new traces say so */
    struct str data;           /* the data folder: document.append writes below it */
    void (*rested)(void *arg); /* on the workers' thread: quiet, and nothing runs. May be NULL */
    void *rested_arg;
};

struct workforce *workforce_new(void);
struct channel *workforce_news(struct workforce *work); /* where the lead tells of teams */
/* What the options point to is copied. An error names the handler or its file. */
MUST_CHECK bool workforce_start(struct workforce *work, const struct workforce_options *options,
                                struct err *err);

/* For engine_host.abort: an attempt should stop. Attempts of others are passed over. */
void workforce_abort(struct workforce *work, struct task_id id, int32_t attempt,
                     enum abort_why why);

/* There are queues of the Cloud Tasks API: their tasks are claimed from now on. And: one of their
 * tasks was started for this workforce; what it points to is copied. Both only of a workforce that
 * was told to send them (push.cloud). */
void workforce_send_cloud(struct workforce *work);
void workforce_run(struct workforce *work, const struct task *task);

/* No more claims. What runs may finish within the grace period and is then stopped and given back;
 * `rested` is called at the end. */
void workforce_quiet(struct workforce *work);
/* What may change of pushes while it runs; its handlers are not looked at. Any thread. */
void workforce_set_push(struct workforce *work, const struct push_settings *settings);

/* Stops and gives back what still runs, at once, and waits for it. NULL is welcome to both. */
void workforce_stop(struct workforce *work);
void workforce_free(struct workforce *work);

struct workforce_health {
    size_t lost;    /* workers whose run function ignores that it should stop */
    size_t pushing; /* requests under way */
};
struct workforce_health workforce_health(const struct workforce *work);

#endif
