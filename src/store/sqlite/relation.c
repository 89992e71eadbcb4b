/* store/sqlite/relation.c: who is whose child, and who waits for whom.
 *
 * Both are rows of their own, written with the task and removed with it; a task without relations
 * has none.
 *
 * Thread: the connection's.
 *
 * SPDX-License-Identifier: MIT */
#include "base/array.h"
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

bool related_ids(struct db *db, enum sql_id query, struct task_id id, struct arena *arena,
                 struct task_id **ids, size_t *count, struct err *err)
{
    sqlite3_stmt *s = db_use(db, query);
    bool row = true;
    *ids = NULL;
    *count = 0;
    bind_int(s, 1, (int64_t)id.hi);
    bind_int(s, 2, (int64_t)id.lo);
    while (db_row(db, query, &row, err) && row) {
        *ARENA_PUSH(arena, *ids, *count) = column_id(s, 0);
    }
    return !row;
}

static bool list_kin(struct db *db, const struct kin_query *query, size_t of, struct arena *arena,
                     struct kin_list *out, struct err *err)
{
    static const enum sql_id statements[KINSHIPS] = {[KIN_CHILDREN] = SQL_KIN_CHILDREN,
                                                     [KIN_WAITING] = SQL_KIN_WAITING,
                                                     [KIN_DEPENDENCIES] = SQL_KIN_DEPENDENCIES};
    enum sql_id sql = statements[query->kinship];
    sqlite3_stmt *s = db_use(db, sql);
    bool row = true;
    bind_int(s, 1, (int64_t)query->ids[of].hi);
    bind_int(s, 2, (int64_t)query->ids[of].lo);
    bind_int(s, 3, (int64_t)query->after.hi);
    bind_int(s, 4, query->most == 0 ? -1 : (int64_t)(query->most - out->count));
    while (db_row(db, sql, &row, err) && row) {
        *ARENA_PUSH(arena, out->at, out->count) =
            (struct kin){of, column_id(s, 0), (enum task_state)column_int(s, 2)};
    }
    return !row;
}

/* Every task that ends asks who waits for it: a store where nobody waits for anybody knows that. */
bool sqlite_kin(struct tx *tx, const struct kin_query *query, struct arena *arena,
                struct kin_list *out, struct err *err)
{
    struct sqlite_store *store = SQLITE_TX(tx)->store;
    if (query->kinship != KIN_CHILDREN && !store->dependencies) {
        return true;
    }
    for (size_t of = 0; of < query->count && (query->most == 0 || out->count < query->most); of++) {
        if (!list_kin(&store->db, query, of, arena, out, err)) {
            return err_wrap(err, "find related tasks");
        }
    }
    return true;
}
