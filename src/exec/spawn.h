/* exec/spawn.h: starts a program with nothing of ours but what it is given.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_EXEC_SPAWN_H
#define ERRAND_EXEC_SPAWN_H

#include <sys/types.h>

#include "base/err.h"

#define SPAWN_FDS 4 /* 0, 1, 2 and 3, which takes progress and log lines */

struct spawn {
    const char *path;
    char *const *argv, *const *env;
    const char *folder;
    int fds[SPAWN_FDS];                       /* become 0 to 3; lifted before; still the caller's */
    int64_t memory_max, cpu_max_s, files_max; /* 0: as ours */
};

/* Descriptors below SPAWN_FDS would be overwritten while the others are put in their places: such a
 * one is exchanged for a higher one. */
MUST_CHECK bool spawn_lift(int *fd);

/* The program runs in a process group of its own, which has its number. When this returns, it does
 * run: what keeps it from starting is said here. */
MUST_CHECK bool spawn(const struct spawn *options, pid_t *out, struct err *err);

#endif
