/* queue/event.h: what happened, for whoever watches: event streams, waiting readers, mailboxes.
 *
 * The engine makes one batch per commit, after the commit, and gives it away.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_EVENT_H
#define ERRAND_QUEUE_EVENT_H

#include "base/arena.h"
#include "base/list.h"
#include "task/task.h"

enum event_kind {
    EVENT_STATE,
    EVENT_PROGRESS,
    EVENT_LOG,
    EVENT_QUEUE,
    EVENT_LEADER,
    EVENT_TOPIC,    /* of a guest, for those who subscribed to its topic alone */
    EVENT_CANCEL,   /* a cancel was requested of a running task: for the node that runs it */
    EVENT_SIGN_OUT, /* a browser has left: for other nodes; `text` says which session it was */
    EVENT_WORKER,   /* what is asked of a worker outside: for the nodes that it speaks to */
    EVENT_RELEASE,  /* an attempt should let its document go: for the node that runs it */
    EVENT_KINDS
};

struct event {
    enum event_kind kind;
    int64_t at_ms;
    /* Of a task: STATE, PROGRESS, LOG. */
    struct task_id task;
    struct task_id parent, family, schedule; /* none where the task has none */
    struct str type, queue, document;
    enum task_state state;
    int32_t attempt;
    double percent; /* PROGRESS; negative: none */
    struct str
        text; /* PROGRESS: its message; LOG: the lines; QUEUE: "paused", "resumed", "changed" */
    struct str topic, name; /* TOPIC: whom it is for, what it is called; `text` is its JSON.
                               WORKER: `name` is the worker's, `attempt` the enum worker_signal */
    bool removed;           /* STATE: the task was deleted; its state is the last it had */
};

struct event_batch {
    struct link link;
    struct arena arena; /* holds the events and their texts */
    struct event *events;
    size_t count;
};

void event_batch_free(struct event_batch *batch); /* NULL is welcome */

#endif
