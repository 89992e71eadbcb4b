/* net/server.c: listens, and ends. What happens on a connection is connection.c's.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <sys/resource.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/connection.h"
#include "wire/uri.h"

#define LISTEN_BACKLOG 4096 /* the kernel cuts it to net.core.somaxconn */
#define DEFAULT_PORT   8001
#define FILES_RESERVED 256 /* descriptors for the store, commands and outgoing calls */

/* Every connection is a descriptor, and the usual soft limit of 1,024 is far too low. Returns how
 * many there may be now. */
static size_t raise_file_limit(void)
{
    struct rlimit limit = {0};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    return (size_t)limit.rlim_cur;
}

/* Refusing a connection is better than finding no descriptor for it, or for the store. */
static void fit_connections(struct server_options *options, size_t files)
{
    size_t fit = files > 2 * FILES_RESERVED ? files - FILES_RESERVED : files / 2;
    if (options->connections_max > fit) {
        log_warn("only %zu connections fit below the limit of %zu open files", fit, files);
        options->connections_max = fit;
    }
}

/* A loop's part of what all may hold, but a few of the largest at once. */
static size_t fitting_input(const struct server_options *options)
{
    return MAX(SERVER_INPUT_MAX / options->loops, 4 * options->body_max);
}

static void set_defaults(struct server_options *options)
{
    int64_t *times[] = {&options->head_timeout_ms, &options->body_timeout_ms,
                        &options->idle_timeout_ms, &options->write_timeout_ms};
    const int64_t defaults[] = {SERVER_HEAD_TIMEOUT_MS, SERVER_BODY_TIMEOUT_MS,
                                SERVER_IDLE_TIMEOUT_MS, SERVER_WRITE_TIMEOUT_MS};
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        *times[i] = *times[i] == 0 ? defaults[i] : *times[i];
    }
    if (options->connections_max == 0) {
        options->connections_max = SERVER_CONNECTIONS_MAX;
    }
    if (options->body_max == 0) {
        options->body_max = HTTP_BODY_MAX;
    }
    if (options->loops == 0) {
        options->loops = 1;
    }
    if (options->output_max == 0) {
        options->output_max = SERVER_OUTPUT_MAX / options->loops;
    }
    if (options->input_max == 0) {
        options->input_max = fitting_input(options);
    }
}

/* ---- Listening ---- */

static bool uv_ok(int status, const char *what, struct str listen, struct err *err)
{
    return status == 0 || err_set(err, ERR_UNAVAILABLE, "%s " STR_FMT ": %s", what, STR_ARG(listen),
                                  uv_strerror(status));
}

static bool resolve(uv_loop_t *loop, struct str listen, struct sockaddr_storage *out,
                    struct err *err)
{
    struct str host;
    uint16_t port;
    if (!uri_parse_address(listen, DEFAULT_PORT, &host, &port, err)) {
        return err_wrap(err, "listen on " STR_FMT, STR_ARG(listen));
    }
    char name[URI_HOST_MAX + 1], service[8];
    snprintf(name, sizeof name, STR_FMT, STR_ARG(host));
    snprintf(service, sizeof service, "%u", port);
    uv_getaddrinfo_t request;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    if (!uv_ok(uv_getaddrinfo(loop, &request, NULL, name, service, &hints), "resolve", listen,
               err)) {
        return false;
    }
    memcpy(out, request.addrinfo->ai_addr, request.addrinfo->ai_addrlen);
    uv_freeaddrinfo(request.addrinfo);
    return true;
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct server *server = listener->data;
    if (status == 0) {
        connection_open(server, listener);
        return;
    }
    int64_t now_ms = (int64_t)uv_now(server->loop);
    if (now_ms - server->accept_warned_ms >= SECOND_MS) { /* it is tried again and again */
        log_warn("accept: %s", uv_strerror(status));
        server->accept_warned_ms = now_ms;
    }
}

static bool start_listening(struct server *server, struct err *err)
{
    struct str listen = server->options.listen;
    struct sockaddr_storage address;
    if (!str_absent(server->options.socket) && !socket_file_open(server, on_connection, err)) {
        return false;
    }
    if (str_absent(listen)) {
        return true;
    }
    return resolve(server->loop, listen, &address, err) &&
           uv_ok(uv_tcp_bind(&server->listener, (struct sockaddr *)&address, 0), "listen on",
                 listen, err) &&
           uv_ok(uv_listen((uv_stream_t *)&server->listener, LISTEN_BACKLOG, on_connection),
                 "listen on", listen, err);
}

/* ---- Life ---- */

static struct server *server_new(const struct server_options *options)
{
    struct server *server = mem_new(struct server);
    server->options = *options;
    set_defaults(&server->options);
    server->loop = options->loop;
    server->head = BUF_INIT(ANSWER_HEAD_MAX);
    server->read_buffer = mem_alloc(READ_BUFFER);
    list_init(&server->connections);
    list_init(&server->ready);
    list_init(&server->exchanges);
    list_init(&server->spare);
    uv_tcp_init(server->loop, &server->listener);
    uv_pipe_init(server->loop, &server->file_listener, 0);
    server->listener.data = server->file_listener.data = server;
    handover_init(server);
    uv_idle_init(server->loop, &server->ready_idle);
    server->ready_idle.data = server;
    timeouts_init(server);
    return server;
}

static bool start_tls(struct server *server, struct err *err)
{
    const struct server_options *options = &server->options;
    if (options->home != NULL && options->home->tls != NULL) {
        server->plain_buffer = mem_alloc(READ_BUFFER);
        server->tls = tls_context_share(options->home->tls);
        return true;
    }
    if (options->tls_cert == NULL && options->tls_key == NULL) {
        return true;
    }
    if (options->tls_cert == NULL || options->tls_key == NULL) {
        return err_set(err, ERR_INVALID, "TLS needs both a certificate and a key");
    }
    server->plain_buffer = mem_alloc(READ_BUFFER);
    return tls_context_open(options->tls_cert, options->tls_key, &server->tls, err);
}

bool server_start(const struct server_options *options, struct server **out, struct err *err)
{
    struct server *server = server_new(options);
    fit_connections(&server->options, raise_file_limit());
    if (!start_tls(server, err) || !start_listening(server, err)) {
        server_stop(server);
        uv_run(server->loop, UV_RUN_NOWAIT); /* lets the handles finish closing */
        server_free(server);
        return false;
    }
    if (options->home != NULL) {
        assert(options->home->others_count < SERVER_LOOPS_MAX);
        options->home->others[options->home->others_count++] = server;
    }
    *out = server;
    return true;
}

bool server_change(struct server *server, const struct server_changes *changes, struct err *err)
{
    struct tls_context *fresh = NULL;
    if (server->tls != NULL &&
        !tls_context_open(changes->tls_cert, changes->tls_key, &fresh, err)) {
        return false;
    }
    if (fresh != NULL) {
        tls_context_close(server->tls);
        server->tls = fresh;
    }
    server->options.connections_max = changes->connections_max;
    server->options.body_max = changes->body_max;
    server->options.input_max = fitting_input(&server->options);
    fit_connections(&server->options, raise_file_limit());
    return true;
}

struct server_taken server_hand_over(const struct server *home)
{
    return (struct server_taken){.tls = home->tls == NULL ? NULL : tls_context_share(home->tls),
                                 .connections_max = home->options.connections_max,
                                 .body_max = home->options.body_max};
}

void server_take(struct server *server, struct server_taken *taken)
{
    tls_context_close(server->tls);
    server->tls = taken->tls;
    server->options.connections_max = taken->connections_max;
    server->options.body_max = taken->body_max;
    server->options.input_max = fitting_input(&server->options);
}

void server_taken_free(struct server_taken *taken)
{
    tls_context_close(taken->tls);
}

static void stop_listening(struct server *server)
{
    if (!uv_is_closing((uv_handle_t *)&server->listener)) {
        uv_close((uv_handle_t *)&server->listener, NULL);
        socket_file_close(server);
    }
}

void server_quiet(struct server *server)
{
    server->quiet = true;
    if (server->options.protocol != NULL) {
        stop_listening(server);
    }
}

bool server_busy(const struct server *server)
{
    if (server->arriving > 0) {
        return true;
    }
    LIST_EACH(&server->connections, it)
    {
        const struct connection *connection = HOLDER(it, struct connection, link);
        const struct request *request = connection->request;
        bool owes = connection->session != NULL && connection->handling;
        if (!connection->late &&
            (connection->out_pending > 0 || owes || connection->owed_count > 0 ||
             (request != NULL && !request->streaming))) {
            return true;
        }
    }
    return false;
}

void server_stop(struct server *server)
{
    if (server->stopping) {
        return;
    }
    server_quiet(server);
    stop_listening(server);
    server->stopping = true;
    struct link *first;
    while ((first = list_first(&server->connections)) != NULL) {
        connection_close(HOLDER(first, struct connection, link));
    }
    uv_close((uv_handle_t *)&server->timer, NULL);
    uv_close((uv_handle_t *)&server->arrived, NULL);
    uv_close((uv_handle_t *)&server->ready_idle, NULL);
}

static void free_requests(struct list *list)
{
    struct link *first;
    while ((first = list_first(list)) != NULL) {
        struct request *request = HOLDER(first, struct request, link);
        list_remove(first);
        http_parser_fini(&request->parser);
        buf_fini(&request->held);
        arena_fini(&request->exchange.arena);
        mem_free(request);
    }
}

void server_free(struct server *server)
{
    if (server == NULL) {
        return;
    }
    handover_fini(server);
    free_requests(&server->exchanges);
    free_requests(&server->spare);
    timeouts_fini(server);
    tls_context_close(server->tls);
    buf_fini(&server->head);
    mem_free(server->read_buffer);
    mem_free(server->plain_buffer);
    mem_free(server);
}

int server_port(const struct server *server)
{
    struct sockaddr_storage address;
    int len = sizeof address;
    if (uv_tcp_getsockname(&server->listener, (struct sockaddr *)&address, &len) != 0) {
        return 0;
    }
    return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                               : ((struct sockaddr_in *)&address)->sin_port);
}

size_t server_unsent(const struct server *server)
{
    return server->output_bytes;
}

struct connection *server_heaviest(const struct server *server,
                                   double (*weight)(const struct connection *connection))
{
    struct connection *found = NULL;
    double most = 0;
    LIST_EACH(&server->connections, it)
    {
        struct connection *connection = HOLDER(it, struct connection, link);
        double heavy = weight(connection);
        found = heavy > most ? connection : found;
        most = MAX(heavy, most);
    }
    return found;
}

size_t server_connections(const struct server *server)
{
    size_t count = server->connections_count;
    for (size_t i = 0; i < server->others_count; i++) {
        count += server->others[i]->connections_count;
    }
    return count;
}
