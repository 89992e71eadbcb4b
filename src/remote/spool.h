/* remote/spool.h: creates that wait on this machine's disk until the server is back.
 *
 * One file, owned by one process: a first line that says how far it has been sent, then records,
 * each with its length and a checksum. A record that was acknowledged is on disk (fsync); one that
 * was torn by a crash never was. What has been sent may be sent again after a crash: every record
 * carries an idempotency key, so that it happens once.
 *
 * Thread: any adds; one takes. The lock is held while the disk is waited for: records must be on
 * disk in the order in which they were acknowledged.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_REMOTE_SPOOL_H
#define ERRAND_REMOTE_SPOOL_H

#include "base/arena.h"
#include "base/err.h"

struct spool;

MUST_CHECK bool spool_open(const char *path, int64_t max, struct spool **out, struct err *err);
void spool_close(struct spool *spool); /* NULL is welcome */

/* True: it is on disk. ERR_BUSY: the spool is full. */
MUST_CHECK bool spool_add(struct spool *spool, struct str record, struct err *err);
bool spool_empty(const struct spool *spool);

/* The oldest records, at most `max` and about `bytes`; at least one if there is one. They live in
 * the arena. The answer is how many. */
size_t spool_look(struct spool *spool, size_t max, size_t bytes, struct arena *arena,
                  struct str *out);
/* The oldest `count` are done with: they were sent, or are kept elsewhere. */
MUST_CHECK bool spool_drop(struct spool *spool, const struct str *records, size_t count,
                           struct err *err);
/* Keeps a record that the server refused in PATH.refused, one JSON object a line. */
MUST_CHECK bool spool_refuse(struct spool *spool, struct str record, struct str reason,
                             struct err *err);

#endif
