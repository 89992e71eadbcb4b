/* store/postgres/spare.c: a connection that any thread may borrow for a moment, and reading over
 * it.
 *
 * The slot holds one connection or none. Whoever finds it empty makes a new one, and whoever brings
 * one back while it is full closes it: no lock is held while anybody waits for the server.
 *
 * Thread: any for the slot; a borrowed connection is the borrower's.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "store/postgres/postgres.h"

#define READ_CALLS_MAX 12

struct pg *pg_spare_take(struct pg_store *store)
{
    struct pg *pg = atomic_exchange(&store->spare, NULL);
    if (pg == NULL) {
        pg = mem_new(struct pg);
        pg_init(pg, &store->address);
    }
    return pg;
}

void pg_spare_put(struct pg_store *store, struct pg *pg)
{
    struct pg *before = atomic_exchange(&store->spare, pg);
    if (before != NULL) {
        pg_fini(before);
        mem_free(before);
    }
}

static bool read_once(struct pg *pg, struct pg_call *calls, size_t n, struct err *err)
{
    struct pg_call all[READ_CALLS_MAX + 3] = {{.sql = PG_BEGIN_READ}, {.sql = PG_LIMITS}};
    memcpy(all + 2, calls, n * sizeof *calls);
    all[n + 2] = (struct pg_call){.sql = PG_COMMIT};
    if (!pg_run(pg, all, n + 3, err)) {
        return false;
    }
    pg_calls_fini(all, 2);
    pg_calls_fini(all + n + 2, 1);
    memcpy(calls, all + 2, n * sizeof *calls);
    return true;
}

/* A statement failed on a connection that is well: the transaction around it must end. */
void pg_read_undo(struct pg *pg)
{
    struct pg_call rollback = {.sql = PG_ROLLBACK};
    if (pg_up(pg) && pg_run(pg, &rollback, 1, NULL)) {
        pg_calls_fini(&rollback, 1);
    }
}

bool pg_read_run(struct pg *pg, struct pg_call *calls, size_t n, struct err *err)
{
    bool was_up = pg_up(pg);
    if (!pg_ready(pg, PG_READY_MS, err)) {
        return false;
    }
    if (read_once(pg, calls, n, err)) {
        return true;
    }
    pg_read_undo(pg);
    /* The server may have gone and come back since it was last used: reading again is harmless. */
    return was_up && !pg_up(pg) && pg_ready(pg, PG_READY_MS, err) && read_once(pg, calls, n, err);
}
