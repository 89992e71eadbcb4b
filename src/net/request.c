/* net/request.c: the pool of exchanges.
 *
 * A request's parser and arena are used again and again: at full speed nothing is allocated.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "net/connection.h"

struct request *request_begin(struct connection *connection)
{
    struct server *server = connection->server;
    struct link *spare = list_first(&server->spare);
    struct request *request;
    if (spare != NULL) {
        list_remove(spare);
        server->spare_count--;
        request = HOLDER(spare, struct request, link);
    } else {
        request = mem_new(struct request);
        request->server = server;
    }
    http_parser_init(&request->parser, server->options.body_max);
    request->connection = connection;
    request->exchange.late = connection->late;
    request->began_ms = (int64_t)uv_now(server->loop);
    connection->request = request;
    list_append(&server->exchanges, &request->link);
    return request;
}

/* Only what a request changed is reset: the parser is large and is begun anew anyway. */
static void request_reset(struct request *request)
{
    request->exchange.user = NULL;
    request->exchange.gone = NULL;
    request->exchange.is_gone = request->exchange.stranger = request->exchange.overlaps = false;
    request->exchange.request = (struct http_request){0};
    arena_clear(&request->exchange.arena);
    request->connection = NULL;
    request->has_head = request->whole = request->streaming = request->answered = false;
    request->drained = NULL;
}

void request_end(struct request *request)
{
    struct server *server = request->server;
    exchange_timer(&request->exchange, -1, NULL);
    http_parser_fini(&request->parser);
    server->input_bytes -= request->held.cap + request->counted;
    server->input_leaving -= request->leaving;
    request->counted = request->leaving = 0;
    buf_fini(&request->held);
    buf_fini(&request->answer);
    list_remove(&request->link);
    if (server->spare_count < SPARE_EXCHANGES && !server->stopping) {
        request_reset(request);
        list_prepend(&server->spare, &request->link);
        server->spare_count++;
    } else {
        arena_fini(&request->exchange.arena);
        mem_free(request);
    }
}

void request_gone(struct request *request)
{
    bool streaming = request->streaming;
    void (*gone)(struct exchange *) = request->exchange.is_gone ? NULL : request->exchange.gone;
    request->exchange.is_gone = true;
    if (gone != NULL) {
        gone(&request->exchange);
    }
    if (streaming) {
        request_end(request);
    }
}
