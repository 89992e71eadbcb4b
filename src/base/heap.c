/* base/heap.c: a priority queue whose members know their place. See heap.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/heap.h"

#include "base/array.h"

static void put(struct heap *heap, size_t i, struct heap_node *node)
{
    heap->at[i] = node;
    node->place = (uint32_t)i + 1;
}

static size_t rise(struct heap *heap, size_t i, struct heap_node *node)
{
    while (i > 0) {
        size_t parent = (i - 1) / HEAP_CHILDREN;
        if (!heap->before(node, heap->at[parent])) {
            break;
        }
        put(heap, i, heap->at[parent]);
        i = parent;
    }
    put(heap, i, node);
    return i;
}

static size_t first_child(const struct heap *heap, size_t i)
{
    size_t best = i * HEAP_CHILDREN + 1, end = MIN(best + HEAP_CHILDREN, heap->count);
    for (size_t child = best + 1; child < end; child++) {
        if (heap->before(heap->at[child], heap->at[best])) {
            best = child;
        }
    }
    return best;
}

static void sink(struct heap *heap, size_t i, struct heap_node *node)
{
    while (i * HEAP_CHILDREN + 1 < heap->count) {
        size_t child = first_child(heap, i);
        if (!heap->before(heap->at[child], node)) {
            break;
        }
        put(heap, i, heap->at[child]);
        i = child;
    }
    put(heap, i, node);
}

void heap_fini(struct heap *heap)
{
    mem_free(heap->at);
    *heap = HEAP_INIT(heap->before);
}

void heap_add(struct heap *heap, struct heap_node *node)
{
    ARRAY_ROOM(heap->at, heap->room, heap->count + 1);
    rise(heap, heap->count++, node);
}

void heap_moved(struct heap *heap, struct heap_node *node)
{
    size_t i = node->place - 1;
    if (rise(heap, i, node) == i) {
        sink(heap, i, node);
    }
}

void heap_remove(struct heap *heap, struct heap_node *node)
{
    size_t i = node->place - 1;
    struct heap_node *last = heap->at[--heap->count];
    node->place = 0;
    if (last != node) {
        put(heap, i, last);
        heap_moved(heap, last);
    }
}
