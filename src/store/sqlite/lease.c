/* store/sqlite/lease.c: who holds which document.
 *
 * The holder is the task that runs on it, or the outermost container around it. That there is one
 * at most is the primary key of doc_lease.
 *
 * Thread: engine. Keeps: G3, I5.
 *
 * SPDX-License-Identifier: MIT */
#include "store/shared.h"
#include "store/sqlite/sqlite.h"

/* Somebody holds the document: is it the task's own holder? */
static bool find_held(struct db *db, const struct task *task, enum lease_answer *answer,
                      struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_FIND_HOLDER);
    bool row = false;
    bind_text(s, 1, task->document);
    if (!db_row(db, SQL_FIND_HOLDER, &row, err)) {
        return false;
    }
    bool own = row && column_int(s, 0) == (int64_t)task_holder(task).hi;
    *answer = own ? LEASE_HELD : LEASE_REFUSED;
    db_done(db, SQL_FIND_HOLDER);
    return true;
}

bool lease_document(struct sqlite_tx *tx, const struct task *task, enum lease_answer *answer,
                    struct err *err)
{
    struct db *db = &tx->store->db;
    sqlite3_stmt *s = db_use(db, SQL_LEASE_DOCUMENT);
    bool taken = false;
    bind_text(s, 1, task->document);
    bind_int(s, 2, (int64_t)task_holder(task).hi);
    bind_int(s, 3, task->container || !id_none(task->family));
    if (!db_change(db, SQL_LEASE_DOCUMENT, &taken, err)) {
        return false;
    }
    *answer = LEASE_TAKEN;
    return taken || find_held(db, task, answer, err);
}

bool sqlite_free_document(struct tx *base, struct str document, struct task_id holder,
                          struct err *err)
{
    struct db *db = &SQLITE_TX(base)->store->db;
    sqlite3_stmt *s = db_use(db, SQL_FREE_DOCUMENT);
    bind_text(s, 1, document);
    bind_int(s, 2, (int64_t)holder.hi);
    return db_run(db, SQL_FREE_DOCUMENT, err) || err_wrap(err, "free a document");
}

bool sqlite_scan_held(struct store *base, store_held_fn *each, void *arg, struct err *err)
{
    struct db *db = &SQLITE_STORE(base)->db;
    sqlite3_stmt *s = db_use(db, SQL_LIST_HELD);
    bool row = true;
    while (db_row(db, SQL_LIST_HELD, &row, err) && row) {
        if (!each(arg, column_str(s, 0), column_id(s, 1), err)) {
            db_done(db, SQL_LIST_HELD);
            return false;
        }
    }
    return !row || err_wrap(err, "read held documents");
}

bool end_lease(struct sqlite_tx *tx, const struct task *task, struct err *err)
{
    struct db *db = &tx->store->db;
    if (!task->container) {
        return sqlite_free_document(&tx->tx, task->document, task->id, err);
    }
    bind_int(db_use(db, SQL_FREE_DOCUMENTS), 1, (int64_t)task->id.hi);
    return db_run(db, SQL_FREE_DOCUMENTS, err);
}
