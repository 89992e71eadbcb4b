/* client/redis_wire.c: one connection to Redis. See redis_wire.h.
 *
 * hiredis connects and reads the protocol; sending and waiting are done here, because its own write
 * raises SIGPIPE and its time-outs start anew with every byte. TLS lies between: what was received
 * is decrypted at once, all of it, so that poll() on the socket still tells whether more is to
 * come.
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
#include "client/tls.h"
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
    bool fine = uri_parse(url, &uri, NULL);
    found.tls = fine && str_eq_nocase(uri.scheme, STR("rediss"));
    if (!fine || (!found.tls && !str_eq_nocase(uri.scheme, STR("redis"))) ||
        !str_absent(uri.query) || uri.host.len == 0) {
        return err_set(err, ERR_INVALID,
                       "must be an address like redis://127.0.0.1:6379/0, or rediss:// for TLS");
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

bool redis_place_open(struct str url, const struct tls_files *tls, struct redis_place *out,
                      struct err *err)
{
    return redis_url_parse(url, &out->texts, &out->url, err) &&
           (!out->url.tls || tls_trust_open(tls, &out->trust, err));
}

void redis_place_close(struct redis_place *place)
{
    tls_context_close(place->trust);
    arena_fini(&place->texts);
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
    struct buf *to = wire->tls == NULL ? &wire->out : &wire->plain;
    buf_printf(to, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) {
        buf_printf(to, "$%zu\r\n", words[i].len);
        buf_str(to, words[i]);
        buf_c(to, "\r\n");
    }
}

/* What TLS has to say goes behind what is already on its way. */
static void take_ciphertext(struct redis_wire *wire)
{
    size_t len = tls_pending(wire->tls);
    char *room = len == 0 ? NULL : buf_room(&wire->out, len);
    if (room != NULL) {
        buf_used(&wire->out, tls_take(wire->tls, room, len));
    }
}

static bool encrypt_commands(struct redis_wire *wire, struct err *err)
{
    if (wire->tls == NULL || wire->plain.len == 0) {
        return true;
    }
    bool fine = !wire->plain.full && tls_write(wire->tls, buf_view(&wire->plain));
    buf_clear(&wire->plain);
    take_ciphertext(wire);
    return fine || err_set(err, ERR_UNAVAILABLE, "TLS: %s", tls_reason(wire->tls));
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

static bool feed_reader(struct redis_wire *wire, const char *bytes, size_t len, struct err *err)
{
    return redisReaderFeed(wire->context->reader, bytes, len) == REDIS_OK ||
           err_set(err, ERR_UNAVAILABLE, "it does not speak Redis");
}

/* An end that came behind an answer is found again by the next to look. */
static bool decrypt(struct redis_wire *wire, struct str ciphertext, struct err *err)
{
    char plain[READ_SIZE];
    size_t len, all = 0;
    enum tls_step step;
    tls_feed(wire->tls, ciphertext);
    while ((step = tls_read(wire->tls, plain, sizeof plain, &len)) == TLS_PLAIN) {
        if (!feed_reader(wire, plain, len, err)) {
            return false;
        }
        all += len;
    }
    take_ciphertext(wire);
    return step == TLS_MORE || all > 0 ||
           (step == TLS_CLOSED ? err_set(err, ERR_UNAVAILABLE, "it closed the connection")
                               : err_set(err, ERR_UNAVAILABLE, "TLS: %s", tls_reason(wire->tls)));
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
    return wire->tls == NULL ? feed_reader(wire, bytes, (size_t)n, err)
                             : decrypt(wire, (struct str){bytes, (size_t)n}, err);
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

bool redis_wire_send(struct redis_wire *wire, struct err *err)
{
    if (!encrypt_commands(wire, err)) {
        return false;
    }
    if (wire->out.full) {
        return err_set(err, ERR_TOO_LARGE, "too much at once");
    }
    /* Most of the time the connection takes everything at once. */
    return !is_sending(wire) || send_some(wire, err);
}

bool redis_wire_next(struct redis_wire *wire, int64_t limit_ms, redisReply **out, struct err *err)
{
    *out = NULL;
    return redis_wire_send(wire, err) && read_reply(wire, out, err) &&
           wait_reply(wire, limit_ms, out, err);
}

bool redis_wire_poll(struct redis_wire *wire, int stop_fd, int64_t limit_ms)
{
    struct pollfd fds[2] = {{.fd = wire->context->fd, .events = POLLIN},
                            {.fd = stop_fd, .events = POLLIN}};
    return poll(fds, 2, (int)limit_ms) > 0 && fds[1].revents == 0 && fds[0].revents != 0;
}

/* TLS speaks between two pipelines, too (a ticket, a new key): that is not the end. */
bool redis_wire_ended(struct redis_wire *wire)
{
    struct pollfd fd = {.fd = wire->context->fd, .events = POLLIN};
    const redisReader *reader = wire->context->reader;
    return poll(&fd, 1, 0) > 0 &&
           (wire->tls == NULL || !receive_some(wire, NULL) || reader->len > reader->pos);
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

bool redis_wire_greet(struct redis_wire *wire, const char *what, const struct str *words,
                      size_t count, struct err *err)
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

static bool greet_all(struct redis_wire *wire, const struct redis_url *url, struct err *err)
{
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)url->db);
    const struct str login[] = {STR("AUTH"), url->user, url->password};
    const struct str login_old[] = {STR("AUTH"), url->password};
    const struct str choose[] = {STR("SELECT"), str_of(number)};
    const struct str ping[] = {STR("PING")};
    bool known = str_absent(url->password) ||
                 (str_absent(url->user) ? redis_wire_greet(wire, "log in", login_old, 2, err)
                                        : redis_wire_greet(wire, "log in", login, 3, err));
    return known &&
           (url->db == 0 || redis_wire_greet(wire, "choose the database", choose, 2, err)) &&
           redis_wire_greet(wire, "ping", ping, 1, err);
}

/* TLS shakes hands, within the time to connect. */
static bool shake_hands(struct redis_wire *wire, struct err *err)
{
    int64_t end_ms = mono_ms() + REDIS_CONNECT_MS;
    bool fine = decrypt(wire, STR(""), err); /* it begins */
    while (fine && !tls_ready(wire->tls)) {
        int64_t left_ms = end_ms - mono_ms();
        fine = left_ms > 0
                   ? exchange_some(wire, left_ms, err)
                   : err_set(err, ERR_UNAVAILABLE, "TLS: no answer in %d ms; does it speak TLS?",
                             REDIS_CONNECT_MS);
    }
    return fine;
}

bool redis_wire_open(const struct redis_url *url, struct tls_context *trust,
                     struct redis_wire **out, struct err *err)
{
    struct redis_wire *wire = mem_new(struct redis_wire);
    const struct timeval limit = {.tv_usec = 1000 * (REDIS_CONNECT_MS % 1000),
                                  .tv_sec = REDIS_CONNECT_MS / 1000};
    wire->out = wire->plain = BUF_INIT(REDIS_PIPELINE_MAX);
    wire->context = redisConnectWithTimeout(url->host.ptr, url->port, limit);
    bool fine = wire->context != NULL && wire->context->err == 0;
    if (!fine) {
        err_set(err, ERR_UNAVAILABLE, "connect: %s",
                wire->context == NULL ? "no memory" : wire->context->errstr);
    } else {
        fcntl(wire->context->fd, F_SETFD, FD_CLOEXEC);
        wire->tls = trust == NULL ? NULL : tls_new_to(trust, url->host.ptr);
        fine = (wire->tls == NULL || shake_hands(wire, err)) && greet_all(wire, url, err);
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
    tls_free(wire->tls);
    buf_fini(&wire->out);
    buf_fini(&wire->plain);
    mem_free(wire);
}
