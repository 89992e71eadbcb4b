/* tests/net/stand.h: a server on a free port and clients on plain sockets, in one thread.
 *
 * The server's loop is stepped by hand whenever a client waits for something, so nothing sleeps
 * and nothing races. A client gives up after some seconds of real time, which fails the test.
 *
 * What is asked for decides what the stand's handler does:
 *   /echo   answers "METHOD BODY"        /park    keeps the exchange in stand->kept
 *   /big    answers BIG_BODY bytes       /stream  opens a stream, kept in stand->kept
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_NET_STAND_H
#define ERRAND_TESTS_NET_STAND_H

#include <uv.h>

#include "base/buf.h"
#include "net/server.h"

#define BIG_BODY (8 * MIB)

struct stand {
    uv_loop_t loop;
    struct server *server;
    struct exchange *kept;
    int heads, handled, gone, drained;
    bool (*admit)(struct stand *stand, struct exchange *exchange); /* NULL: everybody may come in */
    void (*other)(struct stand *stand, struct exchange *exchange); /* instead of all that */
    void *user;
};

void stand_open(struct stand *stand, const struct server_options *options);
void stand_close(struct stand *stand);        /* for SCOPED */
void stand_step(struct stand *stand, int fd); /* waits for `fd` or the loop, then runs the loop */
void stand_step_until(struct stand *stand, const int *value, int wanted);

#define STAND(name, ...)                                                                           \
    SCOPED(stand_close) struct stand name;                                                         \
    stand_open(&name, &(struct server_options){__VA_ARGS__})

struct client {
    struct stand *stand;
    int fd;
    struct buf in;
    bool ended; /* the server closed its side */
};

void client_open(struct client *client, struct stand *stand);
void client_close(struct client *client); /* for SCOPED */
void client_send(struct client *client, struct str bytes);
void client_say(struct client *client, const char *text);
/* Reads until `text` has come, or the end; false: it never came. */
bool client_sees(struct client *client, const char *text);
void client_read_some(struct client *client); /* what is there, or waits a little */
void client_read_end(struct client *client);  /* reads until the server closes */
size_t client_count(const struct client *client, const char *text); /* in what was read */

#define CLIENT(name, stand)                                                                        \
    SCOPED(client_close) struct client name;                                                       \
    client_open(&name, (stand))

#endif
