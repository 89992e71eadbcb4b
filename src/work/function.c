/* work/function.c: runs the functions of shared objects, and the services of the server's own rooms
 * (queue/service.h), each on the thread of its claimer.
 *
 * A function is given to that thread with a semaphore and comes back with NOTE_DONE. In between the
 * two threads share only what is atomic, and the reports that the function gives away. A function
 * cannot be stopped by force: it is asked to, by a flag and a descriptor.
 *
 * Thread: the workers'; below "On the claimer's thread" that one.
 *
 * SPDX-License-Identifier: MIT */
#include "work/function.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "wire/json.h"

/* ---- On the claimer's thread: the calls of errand/handler.h ---- */

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

/* A function that talks faster than anybody listens loses words, not the server's memory. */
static void say(struct function *function, double percent, const char *text)
{
    if (function->said >= FUNCTION_SAID_MAX) {
        return;
    }
    function->said++;
    size_t len = text == NULL ? 0 : strnlen(text, TASK_LOG_MAX);
    struct str copy = text == NULL ? STR_NONE : (struct str){mem_text(text, len), len};
    workforce_note(
        function->claimer->work,
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

/* ---- On the claimer's thread: services ---- */

struct serving {
    struct service_call call; /* first: what the service sees */
    struct function *function;
};

static void tell(const struct service_call *call, double percent, struct str message)
{
    const struct serving *serving = (const struct serving *)call;
    SCOPED(mem_free_at)
    char *text = str_absent(message) ? NULL : mem_text(message.ptr, message.len);
    call_progress(&serving->function->base, percent, text);
}

static void serve(struct function *function)
{
    const struct service *service = function->service;
    struct serving serving = {.call = {.id = function->task,
                                       .attempt = function->attempt,
                                       .payload = function->payload,
                                       .stop = &function->abort_fd,
                                       .arena = &function->arena,
                                       .tell = tell},
                              .function = function};
    function->end = SERVICE_FAIL("failed", STR("it ended without a word"), true);
    service->run(service->arg, &serving.call, &function->end);
}

static void *run_thread(void *arg)
{
    struct claimer *claimer = arg;
    char name[16];
    snprintf(name, sizeof name, "%s %zu", claimer->by == &by_mate ? "team" : "run",
             claimer->number);
    pthread_setname_np(pthread_self(), name);
    for (;;) {
        while (sem_wait(&claimer->thread.go) != 0 && errno == EINTR) {
        }
        struct function *function = claimer->thread.next;
        if (function == NULL) {
            return NULL;
        }
        if (function->service != NULL) {
            serve(function);
        } else {
            function->returned = function->run(&function->base);
        }
        workforce_note(claimer->work, (struct note){.kind = NOTE_DONE, .function = function});
    }
}

/* ---- On the workers' thread ---- */

/* False: errno says what this server has no room for. Signals are the server's business: a run
 * function's system calls are not interrupted by them. */
static bool ensure_thread(struct claimer *claimer)
{
    sigset_t all, before;
    if (claimer->thread.started) {
        return true;
    }
    claimer->thread.abort_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (claimer->thread.abort_fd < 0) {
        return false;
    }
    sem_init(&claimer->thread.go, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&claimer->thread.id, NULL, run_thread, claimer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    claimer->thread.started = failed == 0;
    if (failed != 0) {
        sem_destroy(&claimer->thread.go);
        close(claimer->thread.abort_fd);
        errno = failed;
    }
    return failed == 0;
}

void function_thread_end(struct claimer *claimer)
{
    if (!claimer->thread.started) {
        return;
    }
    claimer->thread.next = NULL;
    sem_post(&claimer->thread.go);
    pthread_join(claimer->thread.id, NULL);
    sem_destroy(&claimer->thread.go);
    close(claimer->thread.abort_fd);
    claimer->thread.started = false;
}

static struct function *function_new(struct job *job)
{
    const struct task *task = &job->task;
    struct function *function = mem_new(struct function);
    function->base.calls = &function_calls;
    function->claimer = job->claimer;
    function->job = job;
    function->run = job->handler->run;
    function->service = job->handler->service;
    function->task = task->id;
    function->payload = arena_str(&function->arena, task->payload);
    id_text(task->id, function->id);
    function->type = arena_c_text(&function->arena, task->type);
    if (!str_absent(task->document)) {
        function->document = arena_c_text(&function->arena, task->document);
    }
    function->attempt = task->attempt;
    function->abort_fd = job->claimer->thread.abort_fd;
    return function;
}

void function_start(struct job *job)
{
    struct claimer *claimer = job->claimer;
    uint64_t count;
    if (!ensure_thread(claimer)) {
        job_put_off(job, strerror(errno));
        return;
    }
    claimer->work->is_short = false;
    if (read(claimer->thread.abort_fd, &count, sizeof count) < 0) {
        count = 0; /* the job before this one was not aborted */
    }
    claimer->function = claimer->thread.next = job->state = function_new(job);
    sem_post(&claimer->thread.go);
}

void function_abort(struct job *job)
{
    struct function *function = job->state;
    uint64_t one = 1;
    function->aborted = true;
    if (write(function->abort_fd, &one, sizeof one) < 0) {
        return; /* it was raised already */
    }
}

/* A run function cannot be made to stop: its task is given back without it. One that the engine has
 * given up keeps its document until this process has ended. */
static void leave_behind(struct job *job)
{
    struct claimer *claimer = job->claimer;
    log_warn("worker %zu: its run function does not stop and ends with the server",
             claimer->number);
    claimer->function->job = NULL;
    claimer->work->stuck = true;
    job_leave_behind(job, claimer->lost);
}

const struct executor by_function = {
    .start = function_start, .abort = function_abort, .kill = leave_behind};

void function_said(struct function *function, const struct note *note)
{
    struct job *job = function->job;
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

/* Each attempt of a service costs: the task has the sum. */
static struct job_end end_of_service(const struct function *function,
                                     const struct task_cost *before)
{
    const struct service_end *end = &function->end;
    return (struct job_end){
        .completed = end->completed,
        .result = end->result,
        .error = end->error,
        .retry = end->retry,
        .retry_after_ms = end->retry_after_ms,
        .costs = end->queries >= 0 || end->tokens >= 0,
        .cost = {.estimated = -1,
                 .actual = end->queries < 0 ? -1 : MAX(before->actual, 0) + end->queries,
                 .tokens = end->tokens < 0 ? -1 : MAX(before->tokens, 0) + end->tokens}};
}

static struct job_end end_of(struct function *function)
{
    if (function->service != NULL) {
        return end_of_service(function, &function->job->task.cost);
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
    struct claimer *claimer = function->claimer;
    if (claimer->lost) {
        claimer->lost = false;
        claimer->work->lost--;
        log_info("worker %zu is back: its run function has returned", claimer->number);
    }
    claimer->function = NULL;
    if (function->job != NULL) {
        struct job_end end = end_of(function);
        job_finish(function->job, &end);
    } else {
        claimer_let_go(claimer);
    }
    arena_fini(&function->arena);
    mem_free(function);
}

int64_t function_tick(struct claimer *claimer, int64_t now_ms)
{
    const struct job *job = claimer->function == NULL ? NULL : claimer->function->job;
    if (job == NULL || job->by != &by_function || job->told == TOLD_NOTHING || claimer->lost) {
        return -1;
    }
    int64_t until_ms = job->told_ms + claimer->work->grace_ms;
    if (now_ms < until_ms) {
        return until_ms - now_ms;
    }
    claimer->lost = true;
    claimer->work->lost++;
    log_warn("worker %zu is lost until its run function returns: it was asked to stop and did not",
             claimer->number);
    return -1;
}
