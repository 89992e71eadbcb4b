/* broker/memory/take.c: claims: the best tasks of the wanted queues and types, in one line.
 *
 * A claim looks at *sources*, each a ranked set of lanes: one pair when it names queue and type,
 * a queue's lanes when it takes any type, a type's or all lanes when it takes any queue. For each
 * priority the sources stand in a heap by their first task. While a claim is served tasks only
 * leave, so a source's remembered first can only be too early: looking again when it comes to the
 * top is enough.
 *
 * Thread: engine. Keeps: G3, G4.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/memory/document.h"
#include "broker/memory/lane.h"

struct source {
    struct heap_node node;
    struct key key;     /* of its first task when last looked at */
    struct pair *pair;  /* either one pair's lanes */
    struct heap *lanes; /* or ranked ones, [LEVELS] */
    enum lane_rank rank;
    bool others;  /* only queues that the claim does not name */
    size_t *room; /* left in its queue; NULL: any */
};

struct claim {
    struct memory *m;
    struct source *sources;
    size_t count;
};

static struct source *source_of(const struct heap_node *node)
{
    return HOLDER(node, struct source, node);
}

static bool source_before(const struct heap_node *a, const struct heap_node *b)
{
    return key_before(source_of(a)->key, source_of(b)->key);
}

/* ---- Which lanes a claim may look at ---- */

static void add_ranked(struct claim *c, struct heap *lanes, enum lane_rank rank, size_t *room)
{
    c->sources[c->count++] =
        (struct source){.lanes = lanes, .rank = rank, .others = rank != RANK_QUEUE, .room = room};
}

static void add_queue(struct claim *c, struct name *queue, size_t *room, struct name **types,
                      size_t types_count)
{
    for (size_t i = 0; i < types_count; i++) {
        struct pair *pair = pair_find(c->m, queue, types[i]);
        if (pair != NULL) {
            c->sources[c->count++] = (struct source){.pair = pair, .room = room};
        }
    }
}

static void add_named_queues(struct claim *c, const struct want *want, struct name **types,
                             size_t types_count)
{
    size_t *rooms = arena_array(&c->m->scratch, size_t, want->queues_count);
    for (size_t i = 0; i < want->queues_count; i++) {
        struct name *queue = names_find(&c->m->queues, want->queues[i].name);
        rooms[i] = want->queues[i].room;
        if (queue == NULL) {
            continue;
        }
        queue->named = c->m->claim;
        if (want->types_count == 0) {
            add_ranked(c, queue->lanes, RANK_QUEUE, &rooms[i]);
        } else {
            add_queue(c, queue, &rooms[i], types, types_count);
        }
    }
}

static void add_other_queues(struct claim *c, const struct want *want, struct name **types,
                             size_t types_count)
{
    if (want->types_count == 0) {
        add_ranked(c, c->m->lanes, RANK_ALL, NULL);
    }
    for (size_t i = 0; i < types_count; i++) {
        add_ranked(c, types[i]->lanes, RANK_TYPE, NULL);
    }
}

static size_t find_types(struct memory *m, const struct want *want, struct name **out)
{
    size_t n = 0;
    for (size_t i = 0; i < want->types_count; i++) {
        struct name *type = names_find(&m->types, want->types[i]);
        if (type != NULL) {
            out[n++] = type;
        }
    }
    return n;
}

static struct claim claim_begin(struct memory *m, const struct want *want)
{
    struct claim c = {.m = m};
    arena_clear(&m->scratch);
    m->claim++;
    struct name **types = arena_array(&m->scratch, struct name *, want->types_count);
    size_t types_count = find_types(m, want, types);
    size_t each = want->types_count == 0 ? 1 : types_count;
    c.sources = arena_array(&m->scratch, struct source, each * (want->queues_count + 1));
    add_named_queues(&c, want, types, types_count);
    if (want->any_queue) {
        add_other_queues(&c, want, types, types_count);
    }
    return c;
}

/* ---- The best lane of a source ---- */

/* The first lane of a queue that this claim does not name, in the part of the heap below `i`. A
 * part whose top is no better than `best` is not entered, so this visits little more than the
 * lanes it has to pass over. */
static struct lane *best_other(const struct claim *c, const struct source *source,
                               const struct heap *heap, size_t i, struct lane *best)
{
    if (i >= heap->count) {
        return best;
    }
    struct lane *lane = lane_of(heap->at[i], source->rank);
    if (best != NULL && !key_before(lane->first->key, best->first->key)) {
        return best;
    }
    if (lane->pair->queue->named != c->m->claim) {
        return lane;
    }
    for (size_t child = 1; child <= HEAP_CHILDREN; child++) {
        best = best_other(c, source, heap, i * HEAP_CHILDREN + child, best);
    }
    return best;
}

static struct lane *source_best(const struct claim *c, const struct source *source, size_t level)
{
    if (source->room != NULL && *source->room == 0) {
        return NULL;
    }
    if (source->pair != NULL) {
        struct lane *lane = &source->pair->lanes[level];
        return lane->first == NULL ? NULL : lane;
    }
    const struct heap *heap = &source->lanes[level];
    if (source->others) {
        return best_other(c, source, heap, 0, NULL);
    }
    return heap->count == 0 ? NULL : lane_of(heap_top(heap), source->rank);
}

/* ---- Taking ---- */

struct basket {
    struct hint *out;
    size_t count, max;
    struct arena *arena;
    const struct pair *last; /* whose names the last hint has */
};

static void fill_names(struct basket *basket, const struct pair *pair, struct hint *hint)
{
    if (pair == basket->last) {
        hint->queue = basket->out[basket->count - 1].queue;
        hint->type = basket->out[basket->count - 1].type;
        return;
    }
    hint->queue = arena_str(basket->arena, name_text(pair->queue));
    hint->type = arena_str(basket->arena, name_text(pair->type));
    basket->last = pair;
}

static void take_first(struct memory *m, struct lane *lane, struct basket *basket)
{
    struct spot *spot = lane->first;
    struct entry *entry =
        entry_of(spot->is_group ? line_first(&HOLDER(spot, struct group, spot)->line) : spot);
    struct hint *hint = &basket->out[basket->count];
    *hint = (struct hint){.id = entry_id(entry),
                          .priority = (enum task_priority)(lane->level + 1),
                          .queued_ms = entry->spot.key.queued_ms};
    fill_names(basket, lane->pair, hint);
    if (entry->group != NULL) {
        hint->document = arena_str(basket->arena, document_text(entry->group->document));
        document_hold(m, entry->group->document, hint->id);
    }
    entry_drop(m, entry);
    basket->count++;
}

static void gather_sources(const struct claim *c, struct heap *heap, size_t level)
{
    for (size_t i = 0; i < c->count; i++) {
        struct lane *lane = source_best(c, &c->sources[i], level);
        if (lane != NULL) {
            c->sources[i].key = lane->first->key;
            heap_add(heap, &c->sources[i].node);
        }
    }
}

static void take_from(const struct claim *c, struct source *source, size_t level,
                      struct basket *basket)
{
    struct lane *lane = source_best(c, source, level);
    if (lane == NULL) {
        heap_remove(&c->m->sources, &source->node);
    } else if (!key_eq(lane->first->key, source->key)) {
        source->key = lane->first->key;
        heap_moved(&c->m->sources, &source->node);
    } else {
        take_first(c->m, lane, basket);
        if (source->room != NULL) {
            --*source->room;
        }
    }
}

static void take_level(const struct claim *c, size_t level, struct basket *basket)
{
    struct heap *heap = &c->m->sources;
    heap->before = source_before;
    heap->count = 0;
    gather_sources(c, heap, level);
    for (struct heap_node *top; basket->count < basket->max && (top = heap_top(heap)) != NULL;) {
        take_from(c, source_of(top), level, basket);
    }
}

size_t memory_take(struct broker *broker, const struct want *want, size_t max, struct hint *out,
                   struct arena *arena)
{
    struct memory *m = memory_of(broker);
    struct claim c = claim_begin(m, want);
    struct basket basket = {.out = out, .max = max, .arena = arena};
    for (size_t level = LEVELS; level > 0 && basket.count < max; level--) {
        if (m->lanes[level - 1].count > 0) {
            take_level(&c, level - 1, &basket);
        }
    }
    pairs_trim(m);
    return basket.count;
}

bool memory_has(struct broker *broker, const struct want *want)
{
    struct claim c = claim_begin(memory_of(broker), want);
    for (size_t level = 0; level < LEVELS; level++) {
        for (size_t i = 0; i < c.count; i++) {
            if (source_best(&c, &c.sources[i], level) != NULL) {
                return true;
            }
        }
    }
    return false;
}
