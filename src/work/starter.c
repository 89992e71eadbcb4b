/* work/starter.c: the process that starts commands, and the server's way to it. See starter.h.
 *
 * An order is a file in memory (texts of any length) that travels with the command's descriptors
 * in one message. The starter forks, which costs little because it is small; its child becomes the
 * minder. It ends when the server closes its end of the socket or dies; the minders notice that by
 * themselves, so the starter can be killed without harm: the next command brings a new one.
 *
 * _Fork() because it runs no handlers of libraries: libuv's would close descriptors that are not
 * its own any more.
 *
 * SPDX-License-Identifier: MIT */
#include "work/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "work/minder.h"

#define ORDER_MAX (8 * MIB) /* more than the kernel takes for arguments and environment */

/* What travels beside an order, in this place; a message with one descriptor brings the lock. */
enum { WITH_ORDER = SPAWN_FDS, WITH_CONTROL, WITH_COUNT };

/* An order in its file: this, room for both tables of pointers, then the texts, each with its NUL:
 * path, folder, arguments, environment. */
struct order {
    size_t argc, envc;
    int64_t memory_max, cpu_max_s, files_max;
    bool may_gain;
};

struct starter {
    pid_t pid;
    int door; /* orders go in here */
    int lock; /* -1: none */
};

/* ---- Messages with descriptors ---- */

union passing {
    char bytes[CMSG_SPACE(WITH_COUNT * sizeof(int))];
    struct cmsghdr align;
};

static bool send_fds(int to, const int *fds, size_t count)
{
    char byte = 0;
    union passing passing = {0};
    struct iovec text = {&byte, 1};
    struct msghdr message = {.msg_iov = &text,
                             .msg_iovlen = 1,
                             .msg_control = passing.bytes,
                             .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
                             .cmsg_type = SCM_RIGHTS,
                             .cmsg_len = CMSG_LEN(count * sizeof(int))};
    memcpy(CMSG_DATA(head), fds, count * sizeof(int));
    ssize_t n;
    do {
        n = sendmsg(to, &message, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n == 1;
}

/* How many came; -1: the other side is gone. */
static int receive_fds(int from, int fds[WITH_COUNT])
{
    char byte;
    union passing passing = {0};
    struct iovec text = {&byte, 1};
    struct msghdr message = {.msg_iov = &text,
                             .msg_iovlen = 1,
                             .msg_control = passing.bytes,
                             .msg_controllen = sizeof passing.bytes};
    ssize_t n;
    do {
        n = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) {
        return -1;
    }
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    size_t count = head == NULL ? 0 : (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(fds, head == NULL ? passing.bytes : (char *)CMSG_DATA(head), count * sizeof(int));
    return (int)count;
}

static void close_all(const int *fds, int count)
{
    for (int i = 0; i < count; i++) {
        close(fds[i]);
    }
}

/* ---- In the starter: no heap, no stdio ---- */

static char *next_text(char **at)
{
    char *text = *at;
    *at += strlen(text) + 1;
    return text;
}

/* In the minder-to-be: the order as it was written, its tables filled in place. */
static bool read_order(int fd, struct spawn *out)
{
    struct stat found;
    if (fstat(fd, &found) != 0) {
        return false;
    }
    char *at = mmap(NULL, (size_t)found.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) {
        return false;
    }
    const struct order *order = (const struct order *)at;
    char **argv = (char **)(at + sizeof *order), **env = argv + order->argc + 1;
    char *text = (char *)(env + order->envc + 1);
    out->path = next_text(&text);
    out->folder = next_text(&text);
    for (size_t i = 0; i < order->argc; i++) {
        argv[i] = next_text(&text);
    }
    for (size_t i = 0; i < order->envc; i++) {
        env[i] = next_text(&text);
    }
    out->argv = argv;
    out->env = env;
    out->memory_max = order->memory_max;
    out->cpu_max_s = order->cpu_max_s;
    out->files_max = order->files_max;
    out->may_gain = order->may_gain;
    return true;
}

static void refuse(int control)
{
    struct minder_word word = {.said = MINDER_SHORT, .value = errno};
    (void)!send(control, &word, sizeof word, MSG_NOSIGNAL);
}

/* What `ps` and `pkill` see: the server's own words here would have it killed along with it. */
static void set_title(const char *title)
{
    char line[4096];
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, line, sizeof line);
    close(fd);
    prctl(PR_SET_NAME, title, 0, 0, 0);
    if (len > 0) {
        memset(program_invocation_name, 0, (size_t)len);
        memcpy(program_invocation_name, title, MIN((size_t)len - 1, strlen(title)));
    }
}

static _Noreturn void become_minder(const int fds[WITH_COUNT], int server)
{
    struct spawn options;
    memcpy(options.fds, fds, sizeof options.fds);
    set_title("minder");
    if (!read_order(fds[WITH_ORDER], &options)) {
        refuse(fds[WITH_CONTROL]);
        _exit(1);
    }
    close(fds[WITH_ORDER]);
    minder_run(&options, fds[WITH_CONTROL], server);
}

/* Signals for the server's group are not meant for us; ended minders reap themselves. Standard
 * output is given up: who reads the server's waits for its end. */
static int settle_in(int door)
{
    static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD};
    sigset_t none;
    setsid();
    dup3(door, SPAWN_FDS, O_CLOEXEC);
    close_range(SPAWN_FDS + 1, ~0U, 0);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < SPAWN_FDS; i++) { /* all taken: what comes later needs no spawn_lift() */
        if (i != STDERR_FILENO) {
            dup2(nothing, i);
        }
    }
    if (nothing > SPAWN_FDS) {
        close(nothing);
    }
    for (size_t i = 0; i < ARRAY_LEN(ignored); i++) {
        signal(ignored[i], SIG_IGN);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    set_title("starter");
    return SPAWN_FDS;
}

static _Noreturn void run_starter(int door, pid_t server)
{
    int fds[WITH_COUNT], count;
    door = settle_in(door);
    int watched = pidfd_open(server, 0); /* refused in some containers: the socket tells too */
    if (getppid() != server) {
        _exit(0); /* it died before we could watch it */
    }
    while ((count = receive_fds(door, fds)) >= 0) {
        if (count == 1) {
            continue; /* the lock: held by being open, here and in all that is forked */
        }
        pid_t pid = count == WITH_COUNT ? _Fork() : 0;
        if (pid == 0 && count == WITH_COUNT) {
            close(door);
            become_minder(fds, watched);
        }
        if (pid < 0) {
            refuse(fds[WITH_CONTROL]);
        }
        close_all(fds, count); /* some may have found no room: the server hears that they ended */
    }
    _exit(0);
}

/* ---- In the server ---- */

static bool fork_starter(struct starter *starter)
{
    int ends[2];
    sigset_t all, before;
    pid_t server = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return false;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* our handlers must not run over there */
    pid_t pid = _Fork();
    if (pid == 0) {
        run_starter(ends[1], server);
    }
    int failed = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        errno = failed;
        return false;
    }
    starter->pid = pid;
    starter->door = ends[0];
    return starter->lock < 0 || send_fds(starter->door, &starter->lock, 1);
}

bool starter_open(struct starter **out, struct err *err)
{
    struct starter *starter = mem_new(struct starter);
    *starter = (struct starter){.door = -1, .lock = -1};
    if (!fork_starter(starter)) {
        mem_free(starter);
        return err_set(err, ERR_UNAVAILABLE, "start the starter of commands: %s", strerror(errno));
    }
    *out = starter;
    return true;
}

static void end_starter(struct starter *starter)
{
    close(starter->door);
    while (waitpid(starter->pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

void starter_close(struct starter *starter)
{
    if (starter == NULL) {
        return;
    }
    end_starter(starter);
    if (starter->lock >= 0) {
        close(starter->lock);
    }
    mem_free(starter);
}

void starter_keep(struct starter *starter, int lock)
{
    starter->lock = lock;
    if (lock >= 0 && !send_fds(starter->door, &lock, 1)) {
        log_warn("the starter of commands is gone"); /* the next command brings another */
    }
}

/* ---- Orders ---- */

static size_t count_of(char *const *texts)
{
    size_t count = 0;
    while (texts[count] != NULL) {
        count++;
    }
    return count;
}

static void add_texts(struct buf *to, char *const *texts)
{
    for (; *texts != NULL; texts++) {
        buf_add(to, *texts, strlen(*texts) + 1);
    }
}

static int write_order(const struct spawn *options)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(ORDER_MAX);
    struct order order = {.argc = count_of(options->argv),
                          .envc = count_of(options->env),
                          .memory_max = options->memory_max,
                          .cpu_max_s = options->cpu_max_s,
                          .files_max = options->files_max,
                          .may_gain = options->may_gain};
    size_t tables = (order.argc + order.envc + 2) * sizeof(char *);
    buf_add(&text, &order, sizeof order);
    char *room = buf_room(&text, tables);
    if (room != NULL) {
        memset(room, 0, tables);
        buf_used(&text, tables);
    }
    buf_add(&text, options->path, strlen(options->path) + 1);
    buf_add(&text, options->folder, strlen(options->folder) + 1);
    add_texts(&text, options->argv);
    add_texts(&text, options->env);
    if (text.full) {
        errno = E2BIG;
        return -1;
    }
    int fd = memfd_create("order", MFD_CLOEXEC);
    if (fd >= 0 && write(fd, text.ptr, text.len) != (ssize_t)text.len) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Somebody may have killed the starter: another one is forked, now from a process that has threads
 * and memory. It needs neither, and commands are worth the pages that it keeps. */
static bool give_order(struct starter *starter, const int fds[WITH_COUNT])
{
    if (send_fds(starter->door, fds, WITH_COUNT)) {
        return true;
    }
    if (errno != EPIPE && errno != ECONNRESET) {
        return false;
    }
    log_warn("the starter of commands was killed; starting another");
    end_starter(starter);
    return fork_starter(starter) && send_fds(starter->door, fds, WITH_COUNT);
}

bool starter_spawn(struct starter *starter, const struct spawn *options, int *control)
{
    int fds[WITH_COUNT], ends[2];
    memcpy(fds, options->fds, sizeof options->fds);
    fds[WITH_ORDER] = write_order(options);
    if (fds[WITH_ORDER] < 0) {
        return false;
    }
    bool given = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0;
    int failed = errno;
    if (given) {
        fds[WITH_CONTROL] = ends[1];
        given = give_order(starter, fds);
        failed = errno;
        close(ends[1]);
        *control = ends[0];
        if (!given) {
            close(ends[0]);
        }
    }
    close(fds[WITH_ORDER]);
    errno = failed;
    return given;
}

/* ---- The lock ---- */

static void wait_step(void)
{
    struct timespec step = {.tv_nsec = STARTER_WAIT_STEP_MS * 1000000L};
    nanosleep(&step, NULL);
}

int starter_lock(const char *folder)
{
    SCOPED(buf_fini) struct buf path = BUF_INIT(64 * KIB);
    int64_t until_us = clock_real_mono_us() + STARTER_WAIT_MS * 1000;
    bool told = false;
    buf_printf(&path, "%s/%s", folder, STARTER_LOCK);
    int fd = open(buf_c_text(&path), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        log_warn("%s: %s", buf_c_text(&path), strerror(errno));
        return -1;
    }
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (!told) {
            log_info("waiting for the commands of the last server to be gone");
            told = true;
        }
        if (clock_real_mono_us() >= until_us) {
            log_error("a command of the last server is still there after %d s: the kernel does "
                      "not let go of it",
                      (int)(STARTER_WAIT_MS / SECOND_MS));
            break;
        }
        wait_step();
    }
    return fd;
}
