/* base/map.h: a hash map whose nodes live inside its members.
 *
 * The map knows hashes only; the caller compares keys:
 *
 *     for (struct map_node *n = map_find(&m, hash); n != NULL; n = map_again(n))
 *         if (HOLDER(n, struct doc, node)->…)
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_MAP_H
#define ERRAND_BASE_MAP_H

#include "base/def.h"

struct map_node {
    struct map_node *next;
    uint64_t hash;
};

struct map {
    struct map_node **slots;
    size_t size; /* a power of two, or 0 */
    size_t count;
};

#define MAP_INIT ((struct map){0})

void map_fini(struct map *map); /* frees the slots; the members are their owner's */
void map_add(struct map *map, struct map_node *node, uint64_t hash);
void map_remove(struct map *map, struct map_node *node);

struct map_node *map_find(const struct map *map, uint64_t hash); /* the first with that hash */
struct map_node *map_again(const struct map_node *node);         /* the next with the same hash */

/* Walks all members in no order; the visited one may be removed. `at` starts as MAP_WALK. */
struct map_walk {
    size_t slot;
    struct map_node *next;
};
#define MAP_WALK ((struct map_walk){0})
struct map_node *map_walk(const struct map *map, struct map_walk *at); /* NULL at the end */

#endif
