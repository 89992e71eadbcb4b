/* work/spawn.h: starts a program with nothing of ours but what it is given.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_SPAWN_H
#define ERRAND_WORK_SPAWN_H

#include <sys/types.h>

#include "base/def.h"

#define SPAWN_FDS 4 /* 0, 1, 2 and 3, which takes progress and log lines */

struct spawn {
    const char *path; /* one without a slash is looked for in our own PATH */
    char *const *argv, *const *env;
    const char *folder;
    int fds[SPAWN_FDS];                       /* become 0 to 3; lifted before; still the caller's */
    int64_t memory_max, cpu_max_s, files_max; /* 0: as ours */
    bool may_gain;                            /* privileges, as with sudo */
};

enum spawn_end {
    SPAWN_STARTED,
    SPAWN_REFUSED, /* the program cannot be executed: so it will be told of its task */
    SPAWN_SHORT,   /* this machine or process has no room for another one: nobody's fault */
};

/* Descriptors below SPAWN_FDS would be overwritten while the others are put in their places: such a
 * one is replaced. False: no other is to be had, and it is closed. */
MUST_CHECK bool spawn_lift(int *fd);

/* The new process leads a group of its own and is killed when the calling thread ends. It is the
 * caller's to reap. *failed is errno unless it was started. */
MUST_CHECK enum spawn_end spawn(const struct spawn *options, pid_t *out, int *failed);

#endif
