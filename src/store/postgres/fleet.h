/* store/postgres/fleet.h: what fleet.c and propose.c give to the store's table of functions.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_POSTGRES_FLEET_H
#define ERRAND_STORE_POSTGRES_FLEET_H

#include "store/fleet.h"

bool pg_expect_open(struct tx *tx, const struct str *names, size_t count);
bool pg_rooms(struct tx *tx, const struct str *names, size_t names_count, int64_t now_ms,
              struct arena *arena, struct store_room **out, size_t *count, struct err *err);
bool pg_propose(struct tx *tx, const struct want *want, size_t max, struct arena *arena,
                struct hint *out, size_t *count, struct err *err);
bool pg_document(struct tx *tx, struct str document, size_t most, struct arena *arena,
                 struct store_document *out, struct err *err);
bool pg_documents(struct tx *tx, size_t most, struct arena *arena, struct store_document **out,
                  size_t *count, struct err *err);
bool pg_oldest(struct tx *tx, struct str queue, int64_t *out, struct err *err);
bool pg_leads(struct tx *tx, struct str id, uint64_t epoch, bool *out, struct err *err);

#endif
