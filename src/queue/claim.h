/* queue/claim.h: claims: what they are proposed, what they start, and those that wait.
 *
 * A claim that finds nothing may wait: it stands in the line of each queue it asked for, at no
 * cost, until the broker says that one of them has become ready, or until its time is over.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_CLAIM_H
#define ERRAND_QUEUE_CLAIM_H

#include "base/heap.h"
#include "broker/broker.h"
#include "queue/command.h"

struct engine;
struct item;
struct worker;

struct claims {            /* those that wait */
    struct list waiting;   /* oldest first: command_claim.waiting */
    size_t count;          /* without those of workers inside the server */
    struct heap deadlines; /* of those that wait no longer than a time: command_claim.deadline */
};
void claims_init(struct claims *claims);
void claims_fini(struct claims *claims);

/* ---- Proposals: before the batch is loaded (propose.c) ---- */

struct proposal {
    struct command *claim;
    struct hint *hints;
    size_t count;
    struct broker_lock *locks; /* on the documents of those that start */
    size_t locks_count;
};

const struct str *claim_queues(const struct command_claim *claim, size_t *count);
size_t claim_propose(struct batch *batch, struct command *command); /* how many it may start */
bool claim_may_find(struct batch *batch, const struct command_claim *claim); /* something now? */
void claims_propose(struct batch *batch);      /* to those that wait, whose queues became ready */
void claims_return_pools(struct batch *batch); /* what nobody wanted after all */
/* A place below the limits of the hint's queue is taken (1), or free again (-1). */
void claim_reserve(struct batch *batch, const struct hint *hint, int64_t by);

/* ---- Decisions ---- */

bool claim_decide(struct batch *batch, struct command *command); /* what it was proposed */
void claims_decide(struct batch *batch);                         /* those that wait */
MUST_CHECK bool claim_start(struct batch *batch, struct item *item, struct command *command);
bool claim_unstart(struct batch *batch, struct item *item); /* the store did not let it start */
void claims_give_back(struct batch *batch);                 /* the batch came to nothing */

/* meet.c: claims that wait take what this batch creates. */
void claims_meet(struct batch *batch);
void claims_met(struct batch *batch, bool committed); /* they are answered, or wait on */

/* ---- Waiting ---- */

void claim_park(struct engine *engine, struct command *command);
void claim_unpark(struct engine *engine, struct command *command);
void claim_stop_waiting(struct batch *batch, struct command *waiting); /* it gets no task */
void claims_signal(struct batch *batch, const struct worker *worker);  /* those of it that wait */
/* Those whose time is over are answered with no task. The time is real: a clock that is wound by
 * hand does not move it. */
void claims_time_out(struct batch *batch);
int64_t claims_in_ms(const struct claims *claims);               /* of real time; NEVER_MS: none */
void claims_unpark_all(struct engine *engine, struct list *out); /* all, unanswered */

#endif
