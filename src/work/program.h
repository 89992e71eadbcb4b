/* work/program.h: commands: what a [handler.NAME] with `exec = …` starts, and one run of it.
 *
 * Thread: program_new() any, before the pool starts; the rest the pool's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_PROGRAM_H
#define ERRAND_WORK_PROGRAM_H

#include <uv.h>

#include "work/exec.h"
#include "work/executor.h"

#define READ_SIZE (16 * KIB) /* taken from a pipe at a time */
#define SETTLE_MS 1000       /* for the rest of its output, once nothing of a command is left */

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

enum { RUN_STDOUT, RUN_STDERR, RUN_TOLD, RUN_STREAMS };

struct run_stream {
    uv_pipe_t pipe;
    struct run *run;
    int which;
    bool open;
    struct buf text;
};

/* One command under way. It is over when its minder says that nothing of it is left, and all it
 * said has been read. */
struct run {
    struct pool *pool;
    struct attempt *attempt; /* NULL: it has ended, only handles are left to close */
    char id[TASK_ID_TEXT];
    int control; /* to its minder (minder.h) */
    uv_poll_t minder;
    struct run_stream streams[RUN_STREAMS];
    uv_timer_t timer; /* the end of the grace period, then of the patience with its output */
    int handles;
    bool started, ended, asked, too_much;
    int status; /* of waitpid() */
    char scratch[READ_SIZE];
};

#endif
