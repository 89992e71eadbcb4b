/* work/push_trace.h: the trace that a request belongs to (W3C Trace Context).
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_PUSH_TRACE_H
#define ERRAND_WORK_PUSH_TRACE_H

#include "base/arena.h"
#include "base/rand.h"
#include "wire/trace.h"

struct push_trace {
    char parent[TRACEPARENT_LEN + 1];
    struct str state; /* tracestate; or absent */
    struct str from;  /* the metadata's own `traceparent`; absent: a trace begins here */
};

/* A step of the trace in the metadata's `traceparent`: the same trace and flags, with a parent of
 * its own; what `tracestate` says goes along. Without a valid one a trace begins here. */
void push_trace_next(struct str metadata, struct rand *rand, struct arena *arena,
                     struct push_trace *out);

#endif
