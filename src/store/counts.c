/* store/counts.c: see counts.h.
 *
 * Thread: any for counts_list(), else the engine's. Keeps: I7 (counters = rows).
 *
 * SPDX-License-Identifier: MIT */
#include "store/counts.h"

#include "base/array.h"

struct count_queue {
    struct map_node node;
    struct str name; /* owned, behind the struct */
    size_t slot;
    bool settings;
    struct link history; /* in counts.history while it has nothing but ended tasks */
    int64_t tasks[TASK_STATES];
};

void counts_init(struct counts *counts)
{
    *counts = (struct counts){.by_name = MAP_INIT};
    pthread_mutex_init(&counts->lock, NULL);
    list_init(&counts->history);
}

void counts_fini(struct counts *counts)
{
    for (size_t i = 0; i < counts->count; i++) {
        mem_free(counts->at[i]);
    }
    mem_free(counts->at);
    mem_free(counts->spare);
    map_fini(&counts->by_name);
    pthread_mutex_destroy(&counts->lock);
}

static struct count_queue *add_queue(struct counts *counts, struct str name, uint64_t hash)
{
    struct count_queue *queue = mem_zero(sizeof *queue + name.len);
    memcpy(queue + 1, name.ptr, name.len);
    queue->name = (struct str){(char *)(queue + 1), name.len};
    map_add(&counts->by_name, &queue->node, hash);

    pthread_mutex_lock(&counts->lock);
    if (counts->spare_count > 0) {
        queue->slot = counts->spare[--counts->spare_count];
        counts->at[queue->slot] = queue;
    } else {
        queue->slot = counts->count;
        *ARRAY_PUSH(counts->at, counts->count, counts->room) = queue;
    }
    pthread_mutex_unlock(&counts->lock);
    return queue;
}

/* Under the lock. */
static void drop_queue(struct counts *counts, struct count_queue *queue)
{
    if (link_in_list(&queue->history)) {
        list_remove(&queue->history);
        counts->history_count--;
    }
    *ARRAY_PUSH(counts->spare, counts->spare_count, counts->spare_room) = queue->slot;
    counts->at[queue->slot] = NULL;
    map_remove(&counts->by_name, &queue->node);
    mem_free(queue);
}

static const struct count_queue *find_queue(const struct counts *counts, struct str name,
                                            uint64_t hash)
{
    for (struct map_node *n = map_find(&counts->by_name, hash); n != NULL; n = map_again(n)) {
        const struct count_queue *queue = HOLDER(n, struct count_queue, node);
        if (str_eq(queue->name, name)) {
            return queue;
        }
    }
    return NULL;
}

size_t counts_slot(struct counts *counts, struct str name)
{
    uint64_t hash = str_hash(name);
    const struct count_queue *queue = find_queue(counts, name, hash);
    return queue != NULL ? queue->slot : add_queue(counts, name, hash)->slot;
}

bool counts_find(const struct counts *counts, struct str name, size_t *slot)
{
    const struct count_queue *queue = find_queue(counts, name, str_hash(name));
    *slot = queue == NULL ? SIZE_MAX : queue->slot;
    return queue != NULL;
}

size_t counts_recall(struct counts *counts, struct str name, const int64_t tasks[TASK_STATES])
{
    struct count_queue *queue = add_queue(counts, name, str_hash(name));
    bool any = false;
    pthread_mutex_lock(&counts->lock);
    for (size_t state = 0; state < TASK_STATES; state++) {
        queue->tasks[state] = tasks[state];
        counts->others[state] -= tasks[state];
        any |= tasks[state] != 0;
    }
    counts->others_count -= any && counts->others_count > 0;
    pthread_mutex_unlock(&counts->lock);
    return queue->slot;
}

struct str counts_name(const struct counts *counts, size_t slot)
{
    return counts->at[slot]->name;
}

int64_t counts_tasks(const struct counts *counts, size_t slot, enum task_state state)
{
    return counts->at[slot]->tasks[state];
}

void count_change_fini(struct count_change *change)
{
    mem_free(change->at);
    mem_free(change->touched);
}

static struct count_delta *touch(struct count_change *change, size_t slot)
{
    size_t room = change->room;
    if (slot >= room) {
        ARRAY_ROOM(change->at, change->room, slot + 1);
        memset(change->at + room, 0, (change->room - room) * sizeof *change->at);
    }
    struct count_delta *delta = &change->at[slot];
    if (!delta->touched) {
        delta->touched = true;
        *ARRAY_PUSH(change->touched, change->touched_count, change->touched_room) = slot;
    }
    return delta;
}

void count_change_add(struct count_change *change, size_t slot, enum task_state state, int64_t n)
{
    touch(change, slot)->tasks[state] += n;
}

void count_change_settings(struct count_change *change, size_t slot)
{
    touch(change, slot)->settings = true;
}

/* Has the queue settings, or tasks of the states below `end`? */
static bool has_any(const struct count_queue *queue, enum task_state end)
{
    bool any = queue->settings;
    for (size_t state = 0; state < end && !any; state++) {
        any = queue->tasks[state] != 0;
    }
    return any;
}

/* Under the lock: after the queue has changed. */
static void settle_queue(struct counts *counts, struct count_queue *queue)
{
    if (!has_any(queue, TASK_STATES)) {
        drop_queue(counts, queue);
        return;
    }
    if (link_in_list(&queue->history)) {
        list_remove(&queue->history);
        counts->history_count--;
    }
    if (counts->folds && !has_any(queue, TASK_COMPLETED)) {
        list_append(&counts->history, &queue->history);
        counts->history_count++;
    }
}

static void fold_history(struct counts *counts)
{
    while (counts->history_count > COUNTS_HISTORY_MAX) {
        struct count_queue *queue =
            HOLDER(list_first(&counts->history), struct count_queue, history);
        for (size_t state = 0; state < TASK_STATES; state++) {
            counts->others[state] += queue->tasks[state];
        }
        counts->others_count++;
        drop_queue(counts, queue);
    }
}

static void end_change(struct counts *counts, struct count_change *change, bool committed)
{
    pthread_mutex_lock(&counts->lock);
    for (size_t i = 0; i < change->touched_count; i++) {
        struct count_delta *delta = &change->at[change->touched[i]];
        struct count_queue *queue = counts->at[change->touched[i]];
        queue->settings |= committed && delta->settings;
        for (size_t state = 0; state < TASK_STATES; state++) {
            queue->tasks[state] += committed ? delta->tasks[state] : 0;
        }
        settle_queue(counts, queue);
        *delta = (struct count_delta){0};
    }
    change->touched_count = 0;
    fold_history(counts); /* only now: no slot is in use any more */
    pthread_mutex_unlock(&counts->lock);
}

void counts_apply(struct counts *counts, struct count_change *change)
{
    end_change(counts, change, true);
}

void counts_abandon(struct counts *counts, struct count_change *change)
{
    end_change(counts, change, false);
}

void counts_list(struct counts *counts, struct arena *arena, struct store_counts *out)
{
    *out = (struct store_counts){0};
    pthread_mutex_lock(&counts->lock);
    memcpy(out->others, counts->others, sizeof out->others);
    out->at = arena_array(arena, struct store_count, MAX(1, counts->count));
    for (size_t i = 0; i < counts->count; i++) {
        const struct count_queue *queue = counts->at[i];
        if (queue != NULL && has_any(queue, TASK_STATES)) {
            struct store_count *count = &out->at[out->count++];
            count->queue = arena_str(arena, queue->name);
            memcpy(count->tasks, queue->tasks, sizeof count->tasks);
        }
    }
    pthread_mutex_unlock(&counts->lock);
}
