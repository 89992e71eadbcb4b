/* net/wake.h: how another thread wakes a net loop.
 *
 * An eventfd that the loop watches, and not a uv_async_t: of that the woken thread waits, spinning,
 * until the one that woke it has returned from its system call; on few processors the two often
 * share one, and each would hold the other up.
 *
 * Thread: any sends; everything else is the loop's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_WAKE_H
#define ERRAND_NET_WAKE_H

#include <uv.h>

#include "base/err.h"

struct wake {
    uv_poll_t poll;
    int fd;
    void (*woken)(void *arg);
    void *arg;
};

/* `woken` is called on the loop, once or more often after each wake_send(). */
MUST_CHECK bool wake_open(struct wake *wake, uv_loop_t *loop, void (*woken)(void *arg), void *arg,
                          struct err *err);
void wake_send(const struct wake *wake);
void wake_stop(struct wake *wake); /* the loop hears nothing any more; it closes the handle */
void wake_fini(struct wake *wake); /* after that, or in vain; when no other thread can send */

#endif
