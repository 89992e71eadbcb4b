/* work/words.h: a line of words as a shell splits it, without a shell.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_WORDS_H
#define ERRAND_WORK_WORDS_H

#include "base/arena.h"
#include "base/err.h"

/* Blanks part words. 'Single quotes' keep everything, "double quotes" all but \" and \\, and \
 * outside quotes keeps the next character. Nothing is expanded. *out ends with NULL. */
MUST_CHECK bool words_split(struct arena *arena, struct str line, char ***out, size_t *count,
                            struct err *err);

#endif
