/* work/spawn.c: starts a program with nothing of ours but what it is given. See spawn.h.
 *
 * vfork() because it copies nothing; posix_spawn() cannot set resource limits, and set from outside
 * they would come after the program's first steps. Between vfork() and exec the child uses our
 * memory: it makes system calls and nothing else.
 *
 * Thread: any; the caller's signal mask is restored.
 *
 * SPDX-License-Identifier: MIT */
#include "work/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static bool limit(int what, int64_t most)
{
    struct rlimit limit = {.rlim_cur = (rlim_t)most, .rlim_max = (rlim_t)most};
    return most <= 0 || setrlimit((__rlimit_resource_t)what, &limit) == 0;
}

/* Our handlers must not run in the child: default actions first, then signals may come. */
static bool reset_signals(void)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int number = 1; number < NSIG; number++) {
        sigaction(number, &plain, NULL); /* SIGKILL, SIGSTOP and libc's own refuse */
    }
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL) == 0;
}

static bool place_fds(const int fds[SPAWN_FDS])
{
    for (int i = 0; i < SPAWN_FDS; i++) {
        if (dup2(fds[i], i) < 0) {
            return false;
        }
    }
    return close_range(SPAWN_FDS, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

/* In the child. Says why it failed on `report`, which closes by itself when it does not. */
static _Noreturn void become(const struct spawn *options, int report)
{
    if (setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 &&
        place_fds(options->fds) && chdir(options->folder) == 0 &&
        limit(RLIMIT_AS, options->memory_max) && limit(RLIMIT_CPU, options->cpu_max_s) &&
        limit(RLIMIT_NOFILE, options->files_max) &&
        (options->may_gain || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) && reset_signals()) {
        execvpe(options->path, options->argv, options->env);
    }
    int failed = errno;
    if (write(report, &failed, sizeof failed) < 0) {
        _exit(126);
    }
    _exit(127);
}

bool spawn_lift(int *fd)
{
    if (*fd >= SPAWN_FDS) {
        return true;
    }
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, SPAWN_FDS);
    close(*fd);
    *fd = high;
    return high >= 0;
}

__attribute__((noinline)) static pid_t begin(const struct spawn *options, int report)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = vfork();
    if (pid == 0) {
        become(options, report);
    }
    int failed = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failed;
    return pid;
}

static ssize_t read_report(int fd, int *failed)
{
    ssize_t n;
    do {
        n = read(fd, failed, sizeof *failed);
    } while (n < 0 && errno == EINTR);
    return n;
}

enum spawn_end spawn(const struct spawn *options, pid_t *out, int *failed)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        *failed = errno;
        return SPAWN_SHORT;
    }
    pid_t pid = spawn_lift(&report[1]) ? begin(options, report[1]) : -1;
    *failed = errno;
    close(report[1]);
    bool started = pid > 0 && read_report(report[0], failed) <= 0;
    close(report[0]);
    if (pid < 0) {
        return SPAWN_SHORT;
    }
    *out = pid;
    return started ? SPAWN_STARTED : SPAWN_REFUSED;
}
