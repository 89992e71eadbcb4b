/* schedule/message.h: what is delivered: the payload of a delivery's task. Pure.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_SCHEDULE_MESSAGE_H
#define ERRAND_SCHEDULE_MESSAGE_H

#include "base/arena.h"
#include "base/err.h"

#define MESSAGE_TITLE_MAX 512
#define MESSAGE_TEXT_MAX  (256 * KIB) /* the rest is cut; its run has the whole */

struct message {
    struct str to;    /* an address of its channel; absent: none is known */
    struct str title; /* one line */
    struct str text;
    struct str id; /* "EXECUTION.CHANNEL": the same whenever it is sent again */
    int64_t at_ms; /* when it was written */
    struct str user, schedule, execution, chat; /* whom and what it is about; absent: unknown */
};

struct str message_write(const struct message *message, struct arena *arena);
MUST_CHECK bool message_read(struct str payload, struct arena *arena, struct message *out,
                             struct err *err);

/* In one line, without control characters, at most `max` bytes, cut at a character. */
struct str message_line(struct str text, size_t max, struct arena *arena);

#endif
