/* net/input.c: the bytes of a connection that were read and not yet used.
 *
 * Usually there are none: a request is parsed straight from the buffer that all connections share.
 * What is incomplete, or comes while an answer is awaited, is kept here, and freed when it has been
 * used, so that idle connections hold no memory.
 *
 * All connections together hold at most input_max. When it is reached, who has held much for long
 * gives way: a client that trickles a large body does, one that comes with a small one never.
 *
 * Thread: net loop. Keeps: G8.
 *
 * SPDX-License-Identifier: MIT */
#include "net/connection.h"

#define STRANGER_WEIGHT 1e18 /* more than any number of bytes times any age */

void input_drop(struct connection *connection)
{
    connection->server->input_bytes -= connection->in.cap;
    buf_fini(&connection->in);
    connection->in_at = 0;
}

struct str input_of(const struct connection *connection)
{
    return connection->in.len > 0 ? str_from(buf_view(&connection->in), connection->in_at)
                                  : connection->fresh;
}

void input_used(struct connection *connection, size_t len)
{
    if (connection->in.len == 0) {
        connection->fresh = str_from(connection->fresh, len);
        return;
    }
    connection->in_at += len;
    if (connection->in_at == connection->in.len) {
        input_drop(connection);
    }
}

static void append(struct connection *connection, struct str bytes)
{
    struct server *server = connection->server;
    buf_cut_front(&connection->in, connection->in_at);
    connection->in_at = 0;
    server->input_bytes -= connection->in.cap;
    connection->in.max = SIZE_MAX / 2; /* bounded by the parser, PIPELINE_MAX and input_max */
    buf_str(&connection->in, bytes);
    server->input_bytes += connection->in.cap;
}

/* ---- Who gives way ---- */

/* What a connection holds that it can be made to give up: what it sends, or what it waits with. */
static size_t waits_with(const struct request *request)
{
    return heap_has(&request->timer) ? request->held.cap + request->counted : 0;
}

static size_t hold(const struct connection *connection)
{
    const struct request *request = connection->request;
    size_t bytes = connection->in.cap;
    if (request != NULL) {
        bytes += request->whole ? waits_with(request) : request->held.cap + request->counted;
    }
    LIST_EACH(&connection->owed, it)
    {
        bytes += waits_with(HOLDER(it, struct request, turn));
    }
    return connection->last || connection->broken ? 0 : bytes;
}

/* How much room a connection takes from the others: bytes, times how long it has had them. Who is
 * not known (yet) weighs more than anybody who is, or strangers could drive out known ones. */
static double weight(const struct connection *connection)
{
    struct link *oldest = list_first(&connection->owed);
    const struct request *request =
        oldest != NULL ? HOLDER(oldest, struct request, turn) : connection->request;
    int64_t now_ms = (int64_t)uv_now(connection->server->loop);
    int64_t age_ms = request == NULL ? 0 : now_ms - request->began_ms;
    bool known = request != NULL && request->has_head && !request->exchange.stranger;
    return (double)hold(connection) * (double)(age_ms + 1) * (known ? 1 : STRANGER_WEIGHT);
}

/* Time is over for it, and its bytes go with its answer. */
static void end_wait(struct request *request)
{
    if (request != NULL && heap_has(&request->timer)) {
        request->leaving = waits_with(request);
        request->server->input_leaving += request->leaving;
        exchange_fire(&request->exchange);
    }
}

static void give_way(struct connection *connection)
{
    const struct server *server = connection->server;
    if (!connection_awaits(connection) && server->options.protocol == NULL) {
        connection_refuse(connection, 503, "too many large requests at once");
    } else if (connection->in.cap > 0) { /* an answer is owed, so nothing else can be said */
        input_drop(connection);
        connection->broken = true;
        connection_later(connection);
    } else {
        struct request *request = connection->request;
        LIST_EACH(&connection->owed, it)
        {
            end_wait(HOLDER(it, struct request, turn));
        }
        end_wait(request);
    }
}

/* A walk over all connections for each one that gives way: rare, and each frees what it weighed. */
static void check_total(struct server *server)
{
    struct connection *next;
    while (server->input_bytes > server->options.input_max + server->input_leaving &&
           (next = server_heaviest(server, weight)) != NULL) {
        give_way(next);
    }
}

/* ---- Keeping ---- */

void input_keep(struct connection *connection, struct str bytes)
{
    append(connection, bytes);
    check_total(connection->server);
}

void input_count_chunks(struct connection *connection, struct request *request)
{
    size_t bytes = request->parser.body.cap;
    if (bytes != request->counted) {
        connection->server->input_bytes += bytes - request->counted;
        request->counted = bytes;
        check_total(connection->server);
    }
}

/* The body must live until the answer, and its place in the input does not. A large one keeps that
 * place: the exchange takes the buffer over and what is behind the body moves out. */
void input_keep_body(struct connection *connection, struct request *request, size_t consumed)
{
    struct str *body = &request->exchange.request.body, input = input_of(connection);
    if (body->len == 0 || body->ptr < input.ptr || body->ptr >= input.ptr + input.len) {
        input_used(connection, consumed);
        return;
    }
    if (connection->in.len == 0 || body->len < BODY_STEAL_MIN) {
        *body = arena_str(&request->exchange.arena, *body);
        input_used(connection, consumed);
        return;
    }
    request->held = connection->in;
    connection->in = (struct buf){0};
    connection->in_at = 0;
    if (consumed < input.len) {
        append(connection, str_from(input, consumed));
    }
}
