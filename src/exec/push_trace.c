/* exec/push_trace.c: the trace that a request belongs to. See push_trace.h.
 *
 * SPDX-License-Identifier: MIT */
#include "exec/push_trace.h"

#include <inttypes.h>
#include <stdio.h>

#include "wire/json.h"

/* version-trace-parent-flags: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 */
#define TRACE_AT   3
#define TRACE_LEN  32
#define PARENT_AT  36
#define PARENT_LEN 16
#define FLAGS_AT   53

static bool is_hex(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        bool hex = (text.ptr[i] >= '0' && text.ptr[i] <= '9') ||
                   (text.ptr[i] >= 'a' && text.ptr[i] <= 'f');
        if (!hex) {
            return false;
        }
    }
    return true;
}

/* Hex digits, and not all of them 0. */
static bool is_id(struct str text)
{
    bool some = false;
    for (size_t i = 0; i < text.len; i++) {
        some = some || text.ptr[i] != '0';
    }
    return some && is_hex(text);
}

static struct str part(struct str text, size_t at, size_t len)
{
    return (struct str){text.ptr + at, len};
}

/* Later versions may add something behind; what we know of them stays where it is. */
static bool is_valid(struct str text)
{
    bool long_enough = text.len == TRACEPARENT_LEN ||
                       (text.len > TRACEPARENT_LEN && !str_starts(text, STR("00")) &&
                        text.ptr[TRACEPARENT_LEN] == '-');
    return long_enough && is_hex(part(text, 0, 2)) && !str_starts(text, STR("ff")) &&
           text.ptr[TRACE_AT - 1] == '-' && is_id(part(text, TRACE_AT, TRACE_LEN)) &&
           text.ptr[PARENT_AT - 1] == '-' && is_id(part(text, PARENT_AT, PARENT_LEN)) &&
           text.ptr[FLAGS_AT - 1] == '-' && is_hex(part(text, FLAGS_AT, 2));
}

static uint64_t not_zero(struct rand *rand)
{
    uint64_t number = rand_u64(rand);
    return number == 0 ? 1 : number;
}

static void begin(struct rand *rand, char out[static TRACEPARENT_LEN + 1])
{
    snprintf(out, TRACEPARENT_LEN + 1, "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-00",
             not_zero(rand), rand_u64(rand), not_zero(rand));
}

void push_trace_next(struct str metadata, struct rand *rand, struct arena *arena,
                     struct push_trace *out)
{
    struct str stored = json_find_str(metadata, "traceparent", arena);
    out->state = out->from = STR_NONE;
    if (str_absent(stored) || !is_valid(stored)) {
        begin(rand, out->parent);
        return;
    }
    snprintf(out->parent, sizeof out->parent, "00-%.*s-%016" PRIx64 "-%.*s", TRACE_LEN,
             stored.ptr + TRACE_AT, not_zero(rand), 2, stored.ptr + FLAGS_AT);
    out->from = stored;
    struct str state = json_find_str(metadata, "tracestate", arena);
    if (state.len > 0 && state.len <= TRACESTATE_MAX && !str_has_control(state)) {
        out->state = state;
    }
}
