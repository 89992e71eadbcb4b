/* store/sqlite/record.c: records, which are found by a few columns and otherwise left alone.
 *
 * An id is bound as its 16 bytes, most significant first, so that SQLite orders them as we do. The
 * lists answer every filter, each along another index: which one is taken changes only how long it
 * takes.
 *
 * Thread: the connection's.
 *
 * SPDX-License-Identifier: MIT */
#include "store/sqlite/record.h"

#include "base/array.h"
#include "store/sqlite/sqlite.h"

#define ID_BYTES 16

/* ---- Columns ---- */

struct id_bytes {
    unsigned char at[ID_BYTES + 1]; /* one more: greater than every id */
};

static struct id_bytes pack_id(struct task_id id)
{
    struct id_bytes bytes = {{0}};
    for (size_t i = 0; i < 8; i++) {
        bytes.at[i] = (unsigned char)(id.hi >> (56 - 8 * i));
        bytes.at[8 + i] = (unsigned char)(id.lo >> (56 - 8 * i));
    }
    return bytes;
}

/* Borrowed until the statement has run; TASK_ID_NONE is NULL. */
static void bind_id(sqlite3_stmt *s, int at, const struct id_bytes *bytes)
{
    static const struct id_bytes none = {{0}};
    bool absent = memcmp(bytes, &none, sizeof none) == 0;
    bind_bytes(s, at, absent ? STR_NONE : (struct str){(const char *)bytes->at, ID_BYTES});
}

static struct task_id column_packed(sqlite3_stmt *s, int at)
{
    struct str bytes = column_str(s, at);
    struct task_id id = TASK_ID_NONE;
    for (size_t i = 0; bytes.len == ID_BYTES && i < 8; i++) {
        id.hi = id.hi << 8 | (unsigned char)bytes.ptr[i];
        id.lo = id.lo << 8 | (unsigned char)bytes.ptr[8 + i];
    }
    return id;
}

#define READ_PACKED column_packed(s, at++)
#define READ_TEXT   arena_str(arena, column_str(s, at++))
#define READ_BYTES  READ_TEXT
#define READ_TIME   column_int(s, at++)
#define READ_I64    column_int(s, at++)
#define READ_I32    (int32_t) column_int(s, at++)

/* Its id and @record. */
static void read_record(sqlite3_stmt *s, enum record_kind kind, struct arena *arena,
                        struct record *out)
{
    int at = 0;
    *out = (struct record){.kind = kind, .id = column_packed(s, at++)};
#define FIELD(part, kind, column, member) out->member = READ_##kind;
#include "store/record.def"
}

/* ---- One by one ---- */

static bool load_record(struct db *db, enum record_kind kind, struct task_id id,
                        struct arena *arena, bool *found, struct record *out, struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_LOAD_RECORD);
    struct id_bytes bytes = pack_id(id);
    bind_int(s, 1, kind);
    bind_id(s, 2, &bytes);
    if (!db_row(db, SQL_LOAD_RECORD, found, err)) {
        return err_wrap(err, "load a record");
    }
    if (*found) {
        read_record(s, kind, arena, out);
        db_done(db, SQL_LOAD_RECORD);
    }
    return true;
}

bool record_owned(struct db *db, enum record_kind kind, struct task_id id, struct str owner,
                  bool *out, struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_FIND_OWNED);
    struct id_bytes bytes = pack_id(id);
    bind_int(s, 1, kind);
    bind_id(s, 2, &bytes);
    bind_text(s, 3, owner);
    if (!db_row(db, SQL_FIND_OWNED, out, err)) {
        return err_wrap(err, "look for an owner");
    }
    if (*out) {
        db_done(db, SQL_FIND_OWNED);
    }
    return true;
}

bool sqlite_records_load(struct tx *tx, struct record_load *loads, size_t n, struct arena *arena,
                         struct err *err)
{
    struct db *db = &SQLITE_TX(tx)->store->db;
    for (size_t i = 0; i < n; i++) {
        struct record_load *load = &loads[i];
        if (!load_record(db, load->kind, load->id, arena, &load->found, &load->record, err)) {
            return false;
        }
    }
    return true;
}

bool sqlite_reader_record(struct reader *reader, enum record_kind kind, struct task_id id,
                          struct arena *arena, bool *found, struct record *out, struct err *err)
{
    return load_record(&((struct sqlite_reader *)reader)->db, kind, id, arena, found, out, err);
}

bool sqlite_records_find(struct tx *tx, enum record_kind kind, const struct str *keys, size_t n,
                         struct task_id *out, struct err *err)
{
    struct db *db = &SQLITE_TX(tx)->store->db;
    sqlite3_stmt *s = db_use(db, SQL_FIND_RECORD);
    bind_int(s, 1, kind);
    for (size_t i = 0; i < n; i++) {
        bool row = false;
        bind_text(s, 2, keys[i]);
        if (!db_row(db, SQL_FIND_RECORD, &row, err)) {
            return err_wrap(err, "find a record");
        }
        out[i] = row ? column_packed(s, 0) : TASK_ID_NONE;
        db_done(db, SQL_FIND_RECORD);
    }
    return true;
}

/* ---- Changes ---- */

/* The statements name their parameters in orders of their own. */
static int place(sqlite3_stmt *s, const char *name)
{
    return sqlite3_bind_parameter_index(s, name);
}

#define BIND_PACKED(s, at, value) bind_id(s, at, &parent) /* there is but one */
#define BIND_TEXT                 bind_text
#define BIND_BYTES                bind_bytes
#define BIND_TIME                 bind_int
#define BIND_I64                  bind_int
#define BIND_I32                  bind_int

static bool write_record(struct db *db, enum sql_id id, const struct record *record, bool *applied,
                         struct err *err)
{
    sqlite3_stmt *s = db_use(db, id);
    struct id_bytes own = pack_id(record->id), parent = pack_id(record->parent);
    bind_int(s, place(s, ":kind"), record->kind);
    bind_id(s, place(s, ":id"), &own);
#define FIELD(part, kind, column, member) BIND_##kind(s, place(s, ":" #column), record->member);
#include "store/record.def"
    return db_change(db, id, applied, err);
}

bool sqlite_records_save(struct tx *tx, struct record_save *saves, size_t n, struct err *err)
{
    struct db *db = &SQLITE_TX(tx)->store->db;
    for (size_t i = 0; i < n; i++) {
        const struct record *record = saves[i].record;
        bool *applied = &saves[i].applied, fresh = record->version == 0;
        enum sql_id first = fresh ? SQL_INSERT_RECORD : SQL_TOUCH_RECORD;
        if (!write_record(db, first, record, applied, err) ||
            (!fresh && !*applied && !write_record(db, SQL_UPDATE_RECORD, record, applied, err))) {
            return err_wrap(err, "save a record");
        }
    }
    return true;
}

static bool run_on(struct db *db, enum sql_id query, enum record_kind kind, struct task_id id,
                   struct err *err)
{
    struct id_bytes bytes = pack_id(id);
    bind_int(db_use(db, query), 1, kind);
    bind_id(db_use(db, query), 2, &bytes);
    return db_run(db, query, err);
}

bool sqlite_records_delete(struct tx *tx, enum record_kind kind, const struct task_id *ids,
                           size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!run_on(&SQLITE_TX(tx)->store->db, SQL_DELETE_RECORD, kind, ids[i], err)) {
            return err_wrap(err, "delete a record");
        }
    }
    return true;
}

bool sqlite_records_clear(struct tx *tx, enum record_kind kind, struct task_id parent,
                          struct err *err)
{
    return run_on(&SQLITE_TX(tx)->store->db, SQL_CLEAR_RECORDS, kind, parent, err) ||
           err_wrap(err, "clear records");
}

/* ---- Lists ---- */

/* Reads on while rows are due; the first one that stays out tells when to come back. */
bool sqlite_records_due(struct tx *tx, enum record_kind kind, int64_t until_ms, size_t most,
                        struct arena *arena, struct records *out, int64_t *next_ms, struct err *err)
{
    struct db *db = &SQLITE_TX(tx)->store->db;
    sqlite3_stmt *s = db_use(db, SQL_LIST_DUE);
    bool row = true;
    *out = (struct records){0};
    *next_ms = INT64_MAX;
    bind_int(s, 1, kind);
    bind_int(s, 2, (int64_t)MIN(most, (size_t)INT32_MAX) + 1);
    while (db_row(db, SQL_LIST_DUE, &row, err) && row) {
        int64_t due_ms = column_int(s, 1 + SQL_RECORD_COLUMNS); /* behind the record */
        if (out->count == most || due_ms > until_ms) {
            *next_ms = due_ms;
            out->more = due_ms <= until_ms;
            db_done(db, SQL_LIST_DUE);
            return true;
        }
        read_record(s, kind, arena, ARENA_PUSH(arena, out->at, out->count));
    }
    return !row || err_wrap(err, "list due records");
}

static enum sql_id list_along(const struct record_filter *filter)
{
    if (!id_none(filter->parent)) {
        return filter->oldest_first ? SQL_LIST_FAMILY_OLDEST : SQL_LIST_FAMILY_NEWEST;
    }
    if (!str_absent(filter->owner)) {
        return filter->oldest_first ? SQL_LIST_OWNED_OLDEST : SQL_LIST_OWNED_NEWEST;
    }
    return filter->oldest_first ? SQL_LIST_RECORDS_OLDEST : SQL_LIST_RECORDS_NEWEST;
}

/* The ids to keep between: behind `after`, or behind nothing; before `before`, or whatever comes.
 */
struct bounds {
    struct id_bytes parent, after, before;
};

static void bind_filter(sqlite3_stmt *s, const struct record_filter *filter, struct bounds *bounds)
{
    bool last = id_none(filter->before);
    bool any_time = filter->at_from_ms == 0 && filter->at_before_ms == 0;
    *bounds =
        (struct bounds){pack_id(filter->parent), pack_id(filter->after),
                        pack_id(last ? (struct task_id){UINT64_MAX, UINT64_MAX} : filter->before)};
    bind_int(s, 1, filter->kind);
    bind_id(s, 2, &bounds->parent);
    bind_text(s, 3, filter->owner);
    bind_bytes(s, 4,
               (struct str){(const char *)bounds->after.at,
                            id_none(filter->after) ? 0 : (size_t)ID_BYTES});
    bind_bytes(s, 5, (struct str){(const char *)bounds->before.at, ID_BYTES + (size_t)last});
    bind_int(s, 6, filter->marks);
    /* A range of times leaves out the records that have none. */
    bind_int(s, 7, any_time ? INT64_MIN : MAX(filter->at_from_ms, 1));
    bind_int(s, 8, filter->at_before_ms == 0 ? INT64_MAX : filter->at_before_ms);
    bind_int(s, 9, filter->limit == 0 ? -1 : (int64_t)MIN(filter->limit, INT32_MAX) + 1);
}

static bool list_records(struct db *db, const struct record_filter *filter, struct arena *arena,
                         struct records *out, struct err *err)
{
    enum sql_id query = list_along(filter);
    sqlite3_stmt *s = db_use(db, query);
    struct bounds bounds;
    bool row = true;
    *out = (struct records){0};
    bind_filter(s, filter, &bounds);
    while (db_row(db, query, &row, err) && row) {
        if (filter->limit > 0 && out->count == filter->limit) {
            out->more = true;
            db_done(db, query);
            return true;
        }
        read_record(s, filter->kind, arena, ARENA_PUSH(arena, out->at, out->count));
    }
    return !row || err_wrap(err, "list records");
}

bool sqlite_records_list(struct tx *tx, const struct record_filter *filter, struct arena *arena,
                         struct records *out, struct err *err)
{
    return list_records(&SQLITE_TX(tx)->store->db, filter, arena, out, err);
}

bool sqlite_reader_records(struct reader *reader, const struct record_filter *filter,
                           struct arena *arena, struct records *out, struct err *err)
{
    return list_records(&((struct sqlite_reader *)reader)->db, filter, arena, out, err);
}

bool sqlite_reader_records_count(struct reader *reader, enum record_kind kind, uint32_t marks,
                                 int64_t *out, struct err *err)
{
    struct db *db = &((struct sqlite_reader *)reader)->db;
    sqlite3_stmt *s = db_use(db, SQL_COUNT_RECORDS);
    bool row = false;
    bind_int(s, 1, kind);
    bind_int(s, 2, marks);
    if (!db_row(db, SQL_COUNT_RECORDS, &row, err)) {
        return err_wrap(err, "count records");
    }
    *out = row ? sqlite3_column_int64(s, 0) : 0;
    db_done(db, SQL_COUNT_RECORDS);
    return true;
}
