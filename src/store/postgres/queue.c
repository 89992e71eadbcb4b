/* store/postgres/queue.c: the settings of queues, and how many tasks they have.
 *
 * Thread: engine; pg_counts() any. Keeps: I7 (counters = rows, in the same transaction).
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/postgres.h"

bool pg_scan_queues(struct store *base, store_queue_fn *each, void *arg, struct err *err)
{
    struct pg_call call = {.sql = PG_LIST_QUEUES};
    bool ok = true;
    if (!pg_read_run(&PG_STORE(base)->pg, &call, 1, err)) {
        return err_wrap(err, "read queues");
    }
    for (size_t i = 0; i < get_count(call.result) && ok; i++) {
        struct store_queue queue = {.name = get_str(call.result, i, 0),
                                    .paused = get_bool(call.result, i, 1),
                                    .max_concurrent = get_int(call.result, i, 2),
                                    .rate_per_second = get_real(call.result, i, 3),
                                    .burst = get_int(call.result, i, 4)};
        ok = each(arg, &queue, err);
    }
    pg_calls_fini(&call, 1);
    return ok;
}

bool pg_save_queue(struct tx *base, const struct store_queue *queue, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_text(&args, queue->name);
    arg_bool(&args, queue->paused);
    arg_int(&args, queue->max_concurrent);
    arg_real(&args, queue->rate_per_second);
    arg_int(&args, queue->burst);
    struct pg_call call = {.sql = PG_SAVE_QUEUE, .args = &args};
    if (!pg_tx_run(PG_TX(base), &call, 1, TX_WRITES, err)) {
        return err_wrap(err, "save a queue");
    }
    pg_calls_fini(&call, 1);
    return true;
}

bool pg_counts(struct store *base, struct arena *arena, struct store_counts *out, struct err *err)
{
    struct pg_store *store = PG_STORE(base);
    struct pg *pg = pg_spare_take(store);
    struct pg_call call = {.sql = PG_LIST_COUNTS};
    bool ok = pg_read_run(pg, &call, 1, err);
    pg_spare_put(store, pg);
    if (!ok) {
        return err_wrap(err, "count tasks");
    }
    out->count = get_count(call.result);
    out->at = arena_array(arena, struct store_count, out->count);
    for (size_t i = 0; i < out->count; i++) {
        out->at[i].queue = arena_str(arena, get_str(call.result, i, 0));
        for (int state = 0; state < TASK_STATES; state++) {
            out->at[i].tasks[state] = get_int(call.result, i, 1 + state);
        }
    }
    pg_calls_fini(&call, 1);
    return true;
}

bool pg_counts_args(struct pg_tx *tx, struct args *args)
{
    for (size_t i = 0; i < tx->counts.touched_count; i++) {
        size_t slot = tx->counts.touched[i];
        arg_int(args, tx->store->node);
        arg_text(args, counts_name(&tx->store->counts, slot));
        for (int state = 0; state < TASK_STATES; state++) {
            arg_int(args, tx->counts.at[slot].tasks[state]);
        }
        args_row_end(args);
    }
    return args->rows_count > 0;
}
