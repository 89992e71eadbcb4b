/* base/map.c: a hash map whose nodes live inside its members. See map.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/map.h"

#include "base/mem.h"

#define FIRST_SIZE ((size_t)16)

static struct map_node **slot_of(const struct map *map, uint64_t hash)
{
    return &map->slots[(hash ^ (hash >> 32)) & (map->size - 1)];
}

void map_fini(struct map *map)
{
    mem_free(map->slots);
    *map = MAP_INIT;
}

static void grow(struct map *map)
{
    struct map old = *map;
    map->size = old.size == 0 ? FIRST_SIZE : old.size * 2;
    map->slots = mem_zero(map->size * sizeof(struct map_node *));
    for (size_t i = 0; i < old.size; i++) {
        for (struct map_node *node = old.slots[i], *next; node != NULL; node = next) {
            struct map_node **slot = slot_of(map, node->hash);
            next = node->next;
            node->next = *slot;
            *slot = node;
        }
    }
    mem_free(old.slots);
}

void map_add(struct map *map, struct map_node *node, uint64_t hash)
{
    if (map->count >= map->size) {
        grow(map);
    }
    struct map_node **slot = slot_of(map, hash);
    node->hash = hash;
    node->next = *slot;
    *slot = node;
    map->count++;
}

void map_remove(struct map *map, struct map_node *node)
{
    struct map_node **at = slot_of(map, node->hash);
    while (*at != node) {
        at = &(*at)->next;
    }
    *at = node->next;
    node->next = NULL;
    map->count--;
}

struct map_node *map_again(const struct map_node *node)
{
    struct map_node *next = node->next;
    while (next != NULL && next->hash != node->hash) {
        next = next->next;
    }
    return next;
}

struct map_node *map_find(const struct map *map, uint64_t hash)
{
    if (map->size == 0) {
        return NULL;
    }
    struct map_node *first = *slot_of(map, hash);
    return first == NULL || first->hash == hash ? first
                                                : map_again(&(struct map_node){first, hash});
}

struct map_node *map_walk(const struct map *map, struct map_walk *at)
{
    struct map_node *node = at->next;
    while (node == NULL && at->slot < map->size) {
        node = map->slots[at->slot++];
    }
    at->next = node == NULL ? NULL : node->next;
    return node;
}
