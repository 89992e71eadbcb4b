/* store/sqlite/migrate.c: brings a file's schema up to date, forwards only.
 *
 * The file says which migrations it has had (user_version) and that it is ours (application_id).
 * All missing ones run in one transaction: a crash leaves the old schema or the new one.
 *
 * Thread: whoever opens the store.
 *
 * SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "store/sqlite/sqlite.h"

#define APPLICATION_ID 0x45727264 /* "Errd" */

static bool read_version(struct db *db, int64_t *version, bool *fresh, struct err *err)
{
    int64_t owner = 0, pages = 0;
    if (!db_pragma(db, "PRAGMA user_version", version, err) ||
        !db_pragma(db, "PRAGMA application_id", &owner, err) ||
        !db_pragma(db, "SELECT count(*) FROM sqlite_schema", &pages, err)) {
        return false;
    }
    *fresh = pages == 0;
    if (!*fresh && owner != APPLICATION_ID) {
        return err_set(err, ERR_INVALID, "the file is a database, but not one of errand's");
    }
    return true;
}

static bool upgrade(struct db *db, int64_t from, struct err *err)
{
    SCOPED(buf_fini) struct buf done = BUF_INIT(128);
    for (int64_t i = from; i < SQL_MIGRATIONS; i++) {
        if (!db_script(db, sql_migrations[i].text, err)) {
            return err_wrap(err, "migrate to %s", sql_migrations[i].name);
        }
    }
    buf_printf(&done, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
               SQL_MIGRATIONS);
    return db_script(db, buf_c_text(&done), err);
}

static bool upgrade_at_once(struct db *db, int64_t from, struct err *err)
{
    if (!db_script(db, "BEGIN IMMEDIATE", err)) {
        return false;
    }
    if (upgrade(db, from, err) && db_script(db, "COMMIT", err)) {
        return true;
    }
    bool undone = db_script(db, "ROLLBACK", NULL);
    (void)undone; /* what failed first is what counts */
    return false;
}

bool migrate(struct db *db, const struct store_options *options, struct err *err)
{
    int64_t version = 0;
    bool fresh = false;
    if (!read_version(db, &version, &fresh, err)) {
        return false;
    }
    if (version > SQL_MIGRATIONS) {
        return err_set(
            err, ERR_INVALID,
            "its schema is version %lld and this errand knows only up to %d: use a newer "
            "errand",
            (long long)version, SQL_MIGRATIONS);
    }
    if (version == SQL_MIGRATIONS) {
        return true;
    }
    bool makes = options->makes_new && fresh;
    if ((options->no_migrate && !makes) || options->read_only) {
        return err_set(err, ERR_INVALID,
                       "its schema is version %lld and this errand needs %d: run `errand migrate`",
                       (long long)version, SQL_MIGRATIONS);
    }
    return upgrade_at_once(db, version, err);
}
