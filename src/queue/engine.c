/* queue/engine.c: one batch after the other: collect, load, decide, save, publish, answer.
 *
 * Group commit is the shape of this file: all commands that arrived while the last commit was under
 * way share the next one. There is no artificial delay.
 *
 * Thread: engine. Keeps: G1 (answers are given away only after batch_save() committed).
 *
 * SPDX-License-Identifier: MIT */
#include "queue/engine.h"
#include "base/log.h"
#include "base/mem.h"
#include "queue/flow.h"
#include "queue/guest.h"
#include "store/fleet.h"

static void init(struct engine *engine, const struct engine_options *options)
{
    engine->with = *options;
    engine->store = options->store;
    engine->broker = options->broker;
    engine->ids = (struct id_maker){store_last_id(options->store), options->rand};
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
    list_init(&engine->put_off);
    failover_begin(engine);
    workers_init(&engine->workers);
    turns_init(&engine->turns);
    engine->sleepers = HEAP_INIT(sleeper_before);
    list_init(&engine->pending);
    list_init(&engine->waiting);
    list_init(&engine->jobs);
    list_init(&engine->windings);
    engine->sweeping = options->retention_ms > 0; /* what grew old while nobody was there */
    engine->sweep.oldest_ms = NEVER_MS;
    engine->sweep_at_ms = engine->tend_at_mono_ms = NEVER_MS;
    engine->pause_until_mono_ms = INT64_MIN;
}

bool engine_new(const struct engine_options *options, struct engine **out, struct err *err)
{
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
    }
    if (engine != NULL) {
        turns_ready(engine, queue);
    }
}

/* ---- Answers ---- */

static void answer(struct engine *engine, struct list *commands)
{
    LIST_EACH(commands, it)
    {
        struct command *command = HOLDER(it, struct command, link);
        if (command->reply_to != NULL) {
            list_remove(it);
            channel_give(command->reply_to, it);
        }
    }
    if (!list_empty(commands)) {
        engine->with.host.answered(engine->with.host.arg, commands);
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

static void release_waiting(struct engine *engine, struct list *out)
{
    LIST_EACH(&engine->waiting, it)
    {
        struct command *command = HOLDER(it, struct command, claim.waiting);
        claim_unpark(engine, command);
        list_append(out, &command->link);
    }
}

/* Everything that the engine still holds goes back with this error. */
static void return_everything(struct engine *engine, const struct err *err, struct list *out)
{
    struct list held;
    list_init(&held);
    release_waiting(engine, &held);
    wake_all(engine, &held);
    move_all(&held, &engine->pending);
    move_all(&held, &engine->jobs);
    move_all(&held, &engine->windings);
    fail_all(&held, err, false);
    move_all(out, &held);
}

/* ---- A batch ---- */

static void admit(struct batch *batch)
{
    struct engine *engine = batch->engine;
    size_t n = 0;
    move_all(&batch->commands, &engine->jobs);
    LIST_EACH(&engine->pending, it)
    {
        if (n == BATCH_COMMANDS_MAX) {
            break;
        }
        n++;
        list_remove(it);
        list_append(&batch->commands, it);
    }
    engine->commands += n;
    engine->behind = list_empty(&engine->pending) ? 0 : engine->behind + 1;
}

static void prepare_all(struct batch *batch)
{
    turns_propose(batch);
    LIST_EACH(&batch->commands, it)
    {
        decide_prepare(batch, HOLDER(it, struct command, link));
    }
    claims_propose(batch);
    pools_return(batch);
}

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

static void fail_batch(struct batch *batch)
{
    struct engine *engine = batch->engine;
    claims_give_back(batch);
    publish_aborts(batch, false);
    guests_settle(batch, false);
    fail_all(&batch->answered, &batch->err, true);
    move_all(&batch->commands, &batch->deferred);
    move_all(&batch->commands, &engine->jobs);
    move_all(&batch->commands, &engine->windings);
    fail_all(&batch->commands, &batch->err, false);
    move_all(&batch->answered, &batch->commands);
    engine->pause_until_mono_ms = batch->now.mono_ms + STORE_PAUSE_MS;
}

static void undo_chunks(struct list *commands)
{
    LIST_EACH(commands, it)
    {
        struct command *command = HOLDER(it, struct command, link);
        if (command->kind == COMMAND_BULK) {
            bulk_undo_chunk(command);
        }
    }
}

/* Another node changed one of the tasks first: nothing was written, everything is decided anew. */
static void begin_again(struct batch *batch)
{
    struct engine *engine = batch->engine;
    struct list again;
    list_init(&again);
    claims_give_back(batch);
    publish_aborts(batch, false);
    guests_settle(batch, false);
    undo_chunks(&engine->jobs);
    undo_chunks(&batch->answered);
    move_all(&again, &batch->answered);
    move_all(&again, &batch->deferred);
    move_all(&again, &batch->commands); /* not yet decided when the store said no */
    move_all(&again, &engine->pending);
    move_all(&engine->pending, &again);
}

static void die(struct engine *engine, const struct err *err, struct list *answered)
{
    engine->dead = true;
    log_error("the store cannot be trusted any more, ending: %s", err->text);
    return_everything(engine, err, answered);
}

static void settle_batch(struct batch *batch, bool lost)
{
    struct engine *engine = batch->engine;
    if (lost && ++engine->losses < BATCH_TRIES_MAX) {
        begin_again(batch);
        return;
    }
    engine->losses = 0;
    if (lost) {
        err_set(&batch->err, ERR_UNAVAILABLE, "others keep changing the same tasks");
    }
    if (batch_ok(batch)) {
        struct list deferred;
        list_init(&deferred);
        move_all(&deferred, &batch->deferred); /* before those that came after them */
        move_all(&deferred, &engine->pending);
        move_all(&engine->pending, &deferred);
        publish(batch);
        engine->pause_until_mono_ms = batch->writes ? INT64_MIN : engine->pause_until_mono_ms;
        return;
    }
    fail_batch(batch);
    if (batch->err.kind == ERR_FATAL) {
        die(engine, &batch->err, &batch->answered);
    } else {
        log_warn("the store refused a batch: %s", batch->err.text);
    }
}

static void run_batch(struct engine *engine, struct list *answered)
{
    struct batch batch;
    bool lost = false;
    batch_init(&batch, engine);
    admit(&batch);
    janitor_collect(&batch);
    prepare_all(&batch);
    if (batch_load(&batch)) {
        decide_all(&batch);
    }
    batch_save(&batch, &lost);
    engine->batches++;
    settle_batch(&batch, lost);
    move_all(answered, &batch.answered);
    batch_fini(&batch);
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

static bool winds(const struct engine *engine)
{
    int64_t wait_ms;
    return !list_empty(&engine->windings) && wind_rests(engine, &wait_ms);
}

static bool has_work(struct engine *engine)
{
    return !engine->dead && (!list_empty(&engine->pending) || !list_empty(&engine->jobs) ||
                             winds(engine) || engine_due_in_ms(engine) == 0);
}

bool engine_step(struct engine *engine, struct list *commands)
{
    struct list answered;
    list_init(&answered);
    move_all(&engine->pending, commands);
    if (engine->dead) {
        struct err err = {.kind = ERR_UNAVAILABLE,
                          .text = "the store failed; the server is ending"};
        return_everything(engine, &err, &answered);
        answer(engine, &answered);
        return false;
    }
    wind_begin(engine);
    shared_poll(engine, clock_now(engine->with.clock));
    run_batch(engine, &answered);
    failover_look(engine, clock_now(engine->with.clock));
    wake_due(engine, clock_now(engine->with.clock), &answered);
    wind_end(engine, &answered);
    if (engine->dead) {
        struct err err = {.kind = ERR_FATAL, .text = "the store failed"};
        answer(engine, &answered);
        engine->with.host.failed(engine->with.host.arg, &err);
        return false;
    }
    answer(engine, &answered);
    if (list_empty(&engine->pending)) {
        tend(engine, clock_now(engine->with.clock));
    }
    return has_work(engine);
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
    return MIN(in, wake_in_ms(engine, now));
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
    answer(engine, &held);
    due_fini(&engine->due);
    lanes_fini(&engine->lanes);
    workers_fini(&engine->workers);
    strays_fini(&engine->strays);
    turns_fini(&engine->turns);
    shared_fini(engine);
    mem_free(engine->unfollowed.at);
    heap_fini(&engine->sleepers);
    mem_free(engine);
}
