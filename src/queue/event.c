/* queue/event.c: how the events of a batch are gathered. See event.h.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/event.h"

#include "base/mem.h"
#include "queue/engine.h"
#include "queue/publish.h"

static struct event *add_event(struct batch *batch)
{
    if (batch->events == NULL) {
        batch->events = mem_new(struct event_batch);
    }
    struct event_batch *events = batch->events;
    if (events->count == batch->events_room) {
        /* Most tasks of a batch are told of once. */
        size_t room = MAX(batch->events_room * 2, batch->all_count + batch->orders_count + 1);
        struct event *grown = arena_alloc(&events->arena, room * sizeof *grown);
        if (events->count > 0) {
            memcpy(grown, events->events, events->count * sizeof *grown);
        }
        events->events = grown;
        batch->events_room = room;
    }
    return &events->events[events->count++];
}

struct event *publish_event(struct batch *batch, enum event_kind kind, const struct task *task)
{
    if (batch->engine->with.host.happened == NULL) {
        return NULL;
    }
    struct event *event = add_event(batch);
    struct arena *arena = &batch->events->arena;
    *event = (struct event){.kind = kind,
                            .at_ms = batch->now.wall_ms,
                            .task = task->id,
                            .parent = task->parent,
                            .family = task->family,
                            .schedule = task->schedule,
                            .type = arena_str(arena, task->type),
                            .queue = arena_str(arena, task->queue),
                            .document = arena_str(arena, task->document),
                            .state = task->state,
                            .attempt = task->attempt,
                            .percent = -1};
    return event;
}

void publish_signal(struct batch *batch, struct str worker, enum worker_signal signal)
{
    struct task none = {.id = TASK_ID_NONE};
    struct event *event = publish_event(batch, EVENT_WORKER, &none);
    if (event != NULL) {
        event->name = arena_str(&batch->events->arena, worker);
        event->attempt = (int32_t)signal;
    }
}

void event_batch_free(struct event_batch *batch)
{
    if (batch != NULL) {
        arena_fini(&batch->arena);
        mem_free(batch);
    }
}
