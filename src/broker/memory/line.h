/* broker/memory/line.h: things that stand in line by (queued_ms, id.hi).
 *
 * Arrivals come almost always in order, so a line is a plain list that grows at its ends, with a
 * heap beside it for those that do not: a released task, a changed priority, a document's next.
 * Joining at an end is O(1), elsewhere O(log n); anyone may leave from anywhere.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BROKER_MEMORY_LINE_H
#define ERRAND_BROKER_MEMORY_LINE_H

#include "base/heap.h"
#include "base/list.h"

struct key {
    int64_t queued_ms;
    uint64_t hi; /* of the task's id: the order of creation */
};

static inline bool key_before(struct key a, struct key b)
{
    return a.queued_ms != b.queued_ms ? a.queued_ms < b.queued_ms : a.hi < b.hi;
}

static inline bool key_eq(struct key a, struct key b)
{
    return a.queued_ms == b.queued_ms && a.hi == b.hi;
}

/* A place in a line, inside the thing that stands there. */
struct spot {
    struct link link;       /* in the list, or */
    struct heap_node place; /* in the heap */
    bool is_group;          /* what it is inside: a struct group, else a struct entry */
    struct key key;         /* fixed while it stands */
};

static inline bool spot_stands(const struct spot *spot)
{
    return link_in_list(&spot->link) || heap_has(&spot->place);
}

struct line {
    struct list list; /* sorted */
    size_t list_count;
    struct heap heap;
};

/* `bytes` keeps count of what the line allocates. */
void line_init(struct line *line);
void line_fini(struct line *line, size_t *bytes);
void line_add(struct line *line, struct spot *spot, size_t *bytes);
void line_remove(struct line *line, struct spot *spot, size_t *bytes);
struct spot *line_first(const struct line *line); /* NULL when empty */

static inline size_t line_count(const struct line *line)
{
    return line->list_count + line->heap.count;
}

/* Up to `most` of the first, unsorted and with some later ones among them; `out` has room for
 * line_some_count(). */
size_t line_some_count(const struct line *line, size_t most);
size_t line_some(const struct line *line, size_t most, struct spot **out);

/* How many stand before `key`. */
size_t line_before(const struct line *line, struct key key);

#endif
