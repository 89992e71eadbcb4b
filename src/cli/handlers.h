/* cli/handlers.h: the sections [handler.TYPE] of errand.conf: which command runs a task type, or
 * which address it is pushed to.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_HANDLERS_H
#define ERRAND_CLI_HANDLERS_H

#include "base/arena.h"
#include "wire/ini.h"
#include "work/workforce.h"

#define HANDLERS_MAX    256 /* sections */
#define HANDLER_ENV_MAX 64  /* env.NAME lines in one of them */

struct handlers {
    struct handler {
        struct exec_command command; /* of `exec`; its type is the handler's */
        struct push_handler push;    /* of `url` */
    } at[HANDLERS_MAX];
    size_t count;
};

bool handlers_is_section(struct str section);

/* One `key = value` below [handler.TYPE]. `folder` is where the file lies. Texts go to `arena`. */
MUST_CHECK bool handlers_take(struct handlers *handlers, struct arena *arena, struct str folder,
                              const struct ini_pair *pair, struct err *err);

/* Every section must say what to run, or where to push, and not both. */
MUST_CHECK bool handlers_check(const struct handlers *handlers, struct err *err);

#endif
