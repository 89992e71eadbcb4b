/* net/connection.c: the life of one connection: read, parse, hand over, go on, close.
 *
 * Every event (bytes, end of input, an answer, room to write, a time-out) ends in
 * connection_settle(), which looks at the flags and decides what to wait for next. Handlers are
 * called from connection_go_on() only, and what they do to connections takes effect afterwards, so
 * nothing here is entered twice.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/connection.h"

#include "base/mem.h"

/* ---- Opening ---- */

struct connection *connection_new(struct server *server, bool by_file)
{
    struct connection *connection = mem_new(struct connection);
    connection->server = server;
    connection->wait_kind = WAIT_NONE;
    list_init(&connection->owed);
    connection->by_file = by_file;
    if (by_file) {
        uv_pipe_init(server->loop, &connection->pipe, 0);
    } else {
        uv_tcp_init(server->loop, &connection->tcp);
    }
    list_append(&server->connections, &connection->link);
    server->connections_count++;
    return connection;
}

/* Over the limit: says so, waiting for the client to read it unless too many are told just now. */
static void turn_away(struct connection *connection)
{
    struct server *server = connection->server;
    if ((server->tls != NULL && !connection->by_file) || server->options.protocol != NULL) {
        connection_close(connection);
        return;
    }
    connection_refuse(connection, 503, "too many connections");
    if (server_connections(server) > server->options.connections_max + REFUSED_MAX) {
        connection_close(connection);
    }
}

/* The first word is the server's. */
static void begin_session(struct connection *connection)
{
    const struct server_options *options = &connection->server->options;
    bool ready = connection->tls == NULL || tls_ready(connection->tls);
    if (options->protocol != NULL && connection->session == NULL && ready) {
        connection->session = options->protocol->begin(options->arg, connection);
    }
}

void connection_begin(struct connection *connection)
{
    struct server *server = connection->server;
    bool plain = server->tls == NULL || connection->by_file;
    connection->tls = plain ? NULL : tls_new(server->tls);
    begin_session(connection);
    connection_settle(connection);
}

void connection_open(struct server *server, uv_stream_t *listener)
{
    bool by_file = listener == (uv_stream_t *)&server->file_listener;
    struct connection *connection = connection_new(server, by_file);
    if (uv_accept(listener, (uv_stream_t *)&connection->tcp) != 0) {
        connection_close(connection);
        return;
    }
    connection->late = server->quiet;
    if (!by_file) {
        uv_tcp_nodelay(&connection->tcp, 1);
        uv_tcp_keepalive(&connection->tcp, 1, KEEPALIVE_S);
    }
    /* Another protocol has its own words for that, when it knows who came. */
    size_t spare = server->options.protocol != NULL ? REFUSED_MAX : 0;
    if (server_connections(server) > server->options.connections_max + spare) {
        turn_away(connection);
        return;
    }
    struct server *chosen = handover_choose(server);
    if (chosen == server) {
        connection_begin(connection);
    } else {
        handover_give(connection, chosen);
    }
}

/* ---- Closing ---- */

static void on_closed(uv_handle_t *handle)
{
    mem_free(HOLDER(handle, struct connection, tcp));
}

static void leave_server(struct connection *connection)
{
    struct server *server = connection->server;
    timeouts_set(connection, WAIT_NONE);
    if (link_in_list(&connection->ready)) {
        list_remove(&connection->ready);
    }
    list_remove(&connection->link);
    server->connections_count--;
    if (server->connections_count == 0 && heap_top(&server->exchange_timers) == NULL &&
        !server->stopping) {
        uv_timer_stop(&server->timer);
        server->armed_ms = 0;
    }
}

void connection_close(struct connection *connection)
{
    struct request *request = connection->request;
    if (connection->closing) {
        return;
    }
    connection->closing = true;
    connection->request = NULL;
    leave_server(connection);
    input_drop(connection);
    tls_free(connection->tls);
    connection->tls = NULL;
    uv_close((uv_handle_t *)&connection->tcp, on_closed);
    if (connection->session != NULL) {
        connection->server->options.protocol->gone(connection->session);
    }
    pipeline_drop(connection);
    if (request == NULL) {
        return;
    }
    request->connection = NULL;
    if (connection->handling) {
        request_gone(request);
    } else {
        request_end(request);
    }
}

/* ---- What to wait for ---- */

static size_t body_so_far(const struct connection *connection)
{
    return connection->request->parser.body_len + connection->in.len - connection->in_at;
}

static enum wait wait_needed(const struct connection *connection)
{
    if (connection->out_pending > 0) {
        return WAIT_WRITE;
    }
    if (connection->lingering) {
        return WAIT_LINGER;
    }
    const struct protocol *protocol = connection->server->options.protocol;
    if (protocol != NULL) { /* who is known may be silent as long as he likes */
        bool known = connection->session != NULL && protocol->known(connection->session);
        return known ? WAIT_NONE : WAIT_HEAD;
    }
    if (connection_awaits(connection)) {
        return WAIT_NONE;
    }
    if (connection->tls != NULL && !tls_ready(connection->tls)) {
        return WAIT_HEAD;
    }
    if (connection->skip > 0) {
        return WAIT_LINGER;
    }
    if (connection->request == NULL) {
        return WAIT_IDLE;
    }
    return connection->request->has_head ? WAIT_BODY : WAIT_HEAD;
}

static void wait_on(struct connection *connection)
{
    enum wait kind = wait_needed(connection);
    bool body_moves = kind == WAIT_BODY && connection->wait_kind == WAIT_BODY &&
                      body_so_far(connection) >= connection->wait_mark + BODY_STEP;
    if (kind != connection->wait_kind || body_moves) {
        timeouts_set(connection, kind);
        connection->wait_mark = kind == WAIT_BODY ? body_so_far(connection) : connection->wait_mark;
    }
}

static void on_alloc(uv_handle_t *handle, size_t hint, uv_buf_t *out);
static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *buf);

/* Reading goes on while a handler has the request, or a client that leaves would not be noticed;
 * but only so much is kept meanwhile. Who does not read is not read either: what TLS says by itself
 * (to a client that asks for new keys again and again) would pile up. */
static void read_or_not(struct connection *connection)
{
    bool busy = connection_awaits(connection) || connection->out_pending > 0;
    bool needed = !connection->eof && connection->out_pending <= UNSENT_MAX &&
                  (!busy || connection->in.len - connection->in_at < PIPELINE_MAX);
    if (needed == connection->reading) {
        return;
    }
    connection->reading = needed;
    if (needed) {
        uv_read_start((uv_stream_t *)&connection->tcp, on_alloc, on_read);
    } else {
        uv_read_stop((uv_stream_t *)&connection->tcp);
    }
}

void connection_settle(struct connection *connection)
{
    if (connection->closing) {
        return;
    }
    bool silent = !connection_awaits(connection) && connection->out_pending == 0;
    if (connection->broken || (silent && connection->eof)) {
        connection_close(connection);
        return;
    }
    if (silent && connection->last && !connection->lingering) {
        connection->lingering = true;
        input_drop(connection);
        output_finish(connection);
    }
    read_or_not(connection);
    wait_on(connection);
}

/* ---- Parsing ---- */

static void hand_over(struct connection *connection, struct request *request, size_t consumed)
{
    struct server *server = connection->server;
    input_keep_body(connection, request, consumed);
    timeouts_set(connection, WAIT_NONE);
    connection->handling = true;
    request->whole = true;
    server->options.handle(server->options.arg, &request->exchange);
}

static void say_continue(struct connection *connection, const struct request *request)
{
    if (request->exchange.request.expect_continue && input_of(connection).len == 0) {
        output_send(connection, STR("HTTP/1.1 100 Continue\r\n\r\n"), STR_NONE);
    }
}

/* The head is there: may its sender go on? He who may not is answered now, before anything of his
 * body is kept. A client that waits for a go-ahead before its body gets it, or that answer. */
static void head_done(struct connection *connection, struct request *request)
{
    const struct server_options *options = &connection->server->options;
    request->has_head = true;
    connection->handling = true;
    if (options->admit != NULL && !options->admit(options->arg, &request->exchange)) {
        connection->handling = connection->handling && !connection->leaves;
        return;
    }
    connection->handling = false;
    bool expects = request->exchange.request.expect_continue;
    connection->barrier = connection->owed_count > 0 && (expects || !request->exchange.overlaps);
    if (!connection->barrier) {
        say_continue(connection, request);
    }
}

/* One step of the parser; true: another follows at once. */
static bool step(struct connection *connection)
{
    const struct protocol *protocol = connection->server->options.protocol;
    if (protocol != NULL) {
        size_t used = protocol->take(connection->session, input_of(connection));
        input_used(connection, used);
        return used > 0 && input_of(connection).len > 0;
    }
    if (connection->skip > 0) {
        size_t skipped = MIN(connection->skip, input_of(connection).len);
        connection->skip -= skipped;
        input_used(connection, skipped);
        return input_of(connection).len > 0;
    }
    struct request *request =
        connection->request != NULL ? connection->request : request_begin(connection);
    struct exchange *exchange = &request->exchange;
    struct err err = ERR_INIT;
    size_t consumed = 0;
    switch (http_parse(&request->parser, input_of(connection), &exchange->arena, &exchange->request,
                       &consumed, &err)) {
    case HTTP_GOT_HEAD:
        input_used(connection, consumed);
        head_done(connection, request);
        return connection->request != NULL || input_of(connection).len > 0;
    case HTTP_DONE:
        hand_over(connection, request, consumed);
        return input_of(connection).len > 0;
    case HTTP_BAD:
        connection_refuse(connection, request->parser.status, err.text);
        return false;
    default:
        input_used(connection, consumed);
        input_count_chunks(connection, request);
        return false;
    }
}

static bool may_parse(const struct connection *connection)
{
    const struct protocol *protocol = connection->server->options.protocol;
    if (protocol != NULL) {
        return connection->session != NULL && !connection->last && !connection->broken &&
               !connection->closing && connection->out_pending <= UNSENT_MAX &&
               !protocol->full(connection->session);
    }
    return !connection->handling && !connection->last && !connection->broken &&
           !connection->closing && connection->out_pending == 0 && !connection->barrier &&
           !connection->leaves && !(connection->server->quiet && connection->owed_count > 0);
}

/* Everything before the request is answered: it goes on. */
static void lift_barrier(struct connection *connection)
{
    if (connection->barrier && connection->owed_count == 0 && connection->out_pending == 0) {
        connection->barrier = false;
        say_continue(connection, connection->request);
    }
}

void connection_go_on(struct connection *connection)
{
    if (connection->owed_count > 0) {
        pipeline_send(connection);
    }
    lift_barrier(connection);
    const struct request *request = connection->request;
    bool again = input_of(connection).len > 0 || (request != NULL && request->has_head);
    connection->stepping = true;
    pipeline_set_aside(connection);
    while (again && may_parse(connection)) {
        again = step(connection);
        pipeline_set_aside(connection);
    }
    connection->stepping = false;
    if (connection->owed_count > 0) {
        pipeline_send(connection);
    }
    bool owes = connection->owed_count > 0 || connection->out_pending > 0;
    if (connection->leaves && !owes && !connection->last && !connection->broken &&
        !connection->closing) {
        handover_give(connection, connection->server->options.home);
        return;
    }
    connection_settle(connection);
}

/* Those that were answered outside of connection_go_on(), or whose socket failed. */
static void on_ready(uv_idle_t *idle)
{
    struct server *server = idle->data;
    struct list now;
    list_init(&now);
    LIST_EACH(&server->ready, link)
    {
        list_remove(link);
        list_append(&now, link);
    }
    uv_idle_stop(idle);
    struct link *first;
    while ((first = list_first(&now)) != NULL) {
        list_remove(first);
        connection_go_on(HOLDER(first, struct connection, ready));
    }
}

void connection_later(struct connection *connection)
{
    struct server *server = connection->server;
    if (connection->closing || link_in_list(&connection->ready)) {
        return;
    }
    list_append(&server->ready, &connection->ready);
    uv_idle_start(&server->ready_idle, on_ready);
}

/* ---- Reading ---- */

static void on_alloc(uv_handle_t *handle, size_t hint, uv_buf_t *out)
{
    (void)hint;
    struct connection *connection = HOLDER(handle, struct connection, tcp);
    *out = uv_buf_init(connection->server->read_buffer, READ_BUFFER);
}

static void take_plain(struct connection *connection, struct str bytes)
{
    if (connection->closing || connection->last) {
        return;
    }
    if (connection->in.len > 0) {
        input_keep(connection, bytes);
    } else {
        connection->fresh = bytes;
    }
    connection_go_on(connection);
    bytes = connection->fresh;
    connection->fresh = STR_NONE;
    if (bytes.len > 0 && !connection->closing && !connection->last) {
        input_keep(connection, bytes);
    }
    connection_settle(connection);
}

/* The client will say no more. Whether it still listens cannot be known, see server.h. */
static void take_end(struct connection *connection)
{
    struct request *request = connection->request;
    connection->eof = true;
    if (connection->session != NULL) {
        connection->server->options.protocol->half(connection->session);
    } else if (connection->handling && request->streaming) {
        connection_close(connection);
    } else {
        pipeline_gone(connection);
    }
    if (connection->handling && connection->request != NULL) {
        request_gone(connection->request);
    }
    connection_go_on(connection);
}

static void take_cipher(struct connection *connection, struct str bytes)
{
    char *plain = connection->server->plain_buffer;
    enum tls_step next = TLS_PLAIN;
    tls_feed(connection->tls, bytes);
    while (!connection->closing && next == TLS_PLAIN) {
        size_t len = 0;
        next = tls_read(connection->tls, plain, READ_BUFFER, &len);
        output_flush_tls(connection);
        begin_session(connection);
        if (next == TLS_PLAIN) {
            take_plain(connection, (struct str){plain, len});
        }
    }
    if (!connection->closing && next == TLS_CLOSED) {
        take_end(connection);
    } else if (!connection->closing && next == TLS_BAD) {
        connection_close(connection);
    } else {
        connection_settle(connection);
    }
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *buf)
{
    struct connection *connection = HOLDER(stream, struct connection, tcp);
    if (len == UV_EOF) {
        take_end(connection);
    } else if (len < 0) {
        connection_close(connection);
    } else if (len > 0 && connection->tls != NULL && !connection->lingering) {
        take_cipher(connection, (struct str){buf->base, (size_t)len});
    } else if (len > 0) {
        take_plain(connection, (struct str){buf->base, (size_t)len});
    }
}

/* TLS may hold more than what was read of it there. */
void connection_resume(struct connection *connection, struct str input)
{
    connection->fresh = input;
    connection->stepping = true;
    head_done(connection, connection->request);
    connection->stepping = false;
    struct str rest = connection->fresh;
    connection->fresh = STR_NONE;
    take_plain(connection, rest);
    if (connection->tls != NULL) {
        take_cipher(connection, STR(""));
    }
    connection_settle(connection);
}

/* ---- For other protocols than HTTP ---- */

void connection_say(struct connection *connection, struct str bytes)
{
    output_send(connection, bytes, STR_NONE);
    if (connection->out_pending > 0 && !connection->stepping) {
        connection_later(connection);
    }
}

void connection_owes(struct connection *connection, bool owes)
{
    connection->handling = owes;
    if (!owes && !connection->stepping) {
        connection_later(connection);
    }
}

void connection_hang_up(struct connection *connection)
{
    connection->last = true;
    connection_owes(connection, false);
}

bool connection_ending(const struct connection *connection)
{
    return connection->server->quiet;
}

size_t connection_siblings(const struct connection *connection)
{
    return connection->server->connections_count;
}
