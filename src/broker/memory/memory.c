/* broker/memory/memory.c: the broker of a single node: opening, closing, its table of verbs.
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
