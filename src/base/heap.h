/* base/heap.h: a priority queue whose members know their place, so any of them can leave.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_HEAP_H
#define ERRAND_BASE_HEAP_H

#include "base/def.h"

/* Four children a parent instead of two: half the depth, and the children share a cache line. Those
 * of at[i] are at[i * HEAP_CHILDREN + 1] and the three after it. */
#define HEAP_CHILDREN ((size_t)4)

struct heap_node {
    uint32_t place; /* 1 + index; 0: in no heap */
};

struct heap {
    struct heap_node **at;
    size_t count, room;
    bool (*before)(const struct heap_node *a, const struct heap_node *b);
};

#define HEAP_INIT(order) ((struct heap){.before = (order)})

void heap_fini(struct heap *heap); /* frees the array; the members are their owner's */
void heap_add(struct heap *heap, struct heap_node *node);
void heap_remove(struct heap *heap, struct heap_node *node);
void heap_moved(struct heap *heap, struct heap_node *node); /* its key changed */

static inline struct heap_node *heap_top(const struct heap *heap) /* NULL when empty */
{
    return heap->count == 0 ? NULL : heap->at[0];
}

static inline bool heap_has(const struct heap_node *node)
{
    return node->place != 0;
}

#endif
