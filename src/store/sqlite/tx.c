/* store/sqlite/tx.c: one transaction for a batch, on disk when its commit returns.
 *
 * What a transaction changes in memory (counts, names, watermarks) becomes visible after the commit
 * and is forgotten after a rollback. Checkpoints run here, inline, where a failed fsync is seen:
 * SQLite's own would hide it, and a second fsync of the same pages may lie.
 *
 * Thread: engine. Keeps: G1, rule 5.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/sqlite/facet.h"
#include "store/sqlite/names.h"
#include "store/sqlite/sqlite.h"

bool sqlite_begin(struct store *base, struct tx **out, struct err *err)
{
    struct sqlite_store *store = SQLITE_STORE(base);
    struct sqlite_tx *tx = &store->tx;
    assert(!tx->open); /* one at a time */
    if (store->broken) {
        return err_set(err, ERR_FATAL, "begin: the store failed before and cannot be trusted");
    }
    if (store->lock < 0) {
        return err_set(err, ERR_INTERNAL, "begin: the store was opened for reading only");
    }
    if (!counts_live(store, err) || !db_run(&store->db, SQL_BEGIN, err)) {
        return err_wrap(err, "begin");
    }
    tx->tx.ops = store->store.ops;
    tx->store = store;
    tx->open = true;
    tx->last_id = store->last_id;
    tx->indexed_k = store->indexed_k;
    tx->inserted = tx->indexed = 0;
    tx->labels = tx->adopts = false;
    names_trim(&store->db);
    tx->names_last = store->db.names_last;
    *out = &tx->tx;
    return true;
}

void sqlite_abandon(struct tx *base)
{
    struct sqlite_tx *tx = SQLITE_TX(base);
    struct sqlite_store *store = tx->store;
    struct err err = ERR_INIT;
    tx->open = false;
    counts_abandon(&store->counts, &tx->counts);
    names_undo(&store->db, tx->names_last);
    /* A full disk may have rolled back already. */
    if (sqlite3_get_autocommit(store->db.handle) == 0 && !db_run(&store->db, SQL_ROLLBACK, &err)) {
        log_error("store: %s", err.text);
        store->broken = true;
    }
}

/* Everything is in the transaction: makes it durable. */
static bool finish(struct sqlite_tx *tx, struct err *err)
{
    struct sqlite_store *store = tx->store;
    if (sqlite3_get_autocommit(store->db.handle) != 0) {
        return err_set(err, ERR_UNAVAILABLE, "the transaction was lost by an earlier failure");
    }
    int64_t began_us = clock_real_mono_us();
    if (!db_run(&store->db, SQL_COMMIT, err)) {
        return false;
    }
    store->commits++;
    store->commit_us_sum += clock_real_mono_us() - began_us;
    return true;
}

static void apply(struct sqlite_tx *tx)
{
    struct sqlite_store *store = tx->store;
    size_t lag = store->index_lag + tx->inserted;
    counts_apply(&store->counts, &tx->counts);
    store->last_id = tx->last_id;
    store->names.count += store->db.names_last - tx->names_last;
    store->indexed_k = tx->indexed_k;
    store->index_lag = lag - MIN(lag, tx->indexed);
    store->lag_has_labels = store->index_lag > 0 && (store->lag_has_labels || tx->labels);
    tx->open = false;
}

/* The commit itself has succeeded; only an error that leaves the file in doubt is an error. */
static bool checkpoint(struct sqlite_store *store, struct err *err)
{
    if (store->wal_pages < CHECKPOINT_PAGES) {
        return true;
    }
    struct err why = ERR_INIT;
    int rc =
        sqlite3_wal_checkpoint_v2(store->db.handle, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (rc == SQLITE_OK || rc == SQLITE_BUSY) {
        return true;
    }
    db_fail(&store->db, "checkpoint", &why);
    if (why.kind == ERR_FATAL) {
        store->broken = true;
        return err_set(err, ERR_FATAL, "%s", why.text);
    }
    log_warn("store: %s", why.text);
    return true;
}

bool sqlite_commit(struct tx *base, struct err *err)
{
    struct sqlite_tx *tx = SQLITE_TX(base);
    struct sqlite_store *store = tx->store;
    struct err why = ERR_INIT;
    bool lagging = store->index_lag + tx->inserted > INDEX_LAG_MAX;
    bool ok = (!lagging || facet_move_index(tx, INDEX_SLICE, &why)) && counts_save(tx, &why) &&
              finish(tx, &why);
    if (!ok) {
        store->broken |= why.kind == ERR_FATAL;
        sqlite_abandon(base);
        return err_set(err, why.kind, "commit: %s", why.text);
    }
    apply(tx);
    return checkpoint(store, err);
}

static int64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

void sqlite_health(const struct store *base, struct store_health *out)
{
    const struct sqlite_store *store = (const struct sqlite_store *)base;
    SCOPED(buf_fini) struct buf wal = BUF_INIT(8 * KIB);
    buf_printf(&wal, "%s-wal", store->path);
    *out = (struct store_health){.wal_bytes = size_of(buf_c_text(&wal)),
                                 .file_bytes = size_of(store->path),
                                 .commits = store->commits,
                                 .commit_us_sum = store->commit_us_sum};
}
