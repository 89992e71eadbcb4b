/* time/zones.c: the zones of one folder, each read once and again when its file changed.
 *
 * Files are looked at outside the lock, which guards the map alone. Two threads that read the same
 * new file at once do so twice, and the later one's zone stays.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "time/zone.h"

#define PATH_LEN 4096

/* What tells one state of a file from another. */
struct stamp {
    int64_t mtime_s, mtime_ns, size;
    uint64_t inode;
};

struct kept {
    struct map_node node;
    const struct zone *zone;
    struct stamp stamp;
};

struct zones {
    char *folder;
    pthread_mutex_t lock;
    struct map by_name;
};

struct zones *zones_new(const char *folder)
{
    struct zones *zones = mem_new(struct zones);
    struct str path = str_of(folder == NULL ? ZONE_FOLDER : folder);
    zones->folder = mem_text(path.ptr, path.len);
    pthread_mutex_init(&zones->lock, NULL);
    return zones;
}

void zones_free(struct zones *zones)
{
    struct map_walk at = MAP_WALK;
    if (zones == NULL) {
        return;
    }
    for (struct map_node *n; (n = map_walk(&zones->by_name, &at)) != NULL;) {
        struct kept *kept = HOLDER(n, struct kept, node);
        zone_release(kept->zone);
        mem_free(kept);
    }
    map_fini(&zones->by_name);
    pthread_mutex_destroy(&zones->lock);
    mem_free(zones->folder);
    mem_free(zones);
}

static bool is_name_char(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '+';
}

/* Europe/Berlin, Etc/GMT+5: words of letters, digits, _, - and + between single slashes. Without
 * dots and a leading slash no name leads out of the folder. */
static bool is_name(struct str name)
{
    if (name.len == 0 || name.len > ZONE_NAME_MAX) {
        return false;
    }
    while (!str_absent(name)) {
        struct str word = str_cut(&name, '/');
        for (size_t i = 0; i < word.len; i++) {
            if (!is_name_char(word.ptr[i])) {
                return false;
            }
        }
        if (word.len == 0) {
            return false;
        }
    }
    return true;
}

static struct stamp stamp_of(const struct stat *st)
{
    return (struct stamp){st->st_mtim.tv_sec, st->st_mtim.tv_nsec, st->st_size, st->st_ino};
}

static bool same_stamp(const struct stamp *a, const struct stamp *b)
{
    return a->mtime_s == b->mtime_s && a->mtime_ns == b->mtime_ns && a->size == b->size &&
           a->inode == b->inode;
}

static struct kept *find_kept(const struct zones *zones, struct str name)
{
    struct map_node *n = map_find(&zones->by_name, str_hash(name));
    while (n != NULL && !str_is(name, zone_name(HOLDER(n, struct kept, node)->zone))) {
        n = map_again(n);
    }
    return n == NULL ? NULL : HOLDER(n, struct kept, node);
}

static const struct zone *recall(struct zones *zones, struct str name, const struct stamp *stamp)
{
    const struct zone *zone = NULL;
    pthread_mutex_lock(&zones->lock);
    struct kept *kept = find_kept(zones, name);
    if (kept != NULL && same_stamp(&kept->stamp, stamp)) {
        zone = zone_keep(kept->zone);
    }
    pthread_mutex_unlock(&zones->lock);
    return zone;
}

static void remember(struct zones *zones, const struct zone *zone, const struct stamp *stamp)
{
    struct str name = str_of(zone_name(zone));
    const struct zone *former = NULL;
    pthread_mutex_lock(&zones->lock);
    struct kept *kept = find_kept(zones, name);
    if (kept == NULL) {
        kept = mem_new(struct kept);
        kept->zone = zone; /* the map finds it by the name in it */
        map_add(&zones->by_name, &kept->node, str_hash(name));
    } else {
        former = kept->zone;
    }
    kept->zone = zone_keep(zone);
    kept->stamp = *stamp;
    pthread_mutex_unlock(&zones->lock);
    zone_release(former);
}

static void close_at(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
}

/* Reads the file behind an open descriptor; its stamp is that of the bytes read. */
static bool load(int fd, struct str name, const struct stat *st, const struct zone **out,
                 struct err *err)
{
    if (!S_ISREG(st->st_mode) || st->st_size > (off_t)ZONE_FILE_MAX) {
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is not a time zone", STR_ARG(name));
    }
    SCOPED(mem_free_at) char *bytes = mem_alloc(ZONE_FILE_MAX);
    ssize_t len = pread(fd, bytes, ZONE_FILE_MAX, 0);
    if (len < 0) {
        return err_set(err, ERR_UNAVAILABLE, "read time zone \"" STR_FMT "\": %s", STR_ARG(name),
                       strerror(errno));
    }
    return zone_read(name, (struct str){bytes, (size_t)len}, out, err);
}

static bool not_found(struct str name, const struct zone **out, struct err *err)
{
    if (str_is(name, "UTC") || str_is(name, "Etc/UTC")) {
        *out = zone_utc();
        return true;
    }
    return err_set(err, ERR_INVALID,
                   "there is no time zone \"" STR_FMT "\"; names are like Europe/Berlin or UTC",
                   STR_ARG(name));
}

bool zones_get(struct zones *zones, struct str name, const struct zone **out, struct err *err)
{
    char path[PATH_LEN];
    struct stat st;
    if (!is_name(name)) {
        return err_set(err, ERR_INVALID, "a time zone is a name like Europe/Berlin or UTC");
    }
    snprintf(path, sizeof path, "%s/" STR_FMT, zones->folder, STR_ARG(name));
    SCOPED(close_at) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0) {
        return not_found(name, out, err);
    }
    struct stamp stamp = stamp_of(&st);
    const struct zone *zone = recall(zones, name, &stamp);
    if (zone == NULL) {
        if (!load(fd, name, &st, &zone, err)) {
            return false;
        }
        remember(zones, zone, &stamp);
    }
    *out = zone;
    return true;
}

/* An update replaces the folder's list of rules; one without it still touches the folder. */
uint64_t zones_stamp(const struct zones *zones)
{
    static const char *const files[] = {"/tzdata.zi", "/+VERSION", "/zone.tab", ""};
    uint64_t sum = 0;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        char path[PATH_LEN];
        struct stat st;
        snprintf(path, sizeof path, "%s%s", zones->folder, files[i]);
        if (stat(path, &st) == 0) {
            sum = sum * 31 + (uint64_t)st.st_mtim.tv_sec * 1000003 +
                  (uint64_t)st.st_mtim.tv_nsec * 8191 + (uint64_t)st.st_ino;
        }
    }
    return sum;
}
