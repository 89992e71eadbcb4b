/* store/postgres/open.c: opens the store beside any number of others, and closes it.
 *
 * Whoever opens also clears up behind stores that died: what they counted is added up, and
 * documents that were kept for their run functions are free.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include <poll.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/postgres/fleet.h"
#include "store/postgres/postgres.h"
#include "store/postgres/record.h"

#define OPEN_WAIT_MS  (10 * SECOND_MS)
#define OPEN_ATTEMPTS 5   /* while others get in our way (SQLSTATE 40P01, 40001) */
#define OPEN_PAUSE_MS 100 /* at most, between two of them */

#define COUNTERS_CHUNK    1000 /* queues whose counters go in one transaction */
#define COUNTERS_PAUSE_US (INT64_C(60) * 1000 * 1000) /* it adds up all counters */

static void end_writing(struct pg_store *store)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_int(&args, store->node);
    struct pg_call call = {.sql = PG_REMOVE_WRITER, .args = &args};
    if (store->node != 0 && pg_up(&store->pg) && pg_run(&store->pg, &call, 1, NULL)) {
        pg_calls_fini(&call, 1);
    }
}

static void end_connection(struct pg *pg)
{
    if (pg != NULL) {
        pg_fini(pg);
        mem_free(pg);
    }
}

static void pg_close_store(struct store *base)
{
    struct pg_store *store = PG_STORE(base);
    struct pg *spare = atomic_exchange(&store->spare, NULL);
    if (store->tx.open) {
        pg_abandon(&store->tx.tx);
    }
    end_writing(store);
    pg_fini(&store->pg);
    end_connection(spare);
    end_connection(store->seized);
    count_change_fini(&store->tx.counts);
    args_fini(&store->tx.attempts);
    args_fini(&store->tx.logs);
    arena_fini(&store->tx.arena);
    counts_fini(&store->counts);
    held_fini(&store->held);
    fresh_fini(&store->fresh);
    pg_address_fini(&store->address);
    mem_free(store);
}

/* Ids are unique by their random half: nobody needs to go on behind the last one. */
static uint64_t last_id(const struct store *base)
{
    (void)base;
    return 0;
}

static uint64_t epoch(const struct store *base)
{
    return ((const struct pg_store *)base)->epoch;
}

/* The server vacuums by itself. What is left are the counters of queues whose last task was
 * removed.
 */
static bool tend(struct store *base, bool *more, struct err *err)
{
    struct pg_store *store = PG_STORE(base);
    int64_t now_us = clock_real_mono_us();
    *more = false;
    if (!store->removed_tasks || now_us < store->drop_counters_us) {
        return true;
    }
    SCOPED(tx_close) struct tx *tx = NULL;
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_int(&args, COUNTERS_CHUNK);
    struct pg_call call = {.sql = PG_DROP_COUNTERS, .args = &args};
    if (!pg_begin(base, &tx, err) || !pg_tx_run(PG_TX(tx), &call, 1, TX_WRITES, err)) {
        return err_wrap(err, "drop counters");
    }
    *more = get_count(call.result) >= COUNTERS_CHUNK;
    pg_calls_fini(&call, 1);
    store->removed_tasks = *more;
    store->drop_counters_us = *more ? now_us : now_us + COUNTERS_PAUSE_US;
    return tx_commit(&tx, err);
}

static const struct fleet_ops fleet = {
    .rooms = pg_rooms,
    .expect_open = pg_expect_open,
    .propose = pg_propose,
    .document = pg_document,
    .documents = pg_documents,
    .oldest = pg_oldest,
    .leads = pg_leads,
    .ground = pg_ground,
    .steward_open = steward_open,
};

static const struct store_ops ops = {
    .close = pg_close_store,
    .last_id = last_id,
    .epoch = epoch,
    .scan_live = pg_scan_live,
    .begin = pg_begin,
    .commit = pg_commit,
    .abandon = pg_abandon,
    .load = pg_load,
    .find_keys = pg_find_keys,
    .insert = pg_insert,
    .save = pg_save,
    .kin = pg_kin,
    .free_document = pg_free_document,
    .remove = pg_remove,
    .sweep = pg_sweep,
    .select = pg_select,
    .tend = tend,
    .scan_queues = pg_scan_queues,
    .save_queue = pg_save_queue,
    .reader_open = pg_reader_open,
    .reader_close = pg_reader_close,
    .list = pg_list,
    .detail = pg_detail,
    .counts = pg_counts,
    .records_load = pg_records_load,
    .records_find = pg_records_find,
    .records_save = pg_records_save,
    .records_delete = pg_records_delete,
    .records_clear = pg_records_clear,
    .records_due = pg_records_due,
    .records_list = pg_records_list,
    .reader_records = pg_reader_records,
    .reader_records_count = pg_reader_records_count,
    .reader_record = pg_reader_record,
    .fleet = &fleet,
    .check = pg_check,
    .health = pg_health,
    .move = &pg_move,
};

/* Says that this store writes, and clears up behind the dead. */
static bool begin_writing(struct pg_store *store, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    store->node = (int64_t)(rand_u64(&store->pg.rand) >> 1 | 1);
    arg_int(&args, store->node);
    struct pg_call calls[] = {
        {.sql = PG_BEGIN},          {.sql = PG_GROW_EPOCH},
        {.sql = PG_FORGET_WRITERS}, {.sql = PG_ADD_WRITER, .args = &args},
        {.sql = PG_DROP_STRAYS},    {.sql = PG_ADD_MARK, .args = &args},
        {.sql = PG_FOLD_COUNTERS},  {.sql = PG_LIMITS},
        {.sql = PG_COMMIT},
    };
    if (!pg_run(&store->pg, calls, ARRAY_LEN(calls), err)) {
        store->node = 0;
        return false;
    }
    store->epoch = (uint64_t)get_int(calls[1].result, 0, 0);
    bool known = pg_ground_check(store, calls[7].result, err);
    pg_calls_fini(calls, ARRAY_LEN(calls));
    return known;
}

static bool read_epoch(struct pg_store *store, struct err *err)
{
    struct pg_call call = {.sql = PG_READ_META};
    if (!pg_run(&store->pg, &call, 1, err)) {
        return false;
    }
    store->epoch = get_count(call.result) == 0 ? 0 : (uint64_t)get_int(call.result, 0, 2);
    pg_calls_fini(&call, 1);
    return true;
}

static bool open_once(struct pg_store *store, const struct store_options *options, struct err *err)
{
    if (!pg_ready(&store->pg, OPEN_WAIT_MS, err)) {
        if (store->pg.denied && err != NULL) {
            err->kind = ERR_INVALID; /* waiting would not help */
        }
        return false;
    }
    /* Texts are sent as UTF-8 and must come back as such. */
    const char *encoding = PQparameterStatus(store->pg.conn, "server_encoding");
    if (encoding == NULL || strcmp(encoding, "UTF8") != 0) {
        return err_set(err, ERR_INVALID, "the database must be in UTF8, and is in %s",
                       encoding == NULL ? "nothing" : encoding);
    }
    if (!pg_migrate(&store->pg, options, err)) {
        return false;
    }
    if (!options->read_only && !options->no_migrate) {
        pg_plans_open(&store->address.plans, &store->pg);
    }
    if (!str_absent(options->tidies_for)) {
        pg_plans_tidy(&store->address.plans, &store->pg, options->tidies_for);
    }
    return options->read_only ? read_epoch(store, err) : begin_writing(store, err);
}

/* Migrations and what nodes clear up when they start may wait for each other in a circle; then the
 * server ends one of them, and it is only to begin again. */
static bool open_again(struct pg_store *store, const struct store_options *options, struct err *err)
{
    struct err why = ERR_INIT;
    for (int left = OPEN_ATTEMPTS; left > 0; left--) {
        why = ERR_INIT;
        if (open_once(store, options, &why)) {
            return true;
        }
        if (why.kind != ERR_CONFLICT) {
            break;
        }
        log_info("open the store: %s", why.text);
        pg_drop(&store->pg); /* with whatever it was in the middle of */
        poll(NULL, 0, (int)rand_below(&store->pg.rand, OPEN_PAUSE_MS) + 1);
    }
    if (err != NULL) {
        *err = why;
    }
    return false;
}

bool postgres_store_open(struct str rest, const struct store_options *options, struct store **out,
                         struct err *err)
{
    struct pg_store *store = mem_new(struct pg_store);
    (void)rest; /* libpq reads the url as a whole */
    store->store.ops = &ops;
    counts_init(&store->counts);
    held_init(&store->held);
    fresh_init(&store->fresh);
    args_init(&store->tx.attempts, true);
    args_init(&store->tx.logs, true);
    pg_init(&store->pg, &store->address);
    if (!pg_address_parse(options->url, &store->address, err) || !open_again(store, options, err)) {
        pg_close_store(&store->store);
        return false;
    }
    *out = &store->store;
    return true;
}
