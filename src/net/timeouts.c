/* net/timeouts.c: the deadlines of all connections and exchanges, with a single timer.
 *
 * All waits of one kind have the same length, so appending keeps each list in order and only its
 * head must be looked at. The timer is armed for the earliest deadline; when that one has moved on
 * in the meantime, the timer fires in vain once and is armed anew. With nothing to wait for it is
 * not armed: an idle server without connections is never woken.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/connection.h"

static bool fires_before(const struct heap_node *a, const struct heap_node *b)
{
    return HOLDER(a, struct request, timer)->timer_ms < HOLDER(b, struct request, timer)->timer_ms;
}

static struct connection *waiting_at(struct link *link)
{
    return HOLDER(link, struct connection, wait);
}

/* The earliest deadline there is; 0: none. */
static int64_t next_due_ms(const struct server *server)
{
    int64_t due_ms = INT64_MAX;
    for (int kind = 0; kind < WAITS; kind++) {
        struct link *first = list_first(&server->waits[kind]);
        due_ms = first == NULL ? due_ms : MIN(due_ms, waiting_at(first)->wait_until_ms);
    }
    struct heap_node *top = heap_top(&server->exchange_timers);
    due_ms = top == NULL ? due_ms : MIN(due_ms, HOLDER(top, struct request, timer)->timer_ms);
    return due_ms == INT64_MAX ? 0 : due_ms;
}

/* Time is up, unless the client was only slow: it took some bytes, or sent enough of the body. */
static void expire(struct connection *connection)
{
    size_t unsent = uv_stream_get_write_queue_size((uv_stream_t *)&connection->tcp);
    switch (connection->wait_kind) {
    case WAIT_WRITE:
        if (unsent < connection->wait_mark) {
            timeouts_set(connection, WAIT_WRITE);
            return;
        }
        break;
    case WAIT_HEAD:
    case WAIT_BODY:
        if (connection->server->options.protocol == NULL &&
            (connection->tls == NULL || tls_ready(connection->tls))) {
            connection_refuse(connection, 408, "the request did not arrive in time");
            return;
        }
        break;
    default:
        break;
    }
    connection_close(connection);
}

static void expire_connections(struct server *server, int64_t now_ms)
{
    for (int kind = 0; kind < WAITS; kind++) {
        struct link *first;
        while ((first = list_first(&server->waits[kind])) != NULL &&
               waiting_at(first)->wait_until_ms <= now_ms) {
            expire(waiting_at(first));
        }
    }
}

void exchange_fire(struct exchange *exchange)
{
    struct request *request = HOLDER(exchange, struct request, exchange);
    heap_remove(&request->server->exchange_timers, &request->timer);
    request->fire(exchange);
}

static void fire_exchanges(struct server *server, int64_t now_ms)
{
    struct heap_node *top;
    while ((top = heap_top(&server->exchange_timers)) != NULL) {
        struct request *request = HOLDER(top, struct request, timer);
        if (request->timer_ms > now_ms) {
            return;
        }
        exchange_fire(&request->exchange);
    }
}

void server_hurry(struct server *server)
{
    fire_exchanges(server, INT64_MAX);
}

static void on_timer(uv_timer_t *timer)
{
    struct server *server = timer->data;
    int64_t now_ms = (int64_t)uv_now(server->loop);
    server->armed_ms = 0;
    expire_connections(server, now_ms);
    fire_exchanges(server, now_ms);
    int64_t due_ms = next_due_ms(server);
    if (due_ms != 0) {
        timeouts_arm(server, due_ms);
    }
}

void timeouts_init(struct server *server)
{
    const struct server_options *options = &server->options;
    for (int kind = 0; kind < WAITS; kind++) {
        list_init(&server->waits[kind]);
    }
    server->wait_ms[WAIT_IDLE] = options->idle_timeout_ms;
    server->wait_ms[WAIT_HEAD] = options->head_timeout_ms;
    server->wait_ms[WAIT_BODY] = options->body_timeout_ms;
    server->wait_ms[WAIT_WRITE] = options->write_timeout_ms;
    server->wait_ms[WAIT_LINGER] = LINGER_MS;
    server->exchange_timers = HEAP_INIT(fires_before);
    uv_timer_init(server->loop, &server->timer);
    server->timer.data = server;
}

void timeouts_fini(struct server *server)
{
    heap_fini(&server->exchange_timers);
}

void timeouts_arm(struct server *server, int64_t due_ms)
{
    if (server->stopping || (server->armed_ms != 0 && server->armed_ms <= due_ms)) {
        return;
    }
    int64_t in_ms = due_ms - (int64_t)uv_now(server->loop);
    uv_timer_start(&server->timer, on_timer, in_ms > 0 ? (uint64_t)in_ms : 0, 0);
    server->armed_ms = due_ms;
}

void timeouts_set(struct connection *connection, enum wait kind)
{
    struct server *server = connection->server;
    if (link_in_list(&connection->wait)) {
        list_remove(&connection->wait);
    }
    connection->wait_kind = kind;
    if (kind == WAIT_NONE) {
        return;
    }
    connection->wait_until_ms = (int64_t)uv_now(server->loop) + server->wait_ms[kind];
    connection->wait_mark = kind == WAIT_WRITE
                                ? uv_stream_get_write_queue_size((uv_stream_t *)&connection->tcp)
                                : connection->in.len;
    list_append(&server->waits[kind], &connection->wait);
    timeouts_arm(server, connection->wait_until_ms);
}

void exchange_timer(struct exchange *exchange, int64_t ms, void (*fire)(struct exchange *))
{
    struct request *request = HOLDER(exchange, struct request, exchange);
    struct server *server = request->server;
    if (heap_has(&request->timer)) {
        heap_remove(&server->exchange_timers, &request->timer);
    }
    if (ms < 0) {
        return;
    }
    request->timer_ms = (int64_t)uv_now(server->loop) + ms;
    request->fire = fire;
    heap_add(&server->exchange_timers, &request->timer);
    timeouts_arm(server, request->timer_ms);
}
