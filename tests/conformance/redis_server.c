/* tests/conformance/redis_server.c: a Redis of the test's own. See redis_server.h.
 *
 * SPDX-License-Identifier: MIT */
#include "redis_server.h"

#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "test.h"

#define ATTEMPTS 20

static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK_EQ(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static void become_server(const struct redis_server *server, int out)
{
    char port[16], bus[16], map[64], cert[128], key[128], ca[128];
    const char *password = server->password == NULL ? "" : server->password;
    bool tls = server->tls != NULL;
    snprintf(port, sizeof port, "%d", server->port);
    snprintf(bus, sizeof bus, "%d", free_port());
    snprintf(map, sizeof map, "%s/%d", server->cluster, server->port);
    snprintf(cert, sizeof cert, "%s/%s.pem", server->tls, tls ? server->tls_cert : "");
    snprintf(key, sizeof key, "%s/%s.key", server->tls, tls ? server->tls_cert : "");
    snprintf(ca, sizeof ca, "%s/ca.pem", server->tls);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    (void)!chdir("/");
    const char *words[] = {"redis-server",
                           "--port",
                           tls ? "0" : port,
                           "--bind",
                           "127.0.0.1",
                           "--save",
                           "",
                           "--appendonly",
                           "no",
                           "--daemonize",
                           "no",
                           "--requirepass",
                           password,
                           "--logfile",
                           "",
                           "--cluster-enabled",
                           server->cluster[0] != '\0' ? "yes" : "no",
                           "--cluster-port",
                           bus,
                           "--cluster-config-file",
                           map,
                           tls ? "--tls-port" : NULL,
                           port,
                           "--tls-cert-file",
                           cert,
                           "--tls-key-file",
                           key,
                           "--tls-ca-cert-file",
                           ca,
                           "--tls-auth-clients",
                           server->tls_asks ? "yes" : "no",
                           NULL};
    execvp(words[0], (char *const *)words);
    _exit(127);
}

/* Reads its log until it says that it is ready. False: it ended, so the port was not free. */
static bool hear_ready(int fd)
{
    FILE *log = fdopen(fd, "r");
    char line[512];
    bool ready = false;
    while (!ready && fgets(line, sizeof line, log) != NULL) {
        ready = strstr(line, "Ready to accept connections") != NULL;
    }
    fclose(log);
    return ready;
}

static bool try_start(struct redis_server *server)
{
    int fds[2];
    CHECK_EQ(pipe(fds), 0);
    server->pid = fork();
    CHECK(server->pid >= 0);
    if (server->pid == 0) {
        close(fds[0]);
        become_server(server, fds[1]);
    }
    close(fds[1]);
    return hear_ready(fds[0]);
}

void redis_server_start(struct redis_server *server)
{
    bool given = server->port != 0;
    for (int i = 0; i < ATTEMPTS; i++) {
        server->port = given ? server->port : free_port();
        snprintf(server->url, sizeof server->url, "redis%s://127.0.0.1:%d",
                 server->tls == NULL ? "" : "s", server->port);
        if (try_start(server)) {
            return;
        }
        redis_server_stop(server);
    }
    fail_msg("redis-server did not start");
}

void redis_server_stop(struct redis_server *server)
{
    if (server->pid > 0) {
        kill(server->pid, SIGKILL);
        waitpid(server->pid, NULL, 0);
        server->pid = 0;
    }
}

void redis_server_freeze(struct redis_server *server)
{
    kill(server->pid, SIGSTOP);
    waitpid(server->pid, NULL, WUNTRACED); /* until it really stands still */
}

void redis_server_thaw(struct redis_server *server)
{
    kill(server->pid, SIGCONT);
}

static void show(const redisReply *reply, struct buf *out)
{
    if (reply->type == REDIS_REPLY_INTEGER) {
        buf_i64(out, reply->integer);
    } else if (reply->str != NULL) {
        buf_add(out, reply->str, reply->len);
    }
    for (size_t i = 0; i < reply->elements && reply->type == REDIS_REPLY_ARRAY; i++) {
        buf_c(out, i == 0 ? "" : " ");
        show(reply->element[i], out);
    }
}

struct str redis_server_ask(const struct redis_server *server, struct arena *arena,
                            const char *command)
{
    redisContext *context = redisConnect("127.0.0.1", server->port);
    CHECK(context != NULL && context->err == 0);
    if (server->password != NULL) {
        freeReplyObject(redisCommand(context, "AUTH %s", server->password));
    }
    redisReply *reply = redisCommand(context, command);
    CHECK(reply != NULL);
    struct buf text = BUF_INIT(MIB);
    show(reply, &text);
    struct str copy = arena_str(arena, buf_view(&text));
    buf_fini(&text);
    freeReplyObject(reply);
    redisFree(context);
    return copy;
}

void redis_server_delete(const struct redis_server *server, struct str key)
{
    redisContext *context = redisConnect("127.0.0.1", server->port);
    CHECK(context != NULL && context->err == 0);
    freeReplyObject(redisCommand(context, "DEL %b", key.ptr, key.len));
    redisFree(context);
}

/* ---- One for the whole program, remembered in its environment ---- */

#define ENV_PID  "ERRAND_TEST_REDIS_PID"
#define ENV_PORT "ERRAND_TEST_REDIS_PORT"

static void stop_shared(void)
{
    struct redis_server server = {.pid = atoi(getenv(ENV_PID))};
    redis_server_stop(&server);
}

static void start_shared(void)
{
    struct redis_server server = {0};
    char number[16];
    redis_server_start(&server);
    snprintf(number, sizeof number, "%d", (int)server.pid);
    setenv(ENV_PID, number, 1);
    snprintf(number, sizeof number, "%d", server.port);
    setenv(ENV_PORT, number, 1);
    atexit(stop_shared);
}

void redis_server_shared(struct redis_server *out)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    if (getenv(ENV_PORT) == NULL) {
        start_shared();
    }
    *out = (struct redis_server){.pid = atoi(getenv(ENV_PID)), .port = atoi(getenv(ENV_PORT))};
    snprintf(out->url, sizeof out->url, "redis://127.0.0.1:%d", out->port);
    redis_server_ask(out, &arena, "FLUSHALL");
}
