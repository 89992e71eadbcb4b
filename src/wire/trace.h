/* wire/trace.h: the headers by which callers say which trace they belong to (W3C Trace Context).
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_TRACE_H
#define ERRAND_WIRE_TRACE_H

#include "base/str.h"

/* version-trace-parent-flags: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 */
#define TRACEPARENT_LEN  55
#define TRACE_ID_AT      3
#define TRACE_ID_LEN     32
#define TRACE_PARENT_AT  36
#define TRACE_PARENT_LEN 16
#define TRACE_FLAGS_AT   53
#define TRACESTATE_MAX   512

/* A `traceparent`. Later versions may add something behind; what is known stays where it is. */
bool trace_is_parent(struct str text);

/* A `tracestate` that may be passed on as it is. */
bool trace_is_state(struct str text);

#endif
