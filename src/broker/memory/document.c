/* broker/memory/document.c: documents and the groups of ready tasks that share one.
 *
 * A group stands in its lane with its first task's key, and only while the document is free. So
 * holding and letting go cost one step a group, however many tasks wait in it.
 *
 * Thread: engine. Keeps: G3.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/memory/document.h"
#include "base/mem.h"
#include "broker/memory/lane.h"

/* Its first task or its document's state has changed: puts the group where it now belongs. */
static void group_changed(struct memory *m, struct group *group)
{
    struct spot *first = document_held(group->document) ? NULL : line_first(&group->line);
    bool stands = spot_stands(&group->spot);
    if (stands && first != NULL && key_eq(first->key, group->spot.key)) {
        return;
    }
    if (stands) {
        lane_remove(m, group->lane, &group->spot);
    }
    if (first != NULL) {
        group->spot.key = first->key;
        lane_add(m, group->lane, &group->spot);
    }
}

static struct group *group_get(struct memory *m, struct document *document, struct lane *lane)
{
    LIST_EACH(&document->groups, at)
    {
        if (group_of(at)->lane == lane) {
            return group_of(at);
        }
    }
    struct group *group = slab_get(&m->group_slab);
    group->spot.is_group = true;
    group->lane = lane;
    group->document = document;
    line_init(&group->line);
    list_append(&document->groups, &group->link);
    return group;
}

void group_join(struct memory *m, struct document *document, struct entry *entry)
{
    entry->group = group_get(m, document, entry->lane);
    line_add(&entry->group->line, &entry->spot, &m->bytes);
    group_changed(m, entry->group);
}

void group_leave(struct memory *m, struct entry *entry)
{
    struct group *group = entry->group;
    struct document *document = group->document;
    line_remove(&group->line, &entry->spot, &m->bytes);
    group_changed(m, group);
    if (line_count(&group->line) == 0) {
        line_fini(&group->line, &m->bytes);
        list_remove(&group->link);
        slab_put(&m->group_slab, group);
    }
    document_put(m, document);
}

struct document *document_find(const struct memory *m, struct str text)
{
    for (struct map_node *n = map_find(&m->documents, str_hash(text)); n != NULL;
         n = map_again(n)) {
        struct document *document = HOLDER(n, struct document, node);
        if (str_eq(document_text(document), text)) {
            return document;
        }
    }
    return NULL;
}

struct document *document_get(struct memory *m, struct str text)
{
    struct document *document = document_find(m, text);
    if (document != NULL) {
        return document;
    }
    document = mem_zero(sizeof *document + text.len);
    document->len = text.len;
    memcpy(document->text, text.ptr, text.len);
    list_init(&document->groups);
    map_add(&m->documents, &document->node, str_hash(text));
    m->bytes += sizeof *document + text.len;
    return document;
}

static void document_free(struct memory *m, struct document *document)
{
    map_remove(&m->documents, &document->node);
    m->bytes -= sizeof *document + document->len;
    mem_free(document);
}

void document_put(struct memory *m, struct document *document)
{
    if (!document_held(document) && list_empty(&document->groups)) {
        document_free(m, document);
    }
}

void document_hold(struct memory *m, struct document *document, struct task_id holder)
{
    document->holder = holder;
    if (document_held(document)) {
        return;
    }
    list_append(&m->held, &document->held);
    document->held_at = ++m->holds;
    LIST_EACH(&document->groups, at)
    {
        group_changed(m, group_of(at));
    }
}

void document_let_go(struct memory *m, struct document *document)
{
    list_remove(&document->held);
    LIST_EACH(&document->groups, at)
    {
        struct group *group = group_of(at);
        struct offer before = pair_best(group->lane->pair);
        group_changed(m, group);
        pair_tell(m, group->lane->pair, before);
    }
    document_put(m, document);
}

void documents_free(struct memory *m)
{
    struct map_walk at = MAP_WALK;
    for (struct map_node *n; (n = map_walk(&m->documents, &at)) != NULL;) {
        struct document *document = HOLDER(n, struct document, node);
        LIST_EACH(&document->groups, group)
        {
            line_fini(&group_of(group)->line, &m->bytes);
        }
        document_free(m, document);
    }
    map_fini(&m->documents);
}
