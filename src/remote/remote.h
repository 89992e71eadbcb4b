/* remote/remote.h: what the files of liberrand share. The public side is errand/client.h.
 *
 * Calls that want an answer (create, claim) are made on the caller's thread over a connection that
 * is lent to it. Everything else is the keeper's: one thread a client that renews leases, sends
 * what is finished in batches, and empties the spool. It is told what to do by notes.
 *
 * Thread: as said at each part.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_REMOTE_REMOTE_H
#define ERRAND_REMOTE_REMOTE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/channel.h"
#include "client/http.h"
#include "errand/client.h"
#include "remote/backoff.h"
#include "remote/spool.h"

#define REMOTE_URL_USUAL    "http://127.0.0.1:8001"
#define REMOTE_SPOOL_MAX    ((int64_t)(64 * MIB))
#define REMOTE_PATIENCE_MS  (30 * SECOND_MS)
#define REMOTE_BEAT_MS      (5 * SECOND_MS) /* a cancel is known well within the grace period */
#define REMOTE_REPORT_MS    250             /* between two reports of one job */
#define REMOTE_REPORTS_MAX  1024            /* under way to the keeper; more are dropped */
#define REMOTE_CALL_MS      (10 * SECOND_MS)
#define REMOTE_WAIT_MAX_MS  (60 * SECOND_MS)
#define REMOTE_QUIET_MS     (5 * SECOND_MS) /* between two claims of a worker that was quieted */
#define REMOTE_ORDER_MAX    (64 * MIB)      /* the server has its own, smaller limit and says so */
#define REMOTE_RESULT_MAX   MIB
#define REMOTE_ERROR_MAX    (16 * KIB) /* code, message and detail together, as the server has it */
#define REMOTE_MESSAGE_MAX  KIB        /* a progress message */
#define REMOTE_LOG_LINE_MAX (4 * KIB)
#define REMOTE_LOG_MAX      (64 * KIB) /* waiting for a heartbeat; what does not fit is dropped */
#define REMOTE_LINGER_MS    2          /* a finish waits so long for the claim that follows it */
#define REMOTE_CARRY_MS     50         /* a claim waits so long for a keeper that is busy */
#define REMOTE_BATCH        100        /* finishes, or spooled creates, in one call */
#define REMOTE_BATCH_BYTES  (4 * MIB)

/* A claim that travels with what is finished: of the thread that claims, which waits for it. */
enum carry_state {
    CARRY_OFFERED,
    CARRY_TAKEN,     /* by the keeper: an answer will come */
    CARRY_WITHDRAWN, /* by its owner, whom it took too long */
};

struct carry {
    _Atomic int state;
    _Atomic int holders; /* owner and keeper; the last one frees it */
    sem_t done;
    struct buf body;   /* of POST /api/claim, without its finishes */
    struct buf answer; /* empty: nothing travelled, or nobody answered */
};

/* The keeper's own. */
struct keeper {
    struct list held, finishing; /* errand_job.link */
    struct list flushes;         /* flush.link */
    struct carry *carry;         /* NULL: nobody claims just now */
    bool apart;                  /* the server knows of no finishes in a claim */
    struct backoff backoff;
    int64_t away_until_ms; /* nothing is sent before that; 0: the server is there */
    struct rand rand;
    bool ending;
};

struct errand_client {
    struct arena arena; /* texts of the options */
    struct client_options to;
    struct str worker;
    int64_t backoff_min_ms, backoff_max_ms, patience_ms, beat_ms;
    void (*on_stop)(errand_job *, enum errand_stop, void *);
    void (*on_finished)(const char *, const struct errand_error *, void *);
    void (*on_signal)(enum errand_signal, void *);
    void *arg;
    /* Constant until here. For any thread: */
    struct channel idle;    /* connection.link: not lent to anybody */
    struct channel notes;   /* note.link: for the keeper */
    int wake_fd;            /* an eventfd: there are notes */
    int stop_fd;            /* an eventfd: can be read from errand_client_interrupt() on */
    struct spool *spool;    /* NULL: none */
    _Atomic size_t reports; /* notes with reports under way */
    _Atomic int signal;     /* enum errand_signal: the server's last word */
    _Atomic size_t ending;  /* jobs that were finished and are not answered yet */
    _Atomic int claiming;   /* threads in errand_claim() */
    _Atomic bool claimed;   /* there was one */
    pthread_t thread;
    struct keeper keeper;
};

struct errand_job {
    struct link link;
    errand_client *client;
    struct arena arena;
    struct str id, type, queue, document, payload, lease, json; /* absent: not there */
    int attempt;
    int64_t lease_ms, timeout_ms;
    void *user;
    _Atomic int stop; /* enum errand_stop */
    struct buf end;   /* its item of POST /api/finish, written by whoever finishes it */
    /* The keeper's: */
    int64_t renewed_ms, until_ms, ends_ms; /* monotonic; ends_ms: its time-out, 0: none */
    int64_t reported_ms;
    double percent; /* negative: none */
    bool told;      /* there is something to report */
    struct buf message, log;
};

/* ---- What the keeper is told (keeper.c) ---- */

enum note_kind {
    NOTE_HOLD,
    NOTE_PROGRESS,
    NOTE_LOG,
    NOTE_FINISH,
    NOTE_FLUSH,
    NOTE_CARRY,
    NOTE_LOOK,
    NOTE_END
};

/* Who waits for a flush; let go by both sides, the last one frees it. */
struct flush {
    struct link link;
    sem_t done;
    _Atomic int holders;
};

struct note {
    struct link link;
    enum note_kind kind;
    errand_job *job;
    struct flush *flush;
    struct carry *carry;
    double percent;
    char *text; /* owned by the note; NULL: none */
};

void keeper_note(errand_client *client, const struct note *note);
MUST_CHECK bool keeper_start(errand_client *client, struct err *err);
void keeper_stop(errand_client *client); /* gives back what is held, and waits for the end */
void flush_let_go(struct flush *flush);
void carry_answer(struct carry *carry, struct str answer); /* the keeper's last word */
void carry_let_go(struct carry *carry);
bool wait_for(sem_t *done, int64_t wait_ms); /* false: time is over */

/* ---- Asking the server (ask.c). Any thread ---- */

enum told {
    TOLD_YES,
    TOLD_NO,   /* the server refuses: reply.error says why */
    TOLD_AWAY, /* no answer, or one that says "later" */
};

struct question {
    const char *path;
    struct str body;
    int64_t limit_ms;
    bool may_stop; /* errand_client_interrupt() ends it; what the server gave away by then comes */
};

struct reply {
    struct str body; /* in the arena */
    int64_t retry_after_ms;
    struct errand_error error;
};

/* POSTs once. */
enum told ask(errand_client *client, const struct question *question, struct arena *arena,
              struct reply *out);
/* Hears what an answer to a claim or heartbeat asks of the worker. */
enum errand_signal ask_signal(errand_client *client, struct str answer, struct arena *arena);
void ask_close(errand_client *client); /* the connections that are not lent */

/* Waits that long; false: interrupted. */
bool pause_for(errand_client *client, int64_t ms);
bool is_interrupted(errand_client *client);

/* ---- Errors and times ---- */

int fail_with(struct errand_error *out, const struct err *err); /* -1 */
int64_t mono_ms(void);

/* ---- Words: create.c and job.c. Pure ---- */

/* The body of a create. With `wall_ms` a delay becomes a point in time: it may be sent much later.
 * Negative: as given. */
MUST_CHECK bool order_write(struct buf *out, const char *type, const char *payload,
                            const struct errand_order *order, const char *key, int64_t wall_ms,
                            struct err *err);

/* A job out of a claimed task. NULL: that is none. */
errand_job *job_read(errand_client *client, struct str task, int64_t lease_ms, int64_t now_ms);
void job_free(errand_job *job);
void job_write_release(errand_job *job, int64_t delay_ms);
void job_write_beat(const errand_job *job, struct buf *out);

#endif
