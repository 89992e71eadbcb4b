/* tests/fuzz/fuzz_trace.c: a trace that was taken is printable and has its parts in their places.
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "wire/trace.h"

void fuzz_one(struct str text)
{
    if (trace_is_parent(text)) {
        FUZZ_CLAIM(text.len >= TRACEPARENT_LEN);
        FUZZ_CLAIM(trace_is_state((struct str){text.ptr, TRACEPARENT_LEN}));
    }
    FUZZ_CLAIM(!trace_is_state(text) || text.len <= TRACESTATE_MAX);
}
