/* work/function.c: runs the functions of shared objects, each on the thread of its slot.
 *
 * The pool gives a function to the slot's thread with a semaphore and gets it back with NOTE_DONE.
 * In between the two share only what is atomic, and the reports that the function gives away. A
 * function cannot be stopped by force: it is asked to, by a flag and a descriptor.
 *
 * Thread: the pool's; below "On the slot's thread" that one.
 *
 * SPDX-License-Identifier: MIT */
#include "work/function.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "wire/json.h"

/* ---- On the slot's thread: the calls of errand/handler.h ---- */

static struct function *mine(const errand_task *task)
{
    return (struct function *)task;
}

static const char *call_payload(const errand_task *task, size_t *length)
{
    struct str payload = mine(task)->payload;
    if (length != NULL) {
        *length = payload.len;
    }
    return payload.ptr;
}

static const char *call_task_id(const errand_task *task)
{
    return mine(task)->id;
}

static const char *call_task_type(const errand_task *task)
{
    return mine(task)->type;
}

static const char *call_document_id(const errand_task *task)
{
    return mine(task)->document;
}

static int call_attempt(const errand_task *task)
{
    return mine(task)->attempt;
}

static int call_fail(errand_task *task, const char *code, const char *message, int retry)
{
    struct function *function = mine(task);
    function->failed = true;
    function->retry = retry != 0;
    function->code = arena_str(&function->arena, str_of(code == NULL ? "failed" : code));
    function->message = arena_str(&function->arena, str_of(message == NULL ? "" : message));
    return -1;
}

static int call_result(errand_task *task, const char *json, size_t length)
{
    struct function *function = mine(task);
    struct str result = {json, json == NULL ? 0 : length};
    struct err err = ERR_INIT;
    if (length > TASK_RESULT_MAX) {
        return call_fail(task, "result_too_large", "the result is over 1 MiB", 1);
    }
    if (json != NULL && !json_valid(result, &err)) {
        err_wrap(&err, "the result is no JSON");
        return call_fail(task, "invalid_result", err.text, 1);
    }
    function->result = arena_str(&function->arena, result);
    return 0;
}

/* A function that talks faster than the pool listens loses words, not the server's memory. */
static void say(struct function *function, double percent, const char *text)
{
    if (function->said >= FUNCTION_SAID_MAX) {
        return;
    }
    function->said++;
    size_t len = text == NULL ? 0 : strnlen(text, TASK_LOG_MAX);
    struct str copy = text == NULL ? STR_NONE : (struct str){mem_text(text, len), len};
    pool_note(
        function->slot->pool,
        (struct note){.kind = NOTE_SAID, .function = function, .percent = percent, .text = copy});
}

static void call_progress(errand_task *task, double percent, const char *message)
{
    say(mine(task), percent < 0 ? 0 : percent, message);
}

static void call_log(errand_task *task, const char *text)
{
    say(mine(task), -1, text == NULL ? "" : text);
}

static int call_aborted(const errand_task *task)
{
    return mine(task)->aborted;
}

static int call_abort_fd(const errand_task *task)
{
    return mine(task)->abort_fd;
}

const struct errand_calls function_calls = {.abi = ERRAND_ABI,
                                            .add = handlers_register,
                                            .payload = call_payload,
                                            .task_id = call_task_id,
                                            .task_type = call_task_type,
                                            .document_id = call_document_id,
                                            .attempt = call_attempt,
                                            .result = call_result,
                                            .fail = call_fail,
                                            .progress = call_progress,
                                            .log = call_log,
                                            .aborted = call_aborted,
                                            .abort_fd = call_abort_fd};

static void wait_for_work(struct slot *slot)
{
    while (sem_wait(&slot->thread.go) != 0 && errno == EINTR) {
    }
}

static void *run_thread(void *arg)
{
    struct slot *slot = arg;
    char name[16];
    snprintf(name, sizeof name, "run %zu", slot->number);
    pthread_setname_np(pthread_self(), name);
    for (wait_for_work(slot); slot->thread.next != NULL; wait_for_work(slot)) {
        struct function *function = slot->thread.next;
        function->returned =
            function->service != NULL ? function_serve(function) : function->run(&function->base);
        pool_note(slot->pool, (struct note){.kind = NOTE_DONE, .function = function});
    }
    return NULL;
}

/* ---- On the pool's thread ---- */

/* Signals are the server's business: a run function's system calls are not interrupted by them. */
static int start_quietly(struct slot *slot)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&slot->thread.id, NULL, run_thread, slot);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

/* False: errno says what this server has no room for. */
static bool ensure_thread(struct slot *slot)
{
    if (slot->thread.started) {
        return true;
    }
    slot->thread.abort_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (slot->thread.abort_fd < 0) {
        return false;
    }
    sem_init(&slot->thread.go, 0, 0);
    int failed = start_quietly(slot);
    slot->thread.started = failed == 0;
    if (!slot->thread.started) {
        sem_destroy(&slot->thread.go);
        close(slot->thread.abort_fd);
        errno = failed;
    }
    return slot->thread.started;
}

void function_thread_end(struct slot *slot)
{
    if (!slot->thread.started) {
        return;
    }
    slot->thread.next = NULL;
    sem_post(&slot->thread.go);
    pthread_join(slot->thread.id, NULL);
    sem_destroy(&slot->thread.go);
    close(slot->thread.abort_fd);
    slot->thread.started = false;
}

static struct function *function_new(struct attempt *attempt)
{
    const struct task *task = &attempt->job->task;
    struct function *function = mem_new(struct function);
    function->base.calls = &function_calls;
    function->slot = attempt->slot;
    function->run = attempt->handler->run;
    function->service = attempt->handler->service;
    function->task = task->id;
    function->payload = arena_str(&function->arena, task->payload);
    id_text(task->id, function->id);
    function->type = arena_c_text(&function->arena, task->type);
    if (!str_absent(task->document)) {
        function->document = arena_c_text(&function->arena, task->document);
    }
    function->attempt = task->attempt;
    function->abort_fd = attempt->slot->thread.abort_fd;
    return function;
}

static void function_free(struct function *function)
{
    arena_fini(&function->arena);
    mem_free(function);
}

static void clear(int fd)
{
    uint64_t count;
    if (read(fd, &count, sizeof count) < 0) {
        return; /* the attempt before this one was not aborted */
    }
}

static void start(struct attempt *attempt)
{
    struct slot *slot = attempt->slot;
    if (!ensure_thread(slot)) {
        attempt_put_off(attempt, strerror(errno));
        return;
    }
    attempt->pool->is_short = false;
    clear(slot->thread.abort_fd);
    attempt->state = slot->thread.next = function_new(attempt);
    sem_post(&slot->thread.go);
}

static void abort_function(struct attempt *attempt)
{
    struct function *function = attempt->state;
    uint64_t one = 1;
    function->aborted = true;
    if (write(function->abort_fd, &one, sizeof one) < 0) {
        return; /* it was raised already */
    }
}

const struct executor exec_function = {.start = start, .abort = abort_function};

void function_said(struct function *function, const struct note *note)
{
    struct job *job = function->slot->attempt.job;
    function->said--;
    if (job == NULL) {
        return; /* it was given back */
    }
    if (note->percent < 0) {
        job_log(job, note->text);
    } else {
        job_progress(job, note->percent, note->text);
    }
}

static struct job_end end_of(struct function *function)
{
    const struct job *job = function->slot->attempt.job;
    if (function->service != NULL) {
        return function_served(function, job == NULL ? &TASK_COST_NONE : &job->task.cost);
    }
    if (function->failed) {
        return (struct job_end){.error = {.code = function->code, .message = function->message},
                                .retry = function->retry};
    }
    if (function->returned != 0) {
        return JOB_FAIL("failed", arena_printf(&function->arena, "the run function returned %d",
                                               function->returned));
    }
    return (struct job_end){.completed = true, .result = function->result};
}

void function_done(struct function *function)
{
    struct job_end end = end_of(function);
    attempt_end(&function->slot->attempt, &end);
    function_free(function);
}
