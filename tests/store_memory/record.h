/* tests/store_memory/record.h: the records of the memory store: a pile on the disk, one in a
 * transaction.
 *
 * A record is never changed once it lies on the disk: a transaction puts new ones on a pile of its
 * own, and a commit lays them in place of the old ones.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_STORE_MEMORY_RECORD_H
#define ERRAND_TESTS_STORE_MEMORY_RECORD_H

#include "base/map.h"
#include "store/ops.h"

#define RECORD_KINDS (RECORD_CLOUD_NAME + 1)

/* Its texts lie behind it. */
struct kept {
    struct record record;
    bool gone; /* in a transaction: deleted */
    bool has_key;
    struct map_node key_node;
};

struct pile {
    struct kept_list {
        struct kept **at; /* owned, what it points to too; by id, rising */
        size_t count, room;
    } kinds[RECORD_KINDS];
    struct map keys;
};

void pile_fini(struct pile *pile); /* as new */
/* Lays what a transaction changed on the disk's pile; *over is as new then. */
void pile_place(struct pile *base, struct pile *over);
void pile_check(const struct pile *pile, store_finding_fn *each, void *arg);

/* Whether a record is there and that owner's, as a transaction sees it; `over` may be NULL. */
bool pile_owned(const struct pile *over, const struct pile *base, enum record_kind kind,
                struct task_id id, struct str owner);

bool memory_records_load(struct tx *tx, struct record_load *loads, size_t n, struct arena *arena,
                         struct err *err);
bool memory_records_find(struct tx *tx, enum record_kind kind, const struct str *keys, size_t n,
                         struct task_id *out, struct err *err);
bool memory_records_save(struct tx *tx, struct record_save *saves, size_t n, struct err *err);
bool memory_records_delete(struct tx *tx, enum record_kind kind, const struct task_id *ids,
                           size_t n, struct err *err);
bool memory_records_clear(struct tx *tx, enum record_kind kind, struct task_id parent,
                          struct err *err);
bool memory_records_due(struct tx *tx, enum record_kind kind, int64_t until_ms, size_t most,
                        struct arena *arena, struct records *out, int64_t *next_ms,
                        struct err *err);
bool memory_records_list(struct tx *tx, const struct record_filter *filter, struct arena *arena,
                         struct records *out, struct err *err);
bool memory_reader_records(struct reader *reader, const struct record_filter *filter,
                           struct arena *arena, struct records *out, struct err *err);
bool memory_reader_records_count(struct reader *reader, enum record_kind kind, uint32_t marks,
                                 int64_t *out, struct err *err);
bool memory_reader_record(struct reader *reader, enum record_kind kind, struct task_id id,
                          struct arena *arena, bool *found, struct record *out, struct err *err);

#endif
