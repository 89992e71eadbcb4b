/* store/sqlite/db.c: opens a connection, runs statements, and says what went wrong. See db.h.
 *
 * SPDX-License-Identifier: MIT */
#include "store/sqlite/db.h"

#include <errno.h>

#include "base/mem.h"
#include "store/sqlite/feed.h"
#include "store/sqlite/names.h"

/* We are the only writer, so nobody is ever waited for long; a doctor may meet us while we open. */
#define BUSY_MS 5000

bool db_open(struct db *db, const char *path, int flags, const char *script, struct err *err)
{
    *db = (struct db){.names_by_text = MAP_INIT, .names_by_id = MAP_INIT};
    const char *layer = (flags & SQLITE_OPEN_READWRITE) != 0 ? wal_layer() : NULL;
    int rc = sqlite3_open_v2(path, &db->handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                             layer);
    if (rc != SQLITE_OK) {
        return db_fail(db, path, err);
    }
    sqlite3_busy_timeout(db->handle, BUSY_MS);
    return (db_add_functions(db, err) && feed_open(db, err) && db_script(db, script, err)) ||
           err_wrap(err, "%s", path);
}

bool db_prepare(struct db *db, struct err *err)
{
    for (size_t i = 0; i < SQL_COUNT; i++) {
        int rc = sqlite3_prepare_v3(db->handle, sql_statements[i].text, -1,
                                    SQLITE_PREPARE_PERSISTENT, &db->statements[i], NULL);
        if (rc != SQLITE_OK) {
            return db_fail(db, sql_statements[i].name, err);
        }
        size_t parameters = (size_t)sqlite3_bind_parameter_count(db->statements[i]);
        db->bound[i] = mem_zero((parameters + 1) * sizeof *db->bound[i]); /* they count from 1 */
    }
    return true;
}

void db_close(struct db *db)
{
    for (size_t i = 0; i < SQL_COUNT; i++) {
        sqlite3_finalize(db->statements[i]);
        mem_free(db->bound[i]);
    }
    sqlite3_close(db->handle);
    feed_close(db);
    names_fini(db);
    *db = (struct db){0};
}

/* What the kernel last said about the file or its log. SQLite itself keeps it for some failures
 * only, and not for those of a commit. */
static int last_errno(struct db *db, int which)
{
    sqlite3_file *file = NULL;
    int said = 0;
    sqlite3_file_control(db->handle, "main", which, &file);
    if (file != NULL && file->pMethods != NULL) {
        file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &said);
    }
    return said;
}

static bool means_no_room(int os)
{
    return os == ENOSPC || os == EDQUOT || os == EFBIG;
}

/* No room is a state of the machine that passes: nothing happened, and later it may work. A failed
 * fsync is not: what it left behind is unknown. */
static bool is_no_room(struct db *db, int rc)
{
    if ((rc & 0xff) == SQLITE_FULL) {
        return true;
    }
    bool writing =
        rc == SQLITE_IOERR_WRITE || rc == SQLITE_IOERR_TRUNCATE || rc == SQLITE_IOERR_SHMSIZE;
    return writing && (means_no_room(sqlite3_system_errno(db->handle)) ||
                       means_no_room(last_errno(db, SQLITE_FCNTL_JOURNAL_POINTER)) ||
                       means_no_room(last_errno(db, SQLITE_FCNTL_FILE_POINTER)));
}

static enum err_kind kind_of(struct db *db, int rc)
{
    if (is_no_room(db, rc)) {
        return ERR_UNAVAILABLE;
    }
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
        return ERR_UNAVAILABLE;
    case SQLITE_IOERR:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_PROTOCOL:
    case SQLITE_NOMEM:
        return ERR_FATAL;
    default:
        return ERR_INTERNAL;
    }
}

bool db_fail(struct db *db, const char *doing, struct err *err)
{
    int rc = db->handle == NULL ? SQLITE_NOMEM : sqlite3_extended_errcode(db->handle);
    const char *why = db->handle == NULL ? "out of memory" : sqlite3_errmsg(db->handle);
    return err_set(err, kind_of(db, rc), "%s: %s (SQLite %d)", doing, why, rc);
}

bool db_script(struct db *db, const char *script, struct err *err)
{
    return sqlite3_exec(db->handle, script, NULL, NULL, NULL) == SQLITE_OK ||
           db_fail(db, "run a script", err);
}

bool db_pragma(struct db *db, const char *pragma, int64_t *out, struct err *err)
{
    sqlite3_stmt *s = NULL;
    bool ok = sqlite3_prepare_v2(db->handle, pragma, -1, &s, NULL) == SQLITE_OK &&
              sqlite3_step(s) == SQLITE_ROW;
    if (ok) {
        *out = sqlite3_column_int64(s, 0);
    } else {
        db_fail(db, pragma, err);
    }
    sqlite3_finalize(s);
    return ok;
}

bool db_run(struct db *db, enum sql_id id, struct err *err)
{
    int rc = sqlite3_step(db->statements[id]);
    bool ok = rc == SQLITE_DONE || rc == SQLITE_ROW || db_fail(db, sql_statements[id].name, err);
    sqlite3_reset(db->statements[id]);
    return ok;
}

bool db_change(struct db *db, enum sql_id id, bool *changed, struct err *err)
{
    if (!db_run(db, id, err)) {
        return false;
    }
    *changed = sqlite3_changes(db->handle) > 0;
    return true;
}

bool db_row(struct db *db, enum sql_id id, bool *row, struct err *err)
{
    int rc = sqlite3_step(db->statements[id]);
    *row = rc != SQLITE_DONE;
    if (rc == SQLITE_ROW) {
        return true;
    }
    bool ok = rc == SQLITE_DONE || db_fail(db, sql_statements[id].name, err);
    sqlite3_reset(db->statements[id]);
    return ok;
}

void db_done(struct db *db, enum sql_id id)
{
    sqlite3_reset(db->statements[id]);
}

struct str column_str(sqlite3_stmt *s, int at)
{
    if (sqlite3_column_type(s, at) == SQLITE_NULL) {
        return STR_NONE;
    }
    const void *ptr = sqlite3_column_blob(s, at);
    return (struct str){ptr == NULL ? "" : ptr, (size_t)sqlite3_column_bytes(s, at)};
}
