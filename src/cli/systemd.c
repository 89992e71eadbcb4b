/* cli/systemd.c: the service manager is told how the server fares. See systemd.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/systemd.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define STATE_MAX 512

void systemd_tell(const char *format, ...)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    char state[STATE_MAX];
    va_list args;
    if (path == NULL || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof to.sun_path) {
        return;
    }
    va_start(args, format);
    int len = vsnprintf(state, sizeof state, format, args);
    va_end(args);
    memcpy(to.sun_path, path, strlen(path));
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (path[0] == '@') {
        to.sun_path[0] = '\0'; /* an abstract name */
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        /* Who manages us may be gone; that is not ours to mend. */
        (void)!sendto(fd, state, MIN((size_t)MAX(len, 0), sizeof state - 1), MSG_NOSIGNAL,
                      (struct sockaddr *)&to, size);
        close(fd);
    }
}

/* ---- Signs of life ---- */

static void on_alive(struct api_sender *sender, struct command *command)
{
    struct systemd *systemd = HOLDER(sender, struct systemd, sender);
    (void)command;
    systemd->asked = false;
    arena_clear(&systemd->arena);
    if (loops_turn(systemd->loops)) {
        systemd_tell("WATCHDOG=1");
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct systemd *systemd = timer->data;
    if (systemd->asked) {
        return;
    }
    systemd->asked = true;
    systemd->ping = (struct command){
        .kind = COMMAND_QUEUES, .arena = &systemd->arena, .sender = &systemd->sender};
    api_give(systemd->api, &systemd->ping);
}

void systemd_watch(struct systemd *systemd, uv_loop_t *loop, struct api *api, struct loops *loops)
{
    const char *every = getenv("WATCHDOG_USEC"), *whom = getenv("WATCHDOG_PID");
    int64_t us = 0, pid = getpid();
    if (every == NULL || !str_i64(str_of(every), &us) || us <= 0 ||
        (whom != NULL && (!str_i64(str_of(whom), &pid) || pid != getpid()))) {
        return;
    }
    systemd->api = api;
    systemd->loops = loops;
    systemd->arena = ARENA_INIT;
    systemd->sender.answered = on_alive;
    systemd->watched = uv_timer_init(loop, &systemd->timer) == 0;
    systemd->timer.data = systemd;
    uint64_t ms = (uint64_t)MAX(us / 1000 / 2, 1);
    uv_timer_start(&systemd->timer, on_tick, ms, ms);
}

void systemd_unwatch(struct systemd *systemd)
{
    if (systemd->watched) {
        uv_close((uv_handle_t *)&systemd->timer, NULL);
        arena_fini(&systemd->arena);
        systemd->watched = false;
    }
}
