/* store/postgres/check.c: the doctor's look at a store, beside running nodes.
 *
 * The invariants are SQL (check.sql), each a question whose answers are violations: an invariant
 * and a sentence. Everything is seen in one snapshot.
 *
 * Thread: the store's own.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/postgres.h"

static bool check_all(struct pg *pg, store_finding_fn *each, void *arg, struct err *err)
{
    if (!pg_ready(pg, PG_READY_MS, err) || !pg_script(pg, pg_statements[PG_BEGIN_READ].text, err)) {
        return false;
    }
    for (size_t i = 0; i < PG_CHECKS; i++) {
        PGresult *rows = NULL;
        if (!pg_ask(pg, pg_checks[i].name, pg_checks[i].text, &rows, err)) {
            return false;
        }
        for (int row = 0; row < PQntuples(rows); row++) {
            each(arg, PQgetvalue(rows, row, 0), PQgetvalue(rows, row, 1));
        }
        PQclear(rows);
    }
    return true;
}

bool pg_check(struct store *base, store_finding_fn *each, void *arg, struct err *err)
{
    struct pg_store *store = PG_STORE(base);
    struct pg *pg = pg_spare_take(store);
    bool ok = check_all(pg, each, arg, err);
    pg_read_undo(pg);
    pg_spare_put(store, pg);
    return ok || err_wrap(err, "check the store");
}
