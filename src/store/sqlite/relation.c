/* store/sqlite/relation.c: who is whose child, and who waits for whom.
 *
 * Both are rows of their own, written with the task and removed with it; a task without relations
 * has none.
 *
 * Thread: the connection's.
 *
 * SPDX-License-Identifier: MIT */
#include "store/sqlite/sqlite.h"

static bool run_pair(struct db *db, enum sql_id id, struct task_id left, struct task_id right,
                     struct err *err)
{
    bind_int(db_use(db, id), 1, (int64_t)left.hi);
    bind_int(db_use(db, id), 2, (int64_t)right.hi);
    return db_run(db, id, err);
}

bool family_insert(struct sqlite_tx *tx, const struct task *task, struct err *err)
{
    struct db *db = &tx->store->db;
    if (!id_none(task->parent) && !run_pair(db, SQL_INSERT_CHILD, task->parent, task->id, err)) {
        return false;
    }
    tx->store->dependencies = tx->store->dependencies || task->depends_count > 0;
    for (size_t i = 0; i < task->depends_count; i++) {
        if (!run_pair(db, SQL_INSERT_DEPENDENCY, task->id, task->depends[i], err)) {
            return false;
        }
    }
    return true;
}

bool child_delete(struct sqlite_tx *tx, const struct task *task, struct err *err)
{
    return id_none(task->parent) ||
           run_pair(&tx->store->db, SQL_DELETE_CHILD, task->parent, task->id, err);
}

void ids_add(struct id_list *list, struct arena *arena, struct task_id id)
{
    if (list->count == list->room) {
        struct task_id *old = list->at;
        list->room = MAX(16, list->room * 2);
        list->at = arena_array(arena, struct task_id, list->room);
        memcpy(list->at, old == NULL ? list->at : old, list->count * sizeof *old);
    }
    list->at[list->count++] = id;
}

bool related_ids(struct db *db, enum sql_id query, struct task_id id, struct arena *arena,
                 struct task_id **ids, size_t *count, struct err *err)
{
    sqlite3_stmt *s = db_use(db, query);
    struct id_list found = {0};
    bool row = true;
    bind_int(s, 1, (int64_t)id.hi);
    bind_int(s, 2, (int64_t)id.lo);
    while (db_row(db, query, &row, err) && row) {
        ids_add(&found, arena, column_id(s, 0));
    }
    *ids = found.at;
    *count = found.count;
    return !row;
}

bool sqlite_children(struct tx *tx, struct task_id parent, struct arena *arena,
                     struct task_id **ids, size_t *count, struct err *err)
{
    struct db *db = &SQLITE_TX(tx)->store->db;
    return related_ids(db, SQL_LIST_CHILDREN, parent, arena, ids, count, err) ||
           err_wrap(err, "list children");
}

/* Every task that ends asks who waits for it: a store where nobody waits for anybody knows that. */
static bool waits(struct sqlite_store *store, enum sql_id query, struct task_id id,
                  struct arena *arena, struct task_id **ids, size_t *count, struct err *err)
{
    *ids = NULL;
    *count = 0;
    return !store->dependencies || related_ids(&store->db, query, id, arena, ids, count, err);
}

bool sqlite_dependents(struct tx *tx, struct task_id id, struct arena *arena, struct task_id **ids,
                       size_t *count, struct err *err)
{
    return waits(SQLITE_TX(tx)->store, SQL_LIST_DEPENDENTS, id, arena, ids, count, err) ||
           err_wrap(err, "list dependents");
}

bool sqlite_dependencies(struct tx *tx, struct task_id id, struct arena *arena,
                         struct task_id **ids, size_t *count, struct err *err)
{
    return waits(SQLITE_TX(tx)->store, SQL_LIST_DEPENDENCIES, id, arena, ids, count, err) ||
           err_wrap(err, "list dependencies");
}
