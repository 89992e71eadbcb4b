/* tests/store_memory/remove.c: finished tasks go for good, by name or by age, and their children
 * with them.
 *
 * Thread: engine. Keeps: what store.h says, as the SQL stores do.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "store_memory/disk.h"

/* Nobody depends any longer on a task that goes. */
static void forget_dependency(struct memory_tx *tx, struct task_id id, struct arena *arena)
{
    struct view view = tx_view(tx);
    struct task_id *dependents = NULL;
    size_t count = 0;
    view_related(&view, RELATION_DEPENDENCY, id, arena, &dependents, &count);
    for (size_t i = 0; i < count; i++) {
        const struct row *old = view_find(&view, dependents[i].hi);
        struct row *record = record_copy(old);
        record_relate_as(record, old, id);
        memory_put(tx, record);
    }
}

static void remove_one(struct memory_tx *tx, struct task_id id, struct arena *arena)
{
    struct view view = tx_view(tx);
    const struct task *old = &view_find(&view, id.hi)->task;
    struct row *record = mem_new(struct row);
    record->task.id = id;
    record->gone = true;
    memory_count(tx, old->queue, old->state, -1);
    forget_dependency(tx, id, arena);
    memory_put(tx, record);
}

/* A task and all its descendants, parents before their children. */
struct family {
    struct task_id *at; /* owned */
    size_t count;
};

static void family_fini(struct family *family)
{
    mem_free(family->at);
}

static bool is_terminal(const struct view *view, struct task_id id)
{
    const struct row *record = view_find(view, id.hi);
    return record != NULL && id_eq(record->task.id, id) && task_state_terminal(record->task.state);
}

/* False: not all of them have ended. */
static bool family_gather(const struct view *view, struct task_id id, struct arena *arena,
                          struct family *family)
{
    family->at = mem_array(NULL, 1, sizeof *family->at);
    family->at[family->count++] = id;
    for (size_t i = 0; i < family->count; i++) {
        struct task_id *children = NULL;
        size_t count = 0;
        if (!is_terminal(view, family->at[i])) {
            return false;
        }
        view_related(view, RELATION_CHILD, family->at[i], arena, &children, &count);
        family->at = mem_array(family->at, family->count + count, sizeof *family->at);
        memcpy(family->at + family->count, children, count * sizeof *children);
        family->count += count;
    }
    return true;
}

/* Does a task that has not ended depend on one of them? */
static bool family_needed(const struct view *view, const struct family *family, struct arena *arena)
{
    for (size_t i = 0; i < family->count; i++) {
        struct task_id *ids = NULL;
        size_t count = 0;
        view_related(view, RELATION_DEPENDENCY, family->at[i], arena, &ids, &count);
        for (size_t j = 0; j < count; j++) {
            if (!task_state_terminal(view_find(view, ids[j].hi)->task.state)) {
                return true;
            }
        }
    }
    return false;
}

/* Returns how many went. By age only what nobody needs any more goes. */
static size_t remove_family(struct memory_tx *tx, struct task_id id, bool by_age)
{
    SCOPED(family_fini) struct family family = {0};
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct view view = tx_view(tx);
    if (!family_gather(&view, id, &arena, &family) ||
        (by_age && family_needed(&view, &family, &arena))) {
        return 0;
    }
    for (size_t i = 0; i < family.count; i++) {
        remove_one(tx, family.at[i], &arena);
    }
    return family.count;
}

bool memory_remove(struct tx *base, const struct task_id *ids, size_t n, struct err *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++) {
        remove_family(MEMORY_TX(base), ids[i], false);
    }
    return true;
}

static void sweep_one(struct memory_tx *tx, const struct task *task, struct store_sweep *sweep)
{
    struct view view = tx_view(tx);
    if (!id_none(task->parent) && view_find(&view, task->parent.hi) != NULL) {
        return;
    }
    int64_t finished_ms = task->finished_ms;
    size_t removed = finished_ms < sweep->before_ms ? remove_family(tx, task->id, true) : 0;
    sweep->removed += removed;
    sweep->oldest_ms = removed > 0 ? sweep->oldest_ms : MIN(sweep->oldest_ms, finished_ms);
}

bool memory_sweep(struct tx *base, struct store_sweep *sweep, struct err *err)
{
    (void)err;
    struct memory_tx *tx = MEMORY_TX(base);
    struct view view = tx_view(tx);
    size_t seen = 0;
    for (const struct row *r; seen < sweep->most && (r = view_after(&view, sweep->cursor));) {
        sweep->cursor = r->task.id.hi;
        if (task_state_terminal(r->task.state)) {
            seen++;
            sweep_one(tx, &r->task, sweep);
        }
    }
    sweep->cursor = seen < sweep->most ? 0 : sweep->cursor;
    return true;
}
