/* work/run.h: one run of a command: payload in, result out, words on the way.
 *
 * The same inside the server and for `errand work`: whoever has a command run is its host. A run is
 * over when its minder says that nothing of it is left, and all it said has been read.
 *
 * Thread: that of its loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_RUN_H
#define ERRAND_WORK_RUN_H

#include <uv.h>

#include "work/job.h"
#include "work/spawn.h"

struct run; /* opaque */
struct starter;

/* Exactly one of `ended` and `lacked` is called, once; the run is gone then. */
struct run_host {
    void (*progress)(void *arg, double percent, struct str message); /* it may be empty */
    void (*log)(void *arg, struct str text);
    void (*started)(void *arg);                          /* may be NULL */
    void (*ended)(void *arg, const struct job_end *end); /* borrowed */
    void (*lacked)(void *arg, const char *what);         /* there is no room for it here */
};

struct run_options {
    uv_loop_t *loop;
    struct starter *starter;
    struct spawn program; /* without its descriptors */
    struct str payload;
    const char *id; /* of its task, for the log */
    int64_t grace_ms;
    const struct run_host *host;
    void *arg;
};

/* NULL: it could not even be asked for, and the host has been told. */
struct run *run_start(const struct run_options *options);
void run_abort(struct run *run); /* SIGTERM; SIGKILL after the grace period */
void run_kill(struct run *run);

/* What every command is told of its task, then what is `given`. */
struct run_task {
    const char *id;
    struct str type, document; /* document absent: none */
    int attempt;
    struct str traceparent; /* absent: none */
};
char **run_env(struct arena *arena, const struct run_task *task, char *const *given,
               size_t given_count);

#endif
