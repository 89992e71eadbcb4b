/* tests/conformance/redis_server.h: a Redis of the test's own, on a free port of this machine.
 *
 * It keeps nothing on disk and dies with the test, however that ends.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_REDIS_SERVER_H
#define ERRAND_TESTS_REDIS_SERVER_H

#include <sys/types.h>

#include "base/arena.h"

/* How long a test waits for an answer of Redis: on a machine that is busy with other tests it may
 * take longer than a server would wait for it. */
#define REDIS_PATIENCE_MS (3 * SECOND_MS)

struct redis_server {
    pid_t pid; /* 0: not running */
    int port;
    char url[64]; /* redis://127.0.0.1:PORT, or rediss:// */
    const char *password;
    const char *tls; /* a folder with ca.pem, CERT.pem and CERT.key: it speaks TLS alone */
    const char *tls_cert;
    bool tls_asks;    /* for the caller's certificate */
    char cluster[32]; /* a folder: it is a server of a cluster, and keeps its map there */
};

void redis_server_start(struct redis_server *server); /* on its port if it has one */
void redis_server_stop(struct redis_server *server);  /* for SCOPED; the port is kept */
void redis_server_freeze(struct redis_server *server);
void redis_server_thaw(struct redis_server *server);

/* Sends one command, words separated by blanks, on a connection of its own. Lists are shown with
 * a blank between their items. */
struct str redis_server_ask(const struct redis_server *server, struct arena *arena,
                            const char *command);
void redis_server_delete(const struct redis_server *server, struct str key);

/* One server for the whole program, stopped at its end; all of its keys are removed. */
void redis_server_shared(struct redis_server *out);

#endif
