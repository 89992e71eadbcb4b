/* tests/store_memory/relation.c: who is whose child, and who waits for whom.
 *
 * Each record has a node for its parent and for each task that it depends on, in a map by the id of
 * those; so both directions are found without a search.
 *
 * Thread: engine; readers under the disk's lock.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "store_memory/disk.h"

static void add(struct row *record, enum relation_kind kind, struct task_id to)
{
    record->relations[record->relations_count++] =
        (struct relation){.record = record, .kind = kind, .to = to};
}

static bool depends_on(const struct row *record, struct task_id id)
{
    for (size_t i = 0; i < record->relations_count; i++) {
        const struct relation *relation = &record->relations[i];
        if (relation->kind == RELATION_DEPENDENCY && id_eq(relation->to, id)) {
            return true;
        }
    }
    return false;
}

void record_relate(struct row *record, const struct task *task)
{
    record->relations = arena_array(&record->arena, struct relation, task->depends_count + 1);
    if (!id_none(task->parent)) {
        add(record, RELATION_CHILD, task->parent);
    }
    for (size_t i = 0; i < task->depends_count; i++) {
        if (!depends_on(record, task->depends[i])) {
            add(record, RELATION_DEPENDENCY, task->depends[i]);
        }
    }
}

void record_relate_as(struct row *record, const struct row *old, struct task_id without)
{
    record->relations = arena_array(&record->arena, struct relation, old->relations_count + 1);
    record->relations_count = 0;
    for (size_t i = 0; i < old->relations_count; i++) {
        if (!id_eq(old->relations[i].to, without)) {
            add(record, old->relations[i].kind, old->relations[i].to);
        }
    }
}

void relations_link(struct map *relations, struct row *record)
{
    for (size_t i = 0; i < record->relations_count; i++) {
        map_add(relations, &record->relations[i].node, id_hash(record->relations[i].to));
    }
}

void relations_unlink(struct map *relations, struct row *record)
{
    for (size_t i = 0; i < record->relations_count; i++) {
        map_remove(relations, &record->relations[i].node);
    }
}

static int id_order(const void *left, const void *right)
{
    const struct task_id *a = left, *b = right;
    return (a->hi > b->hi) - (a->hi < b->hi);
}

/* The next relation of that kind to `id`, from `node` on. */
static const struct relation *related(const struct map_node *node, enum relation_kind kind,
                                      struct task_id id)
{
    for (; node != NULL; node = map_again(node)) {
        const struct relation *relation = HOLDER(node, const struct relation, node);
        if (relation->kind == kind && id_eq(relation->to, id)) {
            return relation;
        }
    }
    return NULL;
}

struct found {
    struct task_id *ids; /* NULL: only counts */
    size_t count;
};

static void gather(const struct view *view, const struct map *relations, enum relation_kind kind,
                   struct task_id id, struct found *found)
{
    const struct relation *r =
        relations == NULL ? NULL : related(map_find(relations, id_hash(id)), kind, id);
    for (; r != NULL; r = related(map_again(&r->node), kind, id)) {
        if (view_find(view, r->record->task.id.hi) != r->record) {
            continue; /* the transaction has changed or removed it */
        }
        if (found->ids != NULL) {
            found->ids[found->count] = r->record->task.id;
        }
        found->count++;
    }
}

void view_related(const struct view *view, enum relation_kind kind, struct task_id id,
                  struct arena *arena, struct task_id **ids, size_t *count)
{
    struct found found = {0};
    gather(view, view->over_relations, kind, id, &found);
    gather(view, view->base_relations, kind, id, &found);
    found = (struct found){.ids = arena_array(arena, struct task_id, found.count + 1)};
    gather(view, view->over_relations, kind, id, &found);
    gather(view, view->base_relations, kind, id, &found);
    qsort(found.ids, found.count, sizeof *found.ids, id_order);
    *ids = found.ids;
    *count = found.count;
}

void view_dependencies(const struct view *view, struct task_id id, struct arena *arena,
                       struct task_id **ids, size_t *count)
{
    const struct row *record = view_find(view, id.hi);
    size_t n = record == NULL || !id_eq(record->task.id, id) ? 0 : record->relations_count;
    *ids = arena_array(arena, struct task_id, n + 1);
    *count = 0;
    for (size_t i = 0; i < n; i++) {
        const struct relation *relation = &record->relations[i];
        const struct row *on = view_find(view, relation->to.hi);
        if (relation->kind == RELATION_DEPENDENCY && on != NULL) {
            (*ids)[(*count)++] = relation->to;
        }
    }
    qsort(*ids, *count, sizeof(**ids), id_order);
}

/* What a task is related to, one way or the other. */
static void related_to(const struct view *view, enum kinship kinship, struct task_id id,
                       struct arena *arena, struct task_id **ids, size_t *count)
{
    if (kinship == KIN_DEPENDENCIES) {
        view_dependencies(view, id, arena, ids, count);
    } else {
        view_related(view, kinship == KIN_CHILDREN ? RELATION_CHILD : RELATION_DEPENDENCY, id,
                     arena, ids, count);
    }
}

bool memory_kin(struct tx *base, const struct kin_query *query, struct arena *arena,
                struct kin_list *out, struct err *err)
{
    struct view view = tx_view(MEMORY_TX(base));
    size_t room = 0, count;
    struct task_id *ids;
    (void)err;
    for (size_t of = 0; of < query->count; of++) {
        related_to(&view, query->kinship, query->ids[of], arena, &ids, &count);
        room += count;
    }
    out->at = arena_array(arena, struct kin, room + 1);
    for (size_t of = 0; of < query->count; of++) {
        related_to(&view, query->kinship, query->ids[of], arena, &ids, &count);
        for (size_t i = 0; i < count && (query->most == 0 || out->count < query->most); i++) {
            enum task_state state = view_find(&view, ids[i].hi)->task.state;
            if (ids[i].hi > query->after.hi &&
                (query->kinship != KIN_WAITING || state == TASK_WAITING)) {
                out->at[out->count++] = (struct kin){of, ids[i], state};
            }
        }
    }
    return true;
}
