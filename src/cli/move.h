/* cli/move.h: what `errand serve` says of a store that was left behind.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_MOVE_H
#define ERRAND_CLI_MOVE_H

#include "cli/config.h"
#include "store/store.h"

/* Whoever changes `store` to PostgreSQL starts with an empty one. If there are tasks in the file
 * that the data folder had before, the log says so, and how they come along. */
void move_remind(struct store *store, const struct config *config);

#endif
