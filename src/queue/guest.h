/* queue/guest.h: rooms that live on the engine without its knowing them: schedules, teams.
 *
 * A guest takes part in the engine's batches: what it writes (records, new tasks) is in the same
 * transaction as the change that caused it (I6). It is asked when it wants to act by itself, told
 * of every change of a task that belongs to a schedule or a team, and may be sent commands. A batch
 * may fail or lose a race and be decided anew: a guest keeps nothing in memory until it is told
 * that the batch was committed, and reads everything it decides by from the transaction.
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
    /* A task with a schedule or a team was created or changed its state in this batch; `was` is
     * NULL for a new one. Called once for each state it enters, and for a hold also when its cancel
     * was requested. May be NULL. */
    void (*changed)(struct guest *guest, struct batch *batch, const struct task *was,
                    const struct task *now);
    /* The batch in which it took part was committed, or came to nothing. May be NULL. */
    void (*settled)(struct guest *guest, struct batch *batch, bool committed);
    /* This node now leads the fleet, or no longer does. An embedded server always leads. */
    void (*leads)(struct guest *guest, bool leads);
    /* Somebody retries an ended task with a schedule or a team by hand. False: `err` says why that
     * may not be. May be NULL. */
    bool (*may_revive)(struct guest *guest, struct batch *batch, const struct task *task,
                       struct err *err);
    /* A task with a schedule or a team reported progress. May be NULL. */
    void (*progressed)(struct guest *guest, struct batch *batch, const struct task *now);
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

/* The task as this batch leaves it so far; NULL: there is none, or the store failed. */
const struct task *guest_task(struct batch *batch, struct task_id id);
/* The same only if the batch deals with it already: nothing is loaded, and no row locked. */
const struct task *guest_peek(struct batch *batch, struct task_id id);

/* Whoever waits for tasks of this queue alone is answered with none: there will be no more. */
void guest_stop_waiting(struct batch *batch, struct str queue);

/* Tells whoever watches a topic ("team:ID", "notifications:USER"). */
void guest_tell(struct batch *batch, struct str topic, struct str name, struct str json);

#endif
