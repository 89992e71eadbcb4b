/* store/postgres/held.c: attempts that this store began. See held.h.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/held.h"

#include "base/mem.h"
#include "store/shared.h"

#define HELD_MAX   20000     /* attempts */
#define HELD_BYTES (4 * KIB) /* of one: longer texts are loaded again */

struct held_task {
    struct map_node node;
    struct link link;
    struct task task;
    char texts[];
};

void held_init(struct held *held)
{
    held->by_id = MAP_INIT;
    list_init(&held->oldest);
    list_init(&held->begun);
    held->count = 0;
}

static struct held_task *find(const struct held *held, struct task_id id)
{
    struct map_node *node = map_find(&held->by_id, id_hash(id));
    while (node != NULL && !id_eq(HOLDER(node, struct held_task, node)->task.id, id)) {
        node = map_again(node);
    }
    return node == NULL ? NULL : HOLDER(node, struct held_task, node);
}

static void forget(struct held *held, struct held_task *one)
{
    map_remove(&held->by_id, &one->node);
    list_remove(&one->link);
    held->count--;
    mem_free(one);
}

void held_fini(struct held *held)
{
    held_abandon(held);
    LIST_EACH(&held->oldest, it)
    {
        forget(held, HOLDER(it, struct held_task, link));
    }
    map_fini(&held->by_id);
}

void held_begin(struct held *held, const struct task *running)
{
    size_t bytes = task_texts_size(running);
    if (bytes > HELD_BYTES) {
        return;
    }
    struct held_task *one = mem_alloc(sizeof *one + bytes);
    task_pack(&one->task, running, one->texts);
    list_append(&held->begun, &one->link);
}

void held_commit(struct held *held)
{
    LIST_EACH(&held->begun, it)
    {
        struct held_task *one = HOLDER(it, struct held_task, link);
        list_remove(it);
        held_drop(held, one->task.id);
        map_add(&held->by_id, &one->node, id_hash(one->task.id));
        list_append(&held->oldest, &one->link);
        held->count++;
    }
    while (held->count > HELD_MAX) {
        forget(held, HOLDER(list_first(&held->oldest), struct held_task, link));
    }
}

void held_abandon(struct held *held)
{
    LIST_EACH(&held->begun, it)
    {
        list_remove(it);
        mem_free(HOLDER(it, struct held_task, link));
    }
}

const struct task *held_find(const struct held *held, struct task_id id, uint64_t token)
{
    const struct held_task *one = token == 0 ? NULL : find(held, id);
    return one == NULL || one->task.token != token ? NULL : &one->task;
}

void held_drop(struct held *held, struct task_id id)
{
    struct held_task *one = find(held, id);
    if (one != NULL) {
        forget(held, one);
    }
}
