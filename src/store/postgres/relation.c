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

static bool related(struct pg_tx *tx, enum pg_id sql, struct task_id id, struct arena *arena,
                    struct task_id **ids, size_t *count, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_id(&args, id);
    struct pg_call call = {.sql = sql, .args = &args};
    if (!pg_tx_run(tx, &call, 1, TX_READS, err)) {
        return err_wrap(err, "find related tasks");
    }
    get_ids(call.result, arena, ids, count);
    pg_calls_fini(&call, 1);
    return true;
}

bool pg_children(struct tx *tx, struct task_id parent, struct arena *arena, struct task_id **ids,
                 size_t *count, struct err *err)
{
    return related(PG_TX(tx), PG_LIST_CHILDREN, parent, arena, ids, count, err);
}

static bool nobody(struct task_id **ids, size_t *count)
{
    *ids = NULL;
    *count = 0;
    return true;
}

bool pg_dependents(struct tx *tx, struct task_id id, struct arena *arena, struct task_id **ids,
                   size_t *count, struct err *err)
{
    return ties_none(PG_TX(tx), id, true)
               ? nobody(ids, count)
               : related(PG_TX(tx), PG_LIST_DEPENDENTS, id, arena, ids, count, err);
}

bool pg_dependencies(struct tx *tx, struct task_id id, struct arena *arena, struct task_id **ids,
                     size_t *count, struct err *err)
{
    return ties_none(PG_TX(tx), id, false)
               ? nobody(ids, count)
               : related(PG_TX(tx), PG_LIST_DEPENDENCIES, id, arena, ids, count, err);
}
