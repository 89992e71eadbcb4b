/* cli/bench.h: the inside of `errand bench`: lanes that speak HTTP, and the parts they play.
 *
 * A lane is one keep-alive connection. A producer creates tasks, with as many requests under way as
 * the plan says; a worker has one: it claims, and finishes with the next claim. One thread, one
 * epoll loop and hardly any copying: the measuring must not be what is measured.
 *
 * Thread: main.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_BENCH_H
#define ERRAND_CLI_BENCH_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "wire/http_response.h"

#define BENCH_LANES_MAX  10000
#define BENCH_BATCH_MAX  1000
#define BENCH_ANSWER_MAX (64 * MIB)
#define BENCH_ERRORS_MAX 100              /* then it gives up */
#define BENCH_SILENCE_MS (20 * SECOND_MS) /* likewise when nothing is heard */
#define BENCH_WAIT_MS    1000             /* of long-polling claims */
#define BENCH_DEPTH_MAX  64               /* requests under way on one connection */

/* ---- Times ---- */

/* A histogram with 64 steps for each doubling: within 1.6 % of the truth, from 1 us to hours. */
#define TIMES_STEPS    64
#define TIMES_DOUBLING 36
struct bench_times {
    uint64_t at[TIMES_STEPS * TIMES_DOUBLING];
    uint64_t count;
    int64_t max_us;
};
void bench_times_add(struct bench_times *times, int64_t us);
double bench_times_ms(const struct bench_times *times, double quantile); /* 0 when empty */

/* ---- What to do ---- */

enum bench_mode { BENCH_CREATE, BENCH_BULK, BENCH_CLAIM, BENCH_LIFE, BENCH_LATENCY };

struct bench_plan {
    struct bench_server {
        struct str host; /* as in the URL, for the Host header */
        uint16_t port;
        struct str socket;   /* or a socket file */
    } server, worker_server; /* where workers ask: another node of the same fleet, perhaps */
    struct str token;        /* absent: none */
    size_t producers, workers;
    size_t batch;        /* tasks in one request, of producers and of workers */
    size_t payload;      /* bytes */
    size_t documents;    /* 0: none */
    uint64_t count;      /* tasks; UINT64_MAX: until duration_us */
    int64_t duration_us; /* 0: until count */
    double rate;         /* tasks a second; 0: as fast as answers come */
    struct str type, queue;
    bool wait;    /* workers long-poll and stay; else an empty claim ends them */
    bool apart;   /* workers finish in a request of its own, not with the next claim */
    size_t depth; /* requests that a producer has under way */
    bool faktory; /* Faktory's work protocol is spoken there instead of HTTP */
};

struct bench_result {
    uint64_t created, completed, requests, errors;
    char first_error[200];
    struct bench_times create; /* request sent (or due) → answered */
    struct bench_times work;   /* claim sent (when waiting: answered) → finish answered */
    struct bench_times start;  /* create sent (or due) → a worker has it */
    int64_t wall_us;
    int64_t user_us, system_us; /* of this process */
};

/* ---- The loop ---- */

struct bench;

enum lane_step {
    LANE_REST,  /* nothing to say now */
    LANE_SPEAK, /* `out` holds a request */
    LANE_LEAVE, /* done for good */
};

struct lane_task {
    char id[40], lease[48];
};

/* A request under way. */
struct lane_sent {
    int64_t since_us; /* when it was due, or sent */
    size_t many;      /* tasks of it */
};

struct lane {
    struct link resting;
    int fd;
    bool worker, left;
    bool gone;                /* nothing of it is under way any more */
    bool finishing, claiming; /* what the worker's request does */
    bool want_write;
    int64_t since_us;   /* a worker's: when what it holds was claimed */
    int64_t claimed_us; /* a worker's: when it sent the claim that is under way */
    struct lane_sent sent[BENCH_DEPTH_MAX]; /* a ring: what is not answered yet, in order */
    size_t sent_at, sent_count;
    unsigned replies;         /* of Faktory: still to come for what the worker said */
    struct buf out, in, body; /* body: of the answer, workers only */
    size_t out_at, in_at;     /* how far written, how far read */
    struct arena arena;       /* of one answer */
    struct http_parser parser;
    struct http_response response;
    struct lane_task *tasks; /* claimed, not yet finished */
    size_t tasks_count;
};

struct bench {
    const struct bench_plan *plan;
    struct bench_result *result;
    struct buf head;    /* headers of every request */
    struct buf padding; /* of payloads */
    struct lane *lanes;
    size_t lanes_count, left, busy;
    struct list resting; /* producers that wait for their time */
    int poll, timer;
    uint64_t issued;  /* tasks asked for */
    uint64_t claimed; /* tasks handed out */
    int64_t start_us, last_us;
    struct err err;
};

MUST_CHECK bool bench_run(const struct bench_plan *plan, struct bench_result *result,
                          struct err *err);

/* ---- The parts: bench_parts.c ---- */

/* What the lane says next; LANE_REST when a producer's time has not come. */
enum lane_step producer_next(struct bench *bench, struct lane *lane, int64_t now_us);
enum lane_step worker_next(struct bench *bench, struct lane *lane, int64_t now_us);
/* The answer to it is complete. */
void producer_hears(struct bench *bench, struct lane *lane, int64_t now_us);
void worker_hears(struct bench *bench, struct lane *lane, int64_t now_us);

/* When the next task of a producer is due; INT64_MAX: there is none. */
int64_t bench_due_us(const struct bench *bench, int64_t now_us);
void bench_error(struct bench *bench, const struct lane *lane); /* counts a bad answer */

/* ---- The same in Faktory's words: bench_faktory.c ---- */

MUST_CHECK bool faktory_greet(int fd, bool worker, struct err *err);
void faktory_say_push(struct bench *bench, struct lane *lane, int64_t due_us, size_t many);
void faktory_say_work(struct bench *bench, struct lane *lane);
bool faktory_hears(struct bench *bench, struct lane *lane); /* false: no answer is whole */

#endif
