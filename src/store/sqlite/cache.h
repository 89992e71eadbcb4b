/* store/sqlite/cache.h: live tasks that were loaded lately, as the current transaction sees them.
 *
 * A worker's task is loaded when it is claimed and again when it ends; reading it costs as much as
 * all the writing of both. Only whole, small, live tasks are kept. The rows stay the truth: every
 * change is still a compare-and-set, and after a rollback everything here is forgotten.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_SQLITE_CACHE_H
#define ERRAND_STORE_SQLITE_CACHE_H

#include "base/list.h"
#include "base/map.h"
#include "task/task.h"

#define CACHE_TASKS    4096      /* about 5 MB of ordinary ones */
#define CACHE_TEXT_MAX (4 * KIB) /* a task with more is not kept */

struct cache {
    struct map by_k;
    struct list recent; /* the least recently used first */
};

void cache_init(struct cache *cache);
void cache_clear(struct cache *cache); /* forgets everything; also its end */

const struct task *cache_find(struct cache *cache, uint64_t k); /* NULL: not kept */
void cache_keep(struct cache *cache, const struct task *task);  /* in place of what it had of it */
void cache_forget(struct cache *cache, uint64_t k);

/* The task was changed to `now`: follows it, if it is kept. */
void cache_follow(struct cache *cache, const struct task *now);

#endif
