/* queue/create.h: how orders become tasks: all of a request's or none.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_CREATE_H
#define ERRAND_QUEUE_CREATE_H

#include "queue/command.h"

/* LATER: an earlier command of this batch is in the way. */
enum create_answer { CREATE_DONE, CREATE_REFUSED, CREATE_LATER };
enum create_answer create_orders(struct batch *batch, struct command *command);

#endif
