/* tests/work/stand.c: a real engine with its thread, and the workforce on top. See stand.h.
 *
 * SPDX-License-Identifier: MIT */
#include "stand.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "store_memory/memory.h"

static void post(void *sem)
{
    sem_post(sem);
}

static void wait_for(sem_t *sem)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += STAND_PATIENCE_S;
    while (sem_timedwait(sem, &until) != 0) {
        CHECK_EQ(errno, EINTR); /* a child has ended; anything else is out of patience */
    }
}

/* ---- What the engine tells ---- */

static void on_happened(void *arg, struct event_batch *events)
{
    channel_give(&((struct stand *)arg)->events, &events->link);
}

static void on_abort(void *arg, struct task_id id, int32_t attempt, enum abort_why why)
{
    workforce_abort(((struct stand *)arg)->work, id, attempt, why);
}

static void on_failed(void *arg, const struct err *err)
{
    (void)arg;
    (void)err;
}

static void on_rested(void *arg)
{
    sem_post(&((struct stand *)arg)->rested);
}

/* ---- Life ---- */

static void open_engine(struct stand *s, const struct stand_options *options)
{
    struct err err = ERR_INIT;
    s->store = memory_store_new();
    CHECK_OK(broker_open(
        &(struct broker_options){.url = STR("memory:"), .ready = engine_ready, .arg = &s->engine},
        &s->broker, &err));
    CHECK_OK(engine_new(&(struct engine_options){.store = s->store,
                                                 .broker = s->broker,
                                                 .clock = &s->clock,
                                                 .rand = &s->rand,
                                                 .host = {.arg = s,
                                                          .happened = on_happened,
                                                          .abort = on_abort,
                                                          .abort_arg = s,
                                                          .failed = on_failed},
                                                 .guests = &s->guest,
                                                 .guests_count = s->lead != NULL,
                                                 .waiting_max = 100,
                                                 .grace_ms = options->grace_ms == 0
                                                                 ? WORKERS_GRACE_DEFAULT
                                                                 : options->grace_ms},
                        &s->engine, &err));
    CHECK_OK(engine_start(s->engine, &err));
}

static void open_work(struct stand *s, const struct stand_options *options)
{
    struct err err = ERR_INIT;
    struct workforce_options with = {.engine = s->engine,
                                     .workers = options->workers == 0 ? 3 : options->workers,
                                     .commands = options->commands,
                                     .commands_count = options->commands_count,
                                     .starter = s->starter,
                                     .handlers = options->handlers,
                                     .handlers_count = options->handlers_count,
                                     .push = options->push,
                                     .llm = options->llm,
                                     .lead = s->lead,
                                     .queues = options->queues,
                                     .queues_count = options->queues_count,
                                     .grace_ms = options->grace_ms == 0 ? WORKERS_GRACE_DEFAULT
                                                                        : options->grace_ms,
                                     .data = str_of(s->folder),
                                     .rested = on_rested,
                                     .rested_arg = s};
    CHECK_OK(workforce_start(s->work, &with, &err));
}

void stand_open(struct stand *s, const struct stand_options *options)
{
    *s = (struct stand){.with = *options};
    snprintf(s->folder, sizeof s->folder, "/tmp/errand-work-XXXXXX");
    CHECK(mkdtemp(s->folder) != NULL);
    if (options->by_hand) {
        clock_init_by_hand(&s->clock, STAND_START_MS);
    } else {
        clock_init_real(&s->clock);
    }
    rand_init_seed(&s->rand, 1);
    sem_init(&s->answered, 0, 0);
    sem_init(&s->happened, 0, 0);
    sem_init(&s->rested, 0, 0);
    channel_init(&s->answers, post, &s->answered);
    channel_init(&s->events, post, &s->happened);
    list_init(&s->seen);
    if (options->commands_count > 0) {
        struct err err = ERR_INIT;
        CHECK_OK(starter_open(&s->starter, &err));
    }
    s->work = workforce_new();
    if (options->llm != NULL) {
        s->lead =
            lead_new(&(struct lead_options){.decides = true, .news = workforce_news(s->work)});
        s->guest = lead_guest(s->lead);
    }
    open_engine(s, options);
    open_work(s, options);
}

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *at)
{
    (void)stat;
    (void)kind;
    (void)at;
    return remove(path);
}

static void free_events(struct stand *s)
{
    channel_take(&s->events, &s->seen);
    LIST_EACH(&s->seen, it)
    {
        list_remove(it);
        event_batch_free(HOLDER(it, struct event_batch, link));
    }
}

void stand_close(struct stand *s)
{
    workforce_stop(s->work);
    starter_close(s->starter);
    engine_stop(s->engine);
    engine_free(s->engine);
    workforce_free(s->work);
    lead_free(s->lead);
    broker_close(s->broker);
    store_close(s->store);
    free_events(s);
    channel_fini(&s->events);
    channel_fini(&s->answers);
    arena_fini(&s->arena);
    nftw(s->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- Asking ---- */

struct command *stand_command(struct stand *s, enum command_kind kind)
{
    struct command *command = arena_new(&s->arena, struct command);
    command->kind = kind;
    command->arena = &s->arena;
    command->reply_to = &s->answers;
    return command;
}

enum err_kind stand_try(struct stand *s, struct command *command)
{
    struct list list;
    list_init(&list);
    list_append(&list, &command->link);
    engine_give(s->engine, &list);
    while (!channel_take(&s->answers, &list)) {
        wait_for(&s->answered);
    }
    return command->err.kind;
}

void stand_run(struct stand *s, struct command *command)
{
    stand_try(s, command);
    struct err err = command->err;
    CHECK_OK(err.kind == ERR_NONE);
}

struct task_id stand_create_one(struct stand *s, struct stand_order order)
{
    struct command *command = stand_command(s, COMMAND_CREATE);
    struct order *one = arena_new(&s->arena, struct order);
    one->delay_ms = -1;
    one->task = (struct task){
        .type = str_of(order.type),
        .queue = str_of(order.queue == NULL ? "default" : order.queue),
        .document = str_of(order.document),
        .payload = str_of(order.payload),
        .metadata = str_of(order.metadata),
        .payload_raw = order.raw,
        .priority = TASK_NORMAL,
        .max_retries = order.max_retries,
        .timeout_ms = order.timeout_ms == 0 ? TASK_TIMEOUT_DEFAULT_MS : order.timeout_ms,
        .backoff = {order.backoff_ms == 0 ? 1 : order.backoff_ms, HOUR_MS, 1, 0},
        .progress = -1,
        .cost = TASK_COST_NONE};
    command->create = (struct command_create){one, 1};
    stand_run(s, command);
    return one->task.id;
}

void stand_cancel(struct stand *s, struct task_id id)
{
    struct command *command = stand_command(s, COMMAND_CANCEL);
    command->one.id = id;
    command->one.reason = STR("no longer wanted");
    stand_run(s, command);
}

struct document_view stand_document(struct stand *s, const char *document)
{
    struct command *command = stand_command(s, COMMAND_DOCUMENT);
    command->document.document = str_of(document);
    stand_run(s, command);
    return command->document.view;
}

void stand_wind(struct stand *s, int64_t ms)
{
    struct command *command = stand_command(s, COMMAND_CLOCK);
    command->clock = (struct command_clock){.relative = true, .ms = ms};
    stand_run(s, command);
}

/* ---- Waiting ---- */

typedef bool event_fn(const struct event *event, const void *want);

static bool look(struct stand *s, struct task_id id, event_fn *fits, const void *want)
{
    channel_take(&s->events, &s->seen);
    LIST_EACH(&s->seen, it)
    {
        struct event_batch *batch = HOLDER(it, struct event_batch, link);
        for (size_t i = 0; i < batch->count; i++) {
            if (id_eq(batch->events[i].task, id) && fits(&batch->events[i], want)) {
                return true;
            }
        }
    }
    return false;
}

static void until(struct stand *s, struct task_id id, event_fn *fits, const void *want)
{
    while (!look(s, id, fits, want)) {
        wait_for(&s->happened);
    }
}

static bool has_state(const struct event *event, const void *want)
{
    return event->kind == EVENT_STATE && event->state == *(const enum task_state *)want;
}

static bool has_log(const struct event *event, const void *want)
{
    const char *text = want;
    return event->kind == EVENT_LOG &&
           memmem(event->text.ptr, event->text.len, text, strlen(text)) != NULL;
}

static bool has_percent(const struct event *event, const void *want)
{
    return event->kind == EVENT_PROGRESS && event->percent >= *(const double *)want;
}

void stand_until(struct stand *s, struct task_id id, enum task_state state)
{
    until(s, id, has_state, &state);
}

void stand_until_log(struct stand *s, struct task_id id, const char *text)
{
    until(s, id, has_log, text);
}

void stand_until_percent(struct stand *s, struct task_id id, double percent)
{
    until(s, id, has_percent, &percent);
}

bool stand_saw(struct stand *s, struct task_id id, enum task_state state)
{
    return look(s, id, has_state, &state);
}

void stand_rested(struct stand *s)
{
    wait_for(&s->rested);
}

/* ---- Looking ---- */

struct task_detail stand_task(struct stand *s, struct task_id id)
{
    struct err err = ERR_INIT;
    struct reader *reader;
    struct task_detail detail;
    bool found;
    CHECK_OK(reader_open(s->store, &reader, &err));
    CHECK_OK(reader_detail(reader, id, &s->arena, &found, &detail, &err));
    reader_close(reader);
    CHECK(found);
    return detail;
}

struct str stand_log(struct stand *s, struct task_id id)
{
    struct task_detail detail = stand_task(s, id);
    return detail.attempts_count == 0 ? STR_NONE : detail.attempts[detail.attempts_count - 1].log;
}

static bool is_over(const struct event *event, const void *want)
{
    (void)want;
    return event->kind == EVENT_STATE && task_state_terminal(event->state);
}

struct task stand_do(struct stand *s, struct stand_order order, enum task_state end)
{
    struct task_id id = stand_create_one(s, order);
    until(s, id, is_over, NULL);
    struct task task = stand_task(s, id).task;
    if (task.state != end && !str_absent(task.error.message)) {
        CHECK_STR(task.error.message, task_state_name(end));
    }
    CHECK_EQ(task.state, end);
    return task;
}
