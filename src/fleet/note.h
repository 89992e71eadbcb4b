/* fleet/note.h: a batch of events as nodes send it to each other: text in, events out.
 *
 * One event is "kind at id state attempt percent removed" and its texts, each as LENGTH:BYTES, so
 * that a text may hold anything. Written and read by nodes of different versions: an event of an
 * unknown kind is passed over.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_FLEET_NOTE_H
#define ERRAND_FLEET_NOTE_H

#include "base/buf.h"
#include "base/err.h"
#include "queue/event.h"

#define NOTE_MAX (8 * MIB) /* bytes of one batch; what does not fit is not told */

void note_write(struct buf *out, struct str from, const struct event_batch *events);

/* Who sent it; false: it is no note. */
MUST_CHECK bool note_from(struct str text, struct str *from);
/* The caller owns *out. */
MUST_CHECK bool note_read(struct str text, struct event_batch **out, struct err *err);

#endif
