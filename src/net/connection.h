/* net/connection.h: the inside of the server; what is behind server.h and nobody else's business.
 *
 * server.c and socket_file.c listen; handover.c moves connections between loops; connection.c
 * reads, parses and hands to the handler; pipeline.c keeps what is handled beside each other in
 * order; exchange.c answers; output.c writes; timeouts.c keeps the deadlines; client/tls.c wraps
 * the bytes.
 *
 * A connection without a request costs its struct and a socket: input is read into one buffer that
 * all share, and what is needed to read a request hangs on the exchange, which is taken from a pool
 * at the request's first byte and put back when it is answered.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_CONNECTION_H
#define ERRAND_NET_CONNECTION_H

#include <stdatomic.h>

#include "base/channel.h"
#include "base/heap.h"
#include "base/list.h"
#include "client/tls.h"
#include "net/protocol.h"
#include "net/server.h"

#define READ_BUFFER     (64 * KIB)
#define PIPELINE_MAX    (64 * KIB) /* input kept while an answer is awaited; then reading stops */
#define PIPELINE_DEPTH  64 /* requests of a connection that are handled at once, if they overlap */
#define UNSENT_MAX      (64 * KIB) /* with more to be sent, a connection is not read */
#define ANSWER_HEAD_MAX (32 * KIB)
#define BODY_STEP       (64 * KIB) /* of a body, that must come within body_timeout_ms */
#define BODY_STEAL_MIN  (16 * KIB) /* a body from here on is taken over, not copied */
#define BODY_SKIP_MAX   (64 * KIB) /* of a refused request, to keep its connection */
#define SPARE_EXCHANGES 1024       /* kept for use again */
#define REFUSED_MAX     64         /* connections over the limit that are told so with patience */
#define LINGER_MS       (2 * SECOND_MS) /* for the client to read a last answer and hang up */
#define KEEPALIVE_S     60              /* then the kernel asks whether the client is still there */

/* What a connection waits for; each kind has one time-out, so each list is in order of deadline. */
enum wait { WAIT_IDLE, WAIT_HEAD, WAIT_BODY, WAIT_WRITE, WAIT_LINGER, WAITS, WAIT_NONE = WAITS };

struct server {
    struct server_options options;
    uv_loop_t *loop;
    uv_tcp_t listener;
    uv_pipe_t file_listener; /* of the socket file */
    dev_t file_device;       /* which file that is: another server's must not be removed */
    ino_t file_inode;        /* 0: there is none */
    bool quiet, stopping;
    int64_t accept_warned_ms;
    struct list connections;
    _Atomic size_t connections_count; /* and those on their way here */
    struct tls_context *tls;          /* NULL: plain */

    struct server *others[SERVER_LOOPS_MAX]; /* for which this one listens too */
    size_t others_count;
    struct channel arrivals; /* connections that other loops give to this one */
    uv_async_t arrived;
    _Atomic size_t arriving; /* how many of them are on their way */

    struct list ready; /* connections to go on with in the next tick */
    uv_idle_t ready_idle;

    uv_timer_t timer; /* armed for the earliest deadline, or earlier */
    int64_t armed_ms; /* 0: not armed */
    struct list waits[WAITS];
    int64_t wait_ms[WAITS];
    struct heap exchange_timers;

    struct list exchanges; /* all that are in use */
    struct list spare;
    size_t spare_count;
    size_t input_bytes;   /* held for all connections together */
    size_t input_leaving; /* of which these are of waits that were ended for their sake */
    size_t output_bytes;  /* out_pending of all connections together */

    struct buf head; /* of the answer being written */
    char date[32];   /* "Mon, 01 Mar 2027 09:00:00 GMT" */
    int64_t date_s;
    char *read_buffer, *plain_buffer; /* plain_buffer: what TLS decrypted */
};

struct connection {
    union { /* both are streams, and begin alike */
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    };
    bool by_file; /* it came by the socket file: `pipe` */
    struct server *server;
    struct link link;  /* in server->connections */
    struct link ready; /* in server->ready, or in none */
    struct link wait;  /* in server->waits[wait_kind], or in none */
    enum wait wait_kind;
    int64_t wait_until_ms;
    size_t wait_mark; /* body bytes, or bytes to write, when the wait began */

    struct request *request; /* being read or handled; NULL: idle */
    struct list owed;        /* request.turn: pipelined before it and handled beside it, in order */
    size_t owed_count;
    size_t kept;          /* bytes of their answers that wait for an earlier one */
    struct buf in;        /* input that could not be used yet */
    size_t in_at;         /* of which this many bytes are used up */
    size_t skip;          /* bytes to come of the body of a request that was refused */
    struct str fresh;     /* just read, in the shared buffer */
    size_t out_pending;   /* bytes given to uv_write and not yet sent */
    int64_t out_since_ms; /* when the first of them was */
    struct tls *tls;      /* NULL: plain */
    void *session;        /* of another protocol than HTTP, once it has begun */

    bool reading;
    bool handling;  /* the handler has the request, or another protocol owes an answer */
    bool barrier;   /* the request is read on when nothing is owed any more */
    bool leaves;    /* likewise it goes to the home loop then, with its connection */
    bool stepping;  /* parsing: answers given meanwhile need not wake us */
    bool last;      /* no request is read after this answer */
    bool late;      /* younger than server_quiet() */
    bool lingering; /* everything was said; what still comes is thrown away */
    bool eof;       /* the client will say no more */
    bool broken;    /* writing failed */
    bool cut;       /* it gave way: its unsent bytes are no longer counted */
    bool closing;
};

/* A request, its answer and what is needed in between: the whole of an exchange. */
struct request {
    struct exchange exchange;
    struct server *server;
    struct connection *connection; /* NULL: the client is gone */
    struct link link;              /* in server->exchanges or server->spare */
    struct link turn;              /* in connection->owed, or in none */
    struct http_parser parser;
    bool has_head, whole, streaming;
    bool answered;     /* `answer` waits for its turn; of the exchange nothing is left */
    struct buf answer; /* head and body */
    int64_t began_ms;  /* its first byte */
    struct buf held;   /* the input that the body lies in, if it was taken over */
    size_t counted;    /* bytes of chunks, in server->input_bytes */
    size_t leaving;    /* in server->input_leaving */
    struct heap_node timer;
    int64_t timer_ms;
    void (*fire)(struct exchange *exchange);
    void (*drained)(struct exchange *exchange);
};

/* socket_file.c: listens on options.socket with mode 0660. What a dead server left there is
 * replaced; where somebody answers, this is refused. */
MUST_CHECK bool socket_file_open(struct server *server, uv_connection_cb on_connection,
                                 struct err *err);
void socket_file_close(struct server *server); /* and removes it, unless it is another's now */

/* server.c: a walk over all: for when a common limit is reached. NULL: none weighs anything. */
struct connection *server_heaviest(const struct server *server,
                                   double (*weight)(const struct connection *connection));

/* Whether the handler, or another protocol, owes it an answer. */
static inline bool connection_awaits(const struct connection *connection)
{
    return connection->handling || connection->owed_count > 0;
}

/* handover.c */
void handover_init(struct server *server);
void handover_fini(struct server *server);           /* after all loops have ended */
struct server *handover_choose(struct server *home); /* for a new connection */
void handover_give(struct connection *connection, struct server *to); /* it is closed here */

/* connection.c */
struct connection *connection_new(struct server *server, bool by_file);
void connection_begin(struct connection *connection); /* it was accepted, and stays on this loop */
/* It comes from another loop with a request whose head was read; `input` was read behind that. */
void connection_resume(struct connection *connection, struct str input);
void connection_open(struct server *server, uv_stream_t *listener); /* accepts what it has */
void connection_close(struct connection *connection);
void connection_go_on(struct connection *connection); /* parses on, then decides what to wait for */
void connection_later(struct connection *connection); /* goes on in the next tick */
void connection_settle(struct connection *connection);

/* request.c */
struct request *request_begin(struct connection *connection); /* hangs it on the connection */
void request_end(struct request *request);                    /* back to the pool */
/* Tells the handler that nobody is listening any more. A stream is over with that. */
void request_gone(struct request *request);

/* input.c */
struct str input_of(const struct connection *connection);
void input_used(struct connection *connection, size_t len); /* its first bytes are done with */
void input_drop(struct connection *connection);             /* all of it */
/* Keeps bytes for later. Over the common limit somebody gives way: refused or, if owed an answer,
 * dropped. */
void input_keep(struct connection *connection, struct str bytes);
/* The same limit for a body in chunks, which the parser puts together. */
void input_count_chunks(struct connection *connection, struct request *request);
/* Uses up the last bytes of a request, seeing to it that its body lives on. */
void input_keep_body(struct connection *connection, struct request *request, size_t consumed);

/* exchange.c: gives up the request that is being read, if there is one. */
void connection_refuse(struct connection *connection, int status, const char *message);

/* pipeline.c: requests that are handled beside each other, and their answers in order. */
void pipeline_set_aside(struct connection *connection); /* its request, if another may be read */
/* An answer whose turn has not come, or that leaves together with others. */
void pipeline_keep(struct request *request, struct str head, struct str body);
void pipeline_send(struct connection *connection); /* those whose turn has come, in one write */
void pipeline_gone(struct connection *connection); /* the client says no more: tells all handlers */
void pipeline_drop(struct connection *connection); /* the connection is closed */

/* output.c: one system call if the socket takes it all, else the rest is copied and sent later. */
void output_send(struct connection *connection, struct str first, struct str second);
void output_check_total(struct server *server);       /* who holds most for longest is cut off */
void output_flush_tls(struct connection *connection); /* what TLS itself has to say */
void output_finish(struct connection *connection);    /* says goodbye: no more output follows */

/* timeouts.c */
void timeouts_init(struct server *server);
void timeouts_fini(struct server *server);
void timeouts_set(struct connection *connection, enum wait kind); /* begins anew; or WAIT_NONE */
void timeouts_arm(struct server *server, int64_t due_ms);
void exchange_fire(struct exchange *exchange); /* its timer, now: it must have one */

#endif
