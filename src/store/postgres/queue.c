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
    *out = (struct store_counts){.count = get_count(call.result)};
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

/* ---- Rate limits ---- */

/* How many attempts this transaction began in one queue. */
struct starts {
    struct map_node node;
    struct str queue;
    int64_t count, at_ms;
};

static struct starts *starts_of(struct pg_tx *tx, struct str queue)
{
    uint64_t hash = str_hash(queue);
    for (struct map_node *n = map_find(&tx->starts, hash); n != NULL; n = map_again(n)) {
        struct starts *starts = HOLDER(n, struct starts, node);
        if (str_eq(starts->queue, queue)) {
            return starts;
        }
    }
    struct starts *starts = arena_new(&tx->arena, struct starts);
    starts->queue = arena_str(&tx->arena, queue);
    map_add(&tx->starts, &starts->node, hash);
    return starts;
}

void pg_note_start(struct pg_tx *tx, const struct task *task)
{
    if (!tx->no_rates) {
        struct starts *starts = starts_of(tx, task->queue);
        starts->count++;
        starts->at_ms = MAX(starts->at_ms, task->updated_ms);
    }
}

bool pg_starts_args(const struct pg_tx *tx, struct args *args)
{
    struct map_walk at = MAP_WALK;
    for (struct map_node *n; (n = map_walk(&tx->starts, &at)) != NULL;) {
        const struct starts *starts = HOLDER(n, struct starts, node);
        arg_text(args, starts->queue);
        arg_int(args, starts->count);
        arg_int(args, starts->at_ms);
        args_row_end(args);
    }
    return args->rows_count > 0;
}
