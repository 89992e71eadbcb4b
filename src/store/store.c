/* store/store.c: the door of the store: picks the kind by its url and hands every call through.
 *
 * Decides nothing else. See ops.h for what a kind must offer.
 *
 * Thread: as store.h says of each call.
 *
 * SPDX-License-Identifier: MIT */
#include "store/store.h"

#include <assert.h>

#include "store/ops.h"

struct store_kind {
    struct str scheme;
    bool (*open)(struct str rest, const struct store_options *options, struct store **out,
                 struct err *err);
};

bool store_open(const struct store_options *options, struct store **out, struct err *err)
{
    static const struct store_kind kinds[] = {
        {{"sqlite:", 7}, sqlite_store_open},
        {{"postgres://", 11}, postgres_store_open},
        {{"postgresql://", 13}, postgres_store_open},
    };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (str_starts(options->url, kinds[i].scheme)) {
            struct str rest = str_from(options->url, kinds[i].scheme.len);
            return kinds[i].open(rest, options, out, err) || err_wrap(err, "open the store");
        }
    }
    return err_field(err, "store", "must begin with sqlite: or postgres://");
}

void store_close(struct store *store)
{
    if (store != NULL) {
        store->ops->close(store);
    }
}

uint64_t store_last_id(const struct store *store)
{
    return store->ops->last_id(store);
}

uint64_t store_epoch(const struct store *store)
{
    return store->ops->epoch(store);
}

bool store_scan_live(struct store *store, store_each_fn *each, void *arg, struct err *err)
{
    return store->ops->scan_live(store, each, arg, err);
}

bool store_scan_held(struct store *store, store_held_fn *each, void *arg, struct err *err)
{
    assert(store->ops->scan_held != NULL);
    return store->ops->scan_held(store, each, arg, err);
}

bool store_begin(struct store *store, struct tx **out, struct err *err)
{
    return store->ops->begin(store, out, err);
}

bool tx_commit(struct tx **tx, struct err *err)
{
    struct tx *ending = *tx;
    *tx = NULL;
    return ending->ops->commit(ending, err);
}

void tx_close(struct tx **tx)
{
    if (*tx != NULL) {
        (*tx)->ops->abandon(*tx);
        *tx = NULL;
    }
}

bool tx_load(struct tx *tx, struct task_load *loads, size_t n, struct err *err)
{
    return tx->ops->load(tx, loads, n, err);
}

bool tx_find_keys(struct tx *tx, const struct str *keys, size_t n, struct task_id *out,
                  struct err *err)
{
    return tx->ops->find_keys(tx, keys, n, out, err);
}

/* I3 and I4, and that a row says whose it is. */
static bool is_whole(const struct task *task)
{
    bool leased = task->state == TASK_RUNNING && !task->container;
    return !id_none(task->id) && !str_absent(task->type) && !str_absent(task->queue) &&
           (task->max_retries == TASK_RETRIES_UNLIMITED || task->retries <= task->max_retries) &&
           leased == (task->lease_until_ms > 0 && !task_state_terminal(task->state));
}

bool tx_insert(struct tx *tx, const struct task *const *tasks, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        assert(is_whole(tasks[i]));
    }
    return tx->ops->insert(tx, tasks, n, err);
}

bool tx_save(struct tx *tx, struct task_change *changes, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        assert(id_eq(changes[i].was->id, changes[i].now->id) && is_whole(changes[i].now));
        assert(changes[i].was->state != TASK_COMPLETED || changes[i].now->state == TASK_COMPLETED);
    }
    return tx->ops->save(tx, changes, n, err);
}

bool tx_kin(struct tx *tx, const struct kin_query *query, struct arena *arena, struct kin_list *out,
            struct err *err)
{
    *out = (struct kin_list){0};
    return query->count == 0 || tx->ops->kin(tx, query, arena, out, err);
}

bool tx_free_document(struct tx *tx, struct str document, struct task_id holder, struct err *err)
{
    return tx->ops->free_document(tx, document, holder, err);
}

bool tx_delete(struct tx *tx, const struct task_id *ids, size_t n, struct err *err)
{
    return tx->ops->remove(tx, ids, n, err);
}

bool tx_sweep(struct tx *tx, struct store_sweep *sweep, struct err *err)
{
    return tx->ops->sweep(tx, sweep, err);
}

bool tx_select(struct tx *tx, const struct task_filter *filter, struct arena *arena,
               struct task_id **ids, size_t *count, struct err *err)
{
    return tx->ops->select(tx, filter, arena, ids, count, err);
}

bool store_tend(struct store *store, bool *more, struct err *err)
{
    return store->ops->tend(store, more, err);
}

bool store_scan_queues(struct store *store, store_queue_fn *each, void *arg, struct err *err)
{
    return store->ops->scan_queues(store, each, arg, err);
}

bool tx_save_queue(struct tx *tx, const struct store_queue *queue, struct err *err)
{
    return tx->ops->save_queue(tx, queue, err);
}

bool reader_open(struct store *store, struct reader **out, struct err *err)
{
    return store->ops->reader_open(store, out, err);
}

void reader_close(struct reader *reader)
{
    if (reader != NULL) {
        reader->ops->reader_close(reader);
    }
}

bool reader_list(struct reader *reader, const struct task_filter *filter, struct arena *arena,
                 struct task_rows *out, struct err *err)
{
    return reader->ops->list(reader, filter, arena, out, err);
}

bool reader_detail(struct reader *reader, struct task_id id, struct arena *arena, bool *found,
                   struct task_detail *out, struct err *err)
{
    return reader->ops->detail(reader, id, arena, found, out, err);
}

bool store_counts(struct store *store, struct arena *arena, struct store_counts *out,
                  struct err *err)
{
    return store->ops->counts(store, arena, out, err);
}

bool store_check(struct store *store, store_finding_fn *each, void *arg, struct err *err)
{
    return store->ops->check(store, each, arg, err);
}

void store_health(const struct store *store, struct store_health *out)
{
    store->ops->health(store, out);
}

/* ---- Records ---- */

bool tx_records_load(struct tx *tx, struct record_load *loads, size_t n, struct arena *arena,
                     struct err *err)
{
    return n == 0 || tx->ops->records_load(tx, loads, n, arena, err);
}

bool tx_records_find(struct tx *tx, enum record_kind kind, const struct str *keys, size_t n,
                     struct task_id *out, struct err *err)
{
    return n == 0 || tx->ops->records_find(tx, kind, keys, n, out, err);
}

bool tx_records_save(struct tx *tx, struct record_save *saves, size_t n, struct err *err)
{
    return n == 0 || tx->ops->records_save(tx, saves, n, err);
}

bool tx_records_delete(struct tx *tx, enum record_kind kind, const struct task_id *ids, size_t n,
                       struct err *err)
{
    return n == 0 || tx->ops->records_delete(tx, kind, ids, n, err);
}

bool tx_records_clear(struct tx *tx, enum record_kind kind, struct task_id parent, struct err *err)
{
    return tx->ops->records_clear(tx, kind, parent, err);
}

bool tx_records_due(struct tx *tx, enum record_kind kind, int64_t until_ms, size_t most,
                    struct arena *arena, struct records *out, int64_t *next_ms, struct err *err)
{
    return tx->ops->records_due(tx, kind, until_ms, most, arena, out, next_ms, err);
}

bool tx_records_list(struct tx *tx, const struct record_filter *filter, struct arena *arena,
                     struct records *out, struct err *err)
{
    return tx->ops->records_list(tx, filter, arena, out, err);
}

bool reader_records(struct reader *reader, const struct record_filter *filter, struct arena *arena,
                    struct records *out, struct err *err)
{
    return reader->ops->reader_records(reader, filter, arena, out, err);
}

bool reader_records_count(struct reader *reader, enum record_kind kind, uint32_t marks,
                          int64_t *out, struct err *err)
{
    return reader->ops->reader_records_count(reader, kind, marks, out, err);
}

bool reader_record(struct reader *reader, enum record_kind kind, struct task_id id,
                   struct arena *arena, bool *found, struct record *out, struct err *err)
{
    return reader->ops->reader_record(reader, kind, id, arena, found, out, err);
}

/* ---- Shared by several nodes ---- */

bool store_shared(const struct store *store)
{
    return store->ops->fleet != NULL;
}

bool tx_expect_open(struct tx *tx, const struct str *names, size_t count)
{
    return tx->ops->fleet->expect_open(tx, names, count);
}

bool tx_rooms(struct tx *tx, const struct str *names, size_t names_count, int64_t now_ms,
              struct arena *arena, struct store_room **out, size_t *count, struct err *err)
{
    return tx->ops->fleet->rooms(tx, names, names_count, now_ms, arena, out, count, err);
}

bool tx_propose(struct tx *tx, const struct want *want, size_t max, struct arena *arena,
                struct hint *out, size_t *count, struct err *err)
{
    return tx->ops->fleet->propose(tx, want, max, arena, out, count, err);
}

bool tx_document(struct tx *tx, struct str document, size_t most, struct arena *arena,
                 struct store_document *out, struct err *err)
{
    return tx->ops->fleet->document(tx, document, most, arena, out, err);
}

bool tx_documents(struct tx *tx, size_t most, struct arena *arena, struct store_document **out,
                  size_t *count, struct err *err)
{
    return tx->ops->fleet->documents(tx, most, arena, out, count, err);
}

bool tx_oldest(struct tx *tx, struct str queue, int64_t *out, struct err *err)
{
    return tx->ops->fleet->oldest(tx, queue, out, err);
}

bool tx_leads(struct tx *tx, struct str id, uint64_t epoch, bool *out, struct err *err)
{
    return tx->ops->fleet->leads(tx, id, epoch, out, err);
}

struct store_ground store_ground(const struct store *store)
{
    return store->ops->fleet->ground(store);
}
