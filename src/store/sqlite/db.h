/* store/sqlite/db.h: one connection to the file, with its prepared statements and known names.
 *
 * Statements are prepared once, when the connection opens, and addressed by number. Names (task
 * types and queues) are interned: rows hold numbers, memory holds the texts.
 *
 * Thread: each connection belongs to one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_SQLITE_DB_H
#define ERRAND_STORE_SQLITE_DB_H

#include <sqlite3.h>

#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "sqlite_sql.h"

struct name; /* an interned text */
struct feed; /* rows for a statement: see feed.h */

struct db {
    sqlite3 *handle;
    sqlite3_stmt *statements[SQL_COUNT];
    struct bound *bound[SQL_COUNT];        /* by parameter: see bind_again() */
    struct feed *feed;                     /* owned */
    struct map names_by_id, names_by_text; /* those met lately */
    int64_t names_last;                    /* the highest id; the writer's only */
    unsigned char *names_used;             /* a bit for each id: see names.c; NULL: no walk */
    int64_t names_marked_to;               /* the highest that has a bit */
};

/* wal.c: the name of SQLite's file system with a log that is written in one piece. For connections
 * that write; they must sync the log at each commit. */
const char *wal_layer(void);

/* ---- Life ---- */

/* `flags` as for sqlite3_open_v2; `script` is run first. Statements come with db_prepare(), after
 * the schema is known to be ours. */
MUST_CHECK bool db_open(struct db *db, const char *path, int flags, const char *script,
                        struct err *err);
MUST_CHECK bool db_add_functions(struct db *db, struct err *err); /* by db_open() */
MUST_CHECK bool db_prepare(struct db *db, struct err *err);
void db_close(struct db *db);

/* ---- Statements ---- */

/* Says what SQLite just said: disk full is ERR_UNAVAILABLE, what cannot be trusted ERR_FATAL.
 * Returns false. */
bool db_fail(struct db *db, const char *doing, struct err *err);

MUST_CHECK bool db_script(struct db *db, const char *script, struct err *err);
MUST_CHECK bool db_pragma(struct db *db, const char *pragma, int64_t *out, struct err *err);

/* Runs a bound statement that gives no rows, and resets it. */
MUST_CHECK bool db_run(struct db *db, enum sql_id id, struct err *err);
/* The same; *changed: did it change a row? */
MUST_CHECK bool db_change(struct db *db, enum sql_id id, bool *changed, struct err *err);
/* Steps a query. At its end *row is false and the statement reset. A failure is not the end: *row
 * stays true, so that a loop over rows may return !row. */
MUST_CHECK bool db_row(struct db *db, enum sql_id id, bool *row, struct err *err);
void db_done(struct db *db, enum sql_id id); /* enough rows seen */

static inline sqlite3_stmt *db_use(struct db *db, enum sql_id id)
{
    return db->statements[id];
}

/* ---- Values: texts are borrowed until the statement has run; absent is NULL ---- */

static inline void bind_text(sqlite3_stmt *s, int at, struct str text)
{
    sqlite3_bind_text(s, at, text.ptr, (int)text.len, SQLITE_STATIC);
}

static inline void bind_bytes(sqlite3_stmt *s, int at, struct str bytes)
{
    sqlite3_bind_blob(s, at, bytes.ptr, (int)bytes.len, SQLITE_STATIC);
}

static inline void bind_int(sqlite3_stmt *s, int at, int64_t value)
{
    sqlite3_bind_int64(s, at, value);
}

/* The rows of a batch are alike, and a statement keeps its values when it is reset: binding only
 * what differs from the row before saves a tenth of a whole life. A parameter bound this way
 * must always be. */
struct bound {
    bool known;
    int64_t value;
};
static inline void bind_again(struct db *db, enum sql_id id, int at, int64_t value)
{
    struct bound *bound = &db->bound[id][at];
    if (!bound->known || bound->value != value) {
        *bound = (struct bound){true, value};
        sqlite3_bind_int64(db->statements[id], at, value);
    }
}

/* Borrowed until the next step. A present empty text is empty, not absent. */
struct str column_str(sqlite3_stmt *s, int at);

static inline int64_t column_int(sqlite3_stmt *s, int at)
{
    return sqlite3_column_int64(s, at);
}

#endif
