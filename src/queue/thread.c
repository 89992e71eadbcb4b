/* queue/thread.c: the engine's own thread: sleeps until a command comes or something falls due.
 *
 * It sleeps on an eventfd that senders poke, with the time to the next deadline as the limit, and
 * on a timerfd that fires when somebody sets the wall clock: scheduled times follow it at once.
 * With nothing due it does not wake at all.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "queue/engine.h"

static void poke(void *arg)
{
    struct engine *engine = arg;
    uint64_t one = 1;
    /* The only way this fails is a full counter, and then the thread is awake already. */
    if (write(engine->thread.wake_fd, &one, sizeof one) < 0) {
        return;
    }
}

static void clear(int fd)
{
    uint64_t count;
    if (read(fd, &count, sizeof count) < 0) {
        return; /* not poked; or, for the timer, ECANCELED: the clock was set */
    }
}

/* Far ahead: the timer is there only to be cancelled by whoever sets the clock. */
static void arm_wall(int fd)
{
    struct itimerspec far = {.it_value = {.tv_sec = (time_t)1 << 40}};
    timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, NULL);
}

/* A hand-wound clock needs no timer, but for the work that a winding waits for and to look at what
 * other nodes do. */
static int64_t settle_in_ms(const struct engine *engine)
{
    int64_t wait_ms, in = shared_look_in_ms(engine);
    if (!list_empty(&engine->winding.commands) && !wind_rests(engine, &wait_ms)) {
        in = MIN(in, wait_ms);
    }
    return in;
}

static void sleep_until_work(struct engine *engine)
{
    bool by_hand = engine->with.clock->by_hand;
    int64_t in_ms = by_hand ? settle_in_ms(engine) : engine_due_in_ms(engine);
    in_ms = MIN(in_ms < 0 ? NEVER_MS : in_ms, claims_in_ms(&engine->claims));
    struct pollfd fds[2] = {{.fd = engine->thread.wake_fd, .events = POLLIN},
                            {.fd = engine->thread.wall_fd, .events = POLLIN}};
    poll(fds, 2, in_ms == NEVER_MS ? -1 : (int)MIN(in_ms, INT_MAX));
    if (fds[0].revents != 0) {
        clear(fds[0].fd);
    }
    if (fds[1].revents != 0) {
        clear(fds[1].fd);
        arm_wall(fds[1].fd);
    }
}

static void *run(void *arg)
{
    struct engine *engine = arg;
    struct list commands;
    list_init(&commands);
    pthread_setname_np(pthread_self(), "engine");
    while (!engine->thread.stop) {
        channel_take(&engine->thread.inbox, &commands);
        if (!engine_step(engine, &commands)) {
            sleep_until_work(engine);
        }
    }
    /* What was given after the last step goes back with engine_free(). */
    channel_take(&engine->thread.inbox, &engine->pending);
    return NULL;
}

bool engine_start(struct engine *engine, struct err *err)
{
    engine->thread.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    engine->thread.wall_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (engine->thread.wake_fd < 0 || engine->thread.wall_fd < 0) {
        return err_set(err, ERR_INTERNAL, "start the engine: %s", strerror(errno));
    }
    arm_wall(engine->thread.wall_fd);
    channel_init(&engine->thread.inbox, poke, engine);
    int failed = pthread_create(&engine->thread.id, NULL, run, engine);
    if (failed != 0) {
        return err_set(err, ERR_INTERNAL, "start the engine's thread: %s", strerror(failed));
    }
    engine->thread.started = true;
    return true;
}

void engine_give(struct engine *engine, struct list *commands)
{
    assert(engine_accepts(commands));
    channel_give_all(&engine->thread.inbox, commands);
}

void engine_set_waiting_max(struct engine *engine, size_t claims)
{
    engine->with.waiting_max = claims;
}

void engine_stop(struct engine *engine)
{
    if (!engine->thread.started) {
        return;
    }
    engine->thread.stop = true;
    poke(engine);
    pthread_join(engine->thread.id, NULL);
    engine->thread.started = false;
    channel_fini(&engine->thread.inbox);
    close(engine->thread.wake_fd);
    close(engine->thread.wall_fd);
}
