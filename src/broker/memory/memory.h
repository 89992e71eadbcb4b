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

/* Empty pairs that are kept, with their names, because traffic tends to come back. */
#define IDLE_PAIRS_MAX ((size_t)10000)

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
    struct task_id holder;
    size_t len;
    char text[];
};

struct memory {
    struct broker broker;
    struct map entries, pairs, queues, types, documents;
    struct heap lanes[LEVELS]; /* all that are not empty */
    struct list held;          /* documents */
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

/* ---- lane.c: pairs, their names and lanes ---- */

struct name *name_find(const struct map *names, struct str text);                /* or NULL */
struct pair *pair_find(struct memory *m, struct name *queue, struct name *type); /* or NULL */
struct pair *pair_get(struct memory *m, struct str queue, struct str type);
void pair_joined(struct memory *m, struct pair *pair); /* a task more */
void pair_left(struct memory *m, struct pair *pair);   /* a task less */
void pairs_free(struct memory *m);                     /* all of them */

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

/* ---- document.c: documents and the groups of tasks that share one ---- */

struct document *document_find(const struct memory *m, struct str text); /* or NULL */
struct document *document_get(struct memory *m, struct str text);
void document_put(struct memory *m, struct document *document); /* frees it if nobody needs it */
void document_hold(struct memory *m, struct document *document, struct task_id holder);
void document_let_go(struct memory *m, struct document *document);
void documents_free(struct memory *m);

static inline bool document_held(const struct document *document)
{
    return link_in_list(&document->held);
}

static inline struct str document_text(const struct document *document)
{
    return (struct str){document->text, document->len};
}

void group_join(struct memory *m, struct document *document, struct entry *entry);
void group_leave(struct memory *m, struct entry *entry); /* frees group and document if empty */

/* ---- entry.c: ready tasks come and go ---- */

struct entry *entry_find(const struct memory *m, struct task_id id); /* or NULL */
void entry_drop(struct memory *m, struct entry *entry);
void memory_offer(struct broker *broker, const struct hint *hint);
void memory_withdraw(struct broker *broker, struct task_id id);
void memory_give_back(struct broker *broker, const struct hint *hint);
void memory_hold(struct broker *broker, struct str document, struct task_id holder);
void memory_let_go(struct broker *broker, struct str document, struct task_id holder);

static inline struct entry *entry_of(const struct spot *spot)
{
    return HOLDER(spot, struct entry, spot);
}

static inline struct task_id entry_id(const struct entry *entry)
{
    return (struct task_id){entry->spot.key.hi, entry->lo};
}

/* ---- take.c: claims ---- */

size_t memory_take(struct broker *broker, const struct want *want, size_t max, struct hint *out,
                   struct arena *arena);
bool memory_has(struct broker *broker, const struct want *want);

/* ---- look.c: questions that change nothing ---- */

void memory_document(struct broker *broker, struct str document, size_t most, struct arena *arena,
                     struct broker_document *out);
size_t memory_documents(struct broker *broker, size_t most, struct arena *arena,
                        struct broker_document **out);
size_t memory_ahead(struct broker *broker, struct task_id id);
bool memory_knows(struct broker *broker, struct task_id id);
size_t memory_ready_count(struct broker *broker);
int64_t memory_oldest_ms(struct broker *broker, struct str queue);
size_t memory_bytes(const struct broker *broker);

#endif
