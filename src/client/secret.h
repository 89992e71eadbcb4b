/* client/secret.h: keys and passwords that we show to others, and where they are kept.
 *
 * A configuration names the environment variable or the file; the secret itself stands in neither
 * configuration nor log, and no error shows it.
 *
 * Thread: that of the start; the environment is read then.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_SECRET_H
#define ERRAND_CLIENT_SECRET_H

#include "base/arena.h"
#include "base/err.h"

#define SECRET_MAX (4 * KIB)

struct secret_place {
    struct str variable; /* the name of an environment variable; or absent */
    struct str file;     /* a path; or absent. The line end behind the secret is not part of it */
};

/* A place that names nothing has no secret: *out is then absent. One that names a variable that is
 * not set, or a file that cannot be read, is ERR_INVALID. */
MUST_CHECK bool secret_read(const struct secret_place *place, struct arena *arena, struct str *out,
                            struct err *err);

/* Puts stars over `secret` wherever it stands in `text`: others may repeat what they were shown. */
void secret_hide(struct str secret, char *text);

#endif
