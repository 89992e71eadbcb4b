/* wire/json_scan.h: the letters of JSON, below the verbs of json.h. For json*.c only.
 *
 * Each function reads one thing at `p` and returns where it ends, or NULL with *fault filled.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_JSON_SCAN_H
#define ERRAND_WIRE_JSON_SCAN_H

#include "base/str.h"

struct json_fault {
    const char *at, *what;
};

/* p is at the opening quote. *escaped is set if there is a backslash inside, else left alone. */
const char *json_scan_string(const char *p, const char *end, bool *escaped,
                             struct json_fault *fault);

/* p is at '-' or a digit. *whole is whether it has neither fraction nor exponent. */
const char *json_scan_number(const char *p, const char *end, bool *whole, struct json_fault *fault);

/* p is at the value. `depth` brackets are open around it. */
const char *json_scan_value(const char *p, const char *end, unsigned depth,
                            struct json_fault *fault);

/* Decodes what stands between the quotes of a scanned string; `out` has room for inner.len. */
size_t json_unescape(struct str inner, char *out);

/* The first byte from p on that a string cannot hold as it is: '"', '\', control, not ASCII. */
const char *json_scan_plain(const char *p, const char *end);

static inline const char *json_scan_blank(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) {
        p++;
    }
    return p;
}

#endif
