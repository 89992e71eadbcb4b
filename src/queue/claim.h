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
struct str claim_worker_name(const struct engine *engine, struct str worker, struct arena *arena);
MUST_CHECK bool claim_start(struct batch *batch, struct item *item, struct command *command);
bool claim_unstart(struct batch *batch, struct item *item); /* the store did not let it start */
void claims_give_back(struct batch *batch);                 /* the batch came to nothing */

void claim_settle(struct batch *batch, struct command *command); /* it is answered, or waits */

/* claim_ends.c: claims that end attempts first. */
void claims_after_ends(struct batch *batch); /* decides what on_claim() left among the commands */

/* return.c: proposals that go back undecided; publish.c sees to their hints. */
void claim_look_again(struct batch *batch, struct command *command); /* in the next batch */
/* Something goes back that must come before what this one was proposed, or another claim has
 * started a task of the same document. */
bool claim_overtaken(struct batch *batch, const struct command *command);
/* Where a task of this queue and document does not run after all, others may start that come before
 * the hint: below a limit anybody, of the document whoever stands in line. */
bool proposal_lets_others(struct batch *batch, struct str queue, struct str document,
                          const struct hint *last);
void claims_ends_saved(struct batch *batch); /* the batch is on disk */

/* meet.c: claims that wait take what this batch creates. */
void claims_meet(struct batch *batch);
bool claim_wants(const struct command_claim *claim, struct str queue, struct str type);
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
