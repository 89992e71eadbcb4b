/* store/postgres/relation.c: who is whose child, and who waits for whom.
 *
 * Nearly every task that starts or ends asks for its dependencies, and nearly none has any: what
 * was loaded in this transaction is known to have none without asking (ties, load.c).
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/postgres.h"

void get_ids(const PGresult *rows, struct arena *arena, struct task_id **ids, size_t *count)
{
    *count = get_count(rows);
    *ids = arena_array(arena, struct task_id, *count);
    for (size_t i = 0; i < *count; i++) {
        (*ids)[i] = get_id(rows, i, 0);
    }
}

static bool run_kin(struct pg_tx *tx, const struct kin_query *query, const struct task_id *ids,
                    size_t count, PGresult **rows, struct err *err)
{
    static const enum pg_id statements[KINSHIPS] = {[KIN_CHILDREN] = PG_KIN_CHILDREN,
                                                    [KIN_WAITING] = PG_KIN_WAITING,
                                                    [KIN_DEPENDENCIES] = PG_KIN_DEPENDENCIES};
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_ids(&args, ids, count);
    arg_id(&args, query->after);
    arg_int(&args, query->most == 0 ? INT64_MAX : (int64_t)query->most);
    struct pg_call call = {.sql = statements[query->kinship], .args = &args};
    if (!pg_tx_run(tx, &call, 1, TX_READS, err)) {
        return err_wrap(err, "find related tasks");
    }
    *rows = call.result;
    return true;
}

/* Rows come in the order of the ids, and those grow: one walk through both joins them. */
static void take_kin(const PGresult *rows, const struct kin_query *query, struct arena *arena,
                     struct kin_list *out)
{
    size_t of = 0;
    out->count = get_count(rows);
    out->at = arena_array(arena, struct kin, out->count + 1);
    for (size_t i = 0; i < out->count; i++) {
        while (!id_eq(query->ids[of], get_id(rows, i, 0))) {
            of++;
        }
        out->at[i] = (struct kin){of, get_id(rows, i, 1), (enum task_state)get_int(rows, i, 2)};
    }
}

bool pg_kin(struct tx *base, const struct kin_query *query, struct arena *arena,
            struct kin_list *out, struct err *err)
{
    struct pg_tx *tx = PG_TX(base);
    struct task_id *ids = arena_array(arena, struct task_id, query->count);
    PGresult *rows;
    size_t n = 0;
    for (size_t i = 0; i < query->count; i++) {
        if (query->kinship == KIN_CHILDREN ||
            !ties_none(tx, query->ids[i], query->kinship == KIN_WAITING)) {
            ids[n++] = query->ids[i];
        }
    }
    if (n == 0) {
        return true;
    }
    if (!run_kin(tx, query, ids, n, &rows, err)) {
        return false;
    }
    take_kin(rows, query, arena, out);
    PQclear(rows);
    return true;
}
