/* tests/work/endpoint.h: an HTTP server on loopback that says what it was told to say.
 *
 * What it answers is chosen by the path of the request: a row of the script, or a request that is
 * held until endpoint_release(). Everything it was sent is kept. Nothing sleeps: a test waits for
 * what arrives.
 *
 * Thread: it has one of its own; the functions here are the test's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_WORK_ENDPOINT_H
#define ERRAND_TESTS_WORK_ENDPOINT_H

#include <pthread.h>

#include "base/arena.h"
#include "base/buf.h"

#define ENDPOINT_PATIENCE_S 60
#define ENDPOINT_MAX        1000 /* connections at once, requests in all */

struct endpoint_row {
    const char *path;
    const char *answer; /* all of it; NULL: closed without a word */
    bool hang_up;       /* closed behind the answer */
};

struct endpoint_request {
    struct str head, body; /* head: with the request line, without the empty line */
};

struct endpoint_line { /* a connection */
    int fd;
    struct buf in;
    bool held;
};

struct endpoint {
    const struct endpoint_row *rows; /* a path that is in none is held */
    size_t rows_count;
    int port, listener, waker[2];
    pthread_t thread;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    struct arena arena;
    struct endpoint_line lines[ENDPOINT_MAX];
    struct endpoint_request requests[ENDPOINT_MAX];
    size_t lines_count, requests_count;
    size_t connections;     /* ever */
    size_t held, most_held; /* requests that wait for their answer now; at any time so far */
    size_t left;            /* held ones that the other side closed */
    size_t release;         /* how many held ones may be answered */
    bool stop;
};

void endpoint_open(struct endpoint *e, const struct endpoint_row *rows, size_t rows_count);
void endpoint_close(struct endpoint *e);

void endpoint_release(struct endpoint *e, size_t count); /* that many more, as they come */
void endpoint_until_held(struct endpoint *e, size_t count);
void endpoint_until_left(struct endpoint *e, size_t count);
size_t endpoint_most_held(struct endpoint *e);
size_t endpoint_connections(struct endpoint *e);
size_t endpoint_requests(struct endpoint *e);
struct endpoint_request endpoint_request(struct endpoint *e, size_t number);

/* The value of a header; STR_NONE: it is not there. */
struct str endpoint_header(struct endpoint_request request, const char *name);

#endif
