/* work/slot.c: one worker of the pool: claims a task, has it run, tells how it went, claims again.
 *
 * Thread: the pool's.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>

#include "base/log.h"
#include "work/pool.h"

void slot_init(struct slot *slot, struct pool *pool, size_t number)
{
    const struct handlers *handlers = &pool->handlers;
    slot->pool = pool;
    slot->number = number;
    slot->workers = arena_array(&pool->arena, struct str, handlers->count);
    for (int kind = 0; kind < WORKER_KINDS; kind++) {
        snprintf(slot->names[kind], WORKER_NAME_MAX, "errand:%s:%zu",
                 task_worker_kind_name((enum worker_kind)kind), number);
    }
    for (size_t i = 0; i < handlers->count; i++) {
        slot->workers[i] = str_of(slot->names[handlers->at[i].kind]);
    }
}

void slot_fini(struct slot *slot)
{
    function_thread_end(slot);
    arena_fini(&slot->arena);
}

/* ---- Claiming ---- */

void slot_claim(struct slot *slot)
{
    struct pool *pool = slot->pool;
    arena_clear(&slot->arena);
    slot->state = SLOT_CLAIMING;
    slot->claim = (struct command){.kind = COMMAND_CLAIM,
                                   .arena = &slot->arena,
                                   .sender = slot,
                                   .claim = {.worker = str_of(slot->names[WORKER_RUN]),
                                             .workers = slot->workers,
                                             .types = pool->handlers.types,
                                             .types_count = pool->handlers.count,
                                             .quick = pool->handlers.quick,
                                             .queues = pool->queues,
                                             .queues_count = pool->queues_count,
                                             .any_queue = pool->queues_count == 0,
                                             .max = CLAIM_QUICK_MAX,
                                             .wait = true,
                                             .serial = pool->serial++}};
    desk_put(&pool->desk, &slot->claim);
}

void slot_unclaim(struct slot *slot)
{
    if (slot->state == SLOT_PAUSED) {
        slot->state = SLOT_IDLE;
    }
    if (slot->state != SLOT_CLAIMING || slot->stop.sender != NULL) {
        return;
    }
    slot->stop = (struct command){.kind = COMMAND_CLAIM_STOP,
                                  .arena = &slot->pool->arena,
                                  .sender = slot,
                                  .claim_stop = {.serial = slot->claim.claim.serial}};
    desk_put(&slot->pool->desk, &slot->stop);
}

static void pause_claim(struct slot *slot, int64_t pause_ms)
{
    slot->state = SLOT_PAUSED;
    slot->again_ms = pool_now_ms(slot->pool) + pause_ms;
}

static void start(struct slot *slot, const struct task *task)
{
    struct pool *pool = slot->pool;
    struct job *job = job_new(&pool->desk, task, pool_now_ms(pool));
    slot->state = SLOT_BUSY;
    slot->told_ms = 0;
    slot->attempt = (struct attempt){.pool = pool,
                                     .slot = slot,
                                     .job = job,
                                     .handler = handlers_find(&pool->handlers, task->type)};
    job->user = slot;
    pool->busy++;
    if (pool->quiet || slot->attempt.handler == NULL) {
        attempt_end(&slot->attempt, &(struct job_end){.released = true});
    } else {
        slot->attempt.handler->by->start(&slot->attempt);
    }
}

/* All but the last are done when start() returns: still one at a time. */
static void start_all(struct slot *slot, const struct command_claim *claim)
{
    slot->starting = true;
    for (size_t i = 0; i < claim->count; i++) {
        assert(slot->state == SLOT_IDLE);
        start(slot, &claim->tasks[i]);
    }
    slot->starting = false;
    if (slot->state == SLOT_IDLE && !slot->pool->quiet) {
        slot_claim(slot);
    }
}

void slot_answered(struct slot *slot, struct command *claim)
{
    slot->state = SLOT_IDLE;
    if (claim->err.kind == ERR_NONE && claim->claim.count > 0) {
        start_all(slot, &claim->claim);
    } else if (slot->pool->quiet) {
        return;
    } else if (claim->err.kind != ERR_NONE) {
        pause_claim(slot, CLAIM_PAUSE_MS);
    } else {
        slot_claim(slot);
    }
}

/* ---- Ending ---- */

static void found(struct slot *slot)
{
    if (slot->lost) {
        slot->lost = false;
        slot->pool->lost--;
        log_info("worker %zu is back: its run function has returned", slot->number);
    }
}

void attempt_end(struct attempt *attempt, const struct job_end *end)
{
    struct slot *slot = attempt->slot;
    struct job *job = attempt->job;
    found(slot);
    attempt->job = NULL;
    attempt->state = NULL;
    if (job != NULL) {
        job_finish(job, end);
    }
    slot->pool->busy--;
    slot->state = SLOT_IDLE;
    if (slot->lacks && !slot->pool->quiet) {
        pause_claim(slot, JOB_SHORT_MS);
    } else if (!slot->pool->quiet && !slot->starting) {
        slot_claim(slot);
    }
    slot->lacks = false;
}

void attempt_put_off(struct attempt *attempt, const char *what)
{
    struct pool *pool = attempt->pool;
    if (!pool->is_short) {
        log_error("tasks of type " STR_FMT " cannot be started here: %s; they are given back",
                  STR_ARG(attempt->handler->type), what);
    }
    pool->is_short = true;
    attempt->slot->lacks = true;
    attempt_end(attempt, &(struct job_end){.released = true, .delay_ms = JOB_SHORT_MS});
}

/* ---- Stopping ---- */

void slot_abort(struct slot *slot, enum job_told why)
{
    struct attempt *attempt = &slot->attempt;
    if (slot->state != SLOT_BUSY || attempt->job == NULL) {
        return;
    }
    job_tell(attempt->job, why);
    if (slot->told_ms == 0) {
        slot->told_ms = pool_now_ms(slot->pool);
    }
    attempt->handler->by->abort(attempt);
}

/* A run function cannot be made to stop: its task is given back without it. One that the engine has
 * given up keeps its document until this process has ended. */
static void leave_behind(struct slot *slot)
{
    struct job *job = slot->attempt.job;
    slot->attempt.job = NULL;
    slot->pool->stuck = true;
    log_warn("worker %zu: its run function does not stop and ends with the server", slot->number);
    if (slot->lost || job->lost) {
        job_drop(job);
    } else {
        job_finish(job, &(struct job_end){.released = true});
    }
}

void slot_force(struct slot *slot)
{
    struct attempt *attempt = &slot->attempt;
    if (slot->state != SLOT_BUSY || attempt->job == NULL) {
        return;
    }
    if (attempt->handler->by->kill != NULL) {
        attempt->handler->by->kill(attempt);
    } else if (attempt->handler->by == &exec_function) {
        leave_behind(slot);
    }
}

/* ---- Time ---- */

static int64_t watch_told(struct slot *slot, int64_t now_ms)
{
    int64_t until_ms = slot->told_ms + slot->pool->grace_ms;
    if (slot->told_ms == 0 || slot->lost || slot->attempt.handler->by != &exec_function) {
        return -1;
    }
    if (now_ms < until_ms) {
        return until_ms - now_ms;
    }
    slot->lost = true;
    slot->pool->lost++;
    log_warn("worker %zu is lost until its run function returns: it was asked to stop and did not",
             slot->number);
    return -1;
}

int64_t slot_tick(struct slot *slot, int64_t now_ms)
{
    if (slot->state == SLOT_BUSY) {
        return watch_told(slot, now_ms);
    }
    if (slot->state != SLOT_PAUSED) {
        return -1;
    }
    if (now_ms < slot->again_ms) {
        return slot->again_ms - now_ms;
    }
    slot_claim(slot);
    return -1;
}
