/* tests/conformance/store_postgres_pair.h: two nodes on one database.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_STORE_POSTGRES_PAIR_H
#define ERRAND_TESTS_STORE_POSTGRES_PAIR_H

#include "store/fleet.h"
#include "store_suite.h"

struct pair {
    struct bench b; /* the first node's store is the bench's */
    struct store *other;
    struct steward *steward; /* of the first */
};

void pair_init(struct pair *p);
void pair_fini(struct pair *p);

struct tx *pair_begin(struct store *store);
void pair_commit(struct tx *tx);

/* A stored task. */
struct task pair_queued(struct pair *p, const char *queue, const char *type,
                        enum task_priority priority, const char *document);

#endif
