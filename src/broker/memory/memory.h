/* broker/memory/memory.h: the nouns of the memory broker, shared by the files of this folder.
 *
 * A *pair* is one queue and type. It has a *lane* for each priority, where its ready tasks stand.
 * A task without a document stands in its lane itself. Tasks of one document and lane form a
 * *group* with a line of its own, and the group stands in the lane in the place of its first task.
 * While the document is held none of its groups stands anywhere: ten thousand tasks behind one hot
 * document cost nothing.
 *
 * Lanes that are not empty are ranked by their first task in three heaps (of the queue, of the
 * type, of all), so a claim finds its best task whatever it names.
 *
 * Thread: engine. Keeps: G3 (order within a document), G4 (strict priority).
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BROKER_MEMORY_MEMORY_H
#define ERRAND_BROKER_MEMORY_MEMORY_H

#include "base/map.h"
#include "broker/memory/line.h"
#include "broker/memory/slab.h"
#include "broker/ops.h"

#define LEVELS ((size_t)TASK_CRITICAL) /* priorities; level 0 is TASK_LOW */

/* In which heaps a lane is ranked. */
enum lane_rank { RANK_QUEUE, RANK_TYPE, RANK_ALL, LANE_RANKS };

/* A queue's or a type's name. It lives as long as a pair uses it. */
struct name {
    struct map_node node;
    struct heap lanes[LEVELS]; /* its lanes that are not empty */
    size_t pairs;
    uint64_t named; /* the number of the last claim that named this queue */
    size_t len;
    char text[];
};

struct lane {
    struct pair *pair;
    size_t level;
    struct line line;
    struct spot *first; /* of the line, as the three heaps know it */
    struct heap_node rank[LANE_RANKS];
};

struct pair {
    struct map_node node;
    struct name *queue, *type;
    size_t ready;     /* tasks in its lanes, those behind held documents too */
    struct link idle; /* in memory.idle while none are ready */
    struct lane lanes[LEVELS];
};

/* A ready task. There may be millions: 80 bytes, and the map's slot. */
struct entry {
    struct spot spot; /* in its group's line, else in its lane's */
    struct map_node node;
    uint64_t lo; /* the other half of the id is spot.key.hi */
    struct lane *lane;
    struct group *group; /* NULL: no document */
};

struct group {
    struct spot spot; /* in the lane, unless the document is held */
    struct line line; /* never empty */
    struct lane *lane;
    struct document *document;
    struct link link; /* in document.groups */
};

struct document {
    struct map_node node;
    struct list groups;
    struct link held; /* in memory.held, or in no list */
    uint64_t held_at; /* a number that grows with each hold: the order of memory.held */
    struct task_id holder;
    size_t len;
    char text[];
};

struct memory {
    struct broker broker;
    struct map entries, pairs, queues, types, documents;
    struct heap lanes[LEVELS]; /* all that are not empty */
    struct list held;          /* documents */
    uint64_t holds;            /* so far */
    struct list idle;          /* pairs, longest idle first */
    size_t idle_count;
    struct pair *last_pair; /* the one used last: bulk creates name it again and again */
    struct slab entry_slab, group_slab;
    struct heap sources; /* of the claim being served; see take.c */
    struct arena scratch;
    uint64_t claim; /* a number for each, see name.named */
    size_t bytes;   /* allocated beside maps and slabs */
};

static inline struct memory *memory_of(struct broker *broker)
{
    return HOLDER(broker, struct memory, broker);
}

/* ---- The verbs of broker.h: take.c, look.c ---- */

size_t memory_take(struct broker *broker, const struct want *want, size_t max, struct hint *out,
                   struct arena *arena);
bool memory_has(struct broker *broker, const struct want *want);

void memory_document(struct broker *broker, struct str document, size_t most, struct arena *arena,
                     struct broker_document *out);
size_t memory_held(struct broker *broker, uint64_t *cursor, size_t most, struct arena *arena,
                   struct broker_document **out);
size_t memory_ahead(struct broker *broker, struct task_id id);
bool memory_waits_before(struct broker *broker, struct str document, const struct hint *hint);
bool memory_knows(struct broker *broker, const struct hint *hint);
size_t memory_ready_count(struct broker *broker);
int64_t memory_oldest_ms(struct broker *broker, struct str queue);
size_t memory_bytes(const struct broker *broker);

#endif
