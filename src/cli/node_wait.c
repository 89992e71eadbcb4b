/* cli/node_wait.c: a database that boots later than this server is waited for. See node.h.
 *
 * What may pass by itself is waited for: nobody listens there, the name is not known yet, it is
 * starting up, it has no connection left. What a person has to mend ends the start: a password, a
 * database that is not there, a schema that is too new.
 *
 * Meanwhile a door answers: /healthz says that the store is missing, everything else is 503. It is
 * closed before the server opens its own.
 *
 * Thread: main; the door has a thread and a loop of its own, because connecting may block.
 *
 * SPDX-License-Identifier: MIT */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/node.h"
#include "cli/systemd.h"
#include "net/server.h"

#define WAIT_PAUSE_MS  500              /* between two attempts */
#define WAIT_SAY_MS    (60 * SECOND_MS) /* between two lines of the log, while nothing changes */
#define WAIT_EXTEND_US "60000000"       /* so long systemd is asked to wait on, each time */
#define DOOR_JSON      "application/json"

/* ---- The door ---- */

struct door {
    uv_loop_t loop;
    uv_async_t end;
    struct server *server;
    pthread_t thread;
    bool open;
};

static void on_knock(void *arg, struct exchange *exchange)
{
    bool alive = str_is(exchange->request.path, "/healthz");
    bool probe = alive || str_is(exchange->request.path, "/readyz");
    (void)arg;
    exchange_answer(exchange, alive ? 200 : 503, DOOR_JSON,
                    alive ? STR("") : STR("Retry-After: 1\r\n"),
                    probe ? STR("{\"status\":\"degraded\",\"degraded\":[\"store\"],"
                                "\"version\":\"" ERRAND_VERSION "\"}")
                          : STR("{\"error\":{\"code\":\"unavailable\",\"message\":\"the server "
                                "waits for its database\"}}"));
}

static void on_end(uv_async_t *end)
{
    struct door *door = end->data;
    server_stop(door->server);
    uv_close((uv_handle_t *)end, NULL);
}

static void *run_door(void *arg)
{
    struct door *door = arg;
    uv_run(&door->loop, UV_RUN_DEFAULT);
    return NULL;
}

static void close_door(struct door *door)
{
    if (door->open) {
        uv_async_send(&door->end);
        pthread_join(door->thread, NULL);
        server_free(door->server);
        uv_loop_close(&door->loop);
        door->open = false;
    }
}

/* Where the server will listen. */
static bool open_door(struct node *node, struct door *door, struct err *err)
{
    const struct config *config = node->config;
    struct str address, socket;
    sigset_t all, before;
    if (!node_listens(config->listen, &address, &socket, err)) {
        return false;
    }
    mem_must(uv_loop_init(&door->loop) == 0, "the loop of the door");
    uv_async_init(&door->loop, &door->end, on_end);
    door->end.data = door;
    const struct server_options options = {.loop = &door->loop,
                                           .listen = address,
                                           .socket = socket,
                                           .tls_cert = config->tls_cert.ptr,
                                           .tls_key = config->tls_key.ptr,
                                           .handle = on_knock};
    bool fine = server_start(&options, &door->server, err);
    if (!fine) { /* the same would become of the server itself */
        uv_close((uv_handle_t *)&door->end, NULL);
        uv_run(&door->loop, UV_RUN_DEFAULT);
        uv_loop_close(&door->loop);
    } else {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
        fine = pthread_create(&door->thread, NULL, run_door, door) == 0 ||
               err_set(err, ERR_INTERNAL, "too many threads");
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    door->open = fine;
    return fine;
}

/* ---- Waiting ---- */

/* Nothing was opened and nothing was promised: there is nothing to drain. */
static void end_at_once(int number)
{
    (void)number;
    _exit(0);
}

/* Whoever waits may be told to stop, also while a connection is being made. The loop is not running
 * yet, and takes the signals back when this is over. */
static void mind_signals(struct sigaction before[2])
{
    struct sigaction action = {.sa_handler = end_at_once};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, &before[0]);
    sigaction(SIGINT, &action, &before[1]);
}

static bool open_once(struct node *node, const struct store_options *options, struct err *err)
{
    *err = ERR_INIT;
    if (store_open(options, &node->store, err) && node_read_shared(node, err)) {
        return true;
    }
    store_close(node->store);
    node->store = NULL;
    return false;
}

/* One file needs no patience. */
bool node_open_store(struct node *node, const struct store_options *options, struct err *err)
{
    struct door door = {.open = false};
    struct sigaction before[2];
    char said[sizeof err->text] = "";
    int64_t said_us = 0;
    if (str_starts(options->url, STR("sqlite:"))) {
        return store_open(options, &node->store, err) && node_read_shared(node, err);
    }
    mind_signals(before);
    bool fine = open_once(node, options, err);
    bool waits = !fine && err->kind == ERR_UNAVAILABLE;
    while (waits) {
        int64_t now_us = clock_real_mono_us();
        struct err why = *err;
        if (said_us == 0 && !open_door(node, &door, err)) {
            break;
        }
        if (strcmp(said, why.text) != 0 || now_us - said_us > WAIT_SAY_MS * 1000) {
            log_warn("waiting for the database: %s; /healthz answers meanwhile on port %d",
                     why.text, server_port(door.server));
            memcpy(said, why.text, sizeof said);
            said_us = now_us;
        }
        systemd_tell("STATUS=waiting for the database: %s\nEXTEND_TIMEOUT_USEC=" WAIT_EXTEND_US,
                     why.text);
        poll(NULL, 0, WAIT_PAUSE_MS);
        fine = open_once(node, options, err);
        waits = !fine && err->kind == ERR_UNAVAILABLE;
    }
    close_door(&door);
    sigaction(SIGTERM, &before[0], NULL);
    sigaction(SIGINT, &before[1], NULL);
    return fine;
}
