/* store/sqlite/names.c: task types and queues, each text once. See db.h.
 *
 * The writer hands out the numbers itself, each once in the life of the process, so that a reader
 * may keep what it has learned of a number; a text may get another number after nobody used it for
 * a while (names_walk.c), so only the writer, which knows when, keeps the way from text to number.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "store/sqlite/db.h"

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

static bool ask(struct db *db, struct str text, int64_t *id, struct err *err)
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

bool name_find(struct db *db, struct str text, int64_t *id, struct err *err)
{
    return ask(db, text, id, err);
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

bool name_intern(struct db *db, struct str text, int64_t *id, struct err *err)
{
    const struct name *name = known(db, text);
    if (name != NULL) {
        *id = name->id;
    } else {
        if (!ask(db, text, id, err) || (*id == 0 && !insert(db, text, id, err))) {
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
