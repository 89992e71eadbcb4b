/* store/sqlite/names.h: task types and queues, each text once; see names.c.
 *
 * Rows hold numbers, memory holds the texts that were met lately.
 *
 * Thread: the connection's; the walk is the engine's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_SQLITE_NAMES_H
#define ERRAND_STORE_SQLITE_NAMES_H

#include "base/err.h"
#include "base/str.h"

struct db;
struct sqlite_store;

#define NAMES_CACHED_MAX 10000 /* texts that a connection keeps at hand */

/* *id becomes 0 when nobody has that name. */
MUST_CHECK bool name_find(struct db *db, struct str text, int64_t *id, struct err *err);
/* Adds it in the current transaction if it is new. */
MUST_CHECK bool name_intern(struct db *db, struct str text, int64_t *id, struct err *err);
/* The text is borrowed until the next names_trim(). */
MUST_CHECK bool name_text(struct db *db, int64_t id, struct str *out, struct err *err);
void name_forget(struct db *db, int64_t id); /* its row is gone */
/* The transaction was rolled back: forgets names above `last`. */
void names_undo(struct db *db, int64_t last);
/* Between two rows: keeps memory bounded, however many names they have. */
void names_trim(struct db *db);
void name_used(struct db *db, int64_t id); /* while there is a walk: it must stay */
void names_fini(struct db *db);

/* ---- Names that nobody uses any more ---- */

bool names_open(struct sqlite_store *store, struct err *err);
bool names_due(const struct sqlite_store *store);
bool names_step(struct sqlite_store *store, struct err *err); /* a slice, in a transaction */
void names_walk_end(struct sqlite_store *store);

#endif
