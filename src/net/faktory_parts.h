/* net/faktory_parts.h: what the files of the Faktory listener share and nobody else sees.
 *
 * A *session* is one connection. Each of its lines becomes an *op*, which is answered in its turn:
 * ops of pushes and ends run beside each other, any other waits until those before it are answered
 * and holds back those behind it, so that what a client sees is as if they ran one by one.
 *
 * A *worker* is a wid, shared by its connections; one without a wid is its connection's alone.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_FAKTORY_PARTS_H
#define ERRAND_NET_FAKTORY_PARTS_H

#include "base/map.h"
#include "net/call.h"
#include "net/faktory.h"
#include "wire/faktory.h"

#define OPS_MAX      ((size_t)256)        /* of one session at once */
#define OPS_BYTES    MIB                  /* of their lines together; one may be larger */
#define OPS_SPARE    ((size_t)1024)       /* kept for use again */
#define LEASES_MAX   ((size_t)10000)      /* remembered for one worker; older ones are looked up */
#define SALT_TEXT    17                   /* 16 hex digits and a NUL */
#define SWEEP_MS     ((uint64_t)5000)     /* between two looks for workers that went silent */
#define ERROR_DETAIL (TASK_ERROR_MAX / 2) /* bytes of a backtrace */

/* What a worker was given, by jid: an end needs no lookup then, and a late one is known as such. */
struct faktory_lease {
    struct map_node node; /* in faktory.leases, by the hash of the jid */
    struct link of_worker;
    struct faktory_worker *worker;
    struct str jid; /* owned */
    struct task_id id;
    struct task_lease lease;
};

struct faktory_worker {
    struct map_node node; /* in faktory.workers; not of one without a wid */
    struct link link;
    struct str name;      /* as the engine knows it; owned */
    bool named;           /* it has a wid */
    struct list sessions; /* faktory_session.of_worker */
    struct list leases;   /* faktory_lease.of_worker, oldest first */
    size_t leases_count;
    uint64_t beat_ms; /* loop time of its last BEAT, or of its coming */
};

struct faktory {
    struct faktory_options options;
    uv_loop_t *loop;
    struct rand rand;
    struct map workers, leases;
    struct list all_workers; /* with a wid */
    uint64_t anonymous;      /* how many workers without one there were */
    uv_timer_t rest_timer, sweep_timer;
    struct list resting; /* faktory_op.resting: workers that are to be quiet, oldest first */
    struct list spare;   /* ops */
    size_t spare_count;
    struct order blank;                   /* what every job begins with */
    struct buf out;                       /* answers are put together here */
    uint64_t commands;                    /* since the start, as the next ones */
    uint64_t base_processed, base_failed; /* what FLUSH does not count any more */
    struct arena removed_arena;           /* of the queues that were removed: */
    struct removed_queue *removed;
    bool stopped;
};

struct faktory_session {
    struct faktory *faktory;
    struct connection *connection;
    struct link of_worker;
    struct faktory_worker *worker; /* NULL: not introduced yet */
    struct list ops;               /* in the order of their lines */
    size_t ops_count, ops_bytes;
    size_t ends_count; /* of the ops: ACK and FAIL */
    size_t looked;     /* bytes of the input that hold no line end */
    bool alone;        /* an op is under way that lets no other run beside it */
    bool blocked;      /* the next line waits until all are answered */
    bool hanging_up;   /* after the ops that are under way */
    bool half;         /* the client will say no more */
    char salt[SALT_TEXT];
    int64_t rounds; /* 0: no password is asked for */
};

struct faktory_op {
    struct api_sender sender; /* first: answers find the op by it */
    struct link link;         /* in session->ops or faktory->spare */
    struct faktory *faktory;
    struct faktory_session *session;     /* NULL: the client is gone */
    struct arena arena;                  /* all that lives as long as the op */
    struct faktory_line line;            /* in the arena */
    struct command command;              /* the usual one; others come from the arena */
    unsigned pending;                    /* commands and queries that are out */
    struct err failure;                  /* the first among their answers */
    void (*back)(struct faktory_op *op); /* all are back */
    void *own;
    size_t bytes;      /* of its line */
    struct str answer; /* absent: not yet; in the arena, or for ever */
    bool hangs_up;     /* the connection ends with this answer */
    struct link resting;
    uint64_t rest_until_ms;
};

/* faktory_session.c: from lines to ops and from answers to bytes. An op is over with its answer. */
void op_ok(struct faktory_op *op);
void op_null(struct faktory_op *op);
void op_bulk(struct faktory_op *op, struct str bytes);
void op_error(struct faktory_op *op, const char *code, struct str text);
void op_fail(struct faktory_op *op, const struct err *err); /* -ERR with its text */
void op_ok_or_fail(struct faktory_op *op); /* by its failure: what `back` usually is */

/* Questions to the engine and the readers; `back` is called when all that are out have returned. */
struct command *op_command(struct faktory_op *op, enum command_kind kind); /* from the arena */
void op_give(struct faktory_op *op, struct command *command);
struct query *op_query(struct faktory_op *op, enum query_kind kind);
void op_ask(struct faktory_op *op, struct query *query);

struct query *op_list(struct faktory_op *op, unsigned states, size_t limit); /* to be asked */

/* Looks for the tasks of a jid, newest first, `limit` at most, in these states (0: any); a jid may
 * be the id of a task that came by another way. */
struct query *op_find(struct faktory_op *op, struct str jid, unsigned states, size_t limit);
size_t op_found(const struct query *query, const struct task **out, size_t most);

/* faktory_worker.c */
struct faktory_worker *worker_join(struct faktory *faktory, struct str wid,
                                   struct faktory_session *session);
void worker_leave(struct faktory *faktory, struct faktory_session *session);
struct faktory_worker *worker_of_wid(const struct faktory *faktory, struct str wid);
void lease_keep(struct faktory *faktory, struct faktory_worker *worker, struct str jid,
                const struct task *task);
/* The one the worker has, else that of any worker. */
struct faktory_lease *lease_find(const struct faktory *faktory, const struct faktory_worker *worker,
                                 struct str jid);
/* The attempt is over. */
void leases_end(struct faktory *faktory, struct str jid, struct task_id id,
                struct task_lease lease);

/* faktory_job.c: jobs and tasks. */
struct order job_blank(void); /* what every order begins with, made once */
MUST_CHECK bool job_order(const struct faktory_job *job, const struct order *blank,
                          struct arena *arena, struct order *order, struct err *err);
int64_t job_lease_ms(const struct task *task);
struct str job_id(const struct task *task, struct arena *arena);
bool job_is_forgotten(const struct task *task); /* a failure that is in no set: retry was 0 */
/* `detail`: with its attempts, where it has failed before; or NULL. */
struct str job_write(const struct task *task, const struct task_detail *detail,
                     struct arena *arena);
#define JOB_FORGOTTEN_TAG "faktory:retry=0"

/* The verbs. Each is given an op with its line and answers it, now or later. */
void op_push(struct faktory_op *op); /* faktory_push.c */
void op_pushb(struct faktory_op *op);
void op_fetch(struct faktory_op *op); /* faktory_work.c */
void op_ack(struct faktory_op *op);
void op_fail_job(struct faktory_op *op);
void op_beat(struct faktory_op *op);
void op_track(struct faktory_op *op);
void fetch_stop(struct faktory_op *op); /* nobody may be listening any more */
void op_info(struct faktory_op *op);    /* faktory_queues.c */
void op_queue(struct faktory_op *op);
bool queue_is_own(struct str name);                            /* of the server itself */
void queue_is_back(struct faktory *faktory, struct str queue); /* something was pushed to it */
void queue_remove(struct faktory_op *op, const struct queue_view *view);
void info_start_over(struct faktory *faktory, const struct command_queues *queues);
void op_mutate(struct faktory_op *op); /* faktory_steer.c */
void op_flush(struct faktory_op *op);

#endif
