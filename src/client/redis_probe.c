/* client/redis_probe.c: a thread that connects to Redis. See redis_probe.h.
 *
 * Thread: run() is the probe's own; everything else is the owner's.
 *
 * SPDX-License-Identifier: MIT */
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "client/redis_probe.h"

static void *run(void *arg)
{
    struct redis_probe *probe = arg;
    struct rand rand;
    rand_init(&rand);
    for (unsigned attempt = 0;; attempt++) {
        struct redis_cluster *found = NULL;
        struct err err = ERR_INIT;
        unsigned failures = MIN(probe->failures, 16) + MIN(attempt, 16);
        if (redis_stopped_within(probe->stop_fd, redis_pause_ms(failures, &rand))) {
            return NULL;
        }
        if (redis_cluster_open(&probe->place, &probe->seeds, probe->probe_key, &found, &err)) {
            atomic_store(&probe->found, found);
            eventfd_write(probe->done_fd, 1);
            return NULL;
        }
        /* An operator hears the first reason; the same one each second would only fill the disk. */
        if (attempt == 0) {
            log_warn("redis " STR_FMT ":%u: %s; trying again", STR_ARG(probe->place.url.host),
                     probe->place.url.port, err.text);
        }
    }
}

bool redis_probe_init(struct redis_probe *probe, struct err *err)
{
    probe->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    probe->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return (probe->stop_fd >= 0 && probe->done_fd >= 0) ||
           err_set(err, ERR_UNAVAILABLE, "too many open files");
}

static void end_thread(struct redis_probe *probe)
{
    eventfd_t count;
    if (probe->running) {
        pthread_join(probe->thread, NULL);
        probe->running = false;
        (void)!eventfd_read(probe->done_fd, &count);
    }
}

void redis_probe_fini(struct redis_probe *probe)
{
    if (probe->stop_fd >= 0) {
        eventfd_write(probe->stop_fd, 1);
    }
    end_thread(probe);
    redis_cluster_close(atomic_load(&probe->found));
    if (probe->stop_fd >= 0) {
        close(probe->stop_fd);
    }
    if (probe->done_fd >= 0) {
        close(probe->done_fd);
    }
    redis_place_close(&probe->place);
}

/* Signals are for the main thread. A thread that cannot be started is tried again by the next
 * call. */
void redis_probe_start(struct redis_probe *probe)
{
    sigset_t all, before;
    if (probe->running) {
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    probe->running = pthread_create(&probe->thread, NULL, run, probe) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct redis_cluster *redis_probe_take(struct redis_probe *probe)
{
    struct redis_cluster *found = atomic_exchange(&probe->found, NULL);
    if (found != NULL) {
        end_thread(probe);
    } else {
        redis_probe_start(probe);
    }
    return found;
}

void redis_probe_wait(struct redis_probe *probe, int64_t limit_ms)
{
    struct pollfd fd = {.fd = probe->done_fd, .events = POLLIN};
    poll(&fd, 1, (int)limit_ms);
}
