/* net/input.c: the bytes of a connection that were read and not yet used.
 *
 * Usually there are none: a request is parsed straight from the buffer that all connections share.
 * What is incomplete, or comes while an answer is awaited, is kept here, and freed when it has been
 * used, so that idle connections hold no memory.
 *
 * Thread: net loop. Keeps: G8 (all connections together hold at most INPUT_TOTAL_MAX).
 *
 * SPDX-License-Identifier: MIT */
#include "net/connection.h"

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
    connection->in.max = SIZE_MAX / 2; /* bounded by the parser, PIPELINE_MAX and INPUT_TOTAL_MAX */
    buf_str(&connection->in, bytes);
    server->input_bytes += connection->in.cap;
}

static void check_total(struct connection *connection)
{
    if (connection->server->input_bytes <= INPUT_TOTAL_MAX || connection->last) {
        return;
    }
    if (connection->handling) { /* an answer is owed, so nothing else can be said */
        connection->broken = true;
    } else {
        connection_refuse(connection, 503, "too many large requests at once");
    }
}

void input_keep(struct connection *connection, struct str bytes)
{
    append(connection, bytes);
    check_total(connection);
}

void input_count_chunks(struct connection *connection, struct request *request)
{
    size_t bytes = request->parser.body.cap;
    if (bytes != request->counted) {
        connection->server->input_bytes += bytes - request->counted;
        request->counted = bytes;
        check_total(connection);
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
