/* tests/system/shim.c: a disk and a clock that misbehave on request.
 *
 * Preloaded into the server. A control file, named by ERRAND_SHIM and mapped into both processes,
 * says what goes wrong; shim.py writes it. Counts the writes and syncs of regular files in
 * the data folder (ERRAND_SHIM_DATA) and, at the n-th, fails or kills the process as a power cut
 * would; "disk full" fails every write that would make a file longer; a disk that is held does
 * not answer until it is let go. Where ERRAND_SHIM_SHADOW
 * names a folder, each synced file is copied there: what a disk still has that loses the rest.
 * The wall clock, never the monotonic one, is shifted by `wall_offset_ms`. One allocation, of the
 * server's or of a library's, can be made to find no memory.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#undef _FILE_OFFSET_BITS /* both names of pwrite are wanted; their offsets are the same here */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EARLY_MAX  65536
#define SITES_MAX  8191
#define SITE_DEPTH 9

enum kill_how { KILL_BEFORE = 1, KILL_HALF, KILL_AFTER };
enum call { CALL_WRITE = 1, CALL_SYNC = 2 };

/* The control file: numbers, shared with the test. */
struct control {
    _Atomic int64_t wall_offset_ms;
    _Atomic int64_t disk_full;
    _Atomic int64_t fail_at, fail_errno; /* from the fail_at-th matching call on; 0: never */
    _Atomic int64_t fail_calls;          /* bits of enum call */
    _Atomic int64_t kill_at, kill_how;
    _Atomic int64_t calls;         /* out: writes and syncs so far */
    _Atomic int64_t hold;          /* while it is set, writes and syncs do not come back */
    _Atomic int64_t held;          /* out: how many wait for that now */
    _Atomic int64_t alloc_fail_at; /* the alloc_fail_at-th allocation finds no memory; 0: all do */
    _Atomic int64_t allocs;        /* out: allocations so far */
};

/* An interposer has no caller that could hand it its state. */
static struct shim {
    struct control *control;
    char folder[PATH_MAX];
    const char *shadow; /* NULL: no copies */
    ssize_t (*write)(int, const void *, size_t);
    ssize_t (*pwrite)(int, const void *, size_t, off_t);
    int (*fsync)(int), (*fdatasync)(int);
    int (*clock_gettime)(clockid_t, struct timespec *);
    struct {
        void *(*malloc)(size_t), *(*calloc)(size_t, size_t), *(*realloc)(void *, size_t);
        void (*free)(void *);
        _Atomic bool finding;
        /* What dlsym() itself allocates while it looks for these; never given back. */
        _Alignas(16) char early[EARLY_MAX];
        _Atomic size_t early_used;
    } memory;
    /* Where allocations are asked for. The first one of each place is worth failing: its number is
     * written down for the test. */
    struct {
        _Atomic uintptr_t seen[SITES_MAX];
        int fd;            /* 0: nobody wants to know */
        _Atomic bool busy; /* backtrace() may allocate; other threads are passed over meanwhile */
    } sites;
} shim;

static void map_control(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        abort();
    }
    void *at = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED) {
        abort();
    }
    shim.control = at;
}

/* Casting through void ** is how POSIX says dlsym's answer becomes a function. */
static void find(const char *name, void *into)
{
    *(void **)into = dlsym(RTLD_NEXT, name);
}

static void open_sites(const char *path)
{
    int fd = path == NULL ? -1 : open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    shim.sites.fd = fd < 0 ? 0 : fd;
}

/* A sanitizer's own start may ask for the time before our constructor ran. */
__attribute__((constructor)) static void begin(void)
{
    if (shim.write != NULL) {
        return;
    }
    const char *path = getenv("ERRAND_SHIM"), *folder = getenv("ERRAND_SHIM_DATA");
    find("pwrite", &shim.pwrite);
    find("fsync", &shim.fsync);
    find("fdatasync", &shim.fdatasync);
    find("clock_gettime", &shim.clock_gettime);
    find("write", &shim.write);
    shim.shadow = getenv("ERRAND_SHIM_SHADOW");
    if (folder != NULL) {
        snprintf(shim.folder, sizeof shim.folder, "%s/", folder);
    }
    if (path != NULL) {
        map_control(path);
    }
    open_sites(getenv("ERRAND_SHIM_SITES"));
}

/* ---- The disk ---- */

static bool path_of(int fd, char path[static PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, PATH_MAX - 1);
    path[len > 0 ? len : 0] = '\0';
    return len > 0;
}

static bool is_ours(int fd, struct stat *found)
{
    char path[PATH_MAX];
    if (shim.control == NULL || fstat(fd, found) != 0 || !S_ISREG(found->st_mode)) {
        return false;
    }
    return path_of(fd, path) && strncmp(path, shim.folder, strlen(shim.folder)) == 0;
}

static void copy_all(int from, int to)
{
    char bytes[65536];
    ssize_t got;
    for (off_t at = 0; (got = pread(from, bytes, sizeof bytes, at)) > 0; at += got) {
        if (shim.write(to, bytes, (size_t)got) != got) {
            abort();
        }
    }
}

/* Reads through `fd` itself: closing another descriptor of the file would drop SQLite's locks. The
 * copy grows under another name: a cut in between must not leave half of it. */
static void copy_synced(int fd)
{
    char path[PATH_MAX], half[2 * PATH_MAX], whole[2 * PATH_MAX];
    if (shim.shadow == NULL || !path_of(fd, path)) {
        return;
    }
    const char *name = path + strlen(shim.folder);
    snprintf(half, sizeof half, "%s/.%s", shim.shadow, name);
    snprintf(whole, sizeof whole, "%s/%s", shim.shadow, name);
    int to = open(half, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (to < 0) {
        abort();
    }
    copy_all(fd, to);
    close(to);
    rename(half, whole);
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;) {
        pause();
    }
}

/* A disk that takes its time: until the test lets go of its lock on the control file. */
static void wait_for_disk(void)
{
    if (!shim.control->hold) {
        return;
    }
    int fd = open(getenv("ERRAND_SHIM"), O_RDONLY | O_CLOEXEC);
    shim.control->held++;
    while (fd >= 0 && flock(fd, LOCK_SH) != 0 && errno == EINTR) {
    }
    shim.control->held--;
    close(fd);
}

/* True when the n-th call is to fail: errno is set then. */
static bool fails(int64_t n, enum call call)
{
    int64_t at = shim.control->fail_at;
    if (at == 0 || n < at || (shim.control->fail_calls & call) == 0) {
        return false;
    }
    errno = (int)shim.control->fail_errno;
    return true;
}

static bool is_full(const struct stat *found, off_t end)
{
    if (!shim.control->disk_full || end <= found->st_size) {
        return false;
    }
    errno = ENOSPC;
    return true;
}

static bool killed_now(int64_t n, enum kill_how how)
{
    return shim.control->kill_at == n && shim.control->kill_how == (int64_t)how;
}

static ssize_t write_at(int fd, const void *data, size_t size, off_t offset, bool has_offset)
{
    return has_offset ? shim.pwrite(fd, data, size, offset) : shim.write(fd, data, size);
}

static ssize_t guarded_write(int fd, const void *data, size_t size, off_t offset, bool has_offset)
{
    struct stat found;
    begin();
    if (!is_ours(fd, &found)) {
        return write_at(fd, data, size, offset, has_offset);
    }
    int64_t n = atomic_fetch_add(&shim.control->calls, 1) + 1;
    off_t from = has_offset ? offset : lseek(fd, 0, SEEK_CUR);
    wait_for_disk();
    if (killed_now(n, KILL_BEFORE)) {
        die();
    }
    if (fails(n, CALL_WRITE) || is_full(&found, from + (off_t)size)) {
        return -1;
    }
    if (killed_now(n, KILL_HALF)) {
        (void)!write_at(fd, data, size / 2, offset, has_offset);
        die();
    }
    ssize_t wrote = write_at(fd, data, size, offset, has_offset);
    if (killed_now(n, KILL_AFTER)) {
        die();
    }
    return wrote;
}

static int guarded_sync(int fd, int (*sync)(int))
{
    struct stat found;
    if (!is_ours(fd, &found)) {
        return sync(fd);
    }
    int64_t n = atomic_fetch_add(&shim.control->calls, 1) + 1;
    wait_for_disk();
    if (killed_now(n, KILL_BEFORE) || killed_now(n, KILL_HALF)) {
        die();
    }
    if (fails(n, CALL_SYNC)) {
        return -1;
    }
    int status = sync(fd);
    if (status == 0) {
        copy_synced(fd);
    }
    if (killed_now(n, KILL_AFTER)) {
        die();
    }
    return status;
}

ssize_t write(int fd, const void *data, size_t size)
{
    return guarded_write(fd, data, size, 0, false);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    return guarded_write(fd, data, size, offset, true);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
    return guarded_write(fd, data, size, offset, true);
}

int fsync(int fd)
{
    return guarded_sync(fd, shim.fsync);
}

int fdatasync(int fd)
{
    return guarded_sync(fd, shim.fdatasync);
}

/* ---- Memory ---- */

static void *from_early(size_t size)
{
    size_t at = atomic_fetch_add(&shim.memory.early_used, (size + 15) & ~(size_t)15);
    return at + size <= sizeof shim.memory.early ? shim.memory.early + at : NULL;
}

static bool is_early(const void *ptr)
{
    return (const char *)ptr >= shim.memory.early &&
           (const char *)ptr < shim.memory.early + sizeof shim.memory.early;
}

/* False: they are being looked for right now. */
static bool has_memory(void)
{
    if (shim.memory.free != NULL) {
        return true;
    }
    if (atomic_exchange(&shim.memory.finding, true)) {
        return false;
    }
    find("malloc", &shim.memory.malloc);
    find("calloc", &shim.memory.calloc);
    find("realloc", &shim.memory.realloc);
    find("free", &shim.memory.free);
    return true;
}

/* Who asked, and on whose behalf: all of SQLite asks through one function. */
static uintptr_t this_site(void)
{
    void *frames[SITE_DEPTH] = {0};
    uintptr_t hash = 0;
    int depth = backtrace(frames, SITE_DEPTH);
    for (int i = 0; i < depth; i++) {
        hash = (hash ^ (uintptr_t)frames[i]) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return hash | 1;
}

static void note_site(int64_t n)
{
    char line[32];
    if (shim.sites.fd <= 0 || atomic_exchange(&shim.sites.busy, true)) {
        return;
    }
    uintptr_t want = this_site();
    shim.sites.busy = false;
    for (size_t i = 0; i < SITES_MAX; i++) {
        uintptr_t found = 0;
        if (atomic_compare_exchange_strong(&shim.sites.seen[(want + i) % SITES_MAX], &found,
                                           want)) {
            int len = snprintf(line, sizeof line, "%lld\n", (long long)n);
            (void)!shim.write(shim.sites.fd, line, (size_t)len);
            return;
        }
        if (found == want) {
            return;
        }
    }
}

static bool is_out_of_memory(void)
{
    if (shim.control == NULL) {
        return false;
    }
    int64_t n = atomic_fetch_add(&shim.control->allocs, 1) + 1;
    note_site(n);
    if (n != shim.control->alloc_fail_at) {
        return false;
    }
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return !has_memory() ? from_early(size) : is_out_of_memory() ? NULL : shim.memory.malloc(size);
}

void *calloc(size_t n, size_t of)
{
    return !has_memory()        ? from_early(n * of) /* still zero */
           : is_out_of_memory() ? NULL
                                : shim.memory.calloc(n, of);
}

void *realloc(void *old, size_t size)
{
    if (!has_memory() || is_early(old)) {
        void *new = from_early(size);
        return new == NULL || old == NULL ? new : memcpy(new, old, size);
    }
    return is_out_of_memory() ? NULL : shim.memory.realloc(old, size);
}

void free(void *ptr)
{
    if (!is_early(ptr) && has_memory()) {
        shim.memory.free(ptr);
    }
}

/* ---- The wall clock ---- */

static int64_t offset_ms(void)
{
    return shim.control == NULL ? 0 : shim.control->wall_offset_ms;
}

int clock_gettime(clockid_t which, struct timespec *out)
{
    begin();
    int status = shim.clock_gettime(which, out);
    if (status == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) {
        int64_t ms = offset_ms();
        out->tv_sec += ms / 1000;
        out->tv_nsec += ms % 1000 * 1000000;
        if (out->tv_nsec >= 1000000000 || out->tv_nsec < 0) {
            int step = out->tv_nsec < 0 ? -1 : 1;
            out->tv_sec += step;
            out->tv_nsec -= step * 1000000000L;
        }
    }
    return status;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL) {
        *out = now.tv_sec;
    }
    return now.tv_sec;
}
