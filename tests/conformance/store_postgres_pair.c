/* tests/conformance/store_postgres_pair.c: two nodes on one database.
 *
 * SPDX-License-Identifier: MIT */
#include "store_postgres_pair.h"

void pair_init(struct pair *p)
{
    struct err err = ERR_INIT;
    bench_init(&p->b);
    p->other = place_open(p->b.place);
    CHECK_OK(steward_open(p->b.store, &p->steward, &err));
}

void pair_fini(struct pair *p)
{
    steward_close(p->steward);
    store_close(p->other);
    bench_fini(&p->b);
}

struct tx *pair_begin(struct store *store)
{
    struct err err = ERR_INIT;
    struct tx *tx = NULL;
    CHECK_OK(store_begin(store, &tx, &err));
    return tx;
}

void pair_commit(struct tx *tx)
{
    struct err err = ERR_INIT;
    CHECK_OK(tx_commit(&tx, &err));
}

struct task pair_queued(struct pair *p, const char *queue, const char *type,
                        enum task_priority priority, const char *document)
{
    struct task task = bench_task(&p->b);
    task.queue = str_of(queue);
    task.type = str_of(type);
    task.priority = priority;
    task.document = str_of(document);
    bench_insert(&p->b, &task);
    return task;
}
