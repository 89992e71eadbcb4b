/* tests/store_memory/disk.h: the records of the memory store and where they lie; seen from inside.
 *
 * A record is one task with everything that belongs to it, in an arena of its own, and is never
 * changed once it lies on the disk: a transaction changes copies on a shelf of its own and a commit
 * puts them in place of the old ones.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_STORE_MEMORY_DISK_H
#define ERRAND_TESTS_STORE_MEMORY_DISK_H

#include <pthread.h>

#include "base/map.h"
#include "store/counts.h"
#include "store/ops.h"
#include "store_memory/memory.h"
#include "store_memory/record.h"

/* A record is the child of `to`, or depends on it. */
enum relation_kind { RELATION_CHILD, RELATION_DEPENDENCY };
struct relation {
    struct map_node node;
    struct row *record;
    enum relation_kind kind;
    struct task_id to;
};

struct row {
    struct arena arena;
    struct task task;
    bool gone;                     /* on a transaction's shelf: deleted */
    struct task_attempt *attempts; /* earlier ones, and the logs of all */
    size_t attempts_count;
    struct relation *relations;
    size_t relations_count;
    struct map_node key_node;
    bool linked; /* its key and relations */
};

/* How records are found: those with a key by it, those with relations by whom they have them to. */
struct finder {
    struct map keys, relations;
};

/* A document and who holds it; on a transaction's side TASK_ID_NONE: it lets it go. */
struct lease {
    struct map_node node;
    struct str document; /* owned, behind the struct */
    struct task_id holder;
};

/* Records by id.hi, rising. */
struct shelf {
    struct row **at; /* owned, the records too */
    size_t count, room;
};

/* What a transaction sees: its own shelf before the disk's. `over` may be NULL. */
struct view {
    const struct shelf *over, *base;
    const struct map *over_relations, *base_relations;
    const struct pile *over_records, *base_records;
};

struct memory_disk {
    pthread_mutex_t lock; /* guards `shelf` and `records` between a commit and the readers */
    struct shelf shelf;
    struct finder finder;
    struct map leases;
    struct pile records;
    struct map names;           /* interned types and queues; only ever more */
    struct store_queue *queues; /* owned, names interned */
    size_t queues_count;
    uint64_t epoch, last_id;
    bool open;
    enum memory_fault fault;
};

struct row *record_new(struct memory_disk *disk, const struct task *task);
struct row *record_copy(const struct row *record);
void record_free(struct row *record);
void record_set(struct memory_disk *disk, struct row *record, const struct task *task);
/* The attempt with that number, made if it is new. */
struct task_attempt *record_attempt(struct row *record, int32_t number);
void record_log(struct row *record, int32_t number, struct str lines);

struct row *shelf_find(const struct shelf *shelf, uint64_t hi);
struct row *shelf_put(struct shelf *shelf, struct row *record); /* returns what it replaced */
struct row *shelf_take(struct shelf *shelf, uint64_t hi);
void shelf_fini(struct shelf *shelf);

struct row *view_find(const struct view *view, uint64_t hi);   /* NULL when unknown or gone */
struct row *view_after(const struct view *view, uint64_t hi);  /* the next one above */
struct row *view_before(const struct view *view, uint64_t hi); /* the next one below */

struct str disk_name(struct memory_disk *disk, struct str text); /* interned */
/* Puts a committed record in its place, or removes the one it stands for if it is gone. */
void disk_place(struct memory_disk *disk, struct row *record);
void disk_save_queue(struct memory_disk *disk, const struct store_queue *queue);

struct row *find_key(const struct map *keys, struct str key);
void link_record(struct finder *finder, struct row *record);
void unlink_record(struct finder *finder, struct row *record);
void finder_fini(struct finder *finder); /* the records are their owner's */

struct memory_tx {
    struct tx tx;
    struct memory_store *store;
    bool open;
    struct shelf shelf;   /* what it changed */
    struct finder finder; /* of that */
    struct map leases;    /* that it took or let go */
    struct pile records;  /* that it changed */
    struct count_change counts;
    struct store_queue *queues; /* changed; names interned */
    size_t queues_count;
    uint64_t last_id;
};

struct memory_store {
    struct store store;
    struct memory_disk *disk;
    bool owns_disk, crashed;
    struct counts counts;
    uint64_t commits;
    struct memory_tx tx;
};

#define MEMORY_STORE(base) ((struct memory_store *)(base))
#define MEMORY_TX(base)    ((struct memory_tx *)(base))

static inline struct view disk_view(const struct memory_disk *disk)
{
    return (struct view){.base = &disk->shelf,
                         .base_relations = &disk->finder.relations,
                         .base_records = &disk->records};
}

static inline struct view tx_view(const struct memory_tx *tx)
{
    struct view view = disk_view(tx->store->disk);
    view.over = &tx->shelf;
    view.over_relations = &tx->finder.relations;
    view.over_records = &tx->records;
    return view;
}

/* ---- tx.c ---- */
bool memory_begin(struct store *store, struct tx **out, struct err *err);
bool memory_commit(struct tx *tx, struct err *err);
void memory_abandon(struct tx *tx);
bool memory_load(struct tx *tx, struct task_load *loads, size_t n, struct err *err);
bool memory_find_keys(struct tx *tx, const struct str *keys, size_t n, struct task_id *out,
                      struct err *err);
bool memory_insert(struct tx *tx, const struct task *const *tasks, size_t n, struct err *err);
bool memory_save(struct tx *tx, struct task_change *changes, size_t n, struct err *err);
bool memory_save_queue(struct tx *tx, const struct store_queue *queue, struct err *err);
void memory_put(struct memory_tx *tx, struct row *record); /* on the transaction's shelf */
void memory_count(struct memory_tx *tx, struct str queue, enum task_state state, int64_t n);

/* ---- remove.c ---- */
bool memory_remove(struct tx *tx, const struct task_id *ids, size_t n, struct err *err);
bool memory_sweep(struct tx *tx, struct store_sweep *sweep, struct err *err);

/* ---- relation.c ---- */

/* The relations that the order names; those of `old` but to one task. */
void record_relate(struct row *record, const struct task *task);
void record_relate_as(struct row *record, const struct row *old, struct task_id without);
void relations_link(struct map *relations, struct row *record);
void relations_unlink(struct map *relations, struct row *record);

/* Whoever has that relation to `id`; and what `id` depends on, as far as it exists. In order of
 * creation. */
void view_related(const struct view *view, enum relation_kind kind, struct task_id id,
                  struct arena *arena, struct task_id **ids, size_t *count);
void view_dependencies(const struct view *view, struct task_id id, struct arena *arena,
                       struct task_id **ids, size_t *count);

bool memory_kin(struct tx *tx, const struct kin_query *query, struct arena *arena,
                struct kin_list *out, struct err *err);
bool memory_scan_held(struct store *store, store_held_fn *each, void *arg, struct err *err);

/* ---- lease.c ---- */
bool lease_take(struct memory_tx *tx, const struct task *task); /* false: another holds it */
void lease_end(struct memory_tx *tx, const struct task *task);  /* a container's: all of them */
struct task_id lease_holder(const struct map *leases, struct str document);
bool lease_is_used(const struct memory_disk *disk, const struct lease *lease); /* does it run? */
void leases_place(struct map *leases, const struct map *changed);
void leases_drop_strays(struct memory_disk *disk);
void leases_fini(struct map *leases);
bool memory_free_document(struct tx *tx, struct str document, struct task_id holder,
                          struct err *err);

/* ---- list.c ---- */
struct memory_reader {
    struct reader reader;
    struct memory_disk *disk;
};
bool memory_select(struct tx *tx, const struct task_filter *filter, struct arena *arena,
                   struct task_id **ids, size_t *count, struct err *err);
bool memory_reader_open(struct store *store, struct reader **out, struct err *err);
void memory_reader_close(struct reader *reader);
bool memory_list(struct reader *reader, const struct task_filter *filter, struct arena *arena,
                 struct task_rows *out, struct err *err);
bool memory_detail(struct reader *reader, struct task_id id, struct arena *arena, bool *found,
                   struct task_detail *out, struct err *err);

#endif
