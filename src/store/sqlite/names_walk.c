/* store/sqlite/names_walk.c: removes names that no task has any more from the file.
 *
 * Nobody counts how many tasks have a name: that would be a page more in every commit. So after
 * many tasks were removed upkeep walks through all that are there, in slices, and marks the names
 * it meets; whoever names a name meanwhile marks it too. Then, in slices again, those without a
 * mark go. Names that came after the walk began are left alone.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include <limits.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#define NAMES_WALK_MIN 10000 /* with fewer in the file it is not worth a walk */
#define NAMES_SLICE    2000  /* rows: a few milliseconds */

void name_used(struct db *db, int64_t id)
{
    if (id <= db->names_marked_to) {
        db->names_used[id / CHAR_BIT] |= (unsigned char)(1 << id % CHAR_BIT);
    }
}

static bool is_used(const struct db *db, int64_t id)
{
    return (db->names_used[id / CHAR_BIT] >> id % CHAR_BIT & 1) != 0;
}

bool names_open(struct sqlite_store *store, struct err *err)
{
    struct db *db = &store->db;
    sqlite3_stmt *s = db_use(db, SQL_COUNT_NAMES);
    bool row = false;
    if (!db_row(db, SQL_COUNT_NAMES, &row, err)) {
        return false;
    }
    store->names.count = row ? column_int(s, 0) : 0;
    db->names_last = row ? column_int(s, 1) : 0;
    store->names.removed_tasks = store->names.count; /* nobody knows how many went before */
    db_done(db, SQL_COUNT_NAMES);
    return true;
}

/* So many tasks at least had the names that could go by now. */
bool names_due(const struct sqlite_store *store)
{
    const struct names_walk *walk = &store->names;
    return store->db.names_used != NULL ||
           (walk->count >= NAMES_WALK_MIN && walk->removed_tasks >= walk->count / 2);
}

static void walk_begin(struct sqlite_store *store)
{
    struct db *db = &store->db;
    db->names_marked_to = db->names_last;
    db->names_used = mem_zero((size_t)db->names_last / CHAR_BIT + 1);
    store->names = (struct names_walk){.count = store->names.count};
}

void names_walk_end(struct sqlite_store *store)
{
    mem_free(store->db.names_used);
    store->db.names_used = NULL;
}

static bool mark(struct sqlite_store *store, struct err *err)
{
    struct db *db = &store->db;
    sqlite3_stmt *s = db_use(db, SQL_LIST_NAMES_USED);
    size_t seen = 0;
    bool row = true;
    bind_int(s, 1, store->names.cursor);
    bind_int(s, 2, NAMES_SLICE);
    while (db_row(db, SQL_LIST_NAMES_USED, &row, err) && row) {
        store->names.cursor = column_int(s, 0);
        name_used(db, column_int(s, 1));
        name_used(db, column_int(s, 2));
        seen++;
    }
    if (seen < NAMES_SLICE) {
        store->names.marked = true;
        store->names.cursor = 0;
    }
    return !row;
}

static bool delete_name(struct sqlite_store *store, int64_t id, struct err *err)
{
    struct db *db = &store->db;
    bind_int(db_use(db, SQL_DELETE_NAME), 1, id);
    name_forget(db, id);
    store->names.count--;
    return db_run(db, SQL_DELETE_NAME, err);
}

static bool clear(struct sqlite_store *store, struct err *err)
{
    struct db *db = &store->db;
    sqlite3_stmt *s = db_use(db, SQL_LIST_NAMES);
    int64_t unused[NAMES_SLICE];
    size_t seen = 0, n = 0;
    bool row = true;
    bind_int(s, 1, store->names.cursor);
    bind_int(s, 2, db->names_marked_to);
    bind_int(s, 3, NAMES_SLICE);
    while (db_row(db, SQL_LIST_NAMES, &row, err) && row) {
        store->names.cursor = column_int(s, 0);
        unused[n] = store->names.cursor;
        n += !is_used(db, store->names.cursor);
        seen++;
    }
    bool ok = !row;
    for (size_t i = 0; ok && i < n; i++) {
        ok = delete_name(store, unused[i], err);
    }
    if (seen < NAMES_SLICE) {
        names_walk_end(store);
    }
    return ok;
}

bool names_step(struct sqlite_store *store, struct err *err)
{
    if (store->db.names_used == NULL) {
        walk_begin(store);
    }
    return store->names.marked ? clear(store, err) : mark(store, err);
}
