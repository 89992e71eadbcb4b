/* store/sqlite/backup.c: a data folder in one file, and back. See store/backup.h.
 *
 * SPDX-License-Identifier: MIT */
#include "store/backup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

#define OWNER_ONLY   0600
#define OWNER_FOLDER 0700
#define NAME_MOST    (4 * KIB)   /* of a file below the folder */
#define PIECE        (256 * KIB) /* of a file in one row */
#define CALM_TRIES   100         /* a file that changes while it is read is read again */
#define BUSY_MS      5000
#define LOCK_NAME    "errand.lock"

#define MAKE_TABLES                                                                                \
    "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL;"                                     \
    "CREATE TABLE backup_file (name TEXT NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL,"    \
    " PRIMARY KEY (name, part)) WITHOUT ROWID"
#define ADD_PIECE   "INSERT INTO backup_file (name, part, bytes) VALUES (?, ?, ?)"
#define DROP_FILE   "DELETE FROM backup_file WHERE name = ?"
#define READ_PIECES "SELECT name, part, bytes FROM backup_file ORDER BY name, part"
#define COUNT_FILES "SELECT count(DISTINCT name) FROM backup_file"
#define DROP_TABLES "DROP TABLE backup_file; PRAGMA journal_mode = WAL"

static bool fails(struct err *err, const char *doing, const char *path)
{
    enum err_kind kind = errno == ENOSPC ? ERR_UNAVAILABLE : ERR_INVALID;
    return err_set(err, kind, "cannot %s %s: %s", doing, path, strerror(errno));
}

static bool sql_fails(struct err *err, sqlite3 *db, const char *path)
{
    return err_set(err, ERR_UNAVAILABLE, "%s: %s", path,
                   db == NULL ? "no memory" : sqlite3_errmsg(db));
}

static void close_at(sqlite3 **db)
{
    sqlite3_close_v2(*db);
}

static void finalize_at(sqlite3_stmt **statement)
{
    sqlite3_finalize(*statement);
}

static bool open_db(const char *path, int flags, sqlite3 **db, struct err *err)
{
    if (sqlite3_open_v2(path, db, flags, NULL) != SQLITE_OK) {
        return sql_fails(err, *db, path);
    }
    sqlite3_busy_timeout(*db, BUSY_MS);
    return true;
}

/* Moves what is finished to its place, and both to the disk. */
static bool put_in_place(const char *made, const char *place, struct err *err)
{
    SCOPED(buf_fini) struct buf folder = BUF_INIT(NAME_MOST);
    const char *slash = strrchr(place, '/');
    buf_str(&folder, slash == NULL ? STR(".") : (struct str){place, (size_t)MAX(slash - place, 1)});
    int file = open(made, O_RDONLY | O_CLOEXEC);
    bool ok = file >= 0 && fsync(file) == 0;
    if (file >= 0) {
        close(file);
    }
    if (!ok || rename(made, place) != 0) {
        return fails(err, "finish", place);
    }
    int above = open(buf_c_text(&folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ok = above >= 0 && fsync(above) == 0;
    if (above >= 0) {
        close(above);
    }
    return ok || fails(err, "sync", buf_c_text(&folder));
}

/* Makes `to`, its owner's alone, with all pages of `from`: in one step, so in one read transaction.
 * The connection to it stays open, whatever the answer. */
static bool copy_pages(const char *from, const char *to, sqlite3 **out, struct err *err)
{
    SCOPED(close_at) sqlite3 *source = NULL;
    int fd = open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, OWNER_ONLY);
    if (fd < 0) {
        return fails(err, "make", to);
    }
    close(fd);
    if (!open_db(from, SQLITE_OPEN_READONLY, &source, err) ||
        !open_db(to, SQLITE_OPEN_READWRITE, out, err)) {
        return false;
    }
    sqlite3_backup *copy = sqlite3_backup_init(*out, "main", source, "main");
    if (copy == NULL) {
        return sql_fails(err, *out, to);
    }
    int stepped = sqlite3_backup_step(copy, -1);
    int code = sqlite3_backup_finish(copy);
    return (stepped == SQLITE_DONE && code == SQLITE_OK) ||
           sql_fails(err, code == SQLITE_OK ? source : *out, to);
}

/* ---- Into one file ---- */

struct writing {
    sqlite3 *db;
    sqlite3_stmt *add, *drop;
    const char *folder;
    struct backup_told *told;
};

static bool add_piece(struct writing *writing, const char *name, int64_t part, struct str bytes,
                      struct err *err)
{
    sqlite3_bind_text(writing->add, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(writing->add, 2, part);
    sqlite3_bind_blob(writing->add, 3, bytes.len == 0 ? "" : bytes.ptr, (int)bytes.len,
                      SQLITE_STATIC);
    bool ok = sqlite3_step(writing->add) == SQLITE_DONE;
    sqlite3_reset(writing->add);
    return ok || sql_fails(err, writing->db, name);
}

static bool copy_pieces(struct writing *writing, int fd, const char *name, struct err *err)
{
    SCOPED(buf_fini) struct buf piece = BUF_INIT(PIECE);
    int64_t part = 0;
    for (ssize_t got = 1; got > 0; part++) {
        buf_clear(&piece);
        char *room = buf_room(&piece, PIECE);
        got = room == NULL ? -1 : pread(fd, room, PIECE, (off_t)(part * (int64_t)PIECE));
        if (got < 0) {
            return fails(err, "read", name);
        }
        buf_used(&piece, (size_t)got);
        if ((got > 0 || part == 0) && !add_piece(writing, name, part, buf_view(&piece), err)) {
            return false;
        }
    }
    return true;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ino == b->st_ino;
}

/* A file that somebody writes meanwhile is read again, until it stood still. */
static bool add_file(struct writing *writing, const char *path, const char *name, struct err *err)
{
    bool calm = false, ok = true;
    for (int tries = 0; ok && !calm && tries < CALM_TRIES; tries++) {
        struct stat before, after;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 && errno == ENOENT) {
            return true;
        }
        sqlite3_bind_text(writing->drop, 1, name, -1, SQLITE_STATIC);
        ok = fd >= 0 && fstat(fd, &before) == 0
                 ? sqlite3_step(writing->drop) == SQLITE_DONE || sql_fails(err, writing->db, name)
                 : fails(err, "read", path);
        sqlite3_reset(writing->drop);
        ok = ok && copy_pieces(writing, fd, name, err);
        calm = ok && stat(path, &after) == 0 && same_file(&before, &after);
        if (fd >= 0) {
            close(fd);
        }
    }
    writing->told->files++;
    return ok &&
           (calm || err_set(err, ERR_UNAVAILABLE, "%s does not stand still; try again", path));
}

static bool add_tree(struct writing *writing, const char *name, struct err *err)
{
    SCOPED(buf_fini) struct buf path = BUF_INIT(2 * NAME_MOST);
    struct stat found;
    buf_printf(&path, "%s/%s", writing->folder, name);
    if (lstat(buf_c_text(&path), &found) != 0) {
        return errno == ENOENT || fails(err, "read", buf_c_text(&path));
    }
    if (!S_ISDIR(found.st_mode)) {
        return S_ISREG(found.st_mode) ? add_file(writing, buf_c_text(&path), name, err) : true;
    }
    DIR *folder = opendir(buf_c_text(&path));
    bool ok = folder != NULL || fails(err, "read", buf_c_text(&path));
    for (struct dirent *entry; ok && (entry = readdir(folder)) != NULL;) {
        SCOPED(buf_fini) struct buf below = BUF_INIT(NAME_MOST);
        buf_printf(&below, "%s/%s", name, entry->d_name);
        ok = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
             add_tree(writing, buf_c_text(&below), err);
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return ok;
}

static bool add_files(struct writing *writing, const char *const *names, const char *to,
                      struct err *err)
{
    bool ok = (sqlite3_prepare_v2(writing->db, ADD_PIECE, -1, &writing->add, NULL) == SQLITE_OK &&
               sqlite3_prepare_v2(writing->db, DROP_FILE, -1, &writing->drop, NULL) == SQLITE_OK &&
               sqlite3_exec(writing->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK) ||
              sql_fails(err, writing->db, to);
    for (; ok && *names != NULL; names++) {
        ok = add_tree(writing, *names, err);
    }
    sqlite3_finalize(writing->add);
    sqlite3_finalize(writing->drop);
    return ok && (sqlite3_exec(writing->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ||
                  sql_fails(err, writing->db, to));
}

bool backup_write(const char *database, const char *folder, const char *const *names,
                  const char *to, struct backup_told *told, struct err *err)
{
    SCOPED(buf_fini) struct buf part = BUF_INIT(2 * NAME_MOST);
    struct stat found;
    *told = (struct backup_told){0};
    if (lstat(to, &found) == 0) {
        return err_set(err, ERR_INVALID, "%s is there already; name a new file", to);
    }
    if (access(database, R_OK) != 0) {
        return fails(err, "read", database);
    }
    buf_printf(&part, "%s.part", to);
    const char *path = buf_c_text(&part);
    unlink(path); /* of a backup that was interrupted */
    struct writing writing = {.folder = folder, .told = told};
    bool ok = copy_pages(database, path, &writing.db, err) &&
              (sqlite3_exec(writing.db, MAKE_TABLES, NULL, NULL, NULL) == SQLITE_OK ||
               sql_fails(err, writing.db, path)) &&
              add_files(&writing, names, to, err);
    sqlite3_close_v2(writing.db);
    if (!ok || stat(path, &found) != 0 || !put_in_place(path, to, err)) {
        unlink(path);
        return ok ? fails(err, "finish", to) : false;
    }
    told->bytes = found.st_size;
    return true;
}

/* ---- And back ---- */

bool backup_look(const char *path, struct backup_told *told, struct err *err)
{
    SCOPED(close_at) sqlite3 *db = NULL;
    SCOPED(finalize_at) sqlite3_stmt *count = NULL;
    struct stat found;
    if (stat(path, &found) != 0) {
        return fails(err, "read", path);
    }
    if (!open_db(path, SQLITE_OPEN_READONLY, &db, err)) {
        return false;
    }
    if (sqlite3_prepare_v2(db, COUNT_FILES, -1, &count, NULL) != SQLITE_OK ||
        sqlite3_step(count) != SQLITE_ROW) {
        return err_set(err, ERR_INVALID, "%s is not a backup of errand: %s", path,
                       sqlite3_errmsg(db));
    }
    *told = (struct backup_told){.bytes = found.st_size,
                                 .files = (size_t)sqlite3_column_int64(count, 0)};
    return true;
}

/* Only names that a backup gives: below the folder, no way up. */
static bool is_safe(const char *name)
{
    struct str rest = str_of(name);
    if (rest.len == 0 || rest.len >= NAME_MOST || name[0] == '/' || str_is(rest, BACKUP_DATABASE)) {
        return false;
    }
    while (!str_absent(rest)) {
        struct str step = str_cut(&rest, '/');
        if (step.len == 0 || str_is(step, ".") || str_is(step, "..")) {
            return false;
        }
    }
    return true;
}

static bool make_folders(char *path, size_t from, struct err *err)
{
    for (char *slash = strchr(path + from, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool ok = mkdir(path, OWNER_FOLDER) == 0 || errno == EEXIST;
        ok = ok || fails(err, "make", path);
        *slash = '/';
        if (!ok) {
            return false;
        }
    }
    return true;
}

static bool append_piece(const char *folder, sqlite3_stmt *row, struct err *err)
{
    SCOPED(buf_fini) struct buf path = BUF_INIT(2 * NAME_MOST);
    const char *name = (const char *)sqlite3_column_text(row, 0);
    if (name == NULL || !is_safe(name)) {
        return err_set(err, ERR_INVALID, "the backup holds a file of a name that it must not have");
    }
    buf_printf(&path, "%s/%s", folder, name);
    if (!make_folders((char *)buf_c_text(&path), strlen(folder) + 1, err)) {
        return false;
    }
    int flags = sqlite3_column_int64(row, 1) == 0 ? O_EXCL | O_CREAT : 0;
    int fd =
        open(buf_c_text(&path), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, OWNER_ONLY);
    const char *bytes = sqlite3_column_blob(row, 2);
    size_t len = (size_t)sqlite3_column_bytes(row, 2), at = 0;
    bool ok = fd >= 0;
    while (ok && at < len) {
        ssize_t wrote = write(fd, bytes + at, len - at);
        ok = wrote > 0;
        at += ok ? (size_t)wrote : 0;
    }
    ok = ok && fsync(fd) == 0;
    ok = ok || fails(err, "write", buf_c_text(&path));
    if (fd >= 0) {
        close(fd);
    }
    return ok;
}

static bool take_out_files(sqlite3 *db, const char *folder, struct err *err)
{
    SCOPED(finalize_at) sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(db, READ_PIECES, -1, &rows, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(rows);
        if (code == SQLITE_ROW && !append_piece(folder, rows, err)) {
            return false;
        }
    }
    return code == SQLITE_DONE || sql_fails(err, db, folder);
}

/* Empty, and nobody's. */
static bool check_folder(const char *folder, struct err *err)
{
    SCOPED(buf_fini) struct buf lock = BUF_INIT(2 * NAME_MOST);
    DIR *dir = opendir(folder);
    bool empty = true, used = false;
    if (dir == NULL) {
        return fails(err, "read", folder);
    }
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        empty = empty && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
    }
    closedir(dir);
    buf_printf(&lock, "%s/%s", folder, LOCK_NAME);
    int fd = empty ? -1 : open(buf_c_text(&lock), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        used = flock(fd, LOCK_EX | LOCK_NB) != 0;
        close(fd);
    }
    return empty || err_set(err, ERR_CONFLICT,
                            used ? "another errand is using the folder %s"
                                 : "%s is not empty; restore into a new folder",
                            folder);
}

/* The connection is closed when it returns: the log of the database is part of it again. */
static bool restore_into(const char *from, const char *folder, const char *made, struct err *err)
{
    SCOPED(close_at) sqlite3 *db = NULL;
    return copy_pages(from, made, &db, err) && take_out_files(db, folder, err) &&
           (sqlite3_exec(db, DROP_TABLES, NULL, NULL, NULL) == SQLITE_OK ||
            sql_fails(err, db, made));
}

bool backup_restore(const char *from, const char *folder, struct backup_told *told, struct err *err)
{
    SCOPED(buf_fini) struct buf made = BUF_INIT(2 * NAME_MOST);
    SCOPED(buf_fini) struct buf place = BUF_INIT(2 * NAME_MOST);
    if (!backup_look(from, told, err)) {
        return false;
    }
    if (mkdir(folder, OWNER_FOLDER) != 0 && errno != EEXIST) {
        return fails(err, "make", folder);
    }
    if (!check_folder(folder, err)) {
        return false;
    }
    buf_printf(&made, "%s/%s.part", folder, BACKUP_DATABASE);
    buf_printf(&place, "%s/%s", folder, BACKUP_DATABASE);
    /* Without its database the folder is none of ours: a restore that was cut short is begun anew
     * in another one. */
    return restore_into(from, folder, buf_c_text(&made), err) &&
           put_in_place(buf_c_text(&made), buf_c_text(&place), err);
}
