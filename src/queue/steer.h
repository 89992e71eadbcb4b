/* queue/steer.h: bulk commands, whose chunks may have to be done again.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_STEER_H
#define ERRAND_QUEUE_STEER_H

#include "base/list.h"

void bulk_undo_chunks(struct list *commands); /* the batch of their last chunk came to nothing */

#endif
