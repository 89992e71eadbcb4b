/* task/trace.h: the trace that an attempt belongs to (W3C Trace Context).
 *
 * Whoever ordered the task may have said in its metadata which trace it is part of. Each attempt is
 * a span of that trace; of one that nobody named, the task is the beginning. Both names follow from
 * the task's id and the number of the attempt, so that whoever starts an attempt, works on it or
 * sees its end calls it the same, on every node and without remembering anything.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TASK_TRACE_H
#define ERRAND_TASK_TRACE_H

#include "base/arena.h"
#include "task/task.h"
#include "wire/trace.h"

struct task_trace {
    /* `traceparent` for whoever works on it: its trace, the attempt's span, the flags. */
    char parent[TRACEPARENT_LEN + 1];
    struct str from;  /* that of the caller; absent: the trace begins with the task */
    struct str state; /* `tracestate` of the caller; or absent */
    bool sampled;     /* somebody records it: the caller says so, or of a new trace we do */
};

/* The trace of the task's current attempt, by its metadata. `recorded`: spans are sent somewhere.
 */
void task_trace(const struct task *task, struct str metadata, bool recorded, struct arena *arena,
                struct task_trace *out);

/* Parts of a `traceparent`. */
static inline struct str trace_id(const char *parent)
{
    return (struct str){parent + TRACE_ID_AT, TRACE_ID_LEN};
}

static inline struct str trace_span(const char *parent)
{
    return (struct str){parent + TRACE_PARENT_AT, TRACE_PARENT_LEN};
}

#endif
