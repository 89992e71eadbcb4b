/* client/otlp.h: sends spans to a collector of OpenTelemetry (OTLP over HTTP, in JSON).
 *
 * Whoever has a span gives it away and goes on: spans wait in a bounded line, a thread sends them
 * by the hundred, and tries again for as long as the collector is away. What does not fit into the
 * line, and what the collector does not want, is dropped and counted.
 *
 * Thread: otlp_give() and otlp_figures() are for any; the rest is for whoever opened it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_OTLP_H
#define ERRAND_CLIENT_OTLP_H

#include "base/err.h"
#include "base/list.h"
#include "wire/trace.h"

#define OTLP_WAITING_MAX    20000           /* spans in the line */
#define OTLP_BATCH_MAX      500             /* of one request */
#define OTLP_GATHER_MS      (1 * SECOND_MS) /* a request waits this long to become full */
#define OTLP_CALL_MS        (10 * SECOND_MS)
#define OTLP_BACKOFF_MS     (1 * SECOND_MS) /* doubled up to the most */
#define OTLP_BACKOFF_MAX_MS (30 * SECOND_MS)
#define OTLP_HEADERS_MAX    16
#define OTLP_ATTRIBUTES_MAX 16

enum otlp_status { OTLP_UNSET = 0, OTLP_OK = 1, OTLP_ERROR = 2 }; /* as the protocol numbers them */

struct otlp_attribute {
    const char *key;
    struct str text; /* absent: `number` */
    int64_t number;
};

struct otlp_span {
    struct link link;
    char trace[TRACE_ID_LEN + 1], id[TRACE_PARENT_LEN + 1];
    char parent[TRACE_PARENT_LEN + 1]; /* "": it begins the trace */
    struct str state;                  /* tracestate; or absent */
    struct str name;
    int64_t start_ms, end_ms; /* UTC */
    enum otlp_status status;
    struct str message; /* of OTLP_ERROR */
    struct otlp_attribute attributes[OTLP_ATTRIBUTES_MAX];
    size_t attributes_count;
};

struct otlp_options {
    struct str endpoint; /* http://HOST:4318; /v1/traces is put behind it unless it is there */
    struct str headers;  /* NAME=VALUE, separated by commas; or absent */
    struct str service;  /* service.name */
    struct str instance; /* service.instance.id */
};

/* Whether these could be used: the setting that is wrong is named. */
MUST_CHECK bool otlp_check(const struct otlp_options *options, struct err *err);

struct otlp;

/* Starts the thread; texts are copied. */
MUST_CHECK bool otlp_start(const struct otlp_options *options, struct otlp **out, struct err *err);
/* Sends what still waits, for at most that long, and ends. NULL is welcome to both. */
void otlp_stop(struct otlp *otlp, int64_t limit_ms);
void otlp_free(struct otlp *otlp);

/* A copy of the span and its texts is sent, later. */
void otlp_give(struct otlp *otlp, const struct otlp_span *span);

struct otlp_figures {
    uint64_t sent, dropped;
    size_t waiting;
};
struct otlp_figures otlp_figures(struct otlp *otlp);

/* ---- What is sent ---- */

struct buf;
/* One request of these spans: links of struct otlp_span. */
void otlp_write(struct buf *out, const struct otlp_options *options, const struct list *spans);

#endif
