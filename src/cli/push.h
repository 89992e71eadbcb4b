/* cli/push.h: JSON as people give it to a command.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_PUSH_H
#define ERRAND_CLI_PUSH_H

#include "base/buf.h"
#include "base/err.h"

/* JSON as written, of a file (@FILE) or of standard input (-). */
MUST_CHECK bool push_read_json(struct str word, struct buf *out, struct err *err);

#endif
