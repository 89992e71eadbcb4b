/* work/program.h: commands: what a [handler.NAME] with `exec = …` starts. A run of it: run.h.
 *
 * Thread: any, before the workers start.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_PROGRAM_H
#define ERRAND_WORK_PROGRAM_H

#include "work/workforce.h"

/* Constant after program_new(). */
struct program {
    char **argv;
    const char *path;   /* what is executed */
    const char *folder; /* where */
    char **env;         /* NAME=VALUE: the same for every run */
    size_t env_count;
    int64_t memory_max, cpu_max_s, files_max;
};

MUST_CHECK bool program_new(struct arena *arena, const struct exec_command *command,
                            struct program **out, struct err *err);

#endif
