/* queue/wind.c: the clock that is wound by hand (--test-clock).
 *
 * Winding goes from event to event: before each batch the clock moves to the next time at which
 * something falls due, so that every event sees its own due time as now; the answer comes when
 * nothing falls due up to the target any more.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/engine.h"

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
        batch->engine->wound_mono_us = clock_real_mono_us();
        shared_look(batch->engine);
        list_remove(&command->link);
        list_append(&batch->engine->windings, &command->link);
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
    struct link *first = list_first(&engine->windings);
    return first == NULL ? NULL : HOLDER(first, struct command, link);
}

/* Work in the server that neither ended nor sleeps on this clock: it may still change what comes
 * next. It is waited for, but not for ever; what runs on is passed over. */
bool wind_rests(const struct engine *engine, int64_t *wait_ms)
{
    int64_t waited_ms = (clock_real_mono_us() - engine->wound_mono_us) / 1000;
    *wait_ms = MAX(SETTLE_MAX_MS - waited_ms, 0);
    return engine->in_server <= engine->sleepers.count || *wait_ms == 0;
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
    engine->wound_mono_us = clock_real_mono_us();
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
