/* queue/due.c: every task that something will happen to by itself. See due.h.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/due.h"

#include "base/mem.h"

static bool entry_before(const struct heap_node *a, const struct heap_node *b)
{
    const struct due_entry *x = HOLDER(a, struct due_entry, place);
    const struct due_entry *y = HOLDER(b, struct due_entry, place);
    return x->at_ms != y->at_ms ? x->at_ms < y->at_ms : x->id.hi < y->id.hi;
}

void due_init(struct due *due)
{
    due->by_wall = due->by_mono = HEAP_INIT(entry_before);
    due->entries = MAP_INIT;
}

void due_fini(struct due *due)
{
    struct map_walk at = MAP_WALK;
    for (struct map_node *node; (node = map_walk(&due->entries, &at)) != NULL;) {
        mem_free(HOLDER(node, struct due_entry, node));
    }
    map_fini(&due->entries);
    heap_fini(&due->by_wall);
    heap_fini(&due->by_mono);
}

struct due_entry *due_find(const struct due *due, struct task_id id)
{
    struct map_node *node = map_find(&due->entries, id_hash(id));
    while (node != NULL && !id_eq(HOLDER(node, struct due_entry, node)->id, id)) {
        node = map_again(node);
    }
    return node == NULL ? NULL : HOLDER(node, struct due_entry, node);
}

static struct heap *heap_of(struct due *due, const struct due_entry *entry)
{
    return entry->by_wall ? &due->by_wall : &due->by_mono;
}

static void leave_heap(struct due *due, struct due_entry *entry)
{
    if (heap_has(&entry->place)) {
        heap_remove(heap_of(due, entry), &entry->place);
    }
}

void due_remove(struct due *due, struct due_entry *entry)
{
    leave_heap(due, entry);
    map_remove(&due->entries, &entry->node);
    mem_free(entry);
}

/* A UTC time seen from the monotonic clock. */
static int64_t to_mono(int64_t wall_ms, struct now now)
{
    return now.mono_ms + (wall_ms - now.wall_ms);
}

static bool elsewhere(const struct due *due, const struct task *task)
{
    return !str_absent(due->node) && task_worker_kind(task->worker) != WORKER_REMOTE &&
           !str_eq(task_worker_node(task->worker), due->node);
}

bool due_knows(const struct due_entry *entry, const struct task *task)
{
    return entry->timeout_at_ms != 0 && entry->attempt == task->attempt &&
           entry->token == task->token && entry->lease_until_ms == task->lease_until_ms;
}

static int64_t later(int64_t at_ms, int64_t by_ms)
{
    return at_ms == NEVER_MS ? NEVER_MS : at_ms + by_ms;
}

static void measure_lease(const struct due *due, struct due_entry *entry, const struct task *task,
                          struct now now)
{
    entry->doubted = false;
    entry->lease_until_ms = task->lease_until_ms;
    /* This process knows which of its own attempts live: their leases are for others to see, and
     * are renewed in time for them. */
    int64_t at_ms = entry->kind == WORKER_REMOTE      ? to_mono(task->lease_until_ms, now)
                    : due->renew_every_ms == NEVER_MS ? NEVER_MS
                                                      : now.mono_ms + due->renew_every_ms;
    entry->lease_at_ms = later(at_ms, entry->apart_ms);
}

static void set_running(const struct due *due, struct due_entry *entry, const struct task *task,
                        enum due_from from, int64_t grace_ms, struct now now)
{
    bool theirs = from == DUE_READ && !due_knows(entry, task);
    if (from == DUE_WRITTEN || theirs) {
        entry->apart_ms = theirs ? due->apart_ms : 0;
    }
    if (entry->timeout_at_ms == 0 || entry->attempt != task->attempt ||
        entry->token != task->token) {
        entry->kind = elsewhere(due, task) ? WORKER_REMOTE : task_worker_kind(task->worker);
        entry->apart_ms = entry->kind == WORKER_REMOTE ? entry->apart_ms : 0;
        entry->attempt = task->attempt;
        entry->token = task->token;
        entry->stop_at_ms = 0;
        entry->started_ms = task->started_ms;
        /* Another node minds the time-outs of its own. */
        bool limited = task->timeout_ms != 0 && !elsewhere(due, task);
        int64_t at_ms = limited ? to_mono(task->started_ms + task->timeout_ms, now) : NEVER_MS;
        entry->timeout_at_ms = later(at_ms, entry->apart_ms);
        measure_lease(due, entry, task, now);
    } else if (from == DUE_WRITTEN || theirs) {
        measure_lease(due, entry, task, now);
    }
    if (entry->stop_at_ms == 0 && task->cancel_requested) {
        due_stop(entry, grace_ms, now);
    }
    entry->at_ms = MIN(entry->lease_at_ms, entry->timeout_at_ms);
    entry->at_ms = entry->stop_at_ms == 0 ? entry->at_ms : MIN(entry->at_ms, entry->stop_at_ms);
}

void due_stop(struct due_entry *entry, int64_t grace_ms, struct now now)
{
    entry->stop_at_ms = now.mono_ms + grace_ms;
}

/* Not for a task that was queued after it: that one was revived by hand. */
int64_t due_expiry_ms(const struct task *task)
{
    bool counts = task->expires_ms != 0 && task->attempt == 0 && task->queued_ms < task->expires_ms;
    return counts ? task->expires_ms : NEVER_MS;
}

static int64_t wall_time(const struct task *task)
{
    switch (task->state) {
    case TASK_SCHEDULED:
        return MIN(task->scheduled_ms, due_expiry_ms(task));
    case TASK_WAITING:
    case TASK_QUEUED:
        return due_expiry_ms(task);
    default:
        return NEVER_MS;
    }
}

int64_t due_by_row_ms(const struct task *task)
{
    bool in_server = task_worker_kind(task->worker) != WORKER_REMOTE;
    switch (task->state) {
    case TASK_RUNNING:
        return task->container ? NEVER_MS
               : task->timeout_ms == 0 || in_server
                   ? task->lease_until_ms
                   : MIN(task->lease_until_ms, task->started_ms + task->timeout_ms);
    case TASK_RETRYING:
        return task->scheduled_ms;
    default:
        return wall_time(task);
    }
}

static struct due_entry *find_or_add(struct due *due, struct task_id id)
{
    struct due_entry *entry = due_find(due, id);
    if (entry == NULL) {
        entry = mem_new(struct due_entry);
        entry->id = id;
        map_add(&due->entries, &entry->node, id_hash(id));
    }
    return entry;
}

struct due_entry *due_set(struct due *due, const struct task *task, enum due_from from,
                          int64_t grace_ms, struct now now)
{
    bool runs = task->state == TASK_RUNNING && !task->container;
    if (!runs && task->state != TASK_RETRYING && wall_time(task) == NEVER_MS) {
        return NULL; /* time alone does nothing to it */
    }
    struct due_entry *entry = find_or_add(due, task->id);
    leave_heap(due, entry);
    entry->by_wall = task->state != TASK_RUNNING && task->state != TASK_RETRYING;
    if (task->state == TASK_RUNNING) {
        set_running(due, entry, task, from, grace_ms, now);
    } else {
        entry->lease_at_ms = entry->timeout_at_ms = entry->stop_at_ms = 0; /* no attempt runs */
        entry->lease_until_ms = entry->apart_ms = 0;
        entry->doubted = false;
        entry->at_ms = entry->by_wall ? wall_time(task) : to_mono(task->scheduled_ms, now);
    }
    heap_add(heap_of(due, entry), &entry->place);
    return entry;
}

void due_doubt(struct due *due, struct due_entry *entry, struct now now)
{
    leave_heap(due, entry);
    entry->doubted = true;
    entry->lease_at_ms = now.mono_ms;
    entry->at_ms = MIN(entry->at_ms, now.mono_ms);
    heap_add(heap_of(due, entry), &entry->place);
}

void due_lose(struct due *due, struct due_entry *entry)
{
    leave_heap(due, entry);
    entry->kind = WORKER_REMOTE; /* nobody is left to be asked to stop */
    entry->lease_at_ms = entry->at_ms = INT64_MIN;
    entry->timeout_at_ms = NEVER_MS;
    heap_add(heap_of(due, entry), &entry->place);
}

static size_t collect_from(struct heap *heap, int64_t now_ms, struct due_entry **out, size_t most)
{
    size_t n = 0;
    for (struct heap_node *top; n < most && (top = heap_top(heap)) != NULL; n++) {
        struct due_entry *entry = HOLDER(top, struct due_entry, place);
        if (entry->at_ms > now_ms) {
            break;
        }
        heap_remove(heap, top);
        out[n] = entry;
    }
    /* They stay until the commit that settles them: a batch that fails must find them again. */
    for (size_t i = 0; i < n; i++) {
        heap_add(heap, &out[i]->place);
    }
    return n;
}

size_t due_collect(struct due *due, struct now now, struct due_entry **out, size_t most)
{
    size_t n = collect_from(&due->by_mono, now.mono_ms, out, most);
    return n + collect_from(&due->by_wall, now.wall_ms, out + n, most - n);
}

static int64_t in_ms(const struct heap *heap, int64_t now_ms)
{
    struct heap_node *top = heap_top(heap);
    int64_t at_ms = top == NULL ? NEVER_MS : HOLDER(top, struct due_entry, place)->at_ms;
    return at_ms <= now_ms ? 0 : top == NULL ? NEVER_MS : at_ms - now_ms; /* at once is INT64_MIN */
}

int64_t due_in_ms(const struct due *due, struct now now)
{
    int64_t wall = in_ms(&due->by_wall, now.wall_ms), mono = in_ms(&due->by_mono, now.mono_ms);
    return MIN(wall, mono);
}
