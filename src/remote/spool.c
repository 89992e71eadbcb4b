/* remote/spool.c: creates that wait on this machine's disk. See spool.h.
 *
 * SPDX-License-Identifier: MIT */
#include "remote/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "wire/json.h"

#define MAGIC       "errand-spool 1 "
#define HEAD_LEN    32 /* MAGIC, 16 hex digits: sent up to here, newline */
#define RECORD_HEAD 26 /* 8 hex digits: length, blank, 16: checksum, newline */
#define RECORD_MAX  (64 * MIB)

struct spool {
    pthread_mutex_t lock; /* of the file's end and of what is sent */
    int fd;
    char *path;
    int64_t max;
    int64_t sent, end;   /* offsets */
    _Atomic bool filled; /* sent < end */
};

/* ---- Bytes ---- */

static uint64_t checksum(struct str text) /* FNV-1a */
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < text.len; i++) {
        hash = (hash ^ (unsigned char)text.ptr[i]) * UINT64_C(0x100000001B3);
    }
    return hash;
}

static bool complain(const struct spool *spool, struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE, "the spool %s: %s", spool->path, strerror(errno));
}

static bool write_at(int fd, struct str bytes, int64_t at)
{
    while (bytes.len > 0) {
        ssize_t n = pwrite(fd, bytes.ptr, bytes.len, (off_t)at);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        bytes = str_from(bytes, n < 0 ? 0 : (size_t)n);
        at += n < 0 ? 0 : n;
    }
    return true;
}

static bool read_at(int fd, char *into, size_t len, int64_t at)
{
    while (len > 0) {
        ssize_t n = pread(fd, into, len, (off_t)at);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        into += n < 0 ? 0 : n;
        at += n < 0 ? 0 : n;
        len -= n < 0 ? 0 : (size_t)n;
    }
    return true;
}

static bool write_head(struct spool *spool)
{
    char head[HEAD_LEN + 1];
    snprintf(head, sizeof head, MAGIC "%016" PRIx64 "\n", (uint64_t)spool->sent);
    return write_at(spool->fd, (struct str){head, HEAD_LEN}, 0);
}

static bool hex(const char *digits, size_t len, uint64_t *out)
{
    char text[17], *end;
    memcpy(text, digits, len);
    text[len] = '\0';
    *out = strtoull(text, &end, 16);
    return *end == '\0';
}

/* The record at `at`, or absent if there is none that is whole. */
static struct str read_record(const struct spool *spool, int64_t at, struct arena *arena)
{
    char head[RECORD_HEAD];
    uint64_t len, sum;
    if (at + RECORD_HEAD > spool->end || !read_at(spool->fd, head, RECORD_HEAD, at) ||
        !hex(head, 8, &len) || !hex(head + 9, 16, &sum) || len > RECORD_MAX ||
        at + RECORD_HEAD + (int64_t)len + 1 > spool->end) {
        return STR_NONE;
    }
    char *body = arena_alloc(arena, len + 1);
    struct str record = {body, len};
    bool whole = read_at(spool->fd, body, len + 1, at + RECORD_HEAD) && body[len] == '\n' &&
                 checksum(record) == sum;
    return whole ? record : STR_NONE;
}

static int64_t room_of(struct str record)
{
    return RECORD_HEAD + (int64_t)record.len + 1;
}

/* ---- Opening ---- */

/* A new file must be in its folder after a power cut, too. */
static bool sync_folder(const char *path)
{
    SCOPED(mem_free_at) char *copy = mem_text(path, strlen(path));
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return ok;
}

static bool begin(struct spool *spool, struct err *err)
{
    spool->sent = spool->end = HEAD_LEN;
    return (ftruncate(spool->fd, HEAD_LEN) == 0 && write_head(spool) && fsync(spool->fd) == 0 &&
            sync_folder(spool->path)) ||
           complain(spool, err);
}

static bool read_head(struct spool *spool, struct err *err)
{
    char head[HEAD_LEN];
    uint64_t sent;
    if (!read_at(spool->fd, head, HEAD_LEN, 0) || memcmp(head, MAGIC, strlen(MAGIC)) != 0 ||
        !hex(head + strlen(MAGIC), 16, &sent)) {
        return err_set(err, ERR_INVALID, "%s is not a spool", spool->path);
    }
    /* Emptied, and then the power went: the place was not written down yet. */
    spool->sent = sent < HEAD_LEN || sent > (uint64_t)spool->end ? HEAD_LEN : (int64_t)sent;
    return true;
}

/* Walks to the last whole record. What is behind it was never acknowledged, unless the disk is
 * damaged; a piece of that is kept with the refused, for people to look at. */
static bool find_end(struct spool *spool, struct err *err)
{
    int64_t at = spool->sent, size = spool->end;
    struct str record;
    struct arena arena = ARENA_INIT;
    while (!str_absent(record = read_record(spool, at, &arena))) {
        at += room_of(record);
        arena_clear(&arena);
    }
    size_t len = (size_t)MIN(size - at, (int64_t)MIB);
    char *torn = arena_alloc(&arena, len + 1);
    bool ok = len == 0 || (read_at(spool->fd, torn, len, at) &&
                           spool_refuse(spool, (struct str){torn, len}, STR("torn"), err));
    spool->end = at;
    ok = ok && (ftruncate(spool->fd, (off_t)at) == 0 || complain(spool, err));
    arena_fini(&arena);
    return ok;
}

static bool take_over(struct spool *spool, struct err *err)
{
    struct stat stat;
    if (flock(spool->fd, LOCK_EX | LOCK_NB) != 0) {
        return err_set(err, ERR_CONFLICT, "the spool %s is used by another process", spool->path);
    }
    if (fstat(spool->fd, &stat) != 0) {
        return complain(spool, err);
    }
    spool->end = stat.st_size;
    return stat.st_size == 0 ? begin(spool, err) : read_head(spool, err) && find_end(spool, err);
}

bool spool_open(const char *path, int64_t max, struct spool **out, struct err *err)
{
    struct spool *spool = mem_new(struct spool);
    spool->path = mem_text(path, strlen(path));
    spool->max = max;
    pthread_mutex_init(&spool->lock, NULL);
    spool->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    bool ok = spool->fd >= 0 ? take_over(spool, err) : complain(spool, err);
    if (!ok) {
        spool_close(spool);
        return false;
    }
    atomic_store(&spool->filled, spool->sent < spool->end);
    *out = spool;
    return true;
}

void spool_close(struct spool *spool)
{
    if (spool == NULL) {
        return;
    }
    if (spool->fd >= 0) {
        close(spool->fd);
    }
    pthread_mutex_destroy(&spool->lock);
    mem_free(spool->path);
    mem_free(spool);
}

/* ---- Adding ---- */

static bool append(struct spool *spool, struct str whole, struct err *err)
{
    if (spool->end + (int64_t)whole.len > spool->max) {
        return err_set(err, ERR_BUSY, "the spool %s is full", spool->path);
    }
    if (!write_at(spool->fd, whole, spool->end) || fdatasync(spool->fd) != 0) {
        complain(spool, err);
        /* Half of a record would hide what comes after it. */
        (void)!ftruncate(spool->fd, (off_t)spool->end);
        return false;
    }
    spool->end += (int64_t)whole.len;
    atomic_store(&spool->filled, true);
    return true;
}

bool spool_add(struct spool *spool, struct str record, struct err *err)
{
    SCOPED(buf_fini) struct buf whole = BUF_INIT(RECORD_MAX + KIB);
    if (record.len > RECORD_MAX) {
        return err_set(err, ERR_TOO_LARGE, "it is too long for the spool");
    }
    buf_printf(&whole, "%08zx %016" PRIx64 "\n", record.len, checksum(record));
    buf_str(&whole, record);
    buf_char(&whole, '\n');
    pthread_mutex_lock(&spool->lock);
    bool ok = append(spool, buf_view(&whole), err);
    pthread_mutex_unlock(&spool->lock);
    return ok;
}

bool spool_empty(const struct spool *spool)
{
    return !atomic_load(&spool->filled);
}

/* ---- Taking ---- */

size_t spool_look(struct spool *spool, size_t max, size_t bytes, struct arena *arena,
                  struct str *out)
{
    size_t count = 0, total = 0;
    pthread_mutex_lock(&spool->lock);
    int64_t at = spool->sent;
    while (count < max && (count == 0 || total < bytes)) {
        struct str record = read_record(spool, at, arena);
        if (str_absent(record)) {
            break;
        }
        out[count++] = record;
        total += record.len;
        at += room_of(record);
    }
    pthread_mutex_unlock(&spool->lock);
    return count;
}

static bool advance(struct spool *spool, int64_t by, struct err *err)
{
    spool->sent += by;
    if (spool->sent >= spool->end) {
        spool->sent = spool->end = HEAD_LEN;
        if (ftruncate(spool->fd, HEAD_LEN) != 0) {
            return complain(spool, err);
        }
    }
    atomic_store(&spool->filled, spool->sent < spool->end);
    return (write_head(spool) && fdatasync(spool->fd) == 0) || complain(spool, err);
}

bool spool_drop(struct spool *spool, const struct str *records, size_t count, struct err *err)
{
    int64_t by = 0;
    for (size_t i = 0; i < count; i++) {
        by += room_of(records[i]);
    }
    pthread_mutex_lock(&spool->lock);
    bool ok = advance(spool, by, err);
    pthread_mutex_unlock(&spool->lock);
    return ok;
}

bool spool_refuse(struct spool *spool, struct str record, struct str reason, struct err *err)
{
    SCOPED(buf_fini) struct buf path = BUF_INIT(64 * KIB);
    SCOPED(buf_fini) struct buf line = BUF_INIT(SIZE_MAX / 2);
    struct json_writer w = JSON_WRITER(&line);
    json_open_object(&w);
    json_put_str(&w, "reason", reason);
    json_put_str(&w, "order", record);
    json_close_object(&w);
    buf_char(&line, '\n');
    buf_c(&path, spool->path);
    buf_c(&path, ".refused");
    int fd = open(buf_c_text(&path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, line.ptr, line.len) == (ssize_t)line.len && fsync(fd) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return ok || complain(spool, err);
}
