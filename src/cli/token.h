/* cli/token.h: where tokens are kept: the store that a fleet shares, and the data folder.
 *
 * Thread: the command's only one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_TOKEN_H
#define ERRAND_CLI_TOKEN_H

#include "cli/config.h"
#include "net/token_store.h"

struct token_place {
    const char *folder;
    struct store *store; /* NULL: not shared, the folder is all there is */
    struct steward *steward;
};

/* With `migrate` the store's schema is brought up to date, as errand serve would do. `config` is
 * borrowed. To be ended with token_place_fini() whatever the answer. */
MUST_CHECK bool token_place_open(struct token_place *place, struct config *config, bool migrate,
                                 struct err *err);
void token_place_fini(struct token_place *place);

/* Into the store if it is shared, else into the folder. */
MUST_CHECK bool token_place_create(struct token_place *place, const struct token_order *order,
                                   struct token *out, char out_text[static TOKEN_TEXT],
                                   struct err *err);

struct token_list {
    struct token *tokens;
    size_t count, shared; /* those of the store come first */
};
MUST_CHECK bool token_place_list(struct token_place *place, struct arena *arena,
                                 struct token_list *out, struct err *err);

/* Wherever it is. */
MUST_CHECK bool token_place_revoke(struct token_place *place, struct str id, struct err *err);

#endif
