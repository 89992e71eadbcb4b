/* store/sqlite/facet.c: finds tasks by what few lists ask for, without slowing every insert down.
 *
 * A facet is a hash of one field's kind and value. Relations are written with their task; labels
 * follow late, sorted, in slices, up to a watermark that only moves forward. See 002_facets.sql.
 *
 * Thread: engine; facet_choose() and the hashes any.
 *
 * SPDX-License-Identifier: MIT */
#include "store/sqlite/facet.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/sqlite/names.h"
#include "store/sqlite/sqlite.h"

#define TEND_SLICE       2000 /* tasks: a few milliseconds */
#define VACUUM_MIN_PAGES 1024

/* Part of the file's format: never renumber. */
enum facet_kind {
    FACET_DOCUMENT = 1,
    FACET_EXTERNAL_ID,
    FACET_TAG,
    FACET_TEAM = 5, /* 4 were parents */
    FACET_SCHEDULE,
};

struct facet {
    int64_t h, k;
};

/* FNV-1a with a last mix: part of the file's format too, so not base's, which is seeded. */
static uint64_t hash(enum facet_kind kind, const void *ptr, size_t len)
{
    const unsigned char *bytes = ptr;
    uint64_t h = (UINT64_C(0xcbf29ce484222325) ^ (uint64_t)kind) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < len; i++) {
        h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    h ^= h >> 32;
    return h * UINT64_C(0x9E3779B97F4A7C15);
}

static uint64_t hash_id(enum facet_kind kind, struct task_id id)
{
    unsigned char bytes[16];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(id.hi >> (56 - 8 * i));
        bytes[8 + i] = (unsigned char)(id.lo >> (56 - 8 * i));
    }
    return hash(kind, bytes, sizeof bytes);
}

static uint64_t hash_text(enum facet_kind kind, struct str text)
{
    return hash(kind, text.ptr, text.len);
}

size_t facet_relations(const struct task *task, uint64_t out[static FACET_RELATIONS_MAX])
{
    size_t n = 0;
    if (!id_none(task->team)) {
        out[n++] = hash_id(FACET_TEAM, task->team);
    }
    if (!id_none(task->schedule)) {
        out[n++] = hash_id(FACET_SCHEDULE, task->schedule);
    }
    return n;
}

size_t facet_labels(const struct task *task, uint64_t out[static FACET_LABELS_MAX])
{
    size_t n = 0;
    if (!str_absent(task->document)) {
        out[n++] = hash_text(FACET_DOCUMENT, task->document);
    }
    if (!str_absent(task->external_id)) {
        out[n++] = hash_text(FACET_EXTERNAL_ID, task->external_id);
    }
    for (size_t i = 0; i < task->tags_count; i++) {
        out[n++] = hash_text(FACET_TAG, task->tags[i]);
    }
    return n;
}

struct facet_choice facet_choose(const struct task_filter *filter)
{
    if (!str_absent(filter->external_id)) {
        return (struct facet_choice){true, true, hash_text(FACET_EXTERNAL_ID, filter->external_id)};
    }
    if (!id_none(filter->team)) {
        return (struct facet_choice){true, false, hash_id(FACET_TEAM, filter->team)};
    }
    if (!id_none(filter->schedule)) {
        return (struct facet_choice){true, false, hash_id(FACET_SCHEDULE, filter->schedule)};
    }
    if (!str_absent(filter->document)) {
        return (struct facet_choice){true, true, hash_text(FACET_DOCUMENT, filter->document)};
    }
    if (!str_absent(filter->tag)) {
        return (struct facet_choice){true, true, hash_text(FACET_TAG, filter->tag)};
    }
    return (struct facet_choice){0};
}

bool facet_indexed(struct db *db, int64_t *k, struct err *err)
{
    bool row = false;
    if (!db_row(db, SQL_READ_INDEXED, &row, err)) {
        return false;
    }
    *k = row ? column_int(db_use(db, SQL_READ_INDEXED), 0) : 0;
    db_done(db, SQL_READ_INDEXED);
    return true;
}

static bool run_each(struct db *db, enum sql_id id, const uint64_t *h, size_t n, uint64_t k,
                     struct err *err)
{
    sqlite3_stmt *s = db_use(db, id);
    for (size_t i = 0; i < n; i++) {
        bind_int(s, 1, (int64_t)h[i]);
        bind_int(s, 2, (int64_t)k);
        if (!db_run(db, id, err)) {
            return false;
        }
    }
    return true;
}

bool facet_insert_relations(struct sqlite_tx *tx, const struct task *task, struct err *err)
{
    uint64_t h[FACET_RELATIONS_MAX];
    return run_each(&tx->store->db, SQL_INSERT_FACET, h, facet_relations(task, h), task->id.hi,
                    err);
}

bool facet_insert_labels(struct sqlite_tx *tx, const struct task *task, struct err *err)
{
    uint64_t h[FACET_LABELS_MAX];
    return run_each(&tx->store->db, SQL_INSERT_FACET, h, facet_labels(task, h), task->id.hi, err);
}

bool facet_delete(struct sqlite_tx *tx, const struct task *task, struct err *err)
{
    struct db *db = &tx->store->db;
    uint64_t relations[FACET_RELATIONS_MAX], labels[FACET_LABELS_MAX];
    size_t n = (int64_t)task->id.hi > tx->indexed_k ? 0 : facet_labels(task, labels);
    return run_each(db, SQL_DELETE_FACET, relations, facet_relations(task, relations), task->id.hi,
                    err) &&
           run_each(db, SQL_DELETE_FACET, labels, n, task->id.hi, err);
}

static int facet_order(const void *left, const void *right)
{
    const struct facet *a = left, *b = right;
    if (a->h != b->h) {
        return a->h < b->h ? -1 : 1;
    }
    return (a->k > b->k) - (a->k < b->k);
}

/* A slice of tasks on its way into the index. */
struct slice {
    struct facet *facets; /* owned */
    size_t count, tasks;
    int64_t last_k;
};

static void slice_fini(struct slice *slice)
{
    mem_free(slice->facets);
}

static bool slice_add(struct slice *slice, sqlite3_stmt *s, struct err *err)
{
    struct task task;
    uint64_t h[FACET_LABELS_MAX];
    if (!read_rest(s, 1, &task, err)) {
        return false;
    }
    slice->last_k = column_int(s, 0);
    slice->tasks++;
    size_t n = facet_labels(&task, h);
    for (size_t i = 0; i < n; i++) {
        slice->facets[slice->count++] = (struct facet){(int64_t)h[i], slice->last_k};
    }
    return true;
}

static bool slice_read(struct sqlite_tx *tx, size_t most, struct slice *slice, struct err *err)
{
    struct db *db = &tx->store->db;
    sqlite3_stmt *s = db_use(db, SQL_LIST_FACETS);
    size_t room = 0;
    bool row = true;
    bind_int(s, 1, tx->indexed_k);
    bind_int(s, 2, (int64_t)most);
    while (db_row(db, SQL_LIST_FACETS, &row, err) && row) {
        if (slice->count + FACET_LABELS_MAX > room) {
            room = MAX(1024, room * 2);
            slice->facets = mem_array(slice->facets, room, sizeof *slice->facets);
        }
        if (!slice_add(slice, s, err)) {
            db_done(db, SQL_LIST_FACETS);
            return false;
        }
    }
    return !row;
}

static bool slice_write(struct sqlite_tx *tx, struct slice *slice, struct err *err)
{
    if (slice->count > 0) {
        qsort(slice->facets, slice->count, sizeof *slice->facets, facet_order);
    }
    for (size_t i = 0; i < slice->count; i++) {
        uint64_t h = (uint64_t)slice->facets[i].h;
        if (!run_each(&tx->store->db, SQL_INSERT_FACET, &h, 1, (uint64_t)slice->facets[i].k, err)) {
            return false;
        }
    }
    return true;
}

bool facet_move_index(struct sqlite_tx *tx, size_t most, struct err *err)
{
    struct db *db = &tx->store->db;
    SCOPED(slice_fini) struct slice slice = {0};
    bool look = tx->store->lag_has_labels || tx->labels;
    if (look && !(slice_read(tx, most, &slice, err) && slice_write(tx, &slice, err))) {
        return false;
    }
    bool all = slice.tasks < most;
    tx->indexed_k = all ? (int64_t)tx->last_id : slice.last_k;
    tx->indexed = all ? SIZE_MAX : slice.tasks;
    bind_int(db_use(db, SQL_SET_INDEXED), 1, tx->indexed_k);
    return db_run(db, SQL_SET_INDEXED, err);
}

/* Is a quarter of the file free? Then it shrinks step by step. */
static bool vacuum_due(struct db *db, bool *due, struct err *err)
{
    int64_t free_pages = 0, pages = 0;
    if (!db_pragma(db, "PRAGMA freelist_count", &free_pages, err) ||
        !db_pragma(db, "PRAGMA page_count", &pages, err)) {
        return false;
    }
    *due = free_pages >= VACUUM_MIN_PAGES && free_pages > pages / 4;
    return true;
}

static bool tend(struct sqlite_store *store, bool index, bool vacuum, bool names, struct err *err)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    return sqlite_begin(&store->store, &tx, err) &&
           (!index || facet_move_index(SQLITE_TX(tx), TEND_SLICE, err)) &&
           (!vacuum || db_script(&store->db, sql_script_vacuum, err)) &&
           (!names || names_step(store, err)) && tx_commit(&tx, err);
}

bool sqlite_tend(struct store *base, bool *more, struct err *err)
{
    struct sqlite_store *store = SQLITE_STORE(base);
    bool index = store->index_lag >= INDEX_LAG_TEND, vacuum = false, names = names_due(store);
    *more = false;
    if (!vacuum_due(&store->db, &vacuum, err)) {
        return false;
    }
    if (!index && !vacuum && !names) {
        return true;
    }
    if (!tend(store, index, vacuum, names, err)) {
        names_walk_end(store);
        store->names.removed_tasks = store->names.count; /* it begins anew */
        return err_wrap(err, "tend the store");
    }
    *more = vacuum || store->index_lag >= INDEX_LAG_TEND || names_due(store);
    return true;
}
