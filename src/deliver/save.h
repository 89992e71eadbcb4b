/* deliver/save.h: one record in a batch, for the files of this room.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_DELIVER_SAVE_H
#define ERRAND_DELIVER_SAVE_H

#include "queue/guest.h"

/* Both: false, the batch is over: the store failed, or somebody else was faster. */
MUST_CHECK bool deliver_load(struct batch *batch, struct record_load *load);
MUST_CHECK bool deliver_save(struct batch *batch, const struct record *record);

#endif
