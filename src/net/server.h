/* net/server.h: sockets. Listens, reads requests, sends answers; knows HTTP, but no task. Another
 * protocol can be spoken on the same sockets: protocol.h.
 *
 * A request that was read whole is an *exchange*: the handler answers it at once or keeps it and
 * answers later. Answers of a connection leave in the order of its requests. What `admit` says may
 * overlap is handled beside others that were pipelined before it; all else waits its turn.
 * Time-outs (head, body, idle, a reader that does not read), size limits, TLS, keep-alive, Expect
 * and half-close are handled here.
 *
 * One client cannot stop the others. Who may not ask is answered before a byte of the body is kept
 * (`admit`); and what all connections together hold, of requests and of answers, has a limit: when
 * it is reached, those that have held much for long give way, not those who come with little.
 *
 * Several servers, each on a loop of its own, can share connections: the first listens, and is the
 * `home` of the others. Who listens gives each new connection to the loop that has the fewest. What
 * cannot be answered by another loop goes home (exchange_go_home()), with its connection.
 *
 * `handle` is called while the loop polls, or just before it does: collect in it, and hand over to
 * other threads in a uv_prepare hook, which sees everything that a tick brought.
 *
 * Thread: the net loop of the server, all of it; server_connections() any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_SERVER_H
#define ERRAND_NET_SERVER_H

#include <uv.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "wire/http.h"

struct server;
struct exchange;
struct protocol;

#define SERVER_LOOPS_MAX        64
#define SERVER_CONNECTIONS_MAX  12000
#define SERVER_HEAD_TIMEOUT_MS  (10 * SECOND_MS)
#define SERVER_BODY_TIMEOUT_MS  (30 * SECOND_MS)
#define SERVER_IDLE_TIMEOUT_MS  (75 * SECOND_MS)
#define SERVER_WRITE_TIMEOUT_MS (30 * SECOND_MS)
#define SERVER_INPUT_MAX        (256 * MIB) /* requests that were read and are not yet answered */
#define SERVER_OUTPUT_MAX       (256 * MIB) /* answers and events that clients have not yet taken */
#define STREAM_PENDING_MAX      (256 * KIB) /* bytes a stream's reader may be behind */

struct server_options { /* a 0 among the limits means the default above */
    uv_loop_t *loop;
    struct server *home;            /* listens for this one too; NULL: it is its own */
    size_t loops;                   /* that share the limits of bytes; 0: it is alone */
    struct str listen;              /* HOST:PORT; port 0 picks a free one; absent: none */
    struct str socket;              /* path of a socket file, plain also under TLS; absent: none */
    const char *tls_cert, *tls_key; /* NULL: plain */
    size_t connections_max;         /* beyond it: 503 and close */
    size_t body_max;                /* bytes; beyond it: 413; 0: HTTP_BODY_MAX */
    size_t input_max;               /* bytes of all requests together; beyond it: 503 for some */
    size_t output_max;              /* bytes of all answers not yet sent; beyond it some are cut */
    int64_t head_timeout_ms;        /* from a request's first byte to its headers' end */
    int64_t body_timeout_ms;        /* for each 64 KiB of a body */
    int64_t idle_timeout_ms;        /* between two requests */
    int64_t write_timeout_ms;       /* without the client taking a byte */
    /* Looks at a request of which only the head is there. False: it was answered, and what comes of
     * the body is thrown away; or it goes home, where it is looked at again. NULL: everything is
     * let in. */
    bool (*admit)(void *arg, struct exchange *exchange);
    void (*handle)(void *arg, struct exchange *exchange);
    const struct protocol *protocol; /* spoken instead of HTTP: protocol.h; NULL: HTTP */
    void *arg;
};

MUST_CHECK bool server_start(const struct server_options *options, struct server **out,
                             struct err *err);
/* Changes what may change while it runs, or nothing. Connections that are there keep the
 * certificate they were greeted with. */
struct server_changes {
    const char *tls_cert, *tls_key; /* NULL: plain, as before */
    size_t connections_max, body_max;
};
MUST_CHECK bool server_change(struct server *server, const struct server_changes *changes,
                              struct err *err);
/* The same for one that has a home where they were changed: what was opened there is handed over,
 * on any thread, and taken on the server's own. */
struct server_taken {
    struct tls_context *tls;
    size_t connections_max, body_max;
};
struct server_taken server_hand_over(const struct server *home);
void server_take(struct server *server, struct server_taken *taken);
void server_taken_free(struct server_taken *taken); /* what nobody took */

/* Answers say Connection: close. Who connects from now on comes late (exchange.late): nothing new
 * is begun for him, and nobody waits until he has gone. Another protocol stops listening. */
void server_quiet(struct server *server);
/* Time is over for everyone who waits for it: each exchange's timer fires now. */
void server_hurry(struct server *server);
/* A request is under way or an answer not yet sent; streams, which have no end, do not count. */
bool server_busy(const struct server *server);
void server_stop(struct server *server); /* closes everything; the loop then runs out of work */
void server_free(struct server *server); /* after the loop has ended */
int server_port(const struct server *server);           /* 0: it has none */
size_t server_connections(const struct server *server); /* and of those it is the home of */
size_t server_unsent(const struct server *server);      /* bytes of answers, of all connections */

/* ---- One request and its answer ---- */

struct exchange {
    struct http_request
        request;        /* texts live in `arena` or the connection's buffer, until answered */
    struct arena arena; /* everything that lives as long as this exchange */
    void *user;         /* the handler's own */
    /* Set by the handler when it keeps the exchange: called once if the client leaves before the
     * answer. The exchange stays valid until it is answered. A client that will say no more but
     * still listens (half-close) looks the same; so the answer is sent if the socket takes it. */
    void (*gone)(struct exchange *exchange);
    bool is_gone;
    bool late;     /* it came on a connection that is younger than server_quiet() */
    bool stranger; /* set by `admit`: nobody knows who asks, so known ones come before him */
    bool overlaps; /* set by `admit`: it neither waits for the answers of those that were pipelined
                      before it nor keeps those behind it waiting for its own */
};

/* In `admit`: a lower limit of this one's body. False: more was announced; nothing was answered. */
MUST_CHECK bool exchange_limit_body(struct exchange *exchange, size_t max);

/* In `admit`, which then says false: the home loop answers it, once what was pipelined before it is
 * answered. */
void exchange_go_home(struct exchange *exchange);

/* Answers: the body's bytes are copied or taken over before it returns. Extra headers are whole
 * lines
 * ("Location: /x\r\n") or "". Ends the exchange: it must not be touched afterwards. */
void exchange_answer(struct exchange *exchange, int status, const char *content_type,
                     struct str headers, struct str body);

/* Who sent the request: a number for its address (of IPv6 the network, 64 bits), equal for equal
 * ones; 0 where it is not known. */
uint64_t exchange_peer(const struct exchange *exchange);

/* Calls `fire` once after `ms` unless answered before or set anew; ms < 0 removes it. */
void exchange_timer(struct exchange *exchange, int64_t ms, void (*fire)(struct exchange *exchange));

/* ---- Streams: an answer without an end (text/event-stream) ---- */

/* Sends the head (Content-Type: text/event-stream, Cache-Control: no-store, X-Accel-Buffering: no).
 * From then on stream_send() until exchange_end(), or until `gone` is called: then the exchange is
 * over when that callback returns. */
void exchange_stream(struct exchange *exchange);
bool stream_send(struct exchange *exchange,
                 struct str bytes);                     /* false: not taken, its buffer is full */
size_t stream_pending(const struct exchange *exchange); /* bytes not yet on their way */
void stream_on_drain(struct exchange *exchange, void (*drained)(struct exchange *exchange));
void exchange_end(struct exchange *exchange); /* ends a stream cleanly */

#endif
