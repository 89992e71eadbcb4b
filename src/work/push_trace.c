/* work/push_trace.c: the trace that a request belongs to. See push_trace.h.
 *
 * SPDX-License-Identifier: MIT */
#include "work/push_trace.h"

#include <inttypes.h>
#include <stdio.h>

#include "wire/json.h"

static uint64_t not_zero(struct rand *rand)
{
    uint64_t number = rand_u64(rand);
    return number == 0 ? 1 : number;
}

void push_trace_next(struct str metadata, struct rand *rand, struct arena *arena,
                     struct push_trace *out)
{
    struct str stored = json_find_str(metadata, "traceparent", arena);
    out->state = out->from = STR_NONE;
    if (str_absent(stored) || !trace_is_parent(stored)) {
        snprintf(out->parent, sizeof out->parent,
                 "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-00", not_zero(rand),
                 rand_u64(rand), not_zero(rand));
        return;
    }
    snprintf(out->parent, sizeof out->parent, "00-%.*s-%016" PRIx64 "-%.*s", TRACE_ID_LEN,
             stored.ptr + TRACE_ID_AT, not_zero(rand), 2, stored.ptr + TRACE_FLAGS_AT);
    out->from = stored;
    struct str state = json_find_str(metadata, "tracestate", arena);
    if (trace_is_state(state)) {
        out->state = state;
    }
}
