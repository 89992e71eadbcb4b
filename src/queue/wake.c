/* queue/wake.c: commands that wait for a time on the engine's clock: how work in the server sleeps.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/engine.h"

static struct command *command_of(struct heap_node *node)
{
    return HOLDER(node, struct command, wake.place);
}

bool sleeper_before(const struct heap_node *a, const struct heap_node *b)
{
    const struct command *x = HOLDER(a, struct command, wake.place);
    const struct command *y = HOLDER(b, struct command, wake.place);
    return x->wake.at_mono_ms < y->wake.at_mono_ms;
}

void on_wake(struct batch *batch, struct command *command)
{
    command->wake.at_mono_ms = batch->now.mono_ms + command->wake.after_ms;
    command->wake.stopped = false;
    command->wake.place = (struct heap_node){0};
    list_remove(&command->link);
    heap_add(&batch->engine->sleepers, &command->wake.place);
}

void on_wake_stop(struct batch *batch, struct command *command)
{
    struct heap *sleepers = &batch->engine->sleepers;
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

void wake_due(struct engine *engine, struct now now, struct list *answered)
{
    for (struct heap_node *top; (top = heap_top(&engine->sleepers)) != NULL;) {
        struct command *sleeper = command_of(top);
        if (sleeper->wake.at_mono_ms > now.mono_ms) {
            return;
        }
        heap_remove(&engine->sleepers, top);
        list_append(answered, &sleeper->link);
    }
}

void wake_all(struct engine *engine, struct list *answered)
{
    wake_due(engine, (struct now){INT64_MAX, INT64_MAX}, answered);
}

int64_t wake_in_ms(const struct engine *engine, struct now now)
{
    struct heap_node *top = heap_top(&engine->sleepers);
    return top == NULL ? NEVER_MS : MAX(command_of(top)->wake.at_mono_ms - now.mono_ms, 0);
}
