/* store/postgres/record.h: what record.c gives to the store's table of functions.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_POSTGRES_RECORD_H
#define ERRAND_STORE_POSTGRES_RECORD_H

#include "store/ops.h"

bool pg_records_load(struct tx *tx, struct record_load *loads, size_t n, struct arena *arena,
                     struct err *err);
bool pg_records_find(struct tx *tx, enum record_kind kind, const struct str *keys, size_t n,
                     struct task_id *out, struct err *err);
bool pg_records_save(struct tx *tx, struct record_save *saves, size_t n, struct err *err);
bool pg_records_delete(struct tx *tx, enum record_kind kind, const struct task_id *ids, size_t n,
                       struct err *err);
bool pg_records_clear(struct tx *tx, enum record_kind kind, struct task_id parent, struct err *err);
bool pg_records_due(struct tx *tx, enum record_kind kind, int64_t until_ms, size_t most,
                    struct arena *arena, struct records *out, int64_t *next_ms, struct err *err);
bool pg_records_list(struct tx *tx, const struct record_filter *filter, struct arena *arena,
                     struct records *out, struct err *err);
bool pg_reader_records(struct reader *reader, const struct record_filter *filter,
                       struct arena *arena, struct records *out, struct err *err);
bool pg_reader_records_count(struct reader *reader, enum record_kind kind, uint32_t marks,
                             int64_t *out, struct err *err);
bool pg_reader_record(struct reader *reader, enum record_kind kind, struct task_id id,
                      struct arena *arena, bool *found, struct record *out, struct err *err);

#endif
