/* work/text.h: what other people's programs say, made fit to be kept and shown.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_TEXT_H
#define ERRAND_WORK_TEXT_H

#include "base/arena.h"
#include "base/buf.h"

/* At most `max` bytes of well-formed UTF-8 without NUL: other bytes become U+FFFD, a character that
 * does not fit whole is left out. Absent stays absent. */
struct str text_clean(struct arena *arena, struct str text, size_t max);

/* The newest lines that fit into `max` bytes. */
struct str text_tail(struct str text, size_t max);

/* Cuts the oldest lines of `lines` until another `len` bytes fit below its ceiling. */
void text_make_room(struct buf *lines, size_t len);

/* JSON as it is, anything else as a JSON string; blanks around it count for nothing. */
struct str text_to_json(struct arena *arena, struct str text);

#endif
