/* store/sqlite/open.c: opens the file for this process alone, and closes it.
 *
 * The lock file proves that a former owner is dead: the kernel lets it go with its process. It lies
 * in the folder, not on the database, because closing any descriptor of the database would drop
 * SQLite's own locks on it.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/sqlite/names.h"
#include "store/sqlite/record.h"
#include "store/sqlite/sqlite.h"

#define LOCK_NAME  "errand.lock"
#define PATH_LIMIT (4 * KIB)
#define OWNER_ONLY 0600
#define OTHERS     0077

static void sqlite_close_store(struct store *base)
{
    struct sqlite_store *store = SQLITE_STORE(base);
    if (store->tx.open) {
        sqlite_abandon(&store->tx.tx);
    }
    db_close(&store->db);
    count_change_fini(&store->tx.counts);
    buf_fini(&store->tx.scratch);
    mem_free(store->tx.live.at);
    mem_free(store->tx.done.at);
    counts_fini(&store->counts);
    if (store->lock >= 0) {
        close(store->lock);
    }
    mem_free(store->path);
    mem_free(store);
}

static uint64_t last_id(const struct store *base)
{
    return ((const struct sqlite_store *)base)->last_id;
}

static uint64_t epoch(const struct store *base)
{
    return ((const struct sqlite_store *)base)->epoch;
}

static const struct store_ops ops = {
    .close = sqlite_close_store,
    .last_id = last_id,
    .epoch = epoch,
    .scan_live = sqlite_scan_live,
    .scan_held = sqlite_scan_held,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .abandon = sqlite_abandon,
    .load = sqlite_load,
    .find_keys = sqlite_find_keys,
    .insert = sqlite_insert,
    .save = sqlite_save,
    .kin = sqlite_kin,
    .free_document = sqlite_free_document,
    .remove = sqlite_remove,
    .sweep = sqlite_sweep,
    .select = sqlite_select,
    .tend = sqlite_tend,
    .scan_queues = sqlite_scan_queues,
    .save_queue = sqlite_save_queue,
    .reader_open = sqlite_reader_open,
    .reader_close = sqlite_reader_close,
    .list = sqlite_list,
    .detail = sqlite_detail,
    .counts = sqlite_counts,
    .records_load = sqlite_records_load,
    .records_find = sqlite_records_find,
    .records_save = sqlite_records_save,
    .records_delete = sqlite_records_delete,
    .records_clear = sqlite_records_clear,
    .records_due = sqlite_records_due,
    .records_list = sqlite_records_list,
    .reader_records = sqlite_reader_records,
    .reader_records_count = sqlite_reader_records_count,
    .reader_record = sqlite_reader_record,
    .check = sqlite_check,
    .health = sqlite_health,
    .move = &sqlite_move,
};

bool take_lock(struct sqlite_store *store, struct err *err)
{
    SCOPED(buf_fini) struct buf path = BUF_INIT(2 * PATH_LIMIT);
    SCOPED(mem_free_at) char *copy = mem_text(store->path, strlen(store->path));
    const char *folder = dirname(copy);
    buf_printf(&path, "%s/%s", folder, LOCK_NAME);
    store->lock = open(buf_c_text(&path), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (store->lock < 0) {
        return err_set(err, ERR_UNAVAILABLE, "cannot open %s: %s", buf_c_text(&path),
                       strerror(errno));
    }
    if (flock(store->lock, LOCK_EX | LOCK_NB) != 0) {
        return err_set(err, ERR_UNAVAILABLE, "another errand is using the folder %s", folder);
    }
    return true;
}

/* Others had access so far: not any more. What belongs to somebody else is left as it is. */
static void shut_file(const char *path, const char *end)
{
    SCOPED(buf_fini) struct buf whole = BUF_INIT(2 * PATH_LIMIT);
    struct stat st;
    buf_printf(&whole, "%s%s", path, end);
    const char *name = buf_c_text(&whole);
    if (stat(name, &st) != 0 || (st.st_mode & OTHERS) == 0) {
        return;
    }
    bool done = chmod(name, OWNER_ONLY) == 0;
    log_warn("%s had the mode %04o: %s", name, (unsigned)st.st_mode & 07777,
             done ? "now it is its owner's alone" : strerror(errno));
}

/* The file is its owner's alone, whatever the umask and the folder say; SQLite gives its log and
 * its index the same mode. By path and before SQLite opens it: see above for why. */
static bool make_private(const struct sqlite_store *store, struct err *err)
{
    int fd = open(store->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, OWNER_ONLY);
    if (fd >= 0) {
        bool done = fchmod(fd, OWNER_ONLY) == 0;
        close(fd);
        return done ||
               err_set(err, ERR_UNAVAILABLE, "cannot make %s: %s", store->path, strerror(errno));
    }
    shut_file(store->path, "");
    shut_file(store->path, "-wal");
    shut_file(store->path, "-shm");
    return true; /* what else is wrong SQLite says */
}

static bool open_file(struct sqlite_store *store, const struct store_options *options,
                      struct err *err)
{
    struct db *db = &store->db;
    if (options->read_only) {
        return db_open(db, store->path, SQLITE_OPEN_READONLY, sql_script_reader, err);
    }
    int64_t pages = 0;
    return take_lock(store, err) && make_private(store, err) &&
           db_open(db, store->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "", err) &&
           db_pragma(db, "PRAGMA page_count", &pages, err) &&
           (pages > 0 || db_script(db, sql_script_create, err)) &&
           db_script(db, sql_script_writer, err);
}

/* Called by SQLite after a commit, with the size of the log: tx.c checkpoints by it. */
static int note_wal(void *arg, sqlite3 *handle, const char *name, int pages)
{
    struct sqlite_store *store = arg;
    (void)handle;
    (void)name;
    store->wal_pages = pages;
    return SQLITE_OK;
}

static bool read_meta(struct sqlite_store *store, struct err *err)
{
    struct db *db = &store->db;
    sqlite3_stmt *s = db_use(db, SQL_READ_META);
    bool row = false;
    if (!db_row(db, SQL_READ_META, &row, err)) {
        return false;
    }
    if (!row) {
        return err_set(err, ERR_FATAL, "its table meta is empty");
    }
    store->epoch = (uint64_t)column_int(s, 0);
    store->last_id = (uint64_t)column_int(s, 1);
    store->indexed_k = column_int(s, 2);
    store->dependencies = column_int(s, 3) != 0;
    db_done(db, SQL_READ_META);
    return true;
}

static bool count_lag(struct sqlite_store *store, struct err *err)
{
    struct db *db = &store->db;
    sqlite3_stmt *s = db_use(db, SQL_COUNT_LAG);
    bool row = false;
    bind_int(s, 1, store->indexed_k);
    if (!db_row(db, SQL_COUNT_LAG, &row, err)) {
        return false;
    }
    store->index_lag = row ? (size_t)column_int(s, 0) : 0;
    store->lag_has_labels = store->index_lag > 0;
    db_done(db, SQL_COUNT_LAG);
    return true;
}

static bool open_all(struct sqlite_store *store, const struct store_options *options,
                     struct err *err)
{
    struct db *db = &store->db;
    if (!open_file(store, options, err) || !migrate(db, options, err) || !db_prepare(db, err) ||
        !(options->read_only ||
          (db_run(db, SQL_GROW_EPOCH, err) && db_run(db, SQL_DROP_STRAYS, err))) ||
        !read_meta(store, err) || !names_open(store, err) || !counts_load(store, err) ||
        !count_lag(store, err)) {
        return false;
    }
    sqlite3_wal_hook(db->handle, note_wal, store);
    return true;
}

bool sqlite_store_open(struct str rest, const struct store_options *options, struct store **out,
                       struct err *err)
{
    if (rest.len == 0 || rest.len > PATH_LIMIT || memchr(rest.ptr, '\0', rest.len) != NULL) {
        return err_field(err, "store", "sqlite: needs the path of a file");
    }
    /* SQLite would take a lock for each allocation to count it. Refused, harmlessly, once it runs.
     */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    struct sqlite_store *store = mem_new(struct sqlite_store);
    store->store.ops = &ops;
    store->lock = -1;
    store->path = mem_text(rest.ptr, rest.len);
    store->tx.scratch = BUF_INIT(ROW_REST_MAX);
    counts_init(&store->counts);
    store->counts.folds = true;
    if (!open_all(store, options, err)) {
        sqlite_close_store(&store->store);
        return err_wrap(err, STR_FMT, STR_ARG(rest));
    }
    *out = &store->store;
    return true;
}
