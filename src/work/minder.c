/* work/minder.c: the process beside a command that sees to its end. See minder.h.
 *
 * As a subreaper it inherits every process of the command whose parent has ended, and it alone
 * reaps them: a number that it reads in the list of its children is theirs until it lets go of it.
 * So it kills its children again and again until it has none: who started whom, in which session
 * and with what environment does not matter.
 *
 * It ends what is left when the command's own process has ended, when the server closes the socket,
 * and when the server has died. It is forked from a process with threads: no heap, no stdio.
 *
 * Keeps: G3 (an end is told when nothing of the command is left).
 *
 * SPDX-License-Identifier: MIT */
#include "work/minder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define LIST_MAX (32 * KIB) /* of the text that lists children: the rest is found next time */

/* ---- The server's side ---- */

void minder_signal(int control, int number)
{
    unsigned char byte = (unsigned char)number;
    (void)!send(control, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool minder_hear(int control, bool started, struct minder_word *out)
{
    ssize_t n;
    do {
        n = recv(control, out, sizeof *out, MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN) {
        return false;
    }
    if (n != (ssize_t)sizeof *out) {
        *out = started ? (struct minder_word){.said = MINDER_ENDED, .value = SIGKILL}
                       : (struct minder_word){.said = MINDER_SHORT, .value = EMFILE};
    }
    return true;
}

/* ---- The minder's side ---- */

struct minder {
    int control, server, children; /* children: readable when one has ended */
    pid_t command;                 /* 0: it was reaped */
    int status;
    bool ending, said;
    int64_t settle_until_ms;
};

static int64_t now_ms(void)
{
    return clock_real_mono_us() / 1000;
}

static void say(const struct minder *minder, enum minder_said said, int value)
{
    struct minder_word word = {.said = said, .value = value};
    (void)!send(minder->control, &word, sizeof word, MSG_NOSIGNAL);
}

static void begin_end(struct minder *minder)
{
    if (!minder->ending) {
        minder->ending = true;
        minder->settle_until_ms = now_ms() + MINDER_SETTLE_MS;
    }
}

/* A word from the server. The command's number is its own until it is reaped here. */
static void listen_to_server(struct minder *minder)
{
    unsigned char number;
    ssize_t n = recv(minder->control, &number, 1, MSG_DONTWAIT);
    if (n == 1 && minder->command > 0) {
        kill(-minder->command, number);
    } else if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        begin_end(minder);
    }
}

/* The command's process is reaped last of its group: until then the group's number is not given to
 * others. True: there are no children any more. */
static bool reap_all(struct minder *minder)
{
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
            return errno == ECHILD;
        }
        if (info.si_pid == 0) {
            return false;
        }
        bool own = info.si_pid == minder->command;
        int status = 0;
        if (own) {
            kill(-minder->command, SIGKILL);
        }
        waitpid(info.si_pid, &status, 0);
        if (own) {
            minder->command = 0;
            minder->status = status;
            begin_end(minder);
        }
    }
}

static size_t read_children(char *out, size_t size)
{
    char path[64];
    size_t len = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n = fd; fd >= 0 && n > 0 && len < size - 1; len += (size_t)MAX(n, 0)) {
        n = read(fd, out + len, size - 1 - len);
    }
    if (fd >= 0) {
        close(fd);
    }
    out[len] = '\0';
    return len;
}

/* A blank stands behind each number: one without was cut off at the end of the room. */
static void kill_children(struct minder *minder)
{
    char list[LIST_MAX];
    char *end;
    if (minder->command > 0) {
        kill(-minder->command, SIGKILL);
    }
    read_children(list, sizeof list);
    for (const char *at = list; *at != '\0'; at = end) {
        pid_t pid = (pid_t)strtol(at, &end, 10);
        if (end == at || *end != ' ') {
            break;
        }
        kill(pid, SIGKILL);
        end++;
    }
}

static void wait_for_news(struct minder *minder)
{
    struct pollfd fds[] = {{.fd = minder->ending ? -1 : minder->control, .events = POLLIN},
                           {.fd = minder->ending ? -1 : minder->server, .events = POLLIN},
                           {.fd = minder->children, .events = POLLIN}};
    struct signalfd_siginfo taken;
    if (poll(fds, ARRAY_LEN(fds), minder->ending ? MINDER_SWEEP_MS : -1) < 0) {
        return;
    }
    if (fds[0].revents != 0) {
        listen_to_server(minder);
    }
    if (fds[1].revents != 0) {
        begin_end(minder);
    }
    if (fds[2].revents != 0) {
        (void)!read(minder->children, &taken, sizeof taken);
    }
}

static _Noreturn void watch(struct minder *minder)
{
    while (!reap_all(minder)) {
        if (minder->ending) {
            kill_children(minder);
        }
        if (minder->ending && !minder->said && now_ms() >= minder->settle_until_ms) {
            minder->said = true;
            say(minder, MINDER_LEFT, minder->status);
        }
        wait_for_news(minder);
    }
    if (!minder->said) {
        say(minder, MINDER_ENDED, minder->status);
    }
    _exit(0);
}

static void take_seat(struct minder *minder)
{
    sigset_t child;
    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    minder->children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

void minder_run(struct spawn *options, int control, int server)
{
    static const enum minder_said said[] = {[SPAWN_STARTED] = MINDER_STARTED,
                                            [SPAWN_REFUSED] = MINDER_REFUSED,
                                            [SPAWN_SHORT] = MINDER_SHORT};
    struct minder minder = {.control = control, .server = server};
    int failed = 0;
    take_seat(&minder);
    if (minder.children < 0) {
        say(&minder, MINDER_SHORT, errno);
        _exit(1);
    }
    enum spawn_end end = spawn(options, &minder.command, &failed);
    for (int i = 0; i < SPAWN_FDS; i++) {
        close(options->fds[i]); /* their ends are seen when the command has ended them */
    }
    say(&minder, said[end], failed);
    if (end != SPAWN_STARTED) {
        _exit(1);
    }
    watch(&minder);
}
