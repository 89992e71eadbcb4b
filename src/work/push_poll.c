/* work/push_poll.c: where the pushes' thread sleeps: on one epoll for curl's sockets, an eventfd
 * that other threads poke, and the next time that curl or the desk wants to look.
 *
 * Curl is told of the sockets that have something to say and of no others, so a waking costs the
 * same with five requests under way and with five hundred.
 *
 * Thread: the pushes', but for push_poll_wake(), which is for any.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "work/push_parts.h"

#define EVENTS_MAX 64 /* of one waking; the rest comes with the next */

/* ---- What curl asks for ---- */

static uint32_t events_of(int what)
{
    return ((what & CURL_POLL_IN) != 0 ? (uint32_t)EPOLLIN : 0u) |
           ((what & CURL_POLL_OUT) != 0 ? (uint32_t)EPOLLOUT : 0u);
}

/* `known` is what was assigned to the socket: NULL the first time that curl speaks of it. */
static int on_interest(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
    struct push *push = arg;
    struct epoll_event event = {.events = events_of(what), .data.fd = fd};
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(push->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    int operation = known == NULL ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    curl_multi_assign(push->multi, fd, push);
    return epoll_ctl(push->epoll_fd, operation, fd, &event) == 0 ? 0 : -1;
}

static int on_timer(CURLM *multi, long in_ms, void *arg)
{
    struct push *push = arg;
    (void)multi;
    push->curl_at_ms = in_ms < 0 ? -1 : push->now_ms + in_ms;
    return 0;
}

/* ---- Sleeping ---- */

static int sleep_ms(const struct push *push, int64_t next_ms)
{
    if (push->curl_at_ms >= 0) {
        int64_t curl_ms = MAX(push->curl_at_ms - push->now_ms, 0);
        next_ms = next_ms < 0 ? curl_ms : MIN(next_ms, curl_ms);
    }
    return next_ms < 0 ? -1 : (int)MIN(next_ms, INT_MAX);
}

static int mask_of(uint32_t events)
{
    return ((events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
           ((events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
           ((events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
}

static void on_event(struct push *push, const struct epoll_event *event)
{
    uint64_t pokes;
    int running;
    if (event->data.fd != push->wake_fd) {
        curl_multi_socket_action(push->multi, event->data.fd, mask_of(event->events), &running);
    } else if (read(push->wake_fd, &pokes, sizeof pokes) < 0) {
        return; /* not poked after all */
    }
}

void push_poll_sleep(struct push *push, int64_t next_ms)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(push->epoll_fd, events, EVENTS_MAX, sleep_ms(push, next_ms));
    push->now_ms = clock_real_mono_us() / 1000;
    for (int i = 0; i < n; i++) {
        on_event(push, &events[i]);
    }
}

void push_poll_tick(struct push *push)
{
    int running;
    if (push->curl_at_ms >= 0 && push->curl_at_ms <= push->now_ms) {
        push->curl_at_ms = -1; /* unless curl says another one meanwhile */
        curl_multi_socket_action(push->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
}

void push_poll_wake(void *push_pointer)
{
    const struct push *push = push_pointer;
    uint64_t one = 1;
    /* The only way this fails is a full counter, and then the thread is awake already. */
    if (write(push->wake_fd, &one, sizeof one) < 0) {
        return;
    }
}

/* ---- Life ---- */

bool push_poll_open(struct push *push, struct err *err)
{
    push->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    push->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = push->wake_fd};
    if (push->epoll_fd < 0 || push->wake_fd < 0 ||
        epoll_ctl(push->epoll_fd, EPOLL_CTL_ADD, push->wake_fd, &event) != 0) {
        return err_set(err, ERR_INTERNAL, "no descriptors for the pushes: %s", strerror(errno));
    }
    curl_multi_setopt(push->multi, CURLMOPT_SOCKETFUNCTION, on_interest);
    curl_multi_setopt(push->multi, CURLMOPT_SOCKETDATA, push);
    curl_multi_setopt(push->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(push->multi, CURLMOPT_TIMERDATA, push);
    return true;
}

static void close_fd(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

void push_poll_close(struct push *push)
{
    close_fd(push->epoll_fd);
    close_fd(push->wake_fd);
}
