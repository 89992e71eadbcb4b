/* tests/store_memory/lease.c: who holds which document, on the disk and as a transaction sees it.
 *
 * A lease is a row of its own, not a property of its task: a batch holds what its members need, and
 * a document may stay held by a task that has ended.
 *
 * Thread: engine. Keeps: G3.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "store/shared.h"
#include "store_memory/disk.h"

static struct lease *find(const struct map *leases, struct str document)
{
    for (struct map_node *n = map_find(leases, str_hash(document)); n != NULL; n = map_again(n)) {
        struct lease *lease = HOLDER(n, struct lease, node);
        if (str_eq(lease->document, document)) {
            return lease;
        }
    }
    return NULL;
}

static void set(struct map *leases, struct str document, struct task_id holder)
{
    struct lease *lease = find(leases, document);
    if (lease == NULL) {
        lease = mem_zero(sizeof *lease + document.len + 1);
        memcpy(lease + 1, document.ptr, document.len);
        lease->document = (struct str){(char *)(lease + 1), document.len};
        map_add(leases, &lease->node, str_hash(document));
    }
    lease->holder = holder;
}

void leases_fini(struct map *leases)
{
    struct map_walk walk = MAP_WALK;
    for (struct map_node *n; (n = map_walk(leases, &walk)) != NULL;) {
        map_remove(leases, n);
        mem_free(HOLDER(n, struct lease, node));
    }
    map_fini(leases);
    *leases = MAP_INIT;
}

struct task_id lease_holder(const struct map *leases, struct str document)
{
    const struct lease *lease = find(leases, document);
    return lease == NULL ? TASK_ID_NONE : lease->holder;
}

struct task_id memory_disk_holder(const struct memory_disk *disk, struct str document)
{
    return lease_holder(&disk->leases, document);
}

static struct task_id holder_now(const struct memory_tx *tx, struct str document)
{
    const struct lease *own = find(&tx->leases, document);
    return own != NULL ? own->holder : lease_holder(&tx->store->disk->leases, document);
}

bool lease_take(struct memory_tx *tx, const struct task *task)
{
    struct task_id holder = holder_now(tx, task->document), want = task_holder(task);
    if (!id_none(holder) && !id_eq(holder, want)) {
        return false;
    }
    set(&tx->leases, task->document, want);
    return true;
}

static void let_go(struct memory_tx *tx, struct str document, struct task_id holder)
{
    if (id_eq(holder_now(tx, document), holder)) {
        set(&tx->leases, document, TASK_ID_NONE);
    }
}

static void let_go_all(struct memory_tx *tx, struct task_id holder)
{
    struct map_walk own = MAP_WALK, base = MAP_WALK;
    for (struct map_node *n; (n = map_walk(&tx->leases, &own)) != NULL;) {
        let_go(tx, HOLDER(n, struct lease, node)->document, holder);
    }
    for (struct map_node *n; (n = map_walk(&tx->store->disk->leases, &base)) != NULL;) {
        let_go(tx, HOLDER(n, struct lease, node)->document, holder);
    }
}

void lease_end(struct memory_tx *tx, const struct task *task)
{
    if (task->container) {
        let_go_all(tx, task->id);
    } else {
        let_go(tx, task->document, task->id);
    }
}

bool memory_free_document(struct tx *base, struct str document, struct task_id holder,
                          struct err *err)
{
    (void)err;
    let_go(MEMORY_TX(base), document, holder);
    return true;
}

void leases_place(struct map *leases, const struct map *changed)
{
    struct map_walk walk = MAP_WALK;
    for (struct map_node *n; (n = map_walk(changed, &walk)) != NULL;) {
        const struct lease *lease = HOLDER(n, struct lease, node);
        struct lease *old = find(leases, lease->document);
        if (!id_none(lease->holder)) {
            set(leases, lease->document, lease->holder);
        } else if (old != NULL) {
            map_remove(leases, &old->node);
            mem_free(old);
        }
    }
}

bool memory_scan_held(struct store *base, store_held_fn *each, void *arg, struct err *err)
{
    struct map_walk walk = MAP_WALK;
    for (struct map_node *n; (n = map_walk(&MEMORY_STORE(base)->disk->leases, &walk)) != NULL;) {
        const struct lease *lease = HOLDER(n, struct lease, node);
        if (!each(arg, lease->document, lease->holder, err)) {
            return false;
        }
    }
    return true;
}

void leases_drop_strays(struct memory_disk *disk)
{
    struct map_walk walk = MAP_WALK;
    for (struct map_node *n; (n = map_walk(&disk->leases, &walk)) != NULL;) {
        struct lease *lease = HOLDER(n, struct lease, node);
        if (!lease_is_used(disk, lease)) {
            map_remove(&disk->leases, n);
            mem_free(lease);
        }
    }
}

bool lease_is_used(const struct memory_disk *disk, const struct lease *lease)
{
    const struct row *record = shelf_find(&disk->shelf, lease->holder.hi);
    return record != NULL && record->task.state == TASK_RUNNING &&
           (record->task.container ||
            (!str_absent(record->task.document) && str_eq(record->task.document, lease->document)));
}
