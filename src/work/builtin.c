/* work/builtin.c: the types for trying things out that need no thread: noop, echo, fail, sleep.
 *
 * A sleep waits on the engine's clock, so that a hand-wound one ends it, and holds its slot but
 * nothing else. document.append is in append.c.
 *
 * Thread: the workers'.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "wire/json.h"
#include "work/loop.h"

#define SLEEP_STEPS    20  /* reports of a long sleep */
#define SLEEP_STEP_MIN 250 /* ms: a short one reports less often */

static struct job_end invalid(struct str message)
{
    struct job_end end = JOB_FAIL("invalid_payload", message);
    end.retry = false;
    return end;
}

/* A whole number of the payload; `absent` when it is not there. False: it is something else. */
static bool find_number(const struct job *job, const char *key, int64_t absent, int64_t *out)
{
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct json json;
    struct str raw = json_find(job->task.payload, key, &arena);
    *out = absent;
    bool ok = str_absent(raw);
    if (!ok) {
        json_start(&json, raw, &arena);
        ok = json_i64(&json, out, &err) && *out >= 0;
    }
    arena_fini(&arena);
    return ok;
}

/* ---- noop, echo, fail ---- */

static void start_noop(struct job *job)
{
    job_finish(job, &(struct job_end){.completed = true});
}

static void cannot_abort(struct job *job)
{
    (void)job; /* it ended when it started */
}

const struct executor by_noop = {.start = start_noop, .abort = cannot_abort, .at_once = true};

/* Raw bytes come back as payloadBase64 showed them. */
static void start_echo(struct job *job)
{
    const struct task *task = &job->task;
    struct job_end end = {.completed = true, .result = task->payload};
    SCOPED(buf_fini) struct buf raw = BUF_INIT(SIZE_MAX / 2);
    struct json_writer writer = JSON_WRITER(&raw);
    if (task->payload_raw) {
        json_add_base64(&writer, task->payload);
        end.result = buf_view(&raw);
    }
    job_finish(job, &end);
}

const struct executor by_echo = {.start = start_echo, .abort = cannot_abort, .at_once = true};

static void start_fail(struct job *job)
{
    int64_t times;
    struct job_end end = {.completed = true};
    if (!find_number(job, "times", INT64_MAX, &times)) {
        end = invalid(STR("fail takes {\"times\":n}, n a whole number from 0"));
    } else if (job->task.attempt <= times) {
        end = JOB_FAIL("failed",
                       arena_printf(&job->arena, "attempt %d fails, as asked", job->task.attempt));
    }
    job_finish(job, &end);
}

const struct executor by_fail = {.start = start_fail, .abort = cannot_abort, .at_once = true};

/* ---- sleep ---- */

struct sleep {
    struct job *job; /* NULL: it has ended */
    struct command wake, stop;
    struct arena arena;
    int64_t total_ms, slept_ms, step_ms;
    int under_way;
};

static void sleep_on(struct sleep *sleep)
{
    struct workforce *work = sleep->job->claimer->work;
    sleep->step_ms = MAX(sleep->total_ms / SLEEP_STEPS, SLEEP_STEP_MIN);
    sleep->step_ms = MIN(sleep->step_ms, sleep->total_ms - sleep->slept_ms);
    sleep->wake = (struct command){.kind = COMMAND_WAKE,
                                   .arena = &sleep->arena,
                                   .sender = sleep,
                                   .wake = {.after_ms = sleep->step_ms, .serial = work->serial++}};
    sleep->under_way++;
    desk_put(&work->desk, &sleep->wake);
}

static void start_sleep(struct job *job)
{
    int64_t ms;
    if (!find_number(job, "ms", -1, &ms) || ms < 0 || ms > TASK_DURATION_MAX_MS) {
        struct job_end end = invalid(STR("sleep needs {\"ms\":n}, n a whole number from 0"));
        job_finish(job, &end);
        return;
    }
    struct sleep *sleep = mem_new(struct sleep);
    sleep->job = job;
    sleep->total_ms = ms;
    job->state = sleep;
    sleep_on(sleep);
}

static void end_sleep(struct sleep *sleep, const struct job_end *end)
{
    struct job *job = sleep->job;
    sleep->job = NULL;
    job_finish(job, end);
}

/* A step may have ended before it could be stopped: the abort counts all the same. */
static void on_woken(struct sleep *sleep, const struct command *wake)
{
    bool aborted = wake->wake.stopped || sleep->stop.sender != NULL;
    if (wake->err.kind != ERR_NONE || aborted) {
        end_sleep(sleep, &(struct job_end){.released = true});
        return;
    }
    sleep->slept_ms += sleep->step_ms;
    double done = sleep->total_ms == 0 ? 1 : (double)sleep->slept_ms / (double)sleep->total_ms;
    job_progress(sleep->job, 100 * done, STR_NONE);
    if (sleep->slept_ms >= sleep->total_ms) {
        end_sleep(sleep, &(struct job_end){.completed = true});
    } else {
        sleep_on(sleep);
    }
}

void sleep_woken(struct command *command)
{
    struct sleep *sleep = command->sender;
    sleep->under_way--;
    if (command->kind == COMMAND_WAKE && sleep->job != NULL) {
        on_woken(sleep, command);
    }
    if (sleep->job == NULL && sleep->under_way == 0) {
        arena_fini(&sleep->arena);
        mem_free(sleep);
    }
}

static void abort_sleep(struct job *job)
{
    struct sleep *sleep = job->state;
    if (sleep->stop.sender != NULL) {
        return; /* on its way already */
    }
    sleep->stop = (struct command){.kind = COMMAND_WAKE_STOP,
                                   .arena = &sleep->arena,
                                   .sender = sleep,
                                   .wake = {.serial = sleep->wake.wake.serial}};
    sleep->under_way++;
    desk_put(&job->claimer->work->desk, &sleep->stop);
}

const struct executor by_sleep = {.start = start_sleep, .abort = abort_sleep};
