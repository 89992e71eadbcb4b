/* store/postgres/tx.c: one transaction for a batch, on disk when its commit returns.
 *
 * BEGIN goes out with the first statement; counters, attempts, logs and what rate limits
 * charge go out with the COMMIT, and so does everything whose outcome is certain (pg_tx_defer):
 * where nothing must be decided in between, a batch is one trip. What was taken for certain says so
 * in its statement, which fails the transaction if it was not: nothing has happened then, and the
 * next transaction is a careful one, in which every statement is answered before the next.
 *
 * If the connection breaks while a COMMIT is under way, nobody knows what happened: a new
 * connection looks for the mark that the transaction would have left (004_marks.sql).
 *
 * Thread: engine. Keeps: G1, I7, rule 5.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <poll.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

#define TX_CALLS_MAX     12
#define PENDING_BYTES    (16 * MIB)    /* more does not wait for the commit */
#define OUTCOME_MAX_US   (3 * 1000000) /* so long a lost commit is asked about */
#define OUTCOME_PAUSE_MS 50

bool pg_begin(struct store *base, struct tx **out, struct err *err)
{
    struct pg_store *store = PG_STORE(base);
    struct pg_tx *tx = &store->tx;
    assert(!tx->open); /* one at a time */
    if (store->node == 0) {
        return err_set(err, ERR_INTERNAL, "begin: the store was opened for reading only");
    }
    store->careful |= !pg_up(&store->pg); /* whoever answers may be another server */
    if (!pg_ready(&store->pg, PG_READY_MS, err)) {
        return err_wrap(err, "begin");
    }
    tx->tx.ops = store->store.ops;
    tx->store = store;
    tx->open = true;
    tx->begun = tx->adopts = false;
    tx->mark = 0;
    tx->xid = 0;
    *out = &tx->tx;
    return true;
}

static void drop_pending(struct pg_tx *tx)
{
    for (size_t i = 0; i < tx->pending_count; i++) {
        args_fini(tx->pending[i].args);
        mem_free(tx->pending[i].args);
    }
    tx->pending_count = 0;
    tx->pending_bytes = 0;
}

/* What memory holds for the length of a transaction. */
static void forget(struct pg_tx *tx)
{
    tx->open = tx->begun = false;
    counts_abandon(&tx->store->counts, &tx->counts);
    args_clear(&tx->attempts);
    args_clear(&tx->logs);
    drop_pending(tx);
    held_abandon(&tx->store->held);
    fresh_abandon(&tx->store->fresh);
    map_fini(&tx->ties);
    tx->ties = MAP_INIT;
    map_fini(&tx->starts);
    tx->starts = MAP_INIT;
    tx->no_rates = false;
    map_fini(&tx->proposed);
    tx->proposed = MAP_INIT;
    tx->walked.id = TASK_ID_NONE;
    arena_clear(&tx->arena);
}

void pg_abandon(struct tx *base)
{
    struct pg_tx *tx = PG_TX(base);
    struct pg *pg = &tx->store->pg;
    struct pg_call rollback = {.sql = PG_ROLLBACK};
    if (tx->begun && pg_up(pg)) {
        if (pg_run(pg, &rollback, 1, NULL)) {
            pg_calls_fini(&rollback, 1);
        } else {
            pg_drop(pg); /* then the server rolls back */
        }
    }
    forget(tx);
}

/* What goes out before the calls of a trip: the beginning, what waited, and this store's mark. */
struct lead {
    struct pg_call calls[TX_PENDING_MAX + 4];
    size_t count;
    struct args mark, ground;
};

static void lead_fini(struct lead *lead)
{
    args_fini(&lead->mark);
    args_fini(&lead->ground);
}

static void lead_add(struct lead *lead, enum pg_id sql, struct args *args)
{
    lead->calls[lead->count++] = (struct pg_call){.sql = sql, .args = args};
}

/* `blind`: the COMMIT is part of this trip, so nobody can look before it on whom we stand. */
static void lead_fill(struct pg_tx *tx, struct lead *lead, enum tx_use use, bool blind)
{
    struct pg_store *store = tx->store;
    lead->count = 0;
    args_init(&lead->mark, false);
    args_init(&lead->ground, false);
    if (!tx->begun) {
        lead_add(lead, PG_BEGIN, NULL);
        lead_add(lead, PG_LIMITS, NULL);
    }
    if (!tx->begun && blind) {
        arg_int(&lead->ground, store->server);
        arg_small(&lead->ground, PG_MIGRATIONS);
        lead_add(lead, PG_STAND_FIRM, &lead->ground);
    }
    for (size_t i = 0; i < tx->pending_count; i++) {
        lead->calls[lead->count++] = tx->pending[i];
    }
    if (tx->mark == 0 && (use == TX_WRITES || tx->pending_count > 0)) {
        tx->mark = store->mark + store->doubtful + 1;
        arg_int(&lead->mark, store->node);
        arg_int(&lead->mark, (int64_t)tx->mark);
        lead_add(lead, PG_RAISE_MARK, &lead->mark);
    }
}

static bool run_trip(struct pg_tx *tx, struct pg_call *calls, size_t n, enum tx_use use, bool blind,
                     struct err *err)
{
    SCOPED(lead_fini) struct lead lead;
    struct pg_call all[ARRAY_LEN(lead.calls) + TX_CALLS_MAX];
    bool begins = !tx->begun;
    assert(n <= TX_CALLS_MAX);
    lead_fill(tx, &lead, use, blind);
    memcpy(all, lead.calls, lead.count * sizeof *all);
    if (n > 0) { /* else `calls` may be NULL */
        memcpy(all + lead.count, calls, n * sizeof *calls);
    }
    tx->begun = true;
    if (!pg_run(&tx->store->pg, all, lead.count + n, err)) {
        tx->store->careful = true;
        return false;
    }
    if (begins && !blind && !pg_ground_check(tx->store, all[1].result, err)) {
        pg_calls_fini(all, lead.count + n);
        return false;
    }
    if (n > 0) {
        memcpy(calls, all + lead.count, n * sizeof *calls);
    }
    for (size_t i = 0; i < lead.count; i++) {
        tx->xid = all[i].sql == PG_RAISE_MARK ? (uint32_t)get_int(all[i].result, 0, 0) : tx->xid;
    }
    pg_calls_fini(all, lead.count);
    drop_pending(tx);
    return true;
}

bool pg_tx_run(struct pg_tx *tx, struct pg_call *calls, size_t n, enum tx_use use, struct err *err)
{
    return run_trip(tx, calls, n, use, false, err);
}

bool pg_tx_defer(struct pg_tx *tx, enum pg_id sql, struct args *args, size_t bytes, struct err *err)
{
    struct args *kept = mem_alloc(sizeof *kept);
    *kept = *args;
    args_init(args, kept->rows);
    tx->pending[tx->pending_count++] = (struct pg_call){.sql = sql, .args = kept};
    tx->pending_bytes += bytes;
    bool full = tx->pending_count == TX_PENDING_MAX || tx->pending_bytes > PENDING_BYTES;
    return !(full || tx->store->careful) || run_trip(tx, NULL, 0, TX_WRITES, false, err);
}

static size_t add_waiting(struct pg_tx *tx, struct pg_call *calls)
{
    size_t n = 0;
    if (tx->attempts.rows_count > 0) {
        calls[n++] = (struct pg_call){.sql = PG_INSERT_ATTEMPTS, .args = &tx->attempts};
    }
    if (tx->logs.rows_count > 0) {
        calls[n++] = (struct pg_call){.sql = PG_APPEND_LOGS, .args = &tx->logs};
        calls[n++] = (struct pg_call){.sql = PG_TRIM_LOGS, .args = &tx->logs};
    }
    return n;
}

bool pg_tx_flush(struct pg_tx *tx, struct err *err)
{
    struct pg_call calls[TX_CALLS_MAX];
    size_t n = add_waiting(tx, calls);
    if (n == 0) {
        return true;
    }
    if (!pg_tx_run(tx, calls, n, TX_WRITES, err)) {
        return false;
    }
    pg_calls_fini(calls, n);
    args_clear(&tx->attempts);
    args_clear(&tx->logs);
    return true;
}

/* ---- The end ---- */

enum commit { COMMIT_UNKNOWN, COMMIT_KEPT, COMMIT_UNDONE };

static enum commit ask_outcome(struct pg_store *store, uint64_t mark)
{
    SCOPED(args_fini) struct args args;
    enum commit outcome = COMMIT_UNKNOWN;
    args_init(&args, false);
    arg_int(&args, store->node);
    struct pg_call call = {.sql = PG_READ_OUTCOME, .args = &args};
    if (!pg_ready(&store->pg, PG_READY_MS, NULL) || !pg_run(&store->pg, &call, 1, NULL)) {
        return COMMIT_UNKNOWN;
    }
    if (get_count(call.result) == 1) { /* else it is still under way */
        uint64_t last = (uint64_t)get_int(call.result, 0, 0);
        outcome = last >= mark ? COMMIT_KEPT : COMMIT_UNDONE;
    }
    pg_calls_fini(&call, 1);
    return outcome;
}

/* The answer to a COMMIT was lost. */
static enum commit find_outcome(struct pg_store *store, uint64_t mark)
{
    int64_t until_us = clock_real_mono_us() + OUTCOME_MAX_US;
    enum commit outcome = ask_outcome(store, mark);
    while (outcome == COMMIT_UNKNOWN && clock_real_mono_us() < until_us) {
        poll(NULL, 0, OUTCOME_PAUSE_MS);
        outcome = ask_outcome(store, mark);
    }
    return outcome;
}

static bool judge_lost(struct pg_tx *tx, struct err *err)
{
    switch (find_outcome(tx->store, tx->mark)) {
    case COMMIT_KEPT:
        log_warn("store: the answer to a commit was lost; it had succeeded");
        return true;
    case COMMIT_UNDONE:
        return err_set(err, ERR_UNAVAILABLE, "commit: the connection was lost; nothing happened");
    default:
        tx->store->doubtful++;
        return err_set(err, ERR_UNAVAILABLE,
                       "commit: the connection was lost, and it is not known whether it succeeded");
    }
}

/* COMMIT, with all that waited for it. An aborted transaction answers it with ROLLBACK. */
static bool finish(struct pg_tx *tx, struct err *err)
{
    SCOPED(args_fini) struct args counts;
    SCOPED(args_fini) struct args starts;
    struct pg_call calls[TX_CALLS_MAX];
    struct err why = ERR_INIT;
    args_init(&counts, true);
    args_init(&starts, true);
    size_t n = add_waiting(tx, calls);
    if (pg_starts_args(tx, &starts)) {
        calls[n++] = (struct pg_call){.sql = PG_PAY_RATES, .args = &starts};
    }
    if (pg_counts_args(tx, &counts)) {
        calls[n++] = (struct pg_call){.sql = PG_COUNT_TASKS, .args = &counts};
    }
    enum tx_use use = n > 0 ? TX_WRITES : TX_READS;
    calls[n++] = (struct pg_call){.sql = PG_COMMIT};
    if (!run_trip(tx, calls, n, use, !tx->store->careful, &why)) {
        bool lost = tx->mark != 0 && !pg_up(&tx->store->pg);
        return lost ? judge_lost(tx, err) : err_set(err, why.kind, "commit: %s", why.text);
    }
    bool kept = strcmp(PQcmdStatus(calls[n - 1].result), "COMMIT") == 0;
    pg_calls_fini(calls, n);
    return kept || err_set(err, ERR_UNAVAILABLE, "commit: the transaction had failed before");
}

bool pg_commit(struct tx *base, struct err *err)
{
    struct pg_tx *tx = PG_TX(base);
    struct pg_store *store = tx->store;
    int64_t began_us = clock_real_mono_us();
    if (!finish(tx, err)) {
        pg_abandon(base);
        return false;
    }
    store->mark = tx->mark != 0 ? tx->mark : store->mark;
    store->doubtful = tx->mark != 0 ? 0 : store->doubtful;
    store->careful = false;
    held_commit(&store->held);
    fresh_commit(&store->fresh, tx->xid, clock_real_mono_us());
    forget(tx);
    store->commits++;
    store->commit_us_sum += clock_real_mono_us() - began_us;
    return true;
}

void pg_health(const struct store *base, struct store_health *out)
{
    const struct pg_store *store = (const struct pg_store *)base;
    *out = (struct store_health){.commits = store->commits,
                                 .commit_us_sum = store->commit_us_sum,
                                 .lost_commits = store->lost_commits};
}
