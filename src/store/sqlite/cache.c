/* store/sqlite/cache.c: live tasks that were loaded lately. See cache.h.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "store/sqlite/cache.h"

#include "base/mem.h"
#include "store/shared.h"

struct cached {
    struct map_node node;
    struct link link;
    struct task task; /* its texts lie behind the struct */
};

static uint64_t hash_of(uint64_t k)
{
    return k * UINT64_C(0x9E3779B97F4A7C15);
}

void cache_init(struct cache *cache)
{
    cache->by_k = MAP_INIT;
    list_init(&cache->recent);
}

static struct cached *find(const struct cache *cache, uint64_t k)
{
    struct map_node *n = map_find(&cache->by_k, hash_of(k)); /* the hash is one to one */
    return n == NULL ? NULL : HOLDER(n, struct cached, node);
}

static void drop(struct cache *cache, struct cached *cached)
{
    map_remove(&cache->by_k, &cached->node);
    list_remove(&cached->link);
    mem_free(cached);
}

void cache_clear(struct cache *cache)
{
    LIST_EACH(&cache->recent, it)
    {
        mem_free(HOLDER(it, struct cached, link));
    }
    map_fini(&cache->by_k);
    cache_init(cache);
}

const struct task *cache_find(struct cache *cache, uint64_t k)
{
    struct cached *cached = find(cache, k);
    if (cached == NULL) {
        return NULL;
    }
    list_remove(&cached->link);
    list_append(&cache->recent, &cached->link);
    return &cached->task;
}

void cache_forget(struct cache *cache, uint64_t k)
{
    struct cached *cached = find(cache, k);
    if (cached != NULL) {
        drop(cache, cached);
    }
}

void cache_keep(struct cache *cache, const struct task *task)
{
    size_t bytes = task_texts_size(task);
    struct cached *old = find(cache, task->id.hi);
    struct cached *cached = NULL;
    if (bytes <= CACHE_TEXT_MAX) {
        cached = mem_alloc(sizeof *cached + bytes);
        task_pack(&cached->task, task, (char *)(cached + 1));
    }
    if (old != NULL) {
        drop(cache, old); /* only now: `task` may borrow from it */
    } else if (cache->by_k.count >= CACHE_TASKS) {
        drop(cache, HOLDER(list_first(&cache->recent), struct cached, link));
    }
    if (cached != NULL) {
        map_add(&cache->by_k, &cached->node, hash_of(cached->task.id.hi));
        list_append(&cache->recent, &cached->link);
    }
}

void cache_follow(struct cache *cache, const struct task *now)
{
    struct cached *cached = find(cache, now->id.hi);
    if (cached == NULL) {
        return;
    }
    if (task_state_terminal(now->state)) {
        drop(cache, cached);
        return;
    }
    struct task task = task_with_standing(&cached->task, now);
    cache_keep(cache, &task);
}
