/* net/output.c: puts bytes on the wire.
 *
 * The usual answer leaves in one system call, straight from where it was made. What the socket does
 * not take is copied and sent when it does; until then the connection reads no further request, so
 * a client that does not read cannot make us hold more than one answer. What all connections
 * together leave unsent is at most output_max: then those are cut off that have not taken the most
 * for the longest. Their clients do not read; others must not go without an answer for that.
 *
 * Failing to write is noticed here and acted on in the next tick: whoever is sending just now must
 * not find its connection gone under its hands.
 *
 * Thread: net loop. Keeps: G8.
 *
 * SPDX-License-Identifier: MIT */
#include <sys/socket.h>

#include "base/mem.h"
#include "net/connection.h"

struct output {
    uv_write_t write;
    size_t len;
    char bytes[];
};

static void fail(struct connection *connection)
{
    connection->broken = true;
    connection_later(connection);
}

static void no_longer_pending(struct connection *connection, struct output *output)
{
    connection->out_pending -= output->len;
    connection->server->output_bytes -= connection->cut ? 0 : output->len;
    mem_free(output);
}

static void on_sent(uv_write_t *write, int status)
{
    struct connection *connection = write->data;
    struct output *output = HOLDER(write, struct output, write);
    no_longer_pending(connection, output);
    if (connection->closing) {
        return;
    }
    if (status < 0) {
        connection_close(connection);
        return;
    }
    struct request *request = connection->request;
    if (connection->out_pending == 0 && request != NULL && request->drained != NULL) {
        request->drained(&request->exchange);
    }
    if (connection->closing) {
        return;
    }
    timeouts_set(connection, WAIT_NONE); /* it took some: the patience begins anew */
    connection_go_on(connection);
}

static struct output *output_new(size_t len)
{
    struct output *output = mem_alloc(sizeof *output + len);
    output->len = len;
    return output;
}

/* How much a client that does not read takes from the others: bytes, times how long. */
static double weight(const struct connection *connection)
{
    int64_t now_ms = (int64_t)uv_now(connection->server->loop);
    int64_t age_ms = connection->out_pending > 0 ? now_ms - connection->out_since_ms : 0;
    size_t unsent =
        uv_stream_get_write_queue_size((const uv_stream_t *)&connection->tcp) + connection->kept;
    return connection->broken ? 0 : (double)unsent * (double)(age_ms + 1);
}

void output_check_total(struct server *server)
{
    struct connection *next;
    while (server->output_bytes > server->options.output_max &&
           (next = server_heaviest(server, weight)) != NULL) {
        server->output_bytes -= next->out_pending + next->kept;
        next->cut = true;
        fail(next);
    }
}

static void queue(struct connection *connection, struct output *output)
{
    struct server *server = connection->server;
    uv_buf_t buf = uv_buf_init(output->bytes, (unsigned)output->len);
    output->write.data = connection;
    if (connection->out_pending == 0) {
        connection->out_since_ms = (int64_t)uv_now(server->loop);
    }
    connection->out_pending += output->len;
    server->output_bytes += output->len;
    if (uv_write(&output->write, (uv_stream_t *)&connection->tcp, &buf, 1, on_sent) != 0) {
        no_longer_pending(connection, output);
        fail(connection);
    }
    output_check_total(server);
}

/* How many of the bytes the socket takes now. */
static size_t try_send(struct connection *connection, struct str first, struct str second)
{
    if (connection->out_pending > 0) {
        return 0;
    }
    uv_buf_t bufs[] = {uv_buf_init((char *)first.ptr, (unsigned)first.len),
                       uv_buf_init((char *)second.ptr, (unsigned)second.len)};
    int sent = uv_try_write((uv_stream_t *)&connection->tcp, bufs, second.len > 0 ? 2 : 1);
    if (sent < 0 && sent != UV_EAGAIN) {
        fail(connection);
    }
    return sent > 0 ? (size_t)sent : 0;
}

static void send_plain(struct connection *connection, struct str first, struct str second)
{
    size_t sent = try_send(connection, first, second);
    if (connection->broken || sent == first.len + second.len) {
        return;
    }
    struct str head = str_from(first, sent);
    struct str tail = sent > first.len ? str_from(second, sent - first.len) : second;
    struct output *output = output_new(head.len + tail.len);
    memcpy(output->bytes, head.ptr, head.len);
    if (tail.len > 0) {
        memcpy(output->bytes + head.len, tail.ptr, tail.len);
    }
    queue(connection, output);
}

void output_flush_tls(struct connection *connection)
{
    size_t len = tls_pending(connection->tls);
    if (len == 0 || connection->broken) {
        return;
    }
    struct output *output = output_new(len);
    output->len = tls_take(connection->tls, output->bytes, len);
    size_t sent = try_send(connection, (struct str){output->bytes, output->len}, STR_NONE);
    if (connection->broken || sent == output->len) {
        mem_free(output);
        return;
    }
    output->len -= sent;
    memmove(output->bytes, output->bytes + sent, output->len);
    queue(connection, output);
}

void output_send(struct connection *connection, struct str first, struct str second)
{
    if (connection->broken || connection->closing) {
        return;
    }
    if (connection->tls == NULL) {
        send_plain(connection, first, second);
    } else if (tls_write(connection->tls, first) && tls_write(connection->tls, second)) {
        output_flush_tls(connection);
    } else {
        fail(connection);
    }
}

void output_finish(struct connection *connection)
{
    if (connection->tls != NULL) {
        tls_goodbye(connection->tls);
        output_flush_tls(connection);
    }
    uv_os_fd_t fd;
    if (connection->out_pending == 0 && uv_fileno((uv_handle_t *)&connection->tcp, &fd) == 0) {
        shutdown(fd, SHUT_WR);
    }
}
