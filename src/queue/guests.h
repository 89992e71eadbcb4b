/* queue/guests.h: the engine's side of its guests: when they act, and what they are told.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_GUESTS_H
#define ERRAND_QUEUE_GUESTS_H

#include "queue/guest.h"

void guests_act(struct batch *batch);
bool guests_follow(struct batch *batch); /* true: they changed something, draw its consequences */
/* Whether an ended task may be retried by hand, as far as they are concerned. */
bool guests_may_revive(struct batch *batch, const struct task *task, struct err *err);
/* An attempt is about to end badly; whoever the task belongs to may say what that means for it. */
void guests_ending(struct batch *batch, struct task *task, const struct task_error *error);
void guests_settle(struct batch *batch, bool committed);
void guests_look_again(struct engine *engine); /* who leads, and that others may have written */
int64_t guests_in_ms(const struct engine *engine, struct now now);

#endif
