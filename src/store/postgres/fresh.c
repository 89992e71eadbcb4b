/* store/postgres/fresh.c: tasks that this store created. See fresh.h.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/fresh.h"

#include <assert.h>

#include "base/mem.h"
#include "store/pack.h"
#include "store/shared.h"

#define FRESH_BYTES    (32 * MIB)
#define FRESH_ROW_MAX  (4 * KIB)               /* of one: longer ones are loaded */
#define FRESH_STALE_US (INT64_C(60) * 1000000) /* then it makes room for others */

/* Numbers of transactions come round again, but not within an hour. */
#define FRESH_OLD_US (INT64_C(3600) * 1000000)

struct fresh_task {
    struct map_node node;
    struct link link;
    struct task_id id;
    int64_t queued_ms, since_us;
    uint32_t xid, len;
    char run[]; /* store/pack.h */
};

void fresh_init(struct fresh *fresh)
{
    *fresh = (struct fresh){.by_id = MAP_INIT, .scratch = BUF_INIT(2 * FRESH_ROW_MAX)};
    list_init(&fresh->oldest);
    list_init(&fresh->made);
}

static void forget(struct fresh *fresh, struct fresh_task *one)
{
    map_remove(&fresh->by_id, &one->node);
    list_remove(&one->link);
    fresh->bytes -= sizeof *one + one->len;
    mem_free(one);
}

void fresh_fini(struct fresh *fresh)
{
    fresh_abandon(fresh);
    LIST_EACH(&fresh->oldest, it)
    {
        forget(fresh, HOLDER(it, struct fresh_task, link));
    }
    map_fini(&fresh->by_id);
    buf_fini(&fresh->scratch);
}

void fresh_add(struct fresh *fresh, const struct task *task)
{
    buf_clear(&fresh->scratch);
    if (task_texts_size(task) > FRESH_ROW_MAX || fresh->bytes > FRESH_BYTES ||
        !pack_live(&fresh->scratch, task)) {
        return;
    }
    size_t len = fresh->scratch.len;
    struct fresh_task *one = mem_alloc(sizeof *one + len);
    *one = (struct fresh_task){.id = task->id, .queued_ms = task->queued_ms, .len = (uint32_t)len};
    memcpy(one->run, fresh->scratch.ptr, len);
    list_append(&fresh->made, &one->link);
}

/* What was created first is claimed first: it goes only when nobody seems to want it. */
static void make_room(struct fresh *fresh, int64_t now_us)
{
    while (fresh->bytes > FRESH_BYTES) {
        struct fresh_task *oldest = HOLDER(list_first(&fresh->oldest), struct fresh_task, link);
        if (now_us - oldest->since_us < FRESH_STALE_US) {
            return;
        }
        forget(fresh, oldest);
    }
}

void fresh_commit(struct fresh *fresh, uint32_t xid, int64_t now_us)
{
    if (xid == 0) {
        fresh_abandon(fresh);
        return;
    }
    LIST_EACH(&fresh->made, it)
    {
        struct fresh_task *one = HOLDER(it, struct fresh_task, link);
        list_remove(it);
        one->xid = xid;
        one->since_us = now_us;
        map_add(&fresh->by_id, &one->node, id_hash(one->id));
        list_append(&fresh->oldest, &one->link);
        fresh->bytes += sizeof *one + one->len;
    }
    make_room(fresh, now_us);
}

void fresh_abandon(struct fresh *fresh)
{
    LIST_EACH(&fresh->made, it)
    {
        list_remove(it);
        mem_free(HOLDER(it, struct fresh_task, link));
    }
}

static struct fresh_task *find(const struct fresh *fresh, struct task_id id)
{
    struct map_node *node = map_find(&fresh->by_id, id_hash(id));
    while (node != NULL && !id_eq(HOLDER(node, struct fresh_task, node)->id, id)) {
        node = map_again(node);
    }
    return node == NULL ? NULL : HOLDER(node, struct fresh_task, node);
}

bool fresh_read(struct fresh *fresh, struct task_id id, int64_t queued_ms, int64_t now_us,
                struct task *out, uint32_t *xid)
{
    struct fresh_task *one = find(fresh, id);
    if (one == NULL) {
        return false;
    }
    if (one->queued_ms != queued_ms || now_us - one->since_us > FRESH_OLD_US) {
        forget(fresh, one);
        return false;
    }
    unpack_begin(out);
    bool whole = unpack((struct str){one->run, one->len}, out);
    assert(whole); /* we packed it */
    *xid = one->xid;
    return whole;
}

void fresh_drop(struct fresh *fresh, struct task_id id)
{
    struct fresh_task *one = find(fresh, id);
    if (one != NULL) {
        forget(fresh, one);
    }
}
