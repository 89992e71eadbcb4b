/* queue/batch.h: one batch: the commands that share a transaction, and the tasks they touch.
 *
 * What a batch reads is loaded at once and what it changed is saved at once. Nothing of it is seen
 * outside before it is committed; then publish.c draws the consequences.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_BATCH_H
#define ERRAND_QUEUE_BATCH_H

#include "queue/claim.h"
#include "queue/due.h"
#include "queue/event.h"
#include "queue/flow.h"
#include "queue/item.h"
#include "queue/turn.h"

#define BATCH_COMMANDS_MAX 1024 /* what one transaction takes on; the rest forms the next */
#define BATCH_DUE_MAX      1000
#define NOTHING_MAX        64 /* claims that want the same as one that got nothing are not asked */

struct engine;

struct batch {
    struct engine *engine;
    struct now now;
    struct tx *tx;
    struct arena arena;
    struct err err; /* of the store: the whole batch fails with it */
    bool writes;    /* it must be committed */
    bool lost;      /* another node was faster: nothing is written, all is decided anew */

    struct list commands; /* being decided, in order */
    struct list deferred; /* their task was changed by another: next batch */
    struct list answered;

    struct map items;
    struct item **all;
    size_t all_count, all_room;
    size_t missing; /* of them: needed and not loaded yet */

    struct order **orders; /* create.c: to insert */
    size_t orders_count, orders_room;
    struct map keys;    /* of those orders */
    size_t met;         /* so many of them were started at once */
    size_t orders_told; /* guest.c: so many of them were told to guests */

    struct walk walk; /* flow.c */

    struct proposal *proposals; /* propose.c */
    size_t proposals_count, proposals_room;
    struct pool *pools; /* taken for several claims that want the same */
    size_t nothing_count;
    bool asked_rows; /* propose.c: claims were proposed rows, not hints */
    bool may_return; /* claim_ends.c: what a claim was proposed may go back to the others */
    size_t *returns; /* what does: 1 + places among the proposals */
    size_t returns_count, returns_room;
    bool rooms_known; /* shared.c: every limited queue was asked */

    struct command *turns[TURNS_AT_ONCE]; /* turn.c: claims of the engine's own */
    size_t turns_count;

    struct store_sweep sweep; /* janitor.c: where the walk stands if this batch commits */
    bool swept;

    struct abort { /* in-server attempts to be told to stop */
        struct task_id id;
        int32_t attempt;
        enum abort_why why;
    } * aborts;
    size_t aborts_count, aborts_room;

    struct event_batch *events;
    size_t events_room;

    /* Large, and written before they are read: batch_init() clears what stands before them. */
    size_t fired_count, queue_changes_count, returned_count;
    struct due_entry *fired[BATCH_DUE_MAX];
    struct command_queue *queue_changes[BATCH_COMMANDS_MAX];
    struct task_id returned[BATCH_COMMANDS_MAX];      /* run functions that came back after all */
    struct task_id returned_next[BATCH_COMMANDS_MAX]; /* who of its family may run now; or none */
    uint64_t nothing[NOTHING_MAX];                    /* hashes of wants that found nothing */
};

void batch_init(struct batch *batch, struct engine *engine);
void batch_fini(struct batch *batch);

/* ---- The store ---- */

bool batch_begin(struct batch *batch);    /* opens the transaction unless it is open */
bool batch_ok(const struct batch *batch); /* no store error so far */
void batch_fail_store(struct batch *batch, const struct err *err);
/* Writes and commits. False: the store failed. Where another was faster the batch is `lost`. */
bool batch_save(struct batch *batch);

/* ---- Its tasks ---- */

void batch_need(struct batch *batch, struct task_id id, bool whole);
/* The same, whole, of a task that is only to be started: its row need not be locked. */
void batch_need_start(struct batch *batch, const struct hint *hint);
/* ... of one whose attempt is only to be ended. */
void batch_need_end(struct batch *batch, struct task_id id, uint64_t token);
bool batch_load(struct batch *batch); /* everything that was needed and is not there yet */
struct item *batch_item(struct batch *batch, struct task_id id); /* loaded; NULL: store error */
struct item *batch_peek(const struct batch *batch, struct task_id id);     /* NULL: not loaded */
bool batch_knows(const struct batch *batch, struct task_id id);            /* loaded or not */
struct item *batch_new_item(struct batch *batch, const struct task *task); /* a new one's */
/* The task of a command, found or refused: on false the command's err says why. */
MUST_CHECK bool batch_find(struct batch *batch, struct task_id id, struct item **out,
                           struct err *err);
/* What became of an order that was started at once; NULL: it was not. */
const struct item *batch_met(const struct batch *batch, const struct order *order);
struct item *batch_change(struct batch *batch, struct item *item, const void *owner);

/* ---- Its commands ---- */

void batch_answer(struct batch *batch, struct command *command); /* it is decided */
void batch_defer(struct batch *batch, struct command *command);  /* to the next batch */

/* ---- Work inside the server that should stop ---- */

void batch_abort(struct batch *batch, const struct item *item, enum abort_why why);
void batch_abort_attempt(struct batch *batch, struct task_id id, int32_t attempt,
                         enum abort_why why);
void batch_abort_cancelled(struct batch *batch, const struct item *item); /* if it runs in here */

#endif
