/* store/sqlite/facet.h: the index for rare lookups; see facet.c.
 *
 * Thread: engine; facet_choose() and the hashes any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_SQLITE_FACET_H
#define ERRAND_STORE_SQLITE_FACET_H

#include "store/store.h"

struct db;
struct sqlite_tx;

/* Relations (team, schedule; parents have a table of their own) are indexed at once: few tasks have
 * them and theirs lie side by side. Labels (document, external id, tags) are indexed late. */
#define FACET_RELATIONS_MAX 2
#define FACET_LABELS_MAX    (TASK_TAGS_MAX + 2)

/* Each fills `out` with the hashes under which the task can be found; returns how many. */
size_t facet_relations(const struct task *task, uint64_t out[static FACET_RELATIONS_MAX]);
size_t facet_labels(const struct task *task, uint64_t out[static FACET_LABELS_MAX]);
bool facet_insert_relations(struct sqlite_tx *tx, const struct task *task, struct err *err);
bool facet_insert_labels(struct sqlite_tx *tx, const struct task *task, struct err *err);
bool facet_delete(struct sqlite_tx *tx, const struct task *task, struct err *err);

/* The most telling field that the filter names. */
struct facet_choice {
    bool any;  /* false: it names none */
    bool late; /* a label: newer tasks must be scanned */
    uint64_t h;
};
struct facet_choice facet_choose(const struct task_filter *filter);

/* How far the index of labels reaches, as this connection sees it. */
bool facet_indexed(struct db *db, int64_t *k, struct err *err);
/* Brings the index of labels forward by up to `most` tasks. */
bool facet_move_index(struct sqlite_tx *tx, size_t most, struct err *err);

#endif
