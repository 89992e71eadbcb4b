/* store/ops.h: what stands behind store.h: one table of functions for each kind of store.
 *
 * A kind embeds struct store, tx and reader at the beginning of its own. The functions mean what
 * store.h says of their namesakes; store.c picks the table by the url and calls through it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_OPS_H
#define ERRAND_STORE_OPS_H

#include "store/fleet.h"
#include "store/move.h"
#include "store/record.h"
#include "store/store.h"

/* What only a store that several nodes share has: see fleet.h. */
struct fleet_ops {
    bool (*rooms)(struct tx *tx, const struct str *names, size_t names_count, int64_t now_ms,
                  struct arena *arena, struct store_room **out, size_t *count, struct err *err);
    bool (*expect_open)(struct tx *tx, const struct str *names, size_t count);
    bool (*propose)(struct tx *tx, const struct want *want, size_t max, struct arena *arena,
                    struct hint *out, size_t *count, struct err *err);
    bool (*document)(struct tx *tx, struct str document, size_t most, struct arena *arena,
                     struct store_document *out, struct err *err);
    bool (*documents)(struct tx *tx, size_t most, struct arena *arena, struct store_document **out,
                      size_t *count, struct err *err);
    bool (*oldest)(struct tx *tx, struct str queue, int64_t *out, struct err *err);
    bool (*leads)(struct tx *tx, struct str id, uint64_t epoch, bool *out, struct err *err);
    struct store_ground (*ground)(const struct store *store);
    bool (*steward_open)(struct store *store, struct steward **out, struct err *err);
};

struct store_ops {
    void (*close)(struct store *store);
    uint64_t (*last_id)(const struct store *store);
    uint64_t (*epoch)(const struct store *store);
    bool (*scan_live)(struct store *store, store_each_fn *each, void *arg, struct err *err);
    bool (*scan_held)(struct store *store, store_held_fn *each, void *arg,
                      struct err *err); /* NULL: a shared store */

    bool (*begin)(struct store *store, struct tx **out, struct err *err);
    bool (*commit)(struct tx *tx, struct err *err); /* the tx is over, however it ends */
    void (*abandon)(struct tx *tx);
    bool (*load)(struct tx *tx, struct task_load *loads, size_t n, struct err *err);
    bool (*find_keys)(struct tx *tx, const struct str *keys, size_t n, struct task_id *out,
                      struct err *err);
    bool (*insert)(struct tx *tx, const struct task *const *tasks, size_t n, struct err *err);
    bool (*save)(struct tx *tx, struct task_change *changes, size_t n, struct err *err);
    bool (*kin)(struct tx *tx, const struct kin_query *query, struct arena *arena,
                struct kin_list *out, struct err *err);
    bool (*free_document)(struct tx *tx, struct str document, struct task_id holder,
                          struct err *err);
    bool (*remove)(struct tx *tx, const struct task_id *ids, size_t n, struct err *err);
    bool (*sweep)(struct tx *tx, struct store_sweep *sweep, struct err *err);
    bool (*select)(struct tx *tx, const struct task_filter *filter, struct arena *arena,
                   struct task_id **ids, size_t *count, struct err *err);
    bool (*tend)(struct store *store, bool *more, struct err *err);

    bool (*scan_queues)(struct store *store, store_queue_fn *each, void *arg, struct err *err);
    bool (*save_queue)(struct tx *tx, const struct store_queue *queue, struct err *err);

    bool (*reader_open)(struct store *store, struct reader **out, struct err *err);
    void (*reader_close)(struct reader *reader);
    bool (*list)(struct reader *reader, const struct task_filter *filter, struct arena *arena,
                 struct task_rows *out, struct err *err);
    bool (*detail)(struct reader *reader, struct task_id id, struct arena *arena, bool *found,
                   struct task_detail *out, struct err *err);
    bool (*counts)(struct store *store, struct arena *arena, struct store_counts *out,
                   struct err *err);
    bool (*records_load)(struct tx *tx, struct record_load *loads, size_t n, struct arena *arena,
                         struct err *err);
    bool (*records_find)(struct tx *tx, enum record_kind kind, const struct str *keys, size_t n,
                         struct task_id *out, struct err *err);
    bool (*records_save)(struct tx *tx, struct record_save *saves, size_t n, struct err *err);
    bool (*records_delete)(struct tx *tx, enum record_kind kind, const struct task_id *ids,
                           size_t n, struct err *err);
    bool (*records_clear)(struct tx *tx, enum record_kind kind, struct task_id parent,
                          struct err *err);
    bool (*records_due)(struct tx *tx, enum record_kind kind, int64_t until_ms, size_t most,
                        struct arena *arena, struct records *out, int64_t *next_ms,
                        struct err *err);
    bool (*records_list)(struct tx *tx, const struct record_filter *filter, struct arena *arena,
                         struct records *out, struct err *err);
    bool (*reader_records)(struct reader *reader, const struct record_filter *filter,
                           struct arena *arena, struct records *out, struct err *err);
    bool (*reader_records_count)(struct reader *reader, enum record_kind kind, uint32_t marks,
                                 int64_t *out, struct err *err);
    bool (*reader_record)(struct reader *reader, enum record_kind kind, struct task_id id,
                          struct arena *arena, bool *found, struct record *out, struct err *err);

    const struct fleet_ops *fleet; /* NULL: an embedded store */
    const struct move_ops *move;

    bool (*check)(struct store *store, store_finding_fn *each, void *arg, struct err *err);
    void (*health)(const struct store *store, struct store_health *out);
};

struct store {
    const struct store_ops *ops;
};

struct tx {
    const struct store_ops *ops;
};

struct reader {
    const struct store_ops *ops;
};

/* `rest` is the url behind its scheme. */
bool sqlite_store_open(struct str rest, const struct store_options *options, struct store **out,
                       struct err *err);
bool postgres_store_open(struct str rest, const struct store_options *options, struct store **out,
                         struct err *err);

#endif
