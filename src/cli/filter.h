/* cli/filter.h: which tasks a command means: the options that ls, cancel and retry share.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_FILTER_H
#define ERRAND_CLI_FILTER_H

#include "base/buf.h"
#include "cli/option.h"

struct filter_options {
    struct str state, type, queue, document, priority, tag, after, before;
};

#define FILTER_OPTIONS(type_)                                                                      \
    {"state", "S", "in this state, or several: QUEUED,RUNNING", OPTION_TEXT(type_, filter.state)}, \
        {"type", "T", "of this task type", OPTION_TEXT(type_, filter.type)},                       \
        {"queue", "Q", "in this queue", OPTION_TEXT(type_, filter.queue)},                         \
        {"doc", "ID", "of this document", OPTION_TEXT(type_, filter.document)},                    \
        {"priority", "P", "of this priority", OPTION_TEXT(type_, filter.priority)},                \
        {"tag", "T", "with this tag", OPTION_TEXT(type_, filter.tag)},                             \
        {"after", "TIME", "created after this time", OPTION_TEXT(type_, filter.after)},            \
    {                                                                                              \
        "before", "TIME", "created before this time", OPTION_TEXT(type_, filter.before)            \
    }

bool filter_empty(const struct filter_options *filter);
void filter_query(const struct filter_options *filter, struct buf *out); /* "&state=…&queue=…" */
void filter_json(const struct filter_options *filter, struct buf *out);  /* {"state":"…"} */

#endif
