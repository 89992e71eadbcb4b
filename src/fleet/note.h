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
/* Notes that were heard lately. One that comes by two ways, through Redis and through the store, is
 * the same text twice: the times and ids in it tell it from any other. A slot holds the hash of the
 * last note that fell into it. */
#define NOTES_REMEMBERED ((size_t)4096)
struct note_memory {
    uint64_t hashes[NOTES_REMEMBERED];
};
bool note_is_new(struct note_memory *memory, struct str text); /* and remembers it */

/* The caller owns *out. */
MUST_CHECK bool note_read(struct str text, struct event_batch **out, struct err *err);

#endif
