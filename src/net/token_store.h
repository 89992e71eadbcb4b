/* net/token_store.h: tokens that a whole fleet shares: rows of its store.
 *
 * `errand token` writes them through a connection of its own; each node reads them at its start,
 * before anybody can reach it, and again when its fleet says that they have changed.
 *
 * Thread: whoever has the steward.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_TOKEN_STORE_H
#define ERRAND_NET_TOKEN_STORE_H

#include "net/token.h"
#include "store/fleet.h"

/* As their namesakes in token.h. */
MUST_CHECK bool token_store_create(struct steward *steward, const struct token_order *order,
                                   int64_t wall_ms, struct rand *rand, struct token *out,
                                   char out_text[static TOKEN_TEXT], struct err *err);
MUST_CHECK bool token_store_list(struct steward *steward, struct arena *arena, struct token **out,
                                 size_t *out_count, struct err *err);
MUST_CHECK bool token_store_revoke(struct steward *steward, struct str id, struct err *err);

/* Rows into the book. A row that only a newer errand understands lets nobody in, but counts: where
 * there is a token, everybody is asked for one. */
void token_store_share(const struct steward_token *rows, size_t count, struct token_book *book);

#endif
