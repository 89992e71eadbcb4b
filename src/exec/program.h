/* exec/program.h: commands: what a [handler.NAME] with `exec = …` starts, and one run of it.
 *
 * Thread: program_new() any, before the pool starts; the rest the pool's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_EXEC_PROGRAM_H
#define ERRAND_EXEC_PROGRAM_H

#include <uv.h>

#include "exec/exec.h"
#include "exec/executor.h"

#define READ_SIZE   (16 * KIB) /* taken from a pipe at a time */
#define SETTLE_MS   1000 /* how long what a command left behind may take to be gone, once killed */
#define SETTLE_STEP 5    /* between two looks at it */
#define ESCAPED_MAX 16   /* children outside the group that are ended at a time */

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

/* One command under way. It is over when its process has ended, nothing of its group or of its
 * escaped children is left, and all it said has been read. */
struct run {
    struct link link; /* in pool->running */
    struct pool *pool;
    struct attempt *attempt; /* NULL: it has ended, only handles are left to close */
    char id[TASK_ID_TEXT];
    pid_t pid;
    struct run_stream streams[RUN_STREAMS];
    uv_timer_t timer; /* the end of the grace period, then the next look at what is left */
    int handles;
    bool exited, asked, too_much;
    int status; /* of waitpid() */
    int64_t settle_until_ms;
    pid_t escaped[ESCAPED_MAX]; /* killed, and perhaps not yet gone; 0: none */
    char scratch[READ_SIZE];
};

void run_exited(struct run *run, int status); /* its process was reaped */
void run_look(struct run *run);               /* ends it if it is over */

/* Is anything of this run still there outside its process group? Kills it. (children.c) */
bool children_escaped(struct run *run);

#endif
