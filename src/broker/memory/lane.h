/* broker/memory/lane.h: queues and types by name, their pairs, and the lanes of a pair.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BROKER_MEMORY_LANE_H
#define ERRAND_BROKER_MEMORY_LANE_H

#include "broker/memory/memory.h"

struct name *names_find(const struct map *names, struct str text);               /* or NULL */
struct pair *pair_find(struct memory *m, struct name *queue, struct name *type); /* or NULL */
struct pair *pair_get(struct memory *m, struct str queue, struct str type);
void pair_joined(struct memory *m, struct pair *pair); /* a task more */
void pair_left(struct memory *m, struct pair *pair);   /* a task less */
/* Forgets the longest idle while there are too many. Nobody may hold on to a pair or its names. */
void pairs_trim(struct memory *m);
void pairs_free(struct memory *m); /* all of them */

static inline struct str name_text(const struct name *name)
{
    return (struct str){name->text, name->len};
}

static inline struct lane *lane_of(const struct heap_node *node, enum lane_rank rank)
{
    return HOLDER(node - rank, struct lane, rank);
}

void lane_add(struct memory *m, struct lane *lane, struct spot *spot);
void lane_remove(struct memory *m, struct lane *lane, struct spot *spot);
bool lane_rank_all(const struct heap_node *a, const struct heap_node *b); /* for memory.lanes */

/* How good a task a pair can offer now; `level` 0: none, else 1 + the lane's level. */
struct offer {
    size_t level;
    struct key key;
};
struct offer pair_best(const struct pair *pair);
/* Calls ready if the pair's best is better than it was. */
void pair_tell(struct memory *m, const struct pair *pair, struct offer before);

#endif
