/* net/wake.c: how another thread wakes a net loop. See wake.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/wake.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void on_poll(uv_poll_t *poll, int status, int what)
{
    struct wake *wake = HOLDER(poll, struct wake, poll);
    uint64_t count;
    (void)what;
    if (status == 0 && read(wake->fd, &count, sizeof count) > 0) {
        wake->woken(wake->arg);
    }
}

bool wake_open(struct wake *wake, uv_loop_t *loop, void (*woken)(void *arg), void *arg,
               struct err *err)
{
    wake->woken = woken;
    wake->arg = arg;
    wake->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake->fd < 0) {
        return err_set(err, ERR_UNAVAILABLE, "open an eventfd: %s", strerror(errno));
    }
    int status = uv_poll_init(loop, &wake->poll, wake->fd);
    if (status != 0) {
        wake_fini(wake);
        return err_set(err, ERR_UNAVAILABLE, "watch an eventfd: %s", uv_strerror(status));
    }
    uv_poll_start(&wake->poll, UV_READABLE, on_poll);
    return true;
}

void wake_send(const struct wake *wake)
{
    uint64_t one = 1;
    /* The only way this fails is a full counter, and then the loop is awake already. */
    if (write(wake->fd, &one, sizeof one) < 0) {
        return;
    }
}

void wake_stop(struct wake *wake)
{
    uv_close((uv_handle_t *)&wake->poll, NULL);
}

void wake_fini(struct wake *wake)
{
    if (wake->fd >= 0) {
        close(wake->fd);
    }
    wake->fd = -1;
}
