/* broker/memory/memory.c: the broker of a single node: ready tasks and held documents, opening,
 * closing, its table of verbs.
 *
 * Everything lives in this process and is rebuilt from the store at start. The nouns are told in
 * memory.h.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/memory/document.h"
#include "broker/memory/lane.h"

#include "base/mem.h"

/* ---- Ready tasks come, move and go; documents are held and let go ---- */

struct entry *entry_find(const struct memory *m, struct task_id id)
{
    for (struct map_node *n = map_find(&m->entries, id_hash(id)); n != NULL; n = map_again(n)) {
        struct entry *entry = HOLDER(n, struct entry, node);
        if (id_eq(entry_id(entry), id)) {
            return entry;
        }
    }
    return NULL;
}

/* Would the hint put this entry where it already stands? */
static bool entry_is(const struct entry *entry, const struct hint *hint)
{
    const struct lane *lane = entry->lane;
    return lane->level + 1 == (size_t)hint->priority &&
           entry->spot.key.queued_ms == hint->queued_ms &&
           str_eq(name_text(lane->pair->queue), hint->queue) &&
           str_eq(name_text(lane->pair->type), hint->type) &&
           str_absent(hint->document) == (entry->group == NULL) &&
           (entry->group == NULL || str_eq(document_text(entry->group->document), hint->document));
}

static void entry_add(struct memory *m, struct pair *pair, const struct hint *hint)
{
    struct entry *entry = slab_get(&m->entry_slab);
    entry->spot.key = (struct key){hint->queued_ms, hint->id.hi};
    entry->lo = hint->id.lo;
    entry->lane = &pair->lanes[hint->priority - 1];
    map_add(&m->entries, &entry->node, id_hash(hint->id));
    pair_joined(m, pair);
    if (str_absent(hint->document)) {
        lane_add(m, entry->lane, &entry->spot);
    } else {
        group_join(m, document_get(m, hint->document), entry);
    }
}

void entry_drop(struct memory *m, struct entry *entry)
{
    struct pair *pair = entry->lane->pair;
    if (entry->group == NULL) {
        lane_remove(m, entry->lane, &entry->spot);
    } else {
        group_leave(m, entry);
    }
    map_remove(&m->entries, &entry->node);
    slab_put(&m->entry_slab, entry);
    pair_left(m, pair);
}

static void memory_offer(struct broker *broker, const struct hint *hint)
{
    struct memory *m = memory_of(broker);
    struct entry *known = entry_find(m, hint->id);
    if (known != NULL && entry_is(known, hint)) {
        return;
    }
    struct pair *pair = pair_get(m, hint->queue, hint->type);
    struct offer before = pair_best(pair);
    if (known != NULL) {
        entry_drop(m, known);
    }
    entry_add(m, pair, hint);
    pair_tell(m, pair, before);
}

static void memory_withdraw(struct broker *broker, const struct hint *hint)
{
    struct memory *m = memory_of(broker);
    struct entry *entry = entry_find(m, hint->id);
    if (entry != NULL) {
        entry_drop(m, entry);
        pairs_trim(m);
    }
}

static void memory_hold(struct broker *broker, struct str document, struct task_id holder,
                        struct str lock)
{
    (void)lock; /* nobody else looks at it */
    struct memory *m = memory_of(broker);
    document_hold(m, document_get(m, document), holder);
}

static void memory_let_go(struct broker *broker, struct str document, struct task_id holder,
                          struct str lock)
{
    (void)lock; /* nobody else looks at it */
    struct memory *m = memory_of(broker);
    struct document *known = document_find(m, document);
    if (known != NULL && document_held(known) && id_eq(known->holder, holder)) {
        document_let_go(m, known);
    }
}

/* The task joins its line first and the document is let go after, so each group comes forward
 * once, with the right task in front. */
static void memory_give_back(struct broker *broker, const struct hint *hint)
{
    memory_offer(broker, hint);
    if (!str_absent(hint->document)) {
        memory_let_go(broker, hint->document, hint->id, STR_NONE);
    }
}

/* ---- Life ---- */

static void memory_close(struct broker *broker)
{
    struct memory *m = memory_of(broker);
    documents_free(m);
    pairs_free(m);
    map_fini(&m->entries);
    for (size_t level = 0; level < LEVELS; level++) {
        heap_fini(&m->lanes[level]);
    }
    heap_fini(&m->sources);
    slab_fini(&m->entry_slab);
    slab_fini(&m->group_slab);
    arena_fini(&m->scratch);
    mem_free(m);
}

static const struct broker_ops memory_ops = {
    .kind = "memory",
    .close = memory_close,
    .offer = memory_offer,
    .withdraw = memory_withdraw,
    .take = memory_take,
    .give_back = memory_give_back,
    .hold = memory_hold,
    .let_go = memory_let_go,
    .document = memory_document,
    .held = memory_held,
    .ahead = memory_ahead,
    .waits_before = memory_waits_before,
    .knows = memory_knows,
    .ready_count = memory_ready_count,
    .oldest_ms = memory_oldest_ms,
    .has = memory_has,
    .memory = memory_bytes,
};

bool memory_open(const struct broker_options *options, struct broker **out, struct err *err)
{
    (void)options;
    (void)err;
    struct memory *m = mem_new(struct memory);
    m->broker.ops = &memory_ops;
    m->entry_slab = SLAB_INIT(struct entry);
    m->group_slab = SLAB_INIT(struct group);
    list_init(&m->held);
    list_init(&m->idle);
    for (size_t level = 0; level < LEVELS; level++) {
        m->lanes[level] = HEAP_INIT(lane_rank_all);
    }
    *out = &m->broker;
    return true;
}
