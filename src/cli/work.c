/* cli/work.c: `errand work`: a command for each task, as a remote worker. See work.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/work.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/verb.h"

#define CLAIM_WAIT_MS (20 * SECOND_MS)
#define FLUSH_MS      (30 * SECOND_MS) /* for the last results to arrive */
#define STOP_FLUSH_MS (5 * SECOND_MS)  /* when told twice */

static const struct work_options work_defaults = {
    .jobs = 1, .lease_ms = WORK_LEASE_MS, .grace_ms = WORK_GRACE_MS};

/* A job on its way from the claimer to the main thread. */
struct handed {
    struct link link;
    errand_job *job;
};

/* ---- Claiming: a thread of its own, because a claim waits ---- */

static void wake(void *arg)
{
    struct work *work = arg;
    uv_async_send(&work->wake);
}

/* As many as may be started now, at least one; 0: nothing more is wanted. */
static size_t free_slots(struct work *work)
{
    size_t count = 1;
    while (sem_wait(&work->free) != 0) {
    }
    while (count < WORK_JOBS_MAX && sem_trywait(&work->free) == 0) {
        count++;
    }
    return atomic_load(&work->quiet) ? 0 : count;
}

static const char **names_of(struct arena *arena, const struct option_many *many)
{
    const char **names = arena_array(arena, const char *, many->count + 1);
    for (size_t i = 0; i < many->count; i++) {
        names[i] = many->at[i].ptr;
    }
    return names;
}

static struct errand_wish wish_of(struct work *work)
{
    const struct work_options *options = work->options;
    struct errand_wish wish = ERRAND_WISH;
    wish.types = names_of(&work->arena, &options->types);
    wish.types_count = options->types.count;
    wish.queues = names_of(&work->arena, &options->queues);
    wish.queues_count = options->queues.count;
    wish.wait_ms = CLAIM_WAIT_MS;
    wish.lease_ms = options->lease_ms;
    return wish;
}

static void hand_over(struct work *work, errand_job **jobs, int count)
{
    for (int i = 0; i < count; i++) {
        struct handed *handed = mem_new(struct handed);
        handed->job = jobs[i];
        channel_give(&work->claimed, &handed->link);
    }
}

/* Is it worth trying again? A server that is away comes back, one that refuses does not. */
static bool goes_on(struct work *work, const struct errand_error *error, bool *away)
{
    if (atomic_load(&work->quiet) || errand_client_signal(work->client) == ERRAND_STOP) {
        return false;
    }
    bool refused = error->status >= 400 && error->status < 500 && error->status != 429;
    work->refused = refused;
    work->error = *error;
    if (!refused && !*away) {
        log_warn("the server is away, trying on: %s", error->message);
    }
    *away = true;
    return !refused;
}

static void *claim_all(void *arg)
{
    struct work *work = arg;
    const struct errand_wish wish = wish_of(work);
    errand_job *jobs[WORK_JOBS_MAX];
    struct errand_error error;
    bool away = false, on = true;
    size_t slots;
    while (on && (slots = free_slots(work)) > 0) {
        int count = errand_claim(work->client, &wish, jobs, slots, &error);
        for (size_t i = (size_t)MAX(count, 0); i < slots; i++) {
            sem_post(&work->free);
        }
        hand_over(work, jobs, count);
        on = count >= 0 || goes_on(work, &error, &away);
        if (count >= 0 && away) {
            log_info("the server is back");
            away = false;
        }
    }
    atomic_store(&work->claimer_ended, true);
    wake(work);
    return NULL;
}

/* ---- The main thread ---- */

static void begin_quiet(struct work *work)
{
    atomic_store(&work->quiet, true);
    errand_client_interrupt(work->client);
    sem_post(&work->free); /* the claimer may be waiting for a command to end */
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

/* With nothing left to do the loop is let run out. */
static void end_if_done(struct work *work)
{
    if (atomic_load(&work->claimer_ended) && list_empty(&work->runs)) {
        close_handle((uv_handle_t *)&work->wake);
        close_handle((uv_handle_t *)&work->term);
        close_handle((uv_handle_t *)&work->interrupt);
        close_handle((uv_handle_t *)&work->grace);
    }
}

void work_rested(struct work *work)
{
    sem_post(&work->free);
    end_if_done(work);
}

static void take_claimed(struct work *work)
{
    struct list handed;
    list_init(&handed);
    (void)channel_take(&work->claimed, &handed);
    LIST_EACH(&handed, link)
    {
        struct handed *one = HOLDER(link, struct handed, link);
        if (atomic_load(&work->quiet)) {
            errand_job_release(one->job, 0);
        } else {
            work_run_start(work, one->job);
        }
        mem_free(one);
    }
}

static void give_back_all(struct work *work)
{
    work->stopping = true;
    LIST_EACH(&work->runs, link)
    {
        work_run_give_back(HOLDER(link, struct work_run, link));
    }
}

static void on_grace_ended(uv_timer_t *timer)
{
    give_back_all(timer->data);
}

static void obey(struct work *work)
{
    if (errand_client_signal(work->client) == ERRAND_STOP && !atomic_load(&work->quiet)) {
        log_info("the server asks to stop: claiming no more");
        begin_quiet(work);
        uv_timer_start(&work->grace, on_grace_ended, (uint64_t)work->options->grace_ms, 0);
    }
}

static void on_wake(uv_async_t *async)
{
    struct work *work = async->data;
    bool ended = atomic_load(&work->claimer_ended); /* before looking: nothing comes after it */
    obey(work);
    take_claimed(work);
    LIST_EACH(&work->runs, link)
    {
        struct work_run *run = HOLDER(link, struct work_run, link);
        enum errand_stop why = run->asked ? ERRAND_GO_ON : errand_job_stop(run->job);
        if (why != ERRAND_GO_ON) {
            log_info("task %s: %s", errand_job_id(run->job),
                     why == ERRAND_CANCELLED ? "cancelled" : "its lease was lost");
            work_run_stop(run);
        }
    }
    if (ended) {
        end_if_done(work);
    }
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct work *work = handle->data;
    (void)number;
    if (!atomic_load(&work->quiet)) {
        log_info("claiming no more; once again gives back what runs");
        begin_quiet(work);
        return;
    }
    give_back_all(work);
}

static void on_told(enum errand_signal signal, void *arg)
{
    static const char *const meaning[] = {
        [ERRAND_WORK] = "the server has nothing against claiming any more",
        [ERRAND_QUIET] = "the server asks to claim no more for now",
        [ERRAND_STOP] = NULL,
    };
    if (meaning[signal] != NULL) {
        log_info("%s", meaning[signal]);
    }
    wake(arg);
}

static void on_stop(errand_job *job, enum errand_stop why, void *arg)
{
    (void)job, (void)why;
    wake(arg);
}

static void on_finished(const char *id, const struct errand_error *error, void *arg)
{
    (void)arg;
    if (error->status != 200) {
        log_warn("task %s: the server did not take the outcome: %s", id, error->message);
    }
}

/* ---- Setting up ---- */

static void add_env(struct work *work, struct str name, const char *value)
{
    if (value != NULL) {
        struct str line = arena_printf(&work->arena, STR_FMT "=%s", STR_ARG(name), value);
        work->env[work->env_count++] = (char *)line.ptr;
    }
}

/* A clean environment: three names of ours, and what --env asks for. */
static void build_env(struct work *work)
{
    static const char *const usual[] = {"PATH", "HOME", "LANG"};
    const struct option_many *env = &work->options->env;
    work->env = arena_array(&work->arena, char *, ARRAY_LEN(usual) + env->count);
    for (size_t i = 0; i < ARRAY_LEN(usual); i++) {
        add_env(work, str_of(usual[i]), getenv(usual[i]));
    }
    for (size_t i = 0; i < env->count; i++) {
        struct str value = env->at[i];
        struct str name = str_cut(&value, '=');
        const char *given = str_absent(value) ? getenv(arena_c_text(&work->arena, name))
                                              : value.ptr; /* argv's: a NUL follows */
        add_env(work, name, given);
    }
}

static void build_argv(struct work *work, const struct words *words)
{
    work->argv = arena_array(&work->arena, char *, words->count + 1);
    for (size_t i = 0; i < words->count; i++) {
        work->argv[i] = (char *)words->at[i].ptr;
    }
}

static bool open_client(struct work *work, struct err *err)
{
    struct remote_options to = work->options->remote;
    struct errand_options options = ERRAND_OPTIONS;
    struct errand_error error;
    remote_resolve(&to);
    options.url = to.url.ptr;
    options.token = to.token.ptr;
    options.cacert = to.cacert.ptr;
    options.worker = work->options->worker.ptr;
    options.on_stop = on_stop;
    options.on_finished = on_finished;
    options.on_signal = on_told;
    options.arg = work;
    work->client = errand_client_open(&options, &error);
    return work->client != NULL || err_set(err, ERR_INVALID, "%s", error.message);
}

static void open_loop(struct work *work)
{
    mem_must(uv_loop_init(&work->loop) == 0 &&
                 uv_async_init(&work->loop, &work->wake, on_wake) == 0 &&
                 uv_signal_init(&work->loop, &work->term) == 0 &&
                 uv_signal_init(&work->loop, &work->interrupt) == 0,
             "the loop");
    uv_timer_init(&work->loop, &work->grace);
    work->wake.data = work->term.data = work->interrupt.data = work->grace.data = work;
    list_init(&work->runs);
    channel_init(&work->claimed, wake, work);
    sem_init(&work->free, 0, (unsigned)work->options->jobs);
}

static void close_loop(struct work *work)
{
    uv_loop_close(&work->loop);
    channel_fini(&work->claimed);
    sem_destroy(&work->free);
}

/* Nothing was started: the handles are closed, and that is all. */
static void end_early(struct work *work)
{
    atomic_store(&work->claimer_ended, true);
    end_if_done(work);
    uv_run(&work->loop, UV_RUN_DEFAULT);
    close_loop(work);
    starter_close(work->starter);
    arena_fini(&work->arena);
}

static void run_loop(struct work *work)
{
    uv_signal_start(&work->term, on_signal, SIGTERM);
    uv_signal_start(&work->interrupt, on_signal, SIGINT);
    if (pthread_create(&work->claimer, NULL, claim_all, work) != 0) {
        log_error("no thread can be started");
        abort();
    }
    log_info("taking " STR_FMT "%s, %d at once", STR_ARG(work->options->types.at[0]),
             work->options->types.count > 1 ? " and more" : "", (int)work->options->jobs);
    uv_run(&work->loop, UV_RUN_DEFAULT);
    pthread_join(work->claimer, NULL);
    if (errand_client_flush(work->client, work->stopping ? STOP_FLUSH_MS : FLUSH_MS) != 0) {
        log_warn("the server is away: what ended last will be done again");
    }
}

static enum exit_status outcome(const struct work *work)
{
    struct err err = ERR_INIT;
    if (!work->refused) {
        return EXIT_OK;
    }
    err_set(&err, ERR_REFUSED, "%s", work->error.message);
    return verb_fail(&err);
}

static enum exit_status run_work(const void *options, const struct words *words)
{
    struct work work = {.options = options};
    struct err err = ERR_INIT;
    if (work.options->types.count == 0) {
        err_set(&err, ERR_INVALID, "which tasks? --type TYPE is missing");
        return verb_usage(&err);
    }
    if (!work_check(words->at[0].ptr, &err)) {
        return verb_usage(&err);
    }
    signal(SIGPIPE, SIG_IGN);
    build_argv(&work, words);
    build_env(&work);
    if (!starter_open(&work.starter, &err)) { /* it forks: before there are threads */
        arena_fini(&work.arena);
        return verb_fail(&err);
    }
    open_loop(&work);
    if (!open_client(&work, &err)) {
        end_early(&work);
        return verb_usage(&err);
    }
    run_loop(&work);
    errand_client_free(work.client);
    starter_close(work.starter);
    close_loop(&work);
    arena_fini(&work.arena);
    return outcome(&work);
}

static const struct option work_options_table[] = {
    {"type", "TYPE", "take tasks of this type; may be given again",
     OPTION_LIST(struct work_options, types), .letter = 't'},
    {"queue", "Q", "take them from this queue (default \"default\"); may be given again",
     OPTION_LIST(struct work_options, queues), .letter = 'q'},
    {"jobs", "N", "how many commands may run at once (default 1)",
     OPTION_NUMBER(struct work_options, jobs, 1, WORK_JOBS_MAX), .letter = 'j'},
    {"lease", "DURATION", "after this long without a sign of life the task is another's (60s)",
     OPTION_TEXT(struct work_options, lease_ms),
     .rule = {.kind = VALUE_DURATION, .least = SECOND_MS, .most = DAY_MS}},
    {"grace", "DURATION", "from SIGTERM to SIGKILL when a task is cancelled; at a stop (10s)",
     OPTION_DURATION(struct work_options, grace_ms)},
    {"env", "NAME[=VALUE]", "give this variable to the command; may be given again",
     OPTION_LIST(struct work_options, env)},
    {"worker", "ID", "the name in \"errand show\" (default host, process and a number)",
     OPTION_TEXT(struct work_options, worker)},
    REMOTE_SERVER_OPTIONS(struct work_options),
    OPTION_END,
};

const struct verb work_verb = {
    .name = "work",
    .arguments = "-- COMMAND [ARGUMENT]...",
    .summary = "run a command for each task of a type",
    .about =
        "Claims tasks and runs COMMAND for each, without a shell; one that is not there or\n"
        "not executable is refused at once. The payload is its\n"
        "standard input, what it writes to standard output is the result: JSON as it is,\n"
        "other text as a JSON string, at most 1 MiB. Exit status 0 completes the task, 100\n"
        "fails it for good, any other is a failure that is retried; the last lines of\n"
        "standard error become the error's detail.\n\n"
        "Lines on descriptor 3 tell how it goes: \"progress PERCENT [MESSAGE]\", \"log TEXT\".\n"
        "The environment is PATH, HOME, LANG, what --env names, ERRAND_TASK_ID,\n"
        "ERRAND_TASK_TYPE, ERRAND_DOCUMENT_ID and ERRAND_ATTEMPT; TRACEPARENT of a task\n"
        "that is part of a trace.\n\n"
        "Leases are renewed while commands run. When a task is cancelled, or its lease is\n"
        "lost, its whole process group gets SIGTERM, and SIGKILL after --grace. A server that\n"
        "is away is waited for. All that a command started ends with it, and with the worker,\n"
        "even if that is killed.\n\n"
        "SIGTERM or Ctrl-C: nothing more is claimed and what runs may finish. A second one\n"
        "kills what runs and gives it back; no retry is used.\n\n"
        "The server may ask for the same: errand workers quiet lets it claim no more until\n"
        "errand workers resume; errand workers stop ends it, and gives back what has not\n"
        "finished after --grace.",
    .examples = "# one script, four at a time\n"
                "errand work --type resize -j 4 -- ./resize.sh\n"
                "# any program that reads standard input will do\n"
                "errand work --type count-words -- wc -w\n"
                "# a shell, progress, and a variable of ours\n"
                "errand work --type build --env TOKEN -- sh -c 'echo progress 50 >&3; make'",
    .options = work_options_table,
    .defaults = &work_defaults,
    .size = sizeof(struct work_options),
    .words_min = 1,
    .words_max = WORDS_MAX,
    .run = run_work,
};
