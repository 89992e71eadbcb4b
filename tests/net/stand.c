/* tests/net/stand.c: a server and its clients in one thread. See stand.h.
 *
 * SPDX-License-Identifier: MIT */
#include "stand.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "test.h"

#define GIVE_UP_MS 10000
#define STEP_MS    5 /* what the loop decides to watch while it runs is not yet in its descriptor */

static void on_gone(struct exchange *exchange)
{
    struct stand *stand = exchange->user;
    stand->gone++;
}

static void on_drained(struct exchange *exchange)
{
    struct stand *stand = exchange->user;
    stand->drained++;
}

static void keep(struct stand *stand, struct exchange *exchange)
{
    stand->kept = exchange;
    exchange->user = stand;
    exchange->gone = on_gone;
}

static void answer_big(struct exchange *exchange)
{
    char *body = mem_alloc(BIG_BODY);
    memset(body, 'x', BIG_BODY);
    exchange_answer(exchange, 200, "text/plain", STR(""), (struct str){body, BIG_BODY});
    mem_free(body);
}

static void on_request(void *arg, struct exchange *exchange)
{
    struct stand *stand = arg;
    const struct http_request *request = &exchange->request;
    stand->handled++;
    if (stand->other != NULL) {
        stand->other(stand, exchange);
    } else if (str_is(request->path, "/park")) {
        keep(stand, exchange);
    } else if (str_is(request->path, "/stream")) {
        keep(stand, exchange);
        exchange_stream(exchange);
        stream_on_drain(exchange, on_drained);
    } else if (str_is(request->path, "/big")) {
        answer_big(exchange);
    } else {
        struct str body = arena_printf(&exchange->arena, STR_FMT " " STR_FMT,
                                       STR_ARG(request->method_text), STR_ARG(request->body));
        exchange_answer(exchange, 200, "text/plain", STR("X-Own: 1\r\n"), body);
    }
}

static bool on_head(void *arg, struct exchange *exchange)
{
    struct stand *stand = arg;
    stand->heads++;
    return stand->admit == NULL || stand->admit(stand, exchange);
}

void stand_open(struct stand *stand, const struct server_options *options)
{
    struct server_options own = *options;
    struct err err = ERR_INIT;
    *stand = (struct stand){0};
    uv_loop_init(&stand->loop);
    own.loop = &stand->loop;
    own.listen = str_absent(own.listen) ? STR("127.0.0.1:0") : own.listen;
    own.admit = on_head;
    own.handle = on_request;
    own.arg = stand;
    CHECK_OK(server_start(&own, &stand->server, &err));
}

void stand_close(struct stand *stand)
{
    server_stop(stand->server);
    uv_run(&stand->loop, UV_RUN_DEFAULT);
    CHECK_EQ(uv_loop_close(&stand->loop), 0);
    server_free(stand->server);
}

void stand_step(struct stand *stand, int fd)
{
    uv_run(&stand->loop, UV_RUN_NOWAIT);
    int timeout_ms = uv_backend_timeout(&stand->loop);
    timeout_ms = timeout_ms < 0 || timeout_ms > STEP_MS ? STEP_MS : timeout_ms;
    struct pollfd fds[] = {{uv_backend_fd(&stand->loop), POLLIN, 0}, {fd, POLLIN, 0}};
    poll(fds, fd < 0 ? 1 : 2, timeout_ms);
    uv_run(&stand->loop, UV_RUN_NOWAIT);
}

void stand_step_until(struct stand *stand, const int *value, int wanted)
{
    int64_t give_up_us = clock_real_mono_us() + GIVE_UP_MS * 1000;
    while (*value != wanted && clock_real_mono_us() < give_up_us) {
        stand_step(stand, -1);
    }
    CHECK_EQ(*value, wanted);
}

void client_open(struct client *client, struct stand *stand)
{
    *client = (struct client){.stand = stand, .in = BUF_INIT(32 * MIB)};
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)server_port(stand->server)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    client->fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_EQ(connect(client->fd, (struct sockaddr *)&address, sizeof address), 0);
    fcntl(client->fd, F_SETFL, O_NONBLOCK);
}

void client_close(struct client *client)
{
    if (client->fd >= 0) {
        close(client->fd);
    }
    client->fd = -1;
    buf_fini(&client->in);
}

void client_send(struct client *client, struct str bytes)
{
    while (bytes.len > 0) {
        ssize_t len = send(client->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        if (len < 0 && errno != EAGAIN) {
            return; /* the server hung up; the test will see what it said */
        }
        bytes = str_from(bytes, len < 0 ? 0 : (size_t)len);
        uv_run(&client->stand->loop, UV_RUN_NOWAIT);
    }
}

void client_say(struct client *client, const char *text)
{
    client_send(client, str_of(text));
}

/* One read; false when there was nothing yet. */
static bool receive(struct client *client)
{
    char *room = buf_room(&client->in, 64 * KIB);
    ssize_t len = recv(client->fd, room, 64 * KIB, 0);
    if (len > 0) {
        buf_used(&client->in, (size_t)len);
    } else if (len == 0 || errno != EAGAIN) {
        client->ended = true;
    }
    return len > 0;
}

static bool has(const struct client *client, const char *text)
{
    return client->in.len > 0 && memmem(client->in.ptr, client->in.len, text, strlen(text)) != NULL;
}

void client_read_some(struct client *client)
{
    if (!receive(client) && !client->ended) {
        stand_step(client->stand, client->fd);
    }
}

bool client_sees(struct client *client, const char *text)
{
    int64_t give_up_us = clock_real_mono_us() + GIVE_UP_MS * 1000;
    while (!has(client, text) && !client->ended && clock_real_mono_us() < give_up_us) {
        client_read_some(client);
    }
    return has(client, text);
}

void client_read_end(struct client *client)
{
    client_sees(client, "\x01 never sent");
    CHECK(client->ended);
}

size_t client_count(const struct client *client, const char *text)
{
    size_t count = 0, len = strlen(text);
    struct str rest = buf_view(&client->in);
    const char *hit;
    while (rest.len >= len && (hit = memmem(rest.ptr, rest.len, text, len)) != NULL) {
        count++;
        rest = str_from(rest, (size_t)(hit - rest.ptr) + len);
    }
    return count;
}
