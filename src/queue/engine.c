/* queue/engine.c: one batch after the other: collect, load, decide, save, publish, answer.
 *
 * Group commit is the shape of this file: all commands that arrived while the last commit was under
 * way share the next one. There is no artificial delay.
 *
 * Thread: engine. Keeps: G1 (answers are given away only after batch_save() committed).
 *
 * SPDX-License-Identifier: MIT */
#include "queue/engine.h"

#include <assert.h>

#include "base/log.h"
#include "base/mem.h"
#include "queue/decide.h"
#include "queue/guests.h"
#include "queue/publish.h"
#include "queue/steer.h"
#include "store/fleet.h"

#define BATCH_TRIES_MAX 5 /* begins again when another node was faster */
#define TEND_AFTER_MS   SECOND_MS
#define STORE_PAUSE_MS  200 /* before trying due work again while the store is full or away */

static void init(struct engine *engine, const struct engine_options *options)
{
    engine->with = *options;
    engine->store = options->store;
    engine->broker = options->broker;
    engine->ids = (struct id_maker){.last_hi = store_last_id(options->store),
                                    .rand = options->rand,
                                    .spread = store_shared(options->store)};
    hot_init(&engine->hot);
    due_init(&engine->due);
    engine->shared = store_shared(options->store);
    lanes_init(&engine->lanes, engine->shared);
    engine->due.node = engine->shared ? options->node : STR_NONE;
    /* On one machine only people look at these leases; a clock that is wound by hand would have to
     * stop at every renewal for them. */
    engine->due.renew_every_ms =
        engine->shared || !options->clock->by_hand ? OWN_RENEW_MS : NEVER_MS;
    engine->due.apart_ms = engine->shared && !options->clock->by_hand ? QUEUE_CLOCKS_APART_MS : 0;
    engine->epoch = engine->shared ? 0 : 1;
    list_init(&engine->late_hints);
    failover_begin(engine);
    workers_init(&engine->workers);
    turns_init(&engine->turns);
    timers_init(&engine->timers);
    claims_init(&engine->claims);
    list_init(&engine->pending);
    list_init(&engine->jobs);
    list_init(&engine->winding.commands);
    type_book_init(&engine->types, options->types, options->types_count);
    retention_init(&engine->retention, options->retention_ms);
    engine->tend_at_mono_ms = NEVER_MS;
    engine->pause_until_mono_ms = INT64_MIN;
}

bool engine_new(const struct engine_options *options, struct engine **out, struct err *err)
{
    assert(options->store != NULL && options->broker != NULL && options->clock != NULL &&
           options->rand != NULL && options->host.failed != NULL);
    struct engine *engine = mem_new(struct engine);
    init(engine, options);
    *out = engine;
    if (!boot_engine(engine, err)) {
        engine_free(engine);
        *out = NULL;
        return err_wrap(err, "read the store");
    }
    for (size_t i = 0; !engine->shared && i < options->guests_count; i++) {
        if (options->guests[i]->leads != NULL) {
            options->guests[i]->leads(options->guests[i], true);
        }
    }
    return true;
}

void engine_ready(void *engine_pointer, struct str queue, struct str type)
{
    struct engine *engine = *(struct engine **)engine_pointer;
    (void)type;
    if (engine != NULL) {
        lanes_wake(&engine->lanes, queue);
        turns_ready(engine, queue);
    }
}

/* ---- Answers ---- */

/* Each sender has its answers at once: it is woken once for all of them. */
static void answer(struct list *commands)
{
    while (!list_empty(commands)) {
        struct channel *to = HOLDER(list_first(commands), struct command, link)->reply_to;
        struct list theirs;
        list_init(&theirs);
        LIST_EACH(commands, it)
        {
            if (HOLDER(it, struct command, link)->reply_to == to) {
                list_remove(it);
                list_append(&theirs, it);
            }
        }
        channel_give_all(to, &theirs);
    }
}

/* A batch that failed: nothing was changed, so whoever wanted a change is told so. What was only
 * asked has its answer, unless the store failed before it was decided. */
static void fail_all(struct list *commands, const struct err *err, bool decided)
{
    LIST_EACH(commands, it)
    {
        struct command *command = HOLDER(it, struct command, link);
        if (!decided || command_row(command->kind)->answer == ANSWER_COMMITTED) {
            command->err = *err;
        }
    }
}

static void move_all(struct list *to, struct list *from)
{
    LIST_EACH(from, it)
    {
        list_remove(it);
        list_append(to, it);
    }
}

/* Everything that the engine still holds goes back with this error. */
static void return_everything(struct engine *engine, const struct err *err, struct list *out)
{
    struct list held;
    list_init(&held);
    claims_unpark_all(engine, &held);
    timers_fire(engine, (struct now){INT64_MAX, INT64_MAX}, &held);
    move_all(&held, &engine->pending);
    move_all(&held, &engine->jobs);
    move_all(&held, &engine->winding.commands);
    fail_all(&held, err, false);
    move_all(out, &held);
}

/* ---- A batch ---- */

static void take_commands(struct batch *batch)
{
    struct engine *engine = batch->engine;
    size_t n = 0;
    move_all(&batch->commands, &engine->jobs);
    LIST_EACH(&engine->pending, it)
    {
        if (n++ == BATCH_COMMANDS_MAX) {
            break;
        }
        list_remove(it);
        list_append(&batch->commands, it);
        engine->commands++;
    }
    engine->behind = list_empty(&engine->pending) ? 0 : engine->behind + 1;
}

/* What is decided first counts for what follows: what has fallen due, commands in the order they
 * came, claims that waited, turns, guests; each with all its consequences. */
static void decide_all(struct batch *batch)
{
    janitor_decide(batch);
    flow_follow(batch); /* nothing starts whose parent has just expired */
    LIST_EACH(&batch->commands, it)
    {
        if (!batch_ok(batch)) {
            return;
        }
        decide(batch, HOLDER(it, struct command, link));
    }
    claims_after_ends(batch);
    claims_time_out(batch);
    claims_decide(batch);
    turns_decide(batch);
    flow_follow(batch);
    guests_act(batch);
    flow_resume(batch);
    do {
        flow_follow(batch);
    } while (guests_follow(batch));
    claims_meet(batch);
}

/* Who wants to know of ended attempts is told with the metadata of their tasks, which nobody needs
 * to end them for being late. */
static void load_ended(struct batch *batch)
{
    for (size_t i = 0; batch->engine->with.host.ended != NULL && i < batch->all_count; i++) {
        const struct item *item = batch->all[i];
        if (item->ended && !item->has_whole) {
            batch_need(batch, item->id, true);
        }
    }
    (void)!batch_load(batch);
}

/* The batch came to nothing: broker, guests and workers are told, as far as they knew of it. */
static void undo(struct batch *batch)
{
    claims_give_back(batch);
    publish_aborts(batch, false);
    guests_settle(batch, false);
}

/* Another node changed one of the tasks first: nothing was written, everything is decided anew. */
static void begin_again(struct batch *batch)
{
    struct engine *engine = batch->engine;
    struct list again;
    list_init(&again);
    undo(batch);
    bulk_undo_chunks(&engine->jobs);
    bulk_undo_chunks(&batch->answered);
    move_all(&again, &batch->answered);
    move_all(&again, &batch->deferred);
    move_all(&again, &batch->commands); /* not yet decided when the store said no */
    move_all(&again, &engine->pending);
    move_all(&engine->pending, &again);
}

/* The store said no: nothing was changed, and everybody who wanted a change is told so. */
static void fail(struct batch *batch)
{
    struct engine *engine = batch->engine;
    undo(batch);
    fail_all(&batch->answered, &batch->err, true);
    move_all(&batch->commands, &batch->deferred);
    move_all(&batch->commands, &engine->jobs);
    move_all(&batch->commands, &engine->winding.commands);
    fail_all(&batch->commands, &batch->err, false);
    move_all(&batch->answered, &batch->commands);
    engine->pause_until_mono_ms = batch->now.mono_ms + STORE_PAUSE_MS;
    engine->dead = batch->err.kind == ERR_FATAL;
    if (engine->dead) {
        log_error("the store cannot be trusted any more, ending: %s", batch->err.text);
        return_everything(engine, &batch->err, &batch->answered);
    } else {
        log_warn("the store refused a batch: %s", batch->err.text);
    }
}

static void succeed(struct batch *batch)
{
    struct engine *engine = batch->engine;
    struct list deferred;
    list_init(&deferred);
    claims_ends_saved(batch);
    move_all(&deferred, &batch->deferred); /* before those that came after them */
    move_all(&deferred, &engine->pending);
    move_all(&engine->pending, &deferred);
    publish(batch);
    if (batch->writes) {
        engine->pause_until_mono_ms = INT64_MIN;
    }
    if (batch->writes && engine->tend_at_mono_ms == NEVER_MS) {
        engine->tend_at_mono_ms = batch->now.mono_ms + TEND_AFTER_MS;
    }
}

static void run_batch(struct engine *engine, struct list *answered)
{
    struct batch batch;
    batch_init(&batch, engine);

    /* What came, and what has fallen due. */
    take_commands(&batch);
    janitor_collect(&batch);

    /* What it needs: turns come before claims, claims of this batch before those that wait. */
    turns_propose(&batch);
    LIST_EACH(&batch.commands, it)
    {
        decide_prepare(&batch, HOLDER(it, struct command, link));
    }
    claims_propose(&batch);
    claims_return_pools(&batch);

    if (batch_load(&batch)) {
        decide_all(&batch);
        load_ended(&batch);
    }
    batch_save(&batch);
    engine->batches++;

    engine->losses = batch.lost ? engine->losses + 1 : 0;
    if (batch.lost && engine->losses < BATCH_TRIES_MAX) {
        begin_again(&batch);
    } else if (batch.lost || !batch_ok(&batch)) {
        if (batch.lost) {
            err_set(&batch.err, ERR_UNAVAILABLE, "others keep changing the same tasks");
        }
        engine->losses = 0;
        fail(&batch);
    } else {
        succeed(&batch);
    }
    move_all(answered, &batch.answered);
    batch_fini(&batch);
    hot_settle(&engine->hot);
}

/* ---- Steps ---- */

static void tend(struct engine *engine, struct now now)
{
    struct err err = ERR_INIT;
    bool more = false;
    if (now.mono_ms < engine->tend_at_mono_ms) {
        return;
    }
    if (!store_tend(engine->store, &more, &err)) {
        log_warn("upkeep of the store: %s", err.text);
        engine->tend_at_mono_ms = now.mono_ms + 10 * TEND_AFTER_MS;
    } else if (!more) {
        engine->tend_at_mono_ms = NEVER_MS;
    }
}

/* Each can be decided, and answered. */
bool engine_accepts(const struct list *commands)
{
    LIST_EACH(commands, it)
    {
        const struct command *command = HOLDER(it, struct command, link);
        if (command->kind >= COMMAND_KINDS || command->arena == NULL || command->reply_to == NULL) {
            return false;
        }
    }
    return true;
}

bool engine_step(struct engine *engine, struct list *commands)
{
    struct list answered;
    assert(engine_accepts(commands));
    struct err err = {.kind = ERR_FATAL, .text = "the store failed"};
    int64_t wait_ms;
    list_init(&answered);
    move_all(&engine->pending, commands);
    if (engine->dead) {
        err_set(&err, ERR_UNAVAILABLE, "the store failed; the server is ending");
        return_everything(engine, &err, &answered);
        answer(&answered);
        return false;
    }
    wind_begin(engine);
    series_pass(&engine->series, clock_now(engine->with.clock).wall_ms);
    shared_poll(engine, clock_now(engine->with.clock));
    run_batch(engine, &answered);
    failover_look(engine, clock_now(engine->with.clock));
    timers_fire(engine, clock_now(engine->with.clock), &answered);
    wind_end(engine, &answered);
    if (engine->events != NULL) { /* at once with the answers: the net loop is woken for both */
        engine->with.host.happened(engine->with.host.arg, engine->events);
        engine->events = NULL;
    }
    answer(&answered);
    broker_flush(engine->broker); /* what publish() left of it */
    if (engine->dead) {
        engine->with.host.failed(engine->with.host.arg, &err);
        return false;
    }
    if (list_empty(&engine->pending)) {
        tend(engine, clock_now(engine->with.clock));
    }
    bool winds = !list_empty(&engine->winding.commands) && wind_rests(engine, &wait_ms);
    return !list_empty(&engine->pending) || !list_empty(&engine->jobs) || winds ||
           engine_due_in_ms(engine) == 0 || claims_in_ms(&engine->claims) == 0;
}

bool engine_paused(const struct engine *engine, struct now now)
{
    return now.mono_ms < engine->pause_until_mono_ms;
}

int64_t engine_event_in_ms(struct engine *engine, struct now now)
{
    int64_t in = MIN(due_in_ms(&engine->due, now), janitor_sweep_in_ms(engine, now));
    in = MIN(in, lanes_in_ms(&engine->lanes, now));
    in = MIN(in, guests_in_ms(engine, now));
    in = MIN(in, turns_in_ms(engine, now));
    in = MIN(in, shared_poll_in_ms(engine, now));
    in = list_empty(&engine->lanes.ready) && !flow_unfinished(engine) ? in : 0;
    if (in != NEVER_MS && engine_paused(engine, now)) {
        in = MAX(in, engine->pause_until_mono_ms - now.mono_ms);
    }
    return MIN(in, timers_in_ms(engine, now));
}

int64_t engine_due_in_ms(struct engine *engine)
{
    struct now now = clock_now(engine->with.clock);
    int64_t in = engine_event_in_ms(engine, now);
    if (engine->tend_at_mono_ms != NEVER_MS) {
        in = MIN(in, MAX(engine->tend_at_mono_ms - now.mono_ms, 0));
    }
    return in == NEVER_MS ? -1 : in;
}

void engine_free(struct engine *engine)
{
    struct list held;
    struct err err = {.kind = ERR_UNAVAILABLE, .text = "the server is stopping"};
    if (engine == NULL) {
        return;
    }
    list_init(&held);
    return_everything(engine, &err, &held);
    answer(&held);
    hot_fini(&engine->hot);
    due_fini(&engine->due);
    lanes_fini(&engine->lanes);
    workers_fini(&engine->workers);
    strays_fini(&engine->strays);
    turns_fini(&engine->turns);
    shared_fini(engine);
    mem_free(engine->unfollowed.at);
    type_book_fini(&engine->types);
    timers_fini(&engine->timers);
    claims_fini(&engine->claims);
    mem_free(engine);
}
