/* tests/conformance/record_bench.h: how the store suite saves and loads records.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_RECORD_BENCH_H
#define ERRAND_TESTS_RECORD_BENCH_H

#include "store/record.h"
#include "store_suite.h"

#define PARENT_A ((struct task_id){70, 1})
#define PARENT_B ((struct task_id){70, 2})

/* A schedule; not stored yet. Small ids read well in a list. */
struct record bench_record(uint64_t hi);

struct tx *bench_begin(struct bench *b);
void bench_commit(struct tx *tx);

/* Was it applied, was it found? Without a transaction each is one of its own. */
bool record_save_in(struct tx *tx, const struct record *record);
bool record_saved(struct bench *b, const struct record *record);
bool record_load_in(struct bench *b, struct tx *tx, enum record_kind kind, struct task_id id,
                    struct record *out);
bool record_loaded(struct bench *b, enum record_kind kind, struct task_id id, struct record *out);

/* The ids that a list gave, as "3 2 1", with a "+" behind when there are more. */
const char *records_told(struct bench *b, const struct records *records);

/* Fails unless all but the version is the same, byte for byte. */
void check_same_record(const struct record *got, const struct record *want, int64_t version);

#endif
