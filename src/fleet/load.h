/* fleet/load.h: how busy a node is and what its workers would take, as nodes tell each other.
 *
 *     {"created":1.5,"started":1,"finished":0.5,"waiting":3,"hintsLayout":2,
 *      "series":"9,8,7,1,25;3,5;7,1",
 *      "wants":[{"types":["letter"],"queues":["default"],"anyQueue":false}]}
 *
 * Written and read by nodes of different versions: what is unknown is passed over.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_FLEET_LOAD_H
#define ERRAND_FLEET_LOAD_H

#include "base/buf.h"
#include "base/err.h"
#include "queue/queue.h"

#define LOAD_NAMES_MAX 32 /* types or queues of one worker; with more it is told to take any */

void load_write(struct buf *out, const struct queue_load *load);

/* Texts live as long as `text` and the arena. */
MUST_CHECK bool load_read(struct str text, struct arena *arena, struct queue_load *out,
                          struct err *err);

#endif
