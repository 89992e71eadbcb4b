/* net/assist.h: a text on its way to its meaning: by the language model, where there is one, and by
 * the built-in grammar where there is none or it is away.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_ASSIST_H
#define ERRAND_NET_ASSIST_H

#include "net/call.h"

struct assist {
    struct assistant_job job; /* `asked` and `arena` are the caller's to fill */
    struct call *call;
    void (*understood)(struct assist *assist);             /* job.said is there; at once or later */
    void (*step)(struct assist *assist, const char *text); /* what is going on; NULL: never mind */
};

void assist_begin(struct assist *assist);

/* Fills what is the same for every question. */
struct assistant_asked assist_asked(const struct call *call, struct str text, int64_t now_ms);

void assist_noted(struct assistant_note *note); /* something came back; takes the note */

#endif
