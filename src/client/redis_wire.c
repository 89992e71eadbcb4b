/* client/redis_wire.c: one connection to Redis. See redis_wire.h.
 *
 * hiredis connects and reads the protocol; sending and waiting are done here, because its own write
 * raises SIGPIPE and its time-outs start anew with every byte.
 *
 * Thread: one at a time.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/redis_wire.h"
#include "wire/uri.h"

#define READ_SIZE (64 * KIB)
#define DB_MAX    65535

/* ---- Addresses ---- */

/* No part of the text is repeated in an error: it may be the password. */
static bool read_userinfo(struct str info, struct arena *arena, struct redis_url *out,
                          struct err *err)
{
    struct str rest = info, user = str_cut(&rest, ':'), password;
    if (str_absent(rest) || rest.len == 0) {
        return err_set(err, ERR_INVALID, "a password stands between ':' and '@'");
    }
    if (!uri_decode(user, arena, &user, err) || !uri_decode(rest, arena, &password, err)) {
        return false;
    }
    out->user = user.len == 0 ? STR_NONE : arena_str(arena, user);
    out->password = arena_str(arena, password);
    return true;
}

bool redis_url_parse(struct str url, struct arena *arena, struct redis_url *out, struct err *err)
{
    struct uri uri;
    struct redis_url found = {0};
    if (!uri_parse(url, &uri, NULL)) {
        return err_set(err, ERR_INVALID, "must be an address like redis://127.0.0.1:6379/0");
    }
    if (str_eq_nocase(uri.scheme, STR("rediss"))) {
        return err_set(err, ERR_INVALID,
                       "rediss:// (TLS) is not supported; use redis:// through a tunnel");
    }
    if (!str_eq_nocase(uri.scheme, STR("redis")) || !str_absent(uri.query) || uri.host.len == 0) {
        return err_set(err, ERR_INVALID, "must be an address like redis://127.0.0.1:6379/0");
    }
    if (!str_absent(uri.userinfo) && !read_userinfo(uri.userinfo, arena, &found, err)) {
        return false;
    }
    struct str number = str_from(uri.path, 1);
    if (number.len > 0 && (!str_u64(number, &found.db) || found.db > DB_MAX)) {
        return err_set(err, ERR_INVALID, "a database of Redis is a number, like /1");
    }
    found.host = arena_str(arena, uri.host);
    found.port = uri.port;
    *out = found;
    return true;
}

/* ---- Pauses ---- */

static int64_t mono_ms(void)
{
    return clock_real_mono_us() / 1000;
}

int64_t redis_pause_ms(unsigned failures, struct rand *rand)
{
    int64_t most_ms = REDIS_PAUSE_MAX_MS;
    if (failures == 0) {
        return 0;
    }
    if (failures < 6) {
        most_ms = MIN(most_ms, (int64_t)REDIS_PAUSE_MIN_MS << failures);
    }
    return most_ms / 2 + (int64_t)rand_below(rand, (uint64_t)most_ms / 2);
}

bool redis_stopped_within(int stop_fd, int64_t pause_ms)
{
    struct pollfd fd = {.fd = stop_fd, .events = POLLIN};
    return poll(&fd, 1, (int)pause_ms) > 0;
}

/* ---- Sending and receiving ---- */

void redis_wire_add(struct redis_wire *wire, const struct str *words, size_t count)
{
    buf_printf(&wire->out, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&wire->out, "$%zu\r\n", words[i].len);
        buf_str(&wire->out, words[i]);
        buf_c(&wire->out, "\r\n");
    }
}

static bool is_sending(const struct redis_wire *wire)
{
    return wire->sent < wire->out.len;
}

static bool send_some(struct redis_wire *wire, struct err *err)
{
    ssize_t n = send(wire->context->fd, wire->out.ptr + wire->sent, wire->out.len - wire->sent,
                     MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        return err_set(err, ERR_UNAVAILABLE, "%s", strerror(errno));
    }
    wire->sent += n > 0 ? (size_t)n : 0;
    if (!is_sending(wire)) {
        buf_clear(&wire->out);
        wire->sent = 0;
    }
    return true;
}

static bool receive_some(struct redis_wire *wire, struct err *err)
{
    char bytes[READ_SIZE];
    ssize_t n = recv(wire->context->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n == 0) {
        return err_set(err, ERR_UNAVAILABLE, "it closed the connection");
    }
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR ||
               err_set(err, ERR_UNAVAILABLE, "%s", strerror(errno));
    }
    return redisReaderFeed(wire->context->reader, bytes, (size_t)n) == REDIS_OK ||
           err_set(err, ERR_UNAVAILABLE, "it does not speak Redis");
}

/* Waits at most that long for the connection, and moves what can be moved. */
static bool exchange_some(struct redis_wire *wire, int64_t left_ms, struct err *err)
{
    struct pollfd fd = {.fd = wire->context->fd, .events = POLLIN};
    if (is_sending(wire)) {
        fd.events |= POLLOUT;
    }
    if (poll(&fd, 1, (int)MAX(left_ms, 0)) < 0 && errno != EINTR) {
        return err_set(err, ERR_UNAVAILABLE, "%s", strerror(errno));
    }
    return ((fd.revents & POLLOUT) == 0 || send_some(wire, err)) &&
           ((fd.revents & ~POLLOUT) == 0 || receive_some(wire, err));
}

static bool read_reply(struct redis_wire *wire, redisReply **out, struct err *err)
{
    void *reply = NULL;
    if (redisReaderGetReply(wire->context->reader, &reply) != REDIS_OK) {
        return err_set(err, ERR_UNAVAILABLE, "it does not speak Redis");
    }
    *out = reply;
    return true;
}

/* What has come already is read without asking for the time: it may have come while we did not
 * run. */
static bool wait_reply(struct redis_wire *wire, int64_t limit_ms, redisReply **out, struct err *err)
{
    int64_t end_ms = mono_ms() + limit_ms, left_ms = limit_ms;
    bool over = false;
    while (*out == NULL && !over) {
        size_t unsent = wire->out.len - wire->sent;
        over = left_ms <= 0;
        if (!exchange_some(wire, left_ms, err) || !read_reply(wire, out, err)) {
            return false;
        }
        if (wire->out.len - wire->sent < unsent) {
            end_ms = mono_ms() + limit_ms; /* it can only answer what it was sent */
            over = false;
        }
        left_ms = end_ms - mono_ms();
    }
    return *out != NULL ||
           err_set(err, ERR_UNAVAILABLE, "no answer in %lld ms", (long long)limit_ms);
}

bool redis_wire_next(struct redis_wire *wire, int64_t limit_ms, redisReply **out, struct err *err)
{
    *out = NULL;
    if (wire->out.full) {
        return err_set(err, ERR_TOO_LARGE, "too much at once");
    }
    /* Most of the time the connection takes everything at once. */
    return (!is_sending(wire) || send_some(wire, err)) && read_reply(wire, out, err) &&
           wait_reply(wire, limit_ms, out, err);
}

bool redis_wire_poll(struct redis_wire *wire, int stop_fd, int64_t limit_ms)
{
    struct pollfd fds[2] = {{.fd = wire->context->fd, .events = POLLIN},
                            {.fd = stop_fd, .events = POLLIN}};
    return poll(fds, 2, (int)limit_ms) > 0 && fds[1].revents == 0 && fds[0].revents != 0;
}

bool redis_wire_ended(struct redis_wire *wire)
{
    struct pollfd fd = {.fd = wire->context->fd, .events = POLLIN};
    return poll(&fd, 1, 0) > 0;
}

void redis_wire_free(redisReply **reply)
{
    if (*reply != NULL) {
        freeReplyObject(*reply);
    }
}

struct str redis_wire_code(const redisReply *reply)
{
    struct str text = {reply->str, reply->len};
    return str_cut(&text, ' ');
}

/* ---- Connecting ---- */

static bool greet(struct redis_wire *wire, const char *what, const struct str *words, size_t count,
                  struct err *err)
{
    SCOPED(redis_wire_free) redisReply *reply = NULL;
    redis_wire_add(wire, words, count);
    if (!redis_wire_next(wire, REDIS_CONNECT_MS, &reply, err)) {
        return err_wrap(err, "%s", what);
    }
    struct str code = redis_wire_code(reply);
    return reply->type != REDIS_REPLY_ERROR ||
           err_set(err, ERR_UNAVAILABLE, "%s: it says " STR_FMT, what, STR_ARG(code));
}

static bool greet_all(struct redis_wire *wire, const struct redis_url *url, struct str probe_key,
                      struct err *err)
{
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)url->db);
    const struct str login[] = {STR("AUTH"), url->user, url->password};
    const struct str login_old[] = {STR("AUTH"), url->password};
    const struct str choose[] = {STR("SELECT"), str_of(number)};
    const struct str ping[] = {STR("PING")};
    const struct str write[] = {STR("SET"), probe_key, STR("1"), STR("PX"), STR("1000")};
    bool known = str_absent(url->password) ||
                 (str_absent(url->user) ? greet(wire, "log in", login_old, 2, err)
                                        : greet(wire, "log in", login, 3, err));
    return known && (url->db == 0 || greet(wire, "choose the database", choose, 2, err)) &&
           (str_absent(probe_key) ? greet(wire, "ping", ping, 1, err)
                                  : greet(wire, "write", write, 5, err));
}

bool redis_wire_open(const struct redis_url *url, struct str probe_key, struct redis_wire **out,
                     struct err *err)
{
    struct redis_wire *wire = mem_new(struct redis_wire);
    const struct timeval limit = {.tv_usec = 1000 * (REDIS_CONNECT_MS % 1000),
                                  .tv_sec = REDIS_CONNECT_MS / 1000};
    wire->out = BUF_INIT(REDIS_PIPELINE_MAX);
    wire->context = redisConnectWithTimeout(url->host.ptr, url->port, limit);
    bool fine = wire->context != NULL && wire->context->err == 0;
    if (!fine) {
        err_set(err, ERR_UNAVAILABLE, "connect: %s",
                wire->context == NULL ? "no memory" : wire->context->errstr);
    } else {
        fcntl(wire->context->fd, F_SETFD, FD_CLOEXEC);
        fine = greet_all(wire, url, probe_key, err);
    }
    if (!fine) {
        redis_wire_close(wire);
        return false;
    }
    *out = wire;
    return true;
}

void redis_wire_close(struct redis_wire *wire)
{
    if (wire == NULL) {
        return;
    }
    if (wire->context != NULL) {
        redisFree(wire->context);
    }
    buf_fini(&wire->out);
    mem_free(wire);
}
