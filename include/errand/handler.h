/* errand/handler.h: write a task in C.
 *
 * A handler is a shared object with one function that registers run functions by task type:
 *
 *     #include <errand/handler.h>
 *
 *     static int greet(errand_task *task)
 *     {
 *         errand_progress(task, 50, "half way");
 *         return errand_result(task, "\"hello\"", 7);
 *     }
 *
 *     int errand_register(errand_registry *registry)
 *     {
 *         return errand_add(registry, "greet", greet);
 *     }
 *
 *     $ cc -shared -fPIC -o greet.so greet.c -I include
 *     $ errand serve --handlers greet.so
 *     $ errand push greet
 *
 * A run function has a thread to itself and may block. It runs inside the server: one that crashes
 * takes the server with it (the next start goes on from what was stored; the attempt counts as
 * LOST). Work that you do not trust that far belongs into a command. docs/handlers.md has the rest.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_HANDLER_H
#define ERRAND_HANDLER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct errand_registry errand_registry;
typedef struct errand_task errand_task;

/* A run function. Returning 0 completes the task; anything else fails the attempt, which is tried
 * again while the task has retries left. Everything that belongs to `task` ends with the return. */
typedef int errand_run(errand_task *task);

/* ---- What you write ---- */

/* Called once, when the server loads the file. Anything but 0 stops the server from starting. */
__attribute__((visibility("default"))) int errand_register(errand_registry *registry);

/* ---- What you call there ---- */

/* Tasks of this type are run by `run`. 0, or -1 when the type is taken or no type at all. */
static inline int errand_add(errand_registry *registry, const char *type, errand_run *run);

/* ---- What a run function calls: what is to be done ---- */

/* The payload, exactly as it was sent; a NUL follows it. NULL and 0 when there is none. */
static inline const char *errand_payload(const errand_task *task, size_t *length);

static inline const char *errand_task_id(const errand_task *task);
static inline const char *errand_task_type(const errand_task *task);
static inline const char *errand_document_id(const errand_task *task); /* NULL: none */
static inline int errand_attempt(const errand_task *task);             /* 1, 2, … */

/* ---- How it went ---- */

/* Sets the result; the bytes are copied. 0, or -1 when it is no JSON or over 1 MiB, and then the
 * attempt fails: so `return errand_result(task, json, length);` is a good last line. */
static inline int errand_result(errand_task *task, const char *json, size_t length);

/* Says why the attempt fails, and whether another may follow (retry 1) or not (0). Returns -1:
 * `return errand_fail(task, "no_such_image", "the file is gone", 0);` */
static inline int errand_fail(errand_task *task, const char *code, const char *message, int retry);

/* ---- Meanwhile ---- */

/* Percent done (0 to 100) and a word about it (or NULL); a line for the attempt's log. Cheap: call
 * them as often as you like, what comes too fast is thinned out. */
static inline void errand_progress(errand_task *task, double percent, const char *message);
static inline void errand_log(errand_task *task, const char *text);

/* Should you stop? True once the task was cancelled, ran past its time-out, or the server is to
 * end. Look now and then, or wait on the descriptor (poll it for POLLIN; do not read it); clean up
 * and return anything but 0. The document of the task stays locked until you return. */
static inline int errand_aborted(const errand_task *task);
static inline int errand_abort_fd(const errand_task *task);

/* ---- How it works: nothing below is meant to be called ----
 *
 * Every call goes through a table that the server fills, so a handler links with nothing and the
 * server exports nothing. The table only ever grows at its end. */

#define ERRAND_ABI 1

/* What this handler was built for: the server looks at it before it calls anything. */
extern const int errand_abi __attribute__((weak, visibility("default")));
const int errand_abi = ERRAND_ABI;

struct errand_calls {
    int abi;
    int (*add)(errand_registry *, const char *, errand_run *);
    const char *(*payload)(const errand_task *, size_t *);
    const char *(*task_id)(const errand_task *);
    const char *(*task_type)(const errand_task *);
    const char *(*document_id)(const errand_task *);
    int (*attempt)(const errand_task *);
    int (*result)(errand_task *, const char *, size_t);
    int (*fail)(errand_task *, const char *, const char *, int);
    void (*progress)(errand_task *, double, const char *);
    void (*log)(errand_task *, const char *);
    int (*aborted)(const errand_task *);
    int (*abort_fd)(const errand_task *);
};

struct errand_registry {
    const struct errand_calls *calls;
};

struct errand_task {
    const struct errand_calls *calls;
};

static inline int errand_add(errand_registry *registry, const char *type, errand_run *run)
{
    return registry->calls->add(registry, type, run);
}

static inline const char *errand_payload(const errand_task *task, size_t *length)
{
    return task->calls->payload(task, length);
}

static inline const char *errand_task_id(const errand_task *task)
{
    return task->calls->task_id(task);
}

static inline const char *errand_task_type(const errand_task *task)
{
    return task->calls->task_type(task);
}

static inline const char *errand_document_id(const errand_task *task)
{
    return task->calls->document_id(task);
}

static inline int errand_attempt(const errand_task *task)
{
    return task->calls->attempt(task);
}

static inline int errand_result(errand_task *task, const char *json, size_t length)
{
    return task->calls->result(task, json, length);
}

static inline int errand_fail(errand_task *task, const char *code, const char *message, int retry)
{
    return task->calls->fail(task, code, message, retry);
}

static inline void errand_progress(errand_task *task, double percent, const char *message)
{
    task->calls->progress(task, percent, message);
}

static inline void errand_log(errand_task *task, const char *text)
{
    task->calls->log(task, text);
}

static inline int errand_aborted(const errand_task *task)
{
    return task->calls->aborted(task);
}

static inline int errand_abort_fd(const errand_task *task)
{
    return task->calls->abort_fd(task);
}

#ifdef __cplusplus
}
#endif

#endif
