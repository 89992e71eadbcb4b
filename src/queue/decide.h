/* queue/decide.h: who decides which command: one on_*() for each row of the table in command.c.
 *
 * Each ends with batch_answer(), batch_defer(), or keeps the command until it can be answered.
 * prepare_*() says what will be needed, before the batch is loaded.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_DECIDE_H
#define ERRAND_QUEUE_DECIDE_H

#include "queue/command.h"

void decide_prepare(struct batch *batch, struct command *command);
void decide(struct batch *batch, struct command *command);

void on_create(struct batch *batch, struct command *command);

void prepare_claim(struct batch *batch, struct command *command);
void on_claim(struct batch *batch, struct command *command);
void on_claim_stop(struct batch *batch, struct command *command);
void on_drain(struct batch *batch, struct command *command);
void prepare_heartbeat(struct batch *batch, struct command *command);
void on_heartbeat(struct batch *batch, struct command *command);
void prepare_finish(struct batch *batch, struct command *command);
void on_finish(struct batch *batch, struct command *command);
/* Ends the attempts of command_ends(). False: another command of this batch has changed one of
 * them. */
MUST_CHECK bool finish_all(struct batch *batch, struct command *command);
void on_returned(struct batch *batch, struct command *command); /* stray.c */

void prepare_one(struct batch *batch, struct command *command); /* steer.c */
void on_cancel(struct batch *batch, struct command *command);
void on_revive(struct batch *batch, struct command *command);
void on_change(struct batch *batch, struct command *command);
void on_kill(struct batch *batch, struct command *command);
void on_remove(struct batch *batch, struct command *command);
void on_bulk(struct batch *batch, struct command *command);
void on_guest(struct batch *batch, struct command *command);

void on_queue(struct batch *batch, struct command *command); /* ask.c */
/* What a queue is set to as this batch leaves it so far; and a change of it. */
struct store_queue queue_settings(const struct batch *batch, struct str name);
MUST_CHECK bool queue_change(struct batch *batch, struct command_queue *change, struct err *err);
void on_queues(struct batch *batch, struct command *command);
void on_workers(struct batch *batch, struct command *command);
void on_worker(struct batch *batch, struct command *command);
void on_beat(struct batch *batch, struct command *command);
void on_stats(struct batch *batch, struct command *command);
void on_series(struct batch *batch, struct command *command); /* series.c */
void on_why(struct batch *batch, struct command *command);    /* why.c */
void on_document(struct batch *batch, struct command *command);
void on_documents(struct batch *batch, struct command *command);
void on_release(struct batch *batch, struct command *command); /* release.c */

void on_clock(struct batch *batch, struct command *command); /* timer.c */
void on_wake(struct batch *batch, struct command *command);
void on_wake_stop(struct batch *batch, struct command *command);

void prepare_review(struct batch *batch, struct command *command); /* shared.c */
void on_review(struct batch *batch, struct command *command);
void on_heard(struct batch *batch, struct command *command);
void on_lead(struct batch *batch, struct command *command);
void on_doubt(struct batch *batch, struct command *command);
void on_elsewhere(struct batch *batch, struct command *command);
void on_resume(struct batch *batch, struct command *command); /* failover.c */

#endif
