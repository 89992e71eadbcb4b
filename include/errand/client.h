/* errand/client.h: create tasks and work on them, from any C program.
 *
 *     $ cc -o resizer resizer.c $(pkg-config --cflags --libs errand)
 *
 * A producer:
 *
 *     errand_client *client = errand_client_new("http://127.0.0.1:8001", NULL, NULL);
 *     char id[ERRAND_ID_SIZE];
 *     errand_create(client, "resize", "{\"image\":\"cat.png\"}", NULL, id, NULL);
 *
 * A worker:
 *
 *     const char *types[] = {"resize"};
 *     struct errand_wish wish = ERRAND_WISH;
 *     wish.types = types;
 *     wish.types_count = 1;
 *     errand_job *job;
 *     while (errand_claim(client, &wish, &job, 1, NULL) >= 0)
 *         if (job != NULL)
 *             errand_job_complete(job, resize(errand_job_payload(job, NULL)), NULL);
 *
 * Leases are renewed behind your back for as long as you hold a job. Look at errand_job_stop() now
 * and then: it says when the work is no longer wanted.
 *
 * A server that is away is called again after a pause that grows, with jitter; whatever might have
 * arrived is said again in a way that cannot happen twice. With a spool (a file of your own) a
 * create never waits for the server: it is safe on your disk and is sent, in order, later.
 *
 * Texts are UTF-8 and end with a NUL. Every function may be called from any thread, but a job
 * belongs to one thread at a time. Structs with a `size` begin as their macro says, so that a
 * program built today works with a later library.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_H
#define ERRAND_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct errand_client errand_client; /* one server, as you see it */
typedef struct errand_job errand_job;       /* one attempt that you hold the lease of */

#define ERRAND_ID_SIZE 37 /* a task's id and its NUL */

/* What went wrong. Wherever a pointer to one is asked for, NULL is welcome. */
struct errand_error {
    int status;        /* the server's: 409, 413, …; 0: it did not answer, or it was not asked */
    char code[40];     /* the server's "lease_lost", "invalid_argument", …; or "unavailable" */
    char message[320]; /* for people */
};

/* ---- Beginning and ending ---- */

/* Why you should stop working on a job. */
enum errand_stop {
    ERRAND_GO_ON = 0,
    ERRAND_CANCELLED, /* its cancel was requested: stop, then fail or release it */
    ERRAND_LOST,      /* its lease is gone: another may be working on it already */
};

/* What the server asks of all your workers that share a client. */
enum errand_signal {
    ERRAND_WORK = 0,
    ERRAND_QUIET, /* claim no more: errand_claim() waits, and finds nothing, until it is resumed */
    ERRAND_STOP,  /* end: errand_claim() returns -1 with the code "stopped"; finish soon what you
                     hold, or release it */
};

struct errand_options {
    size_t size;
    /* http://HOST:PORT, https://… or unix:PATH; NULL: ERRAND_URL, else http://127.0.0.1:8001 */
    const char *url;
    const char *token;  /* NULL: ERRAND_TOKEN, else none */
    const char *cacert; /* PEM file of authorities for https; NULL: ERRAND_CACERT, the system's */
    const char *worker; /* who claims; NULL: host, process and a random number */
    const char *spool;  /* a file for creates while the server is away; NULL: none */
    int64_t spool_max;  /* its bytes at most; a create beyond that fails. 0: 64 MiB */
    int64_t backoff_min_ms, backoff_max_ms; /* between tries while it is away. 0: 100, 10000 */
    int64_t patience_ms; /* how long a create without a spool goes on trying. 0: 30000 */
    int64_t beat_ms;     /* between two heartbeats at most. 0: 5000, and a third of the lease */
    /* Both are called on the client's own thread: be brief, call nothing but errand_job_id() and
     * errand_job_user(). `arg` is yours. */
    void (*on_stop)(errand_job *job, enum errand_stop why, void *arg);
    /* A job was finished and the server has answered: 200, or why not (409: too late). */
    void (*on_finished)(const char *id, const struct errand_error *error, void *arg);
    void *arg;
    /* What the server asks has changed. On the client's own thread or a claiming one. */
    void (*on_signal)(enum errand_signal signal, void *arg);
};
#define ERRAND_OPTIONS                                                                             \
    {                                                                                              \
        .size = sizeof(struct errand_options)                                                      \
    }

/* NULL when an option is wrong or the spool cannot be opened. Nothing is sent yet: a server that is
 * away is no error. What the options point to is copied. */
errand_client *errand_client_open(const struct errand_options *options, struct errand_error *error);
errand_client *errand_client_new(const char *url, const char *token, struct errand_error *error);

/* Waits until every finished job was answered and the spool is empty. 0, or -1 when `wait_ms` was
 * not enough. */
int errand_client_flush(errand_client *client, int64_t wait_ms);

/* From now on nothing waits: claims return at once, calls that fail are not tried again. A claim
 * under way ends its wait at the server and returns the tasks that it was given until then, for
 * which a server that is silent has two seconds; finish them, or give them back. May be called from
 * a signal handler. For whoever wants to end. */
void errand_client_interrupt(errand_client *client);

/* What an operator, or a server that is about to stop, asks for; known from the last answer to a
 * claim or heartbeat. */
enum errand_signal errand_client_signal(const errand_client *client);

/* Gives back the jobs that are still held and sends what is finished, if the server can be reached
 * at once. What is in the spool stays there for the next one that opens it. No other thread may be
 * using the client. NULL is welcome. */
void errand_client_free(errand_client *client);

/* ---- Creating ---- */

/* What may be said about a task beside its type and payload. NULL, and negative, mean: not given.
 */
struct errand_order {
    size_t size;
    const char *queue, *document, *priority; /* "CRITICAL" "HIGH" "NORMAL" "LOW" */
    const char *key; /* idempotency key: a second create with it gives the first task */
    const char *at;  /* not before this time: "2027-03-01T09:00:00Z" */
    int64_t delay_ms, timeout_ms;
    int max_retries;
    const char *fields; /* a JSON object with any other fields of a task: {"tags":["a"]} */
};
#define ERRAND_ORDER                                                                               \
    {                                                                                              \
        .size = sizeof(struct errand_order), .delay_ms = -1, .timeout_ms = -1, .max_retries = -1   \
    }

enum {
    ERRAND_CREATED = 0, /* it is on the server's disk */
    ERRAND_SPOOLED = 1, /* it is on this machine's disk and will be sent; its id is not known yet */
};

/* ERRAND_CREATED, ERRAND_SPOOLED or -1. `payload` is JSON or NULL, `order` may be NULL, `id` too.
 * Once something is spooled all that follows is spooled too until the spool is empty again, so that
 * nothing overtakes. What the server refuses later is kept beside the spool, in SPOOL.refused. */
int errand_create(errand_client *client, const char *type, const char *payload,
                  const struct errand_order *order, char id[ERRAND_ID_SIZE],
                  struct errand_error *error);

/* ---- Claiming ---- */

struct errand_wish {
    size_t size;
    const char *const *types; /* none: any */
    size_t types_count;
    const char *const *queues; /* none: "default" */
    size_t queues_count;
    int64_t wait_ms;  /* how long to wait for the first, at most 60000 */
    int64_t lease_ms; /* after this long without a heartbeat another may have the task */
};
#define ERRAND_WISH                                                                                \
    {                                                                                              \
        .size = sizeof(struct errand_wish), .wait_ms = 20000, .lease_ms = 60000                    \
    }

/* Claims up to `max` tasks, most urgent first; returns how many, 0 when none came in time, -1 when
 * the server refuses, was away for all of `wait_ms`, or asks for an end (ERRAND_STOP). The rest of
 * `jobs` becomes NULL. */
int errand_claim(errand_client *client, const struct errand_wish *wish, errand_job **jobs,
                 size_t max, struct errand_error *error);

/* What is to be done. Texts live until the job is finished; one that is not there is NULL. */
const char *errand_job_id(const errand_job *job);
const char *errand_job_type(const errand_job *job);
const char *errand_job_queue(const errand_job *job);
const char *errand_job_document(const errand_job *job);
int errand_job_attempt(const errand_job *job);                         /* 1, 2, … */
const char *errand_job_payload(const errand_job *job, size_t *length); /* as it was sent */
const char *errand_job_json(const errand_job *job);                    /* the whole task */
enum errand_stop errand_job_stop(const errand_job *job);

/* A place for a pointer of yours. Set it before another thread may ask. */
void errand_job_set_user(errand_job *job, void *user);
void *errand_job_user(const errand_job *job);

/* ---- While working ---- */

/* Percent done (0 to 100) and a word about it (or NULL); lines for the attempt's log. Cheap: they
 * travel with heartbeats, at most four a second, and some may be lost. */
void errand_job_progress(errand_job *job, double percent, const char *message);
void errand_job_log(errand_job *job, const char *text);

/* ---- Finishing ---- */

/* Each takes the job out of your hands and returns at once; jobs finished about the same time
 * travel together. How the server took it is told to on_finished. 0, or -1 when something given is
 * no JSON or too long: the job is then still yours. */
int errand_job_complete(errand_job *job, const char *result, struct errand_error *error);
/* `detail` is JSON or NULL. With `retry` 0 the task fails for good. */
int errand_job_fail(errand_job *job, const char *code, const char *message, const char *detail,
                    int retry, struct errand_error *error);
void errand_job_release(errand_job *job, int64_t delay_ms); /* back in its place; no retry used */

#ifdef __cplusplus
}
#endif

#endif
