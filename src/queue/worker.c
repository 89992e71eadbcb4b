/* queue/worker.c: who works. See worker.h.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/worker.h"

#include "base/mem.h"

void workers_init(struct workers *workers)
{
    *workers = (struct workers){.by_id = MAP_INIT};
    list_init(&workers->recent);
}

static void forget(struct workers *workers, struct worker *worker)
{
    map_remove(&workers->by_id, &worker->node);
    list_remove(&worker->recent);
    arena_fini(&worker->asked);
    mem_free((char *)worker->id.ptr);
    mem_free(worker);
    workers->count--;
}

void workers_fini(struct workers *workers)
{
    LIST_EACH(&workers->recent, it)
    {
        forget(workers, HOLDER(it, struct worker, recent));
    }
    map_fini(&workers->by_id);
}

struct worker *worker_find(const struct workers *workers, struct str id)
{
    struct map_node *node = map_find(&workers->by_id, str_hash(id));
    while (node != NULL && !str_eq(HOLDER(node, struct worker, node)->id, id)) {
        node = map_again(node);
    }
    return node == NULL ? NULL : HOLDER(node, struct worker, node);
}

static bool is_idle(const struct worker *worker)
{
    return list_empty(&worker->attempts) && worker->waiting == 0;
}

static void make_room(struct workers *workers)
{
    LIST_EACH(&workers->recent, it)
    {
        struct worker *worker = HOLDER(it, struct worker, recent);
        if (workers->count < WORKERS_MAX) {
            return;
        }
        if (is_idle(worker)) {
            forget(workers, worker);
        }
    }
}

struct worker *worker_get(struct workers *workers, struct str id)
{
    struct worker *worker = worker_find(workers, id);
    if (worker != NULL) {
        return worker;
    }
    make_room(workers);
    worker = mem_new(struct worker);
    worker->id = (struct str){mem_text(id.ptr, id.len), id.len};
    list_init(&worker->attempts);
    map_add(&workers->by_id, &worker->node, str_hash(id));
    list_append(&workers->recent, &worker->recent);
    workers->count++;
    return worker;
}

bool worker_present(const struct worker *worker, struct now now)
{
    return !is_idle(worker) || now.mono_ms - worker->seen_mono_ms <= WORKER_SEEN_MS;
}

struct worker *worker_seen(struct workers *workers, struct str id, struct now now)
{
    struct worker *worker = worker_get(workers, id);
    /* One that was away for long is another by the same name. */
    worker->signal = worker_present(worker, now) ? worker->signal : SIGNAL_NONE;
    worker->seen_ms = now.wall_ms;
    worker->seen_mono_ms = now.mono_ms;
    list_remove(&worker->recent);
    list_append(&workers->recent, &worker->recent);
    return worker;
}

static uint64_t hash_all(const struct str *texts, size_t count, uint64_t hash)
{
    for (size_t i = 0; i < count; i++) {
        hash = hash * 31 + str_hash(texts[i]);
    }
    return hash * 31 + count;
}

static struct str *copy_all(struct arena *arena, const struct str *texts, size_t count)
{
    struct str *copy = arena_array(arena, struct str, count);
    for (size_t i = 0; i < count; i++) {
        copy[i] = arena_str(arena, texts[i]);
    }
    return copy;
}

struct wanted wanted_copy(const struct wanted *wanted, struct arena *arena)
{
    struct wanted copy = *wanted;
    copy.types = copy_all(arena, wanted->types, wanted->types_count);
    copy.queues = copy_all(arena, wanted->queues, wanted->queues_count);
    return copy;
}

void worker_asked(struct worker *worker, const struct str *types, size_t types_count,
                  const struct str *queues, size_t queues_count, bool any_queue)
{
    uint64_t hash = hash_all(queues, queues_count, hash_all(types, types_count, 1 + any_queue));
    if (worker->asked_hash == hash) {
        return; /* a worker asks for the same again and again */
    }
    arena_fini(&worker->asked);
    worker->asked_hash = hash;
    worker->wanted = (struct wanted){.types = copy_all(&worker->asked, types, types_count),
                                     .queues = copy_all(&worker->asked, queues, queues_count),
                                     .types_count = types_count,
                                     .queues_count = queues_count,
                                     .any_queue = any_queue};
}

static bool among(struct str text, const struct str *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(text, texts[i])) {
            return true;
        }
    }
    return false;
}

bool wanted_takes(const struct wanted *wanted, struct str type, struct str queue)
{
    bool right_queue = wanted->queues_count == 0
                           ? str_is(queue, "default")
                           : among(queue, wanted->queues, wanted->queues_count);
    return (right_queue || wanted->any_queue) &&
           (wanted->types_count == 0 || among(type, wanted->types, wanted->types_count));
}

bool worker_takes(const struct worker *worker, struct str type, struct str queue)
{
    return worker->asked_hash != 0 && worker->signal == SIGNAL_NONE &&
           wanted_takes(&worker->wanted, type, queue);
}

void workers_forget(struct workers *workers, struct now now)
{
    LIST_EACH(&workers->recent, it)
    {
        struct worker *worker = HOLDER(it, struct worker, recent);
        if (!worker_present(worker, now)) {
            forget(workers, worker);
        }
    }
}
