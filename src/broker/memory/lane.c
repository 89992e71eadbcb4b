/* broker/memory/lane.c: queues and types by name, their pairs, and the lanes of a pair.
 *
 * A pair that runs empty stays a while: a queue that drains and fills again should not pay for
 * its names each time. The longest idle go when there are more than IDLE_PAIRS_MAX.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/memory/lane.h"
#include "base/mem.h"

/* Empty pairs that are kept, with their names, because traffic tends to come back. */
#define IDLE_PAIRS_MAX ((size_t)10000)

/* ---- Names ---- */

struct name *names_find(const struct map *names, struct str text)
{
    for (struct map_node *n = map_find(names, str_hash(text)); n != NULL; n = map_again(n)) {
        struct name *name = HOLDER(n, struct name, node);
        if (str_eq(name_text(name), text)) {
            return name;
        }
    }
    return NULL;
}

static struct name *name_get(struct memory *m, struct map *names, struct str text,
                             bool (*before)(const struct heap_node *, const struct heap_node *))
{
    struct name *name = names_find(names, text);
    if (name != NULL) {
        return name;
    }
    name = mem_zero(sizeof *name + text.len);
    name->len = text.len;
    memcpy(name->text, text.ptr, text.len);
    for (size_t level = 0; level < LEVELS; level++) {
        name->lanes[level] = HEAP_INIT(before);
    }
    map_add(names, &name->node, str_hash(text));
    m->bytes += sizeof *name + text.len;
    return name;
}

static void name_put(struct memory *m, struct map *names, struct name *name)
{
    if (--name->pairs > 0) {
        return;
    }
    for (size_t level = 0; level < LEVELS; level++) {
        m->bytes -= name->lanes[level].room * sizeof(struct heap_node *);
        heap_fini(&name->lanes[level]);
    }
    m->bytes -= sizeof *name + name->len;
    map_remove(names, &name->node);
    mem_free(name);
}

/* ---- Lanes ---- */

static bool ranks_before(const struct heap_node *a, const struct heap_node *b, enum lane_rank rank)
{
    return key_before(lane_of(a, rank)->first->key, lane_of(b, rank)->first->key);
}

static bool lane_rank_queue(const struct heap_node *a, const struct heap_node *b)
{
    return ranks_before(a, b, RANK_QUEUE);
}

static bool lane_rank_type(const struct heap_node *a, const struct heap_node *b)
{
    return ranks_before(a, b, RANK_TYPE);
}

bool lane_rank_all(const struct heap_node *a, const struct heap_node *b)
{
    return ranks_before(a, b, RANK_ALL);
}

static void rank_lane(struct memory *m, struct heap *heap, struct heap_node *node)
{
    size_t room = heap->room;
    if (heap_has(node)) {
        heap_moved(heap, node);
    } else {
        heap_add(heap, node);
        m->bytes += (heap->room - room) * sizeof *heap->at;
    }
}

/* The line has changed: puts the lane where its first now belongs. */
static void lane_changed(struct memory *m, struct lane *lane)
{
    struct heap *heaps[LANE_RANKS] = {
        [RANK_QUEUE] = &lane->pair->queue->lanes[lane->level],
        [RANK_TYPE] = &lane->pair->type->lanes[lane->level],
        [RANK_ALL] = &m->lanes[lane->level],
    };
    struct spot *first = line_first(&lane->line);
    if (first == lane->first) {
        return;
    }
    lane->first = first;
    for (size_t i = 0; i < LANE_RANKS; i++) {
        if (first == NULL) {
            heap_remove(heaps[i], &lane->rank[i]);
        } else {
            rank_lane(m, heaps[i], &lane->rank[i]);
        }
    }
}

void lane_add(struct memory *m, struct lane *lane, struct spot *spot)
{
    line_add(&lane->line, spot, &m->bytes);
    lane_changed(m, lane);
}

void lane_remove(struct memory *m, struct lane *lane, struct spot *spot)
{
    line_remove(&lane->line, spot, &m->bytes);
    lane_changed(m, lane);
}

/* ---- Pairs ---- */

static uint64_t pair_hash(const struct name *queue, const struct name *type)
{
    return queue->node.hash * 31 + type->node.hash;
}

struct pair *pair_find(struct memory *m, struct name *queue, struct name *type)
{
    for (struct map_node *n = map_find(&m->pairs, pair_hash(queue, type)); n != NULL;
         n = map_again(n)) {
        struct pair *pair = HOLDER(n, struct pair, node);
        if (pair->queue == queue && pair->type == type) {
            return pair;
        }
    }
    return NULL;
}

static struct pair *pair_new(struct memory *m, struct name *queue, struct name *type)
{
    struct pair *pair = mem_new(struct pair);
    pair->queue = queue;
    pair->type = type;
    queue->pairs++;
    type->pairs++;
    for (size_t level = 0; level < LEVELS; level++) {
        pair->lanes[level].pair = pair;
        pair->lanes[level].level = level;
        line_init(&pair->lanes[level].line);
    }
    map_add(&m->pairs, &pair->node, pair_hash(queue, type));
    m->bytes += sizeof *pair;
    return pair;
}

static void pair_free(struct memory *m, struct pair *pair)
{
    if (link_in_list(&pair->idle)) {
        list_remove(&pair->idle);
        m->idle_count--;
    }
    for (size_t level = 0; level < LEVELS; level++) {
        line_fini(&pair->lanes[level].line, &m->bytes);
    }
    map_remove(&m->pairs, &pair->node);
    name_put(m, &m->queues, pair->queue);
    name_put(m, &m->types, pair->type);
    m->last_pair = m->last_pair == pair ? NULL : m->last_pair;
    m->bytes -= sizeof *pair;
    mem_free(pair);
}

void pairs_trim(struct memory *m)
{
    while (m->idle_count > IDLE_PAIRS_MAX) {
        pair_free(m, HOLDER(list_first(&m->idle), struct pair, idle));
    }
}

static struct pair *pair_find_or_new(struct memory *m, struct str queue_text, struct str type_text)
{
    pairs_trim(m);
    struct name *queue = name_get(m, &m->queues, queue_text, lane_rank_queue);
    struct name *type = name_get(m, &m->types, type_text, lane_rank_type);
    struct pair *pair = pair_find(m, queue, type);
    return pair != NULL ? pair : pair_new(m, queue, type);
}

struct pair *pair_get(struct memory *m, struct str queue, struct str type)
{
    struct pair *last = m->last_pair;
    if (last == NULL || !str_eq(name_text(last->queue), queue) ||
        !str_eq(name_text(last->type), type)) {
        m->last_pair = pair_find_or_new(m, queue, type);
    }
    return m->last_pair;
}

void pair_joined(struct memory *m, struct pair *pair)
{
    if (link_in_list(&pair->idle)) {
        list_remove(&pair->idle);
        m->idle_count--;
    }
    pair->ready++;
}

void pair_left(struct memory *m, struct pair *pair)
{
    if (--pair->ready == 0) {
        list_append(&m->idle, &pair->idle);
        m->idle_count++;
    }
}

void pairs_free(struct memory *m)
{
    struct map_walk at = MAP_WALK;
    for (struct map_node *n; (n = map_walk(&m->pairs, &at)) != NULL;) {
        pair_free(m, HOLDER(n, struct pair, node));
    }
    map_fini(&m->pairs);
    map_fini(&m->queues);
    map_fini(&m->types);
}

struct offer pair_best(const struct pair *pair)
{
    for (size_t level = LEVELS; level > 0; level--) {
        const struct spot *first = pair->lanes[level - 1].first;
        if (first != NULL) {
            return (struct offer){level, first->key};
        }
    }
    return (struct offer){0};
}

void pair_tell(struct memory *m, const struct pair *pair, struct offer before)
{
    struct offer now = pair_best(pair);
    bool better = now.level > before.level ||
                  (now.level > 0 && now.level == before.level && key_before(now.key, before.key));
    if (better && m->broker.ready != NULL) {
        m->broker.ready(m->broker.arg, name_text(pair->queue), name_text(pair->type));
    }
}
