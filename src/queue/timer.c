/* queue/timer.c: commands that wait for a time on the engine's clock, and the clock that is wound
 * by hand (--test-clock).
 *
 * Winding goes from event to event: before each batch the clock moves to the next time at which
 * something falls due, so that every event sees its own due time as now; the answer comes when
 * nothing falls due up to the target any more.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/timer.h"

#include "queue/decide.h"
#include "queue/engine.h"

#define SETTLE_MAX_MS 2000 /* real: how long a hand-wound clock waits for work in the server */

/* ---- Work in the server that sleeps ---- */

static struct command *command_of(struct heap_node *node)
{
    return HOLDER(node, struct command, wake.place);
}

static bool before(const struct heap_node *a, const struct heap_node *b)
{
    const struct command *x = HOLDER(a, struct command, wake.place);
    const struct command *y = HOLDER(b, struct command, wake.place);
    return x->wake.at_mono_ms < y->wake.at_mono_ms;
}

void timers_init(struct timers *timers)
{
    timers->sleepers = HEAP_INIT(before);
}

void timers_fini(struct timers *timers)
{
    heap_fini(&timers->sleepers);
}

void on_wake(struct batch *batch, struct command *command)
{
    command->wake.at_mono_ms = batch->now.mono_ms + command->wake.after_ms;
    command->wake.stopped = false;
    command->wake.place = (struct heap_node){0};
    list_remove(&command->link);
    heap_add(&batch->engine->timers.sleepers, &command->wake.place);
}

void on_wake_stop(struct batch *batch, struct command *command)
{
    struct heap *sleepers = &batch->engine->timers.sleepers;
    for (size_t i = 0; i < sleepers->count; i++) {
        struct command *sleeper = command_of(sleepers->at[i]);
        if (sleeper->wake.serial == command->wake.serial) {
            heap_remove(sleepers, &sleeper->wake.place);
            sleeper->wake.stopped = true;
            list_append(&batch->answered, &sleeper->link);
            break;
        }
    }
    batch_answer(batch, command);
}

void timers_fire(struct engine *engine, struct now now, struct list *answered)
{
    for (struct heap_node *top; (top = heap_top(&engine->timers.sleepers)) != NULL;) {
        struct command *sleeper = command_of(top);
        if (sleeper->wake.at_mono_ms > now.mono_ms) {
            return;
        }
        heap_remove(&engine->timers.sleepers, top);
        list_append(answered, &sleeper->link);
    }
}

int64_t timers_in_ms(const struct engine *engine, struct now now)
{
    struct heap_node *top = heap_top(&engine->timers.sleepers);
    return top == NULL ? NEVER_MS : MAX(command_of(top)->wake.at_mono_ms - now.mono_ms, 0);
}

/* ---- The clock that is wound by hand ---- */

void on_clock(struct batch *batch, struct command *command)
{
    struct clock *clock = batch->engine->with.clock;
    struct command_clock *wind = &command->clock;
    int64_t target = 0;
    bool overflow = __builtin_add_overflow(batch->now.wall_ms, wind->ms, &target);
    if (!wind->relative) {
        target = wind->ms;
    }
    if (!clock->by_hand) {
        err_set(&command->err, ERR_NOT_FOUND, "the server runs without --test-clock");
    } else if (target < batch->now.wall_ms) {
        err_field(&command->err, wind->relative ? "advanceMs" : "set",
                  "the clock only goes forward");
    } else if (target > TASK_TIME_MAX_MS || (wind->relative && overflow)) {
        err_field(&command->err, wind->relative ? "advanceMs" : "set",
                  "the time is past year 9999");
    } else {
        wind->relative = false;
        wind->ms = target;
        /* What runs now has its time to come to rest, however long ago the last winding was. */
        batch->engine->winding.moved_mono_us = clock_real_mono_us();
        shared_look(batch->engine);
        list_remove(&command->link);
        list_append(&batch->engine->winding.commands, &command->link);
        return;
    }
    batch_answer(batch, command);
}

/* When the next thing happens by itself; NEVER_MS: nothing will. */
static int64_t next_event_ms(struct engine *engine)
{
    struct now now = clock_now(engine->with.clock);
    int64_t in = engine_event_in_ms(engine, now);
    return in == NEVER_MS ? NEVER_MS : now.wall_ms + in;
}

static struct command *under_way(struct engine *engine)
{
    struct link *first = list_first(&engine->winding.commands);
    return first == NULL ? NULL : HOLDER(first, struct command, link);
}

/* Work in the server that neither ended nor sleeps on this clock: it may still change what comes
 * next. It is waited for, but not for ever; what runs on is passed over. */
bool wind_rests(const struct engine *engine, int64_t *wait_ms)
{
    int64_t waited_ms = (clock_real_mono_us() - engine->winding.moved_mono_us) / 1000;
    *wait_ms = MAX(SETTLE_MAX_MS - waited_ms, 0);
    return engine->in_server <= engine->timers.sleepers.count || *wait_ms == 0;
}

static bool may_go_on(const struct engine *engine)
{
    int64_t wait_ms;
    return list_empty(&engine->lanes.ready) && wind_rests(engine, &wait_ms);
}

bool wind_begin(struct engine *engine)
{
    struct command *command = under_way(engine);
    if (command == NULL || !may_go_on(engine)) {
        return false;
    }
    int64_t next = next_event_ms(engine);
    if (next > command->clock.ms) {
        return false;
    }
    clock_set(engine->with.clock, next);
    engine->winding.moved_mono_us = clock_real_mono_us();
    return true;
}

/* Claims that wait are served before the clock goes on: they may finish what the next event ends.
 */
void wind_end(struct engine *engine, struct list *answered)
{
    struct command *command = under_way(engine);
    if (command == NULL || !may_go_on(engine) || next_event_ms(engine) <= command->clock.ms) {
        return;
    }
    clock_set(engine->with.clock, command->clock.ms);
    command->clock.now_ms = command->clock.ms;
    list_remove(&command->link);
    list_append(answered, &command->link);
}
