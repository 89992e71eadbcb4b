/* tests/store_memory/disk.c: records, shelves and the disk they lie on. See disk.h.
 *
 * Thread: engine; readers look at the shelf under the disk's lock.
 *
 * SPDX-License-Identifier: MIT */
#include "store_memory/disk.h"

#include "base/mem.h"
#include "store/shared.h"

/* ---- Records ---- */

void record_set(struct memory_disk *disk, struct row *record, const struct task *task)
{
    task_keep(&record->task, task, &record->arena);
    record->task.type = disk_name(disk, task->type);
    record->task.queue = disk_name(disk, task->queue);
}

struct row *record_new(struct memory_disk *disk, const struct task *task)
{
    struct row *record = mem_new(struct row);
    record_set(disk, record, task);
    record_relate(record, task);
    return record;
}

static void keep_attempt(struct task_attempt *attempt, struct arena *arena)
{
    attempt->worker = arena_str(arena, attempt->worker);
    attempt->error.code = arena_str(arena, attempt->error.code);
    attempt->error.message = arena_str(arena, attempt->error.message);
    attempt->error.detail = arena_str(arena, attempt->error.detail);
    attempt->log = arena_str(arena, attempt->log);
}

struct row *record_copy(const struct row *old)
{
    struct row *record = mem_new(struct row);
    struct str type = old->task.type, queue = old->task.queue;
    task_keep(&record->task, &old->task, &record->arena);
    record->task.type = type; /* interned already */
    record->task.queue = queue;
    record_relate_as(record, old, TASK_ID_NONE);
    record->attempts_count = old->attempts_count;
    record->attempts = arena_array(&record->arena, struct task_attempt, old->attempts_count + 1);
    for (size_t i = 0; i < old->attempts_count; i++) {
        record->attempts[i] = old->attempts[i];
        keep_attempt(&record->attempts[i], &record->arena);
    }
    return record;
}

void record_free(struct row *record)
{
    if (record != NULL) {
        arena_fini(&record->arena);
        mem_free(record);
    }
}

struct task_attempt *record_attempt(struct row *record, int32_t number)
{
    for (size_t i = 0; i < record->attempts_count; i++) {
        if (record->attempts[i].number == number) {
            return &record->attempts[i];
        }
    }
    struct task_attempt *old = record->attempts;
    size_t n = record->attempts_count++;
    record->attempts = arena_array(&record->arena, struct task_attempt, n + 1);
    memcpy(record->attempts, old == NULL ? record->attempts : old, n * sizeof *old);
    record->attempts[n].number = number;
    return &record->attempts[n];
}

void record_log(struct row *record, int32_t number, struct str lines)
{
    struct task_attempt *attempt = record_attempt(record, number);
    char *text = arena_alloc(&record->arena, attempt->log.len + lines.len);
    if (attempt->log.len > 0) {
        memcpy(text, attempt->log.ptr, attempt->log.len);
    }
    memcpy(text + attempt->log.len, lines.ptr, lines.len);
    attempt->log = log_window((struct str){text, attempt->log.len + lines.len});
}

/* ---- Shelves ---- */

/* Where the first record at or above `hi` lies. */
static size_t place_of(const struct shelf *shelf, uint64_t hi)
{
    size_t from = 0, to = shelf->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (shelf->at[middle]->task.id.hi < hi) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

struct row *shelf_find(const struct shelf *shelf, uint64_t hi)
{
    size_t at = place_of(shelf, hi);
    return at < shelf->count && shelf->at[at]->task.id.hi == hi ? shelf->at[at] : NULL;
}

struct row *shelf_put(struct shelf *shelf, struct row *record)
{
    size_t at = place_of(shelf, record->task.id.hi);
    if (at < shelf->count && shelf->at[at]->task.id.hi == record->task.id.hi) {
        struct row *old = shelf->at[at];
        shelf->at[at] = record;
        return old;
    }
    if (shelf->count == shelf->room) {
        shelf->room = MAX(64, shelf->room * 2);
        shelf->at = mem_array(shelf->at, shelf->room, sizeof(*shelf->at));
    }
    memmove(shelf->at + at + 1, shelf->at + at, (shelf->count - at) * sizeof(*shelf->at));
    shelf->at[at] = record;
    shelf->count++;
    return NULL;
}

struct row *shelf_take(struct shelf *shelf, uint64_t hi)
{
    size_t at = place_of(shelf, hi);
    if (at == shelf->count || shelf->at[at]->task.id.hi != hi) {
        return NULL;
    }
    struct row *record = shelf->at[at];
    shelf->count--;
    memmove(shelf->at + at, shelf->at + at + 1, (shelf->count - at) * sizeof(*shelf->at));
    return record;
}

void shelf_fini(struct shelf *shelf)
{
    for (size_t i = 0; i < shelf->count; i++) {
        record_free(shelf->at[i]);
    }
    mem_free(shelf->at);
    *shelf = (struct shelf){0};
}

/* ---- Views ---- */

struct row *view_find(const struct view *view, uint64_t hi)
{
    struct row *record = view->over == NULL ? NULL : shelf_find(view->over, hi);
    if (record != NULL) {
        return record->gone ? NULL : record;
    }
    return shelf_find(view->base, hi);
}

static struct row *shelf_after(const struct shelf *shelf, uint64_t hi)
{
    size_t at = shelf == NULL || hi == UINT64_MAX ? SIZE_MAX : place_of(shelf, hi + 1);
    return at != SIZE_MAX && at < shelf->count ? shelf->at[at] : NULL;
}

static struct row *shelf_before(const struct shelf *shelf, uint64_t hi)
{
    size_t at = shelf == NULL ? 0 : place_of(shelf, hi);
    return at > 0 ? shelf->at[at - 1] : NULL;
}

struct row *view_after(const struct view *view, uint64_t hi)
{
    for (;;) {
        struct row *over = shelf_after(view->over, hi), *base = shelf_after(view->base, hi);
        bool first = over != NULL && (base == NULL || over->task.id.hi <= base->task.id.hi);
        struct row *next = first ? over : base;
        if (next == NULL || !next->gone) {
            return next;
        }
        hi = next->task.id.hi;
    }
}

struct row *view_before(const struct view *view, uint64_t hi)
{
    for (;;) {
        struct row *over = shelf_before(view->over, hi), *base = shelf_before(view->base, hi);
        bool first = over != NULL && (base == NULL || over->task.id.hi >= base->task.id.hi);
        struct row *next = first ? over : base;
        if (next == NULL || !next->gone) {
            return next;
        }
        hi = next->task.id.hi;
    }
}

/* ---- The disk ---- */

struct disk_name {
    struct map_node node;
    struct str text; /* owned, behind the struct */
};

struct str disk_name(struct memory_disk *disk, struct str text)
{
    uint64_t hash = str_hash(text);
    for (struct map_node *n = map_find(&disk->names, hash); n != NULL; n = map_again(n)) {
        struct disk_name *name = HOLDER(n, struct disk_name, node);
        if (str_eq(name->text, text)) {
            return name->text;
        }
    }
    struct disk_name *name = mem_zero(sizeof *name + text.len + 1);
    memcpy(name + 1, text.ptr, text.len);
    name->text = (struct str){(char *)(name + 1), text.len};
    map_add(&disk->names, &name->node, hash);
    return name->text;
}

struct row *find_key(const struct map *keys, struct str key)
{
    for (struct map_node *n = map_find(keys, str_hash(key)); n != NULL; n = map_again(n)) {
        struct row *record = HOLDER(n, struct row, key_node);
        if (str_eq(record->task.key, key)) {
            return record;
        }
    }
    return NULL;
}

void link_record(struct finder *finder, struct row *record)
{
    if (!str_absent(record->task.key)) {
        map_add(&finder->keys, &record->key_node, str_hash(record->task.key));
    }
    relations_link(&finder->relations, record);
    record->linked = true;
}

void unlink_record(struct finder *finder, struct row *record)
{
    if (record->linked && !str_absent(record->task.key)) {
        map_remove(&finder->keys, &record->key_node);
    }
    if (record->linked) {
        relations_unlink(&finder->relations, record);
    }
    record->linked = false;
}

void finder_fini(struct finder *finder)
{
    map_fini(&finder->keys);
    map_fini(&finder->relations);
    *finder = (struct finder){0};
}

void disk_place(struct memory_disk *disk, struct row *record)
{
    struct row *old = record->gone ? shelf_take(&disk->shelf, record->task.id.hi)
                                   : shelf_put(&disk->shelf, record);
    if (old != NULL) {
        unlink_record(&disk->finder, old);
        record_free(old);
    }
    if (record->gone) {
        record_free(record);
    } else {
        link_record(&disk->finder, record);
    }
}

void disk_save_queue(struct memory_disk *disk, const struct store_queue *queue)
{
    size_t at = 0;
    while (at < disk->queues_count && str_cmp(disk->queues[at].name, queue->name) < 0) {
        at++;
    }
    if (at == disk->queues_count || !str_eq(disk->queues[at].name, queue->name)) {
        disk->queues = mem_array(disk->queues, disk->queues_count + 1, sizeof *disk->queues);
        memmove(disk->queues + at + 1, disk->queues + at,
                (disk->queues_count - at) * sizeof *disk->queues);
        disk->queues_count++;
    }
    disk->queues[at] = *queue;
}

struct memory_disk *memory_disk_new(void)
{
    struct memory_disk *disk = mem_new(struct memory_disk);
    pthread_mutex_init(&disk->lock, NULL);
    return disk;
}

void memory_disk_free(struct memory_disk *disk)
{
    if (disk == NULL) {
        return;
    }
    shelf_fini(&disk->shelf);
    finder_fini(&disk->finder);
    leases_fini(&disk->leases);
    pile_fini(&disk->records);
    struct map_walk walk = MAP_WALK;
    for (struct map_node *n; (n = map_walk(&disk->names, &walk)) != NULL;) {
        map_remove(&disk->names, n);
        mem_free(HOLDER(n, struct disk_name, node));
    }
    map_fini(&disk->names);
    mem_free(disk->queues);
    pthread_mutex_destroy(&disk->lock);
    mem_free(disk);
}

void memory_disk_fail_next(struct memory_disk *disk, enum memory_fault fault)
{
    disk->fault = fault;
}
