/* broker/memory/look.c: questions that change nothing.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "broker/memory/document.h"
#include "broker/memory/lane.h"

/* For qsort: the order in which tasks start. */
static int by_start(const void *left, const void *right)
{
    const struct entry *a = entry_of(*(struct spot *const *)left);
    const struct entry *b = entry_of(*(struct spot *const *)right);
    if (a->lane->level != b->lane->level) {
        return a->lane->level > b->lane->level ? -1 : 1;
    }
    return key_before(b->spot.key, a->spot.key) - key_before(a->spot.key, b->spot.key);
}

/* Those of the document's ready tasks that may be among its first `most`. */
static struct spot **candidates(const struct document *document, size_t most, struct arena *arena,
                                size_t *count)
{
    size_t room = 0, n = 0;
    LIST_EACH(&document->groups, at)
    {
        room += line_some_count(&group_of(at)->line, most);
    }
    struct spot **spots = arena_array(arena, struct spot *, room);
    LIST_EACH(&document->groups, at)
    {
        n += line_some(&group_of(at)->line, most, spots + n);
    }
    *count = n;
    return spots;
}

void memory_document(struct broker *broker, struct str document, size_t most, struct arena *arena,
                     struct broker_document *out)
{
    struct document *known = document_find(memory_of(broker), document);
    *out = (struct broker_document){.document = arena_str(arena, document)};
    if (known == NULL) {
        return;
    }
    out->held = document_held(known);
    out->holder = out->held ? known->holder : TASK_ID_NONE;
    LIST_EACH(&known->groups, at)
    {
        out->line += line_count(&group_of(at)->line);
    }
    size_t count;
    struct spot **spots = candidates(known, most, arena, &count);
    if (count > 0) {
        qsort(spots, count, sizeof *spots, by_start);
    }
    out->waiting_count = MIN(count, most);
    out->waiting = arena_array(arena, struct task_id, out->waiting_count);
    for (size_t i = 0; i < out->waiting_count; i++) {
        out->waiting[i] = entry_id(entry_of(spots[i]));
    }
}

/* The cursor is the number of the last hold that was told. */
size_t memory_held(struct broker *broker, uint64_t *cursor, size_t most, struct arena *arena,
                   struct broker_document **out)
{
    struct memory *m = memory_of(broker);
    uint64_t after = *cursor;
    size_t count = 0, n = 0;
    LIST_EACH(&m->held, at)
    {
        count += HOLDER(at, struct document, held)->held_at > after;
    }
    *cursor = 0;
    *out = arena_array(arena, struct broker_document, MIN(count, most));
    LIST_EACH(&m->held, at)
    {
        const struct document *document = HOLDER(at, struct document, held);
        if (document->held_at > after && n < most) {
            (*out)[n++] =
                (struct broker_document){.document = arena_str(arena, document_text(document)),
                                         .held = true,
                                         .holder = document->holder};
            *cursor = count > most ? document->held_at : 0;
        }
    }
    return n;
}

size_t memory_ahead(struct broker *broker, struct task_id id)
{
    struct entry *entry = entry_find(memory_of(broker), id);
    size_t n = 0;
    if (entry == NULL || entry->group == NULL) {
        return 0;
    }
    LIST_EACH(&entry->group->document->groups, at)
    {
        const struct group *group = group_of(at);
        if (group->lane->level > entry->lane->level) {
            n += line_count(&group->line);
        } else if (group->lane->level == entry->lane->level) {
            n += line_before(&group->line, entry->spot.key);
        }
    }
    return n;
}

bool memory_waits_before(struct broker *broker, struct str document, const struct hint *hint)
{
    const struct document *known = document_find(memory_of(broker), document);
    size_t level = (size_t)hint->priority - TASK_LOW;
    struct key key = {hint->queued_ms, hint->id.hi};
    if (known == NULL) {
        return false;
    }
    LIST_EACH(&known->groups, at)
    {
        const struct group *group = group_of(at);
        if (group->lane->level > level ||
            (group->lane->level == level && key_before(line_first(&group->line)->key, key))) {
            return true;
        }
    }
    return false;
}

bool memory_knows(struct broker *broker, const struct hint *hint)
{
    return entry_find(memory_of(broker), hint->id) != NULL;
}

size_t memory_ready_count(struct broker *broker)
{
    return memory_of(broker)->entries.count;
}

/* The oldest that waits behind a held document: those stand in no lane. */
static int64_t oldest_waiting_ms(const struct memory *m, const struct name *queue)
{
    int64_t oldest_ms = INT64_MAX;
    LIST_EACH(&m->held, held)
    {
        LIST_EACH(&HOLDER(held, struct document, held)->groups, at)
        {
            const struct group *group = group_of(at);
            if (group->lane->pair->queue == queue) {
                oldest_ms = MIN(oldest_ms, line_first(&group->line)->key.queued_ms);
            }
        }
    }
    return oldest_ms;
}

int64_t memory_oldest_ms(struct broker *broker, struct str queue_text)
{
    struct memory *m = memory_of(broker);
    const struct name *queue = names_find(&m->queues, queue_text);
    if (queue == NULL) {
        return INT64_MAX;
    }
    int64_t oldest_ms = oldest_waiting_ms(m, queue);
    for (size_t level = 0; level < LEVELS; level++) {
        struct heap_node *top = heap_top(&queue->lanes[level]);
        if (top != NULL) {
            oldest_ms = MIN(oldest_ms, lane_of(top, RANK_QUEUE)->first->key.queued_ms);
        }
    }
    return oldest_ms;
}

size_t memory_bytes(const struct broker *broker)
{
    const struct memory *m = HOLDER(broker, const struct memory, broker);
    size_t slots = m->sources.room + m->entries.size + m->pairs.size + m->queues.size +
                   m->types.size + m->documents.size;
    return sizeof *m + m->bytes + m->entry_slab.bytes + m->group_slab.bytes +
           slots * sizeof(struct map_node *);
}
