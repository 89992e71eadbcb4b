/* store/sqlite/names.c: task types and queues, each text once. See db.h.
 *
 * The writer hands out the numbers itself, each once in the life of the process, so that a reader
 * may keep what it has learned of a number; a text may get another number after nobody used it for
 * a while, so only the writer, which knows when, keeps the way from text to number.
 *
 * Names that no task has any more go. Nobody counts how many tasks have a name: that would be a
 * page more in every commit. So after many tasks were removed upkeep walks through all that are
 * there, in slices, and marks the names it meets; whoever names a name meanwhile marks it too.
 * Then, in slices again, those without a mark go. Names that came after the walk began are left
 * alone.
 *
 * Thread: the connection's; the walk is the engine's.
 *
 * SPDX-License-Identifier: MIT */
#include "store/sqlite/names.h"

#include <limits.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#define NAMES_WALK_MIN 10000 /* with fewer in the file it is not worth a walk */
#define NAMES_SLICE    2000  /* rows: a few milliseconds */

struct name {
    struct map_node by_text, by_id;
    int64_t id;
    struct str text; /* owned, behind the struct */
};

static uint64_t hash_of(int64_t id)
{
    return (uint64_t)id * UINT64_C(0x9E3779B97F4A7C15); /* one to one */
}

static struct name *known(const struct db *db, struct str text)
{
    for (struct map_node *n = map_find(&db->names_by_text, str_hash(text)); n; n = map_again(n)) {
        struct name *name = HOLDER(n, struct name, by_text);
        if (str_eq(name->text, text)) {
            return name;
        }
    }
    return NULL;
}

static struct name *numbered(const struct db *db, int64_t id)
{
    struct map_node *n = map_find(&db->names_by_id, hash_of(id));
    return n == NULL ? NULL : HOLDER(n, struct name, by_id);
}

static struct name *remember(struct db *db, int64_t id, struct str text)
{
    struct name *name = mem_zero(sizeof *name + text.len + 1);
    memcpy(name + 1, text.ptr, text.len);
    name->id = id;
    name->text = (struct str){(char *)(name + 1), text.len};
    map_add(&db->names_by_text, &name->by_text, str_hash(text));
    map_add(&db->names_by_id, &name->by_id, hash_of(id));
    return name;
}

void name_forget(struct db *db, int64_t id)
{
    struct name *name = numbered(db, id);
    if (name != NULL) {
        map_remove(&db->names_by_text, &name->by_text);
        map_remove(&db->names_by_id, &name->by_id);
        mem_free(name);
    }
}

bool name_find(struct db *db, struct str text, int64_t *id, struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_FIND_NAME);
    bool row = false;
    bind_text(s, 1, text);
    *id = 0;
    if (!db_row(db, SQL_FIND_NAME, &row, err)) {
        return false;
    }
    if (row) {
        *id = column_int(s, 0);
        db_done(db, SQL_FIND_NAME);
    }
    return true;
}

static bool insert(struct db *db, struct str text, int64_t *id, struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_INSERT_NAME);
    bind_int(s, 1, db->names_last + 1);
    bind_text(s, 2, text);
    if (!db_run(db, SQL_INSERT_NAME, err)) {
        return false;
    }
    *id = ++db->names_last;
    return true;
}

void name_used(struct db *db, int64_t id)
{
    if (id <= db->names_marked_to) {
        db->names_used[id / CHAR_BIT] |= (unsigned char)(1 << id % CHAR_BIT);
    }
}

bool name_intern(struct db *db, struct str text, int64_t *id, struct err *err)
{
    const struct name *name = known(db, text);
    if (name != NULL) {
        *id = name->id;
    } else {
        if (!name_find(db, text, id, err) || (*id == 0 && !insert(db, text, id, err))) {
            return false;
        }
        remember(db, *id, text);
    }
    if (db->names_used != NULL) {
        name_used(db, *id);
    }
    return true;
}

bool name_text(struct db *db, int64_t id, struct str *out, struct err *err)
{
    const struct name *name = numbered(db, id);
    if (name != NULL) {
        *out = name->text;
        return true;
    }
    sqlite3_stmt *s = db_use(db, SQL_READ_NAME);
    bool row = false;
    bind_int(s, 1, id);
    if (!db_row(db, SQL_READ_NAME, &row, err)) {
        return false;
    }
    if (!row) {
        return err_set(err, ERR_FATAL, "a row has the name %lld, which is unknown", (long long)id);
    }
    *out = remember(db, id, column_str(s, 0))->text;
    db_done(db, SQL_READ_NAME);
    return true;
}

void names_undo(struct db *db, int64_t last)
{
    for (; db->names_last > last; db->names_last--) {
        name_forget(db, db->names_last);
    }
}

static void forget_all(struct db *db)
{
    struct map_walk at = MAP_WALK;
    for (struct map_node *n; (n = map_walk(&db->names_by_id, &at)) != NULL;) {
        mem_free(HOLDER(n, struct name, by_id));
    }
    map_fini(&db->names_by_id);
    map_fini(&db->names_by_text);
    db->names_by_id = db->names_by_text = MAP_INIT;
}

/* All at once: to know which were used last would cost every row something, and to read one again
 * costs a microsecond or two. */
void names_trim(struct db *db)
{
    if (db->names_by_id.count > NAMES_CACHED_MAX) {
        forget_all(db);
    }
}

void names_fini(struct db *db)
{
    forget_all(db);
    mem_free(db->names_used);
}

/* ---- Names that no task has any more ---- */

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

void names_walk_end(struct sqlite_store *store)
{
    mem_free(store->db.names_used);
    store->db.names_used = NULL;
}

static bool mark_used(struct sqlite_store *store, struct err *err)
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

static bool delete_unused(struct sqlite_store *store, struct err *err)
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
        n += (db->names_used[unused[n] / CHAR_BIT] >> unused[n] % CHAR_BIT & 1) == 0;
        seen++;
    }
    bool ok = !row;
    for (size_t i = 0; ok && i < n; i++) {
        bind_int(db_use(db, SQL_DELETE_NAME), 1, unused[i]);
        name_forget(db, unused[i]);
        store->names.count--;
        ok = db_run(db, SQL_DELETE_NAME, err);
    }
    if (seen < NAMES_SLICE) {
        names_walk_end(store);
    }
    return ok;
}

bool names_step(struct sqlite_store *store, struct err *err)
{
    struct db *db = &store->db;
    if (db->names_used == NULL) { /* a walk begins */
        db->names_marked_to = db->names_last;
        db->names_used = mem_zero((size_t)db->names_last / CHAR_BIT + 1);
        store->names = (struct names_walk){.count = store->names.count};
    }
    return store->names.marked ? delete_unused(store, err) : mark_used(store, err);
}
