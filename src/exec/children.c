/* exec/children.c: reaps every child of the process, and finds those that left their group.
 *
 * The server is a subreaper: whatever a command leaves behind becomes its child when its own parent
 * has ended. Processes of the command's group were killed with it. One that made a group or session
 * of its own is known by the ERRAND_TASK_ID in its environment; once its command has ended it is
 * killed too. One that also forgot its environment is left alone, and reaped when it ends.
 *
 * Thread: the pool's.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/pool.h"
#include "exec/program.h"

#define CHILDREN_MAX (64 * KIB) /* of the text that lists them */

static struct run *find_run(const struct pool *pool, pid_t pid)
{
    LIST_EACH(&pool->running, it)
    {
        struct run *run = HOLDER(it, struct run, link);
        if (run->pid == pid && !run->exited) {
            return run;
        }
    }
    return NULL;
}

/* A command's process is reaped last: until then its group's number cannot be given to others. */
static void reap(struct pool *pool, pid_t pid)
{
    struct run *run = find_run(pool, pid);
    int status = 0;
    if (run != NULL) {
        kill(-pid, SIGKILL);
    }
    waitpid(pid, &status, 0);
    if (run != NULL) {
        run_exited(run, status);
    }
}

void programs_reap(struct pool *pool)
{
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
            break;
        }
        reap(pool, info.si_pid);
    }
    LIST_EACH(&pool->running, it)
    {
        run_look(HOLDER(it, struct run, link));
    }
}

/* ---- Those that escaped ---- */

static size_t read_start(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    for (ssize_t n = fd; fd >= 0 && n > 0 && len < size - 1; len += (size_t)MAX(n, 0)) {
        n = read(fd, out + len, size - 1 - len);
    }
    if (fd >= 0) {
        close(fd);
    }
    out[len] = '\0';
    return len;
}

/* run.c puts the id first, so the start of the environment is enough. */
static bool belongs_to(pid_t pid, const struct run *run)
{
    char path[64], start[128], want[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    snprintf(want, sizeof want, "ERRAND_TASK_ID=%s", run->id);
    read_start(path, start, sizeof start);
    return strcmp(start, want) == 0;
}

static void kill_escaped(struct run *run, const char *children)
{
    size_t count = 0;
    char *end;
    for (const char *at = children; *at != '\0' && count < ESCAPED_MAX; at = end) {
        pid_t pid = (pid_t)strtol(at, &end, 10);
        if (end == at) {
            break;
        }
        if (pid > 0 && find_run(run->pool, pid) == NULL && belongs_to(pid, run)) {
            run->escaped[count++] = pid;
            kill(pid, SIGKILL);
        }
    }
}

/* One that was killed is waited for until it was reaped: while it dies it has no environment any
 * more, but perhaps still its files. */
static bool all_gone(struct run *run)
{
    bool gone = true;
    for (size_t i = 0; i < ESCAPED_MAX; i++) {
        if (run->escaped[i] != 0 && kill(run->escaped[i], 0) != 0) {
            run->escaped[i] = 0;
        }
        gone = gone && run->escaped[i] == 0;
    }
    return gone;
}

/* Orphans become children of the main thread, those we start ourselves of the pool's. */
bool children_escaped(struct run *run)
{
    char path[64];
    SCOPED(buf_fini) struct buf text = BUF_INIT(CHILDREN_MAX);
    if (!all_gone(run)) {
        return true;
    }
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    char *room = buf_room(&text, CHILDREN_MAX);
    if (read_start(path, room, CHILDREN_MAX) > 0) {
        kill_escaped(run, room);
    }
    return !all_gone(run);
}
