/* cli/move_files.h: the files beside a store that move along: documents and tokens.
 *
 * What is there already with the same content counts as moved, so that a move that was cut short
 * can be begun again; what is there with another content is somebody else's and refused.
 *
 * Thread: the command's only one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_MOVE_FILES_H
#define ERRAND_CLI_MOVE_FILES_H

#include "base/arena.h"
#include "base/err.h"
#include "store/fleet.h"

/* Copies all files below `from` to the same places below `to`, on disk when it returns. A missing
 * `from` has none. With `only_look` nothing is written. */
MUST_CHECK bool files_copy(const char *from, const char *to, bool only_look, int64_t *count,
                           struct err *err);

/* The tokens of a data folder as lines; and those of a fleet as a data folder's file. */
MUST_CHECK bool files_tokens_read(const char *folder, struct arena *arena,
                                  struct steward_token **out, size_t *count, struct err *err);
MUST_CHECK bool files_tokens_write(const char *folder, const struct steward_token *tokens,
                                   size_t count, bool only_look, struct err *err);

#endif
