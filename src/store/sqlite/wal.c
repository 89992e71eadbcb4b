/* store/sqlite/wal.c: a commit goes to the log in one write.
 *
 * SQLite writes its log page by page, and before each page 24 bytes about it: twenty system calls
 * for the ten pages of an ordinary commit. Here they are gathered and written when SQLite syncs the
 * log, which it does before it tells anybody of the new pages (PRAGMA synchronous = FULL), or as
 * soon as something else is asked of the file. A write that fails is then told by the sync, and the
 * commit fails as if it had been told earlier.
 *
 * A layer over SQLite's own file system; all other files go straight through.
 *
 * Thread: each open file belongs to one connection, and so to one thread.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "store/sqlite/db.h"

#define NAME       "errand"
#define PIECE_ROOM (96 * 1024) /* at most: SQLite's own refuses 128 KiB and more at once */

struct layer {
    sqlite3_vfs vfs;
    sqlite3_vfs *below;
};

struct wal {
    sqlite3_file file; /* first: SQLite sees nothing else */
    char *piece;       /* gathered, not written yet; NULL: nobody has written so far */
    int len;
    sqlite3_int64 at;     /* where it belongs */
    sqlite3_file below[]; /* SQLite's own, of a size that only it knows */
};

static struct wal *wal_of(sqlite3_file *file)
{
    return HOLDER(file, struct wal, file);
}

/* What fails is dropped: SQLite rolls back, and writes the same place again with its next commit.
 */
static int flush(struct wal *wal)
{
    int len = wal->len;
    wal->len = 0;
    return len == 0 ? SQLITE_OK
                    : wal->below->pMethods->xWrite(wal->below, wal->piece, len, wal->at);
}

static int on_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    struct wal *wal = wal_of(file);
    bool follows = wal->len > 0 && at == wal->at + wal->len && len <= PIECE_ROOM - wal->len;
    int rc = follows ? SQLITE_OK : flush(wal);
    if (rc != SQLITE_OK || len > PIECE_ROOM) {
        return rc != SQLITE_OK ? rc : wal->below->pMethods->xWrite(wal->below, bytes, len, at);
    }
    wal->piece = wal->piece != NULL ? wal->piece : mem_alloc(PIECE_ROOM);
    wal->at = wal->len == 0 ? at : wal->at;
    memcpy(wal->piece + wal->len, bytes, (size_t)len);
    wal->len += len;
    return SQLITE_OK;
}

static int on_sync(sqlite3_file *file, int flags)
{
    struct wal *wal = wal_of(file);
    int rc = flush(wal);
    return rc != SQLITE_OK ? rc : wal->below->pMethods->xSync(wal->below, flags);
}

static int on_read(sqlite3_file *file, void *out, int len, sqlite3_int64 at)
{
    struct wal *wal = wal_of(file);
    int rc = flush(wal);
    return rc != SQLITE_OK ? rc : wal->below->pMethods->xRead(wal->below, out, len, at);
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct wal *wal = wal_of(file);
    int rc = flush(wal);
    return rc != SQLITE_OK ? rc : wal->below->pMethods->xTruncate(wal->below, size);
}

static int on_size(sqlite3_file *file, sqlite3_int64 *size)
{
    struct wal *wal = wal_of(file);
    int rc = flush(wal);
    return rc != SQLITE_OK ? rc : wal->below->pMethods->xFileSize(wal->below, size);
}

/* What was not synced was never committed. */
static int on_close(sqlite3_file *file)
{
    struct wal *wal = wal_of(file);
    mem_free(wal->piece);
    return wal->below->pMethods->xClose(wal->below);
}

static int on_lock(sqlite3_file *file, int how)
{
    return wal_of(file)->below->pMethods->xLock(wal_of(file)->below, how);
}

static int on_unlock(sqlite3_file *file, int how)
{
    return wal_of(file)->below->pMethods->xUnlock(wal_of(file)->below, how);
}

static int on_is_reserved(sqlite3_file *file, int *out)
{
    return wal_of(file)->below->pMethods->xCheckReservedLock(wal_of(file)->below, out);
}

static int on_control(sqlite3_file *file, int verb, void *arg)
{
    return wal_of(file)->below->pMethods->xFileControl(wal_of(file)->below, verb, arg);
}

static int on_sector_size(sqlite3_file *file)
{
    return wal_of(file)->below->pMethods->xSectorSize(wal_of(file)->below);
}

static int on_characteristics(sqlite3_file *file)
{
    return wal_of(file)->below->pMethods->xDeviceCharacteristics(wal_of(file)->below);
}

static const sqlite3_io_methods methods = {
    .iVersion = 1, /* a log is neither mapped nor shared as memory */
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_sync,
    .xFileSize = on_size,
    .xLock = on_lock,
    .xUnlock = on_unlock,
    .xCheckReservedLock = on_is_reserved,
    .xFileControl = on_control,
    .xSectorSize = on_sector_size,
    .xDeviceCharacteristics = on_characteristics,
};

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *opened)
{
    sqlite3_vfs *below = HOLDER(vfs, struct layer, vfs)->below;
    struct wal *wal = wal_of(file);
    if ((flags & SQLITE_OPEN_WAL) == 0) {
        return below->xOpen(below, name, file, flags, opened);
    }
    *wal = (struct wal){.file = {NULL}};
    int rc = below->xOpen(below, name, wal->below, flags, opened);
    file->pMethods =
        wal->below->pMethods == NULL ? NULL : &methods; /* it is closed if it has any */
    return rc;
}

const char *wal_layer(void)
{
    sqlite3_vfs *below = sqlite3_vfs_find(NULL);
    if (below != NULL && sqlite3_vfs_find(NAME) == NULL) {
        struct layer *layer = mem_new(struct layer); /* SQLite's for as long as the process lives */
        *layer = (struct layer){*below, below};
        layer->vfs.pNext = NULL;
        layer->vfs.zName = NAME;
        layer->vfs.szOsFile = (int)sizeof(struct wal) + below->szOsFile;
        layer->vfs.xOpen = on_open;
        sqlite3_vfs_register(&layer->vfs, 0);
    }
    return NAME;
}
