/* client/redis_subscribe.c: hears what is published on some channels. See redis.h.
 *
 * A thread of its own reads, asks for a sign of life when nothing was heard for half of
 * REDIS_SILENCE_MS, and connects anew when none comes.
 *
 * Thread: run() and what it calls are the subscriber's own; open and close are the owner's.
 *
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "client/redis_cluster.h"

struct redis_subscriber {
    struct redis_place place;
    struct redis_seeds seeds;
    struct str home_key;
    struct str *words; /* SUBSCRIBE and the channels */
    size_t channels_count;
    redis_message_fn *message;
    redis_state_fn *state;
    void *arg;
    int stop_fd;
    pthread_t thread;
    bool started;
};

static void say(const struct redis_subscriber *s, bool up)
{
    if (s->state != NULL) {
        s->state(s->arg, up);
    }
}

/* ["message", channel, text]; anything else is the answer to a PING or a SUBSCRIBE. */
static void hear(const struct redis_subscriber *s, const redisReply *reply)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3) {
        return;
    }
    struct str part[3];
    for (size_t i = 0; i < 3; i++) {
        part[i] = (struct str){reply->element[i]->str, reply->element[i]->len};
    }
    if (str_is(part[0], "message")) {
        s->message(s->arg, part[1], part[2]);
    }
}

static bool hear_next(struct redis_subscriber *s, struct redis_wire *wire, int64_t limit_ms,
                      struct err *err)
{
    SCOPED(redis_wire_free) redisReply *reply = NULL;
    if (!redis_wire_next(wire, limit_ms, &reply, err)) {
        return false;
    }
    if (reply->type == REDIS_REPLY_ERROR) {
        struct str code = redis_wire_code(reply);
        return err_set(err, ERR_UNAVAILABLE, "it says " STR_FMT, STR_ARG(code));
    }
    hear(s, reply);
    return true;
}

static bool begin(struct redis_subscriber *s, struct redis_wire *wire, struct err *err)
{
    redis_wire_add(wire, s->words, 1 + s->channels_count);
    for (size_t i = 0; i < s->channels_count; i++) {
        if (!hear_next(s, wire, REDIS_CONNECT_MS, err)) {
            return false;
        }
    }
    return true;
}

/* Until something fails, or true: told to stop. What came in one piece is heard in one go, because
 * poll() sees only what is still in the socket. */
static bool listen_on(struct redis_subscriber *s, struct redis_wire *wire, struct err *err)
{
    const struct str ping = STR("PING");
    while (!redis_stopped_within(s->stop_fd, 0)) {
        void *reply = NULL;
        if (redisReaderGetReply(wire->context->reader, &reply) == REDIS_OK && reply != NULL) {
            hear(s, reply);
            freeReplyObject(reply);
            continue;
        }
        if (!redis_wire_poll(wire, s->stop_fd, REDIS_SILENCE_MS / 2)) {
            redis_wire_add(wire, &ping, 1);
        }
        if (!redis_stopped_within(s->stop_fd, 0) &&
            !hear_next(s, wire, REDIS_SILENCE_MS / 2, err)) {
            return false;
        }
    }
    return true;
}

/* One connection's life. True: told to stop. */
static bool attend(struct redis_subscriber *s, unsigned *failures)
{
    struct redis_wire *wire = NULL;
    struct err err = ERR_INIT;
    bool up = redis_cluster_open_home(&s->place, &s->seeds, s->home_key, &wire, &err) &&
              begin(s, wire, &err);
    bool stopped = false;
    if (up) {
        *failures = 0;
        say(s, true);
        stopped = listen_on(s, wire, &err);
        say(s, false);
    }
    if (!stopped && *failures == 0) {
        log_warn("redis " STR_FMT ":%u: listen: %s; trying again", STR_ARG(s->place.url.host),
                 s->place.url.port, err.text);
    }
    redis_wire_close(wire);
    ++*failures;
    return stopped;
}

static void *run(void *arg)
{
    struct redis_subscriber *s = arg;
    struct rand rand;
    unsigned failures = 0;
    rand_init(&rand);
    while (!attend(s, &failures) &&
           !redis_stopped_within(s->stop_fd, redis_pause_ms(failures, &rand))) {
    }
    return NULL;
}

static bool start(struct redis_subscriber *s, struct err *err)
{
    sigset_t all, before;
    s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->stop_fd < 0) {
        return err_set(err, ERR_UNAVAILABLE, "too many open files");
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    s->started = pthread_create(&s->thread, NULL, run, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return s->started || err_set(err, ERR_UNAVAILABLE, "too many threads");
}

bool redis_subscribe(const struct redis_subscription *subscription, struct redis_subscriber **out,
                     struct err *err)
{
    struct redis_subscriber *s = mem_new(struct redis_subscriber);
    s->message = subscription->message;
    s->state = subscription->state;
    s->arg = subscription->arg;
    s->stop_fd = -1;
    s->home_key = arena_str(&s->place.texts, subscription->home_key);
    s->channels_count = subscription->channels_count;
    s->words = arena_array(&s->place.texts, struct str, 1 + s->channels_count);
    s->words[0] = STR("SUBSCRIBE");
    for (size_t i = 0; i < s->channels_count; i++) {
        s->words[1 + i] = arena_str(&s->place.texts, subscription->channels[i]);
    }
    if (!redis_place_open(subscription->url, &subscription->tls, &s->place, err) ||
        !start(s, err)) {
        redis_unsubscribe(s);
        return false;
    }
    *out = s;
    return true;
}

void redis_unsubscribe(struct redis_subscriber *s)
{
    if (s == NULL) {
        return;
    }
    if (s->started) {
        eventfd_write(s->stop_fd, 1);
        pthread_join(s->thread, NULL);
    }
    if (s->stop_fd >= 0) {
        close(s->stop_fd);
    }
    redis_place_close(&s->place);
    mem_free(s);
}
