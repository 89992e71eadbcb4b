/* store/postgres/remove.c: finished tasks go for good, by name or by age, and their children with
 * them.
 *
 * Thread: engine. Keeps: I7; a key lives as long as its task.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "store/postgres/postgres.h"

/* Takes the members of the family that begins at row `from` into `ids` if all of it is there, and
 * returns the row behind it. */
static size_t take_family(const PGresult *rows, size_t from, struct args *ids, bool *whole)
{
    struct task_id root = get_id(rows, from, 0);
    size_t members = (size_t)get_int(rows, from, 1), end = from;
    while (end < get_count(rows) && id_eq(get_id(rows, end, 0), root)) {
        end++;
    }
    *whole = end - from == members;
    for (size_t i = from; i < end && *whole; i++) {
        arg_id(ids, get_id(rows, i, 2));
        args_row_end(ids);
    }
    return end;
}

static bool remove_rows(struct pg_tx *tx, struct args *ids, size_t *removed, struct err *err)
{
    struct pg_call call = {.sql = PG_REMOVE_TASKS, .args = ids};
    if (ids->rows_count == 0 || !pg_tx_run(tx, &call, 1, TX_WRITES, err)) {
        return ids->rows_count == 0;
    }
    for (size_t i = 0; i < get_count(call.result); i++) {
        int64_t n = get_int(call.result, i, 2);
        pg_count(tx, get_str(call.result, i, 0), (enum task_state)get_int(call.result, i, 1), -n);
        *removed += (size_t)n;
        tx->store->removed_tasks = true;
    }
    pg_calls_fini(&call, 1);
    return true;
}

/* Calls `gone` for each of the ids whose family goes. */
typedef void gone_fn(void *arg, struct task_id root);

static bool remove_families(struct pg_tx *tx, struct args *roots, size_t *removed, gone_fn *gone,
                            void *arg, struct err *err)
{
    SCOPED(args_fini) struct args ids;
    struct pg_call call = {.sql = PG_FIND_FAMILIES, .args = roots};
    args_init(&ids, true);
    if (roots->rows_count == 0) {
        return true;
    }
    if (!pg_tx_flush(tx, err) || !pg_tx_run(tx, &call, 1, TX_READS, err)) {
        return false;
    }
    for (size_t row = 0; row < get_count(call.result);) {
        struct task_id root = get_id(call.result, row, 0);
        bool whole = false;
        row = take_family(call.result, row, &ids, &whole);
        if (whole) {
            gone(arg, root);
        }
    }
    pg_calls_fini(&call, 1);
    return remove_rows(tx, &ids, removed, err);
}

static void note_nothing(void *arg, struct task_id root)
{
    (void)arg;
    (void)root;
}

bool pg_remove(struct tx *base, const struct task_id *ids, size_t n, struct err *err)
{
    SCOPED(args_fini) struct args roots;
    size_t removed = 0;
    args_init(&roots, true);
    for (size_t i = 0; i < n; i++) {
        arg_id(&roots, ids[i]);
        arg_bool(&roots, false);
        args_row_end(&roots);
    }
    return remove_families(PG_TX(base), &roots, &removed, note_nothing, NULL, err) ||
           err_wrap(err, "delete tasks");
}

/* ---- Retention ---- */

#define SWEEP_MOST 100 /* in one transaction: others wait for it */

struct old_task {
    struct task_id id;
    int64_t finished_ms;
    bool gone;
};

struct swept {
    struct old_task *old; /* owned */
    size_t count;
};

static void swept_fini(struct swept *swept)
{
    mem_free(swept->old);
}

static void note_gone(void *arg, struct task_id root)
{
    struct swept *swept = arg;
    for (size_t i = 0; i < swept->count; i++) {
        swept->old[i].gone |= id_eq(swept->old[i].id, root);
    }
}

/* Two nodes may make ids with the same first half, which is all that the cursor holds: a page never
 * ends between them, unless it holds nothing else. */
static size_t page_end(const PGresult *rows, size_t most)
{
    size_t end = MIN(get_count(rows), most);
    if (get_count(rows) <= most) {
        return end;
    }
    uint64_t next = get_id(rows, most, 0).hi;
    while (end > 1 && get_id(rows, end - 1, 0).hi == next) {
        end--;
    }
    return end;
}

static void sweep_rows(const PGresult *rows, struct store_sweep *sweep, struct swept *swept)
{
    size_t end = page_end(rows, sweep->most);
    for (size_t i = 0; i < end; i++) {
        int64_t finished_ms = get_int(rows, i, 1);
        bool waits_for_parent = get_bool(rows, i, 2);
        sweep->cursor = get_id(rows, i, 0).hi;
        if (!waits_for_parent && finished_ms < sweep->before_ms) {
            swept->old[swept->count++] =
                (struct old_task){.id = get_id(rows, i, 0), .finished_ms = finished_ms};
        } else if (!waits_for_parent) {
            sweep->oldest_ms = MIN(sweep->oldest_ms, finished_ms);
        }
    }
    sweep->cursor = get_count(rows) < sweep->most ? 0 : sweep->cursor;
}

static bool sweep_look(struct pg_tx *tx, struct store_sweep *sweep, struct swept *swept,
                       struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_id(&args, (struct task_id){sweep->cursor, UINT64_MAX});
    arg_int(&args, (int64_t)sweep->most + 1);
    struct pg_call call = {.sql = PG_SWEEP, .args = &args};
    if (!pg_tx_run(tx, &call, 1, TX_READS, err)) {
        return false;
    }
    sweep_rows(call.result, sweep, swept);
    pg_calls_fini(&call, 1);
    return true;
}

bool pg_sweep(struct tx *base, struct store_sweep *sweep, struct err *err)
{
    sweep->most = MIN(sweep->most, (size_t)SWEEP_MOST);
    SCOPED(swept_fini)
    struct swept swept = {.old = mem_array(NULL, MAX((size_t)1, sweep->most), sizeof *swept.old)};
    SCOPED(args_fini) struct args roots;
    args_init(&roots, true);
    if (!sweep_look(PG_TX(base), sweep, &swept, err)) {
        return err_wrap(err, "sweep");
    }
    for (size_t i = 0; i < swept.count; i++) {
        arg_id(&roots, swept.old[i].id);
        arg_bool(&roots, true);
        args_row_end(&roots);
    }
    if (!remove_families(PG_TX(base), &roots, &sweep->removed, note_gone, &swept, err)) {
        return err_wrap(err, "sweep");
    }
    for (size_t i = 0; i < swept.count; i++) {
        if (!swept.old[i].gone) {
            sweep->oldest_ms = MIN(sweep->oldest_ms, swept.old[i].finished_ms);
        }
    }
    return true;
}
