/* store/sqlite/names.c: task types and queues, each text once. See db.h.
 *
 * The writer knows every name from the start and hands out numbers itself; a reader meets new ones
 * in its rows and looks them up. A name's text stays where it is as long as its connection.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "store/sqlite/db.h"

struct name {
    struct map_node node;
    int64_t id;
    struct str text; /* owned, behind the struct */
};

static struct name *known(struct db *db, struct str text)
{
    for (struct map_node *n = map_find(&db->names_by_text, str_hash(text)); n; n = map_again(n)) {
        struct name *name = HOLDER(n, struct name, node);
        if (str_eq(name->text, text)) {
            return name;
        }
    }
    return NULL;
}

static struct name *remember(struct db *db, int64_t id, struct str text)
{
    struct name *name = mem_zero(sizeof *name + text.len + 1);
    memcpy(name + 1, text.ptr, text.len);
    name->id = id;
    name->text = (struct str){(char *)(name + 1), text.len};
    map_add(&db->names_by_text, &name->node, str_hash(text));

    if ((size_t)id >= db->names_room) {
        size_t room = MAX(64, (size_t)id * 2);
        db->names = mem_array(db->names, room, sizeof(*db->names));
        memset(db->names + db->names_room, 0, (room - db->names_room) * sizeof(*db->names));
        db->names_room = room;
    }
    db->names[id] = name;
    db->names_last = MAX(db->names_last, id);
    return name;
}

bool names_load(struct db *db, struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_LIST_NAMES);
    bool row = true;
    while (db_row(db, SQL_LIST_NAMES, &row, err) && row) {
        remember(db, column_int(s, 0), column_str(s, 1));
    }
    return !row;
}

bool name_find(struct db *db, struct str text, int64_t *id, struct err *err)
{
    const struct name *name = known(db, text);
    *id = name == NULL ? 0 : name->id;
    if (name != NULL) {
        return true;
    }
    sqlite3_stmt *s = db_use(db, SQL_FIND_NAME);
    bool row = false;
    bind_text(s, 1, text);
    if (!db_row(db, SQL_FIND_NAME, &row, err)) {
        return false;
    }
    if (row) {
        *id = column_int(s, 0);
        remember(db, *id, text);
        db_done(db, SQL_FIND_NAME);
    }
    return true;
}

bool name_intern(struct db *db, struct str text, int64_t *id, struct err *err)
{
    const struct name *name = known(db, text);
    if (name != NULL) {
        *id = name->id;
        return true;
    }
    sqlite3_stmt *s = db_use(db, SQL_INSERT_NAME);
    bind_int(s, 1, db->names_last + 1);
    bind_text(s, 2, text);
    if (!db_run(db, SQL_INSERT_NAME, err)) {
        return false;
    }
    *id = db->names_last + 1;
    remember(db, *id, text);
    return true;
}

bool name_text(struct db *db, int64_t id, struct str *out, struct err *err)
{
    if (id > 0 && (size_t)id < db->names_room && db->names[id] != NULL) {
        *out = db->names[id]->text;
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

void names_forget(struct db *db, int64_t last)
{
    for (; db->names_last > last; db->names_last--) {
        struct name *name = db->names[db->names_last];
        map_remove(&db->names_by_text, &name->node);
        mem_free(name);
        db->names[db->names_last] = NULL;
    }
}

void names_fini(struct db *db)
{
    for (size_t id = 0; id < db->names_room; id++) {
        mem_free(db->names[id]);
    }
    mem_free(db->names);
    map_fini(&db->names_by_text);
}
