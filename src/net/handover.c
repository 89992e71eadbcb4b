/* net/handover.c: connections that go from one net loop to another.
 *
 * One server listens for all loops (options.home) and gives each new connection to the loop that
 * has the fewest. A request that only the home loop can answer takes its connection there, and the
 * connection stays. Listening with SO_REUSEPORT on every loop was the alternative: it spreads few
 * connections unevenly, loses those in a listener's line when that one is closed, and lets a second
 * server start on a port that is taken.
 *
 * What travels is the descriptor, the state of TLS, the request whose head was read, and the bytes
 * behind it; nothing of it is known to both loops at once.
 *
 * Thread: the net loop of the server that is named; handover_give() that of the giver.
 *
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/connection.h"

struct arrival {
    struct link link;
    int fd;
    bool by_file, late;
    struct tls *tls;         /* NULL: plain, or it has not begun */
    struct request *request; /* whose head was read; NULL: it has just been accepted */
    struct buf in;           /* what was read behind it */
};

/* ---- The way there ---- */

void handover_give(struct connection *connection, struct server *to)
{
    struct request *request = connection->request;
    struct str input = input_of(connection);
    uv_os_fd_t fd = -1;
    uv_fileno((uv_handle_t *)&connection->tcp, &fd);
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* a handle cannot leave its loop, a descriptor can */
    if (own < 0) {
        connection_close(connection);
        return;
    }
    struct arrival *arrival = mem_new(struct arrival);
    *arrival = (struct arrival){.fd = own,
                                .by_file = connection->by_file,
                                .late = connection->late,
                                .tls = connection->tls,
                                .request = request,
                                .in = BUF_INIT(input.len)};
    buf_str(&arrival->in, input);
    if (request != NULL) {
        list_remove(&request->link);
    }
    connection->tls = NULL;
    connection->request = NULL;
    connection_close(connection);
    to->connections_count++; /* from here on, so that a burst is spread */
    to->arriving++;
    channel_give(&to->arrivals, &arrival->link);
}

/* The loop with the fewest connections, itself included. */
struct server *handover_choose(struct server *home)
{
    struct server *found = home;
    for (size_t i = 0; i < home->others_count; i++) {
        struct server *other = home->others[i];
        found = other->connections_count < found->connections_count ? other : found;
    }
    return found;
}

/* ---- And its end ---- */

static void arrival_free(struct arrival *arrival)
{
    buf_fini(&arrival->in);
    mem_free(arrival);
}

static void adopt(struct server *server, struct connection *connection, struct request *request)
{
    request->server = server;
    request->connection = connection;
    connection->request = request;
    list_append(&server->exchanges, &request->link);
}

static void arrive(struct server *server, struct arrival *arrival)
{
    /* It was counted when it was given. First, or the home counts it twice for a moment and turns
     * away somebody for whom there is room. */
    server->connections_count--;
    server->arriving--;
    struct connection *connection = connection_new(server, arrival->by_file);
    int failed = arrival->by_file ? uv_pipe_open(&connection->pipe, arrival->fd)
                                  : uv_tcp_open(&connection->tcp, arrival->fd);
    connection->late = arrival->late;
    connection->tls = arrival->tls;
    if (arrival->request != NULL) {
        adopt(server, connection, arrival->request);
    }
    if (failed != 0) {
        close(arrival->fd);
        connection_close(connection);
    } else if (arrival->request == NULL) {
        connection_begin(connection);
    } else {
        connection_resume(connection, buf_view(&arrival->in));
    }
    arrival_free(arrival);
}

static void on_arrived(uv_async_t *handle)
{
    struct server *server = handle->data;
    struct list arrivals;
    struct link *first;
    list_init(&arrivals);
    (void)channel_take(&server->arrivals, &arrivals);
    while ((first = list_first(&arrivals)) != NULL) {
        list_remove(first);
        arrive(server, HOLDER(first, struct arrival, link));
    }
}

/* ---- Life ---- */

static void wake(void *arg)
{
    uv_async_send(&((struct server *)arg)->arrived);
}

void handover_init(struct server *server)
{
    channel_init(&server->arrivals, wake, server);
    mem_must(uv_async_init(server->loop, &server->arrived, on_arrived) == 0, "the net loop");
    server->arrived.data = server;
}

void handover_fini(struct server *server)
{
    struct list arrivals;
    struct link *first;
    list_init(&arrivals);
    (void)channel_take(&server->arrivals, &arrivals);
    while ((first = list_first(&arrivals)) != NULL) {
        struct arrival *arrival = HOLDER(first, struct arrival, link);
        list_remove(first);
        close(arrival->fd);
        tls_free(arrival->tls);
        if (arrival->request != NULL) {
            list_append(&server->exchanges, &arrival->request->link); /* freed with all others */
        }
        arrival_free(arrival);
    }
    channel_fini(&server->arrivals);
}
