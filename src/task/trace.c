/* task/trace.c: the trace that an attempt belongs to. See trace.h.
 *
 * SPDX-License-Identifier: MIT */
#include "task/trace.h"

#include <inttypes.h>
#include <stdio.h>

#include "wire/json.h"

#define FLAG_SAMPLED 0x01

/* A number that follows from the task and `nth` and looks like chance (the last step of
 * splitmix64): ids of neighbours differ in few bits, and who samples traces looks at some bits
 * only. Never 0. */
static uint64_t number_of(struct task_id id, uint64_t nth)
{
    uint64_t x = id.hi ^ (id.lo << 32 | id.lo >> 32);
    for (int round = 0; round < 2; round++) {
        x += (nth + 1) * UINT64_C(0x9E3779B97F4A7C15);
        x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
        x ^= x >> 31;
    }
    return x == 0 ? 1 : x;
}

enum { NTH_TRACE_HIGH, NTH_TRACE_LOW, NTH_SPAN };

void task_trace(const struct task *task, struct str metadata, bool recorded, struct arena *arena,
                struct task_trace *out)
{
    struct str stored = json_find_str(metadata, "traceparent", arena);
    uint64_t span = number_of(task->id, NTH_SPAN + (uint64_t)task->attempt);
    *out = (struct task_trace){.from = STR_NONE, .state = STR_NONE};
    if (str_absent(stored) || !trace_is_parent(stored)) {
        out->sampled = recorded;
        snprintf(out->parent, sizeof out->parent,
                 "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-%02x",
                 number_of(task->id, NTH_TRACE_HIGH), number_of(task->id, NTH_TRACE_LOW), span,
                 recorded ? FLAG_SAMPLED : 0);
        return;
    }
    snprintf(out->parent, sizeof out->parent, "00-%.*s-%016" PRIx64 "-%.*s", TRACE_ID_LEN,
             stored.ptr + TRACE_ID_AT, span, 2, stored.ptr + TRACE_FLAGS_AT);
    const char last = stored.ptr[TRACE_FLAGS_AT + 1];
    int flags = last >= 'a' ? last - 'a' + 10 : last - '0';
    out->sampled = (flags & FLAG_SAMPLED) != 0;
    out->from = stored;
    struct str state = json_find_str(metadata, "tracestate", arena);
    if (trace_is_state(state)) {
        out->state = state;
    }
}
