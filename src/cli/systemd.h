/* cli/systemd.h: the service manager is told how the server fares, where there is one.
 *
 * The protocol is a datagram to the socket that NOTIFY_SOCKET names. Without one nothing happens.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_SYSTEMD_H
#define ERRAND_CLI_SYSTEMD_H

#include "net/loops.h"

struct systemd {
    struct api *api;
    struct loops *loops; /* further ones */
    uv_timer_t timer;
    bool watched;
    struct api_sender sender;
    struct command ping; /* the engine's answer to it is the sign of life */
    struct arena arena;
    bool asked;
};

/* "READY=1", "STOPPING=1", "STATUS=draining"; several in lines. */
void systemd_tell(const char *format, ...) PRINTF_LIKE(1, 2);

/* Sends signs of life as often as the manager asks for them. A sign is sent once the engine has
 * answered: a loop that turns while nobody decides anything is no life; nor are others that stand
 * still. */
void systemd_watch(struct systemd *systemd, uv_loop_t *loop, struct api *api, struct loops *loops);
void systemd_unwatch(struct systemd *systemd); /* the loop has to run out afterwards */

#endif
