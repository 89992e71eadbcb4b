/* wire/trace.c: the headers of a trace. See trace.h.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/trace.h"

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

bool trace_is_parent(struct str text)
{
    bool long_enough = text.len == TRACEPARENT_LEN ||
                       (text.len > TRACEPARENT_LEN && !str_starts(text, STR("00")) &&
                        text.ptr[TRACEPARENT_LEN] == '-');
    return long_enough && is_hex(part(text, 0, 2)) && !str_starts(text, STR("ff")) &&
           text.ptr[TRACE_ID_AT - 1] == '-' && is_id(part(text, TRACE_ID_AT, TRACE_ID_LEN)) &&
           text.ptr[TRACE_PARENT_AT - 1] == '-' &&
           is_id(part(text, TRACE_PARENT_AT, TRACE_PARENT_LEN)) &&
           text.ptr[TRACE_FLAGS_AT - 1] == '-' && is_hex(part(text, TRACE_FLAGS_AT, 2));
}

bool trace_is_state(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < ' ' || text.ptr[i] > '~') {
            return false;
        }
    }
    return text.len > 0 && text.len <= TRACESTATE_MAX;
}
