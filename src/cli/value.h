/* cli/value.h: what people write on a command line or in a file, read strictly.
 *
 * One rule says what a value must look like; the message of a refusal says what would be right.
 * Options (option.h) and settings (config.h) share these rules, so "10m" means the same everywhere.
 *
 * wire/form.h describes the fields of JSON, where a number is a number and a refusal names a field;
 * here everything is text, quantities have units, and a refusal shows an example. Its rows would
 * carry kinds and uses that nobody types, so the two stay apart: what an option is called on the
 * wire is its `field`.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_VALUE_H
#define ERRAND_CLI_VALUE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* The kind decides what `out` of value_read() points to. */
enum value_kind {
    VALUE_TEXT,     /* struct str: borrowed, as written, not empty */
    VALUE_NUMBER,   /* int64_t */
    VALUE_SIZE,     /* int64_t bytes: 1MiB, 16k, 4096 */
    VALUE_DURATION, /* int64_t milliseconds: 10m, 1h30m, 30d */
    VALUE_REAL,     /* double */
    VALUE_BOOL,     /* bool: yes, no, true, false, on, off, 1, 0 */
    VALUE_CHOICE,   /* int64_t: which of `choices`, from 0 */
    VALUE_TIME,     /* struct str: RFC 3339, a date, "2h ago"; "10m" is ahead */
    VALUE_PAST,     /* the same; "10m" is ago */
    VALUE_WALL,     /* struct str: a wall time for the server to judge; a date, "10m" too */
    VALUE_CAPITALS, /* struct str: words that are written in capitals, given in any case */
};

struct value_rule {
    enum value_kind kind;
    int64_t least, most; /* of numbers, sizes and durations; both 0: any that is not negative */
    const char *choices; /* "debug|info|warn|error" */
};

bool value_is_text(enum value_kind kind); /* `out` is a struct str */
/* Such a value as a server is told it: times in RFC 3339, capitals. */
void value_send(const struct value_rule *rule, struct str text, struct buf *out);

/* Fails with a sentence such as `"lots" is not a size; write for example 1MiB`. */
MUST_CHECK bool value_read(const struct value_rule *rule, struct str text, void *out,
                           struct err *err);

#endif
