/* queue/guest.h: rooms that live on the engine without its knowing them: schedules, teams, queues
 * of the Cloud Tasks API.
 *
 * A guest takes part in the engine's batches: what it writes (records, new tasks) is in the same
 * transaction as the change that caused it (I6). It is asked when it wants to act by itself, told
 * of every change of a task that belongs to a guest (to a schedule, a team, or the Cloud Tasks API:
 * task_is_cloud), and may be sent commands. A batch may fail or lose a race and be decided anew: a
 * guest keeps nothing in memory until it is told that the batch was committed, and reads everything
 * it decides by from the transaction.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_GUEST_H
#define ERRAND_QUEUE_GUEST_H

#include "queue/queue.h"
#include "store/record.h"

struct batch;

struct guest {
    /* Until it wants to act by itself; INT64_MAX: never. Cheap: asked after every batch. */
    int64_t (*due_in_ms)(struct guest *guest, struct now now);
    /* Acts on what is due; called in every batch in which due_in_ms() said 0. May be NULL. */
    void (*act)(struct guest *guest, struct batch *batch);
    /* A task that belongs to a guest was created or changed its state in this batch; `was` is NULL
     * for a new one. Called once for each state it enters, and for a hold also when its cancel
     * was requested. May be NULL. */
    void (*changed)(struct guest *guest, struct batch *batch, const struct task *was,
                    const struct task *now);
    /* The batch in which it took part was committed, or came to nothing. May be NULL. */
    void (*settled)(struct guest *guest, struct batch *batch, bool committed);
    /* This node now leads the fleet, or no longer does. An embedded server always leads. */
    void (*leads)(struct guest *guest, bool leads);
    /* Somebody retries an ended task that belongs to a guest by hand. False: `err` says why that
     * may not be. May be NULL. */
    bool (*may_revive)(struct guest *guest, struct batch *batch, const struct task *task,
                       struct err *err);
    /* A task that belongs to a guest reported progress. May be NULL. */
    void (*progressed)(struct guest *guest, struct batch *batch, const struct task *now);
    /* An attempt of a task that belongs to a guest is about to end badly: `error` is what its
     * worker said, or NULL: it timed out or was lost. Whether and when it is tried again is decided
     * next, by what `task` says then (max_retries, backoff, cancel_requested). May be NULL. */
    void (*ending)(struct guest *guest, struct batch *batch, struct task *task,
                   const struct task_error *error);
};

/* A command for a guest: kind COMMAND_GUEST. `decide` fills the answer and the command's err;
 * it may be called again for the same command when a batch was lost. */
typedef void guest_decide_fn(struct guest *guest, struct batch *batch, struct command *command);

/* ---- What a guest may ask of the batch ---- */

struct tx *guest_tx(struct batch *batch); /* begun; NULL: the store failed, give up quietly */
struct now guest_now(const struct batch *batch);
struct arena *guest_arena(struct batch *batch); /* lives until the batch is settled */
struct rand *guest_rand(const struct batch *batch);
struct task_id guest_make_id(struct batch *batch);

/* The store said no in the middle: the batch fails with this. */
void guest_store_failed(struct batch *batch, const struct err *err);
/* Something was changed by another node meanwhile: nothing of this batch is written, all is decided
 * anew. */
void guest_lost(struct batch *batch);
/* It wrote records: the batch must be committed even if no task changed. */
void guest_wrote(struct batch *batch);

/* ---- Its records ----
 *
 * False always means that there is nothing more to do: the batch is lost to others or fails with
 * what the store said, and the guest is asked again. */

MUST_CHECK bool guest_load_record(struct batch *batch, struct record_load *load,
                                  struct arena *arena);
MUST_CHECK bool guest_load_records(struct batch *batch, struct record_load *loads, size_t count,
                                   struct arena *arena);
/* All of them are written, or the batch is lost: another was faster, or a key is taken. */
MUST_CHECK bool guest_save_record(struct batch *batch, const struct record *record);
MUST_CHECK bool guest_save_records(struct batch *batch, const struct record *records, size_t count);
/* Those that can be are written; each says for itself whether it was. */
MUST_CHECK bool guest_try_records(struct batch *batch, struct record_save *saves, size_t count);
MUST_CHECK bool guest_delete_records(struct batch *batch, enum record_kind kind,
                                     const struct task_id *ids, size_t count);

/* ---- Its tasks ---- */

/* Creates tasks in this batch: all or none, as COMMAND_CREATE does. Texts must live as long as the
 * batch. An order whose idempotencyKey is known comes back with `known`. */
MUST_CHECK bool guest_create(struct batch *batch, struct order *orders, size_t count,
                             struct err *err);
MUST_CHECK bool guest_cancel(struct batch *batch, struct task_id id, struct str reason,
                             struct err *err);
/* Could a task of this priority that arrives now have the document at once? */
bool guest_finds_free(struct batch *batch, struct str document, enum task_priority priority);
/* A hold (task_is_hold) that this batch creates has its document from the start. */
void guest_open(struct batch *batch, struct order *hold);
/* A hold that is RUNNING has ended: COMPLETED, and its document is given on. */
void guest_close(struct batch *batch, struct task_id hold);
/* Another node created this task, or knew it: it is looked at as if it had passed through here. */
void guest_review(struct batch *batch, struct task_id id);

/* Starts a task that waits for its time, its retry or its turn, whatever its queue says (paused, at
 * a limit), for work inside this server. *out, in `arena`, is to be given to whoever runs it once
 * the batch is committed. *later: another command of this batch changed it first. A task that has a
 * document, or runs or has ended already, is ERR_CONFLICT. */
MUST_CHECK bool guest_start(struct batch *batch, struct task_id id, struct str worker,
                            struct arena *arena, struct task *out, bool *later, struct err *err);

/* Makes a task that waits for its time or its retry due now. */
MUST_CHECK bool guest_hurry(struct batch *batch, struct task_id id, bool *later, struct err *err);
/* Whether this very batch creates the task: its row is not in the store yet. */
bool guest_creates(const struct batch *batch, struct task_id id);
/* Whether another command of this batch has changed the task already. */
bool guest_busy(struct batch *batch, struct task_id id);

/* The task as this batch leaves it so far; NULL: there is none, or the store failed. */
const struct task *guest_task(struct batch *batch, struct task_id id);
/* The same only if the batch deals with it already: nothing is loaded, and no row locked. */
const struct task *guest_peek(struct batch *batch, struct task_id id);

/* ---- Its queues ---- */

/* What a queue is set to, in the whole fleet, by this batch too. False: the store failed. */
MUST_CHECK bool guest_queue(struct batch *batch, struct str name, struct store_queue *out);
/* Asks for those of all queues at once: before guest_queue() for many. */
MUST_CHECK bool guest_load_queues(struct batch *batch);
/* Sets what `change` has; its texts must live as long as the batch. */
MUST_CHECK bool guest_set_queue(struct batch *batch, struct command_queue *change, struct err *err);

/* Whoever waits for tasks of this queue alone is answered with none: there will be no more. */
void guest_stop_waiting(struct batch *batch, struct str queue);

/* Tells whoever watches a topic ("team:ID", "notifications:USER"). */
void guest_tell(struct batch *batch, struct str topic, struct str name, struct str json);

#endif
