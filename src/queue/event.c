/* queue/event.c: what happened. See event.h.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/event.h"

#include "base/mem.h"

void event_batch_free(struct event_batch *batch)
{
    if (batch != NULL) {
        arena_fini(&batch->arena);
        mem_free(batch);
    }
}
