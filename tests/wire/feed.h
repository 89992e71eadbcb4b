/* tests/wire/feed.h: feeds an HTTP message to a reader in pieces and notes all that comes out.
 *
 * Two notes are equal exactly if a caller could not tell the two runs apart. The input moves to
 * fresh memory before each call, so that a reader which kept a pointer is caught.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_WIRE_FEED_H
#define ERRAND_TESTS_WIRE_FEED_H

#include "base/buf.h"

/* How many bytes to add before the next call; called until all are fed. */
typedef size_t feed_piece(void *arg);

size_t feed_all(void *arg);   /* at once */
size_t feed_steps(void *arg); /* as many as the size_t at arg says, each time */
size_t feed_cut(void *arg);   /* that many at first, which sets it to SIZE_MAX, then the rest */

/* Requests, pipelined ones too: "POST /a query=b host=h 1.1 keep expect {name=value} body=… done".
 * A refusal is noted as "bad 400 text" and ends the run. */
void feed_requests(struct str text, size_t body_max, feed_piece *piece, void *arg,
                   struct buf *notes);

/* Responses likewise; pieces of a body are joined. The end of the text is the end of the
 * connection. */
void feed_responses(struct str text, bool head_only, size_t body_max, feed_piece *piece, void *arg,
                    struct buf *notes);

#endif
