/* store/postgres/fresh.h: tasks that this store created, kept so that their start needs no load.
 *
 * A row that nobody has touched since bears the number of the transaction that created it (xmin in
 * PostgreSQL); any change, by whomever, gives it another. So a start that names this number is
 * applied to what was created, or fails and is begun again with a load: this is never the truth,
 * only a way not to ask for what was said a moment ago. Bounded: what finds no room is loaded.
 *
 * Only plain tasks are kept (insert.c): whatever else a start must look at has to be read.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_POSTGRES_FRESH_H
#define ERRAND_STORE_POSTGRES_FRESH_H

#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "task/task.h"

struct fresh {
    struct map by_id;
    struct list oldest; /* of struct fresh_task, the one that was created first at the head */
    struct list made;   /* those of the transaction that is open: kept when it is committed */
    size_t bytes;
    struct buf scratch;
};

void fresh_init(struct fresh *fresh);
void fresh_fini(struct fresh *fresh);

void fresh_add(struct fresh *fresh, const struct task *task);         /* a copy is taken */
void fresh_commit(struct fresh *fresh, uint32_t xid, int64_t now_us); /* 0: it is not known */
void fresh_abandon(struct fresh *fresh);

/* Fills in the task, whose texts are borrowed until it is dropped, and the number of its
 * transaction. False: it is not kept, or was queued at another time. */
bool fresh_read(struct fresh *fresh, struct task_id id, int64_t queued_ms, int64_t now_us,
                struct task *out, uint32_t *xid);
void fresh_drop(struct fresh *fresh, struct task_id id);

#endif
