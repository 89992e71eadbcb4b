/* client/http.h: calls to an HTTP server, one after the other, each with a time limit.
 *
 * A client keeps its connection open between calls. Redirects are not followed: a server of ours
 * sends none, and a token must not travel to a stranger.
 *
 * Thread: whoever opened it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_HTTP_H
#define ERRAND_CLIENT_HTTP_H

#include "base/arena.h"
#include "base/err.h"

#define CLIENT_CONNECT_MS (5 * SECOND_MS)
#define CLIENT_CALL_MS    (30 * SECOND_MS) /* the usual limit of one call */
#define CLIENT_LAST_MS    (2 * SECOND_MS)  /* for the answer to a call that is ended by us */
#define CLIENT_ANSWER_MAX (64 * MIB)       /* a longer answer is refused */
#define CLIENT_LINE_MAX   (2 * MIB)        /* likewise a line of a stream */
#define CLIENT_SILENCE_MS (60 * SECOND_MS) /* a stream that is silent this long has ended */

struct client;

struct client_options {
    struct str url;     /* http://HOST:PORT or https://…; a path is put before every call's. Or
                           unix:PATH, a socket file */
    struct str token;   /* sent as a bearer token; absent: none */
    const char *cacert; /* PEM file of authorities to trust; NULL: the system's */
    const struct client_header {
        struct str name, value; /* without control characters */
    } * headers;                /* of every call; borrowed until client_open() returns */
    size_t headers_count;
};

/* Whether that is a server's address: of a form that client_open() takes. */
bool client_url_ok(struct str url);

MUST_CHECK bool client_open(const struct client_options *options, struct client **out,
                            struct err *err);
void client_close(struct client *client); /* NULL is welcome */

struct client_call {
    const char *method;
    struct str path;  /* with its query */
    struct str body;  /* JSON; absent: none */
    int64_t limit_ms; /* 0: CLIENT_CALL_MS */
    const int *stop;  /* a descriptor: the call is given up once it can be read; NULL: none */
    bool hear_out; /* then the server is told by a half-closed connection, and its answer taken if
                      it comes within CLIENT_LAST_MS: it may have given us something */
    /* Given each whole line of a good answer as it comes; what is behind the last line end is the
     * answer's body. Ends the call by returning false. NULL: all of it is the body. */
    bool (*line)(void *arg, struct str line);
    void *arg;
};

struct client_answer {
    int status;
    struct str body;        /* in the arena, NUL behind it */
    struct str link;        /* the Link header, or absent */
    int64_t retry_after_ms; /* 0: the server did not say */
};

/* True when there was an answer, whatever its status. ERR_UNAVAILABLE: nobody answered in time, or
 * the call was given up. */
MUST_CHECK bool client_call(struct client *client, const struct client_call *call,
                            struct arena *arena, struct client_answer *out, struct err *err);

/* Reads an answer without an end. Each line is given without its line end; `tick` is called about
 * once a second and may be NULL. Either ends the stream by returning false. */
struct client_stream {
    struct str path;
    struct str last_event_id; /* absent: from now on */
    void *arg;
    bool (*line)(void *arg, struct str line);
    bool (*tick)(void *arg);
};

/* True when a callback ended it; ERR_UNAVAILABLE when the other side did; a status other than 200
 * is ERR_REFUSED with *answer filled. */
MUST_CHECK bool client_stream(struct client *client, const struct client_stream *stream,
                              struct arena *arena, struct client_answer *answer, struct err *err);

#endif
