/* work/workforce.c: the thread of everybody who works inside the server.
 *
 * One libuv loop. It wakes for an answer of the engine, a note of another thread, a word of a
 * minder, output of a command, a socket of a push, or its alarm; before it sleeps again it claims
 * for whoever is free, sends what is on the desk and sets the alarm. With nothing to do it does not
 * wake at all.
 *
 * Thread: workforce_*() are for any; the rest is the workers'.
 *
 * SPDX-License-Identifier: MIT */
#include "work/workforce.h"

#include <signal.h>
#include <sys/prctl.h>

#include "base/log.h"
#include "base/mem.h"
#include "work/crew.h"

int64_t workforce_now_ms(const struct workforce *work)
{
    return (int64_t)uv_now(&work->loop);
}

/* ---- Notes ---- */

void workforce_note(struct workforce *work, struct note note)
{
    struct note *copy = mem_new(struct note);
    *copy = note;
    channel_give(&work->notes, &copy->link);
}

void workforce_abort(struct workforce *work, struct task_id id, int32_t attempt, enum abort_why why)
{
    workforce_note(work,
                   (struct note){.kind = NOTE_ABORT, .id = id, .attempt = attempt, .why = why});
}

void workforce_quiet(struct workforce *work)
{
    workforce_note(work, (struct note){.kind = NOTE_QUIET});
}

/* A task that the engine has started for us, without our asking. */
struct started {
    struct task task;
    struct arena arena;
};

void workforce_run(struct workforce *work, const struct task *task)
{
    struct started *started = mem_new(struct started);
    started->task = task_copy(&started->arena, task);
    workforce_note(work, (struct note){.kind = NOTE_RUN, .started = started});
}

void workforce_send_cloud(struct workforce *work)
{
    workforce_note(work, (struct note){.kind = NOTE_CLOUD});
}

static void note_free(struct note *note)
{
    if (note->started != NULL) {
        arena_fini(&note->started->arena);
        mem_free(note->started);
    }
    mem_free((char *)note->text.ptr);
    mem_free(note);
}

/* Told twice to come to rest, it is in the greater hurry of the two. */
static void begin_quiet(struct workforce *work, int64_t give_back_ms)
{
    work->give_back_ms = work->quiet ? MIN(work->give_back_ms, give_back_ms) : give_back_ms;
    work->quiet = true;
}

static void on_note(struct workforce *work, struct note *note)
{
    int64_t now_ms = workforce_now_ms(work);
    struct job *job;
    switch (note->kind) {
    case NOTE_ABORT:
        job = job_find(&work->desk, note->id, note->attempt);
        if (job != NULL) {
            job_abort(job, told_of(note->why));
        }
        break;
    case NOTE_QUIET:
        begin_quiet(work, now_ms + work->grace_ms);
        break;
    case NOTE_STOP:
        work->stopping = true;
        begin_quiet(work, now_ms);
        break;
    case NOTE_SAID:
        function_said(note->function, note);
        break;
    case NOTE_DONE:
        function_done(note->function);
        break;
    case NOTE_CLOUD:
        push_cloud_wake(work->push);
        break;
    case NOTE_RUN:
        job_start(push_cloud_claimer(work->push), &note->started->task);
        break;
    }
    note_free(note);
}

/* ---- Waking ---- */

static void on_answer(struct workforce *work, struct command *command)
{
    if (desk_take(&work->desk, command, workforce_now_ms(work))) {
        return;
    }
    if (command->kind == COMMAND_CLAIM || command->kind == COMMAND_CLAIM_STOP) {
        claimer_answered(command->sender, command);
    } else {
        sleep_woken(command);
    }
}

static void hear_news(struct workforce *work)
{
    struct list news;
    list_init(&news);
    channel_take(&work->news, &news);
    LIST_EACH(&news, it)
    {
        struct team_news *one = HOLDER(it, struct team_news, link);
        crew_hear(work->crew, one);
        mem_free(one);
    }
}

/* The notes are taken before the answers and read after them: an abort follows the claim that
 * started its attempt. */
static void on_wake(uv_async_t *wake)
{
    struct workforce *work = wake->data;
    struct list notes, answers;
    list_init(&notes);
    list_init(&answers);
    channel_take(&work->notes, &notes);
    channel_take(&work->answers, &answers);
    LIST_EACH(&answers, it)
    {
        list_remove(it);
        on_answer(work, HOLDER(it, struct command, link));
    }
    LIST_EACH(&notes, it)
    {
        list_remove(it);
        on_note(work, HOLDER(it, struct note, link));
    }
    if (work->crew != NULL) {
        hear_news(work);
    }
}

static void poke(void *arg)
{
    uv_async_send(&((struct workforce *)arg)->wake);
}

/* ---- Coming to rest ---- */

/* Quiet: first what runs may end by itself, then it is asked to, then it is made to. */
static int64_t tick_quiet(struct workforce *work, int64_t now_ms)
{
    if (!work->giving_back && now_ms >= work->give_back_ms) {
        work->giving_back = true;
        work->force_ms = now_ms + MIN(GIVE_BACK_MS, work->grace_ms);
        LIST_EACH(&work->desk.running, it)
        {
            job_abort(HOLDER(it, struct job, link), TOLD_RELEASE);
        }
    }
    if (work->giving_back && now_ms >= work->force_ms) {
        work->force_ms = INT64_MAX;
        LIST_EACH(&work->desk.running, it)
        {
            job_kill(HOLDER(it, struct job, link));
        }
        return -1;
    }
    int64_t at_ms = work->giving_back ? work->force_ms : work->give_back_ms;
    return at_ms == INT64_MAX ? -1 : at_ms - now_ms;
}

static bool rests(const struct workforce *work)
{
    for (size_t i = 0; i < work->claimers_count; i++) {
        if (work->claimers[i].asked || work->claimers[i].stop.sender != NULL) {
            return false;
        }
    }
    return desk_idle(&work->desk);
}

static void come_to_rest(struct workforce *work)
{
    void (*rested)(void *) = work->rested;
    work->rested = NULL;
    if (rested != NULL) {
        rested(work->rested_arg);
    }
    if (work->stopping && !work->done) {
        work->done = true;
        uv_stop(&work->loop);
    }
}

/* ---- Sleeping ---- */

static void on_alarm(uv_timer_t *alarm)
{
    (void)alarm; /* what is due is looked at before the loop sleeps again */
}

static void before_sleep(uv_prepare_t *prepare)
{
    struct workforce *work = prepare->data;
    int64_t now_ms = workforce_now_ms(work);
    int64_t next = work->quiet ? tick_quiet(work, now_ms) : -1;
    for (size_t i = 0; i < work->claimers_count; i++) {
        next = job_sooner(next, claimer_tick(&work->claimers[i], now_ms));
        next = job_sooner(next, function_tick(&work->claimers[i], now_ms));
    }
    if (work->stopping && !work->desk.closing) {
        desk_close(&work->desk);
    }
    next = job_sooner(next, desk_tick(&work->desk, now_ms));
    if (next < 0) {
        uv_timer_stop(&work->alarm);
    } else {
        uv_timer_start(&work->alarm, on_alarm, (uint64_t)next, 0);
    }
    if (work->quiet && rests(work)) {
        come_to_rest(work);
    }
}

/* ---- Life ---- */

struct workforce *workforce_new(void)
{
    struct workforce *work = mem_new(struct workforce);
    mem_must(uv_loop_init(&work->loop) == 0 &&
                 uv_async_init(&work->loop, &work->wake, on_wake) == 0,
             "the workers' loop");
    uv_prepare_init(&work->loop, &work->before_sleep);
    uv_timer_init(&work->loop, &work->alarm);
    work->wake.data = work->before_sleep.data = work;
    uv_prepare_start(&work->before_sleep, before_sleep);
    channel_init(&work->answers, poke, work);
    channel_init(&work->notes, poke, work);
    channel_init(&work->news, poke, work);
    work->serial = CLAIM_SERIALS;
    return work;
}

struct channel *workforce_news(struct workforce *work)
{
    return &work->news;
}

static void copy_options(struct workforce *work, const struct workforce_options *options)
{
    struct arena *arena = &work->arena;
    work->starter = options->starter;
    work->grace_ms = options->grace_ms;
    work->traced = options->traced;
    work->rested = options->rested;
    work->rested_arg = options->rested_arg;
    work->documents = arena_printf(arena, STR_FMT "/documents", STR_ARG(options->data));
    work->queues = arena_array(arena, struct str, options->queues_count);
    work->queues_count = options->queues_count;
    for (size_t i = 0; i < options->queues_count; i++) {
        work->queues[i] = arena_str(arena, options->queues[i]);
    }
}

static bool add_handlers(struct handlers *handlers, const struct workforce_options *options,
                         struct err *err)
{
    for (size_t i = 0; i < options->services_count; i++) {
        if (!handlers_add_service(handlers, &options->services[i], err)) {
            return false;
        }
    }
    for (size_t i = 0; i < options->handlers_count; i++) {
        if (!handlers_load(handlers, options->handlers[i], err)) {
            return false;
        }
    }
    for (size_t i = 0; i < options->commands_count; i++) {
        if (!handlers_add_command(handlers, &options->commands[i], err)) {
            return false;
        }
    }
    handlers_seal(handlers);
    return true;
}

static struct claimer *add_claimer(struct workforce *work, const struct executor *by, size_t number)
{
    struct claimer *claimer = &work->claimers[work->claimers_count++];
    claimer->work = work;
    claimer->by = by;
    claimer->number = number;
    claimer->look = true;
    return claimer;
}

static bool add_claimers(struct workforce *work, const struct workforce_options *options,
                         struct err *err)
{
    size_t seats = options->llm == NULL ? 0 : CREW_SEATS, first = options->workers;
    const struct push_settings *push = &options->push;
    work->claimers = arena_array(&work->arena, struct claimer, first + seats + 2);
    for (size_t i = 0; i < options->workers; i++) {
        slot_init(add_claimer(work, &by_slot, i + 1));
    }
    for (size_t i = 0; i < seats; i++) {
        add_claimer(work, &by_mate, i + 1);
    }
    if (seats > 0 && !crew_open(work, options, &work->claimers[first], err)) {
        return false;
    }
    struct claimer *pushes = push->handlers_count > 0 ? add_claimer(work, &by_push, 1) : NULL;
    struct claimer *clouds = push->cloud ? add_claimer(work, &by_cloud, 1) : NULL;
    return (pushes == NULL && clouds == NULL) || push_open(work, push, pushes, clouds, err);
}

/* Children inherit what this thread is: it gains no privileges. A signal that the kernel sends for
 * a pipe or connection that was closed stays with the thread that wrote and is not wanted. */
static void *run(void *arg)
{
    struct workforce *work = arg;
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    pthread_setname_np(pthread_self(), "workers");
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    uv_run(&work->loop, UV_RUN_DEFAULT);
    return NULL;
}

bool workforce_start(struct workforce *work, const struct workforce_options *options,
                     struct err *err)
{
    copy_options(work, options);
    desk_init(&work->desk, options->engine, &work->answers);
    handlers_init(&work->handlers, &work->arena);
    if (options->workers > WORKERS_MAX) {
        return err_set(err, ERR_INVALID, "at most %d workers", WORKERS_MAX);
    }
    if (!add_handlers(&work->handlers, options, err) || !add_claimers(work, options, err)) {
        return false;
    }
    /* Before the thread starts: whatever is given to the engine afterwards finds the claims there.
     */
    for (size_t i = 0; i < work->claimers_count; i++) {
        claimer_tick(&work->claimers[i], workforce_now_ms(work));
    }
    desk_send(&work->desk);
    int failed = pthread_create(&work->thread, NULL, run, work);
    if (failed != 0) { /* nothing else works then: the engine still has the claims */
        work->stuck = true;
        return err_set(err, ERR_INTERNAL, "start the workers' thread: %s", strerror(failed));
    }
    work->started = true;
    return true;
}

void workforce_stop(struct workforce *work)
{
    if (work != NULL && work->started) {
        workforce_note(work, (struct note){.kind = NOTE_STOP});
        pthread_join(work->thread, NULL);
        work->started = false;
    }
}

void workforce_free(struct workforce *work)
{
    struct list late;
    if (work == NULL || work->stuck) {
        return; /* a run function still uses all of it; it ends with the process */
    }
    for (size_t i = 0; i < work->claimers_count; i++) {
        function_thread_end(&work->claimers[i]);
        arena_fini(&work->claimers[i].arena);
    }
    crew_close(work->crew);
    push_close(work->push);
    uv_close((uv_handle_t *)&work->wake, NULL);
    uv_close((uv_handle_t *)&work->before_sleep, NULL);
    uv_close((uv_handle_t *)&work->alarm, NULL);
    uv_run(&work->loop, UV_RUN_DEFAULT);
    uv_loop_close(&work->loop);
    list_init(&late);
    channel_take(&work->notes, &late);
    LIST_EACH(&late, it)
    {
        note_free(HOLDER(it, struct note, link));
    }
    list_init(&late);
    channel_take(&work->news, &late);
    LIST_EACH(&late, it)
    {
        mem_free(HOLDER(it, struct team_news, link));
    }
    channel_fini(&work->answers);
    channel_fini(&work->notes);
    channel_fini(&work->news);
    handlers_fini(&work->handlers);
    arena_fini(&work->arena);
    mem_free(work);
}

struct workforce_health workforce_health(const struct workforce *work)
{
    return (struct workforce_health){.lost = work->lost, .pushing = work->pushing};
}
