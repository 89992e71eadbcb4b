/* net/exchange.c: what is said back: answers, refusals and streams.
 *
 * Thread: net loop. Keeps: an answer is one write; a stream's reader is at most STREAM_PENDING_MAX
 * bytes behind.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>

#include "base/clock.h"
#include "net/connection.h"
#include "wire/json.h"
#include "wire/time.h"

static struct request *request_of(const struct exchange *exchange)
{
    return HOLDER(exchange, struct request, exchange);
}

/* The Date header's text, made once a second. */
static struct str date_text(struct server *server)
{
    int64_t now_s = clock_real_wall_ms() / SECOND_MS;
    if (server->date_s != now_s) {
        SCOPED(buf_fini) struct buf text = BUF_INIT(sizeof server->date - 1);
        time_write_http(&text, now_s * SECOND_MS);
        memcpy(server->date, buf_c_text(&text), text.len + 1);
        server->date_s = now_s;
    }
    return str_of(server->date);
}

static struct buf *begin_head(struct server *server, int status, const char *content_type)
{
    struct buf *head = &server->head;
    buf_clear(head);
    http_write_status(head, status);
    buf_c(head, "Date: ");
    buf_str(head, date_text(server));
    buf_c(head, "\r\n");
    if (content_type != NULL && content_type[0] != '\0') {
        buf_c(head, "Content-Type: ");
        buf_c(head, content_type);
        buf_c(head, "\r\n");
    }
    return head;
}

static bool status_has_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

/* The head into server->head; returns the body as it is sent. */
static struct str write_answer(struct connection *connection, const struct http_request *request,
                               bool last, int status, const char *content_type, struct str headers,
                               struct str body)
{
    struct buf *head = begin_head(connection->server, status, content_type);
    if (status_has_body(status)) {
        http_write_length(head, body.len);
    }
    buf_str(head, headers);
    buf_c(head, last                  ? "Connection: close\r\n"
                : request->minor == 0 ? "Connection: keep-alive\r\n"
                                      : "");
    http_write_end(head);
    bool silent = request->method == HTTP_HEAD || !status_has_body(status);
    assert(!head->full); /* the headers are our own */
    return silent ? STR_NONE : body;
}

bool exchange_limit_body(struct exchange *exchange, size_t max)
{
    struct http_parser *parser = &request_of(exchange)->parser;
    uint64_t left = http_body_left(parser);
    parser->body_max = MIN(parser->body_max, max);
    return left == HTTP_LENGTH_UNKNOWN || left <= max;
}

void exchange_go_home(struct exchange *exchange)
{
    struct connection *connection = request_of(exchange)->connection;
    assert(connection->server->options.home != NULL && !request_of(exchange)->whole);
    connection->leaves = true;
}

/* A request that is answered before its body was read: a short body is waited for and thrown away,
 * else (false) the connection is of no more use. He who waits for a go-ahead may send it or not. */
static bool leave_body(struct connection *connection, const struct request *request)
{
    uint64_t left = http_body_left(&request->parser);
    bool awaits = request->exchange.request.expect_continue;
    if (left > 0 && (left > BODY_SKIP_MAX || awaits)) {
        return false;
    }
    connection->skip = (size_t)left;
    return true;
}

void exchange_answer(struct exchange *exchange, int status, const char *content_type,
                     struct str headers, struct str body)
{
    struct request *request = request_of(exchange);
    struct connection *connection = request->connection;
    assert(!request->streaming);
    if (connection == NULL) {
        request_end(request);
        return;
    }
    bool alone = connection->owed_count == 0; /* else the last of the others says that it ends */
    bool last = !exchange->request.keep_alive || (connection->server->quiet && alone) ||
                (!request->whole && !leave_body(connection, request));
    body = write_answer(connection, &exchange->request, last, status, content_type, headers, body);
    connection->last = connection->last || last;
    if (!alone) {
        pipeline_keep(request, buf_view(&connection->server->head), body);
        return;
    }
    output_send(connection, buf_view(&connection->server->head), body);
    connection->request = NULL;
    connection->handling = false;
    request_end(request);
    if (!connection->stepping) {
        connection_later(connection);
    }
}

/* ---- Refusals: what never becomes an exchange ---- */

static const char *refusal_code(int status)
{
    switch (status) {
    case 408:
        return "request_timeout";
    case 413:
        return "too_large";
    case 414:
        return "uri_too_long";
    case 417:
        return "expectation_failed";
    case 431:
        return "headers_too_large";
    case 501:
        return "not_implemented";
    case 503:
        return "unavailable";
    case 505:
        return "http_version";
    default:
        return "bad_request";
    }
}

void connection_refuse(struct connection *connection, int status, const char *message)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(4 * KIB);
    struct json_writer w = JSON_WRITER(&body);
    json_open_object(&w);
    json_put_object(&w, "error");
    json_put_c(&w, "code", refusal_code(status));
    json_put_c(&w, "message", message);
    json_close_object(&w);
    json_close_object(&w);
    struct http_request nothing = {.method = HTTP_OTHER, .minor = 1};
    struct request *request = connection->request;
    input_drop(connection);
    connection->last = true;
    struct str sent =
        write_answer(connection, &nothing, true, status, "application/json",
                     status == 503 ? STR("Retry-After: 1\r\n") : STR(""), buf_view(&body));
    if (connection->owed_count > 0 && request != NULL) { /* behind what was asked before it */
        pipeline_keep(request, buf_view(&connection->server->head), sent);
        return;
    }
    connection->request = NULL;
    if (request != NULL) {
        request_end(request);
    }
    output_send(connection, buf_view(&connection->server->head), sent);
    connection_settle(connection);
}

/* ---- Streams ---- */

void exchange_stream(struct exchange *exchange)
{
    struct request *request = request_of(exchange);
    request->streaming = true;
    if (request->connection == NULL) {
        return;
    }
    assert(request->connection->owed_count == 0); /* streams do not overlap */
    struct buf *head = begin_head(request->server, 200, "text/event-stream");
    buf_c(head, "Cache-Control: no-store\r\nX-Accel-Buffering: no\r\nConnection: close\r\n");
    http_write_end(head);
    output_send(request->connection, buf_view(head), STR_NONE);
    connection_later(request->connection);
}

bool stream_send(struct exchange *exchange, struct str bytes)
{
    struct request *request = request_of(exchange);
    struct connection *connection = request->connection;
    assert(request->streaming);
    if (connection == NULL || connection->broken || bytes.len == 0) {
        return true;
    }
    if (connection->out_pending + bytes.len > STREAM_PENDING_MAX && connection->out_pending > 0) {
        return false;
    }
    output_send(connection, bytes, STR_NONE);
    if (connection->out_pending > 0 && connection->wait_kind != WAIT_WRITE) {
        timeouts_set(connection, WAIT_WRITE);
    }
    return true;
}

size_t stream_pending(const struct exchange *exchange)
{
    const struct connection *connection = request_of(exchange)->connection;
    return connection == NULL ? 0 : connection->out_pending;
}

void stream_on_drain(struct exchange *exchange, void (*drained)(struct exchange *exchange))
{
    request_of(exchange)->drained = drained;
}

void exchange_end(struct exchange *exchange)
{
    struct request *request = request_of(exchange);
    struct connection *connection = request->connection;
    if (connection != NULL) {
        connection->last = true;
        connection->request = NULL;
        connection->handling = false;
        connection_later(connection);
    }
    request_end(request);
}

/* ---- Who asks ---- */

uint64_t exchange_peer(const struct exchange *exchange)
{
    const struct connection *connection =
        HOLDER((struct exchange *)exchange, struct request, exchange)->connection;
    struct sockaddr_storage name = {0};
    int len = sizeof name;
    uint64_t peer = 0;
    if (connection == NULL || connection->by_file ||
        uv_tcp_getpeername(&connection->tcp, (struct sockaddr *)&name, &len) != 0) {
        return 0;
    }
    if (name.ss_family == AF_INET) {
        memcpy(&peer, &((const struct sockaddr_in *)&name)->sin_addr, sizeof(struct in_addr));
    } else if (name.ss_family == AF_INET6) {
        memcpy(&peer, &((const struct sockaddr_in6 *)&name)->sin6_addr, sizeof peer);
    }
    return peer;
}
