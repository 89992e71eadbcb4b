/* work/pool.c: the thread that runs the workers inside the server.
 *
 * One libuv loop. It wakes for an answer of the engine, a note of another thread, a word of a
 * minder, output of a command, or its alarm; before it sleeps again it sends what is on the desk
 * and sets the alarm. With nothing to do it does not wake at all.
 *
 * Thread: exec_*() and pool_note() are for any; the rest is the pool's.
 *
 * SPDX-License-Identifier: MIT */
#include "work/pool.h"

#include <signal.h>
#include <sys/prctl.h>

#include "base/log.h"
#include "base/mem.h"

struct exec {
    struct pool pool;
};

int64_t pool_now_ms(const struct pool *pool)
{
    return (int64_t)uv_now(&pool->loop);
}

/* ---- Notes ---- */

void pool_note(struct pool *pool, struct note note)
{
    struct note *copy = mem_new(struct note);
    *copy = note;
    channel_give(&pool->notes, &copy->link);
}

void exec_abort(struct exec *exec, struct task_id id, int32_t attempt, enum abort_why why)
{
    pool_note(&exec->pool,
              (struct note){.kind = NOTE_ABORT, .id = id, .attempt = attempt, .why = why});
}

void exec_quiet(struct exec *exec)
{
    pool_note(&exec->pool, (struct note){.kind = NOTE_QUIET});
}

static void on_abort(struct pool *pool, const struct note *note)
{
    struct job *job = job_find(&pool->desk, note->id, note->attempt);
    if (job != NULL) {
        slot_abort(job->user, told_of(note->why));
    }
}

/* The engine knows better than we do who holds the task: what is done here is for nothing. */
static void on_lost(struct job *job)
{
    slot_abort(job->user, TOLD_RELEASE);
}

static void on_quiet(struct pool *pool, int64_t give_back_ms)
{
    pool->give_back_ms = pool->quiet ? MIN(pool->give_back_ms, give_back_ms) : give_back_ms;
    pool->quiet = true;
    for (size_t i = 0; i < pool->slots_count; i++) {
        slot_unclaim(&pool->slots[i]);
    }
}

static void on_note(struct pool *pool, struct note *note)
{
    int64_t now_ms = pool_now_ms(pool);
    switch (note->kind) {
    case NOTE_ABORT:
        on_abort(pool, note);
        break;
    case NOTE_QUIET:
        on_quiet(pool, now_ms + pool->grace_ms);
        break;
    case NOTE_STOP:
        pool->stopping = true;
        on_quiet(pool, now_ms);
        break;
    case NOTE_SAID:
        function_said(note->function, note);
        break;
    case NOTE_DONE:
        function_done(note->function);
        break;
    }
    mem_free((char *)note->text.ptr);
    mem_free(note);
}

/* ---- Waking ---- */

static void on_answer(struct pool *pool, struct command *command)
{
    struct slot *slot = command->sender;
    if (desk_take(&pool->desk, command, pool_now_ms(pool))) {
        return;
    }
    if (command->kind == COMMAND_CLAIM) {
        slot_answered(slot, command);
    } else if (command->kind == COMMAND_CLAIM_STOP) {
        slot->stop.sender = NULL;
    } else {
        sleep_woken(command);
    }
}

/* The notes are taken before the answers and read after them: an abort follows the claim that
 * started its attempt. */
static void on_wake(uv_async_t *wake)
{
    struct pool *pool = wake->data;
    struct list notes, answers;
    list_init(&notes);
    list_init(&answers);
    channel_take(&pool->notes, &notes);
    channel_take(&pool->answers, &answers);
    LIST_EACH(&answers, it)
    {
        list_remove(it);
        on_answer(pool, HOLDER(it, struct command, link));
    }
    LIST_EACH(&notes, it)
    {
        list_remove(it);
        on_note(pool, HOLDER(it, struct note, link));
    }
}

static void poke(void *arg)
{
    uv_async_send(&((struct pool *)arg)->wake);
}

/* ---- Coming to rest ---- */

static bool rests(const struct pool *pool)
{
    for (size_t i = 0; i < pool->slots_count; i++) {
        const struct slot *slot = &pool->slots[i];
        bool left = slot->state == SLOT_BUSY && slot->attempt.job == NULL;
        if ((slot->state != SLOT_IDLE && !left) || slot->stop.sender != NULL) {
            return false;
        }
    }
    return desk_idle(&pool->desk);
}

static void close_all(struct pool *pool)
{
    uv_close((uv_handle_t *)&pool->wake, NULL);
    uv_close((uv_handle_t *)&pool->before_sleep, NULL);
    uv_close((uv_handle_t *)&pool->alarm, NULL);
}

static void come_to_rest(struct pool *pool)
{
    void (*rested)(void *) = pool->rested;
    pool->rested = NULL;
    if (rested != NULL) {
        rested(pool->rested_arg);
    }
    if (pool->stopping && !pool->done) {
        pool->done = true;
        uv_stop(&pool->loop);
    }
}

/* Quiet: first what runs may end by itself, then it is asked to, then it is made to. */
static int64_t tick_quiet(struct pool *pool, int64_t now_ms)
{
    if (!pool->giving_back && now_ms >= pool->give_back_ms) {
        pool->giving_back = true;
        pool->force_ms = now_ms + MIN(GIVE_BACK_MS, pool->grace_ms);
        for (size_t i = 0; i < pool->slots_count; i++) {
            slot_abort(&pool->slots[i], TOLD_RELEASE);
        }
    }
    if (pool->giving_back && now_ms >= pool->force_ms) {
        pool->force_ms = INT64_MAX;
        for (size_t i = 0; i < pool->slots_count; i++) {
            slot_force(&pool->slots[i]);
        }
        return -1;
    }
    int64_t at_ms = pool->giving_back ? pool->force_ms : pool->give_back_ms;
    return at_ms == INT64_MAX ? -1 : at_ms - now_ms;
}

/* ---- Sleeping ---- */

static int64_t sooner(int64_t a, int64_t b) /* -1: never */
{
    return a < 0 ? b : b < 0 ? a : MIN(a, b);
}

static void on_alarm(uv_timer_t *alarm)
{
    (void)alarm; /* what is due is looked at before the loop sleeps again */
}

static void before_sleep(uv_prepare_t *prepare)
{
    struct pool *pool = prepare->data;
    int64_t now_ms = pool_now_ms(pool);
    int64_t next = pool->quiet ? tick_quiet(pool, now_ms) : -1;
    for (size_t i = 0; i < pool->slots_count; i++) {
        next = sooner(next, slot_tick(&pool->slots[i], now_ms));
    }
    if (pool->stopping && !pool->desk.closing) {
        desk_close(&pool->desk);
    }
    next = sooner(next, desk_tick(&pool->desk, now_ms));
    if (next < 0) {
        uv_timer_stop(&pool->alarm);
    } else {
        uv_timer_start(&pool->alarm, on_alarm, (uint64_t)next, 0);
    }
    if (pool->quiet && rests(pool)) {
        come_to_rest(pool);
    }
}

/* ---- Life ---- */

/* Children inherit what this thread is: it gains no privileges. A signal that the kernel sends for
 * a pipe that was closed stays with the thread that wrote and is not wanted. */
static void prepare_thread(void)
{
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    pthread_setname_np(pthread_self(), "workers");
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void *run(void *arg)
{
    struct pool *pool = arg;
    prepare_thread();
    uv_run(&pool->loop, UV_RUN_DEFAULT);
    if (!pool->stuck) {
        close_all(pool);
        uv_run(&pool->loop, UV_RUN_DEFAULT);
        uv_loop_close(&pool->loop);
    }
    return NULL;
}

static void copy_options(struct pool *pool, const struct exec_options *options)
{
    struct arena *arena = &pool->arena;
    pool->engine = options->engine;
    pool->starter = options->starter;
    pool->grace_ms = options->grace_ms;
    pool->rested = options->rested;
    pool->rested_arg = options->rested_arg;
    pool->documents = arena_printf(arena, STR_FMT "/documents", STR_ARG(options->data));
    pool->serial = JOB_SERIALS;
    pool->queues = arena_array(arena, struct str, options->queues_count);
    pool->queues_count = options->queues_count;
    for (size_t i = 0; i < options->queues_count; i++) {
        pool->queues[i] = arena_str(arena, options->queues[i]);
    }
}

static bool add_handlers(struct pool *pool, const struct exec_options *options, struct err *err)
{
    handlers_init(&pool->handlers, &pool->arena);
    for (size_t i = 0; i < options->services_count; i++) {
        if (!handlers_add_service(&pool->handlers, &options->services[i], err)) {
            return false;
        }
    }
    for (size_t i = 0; i < options->handlers_count; i++) {
        if (!handlers_load(&pool->handlers, options->handlers[i], err)) {
            return false;
        }
    }
    for (size_t i = 0; i < options->commands_count; i++) {
        if (!handlers_add_command(&pool->handlers, &options->commands[i], err)) {
            return false;
        }
    }
    handlers_seal(&pool->handlers);
    return true;
}

static void init_loop(struct pool *pool)
{
    mem_must(uv_loop_init(&pool->loop) == 0 &&
                 uv_async_init(&pool->loop, &pool->wake, on_wake) == 0,
             "the pool's loop");
    uv_prepare_init(&pool->loop, &pool->before_sleep);
    uv_timer_init(&pool->loop, &pool->alarm);
    pool->wake.data = pool->before_sleep.data = pool;
    uv_prepare_start(&pool->before_sleep, before_sleep);
    channel_init(&pool->answers, poke, pool);
    channel_init(&pool->notes, poke, pool);
    desk_init(&pool->desk, pool->engine, &pool->answers);
    pool->desk.lost = on_lost;
}

static void add_slots(struct pool *pool, size_t count)
{
    pool->slots = arena_array(&pool->arena, struct slot, count);
    pool->slots_count = count;
    for (size_t i = 0; i < count; i++) {
        slot_init(&pool->slots[i], pool, i + 1);
    }
}

/* Before the thread starts: whatever is given to the engine afterwards finds the claims there. */
static void claim_first(struct pool *pool)
{
    for (size_t i = 0; i < pool->slots_count; i++) {
        slot_claim(&pool->slots[i]);
    }
    desk_send(&pool->desk);
}

static void free_all(struct exec *exec)
{
    handlers_fini(&exec->pool.handlers);
    arena_fini(&exec->pool.arena);
    mem_free(exec);
}

bool exec_start(const struct exec_options *options, struct exec **out, struct err *err)
{
    struct exec *exec = mem_new(struct exec);
    struct pool *pool = &exec->pool;
    copy_options(pool, options);
    if (options->workers > EXEC_WORKERS_MAX) {
        free_all(exec);
        return err_set(err, ERR_INVALID, "at most %d workers", EXEC_WORKERS_MAX);
    }
    if (!add_handlers(pool, options, err)) {
        free_all(exec);
        return false;
    }
    add_slots(pool, options->workers);
    init_loop(pool);
    claim_first(pool);
    int failed = pthread_create(&pool->thread, NULL, run, pool);
    if (failed != 0) { /* nothing else works then: what the loop holds is left to the process */
        return err_set(err, ERR_INTERNAL, "start the workers' thread: %s", strerror(failed));
    }
    *out = exec;
    return true;
}

void exec_stop(struct exec *exec)
{
    if (exec == NULL) {
        return;
    }
    struct pool *pool = &exec->pool;
    pool_note(pool, (struct note){.kind = NOTE_STOP});
    pthread_join(pool->thread, NULL);
    if (pool->stuck) {
        return; /* a run function still uses all of it; it ends with the process */
    }
    for (size_t i = 0; i < pool->slots_count; i++) {
        slot_fini(&pool->slots[i]);
    }
    channel_fini(&pool->answers);
    channel_fini(&pool->notes);
    free_all(exec);
}

struct exec_health exec_health(const struct exec *exec)
{
    return (struct exec_health){
        .workers = exec->pool.slots_count, .busy = exec->pool.busy, .lost = exec->pool.lost};
}

const struct str *exec_types(const struct exec *exec, size_t *count)
{
    *count = exec->pool.handlers.count;
    return exec->pool.handlers.types;
}
